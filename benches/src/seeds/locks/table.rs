//! The table of the split: a scene a row, and the published one beside it.

use super::{Plan, Row, Scene};
use crate::report::table;
use crate::seeds::published;
use crate::seeds::results::median;

fn cell(rows: &[Row], carrier: &str, scene: Scene) -> Option<f64> {
    let own = rows
        .iter()
        .filter(|row| row.carrier == carrier && row.processors == scene.processors && row.busy_devices == scene.busy);
    median(own.filter_map(|row| row.accesses_per_second))
}

fn passes(rows: &[Row], carrier: &str, scene: Scene) -> Option<f64> {
    let own = rows
        .iter()
        .filter(|row| row.carrier == carrier && row.processors == scene.processors && row.busy_devices == scene.busy);
    median(own.filter_map(|row| Some(row.passes? as f64 / row.seconds?)))
}

/// Accesses per second, and the gain over the global lock; then the published table.
#[must_use]
pub fn split_table(plan: &Plan, rows: &[Row]) -> String {
    let mut measured =
        table(&["busy devices", "CPUs", "carrier", "accesses/ms", "× global lock", "I/O passes/s"], 0..6);
    if let Some(column) = measured.column_mut(2) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    for &scene in &plan.scenes {
        let global = plan.carriers.first().and_then(|carrier| cell(rows, carrier.name, scene));
        for carrier in &plan.carriers {
            let own = cell(rows, carrier.name, scene);
            let shown =
                |value: Option<f64>, digits: usize| value.map_or("–".into(), |value| format!("{value:.digits$}"));
            measured.add_row(vec![
                format!("{} of {}", scene.busy, plan.machine.devices),
                scene.processors.to_string(),
                carrier.name.to_string(),
                shown(own.map(|own| own / 1000.0), 1),
                shown(own.zip(global).map(|(own, global)| own / global), 3),
                shown(passes(rows, carrier.name, scene), 0),
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
         over a design accesses are posted to the device's own thread; under a lock the virtual CPU carries them out\n\n\
         As published in 2008: {}\n{old}\n",
        plan.rounds,
        published::SPLITS_SOURCE,
    )
}
