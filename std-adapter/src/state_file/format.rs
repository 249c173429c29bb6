//! The file's text: a line of JSON for each breaker, between a first and a last line that show it is whole.
//!
//! ```text
//! {"nanobreaker_state":1}
//! {"name":"payments","saved":"a1b2c3d4e5f60718","at_ms":1764547200000}
//! {"breakers":1}
//! ```

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// The format that this version writes.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct First {
    nanobreaker_state: u32,
}

#[derive(Serialize, Deserialize)]
struct Last {
    breakers: usize,
}

/// A breaker's state, and when it was that by the wall's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) name: String,
    #[serde(with = "hex")]
    pub(super) saved: u64,
    pub(super) at_ms: u64,
}

/// JSON's numbers are not made for 64 bits.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(saved: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{saved:016x}"))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

pub(super) fn written(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut push = |line: Result<String, serde_json::Error>| {
        let line = line.expect("plain text and numbers");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{line}");
    };
    push(serde_json::to_string(&First { nanobreaker_state: VERSION }));
    for line in lines {
        push(serde_json::to_string(line));
    }
    push(serde_json::to_string(&Last { breakers: lines.len() }));
    text
}

/// What the text says, or why it can't be what this version wrote.
pub(super) fn read(text: &[u8]) -> Result<Vec<Line>, String> {
    let text = str::from_utf8(text).map_err(|_| "is no text".to_owned())?;
    let mut lines = text.lines();
    let first = lines.next().and_then(|line| serde_json::from_str::<First>(line).ok());
    match first {
        None => return Err("is not a state file of nanobreaker".into()),
        Some(First { nanobreaker_state: VERSION }) => {}
        Some(First { nanobreaker_state }) => {
            return Err(format!("has format {nanobreaker_state}, but this version knows format {VERSION}"));
        }
    }
    let mut rest: Vec<_> = lines.collect();
    let last = rest.pop().and_then(|line| serde_json::from_str::<Last>(line).ok());
    if !text.ends_with('\n') || last.is_none_or(|last| last.breakers != rest.len()) {
        return Err("ends before its last line".into());
    }
    let lines = rest.into_iter().enumerate().map(|(index, line)| {
        serde_json::from_str(line).map_err(|error| format!("has a damaged line {}: {error}", index + 2))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let line = |name: &str, saved| Line { name: name.into(), saved, at_ms: 1_764_547_200_000 };
        vec![line("payments", u64::MAX), line("a \"name\"\nof two lines", 0)]
    }

    #[test]
    fn what_is_written_is_read() {
        for lines in [vec![], lines()] {
            assert_eq!(read(written(&lines).as_bytes()), Ok(lines));
        }
    }

    #[test]
    fn wherever_it_is_torn_that_is_noticed() {
        let whole = written(&lines());
        for length in 0..whole.len() {
            assert!(read(&whole.as_bytes()[..length]).is_err(), "{length} bytes of {}", whole.len());
        }
    }

    #[test]
    fn what_is_foreign_or_of_the_future_is_told_apart() {
        let refused = |text: &str| read(text.as_bytes()).unwrap_err();
        assert_eq!(refused("[payments]\nopen_for = 1\n"), "is not a state file of nanobreaker");
        let future = "{\"nanobreaker_state\":2}\n{\"moods\":[]}\n";
        assert_eq!(refused(future), "has format 2, but this version knows format 1");
        assert_eq!(read(&[0xFF, 0xFE]), Err("is no text".into()));
        let damaged = written(&lines()).replace("ffffffffffffffff", "fffffffffffffffg");
        assert!(refused(&damaged).starts_with("has a damaged line 2: "));
    }
}
