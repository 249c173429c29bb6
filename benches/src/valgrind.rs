//! Runs this very binary under valgrind.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the current binary with the arguments under a valgrind tool, hands each line of the tool's output
/// to `line`, and returns what the binary itself printed.
///
/// # Errors
///
/// When valgrind is missing or fails.
pub fn run(tool: &[&str], arguments: &[&str], mut line: impl FnMut(&str)) -> Result<String, String> {
    let binary = std::env::current_exe().map_err(|error| format!("this binary: {error}"))?;
    let mut child = Command::new("valgrind")
        .args(tool)
        .arg(binary)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("valgrind: {error} (apt-get install valgrind)"))?;
    let said = child.stderr.take().map(BufReader::new);
    for text in said.into_iter().flat_map(BufRead::lines) {
        line(&text.map_err(|error| format!("valgrind's output: {error}"))?);
    }
    let mut printed = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        io::Read::read_to_string(&mut stdout, &mut printed)
            .map_err(|error| format!("its output: {error}"))?;
    }
    let status = child.wait().map_err(|error| format!("valgrind: {error}"))?;
    if status.success() { Ok(printed) } else { Err(format!("valgrind {}: {status}", tool.join(" "))) }
}
