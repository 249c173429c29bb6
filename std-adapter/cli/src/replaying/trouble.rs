//! When did it begin to fail? What the log says, whatever breaker might have stood before it.
//!
//! A dependency is in trouble from the start of a failed call until several calls in a row have
//! succeeded. A single failure among successes is such a trouble too, of one call; a dependency that
//! fails half of its calls is in one trouble throughout.

use nanobreaker::Outcome;

use crate::reading::Call;

/// So many successes in a row end a trouble. With half of all calls failing they come by chance once
/// in a thousand; with one in a hundred failing, a trouble is over after a single failure.
const HEALTHY: u32 = 10;

#[derive(Clone, Copy, Debug, Default)]
struct Trouble {
    since_us: Option<i64>,
    successes: u32,
}

/// The troubles of each key.
#[derive(Debug, Default)]
pub(crate) struct Troubles(Vec<Trouble>);

impl Troubles {
    /// A call ended. Since when has its dependency been in trouble?
    pub(crate) fn ended(&mut self, call: &Call) -> Option<i64> {
        let index = call.key as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, Trouble::default());
        }
        let trouble = self.0.get_mut(index)?;
        match call.outcome {
            Outcome::Failure | Outcome::SlowFailure => {
                // One that ends later may have begun earlier.
                let earlier = trouble.since_us.map_or(call.start_us, |us| us.min(call.start_us));
                trouble.since_us = Some(earlier);
                trouble.successes = 0;
            }
            Outcome::Success | Outcome::Slow => {
                trouble.successes = trouble.successes.saturating_add(1);
                if trouble.successes >= HEALTHY {
                    trouble.since_us = None;
                }
            }
            Outcome::Ignored | Outcome::Cancelled => {}
        }
        trouble.since_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(outcomes: &[Outcome]) -> Option<i64> {
        let mut troubles = Troubles::default();
        let mut since = None;
        for (at, outcome) in (0..).zip(outcomes) {
            since = troubles.ended(&Call { start_us: at, end_us: at + 1, key: 3, outcome: *outcome });
        }
        since
    }

    #[test]
    fn a_trouble_lasts_from_its_first_failure_to_ten_successes_in_a_row() {
        use Outcome::{Failure, Success};
        assert_eq!(since(&[Success, Failure, Success, Failure]), Some(1));
        let mut outcomes = vec![Failure];
        outcomes.extend([Success; 10]);
        assert_eq!(since(&outcomes), None);
        outcomes.push(Failure);
        assert_eq!(since(&outcomes), Some(11));
    }
}
