//! `completions` and `manual`: what a package of the command installs beside it.

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// The completions of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "nanobreaker", &mut text);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The manual page, with a part for each command.
pub(crate) fn manual() -> Result<String, Failure> {
    let mut page = Vec::new();
    let command = Arguments::command();
    let mut write =
        |command: clap::Command| clap_mangen::Man::new(command).render(&mut page).map_err(Failure::Print);
    write(command.clone())?;
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        let name = format!("nanobreaker-{}", part.get_name());
        write(part.clone().name(name))?;
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}
