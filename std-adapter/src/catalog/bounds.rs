//! What a configuration may be, before it is read as one. A file of settings is small; one that is not comes
//! from someone else, and the readers of some formats can be made to take any time and memory by it. Others lose
//! what is there twice.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{Format, twice};

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
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
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
/// anything, and the same key twice where the readers of a format keep one of both without a word (JSON).
///
/// # Errors
///
/// What is wrong, with its line where that is known.
pub fn check(text: &str, format: Format) -> Result<(), String> {
    if brackets(text) > DEEPEST {
        return Err(format!("deeper than {DEEPEST} levels"));
    }
    match format {
        Format::Toml => Ok(()),
        Format::Json => twice::refuse(text).map_err(|error| error.to_string()),
        Format::Yaml => (1..)
            .zip(text.lines())
            .try_for_each(|(number, line)| yaml(line).map_err(|problem| format!("line {number}: {problem}"))),
    }
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

/// Refuses a line of YAML.
fn yaml(line: &str) -> Result<(), String> {
    if let Some(what) = anchor(without_comment(line)) {
        return Err(format!("{what:?} is an anchor or an alias, and settings have none"));
    }
    let blanks = line.len() - line.trim_start_matches([' ', '-', '?']).len();
    // Each level is indented by one at least.
    if blanks > 4 * DEEPEST && !line.trim().is_empty() {
        return Err(format!("deeper than {DEEPEST} levels"));
    }
    Ok(())
}

/// What stands before a comment. Where the line has a quote, too, it is left as it is: a quote may have begun on an
/// earlier line, and then this is no comment.
fn without_comment(line: &str) -> &str {
    if line.contains(['"', '\'']) {
        return line;
    }
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(|before| before.is_whitespace());
    let comment = line.match_indices('#').map(|(at, _)| at).find(|at| begins(*at));
    comment.map_or(line, |at| &line[..at])
}

/// The anchor or alias that a value of this line begins with.
fn anchor(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '\t', '\r', ',', '[', '{', ':']);
    words.find(|word| word.len() > 1 && word.starts_with(['&', '*']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_have_no_use_for_is_refused() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        assert!(check(bomb, Format::Yaml).unwrap_err().contains("line 1: \"&a\""));
        let deep = format!("a = {}1{}", "[".repeat(100), "]".repeat(100));
        assert!(check(&deep, Format::Toml).unwrap_err().contains("deeper"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(check(&deep, Format::Yaml).unwrap_err().contains("deeper"));
        let catalogue = "breakers:\n  payments:\n    window: {kind: consecutive}\n    open_for: 5s\n";
        assert_eq!(check(catalogue, Format::Yaml), Ok(()));
    }

    #[test]
    fn comments_of_yaml_may_have_stars_and_what_only_looks_like_a_comment_is_looked_at() {
        for harmless in ["# *never* lower than &this\ndefaults: {open_for: 5s} # *sic*\n", "a: b#c\n# *\n"] {
            assert_eq!(check(harmless, Format::Yaml), Ok(()));
        }
        for alias in ["a: \"x # y\", b: *c", "a: \"x\n# y\", b: *c", "a#: *c", "a: 'x # y'\nb: *c # z"] {
            assert!(check(alias, Format::Yaml).is_err(), "{alias}");
        }
    }
}
