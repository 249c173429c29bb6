//! What is asked where a log can be read in several ways, or in none: the line with its words numbered, and
//! the options that say more.

use std::fmt::Write;

use crate::reading::layouts::words::{Kind, Places, Word};

/// The words of a line, each with a mark where it comes into question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    /// What is the matter.
    pub(crate) matter: String,
    /// The words, or the fields with their values.
    pub(crate) words: Vec<String>,
    /// Indices among them.
    pub(crate) candidates: Vec<usize>,
    /// What to do.
    pub(crate) advice: String,
    /// Words have numbers; fields have names.
    pub(crate) is_numbered: bool,
}

/// So much of a word is shown.
const LONGEST_WORD: usize = 60;
/// So many words are shown.
const MOST_WORDS: usize = 60;

/// A word as it stands in the line.
pub(crate) fn shown_word(word: &Word<'_>) -> String {
    match word.kind {
        Kind::Bare => word.text.to_owned(),
        Kind::Quoted => format!("\"{}\"", word.text),
        Kind::Bracketed => format!("[{}]", word.text),
    }
}

/// A line's words, counted as --time-word and the like count them.
pub(crate) fn words_of(line: &str) -> Vec<String> {
    let mut places = Places::default();
    match places.split(line) {
        Ok(words) => words.iter().map(|word| shown_word(&word)).collect(),
        Err(_) => line.split_ascii_whitespace().map(str::to_owned).collect(),
    }
}

impl Question {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.matter);
        for (index, word) in self.words.iter().take(MOST_WORDS).enumerate() {
            let mark = if self.candidates.contains(&index) { "   <- may be" } else { "" };
            let word = shown(word);
            let _ = if self.is_numbered {
                writeln!(text, "{:>4}  {word}{mark}", index + 1)
            } else {
                writeln!(text, "      {word}{mark}")
            };
        }
        text.push_str(&self.advice);
        text
    }

    /// The candidates as an option takes them: from the start, and from the end.
    pub(crate) fn numbers(&self) -> String {
        let number = |index: &usize| {
            let from_end = self.words.len() - index;
            format!("{} (or -{from_end})", index + 1)
        };
        let numbers: Vec<_> = self.candidates.iter().map(number).collect();
        numbers.join(", ")
    }
}

/// A log's words may hold anything: nothing in them may reach a terminal as anything but text.
fn shown(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars().take(LONGEST_WORD) {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    if word.chars().nth(LONGEST_WORD).is_some() {
        text.push('…');
    }
    text
}
