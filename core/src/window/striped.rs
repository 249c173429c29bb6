//! The window over a span of time, for many cores.
//!
//! In a plain [`Time`](super::Time) window all cores count in the same word, which therefore travels
//! from core to core with each call. Here each stripe counts its good calls in cache lines of its
//! own, and whoever has to judge sums over the stripes. Bad calls share one row: they are few, or
//! the breaker trips.

use crate::settings::attempt;
use crate::sync::{Word, array_of, const_unless_loom};
use crate::window::ruled::{Memory, Room, Rows, Ruled};
use crate::window::time::TimeRule;
use crate::{ConfigError, Rate};

/// Tells which stripe the present thread, core or interrupt counts in.
///
/// Any number will do; it is taken modulo the number of stripes. Two threads that get the same one
/// share a stripe, which costs time but loses nothing.
pub trait Stripes {
    /// The present thread's number.
    fn stripe(&self) -> usize;
}

/// [`Time`](super::Time), with the good calls counted in `STRIPES` stripes.
///
/// A success costs a clock read, two divisions and one exchange in a line that no other stripe writes;
/// a failure sums over all stripes. So does a success while its own bucket has no more good calls
/// than the minimum, but only where there are failures to judge.
///
/// It is exact when quiet. While other threads record, a thread that sums may miss good calls whose
/// `record` has not returned yet, and so find a rate higher by those; bad calls are missed by none,
/// as in the plain window.
///
/// # What it saves
///
/// A line that another core wrote last takes about 8 to 20 times as long to arrive as an exchange on a
/// line that is there already, and only one core can have it at a time. So however many cores record
/// into one word, all of them together do at most what one alone would do in an eighth of its time:
/// 64 cores do no more than 2. With as many stripes as cores each line stays with its core and their
/// calls add up: 64 cores do what 64 do. The price is memory, 128 bytes for each stripe and 16 buckets
/// (the width of two lines, since processors fetch them in pairs), and the sum: `STRIPES` × `BUCKETS`
/// loads, most of them from other cores' caches, for each failure.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, ManualClock, Phase, Rate};
/// use nanobreaker_core::window::{StripedTime, Stripes};
///
/// #[derive(Clone, Copy)]
/// struct Core;
/// impl Stripes for Core {
///     fn stripe(&self) -> usize {
///         # 0
///         # /*
///         number_of_this_core()
///         # */
///     }
/// }
/// let window = StripedTime::<Core, 8, 10>::new(10_000, 10, Rate::percent(50).min_calls(4), Core)?;
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..4 {
///     breaker.allow()?.failure();
/// }
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type StripedTime<S, const STRIPES: usize, const BUCKETS: usize> =
    Ruled<TimeRule, Striped<S, STRIPES, BUCKETS>>;

impl<S: Copy, const STRIPES: usize, const BUCKETS: usize> StripedTime<S, STRIPES, BUCKETS> {
    const_unless_loom! {
        /// As [`Time::new`](super::Time::new), with `stripes` to tell threads apart.
        ///
        /// # Errors
        ///
        /// As [`Time::new`](super::Time::new). `STRIPES` must be at least 1, which the compiler
        /// checks.
        pub const fn new(span_ms: u64, buckets: u32, rate: Rate, stripes: S) -> Result<Self, ConfigError> {
            const { assert!(STRIPES > 0, "a striped window needs a stripe") };
            let rule = attempt!(TimeRule::new(span_ms, buckets, rate, BUCKETS));
            let good = array_of!(Stripe(Word::zeroes()); STRIPES);
            Ok(Self { rule, memory: Striped { stripes, turn: Word::new(0), bad: Stripe(Word::zeroes()), good } })
        }
    }
}

/// The memory of a [`StripedTime`] window.
#[derive(Debug)]
pub struct Striped<S, const STRIPES: usize, const BUCKETS: usize> {
    stripes: S,
    turn: Word,
    bad: Stripe<BUCKETS>,
    good: [Stripe<BUCKETS>; STRIPES],
}

/// Buckets in cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
struct Stripe<const BUCKETS: usize>([Word; BUCKETS]);

impl<S: Stripes, const STRIPES: usize, const BUCKETS: usize> Memory for Striped<S, STRIPES, BUCKETS> {
    #[inline]
    fn room(&self) -> Option<Room<'_, impl Rows>> {
        Some(Room { first: &self.turn, rest: &self.bad.0, rows: self })
    }
}

impl<S: Stripes, const STRIPES: usize, const BUCKETS: usize> Rows for &Striped<S, STRIPES, BUCKETS> {
    #[inline]
    fn own(&self) -> Option<&[Word]> {
        self.good.get(self.stripes.stripe() % STRIPES.max(1)).map(|stripe| &stripe.0[..])
    }

    #[inline]
    fn all(&self) -> impl Iterator<Item = &[Word]> + Clone {
        self.good.iter().map(|stripe| &stripe.0[..])
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::window::Time;
    use crate::{Breaker, Config, ManualClock, Outcome, Phase};

    impl Stripes for &Cell<usize> {
        fn stripe(&self) -> usize {
            self.get()
        }
    }

    #[test]
    fn calls_in_any_stripe_add_up_to_what_the_plain_window_counts() {
        let stripe = Cell::new(0);
        let clock = ManualClock::new(0);
        let striped =
            StripedTime::<_, 4, 5>::new(1_000, 5, Rate::percent(40).min_calls(20), &stripe).unwrap();
        let striped = Breaker::new(striped, Config::DEFAULT, &clock);
        let plain = Time::<5>::new(1_000, 5, Rate::percent(40).min_calls(20)).unwrap();
        let plain = Breaker::new(plain, Config::DEFAULT, &clock);
        let mut random = 12_345_u32;
        let mut trips = 0;
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            stripe.set((random >> 8) as usize);
            clock.advance(u64::from(random >> 28));
            let outcome = if random >> 16 & 0x7 < 3 { Outcome::Failure } else { Outcome::Success };
            striped.allow().unwrap().record(outcome);
            plain.allow().unwrap().record(outcome);
            assert_eq!(striped.snapshot().phase, plain.snapshot().phase);
            if plain.snapshot().phase == Phase::Open {
                trips += 1;
                striped.reset();
                plain.reset();
            }
        }
        assert!(trips > 10, "{trips}");
    }

    #[test]
    fn the_call_that_fills_the_minimum_is_judged_in_any_stripe() {
        let stripe = Cell::new(0);
        let window = StripedTime::<_, 4, 5>::new(1_000, 5, Rate::percent(50).min_calls(4), &stripe).unwrap();
        let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
        for outcome in [Outcome::Failure, Outcome::Success, Outcome::Failure] {
            stripe.set(stripe.get() + 1);
            breaker.allow().unwrap().record(outcome);
        }
        assert_eq!(breaker.phase(), Phase::Closed);
        stripe.set(7);
        breaker.allow().unwrap().success();
        assert_eq!(breaker.phase(), Phase::Open);
    }
}
