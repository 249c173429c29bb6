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

/// The tool that lists every instruction and every access to memory.
pub const LACKEY: [&str; 2] = ["--tool=lackey", "--trace-mem=yes"];

/// One line of lackey's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The instruction at this address.
    Executed(u64),
    /// A load from this one.
    Loaded(u64),
    /// A store to this one.
    Stored(u64),
}

/// Reads a line of lackey's; `None` where it is none of the trace.
pub fn event(line: &str) -> Option<Event> {
    let (kind, rest) = line.trim_start().split_once(' ')?;
    let address = u64::from_str_radix(rest.trim_start().split(',').next()?, 16).ok()?;
    match kind {
        "I" => Some(Event::Executed(address)),
        "L" => Some(Event::Loaded(address)),
        "S" | "M" => Some(Event::Stored(address)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lackey_s_lines_are_read() {
        assert_eq!(event("I  0401eab0,3"), Some(Event::Executed(0x401_eab0)));
        assert_eq!(event(" L 1ffefff8,8"), Some(Event::Loaded(0x1ffe_fff8)));
        assert_eq!(event(" S 1ffefff8,8"), Some(Event::Stored(0x1ffe_fff8)));
        assert_eq!(event(" M 1ffefff8,8"), Some(Event::Stored(0x1ffe_fff8)));
        assert_eq!(event("==12== Lackey, an example Valgrind tool"), None);
    }
}
