//! What is asked where a combined log does not tell its duration.

use crate::reading::error::ReadError;
use crate::reading::layouts::combined::{Parts, Place};
use crate::reading::layouts::words::{Kind, Places, Word};
use crate::reading::understanding::Head;
use crate::reading::understanding::question::Question;

use super::rows::{Column, Row};

pub(super) const ADVICE: &str = "if one of the words is, say which and in which unit: --duration-word N \
                      --duration-unit UNIT; or --log-format with the server's own format";

/// The words before those after the request, as they are shown, and how many come after.
pub(super) fn shown_words(head: &Head<'_>, rows: &[Row<'_>]) -> (Vec<String>, usize) {
    let mut places = Places::default();
    let line = rows.first().and_then(|row| head.line(row.number));
    let Some(parts) = line.and_then(|line| Parts::of(line, &mut places).ok()) else {
        return (Vec::new(), 0);
    };
    let mut words: Vec<String> = parts.before.split_ascii_whitespace().map(Into::into).collect();
    words.push(format!("[{}]", parts.time));
    words.push(format!("\"{}\"", parts.request));
    (words, parts.after.len())
}

pub(super) fn no_unit<'h>(head: &'h Head<'_>, rows: &'h [Row<'h>]) -> impl FnOnce() -> ReadError + 'h {
    move || {
        let matter = "in which unit is that word?";
        let advice = "add --duration-unit s, ms, us or ns";
        ask(head, rows, matter, |_| false, advice)
    }
}

/// Several words may be the duration.
pub(super) fn several_words(
    head: &Head<'_>,
    rows: &[Row<'_>],
    several: &[&Column<'_>],
    extra: &str,
) -> ReadError {
    let places: Vec<usize> = several.iter().map(|column| column.at).collect();
    let mut question = question(head, rows, |at, _| places.contains(&at));
    let numbers = question.numbers();
    let of_one = places.len() == 1;
    question.matter = if of_one {
        format!("{extra}the lines do not tell in which unit the duration is, nor whether it is one")
    } else {
        "which word is the duration? These differ, and nothing in the lines tells".to_owned()
    };
    question.advice = if of_one {
        format!("choose with --duration-word {numbers} and --duration-unit us, ms or s")
    } else {
        format!(
            "choose with --duration-word {numbers}, and --duration-unit where the unit is not \
             seconds with a point; or with --log-format and the server's own format"
        )
    };
    head.ask(rows.first().map_or(1, |row| row.number), &question)
}

pub(super) fn ask(
    head: &Head<'_>,
    rows: &[Row<'_>],
    matter: &str,
    is_candidate: impl Fn(&Word<'_>) -> bool,
    advice: &str,
) -> ReadError {
    let mut question = question(head, rows, |_, word| is_candidate(word));
    question.matter = matter.to_owned();
    question.advice = advice.to_owned();
    head.ask(rows.first().map_or(1, |row| row.number), &question)
}

pub(super) fn question(
    head: &Head<'_>,
    rows: &[Row<'_>],
    is_candidate: impl Fn(usize, &Word<'_>) -> bool,
) -> Question {
    let (mut words, _) = shown_words(head, rows);
    let mut candidates = Vec::new();
    for (at, word) in rows.iter().take(1).flat_map(|row| &row.words).enumerate() {
        if is_candidate(at, word) {
            candidates.push(words.len());
        }
        words.push(match word.kind {
            Kind::Bare => word.text.to_owned(),
            Kind::Quoted => format!("\"{}\"", word.text),
            Kind::Bracketed => format!("[{}]", word.text),
        });
    }
    Question { words, candidates, is_numbered: true, ..Question::default() }
}

pub(super) fn in_words(place: &Place, words_after: usize) -> String {
    match place {
        Place::After(at) if at + 1 == words_after => "the last word".to_owned(),
        Place::After(at) => format!("word {} after the request line", at + 1),
        Place::Before(at) => format!("word {} of the line", at + 1),
        Place::Named(name) => format!("{name}="),
    }
}
