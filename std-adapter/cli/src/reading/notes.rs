//! What is collected while reading: the breakers' names, what was understood of each log, what was left out.

use crate::reading::durations::Durations;
use crate::reading::error::ReadError;
use crate::reading::keys::Keys;
use crate::reading::log::{Log, Parsed};
use crate::reading::malformed::{MaxMalformed, Skipped};
use crate::reading::understanding::Understood;

/// One log.
#[derive(Clone, Debug)]
pub(crate) struct LogNotes {
    pub(crate) path: String,
    /// `None` where it has no lines.
    pub(crate) understood: Option<Understood>,
    pub(crate) lines: u64,
    /// Lines that were to be calls.
    pub(crate) counted: u64,
    pub(crate) malformed: u64,
    pub(crate) calls: u64,
}

/// What is collected over all logs.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) keys: Keys,
    pub(crate) skipped: Skipped,
    pub(crate) logs: Vec<LogNotes>,
    pub(crate) durations: Durations,
    max_malformed: MaxMalformed,
}

impl Notes {
    pub(crate) fn new(keys: Keys, max_malformed: MaxMalformed) -> Self {
        Self {
            keys,
            skipped: Skipped::default(),
            logs: Vec::new(),
            durations: Durations::default(),
            max_malformed,
        }
    }

    pub(super) fn begin(&mut self, log: &Log) {
        self.logs.push(LogNotes {
            path: log.path.clone(),
            understood: log.understood.clone(),
            lines: 0,
            counted: 0,
            malformed: 0,
            calls: 0,
        });
    }

    pub(super) fn take_in(&mut self, number: usize, block: &Parsed) -> Result<(), ReadError> {
        let Some(log) = self.logs.get_mut(number) else {
            return Ok(());
        };
        for (line, why) in &block.shown {
            self.skipped.show(&log.path, log.lines + line, why);
        }
        self.skipped.malformed += block.malformed;
        self.skipped.other_spans += block.others;
        log.lines += block.lines;
        log.counted += block.counted;
        log.malformed += block.malformed;
        log.calls += block.calls.len() as u64;
        if let (true, Some(understood)) = (block.is_cut, &mut log.understood) {
            understood
                .warnings
                .push("the last line has no end and can't be read: it was being written".into());
        }
        match self.max_malformed {
            MaxMalformed::Count(limit) if self.skipped.malformed > limit => {
                // The first one that is one too many, as far as they are known one by one.
                let known = block.shown.last().map(|(line, why)| (log.lines - block.lines + line, why));
                let exact = self.skipped.malformed - limit;
                let index = (block.malformed - exact) as usize;
                let (line, why) = match block.shown.get(index) {
                    Some((line, why)) => (log.lines - block.lines + line, why.clone()),
                    None => match known {
                        Some((line, why)) => (line, why.clone()),
                        None => return Ok(()),
                    },
                };
                Err(ReadError::TooManyMalformed { path: log.path.clone(), line, why, limit })
            }
            _ => Ok(()),
        }
    }

    /// A log is over: what its end told is added.
    pub(super) fn finish(&mut self, number: usize, log: &Log) {
        let known = self.logs.get_mut(number).and_then(|notes| notes.understood.as_mut());
        let (Some(known), Some(understood)) = (known, &log.understood) else {
            return;
        };
        known.format.clone_from(&understood.format);
        for warning in &understood.warnings {
            if !known.warnings.contains(warning) {
                known.warnings.push(warning.clone());
            }
        }
    }

    /// Refuses logs of which too large a share is malformed.
    pub(crate) fn check_shares(&self) -> Result<(), ReadError> {
        let MaxMalformed::Share(percent) = self.max_malformed else {
            return Ok(());
        };
        let is_too_much = |log: &&LogNotes| log.malformed as f64 > log.counted as f64 * percent / 100.0;
        match self.logs.iter().find(is_too_much) {
            None => Ok(()),
            Some(log) => Err(ReadError::TooLargeShare {
                path: log.path.clone(),
                malformed: log.malformed,
                lines: log.counted,
                limit: format!("{percent} %"),
                shown: self.skipped.shown.iter().map(|line| format!("\n  {line}")).collect(),
            }),
        }
    }
}
