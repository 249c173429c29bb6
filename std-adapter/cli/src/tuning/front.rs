//! The trade-offs that are worth having: no other saves more calls and loses fewer.

/// What a candidate came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Score {
    /// Calls that failed in the log, kept from being made.
    pub(crate) saved: u64,
    /// Calls that succeeded in the log, kept from being made.
    pub(crate) lost: u64,
    /// Between equals the one with fewer trips, then the one that detects sooner, is better.
    pub(crate) trips: u64,
    pub(crate) longest_detection_delay_us: u64,
}

/// The candidates (as indices) on the Pareto front, from the one that loses least to the one that
/// saves most, as far as they lose no more than `most_lost`; the first one is there anyway. Each saves
/// `least_gain` more than the one before: for less nobody wants another. Of several that save and lose the
/// same, the first, which is the simplest.
fn front(scores: &[Score], most_lost: u64, least_gain: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by_key(|index| {
        let score = &scores[*index];
        let delay = score.longest_detection_delay_us;
        (score.lost, std::cmp::Reverse(score.saved), score.trips, delay, *index)
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        let is_better = |last: &usize| {
            scores[index].saved >= scores[*last].saved + least_gain.max(1) && scores[index].lost <= most_lost
        };
        if front.last().is_none_or(is_better) {
            front.push(index);
        }
    }
    // One that does nothing is left where all others lose more than they save; else who asks for it?
    let gains = front.iter().any(|index| scores[*index].saved > scores[*index].lost);
    if gains && front.first().is_some_and(|first| scores[*first].saved == 0) {
        front.remove(0);
    }
    front
}

/// At most `most` candidates of the front, which lose no more than `most_lost`, as different as can
/// be: its two ends, and again and again the one that is furthest from those chosen. With `most` 1, the one that saves most for what it
/// loses.
pub(crate) fn best(scores: &[Score], most_lost: u64, least_gain: u64, most: usize) -> Vec<usize> {
    let front = front(scores, most_lost, least_gain);
    if most <= 1 {
        let net = |index: &usize| i128::from(scores[*index].saved) - i128::from(scores[*index].lost);
        return front.into_iter().max_by_key(net).into_iter().collect();
    }
    let (Some(first), Some(last)) = (front.first(), front.last()) else {
        return Vec::new();
    };
    let place = places(scores, *last);
    let mut chosen = vec![*first];
    if last != first {
        chosen.push(*last);
    }
    while chosen.len() < most.min(front.len()) {
        let distance = |index: usize| {
            let to = |other: &usize| distance(place(index), place(*other));
            chosen.iter().map(to).fold(f64::INFINITY, f64::min)
        };
        let rest = front.iter().copied().filter(|index| !chosen.contains(index));
        let Some(next) = rest.max_by(|a, b| distance(*a).total_cmp(&distance(*b))) else {
            break;
        };
        chosen.push(next);
    }
    chosen.sort_by_key(|index| scores[*index].lost);
    chosen
}

/// Where a candidate is, with the last of the front at (1, 1). The first calls lost matter most, so
/// losses count by their roots.
fn places(scores: &[Score], last: usize) -> impl Fn(usize) -> (f64, f64) {
    let (saved, lost) = (scores[last].saved.max(1), scores[last].lost.max(1));
    move |index| {
        let score = &scores[index];
        let lost = score.lost as f64 / lost as f64;
        (score.saved as f64 / saved as f64, lost.sqrt())
    }
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(saved: u64, lost: u64) -> Score {
        Score { saved, lost, trips: 1, longest_detection_delay_us: 0 }
    }

    #[test]
    fn a_candidate_that_saves_less_and_loses_more_is_not_on_the_front() {
        let scores = [score(10, 5), score(20, 4), score(30, 9), score(5, 0), score(0, 0)];
        assert_eq!(front(&scores, 100, 1), [3, 1, 2]);
        assert_eq!(best(&scores, 100, 1, 2), [3, 2]);
        assert_eq!(best(&scores, 100, 1, 1), [2]);
    }

    #[test]
    fn a_candidate_that_loses_too_much_is_left_out_unless_all_do() {
        let scores = [score(10, 5), score(20, 7), score(30, 90)];
        assert_eq!(best(&scores, 7, 1, 5), [0, 1]);
        assert_eq!(best(&scores, 1, 1, 5), [0]);
    }

    #[test]
    fn one_that_saves_little_more_is_left_out() {
        let scores = [score(100, 1), score(105, 2), score(130, 3)];
        assert_eq!(best(&scores, 100, 10, 5), [0, 2]);
    }

    #[test]
    fn where_nothing_can_be_saved_one_that_does_nothing_is_left() {
        assert_eq!(best(&[score(0, 3), score(0, 0)], 100, 1, 5), [1]);
        assert_eq!(best(&[score(1, 73), score(0, 0)], 100, 1, 5), [1, 0]);
        assert_eq!(best(&[score(74, 73), score(0, 0)], 100, 1, 5), [0]);
        assert!(best(&[], 100, 1, 5).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_is_chosen_is_beaten_by_none(
            scores in proptest::collection::vec((0..50u64, 0..50u64), 1..60),
            most in 1..8usize,
        ) {
            let scores: Vec<_> = scores.into_iter().map(|(saved, lost)| score(saved, lost)).collect();
            let chosen = best(&scores, 100, 1, most);
            prop_assert!(!chosen.is_empty() && chosen.len() <= most);
            for index in chosen {
                let one = scores[index];
                let beaten = |other: &Score| {
                    other.saved >= one.saved && other.lost <= one.lost
                        && (other.saved > one.saved || other.lost < one.lost)
                };
                prop_assert!(!scores.iter().any(beaten));
            }
        }
    }
}
