//! What a status says about the dependency.

use std::ops::RangeInclusive;
use std::str::FromStr;

use nanobreaker::Outcome;

/// A set of statuses, as in `500-599,429`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statuses(Vec<RangeInclusive<u16>>);

impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts.map(range).collect::<Result<_, _>>().map(Self)
    }
}

fn range(part: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let status = |text: &str| {
        let status: Option<u16> = text.trim().parse().ok();
        status
            .filter(|status| *status <= 999)
            .ok_or_else(|| format!("{text:?} is not a status from 0 to 999"))
    };
    let (first, last) = (status(first)?, status(last)?);
    if first > last {
        return Err(format!("{part:?} is an empty range: write {last}-{first}"));
    }
    Ok(first..=last)
}

impl Statuses {
    fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

/// How a call ended, in the log's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Ok(bool),
    Status(u16),
    /// The log itself says that the caller went away.
    Cancelled,
}

/// Turns statuses into outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) failure: Statuses,
    pub(crate) ignored: Statuses,
    pub(crate) cancelled: Statuses,
}

impl Rules {
    /// The first set that has the status decides: failure, ignored, cancelled, else success.
    pub(crate) fn outcome(&self, ending: Ending) -> Outcome {
        match ending {
            Ending::Ok(true) => Outcome::Success,
            Ending::Ok(false) => Outcome::Failure,
            Ending::Cancelled => Outcome::Cancelled,
            Ending::Status(status) if self.failure.contains(status) => Outcome::Failure,
            Ending::Status(status) if self.ignored.contains(status) => Outcome::Ignored,
            Ending::Status(status) if self.cancelled.contains(status) => Outcome::Cancelled,
            Ending::Status(_) => Outcome::Success,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_judged_by_the_first_set_that_has_it() {
        let rules = Rules {
            failure: "500-599, 429,0".parse().unwrap(),
            ignored: "404,500".parse().unwrap(),
            cancelled: "499".parse().unwrap(),
        };
        let outcome = |status| rules.outcome(Ending::Status(status));
        assert_eq!(outcome(503), Outcome::Failure);
        assert_eq!(outcome(500), Outcome::Failure);
        assert_eq!(outcome(429), Outcome::Failure);
        assert_eq!(outcome(404), Outcome::Ignored);
        assert_eq!(outcome(499), Outcome::Cancelled);
        assert_eq!(outcome(200), Outcome::Success);
    }

    #[test]
    fn a_set_that_makes_no_sense_is_refused() {
        for text in ["5xx", "599-500", "1000", "-1", "500-"] {
            assert!(text.parse::<Statuses>().is_err(), "{text}");
        }
    }
}
