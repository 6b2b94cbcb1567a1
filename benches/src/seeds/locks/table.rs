//! The table of the split: a scene a row, and the published one beside it.

use super::{Plan, Row, Scene};
use crate::report::table;
use crate::seeds::published;
use crate::seeds::results::median;

fn cell(rows: &[Row], carrier: &str, scene: Scene, figure: fn(&Row) -> Option<f64>) -> Option<f64> {
    let here = |row: &&Row| (row.processors, row.busy_devices) == (scene.processors, scene.busy);
    median(rows.iter().filter(|row| row.carrier == carrier).filter(here).filter_map(figure))
}

/// The gain over `base` in the same round: median over the rounds.
fn gain(plan: &Plan, rows: &[Row], carrier: &str, base: &str, scene: Scene) -> Option<f64> {
    median((0..plan.rounds).filter_map(|round| {
        let figure = |carrier: &str| {
            let own = |row: &&Row| {
                (row.carrier, row.round) == (carrier, round)
                    && (row.processors, row.busy_devices) == (scene.processors, scene.busy)
            };
            rows.iter().find(own)?.accesses_per_second
        };
        Some(figure(carrier)? / figure(base)?)
    }))
}

/// Accesses per second, and the gain over the global lock; then the published table.
#[must_use]
pub fn split_table(plan: &Plan, rows: &[Row]) -> String {
    let header =
        ["busy devices", "CPUs", "carrier", "accesses/ms", "× global lock", "accesses/processor ms", "I/O passes/s"];
    let mut measured = table(&header, 0..header.len());
    if let Some(column) = measured.column_mut(2) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    let shown = |value: Option<f64>, digits: usize| value.map_or("–".into(), |value| format!("{value:.digits$}"));
    for &scene in &plan.scenes {
        for carrier in &plan.carriers {
            let own = |figure| cell(rows, carrier.name, scene, figure);
            let base = plan.carriers.first().and_then(|base| gain(plan, rows, carrier.name, base.name, scene));
            measured.add_row(vec![
                format!("{} of {}", scene.busy, plan.machine.devices),
                scene.processors.to_string(),
                carrier.name.to_string(),
                shown(own(|row| Some(row.accesses_per_second? / 1000.0)), 1),
                shown(base, 3),
                shown(own(|row| Some(row.accesses_per_processor_second? / 1000.0)), 1),
                shown(own(|row| Some(row.passes? as f64 / row.seconds?)), 0),
            ]);
        }
    }
    let mut old = table(&["device", "CPUs", "global lock", "device lock", "× global lock"], 1..5);
    for split in published::SPLITS {
        let [global, per_device] = split.means();
        old.add_row(vec![
            split.device.to_string(),
            split.processors.to_string(),
            format!("{global:.1}"),
            format!("{per_device:.1}"),
            format!("{:.3}", per_device / global),
        ]);
    }
    format!(
        "Port accesses of virtual CPUs beside an I/O thread, median of {} windows\n{measured}\n\
         over a design accesses are posted to the device's own thread; under a lock the virtual CPU carries them out\n\
         the I/O thread has a lane of its own, which the device's thread looks into by turns: virtual CPUs cannot starve it;\n\
         under a lock they can: it goes to whoever runs, and the system's mutex keeps no order\n\n\
         As published in 2008: {}\n{old}\n",
        plan.rounds,
        published::SPLITS_SOURCE,
    )
}
