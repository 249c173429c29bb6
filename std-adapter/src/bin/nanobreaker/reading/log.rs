//! One log: lines become calls, and what is no call is noted and skipped.

use std::io::BufRead;

use indicatif::ProgressBar;

use crate::reading::call::Call;
use crate::reading::columns::{Columns, Record, TimeIs};
use crate::reading::error::ReadError;
use crate::reading::formats::{DurationWord, First, Format, Parser};
use crate::reading::keys::Keys;
use crate::reading::lines::{LONGEST, Line, Lines};
use crate::reading::malformed::{Malformed, Skipped};
use crate::reading::rules::Rules;
use crate::reading::source;

/// How logs are to be understood.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// Told by the first line where it is not given.
    pub(crate) format: Option<Format>,
    pub(crate) columns: Columns,
    pub(crate) duration: DurationWord,
    /// What the format says where it is not given.
    pub(crate) time_is: Option<TimeIs>,
    pub(crate) rules: Rules,
    /// Malformed lines that are skipped before reading is given up.
    pub(crate) max_malformed: u64,
}

/// What is collected while reading, over all logs.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) keys: Keys,
    pub(crate) skipped: Skipped,
}

/// One log under way.
pub(crate) struct Log {
    path: String,
    lines: Lines<Box<dyn BufRead + Send>>,
    parser: Option<Parser>,
}

impl Log {
    pub(crate) fn open(path: &str, progress: &ProgressBar) -> Result<Self, ReadError> {
        let reader = source::open(path, progress).map_err(|error| ReadError::Open {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self {
            path: path.to_owned(),
            lines: Lines::new(reader),
            parser: None,
        })
    }

    /// The next call, as the log has it; `None` at its end.
    pub(crate) fn next_call(
        &mut self,
        reading: &Reading,
        notes: &mut Notes,
    ) -> Result<Option<Call>, ReadError> {
        loop {
            let number = self.lines.number() + 1;
            let read = self.lines.next_line().map_err(|error| ReadError::Read {
                path: self.path.clone(),
                line: number,
                error,
            })?;
            let Some(line) = read else {
                return Ok(None);
            };
            let parsed = match utf8(line).map(|text| without_mark(text, number)) {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => match parser(&mut self.parser, text, &self.path, reading)? {
                    Some(parser) => parser
                        .parse(text, &reading.columns)
                        .map(|record| call(record, reading, notes)),
                    None => continue,
                },
                Err(why) => Err(why),
            };
            match parsed {
                Ok(Some(call)) => return Ok(Some(call)),
                Ok(None) => notes.skipped.beyond_keys += 1,
                Err(why) => self.skip(number, why, reading, notes)?,
            }
        }
    }

    fn skip(
        &self,
        line: u64,
        why: Malformed,
        reading: &Reading,
        notes: &mut Notes,
    ) -> Result<(), ReadError> {
        notes.skipped.add(&self.path, line, &why);
        if notes.skipped.malformed <= reading.max_malformed {
            return Ok(());
        }
        Err(ReadError::TooManyMalformed {
            path: self.path.clone(),
            line,
            why,
            limit: reading.max_malformed,
        })
    }
}

fn utf8(line: Line<'_>) -> Result<&str, Malformed> {
    match line {
        Line::Whole(bytes) => str::from_utf8(bytes)
            .map_err(|error| Malformed::column(error.valid_up_to() + 1, "not UTF-8")),
        Line::TooLong => Err(Malformed::column(LONGEST, "longer than a megabyte")),
    }
}

/// Some programs begin a file with a byte order mark.
fn without_mark(text: &str, number: u64) -> &str {
    match text.strip_prefix('\u{feff}') {
        Some(text) if number == 1 => text,
        _ => text,
    }
}

/// The log's parser, made from its first line; `None` where that line was only a header.
fn parser<'p>(
    parser: &'p mut Option<Parser>,
    line: &str,
    path: &str,
    reading: &Reading,
) -> Result<Option<&'p mut Parser>, ReadError> {
    if parser.is_none() {
        let unknown = || ReadError::UnknownFormat {
            path: path.to_owned(),
        };
        let format = reading.format.or_else(|| Format::of(line));
        let made = Parser::new(
            format.ok_or_else(unknown)?,
            line,
            &reading.columns,
            &reading.duration,
        );
        let (made, first) = made.map_err(|why| ReadError::Header {
            path: path.to_owned(),
            why,
        })?;
        *parser = Some(made);
        if matches!(first, First::Header) {
            return Ok(None);
        }
    }
    Ok(parser.as_mut())
}

/// The call that a record tells of; `None` where its key is one too many.
fn call(record: Record<'_>, reading: &Reading, notes: &mut Notes) -> Option<Call> {
    let (start_us, end_us) = match reading.time_is.unwrap_or(record.time_is) {
        TimeIs::Start => (record.time_us, record.time_us + record.duration_us),
        TimeIs::End => (record.time_us - record.duration_us, record.time_us),
    };
    Some(Call {
        start_us,
        end_us,
        key: notes.keys.number(record.key.as_deref().unwrap_or(""))?,
        outcome: reading.rules.outcome(record.ending),
    })
}
