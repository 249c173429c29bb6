//! What a status says about the dependency.

use std::ops::RangeInclusive;
use std::str::FromStr;

use nanobreaker::Outcome;
use nanobreaker_settings::grpc;

/// A set of statuses, as in `500-599,429`: a bit for each, since each call asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statuses([u64; LAST as usize / 64 + 1]);

/// The largest number that a status is.
const LAST: u16 = 999;

impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let ranges: Vec<_> = parts.map(range).collect::<Result<_, _>>()?;
        Ok(ranges.into_iter().flatten().collect())
    }
}

impl FromIterator<u16> for Statuses {
    fn from_iter<I: IntoIterator<Item = u16>>(statuses: I) -> Self {
        let mut set = Self::default();
        for status in statuses {
            if let Some(word) = set.0.get_mut(usize::from(status / 64)) {
                *word |= 1 << (status % 64);
            }
        }
        set
    }
}

fn range(part: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let status = |text: &str| {
        let status: Option<u16> = text.trim().parse().ok();
        status
            .filter(|status| *status <= LAST)
            .ok_or_else(|| format!("{text:?} is not a status from 0 to 999"))
    };
    let (first, last) = (status(first)?, status(last)?);
    if first > last {
        return Err(format!("{part:?} is an empty range: write {last}-{first}"));
    }
    Ok(first..=last)
}

impl Statuses {
    #[inline]
    fn contains(&self, status: u16) -> bool {
        self.0.get(usize::from(status / 64)).is_some_and(|word| word & (1 << (status % 64)) != 0)
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
    /// Where it is not given: 0 and 500 to 599, or what gRPC's failures are.
    pub(crate) failure: Option<Statuses>,
    pub(crate) ignored: Statuses,
    pub(crate) cancelled: Option<Statuses>,
    /// What the breakers' own settings say; arguments come first.
    pub(crate) declared: nanobreaker::Statuses,
}

/// What fails and what was given up where the arguments don't say, of HTTP: 0 is what Envoy writes where
/// there was no answer, 499 is nginx's and 460 AWS's for a caller that went away.
const HTTP: (&[RangeInclusive<u16>], &[RangeInclusive<u16>]) = (&[0..=0, 500..=599], &[460..=460, 499..=499]);
/// What was given up, of gRPC: cancelled.
const GRPC_CANCELLED: RangeInclusive<u16> = 1..=1;

impl Rules {
    /// With nothing left open, for the statuses of HTTP or of gRPC.
    pub(crate) fn for_statuses(&self, are_grpc: bool) -> Self {
        let (usual, cancelled): (Statuses, Statuses) = if are_grpc {
            (grpc::FAILURES.into_iter().collect(), GRPC_CANCELLED.collect())
        } else {
            (HTTP.0.iter().cloned().flatten().collect(), HTTP.1.iter().cloned().flatten().collect())
        };
        let declared = |outcome: Outcome| {
            let says = |status: &u16| {
                let usual = if usual.contains(*status) { Outcome::Failure } else { Outcome::Success };
                let says = match are_grpc {
                    true => self.declared.of_grpc(*status, usual),
                    false => self.declared.of_http(*status, usual),
                };
                says == outcome
            };
            (0..=LAST).filter(says).collect::<Statuses>()
        };
        let declared_ignored = declared(Outcome::Ignored);
        let is_ignored = |status: &u16| self.ignored.contains(*status) || declared_ignored.contains(*status);
        Self {
            failure: Some(self.failure.clone().unwrap_or_else(|| declared(Outcome::Failure))),
            ignored: (0..=LAST).filter(is_ignored).collect(),
            cancelled: Some(self.cancelled.clone().unwrap_or(cancelled)),
            declared: self.declared,
        }
    }

    /// The first set that has the status decides: failure, ignored, cancelled, else success.
    pub(crate) fn outcome(&self, ending: Ending) -> Outcome {
        let status = match ending {
            Ending::Ok(true) => return Outcome::Success,
            Ending::Ok(false) => return Outcome::Failure,
            Ending::Cancelled => return Outcome::Cancelled,
            Ending::Status(status) => status,
        };
        let is_in = |set: &Option<Statuses>| set.as_ref().is_some_and(|set| set.contains(status));
        if is_in(&self.failure) {
            Outcome::Failure
        } else if self.ignored.contains(status) {
            Outcome::Ignored
        } else if is_in(&self.cancelled) {
            Outcome::Cancelled
        } else {
            Outcome::Success
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_judged_by_the_first_set_that_has_it() {
        let rules = Rules {
            failure: Some("500-599, 429,0".parse().unwrap()),
            ignored: "404,500".parse().unwrap(),
            cancelled: Some("499".parse().unwrap()),
            declared: nanobreaker::Statuses::default(),
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
    fn statuses_of_grpc_have_failures_of_their_own() {
        let rules = unsaid(nanobreaker::Statuses::default());
        let outcome = |status| rules.for_statuses(true).outcome(Ending::Status(status));
        let failures: Vec<u16> = (0..=16).filter(|n| outcome(*n) == Outcome::Failure).collect();
        assert_eq!(failures, [2, 4, 8, 13, 14, 15]);
        assert_eq!(outcome(1), Outcome::Cancelled);
        assert_eq!(outcome(0), Outcome::Success);
        let of_http = |status| rules.for_statuses(false).outcome(Ending::Status(status));
        assert_eq!(of_http(0), Outcome::Failure);
        assert_eq!(of_http(499), Outcome::Cancelled);
    }

    fn unsaid(declared: nanobreaker::Statuses) -> Rules {
        Rules { failure: None, ignored: "".parse().unwrap(), cancelled: None, declared }
    }

    #[test]
    fn what_a_configuration_declares_holds_where_no_argument_says_otherwise() {
        let toml = "failure_status = ['5xx', 429, 'NOT_FOUND']\nignore_status = [404, 501]";
        let file: nanobreaker::PartialSettings = toml::from_str(toml).unwrap();
        let rules = unsaid(file.statuses());
        let of_http = |status| rules.for_statuses(false).outcome(Ending::Status(status));
        for (status, outcome) in [
            (429, Outcome::Failure),
            (500, Outcome::Failure),
            (501, Outcome::Ignored),
            (404, Outcome::Ignored),
            (499, Outcome::Cancelled),
            (200, Outcome::Success),
        ] {
            assert_eq!(of_http(status), outcome, "{status}");
        }
        let of_grpc = |status| rules.for_statuses(true).outcome(Ending::Status(status));
        assert_eq!((of_grpc(5), of_grpc(14)), (Outcome::Failure, Outcome::Success));
        let argued = Rules { failure: Some("400".parse().unwrap()), ..rules.clone() };
        let argued = argued.for_statuses(false);
        let outcomes = [400, 500, 404].map(|status| argued.outcome(Ending::Status(status)));
        assert_eq!(outcomes, [Outcome::Failure, Outcome::Success, Outcome::Ignored]);
    }

    #[test]
    fn a_set_that_makes_no_sense_is_refused() {
        for text in ["5xx", "599-500", "1000", "-1", "500-"] {
            assert!(text.parse::<Statuses>().is_err(), "{text}");
        }
    }
}
