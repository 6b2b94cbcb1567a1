//! `slotwork floors`.

use crate::cli::FloorsArguments;
use crate::run::print;
use anyhow::Result;
use slotwork_bench::floors;
use slotwork_bench::machine::Machine;
use slotwork_bench::placement::Placement;
use slotwork_bench::record::SCHEMA;
use slotwork_bench::report::floor_table;

pub(crate) fn run(arguments: &FloorsArguments) -> Result<u8> {
    let placement = Placement::pinned();
    let machine = Machine::inspect(&placement);
    let floors = floors::measure(&placement, arguments.seed);
    if arguments.json {
        let value = serde_json::json!({ "schema": SCHEMA, "machine": machine, "floors": floors });
        print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        let warning = if machine.is_optimised() { "" } else { "NOT OPTIMISED: use cargo run --release -- floors\n" };
        print(&format!("{machine}\n{warning}{}", floor_table(&floors)))?;
    }
    Ok(0)
}
