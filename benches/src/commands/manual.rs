//! `slotwork completions` and `slotwork man`: both from the command line's own description, so that they cannot be out of date.

use crate::cli;
use crate::run::print;
use anyhow::Result;
use clap_complete::Shell;

pub(crate) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "slotwork", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(0)
}

/// The page of the program, then one of each command behind it.
pub(crate) fn page() -> Result<u8> {
    let mut pages = Vec::new();
    let mut command = cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let name = format!("slotwork-{}", subcommand.get_name());
        clap_mangen::Man::new(subcommand.clone()).title(name).render(&mut pages)?;
    }
    print(&String::from_utf8(pages)?)?;
    Ok(0)
}
