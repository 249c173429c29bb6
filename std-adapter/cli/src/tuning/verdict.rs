//! Is a breaker worth it? Judged on calls that it was not chosen by.
//!
//! Where a log has two outages it is parted between them: what is best in the first part is judged on the
//! second, and what is best in the second on the first. Both together say what choosing by such a log is
//! worth.

use crate::replaying::{Played, Tally};

/// What a candidate came to, over all and in each part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) totals: Tally,
    pub(crate) first: Tally,
    pub(crate) second: Tally,
}

impl Parts {
    /// Over all breakers.
    pub(crate) fn of(played: &Played) -> Self {
        let part = |index: usize| {
            let tallies = played.by_key.iter().filter_map(|parts| parts.get(index));
            tallies.fold(Tally::default(), |sum, one| sum.and(*one))
        };
        Self { totals: played.tally, first: part(0), second: part(1) }
    }

    /// Of one breaker.
    pub(crate) fn of_key(played: &Played, key: usize) -> Self {
        let [first, second] = played.by_key.get(key).copied().unwrap_or_default();
        Self { totals: first.and(second), first, second }
    }

    /// Whether it rejects more good calls than bad ones.
    pub(crate) fn loses_more(&self) -> bool {
        self.totals.lost > self.totals.saved
    }
}

/// What a tally saves on balance.
pub(crate) fn gain(tally: &Tally) -> i128 {
    i128::from(tally.saved) - i128::from(tally.lost)
}

/// The candidate that saves most on balance in a part, of those that lose no more than so many per cent of
/// its good calls; of several the first, which is the simplest. `None` where doing nothing is best.
pub(crate) fn best_in(
    candidates: &[Parts],
    part: impl Fn(&Parts) -> &Tally,
    max_lost_percent: u64,
) -> Option<usize> {
    let may_be = |tally: &Tally| {
        u128::from(tally.lost) * 100 <= u128::from(tally.good()) * u128::from(max_lost_percent)
    };
    let all = candidates.iter().enumerate().rev();
    all.map(|(index, candidate)| (index, part(candidate)))
        .filter(|(_, tally)| may_be(tally) && gain(tally) > 0)
        .max_by_key(|(_, tally)| gain(tally))
        .map(|(index, _)| index)
}

/// Whether a breaker is worth it, and the calls that say so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    /// What the choices came to on calls that they were not chosen by.
    pub(crate) judged: Tally,
    pub(crate) is_worth_it: bool,
}

/// A breaker that keeps fewer bad calls away on balance is none that anyone would miss.
const LEAST_CALLS: i128 = 10;
/// Neither is one that keeps so small a part of them away.
const LEAST_PERCENT: i128 = 5;

impl Verdict {
    /// Without a split all calls choose, and judge.
    pub(crate) fn of(candidates: &[Parts], is_split: bool, max_lost_percent: u64) -> Self {
        let all = candidates.first().copied().unwrap_or_default();
        let judged = if is_split {
            let by_first = best_in(candidates, |parts| &parts.first, max_lost_percent);
            let by_second = best_in(candidates, |parts| &parts.second, max_lost_percent);
            let on_second = by_first.map_or(untouched(all.second), |index| candidates[index].second);
            let on_first = by_second.map_or(untouched(all.first), |index| candidates[index].first);
            on_first.and(on_second)
        } else {
            let by_all = best_in(candidates, |parts| &parts.totals, max_lost_percent);
            by_all.map_or(untouched(all.totals), |index| candidates[index].totals)
        };
        Self {
            judged,
            is_worth_it: gain(&judged) >= LEAST_CALLS
                && gain(&judged) * 100 >= i128::from(judged.bad()) * LEAST_PERCENT,
        }
    }
}

/// The same calls without a breaker.
fn untouched(tally: Tally) -> Tally {
    Tally {
        calls: tally.calls,
        failed: tally.failed,
        succeeded: tally.succeeded,
        uncounted: tally.uncounted,
        slow: tally.slow,
        ..Tally::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(saved: u64, lost: u64) -> Tally {
        Tally { failed: 100, succeeded: 10_000, saved, lost, ..Tally::default() }
    }

    fn parts(first: (u64, u64), second: (u64, u64)) -> Parts {
        let (first, second) = (tally(first.0, first.1), tally(second.0, second.1));
        Parts { totals: first.and(second), first, second }
    }

    fn is_worth_it(candidates: &[Parts]) -> bool {
        Verdict::of(candidates, true, 5).is_worth_it
    }

    #[test]
    fn what_is_good_in_both_parts_is_worth_it() {
        assert!(is_worth_it(&[parts((80, 2), (70, 3)), parts((10, 0), (10, 0))]));
    }

    #[test]
    fn what_is_good_only_where_it_was_searched_is_not() {
        // Each is good in one part and bad in the other.
        assert!(!is_worth_it(&[parts((80, 2), (0, 300)), parts((0, 300), (80, 2))]));
    }

    #[test]
    fn what_saves_little_or_loses_more_is_not_worth_it() {
        assert!(!is_worth_it(&[parts((4, 0), (5, 0))]));
        assert!(!is_worth_it(&[parts((90, 400), (90, 400))]));
        assert!(parts((90, 400), (90, 400)).loses_more());
        assert!(!is_worth_it(&[]));
    }

    #[test]
    fn of_two_as_good_the_first_is_chosen_and_none_that_loses_too_much() {
        let candidates = [parts((90, 600), (0, 0)), parts((80, 0), (0, 0)), parts((80, 0), (0, 0))];
        assert_eq!(best_in(&candidates, |parts| &parts.first, 5), Some(1));
        assert_eq!(best_in(&candidates, |parts| &parts.second, 5), None);
    }
}
