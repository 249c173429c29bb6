//! What is asked where a combined log does not tell its duration.

use crate::reading::error::ReadError;
use crate::reading::layouts::combined::Place;
use crate::reading::layouts::words::{Kind, Word};
use crate::reading::understanding::Head;
use crate::reading::understanding::question::{Question, shown_word};

use super::rows::{Column, FIRST, Row};

/// Status, bytes, referrer and agent come before.
const AFTER_AGENT: usize = FIRST + 2;

pub(super) const ADVICE: &str = "if one of the words is, say which and in which unit: --duration-word N \
                      --duration-unit UNIT; or --log-format with the server's own format";

/// A line's words as they are shown and counted, with their places. The time and the request line have none.
pub(super) fn shown_words(row: &Row<'_>) -> Vec<(Option<Place>, String)> {
    let of = row.between.len();
    let shown = |(place, word): (Place, &Word<'_>)| (Some(place), shown_word(word));
    let before = row.before.iter().enumerate().map(|(at, word)| (Place::Before(at), word));
    let between = row.between.iter().enumerate().map(|(at, word)| (Place::Between { at, of }, word));
    let after = row.words.iter().enumerate().map(|(at, word)| (Place::After(at), word));
    let mut words: Vec<_> = before.map(shown).collect();
    words.push((None, format!("[{}]", row.time)));
    words.extend(between.map(shown));
    words.push((None, format!("\"{}\"", row.request)));
    words.extend(after.map(shown));
    words
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
    let mut question = question(rows, |place| several.iter().any(|column| column.place == *place));
    let numbers = question.numbers();
    let of_one = several.len() == 1;
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
    let first = rows.first();
    let mut question = question(rows, |place| first.and_then(|row| row.at(place)).is_some_and(&is_candidate));
    question.matter = matter.to_owned();
    question.advice = advice.to_owned();
    head.ask(first.map_or(1, |row| row.number), &question)
}

fn question(rows: &[Row<'_>], is_candidate: impl Fn(&Place) -> bool) -> Question {
    let words: Vec<_> = rows.iter().take(1).flat_map(shown_words).collect();
    let candidates =
        words.iter().enumerate().filter(|(_, (place, _))| place.as_ref().is_some_and(&is_candidate));
    Question {
        candidates: candidates.map(|(index, _)| index).collect(),
        words: words.into_iter().map(|(_, word)| word).collect(),
        is_numbered: true,
        ..Question::default()
    }
}

/// A place as people count, in lines with these words after the request.
pub(super) fn in_words(place: &Place, after: &[Word<'_>]) -> String {
    const NUMBERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let has_agent =
        after.get(FIRST..AFTER_AGENT).is_some_and(|two| two.iter().all(|word| word.kind == Kind::Quoted));
    let number =
        |at: &usize| at.checked_sub(AFTER_AGENT).filter(|_| has_agent).and_then(|index| NUMBERS.get(index));
    match place {
        Place::After(at) if at + 1 == after.len() => "the last word".to_owned(),
        Place::After(at) => number(at).map_or_else(
            || format!("word {} after the request line", at + 1),
            |number| format!("the {number} word after the agent"),
        ),
        Place::Between { at, .. } => format!("word {} after the time", at + 1),
        Place::Before(at) => format!("word {} of the line", at + 1),
        Place::Named(name) => format!("{name}="),
    }
}
