//! What a configuration may be, before it is read as one. A file of settings is small; one that is not comes
//! from someone else, and the readers of some formats can be made to take any time and memory by it. Others lose
//! what is there twice.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use config::{File, Source};

use super::{Format, twice, yaml};

/// A catalogue of ten thousand breakers is smaller.
const MOST_BYTES: u64 = 1 << 20;
/// Tables within tables. A catalogue has three.
const DEEPEST: usize = 16;

/// The text of a file, without the mark that some programs begin one with.
///
/// # Errors
///
/// The file can't be read, is larger than a megabyte, or is no text in UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES {
        let problem = format!("larger than {MOST_BYTES} bytes: is this a file of settings?");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Refuses what settings have no use for: more than 16 levels of tables, YAML's aliases, which can stand for
/// anything, the same key twice where the readers of a format keep one of both without a word (JSON, YAML), and keys
/// that are paths, as in `"breakers.payments"`.
///
/// # Errors
///
/// What is wrong, with its line where that is known.
pub fn check(text: &str, format: Format) -> Result<(), String> {
    if format != Format::Yaml && brackets(text) > DEEPEST {
        return Err(format!("deeper than {DEEPEST} levels"));
    }
    match format {
        Format::Toml => {}
        Format::Json => twice::refuse(text).map_err(|error| error.to_string())?,
        Format::Yaml => yaml::refuse(text, DEEPEST)?,
    }
    paths(text, format)
}

/// How many brackets are open at once at the most, as far as quotes on one line tell.
fn brackets(text: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let mut quote = None;
    for byte in text.bytes() {
        match (byte, quote) {
            (b'\n', _) => quote = None,
            (byte, Some(opened)) if byte == opened => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'{' | b'[', None) => {
                open += 1;
                deepest = deepest.max(open);
            }
            (b'}' | b']', None) => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Refuses a key at the top that readers would take for a path into tables: what it says could be there as a
/// table, too, and one of both would be lost.
fn paths(text: &str, format: Format) -> Result<(), String> {
    // What is wrong otherwise, its reader tells best.
    let Ok(root) = File::from_str(text, format.of_file()).collect() else {
        return Ok(());
    };
    match root.keys().find(|key| key.contains(['.', '['])) {
        Some(key) => Err(format!("{key:?} is no key: write tables within tables")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_have_no_use_for_is_refused() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        assert!(check(bomb, Format::Yaml).unwrap_err().contains("line 1: an anchor"));
        let deep = format!("a = {}1{}", "[".repeat(100), "]".repeat(100));
        assert!(check(&deep, Format::Toml).unwrap_err().contains("deeper"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(check(&deep, Format::Yaml).unwrap_err().contains("deeper"));
        let catalogue = "breakers:\n  payments:\n    window: {kind: consecutive}\n    open_for: 5s\n";
        assert_eq!(check(catalogue, Format::Yaml), Ok(()));
        for (format, path) in [
            (Format::Yaml, "breakers.a: {latch: true}\nbreakers: {a: {latch: false}}\n"),
            (Format::Json, r#"{"breakers.a": {"latch": true}, "breakers": {"a": {"latch": false}}}"#),
            (Format::Toml, "\"breakers.a\" = {latch = true}\nbreakers.a.latch = false\n"),
        ] {
            let refused = check(path, format).unwrap_err();
            assert!(refused.contains("\"breakers.a\" is no key"), "{refused}");
        }
        // Hosts are names of breakers.
        let dotted = "breakers:\n  api.example.com: {latch: true}\n";
        assert_eq!(check(dotted, Format::Yaml), Ok(()));
    }
}
