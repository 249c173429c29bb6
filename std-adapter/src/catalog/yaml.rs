//! What settings have no use for in YAML, told event by event before any reader builds something of it: aliases,
//! which can stand for anything, levels without end, and the same key twice.
//!
//! Readers refuse two keys that are written alike. But a key is text to whoever takes settings from them, so `1`
//! and `"1"`, or `true` and `True`, are one, and the last would win without a word.

use std::collections::HashSet;

use yaml_rust2::Yaml;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::TScalarStyle;

/// A list or a table that is not over.
#[derive(Default)]
struct Level {
    /// Of a table, the keys so far.
    keys: Option<HashSet<String>>,
    /// Whether what comes next is a key's value.
    has_key: bool,
}

impl Level {
    fn table() -> Self {
        Self { keys: Some(HashSet::new()), has_key: false }
    }

    /// Takes in what comes next: its text where it has one. The key that was there already comes back.
    fn take(&mut self, text: Option<String>) -> Option<String> {
        let keys = self.keys.as_mut()?;
        self.has_key = !self.has_key;
        text.filter(|_| self.has_key).and_then(|key| keys.replace(key))
    }
}

/// Refuses it. What is no YAML is left to its reader, who tells best what is wrong.
///
/// # Errors
///
/// What it has, with its line.
pub(super) fn refuse(text: &str, deepest: usize) -> Result<(), String> {
    let mut parser = Parser::new_from_str(text);
    let mut levels: Vec<Level> = Vec::new();
    while let Ok((event, place)) = parser.next_token() {
        let refused = |what: String| Err(format!("line {}: {what}", place.line()));
        let (anchor, text, inner) = match event {
            Event::StreamEnd => break,
            Event::Alias(anchor) => (anchor, None, None),
            Event::Scalar(text, style, anchor, _) => (anchor, Some(plain(text, style)), None),
            Event::SequenceStart(anchor, _) => (anchor, None, Some(Level::default())),
            Event::MappingStart(anchor, _) => (anchor, None, Some(Level::table())),
            Event::SequenceEnd | Event::MappingEnd => {
                levels.pop();
                continue;
            }
            _ => continue,
        };
        if anchor > 0 {
            return refused("an anchor or an alias, and settings have none".to_owned());
        }
        if let Some(twice) = levels.last_mut().and_then(|level| level.take(text)) {
            return refused(format!("{twice:?} is set twice: keep one"));
        }
        levels.extend(inner);
        if levels.len() > deepest {
            return refused(format!("deeper than {deepest} levels"));
        }
    }
    Ok(())
}

/// The text that a key comes to.
fn plain(text: String, style: TScalarStyle) -> String {
    match Yaml::from_str(&text) {
        Yaml::Integer(number) if style == TScalarStyle::Plain => number.to_string(),
        Yaml::Boolean(value) if style == TScalarStyle::Plain => value.to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_come_to_the_same_text_are_one() {
        for twice in [
            "breakers:\n  1: {}\n  \"1\": {}\n",
            "breakers:\n  1: {}\n  0x1: {}\n",
            "breakers:\n  1: {}\n  +1: {}\n",
            "breakers: {true: {}, 'True': {}, TRUE: {}}\n",
            "breakers:\n  1.0: {}\n  '1.0': {}\n",
            "breakers:\n  a: {}\n  ? a\n  : {}\n",
            "latch: true\n\"latch\": false\n",
        ] {
            let refused = refuse(twice, 16).unwrap_err();
            assert!(refused.contains("is set twice"), "{twice}: {refused}");
        }
        for once in ["1: {1: {}}\n'2': {1: 1}\n", "- a\n- a\n- {a: a}\n", "a: 1\nA: 1\n'0x1': 1\n1: 1\n"] {
            assert_eq!(refuse(once, 16), Ok(()), "{once}");
        }
    }

    #[test]
    fn an_anchor_is_one_wherever_it_stands_and_text_that_looks_like_one_is_not() {
        for anchor in ["a: &a 1\n", "a: {b: [&a x]}\n", "&a b: 1\n", "- !!map &a {}\n", "a:\n  &a\n  b: 1\n"]
        {
            assert!(refuse(anchor, 16).unwrap_err().contains("an anchor"), "{anchor}");
        }
        assert_eq!(refuse("a: 'research &development'\nb: 2 *3\n# &c\n", 16), Ok(()));
        let comments = "# *never* lower than &this\ndefaults: {open_for: 5s} # *sic*\na: b#c\n# *\n";
        assert_eq!(refuse(comments, 16), Ok(()));
    }

    #[test]
    fn levels_are_counted_however_they_are_written() {
        for deep in ["- ".repeat(100), "[".repeat(100), "it's: ".to_owned() + &"{a: ".repeat(100)] {
            assert!(refuse(&deep, 16).unwrap_err().contains("deeper than 16"), "{deep}");
        }
    }
}
