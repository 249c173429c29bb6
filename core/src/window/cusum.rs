//! The cumulative sum of evidence: Page's test for "broken since some moment".
//!
//! One number S. A failure raises it by ln(p₁/p₀), a success lowers it by ln((1−p₀)/(1−p₁)), never below
//! 0; the window trips when S reaches ln(calls per false trip). Here p₀ is the normal failure rate and
//! p₁ the broken one. (E. S. Page, Continuous Inspection Schemes, Biometrika 1954. No rule with as few
//! false trips finds out sooner in the worst case: Lorden 1971, Moustakides 1986.)
//!
//! S is kept in units of 1/2²⁶ of what trips (1/2²⁴ where words are narrow). The weights are rounded so
//! that the window is never more eager than asked.
//!
//! | content | wide | narrow |
//! | ------- | ---- | ------ |
//! | S       |   26 |     24 |
//! | when the evidence began, in milliseconds | 26 | – |
//!
//! Evidence begins with the failure that raises S above 0. It begins anew with a failure that comes later than
//! the time asked for and finds S no higher than one failure raises it: a lone failure has not been mounting. Until
//! the evidence has lasted, S stops one failure below what trips. So a burst of failures at one instant trips neither
//! with a lone failure before it nor with one after it and a success.
//!
//! The time comes round after 18.6 hours. Evidence that is older, or that a reader whose clock is behind
//! finds ahead, counts as just begun: that puts the trip off to the next failure.

use crate::settings::{MILLION, attempt, within};
use crate::state::CONTENT_BITS;
use crate::sync::{Raw, WIDE, Word, const_unless_loom};
use crate::window::Measured;
use crate::window::call::Call;
use crate::window::judge::Verdict;
use crate::window::logarithm::log2;
use crate::window::ruled::{Room, Rows, Rule, Ruled};
use crate::window::tagged::{peek, update};
use crate::{Clock, ConfigError, CusumSettings};

const SUM_BITS: u32 = if WIDE { 26 } else { CONTENT_BITS };
/// The sum that trips.
const TRIPS_AT: Raw = 1 << SUM_BITS;
const TIME_BITS: u32 = CONTENT_BITS - SUM_BITS;
const TIME: Raw = (1 << TIME_BITS) - 1;
/// The smallest weight of a success: below it rounding would count for too much.
const LEAST_WEIGHT: u32 = 16;
/// A quarter of the time's range.
const MOST_SUSTAINED_MS: u32 = if WIDE { 1 << (TIME_BITS - 2) } else { 0 };
const MOST_CALLS: u64 = 1_000_000_000_000_000;

/// Trips on evidence that the dependency is broken: failures weigh for it, successes against it.
///
/// Three questions set it, see [`CusumSettings`]: how often does a call fail on a good day, what rate
/// is broken, and how rarely may it be wrong. It needs no span, no minimum of calls and no estimate of
/// the traffic: the same settings are right at one call a minute and at a million a second. Of all
/// rules that are wrong as rarely, none finds an outage sooner in the worst case.
///
/// While nothing fails, a success costs a load: no store, no clock read. Any other call costs one
/// exchange. A failure reads the clock only where the evidence must be sustained.
///
/// # Which window, and which settings
///
/// Take this window wherever calls fail now and then. Take another where the rule itself is what is asked
/// for: "three failures in a row" of one device, or "half of the last hundred calls" of a contract.
///
/// Three questions set it. None of them is about traffic.
///
/// 1. **How often does a call fail on a good day?** Look at a month of logs and take the worst hour in which
///    nobody complained. That is `normal`. Where the true rate is above it, false trips come more often than
///    asked.
/// 2. **What is broken?** Above which failure rate shall calls be stopped, though the others would have been
///    answered? That is `broken`. Half is a safe answer; a fifth spares a struggling dependency, at the price
///    of four good calls for each that fails.
/// 3. **How rarely may it be wrong?** At ten calls a second 500 million calls are a year and a half, at ten
///    thousand half a day. That is `calls_per_false_trip`, for days that are as bad as `normal` all day long. On
///    a better day it is wrong far more rarely: see the middle columns.
///
/// What each answer costs: the calls that are made in an outage until it trips, and the false trips of a day at
/// 10,000 calls a second.
///
/// | normal | broken | calls per false trip | doomed where all fail | where 50 % fail | where 20 % fail | false trips a day where 0.1 % · 1 % · 2 % · 5 % fail |
/// | -----: | -----: | -------------------: | --: | --: | --: | --: |
/// | 1 % | 20 % | 1.2 million | 5 | 11 | 34 | 0 · 43 · 3,238 · 722,000 |
/// | 1 % | 20 % | 66 million | 7 | 14 | 43 | 0 · 0.9 · 229 · 312,000 |
/// | 1 % | 50 % | 8.9 million | 5 | 11 | 51 | 0 · 12 · 400 · 48,000 |
/// | 2 % | 50 % | 8.9 million | 5 | 13 | 85 | 0 · 0.2 · 13 · 4,225 |
/// | **2 %** | **50 %** | **485 million** | **7** | **16** | **116** | **0 · 0 · 0.2 · 364** |
/// | 5 % | 50 % | 8.9 million | 7 | 20 | 317 | 0 · 0 · 0 · 17 |
///
/// The figures are exact: S is a Markov chain, whose mean times to the trip solve a system of linear equations
/// (Brook and Evans, Biometrika 1972). The bold row is, with 500 million, the default of servers' breakers; the
/// program `detection` of the repository's `benches` measures it beside other rules, and a test there compares
/// the chain with a simulation.
///
/// Failures that come in bursts are not independent: a reset connection fails all calls on it at once. Where
/// that happens, ask for evidence that has been mounting for 20 ms (`sustained_for_ms`). It costs the calls of
/// these 20 ms. A lone failure before a burst does not make it look sustained, and until the 20 ms are over, the sum
/// stops one failure below what trips.
///
/// ```
/// use nanobreaker_core::{Breaker, Config, CusumSettings, ManualClock, Phase, window::Cusum};
///
/// let window = Cusum::new(CusumSettings {
///     normal_ppm: 2_000,   // 0.2 %
///     broken_ppm: 200_000, // 20 %
///     calls_per_false_trip: 10_000_000,
///     sustained_for_ms: 0,
/// })?;
/// let breaker = Breaker::new(window, Config::DEFAULT, ManualClock::new(0));
/// for _ in 0..3 {
///     breaker.allow()?.failure();
/// }
/// assert_eq!(breaker.phase(), Phase::Closed);
/// breaker.allow()?.failure(); // ln(10⁷) / ln(100) = 3.5
/// assert_eq!(breaker.phase(), Phase::Open);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Cusum = Ruled<CusumRule, [Word; 1]>;

impl Cusum {
    const_unless_loom! {
        /// Trips on the evidence that `settings` ask for.
        ///
        /// # Errors
        ///
        /// `normal` must be from 1 to 999,998 parts per million, `broken` above it and at most 999,999,
        /// and so far above it that a success weighs anything; `calls_per_false_trip` from 2 to 10¹⁵;
        /// `sustained_for_ms` at most 16,777,216, and 0 where words are 32 bits wide.
        pub const fn new(settings: CusumSettings) -> Result<Self, ConfigError> {
            Ok(Self { rule: attempt!(CusumRule::new(settings)), memory: Word::zeroes() })
        }
    }
}

/// The rule of a [`Cusum`] window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CusumRule {
    /// What a failure adds.
    pub(super) failure: u32,
    /// What a success takes away.
    pub(super) success: u32,
    pub(super) sustained_for_ms: u32,
}

impl CusumRule {
    pub(super) const fn new(settings: CusumSettings) -> Result<Self, ConfigError> {
        let CusumSettings { normal_ppm, broken_ppm, calls_per_false_trip: calls, sustained_for_ms } =
            settings;
        let most = MILLION as u64;
        let normal = attempt!(within("normal", normal_ppm as u64, 1, most - 2));
        let is_above = normal < broken_ppm && broken_ppm < MILLION;
        let success = if is_above { success_weight(normal, broken_ppm, calls) } else { 0 };
        // The limit takes twenty times as long to find, so it is looked for only where it is named.
        let least = if success < LEAST_WEIGHT { least_broken(normal, calls) } else { 0 };
        let broken = attempt!(within("broken", broken_ppm as u64, least, most - 1));
        attempt!(within("calls_per_false_trip", calls, 2, MOST_CALLS));
        attempt!(within("sustained_for_ms", sustained_for_ms as u64, 0, MOST_SUSTAINED_MS as u64));
        Ok(Self { failure: failure_weight(normal, broken, calls), success, sustained_for_ms })
    }

    /// One more failure, while the sum is `there`.
    fn failed(self, there: Raw, now: Raw) -> (Raw, Verdict) {
        let (sum, began) = (there & (TRIPS_AT - 1), there >> SUM_BITS);
        let passed = now.wrapping_sub(began) & TIME;
        let is_lone = sum <= self.lone() && passed > self.sustained_for_ms as Raw;
        let (began, passed) = if sum == 0 || is_lone { (now & TIME, 0) } else { (began, passed) };
        let raised = sum + self.failure as Raw;
        if raised < TRIPS_AT {
            return (began << SUM_BITS | raised, Verdict::Holds);
        }
        // So far ahead of the clock, or so long ago, that the evidence counts as just begun.
        let is_anew = passed > TIME / 2;
        let has_lasted = passed >= self.sustained_for_ms as Raw && !is_anew;
        if self.sustained_for_ms == 0 || has_lasted {
            // Not stored: it trips the breaker, and so does each later failure of this generation.
            (there, Verdict::Trips)
        } else {
            let began = if is_anew { now & TIME } else { began };
            (began << SUM_BITS | self.full(), Verdict::Holds)
        }
    }

    /// Where the sum stops until the evidence has lasted: one more failure then trips. Above 0, or the evidence
    /// would always begin anew.
    fn full(self) -> Raw {
        (TRIPS_AT - Raw::from(self.failure)).max(1)
    }

    /// Up to here the sum is what a lone failure leaves. It is 0 where two failures trip, since a full sum is then
    /// no more than that.
    fn lone(self) -> Raw {
        let failure = self.failure as Raw;
        if failure < self.full() { failure } else { 0 }
    }

    /// One more success.
    const fn succeeded(self, there: Raw) -> Raw {
        let (sum, began) = (there & (TRIPS_AT - 1), there & !(TRIPS_AT - 1));
        match sum.saturating_sub(self.success as Raw) {
            0 => 0,
            lowered => began | lowered,
        }
    }
}

/// ln(p₁/p₀), as a share of what trips; rounded down.
const fn failure_weight(normal: u32, broken: u32, calls: u64) -> u32 {
    let log = log2(broken as u64) - log2(normal as u64);
    // Either logarithm may be two units too small.
    share(log.saturating_sub(2), log2(calls) + 2)
}

/// ln((1−p₀)/(1−p₁)), as a share of what trips; above it, by at most a unit.
const fn success_weight(normal: u32, broken: u32, calls: u64) -> u32 {
    let log = log2((MILLION - normal) as u64) - log2((MILLION - broken) as u64);
    share(log + 2, log2(calls)) + 1
}

/// `part` / `whole` in units of 1/2^`SUM_BITS`, rounded down. More than the
/// whole is as good as the whole.
///
/// Bit by bit: small chips would need a large routine to divide 128 bits, and the compiler can't see that
/// the divisor is never zero, so it would keep that panic.
const fn share(part: u64, whole: u64) -> u32 {
    if part >= whole {
        return TRIPS_AT as u32;
    }
    let (mut share, mut rest, mut bit) = (0, part, 0);
    while bit < SUM_BITS {
        let is_set = rest << 1 >= whole;
        share = share << 1 | is_set as u32;
        rest = (rest << 1) - if is_set { whole } else { 0 };
        bit += 1;
    }
    share
}

/// The smallest broken rate, in parts per million, at which a success weighs enough beside `normal`.
const fn least_broken(normal: u32, calls: u64) -> u64 {
    let (mut too_near, mut enough) = (normal, MILLION - 1);
    while enough - too_near > 1 {
        let middle = too_near + (enough - too_near) / 2;
        if success_weight(normal, middle, calls) < LEAST_WEIGHT {
            too_near = middle;
        } else {
            enough = middle;
        }
    }
    enough as u64
}

impl Rule for CusumRule {
    #[inline]
    fn count<C: Clock>(&self, room: Room<'_, impl Rows>, bad: bool, call: &Call<'_, C>) -> Verdict {
        if !bad && peek(room.first, call.generation()) == 0 {
            return Verdict::Holds;
        }
        let now = if bad && self.sustained_for_ms > 0 { call.now() } else { 0 };
        update(room.first, call, |there| {
            Ok(if bad { self.failed(there, now) } else { (self.succeeded(there), Verdict::Holds) })
        })
        .unwrap_or(Verdict::Stale)
    }

    fn measure<C: Clock>(&self, room: Room<'_, impl Rows>, call: &Call<'_, C>) -> Measured {
        let sum = u64::from(peek(room.first, call.generation()) & (TRIPS_AT - 1));
        Measured::Sum { ppm: ((sum * u64::from(MILLION)) >> SUM_BITS) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn settings(normal_ppm: u32, broken_ppm: u32, calls_per_false_trip: u64) -> CusumSettings {
        CusumSettings { normal_ppm, broken_ppm, calls_per_false_trip, sustained_for_ms: 0 }
    }

    #[test]
    fn weights_are_the_logarithms_rounded_to_the_cautious_side() {
        let rates =
            [1, 2, 999, 1_000, 2_000, 10_000, 20_000, 50_000, 200_000, 500_000, 900_000, 999_998, 999_999];
        for calls in [2, 10, 1_000, 10_000_000, 485_165_195, MOST_CALLS] {
            for normal in rates {
                for broken in rates {
                    let Ok(rule) = CusumRule::new(settings(normal, broken, calls)) else {
                        continue;
                    };
                    let (p0, p1) = (f64::from(normal) / 1e6, f64::from(broken) / 1e6);
                    let unit = TRIPS_AT as f64 / (calls as f64).ln();
                    let failure = ((p1.ln() - p0.ln()) * unit).min(TRIPS_AT as f64);
                    let success = (((1.0 - p0) / (1.0 - p1)).ln() * unit).min(TRIPS_AT as f64);
                    let off = |weight: u32, exact: f64| f64::from(weight) - exact;
                    assert!(
                        (-1.01..=0.01).contains(&off(rule.failure, failure)),
                        "{normal} {broken} {calls}"
                    );
                    assert!(
                        (-0.01..=1.01).contains(&off(rule.success, success)),
                        "{normal} {broken} {calls}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_setting_is_refused_by_name() {
        let refused = |settings| CusumRule::new(settings).unwrap_err().field();
        assert_eq!(refused(settings(0, 500_000, 1_000)), "normal");
        assert_eq!(refused(settings(999_999, 999_999, 1_000)), "normal");
        assert_eq!(refused(settings(5_000, 5_000, 1_000)), "broken");
        assert_eq!(refused(settings(5_000, 1_000_000, 1_000)), "broken");
        assert_eq!(refused(settings(5_000, 50_000, 1)), "calls_per_false_trip");
        assert_eq!(refused(settings(5_000, 50_000, MOST_CALLS + 1)), "calls_per_false_trip");
        let sustained_for_ms = MOST_SUSTAINED_MS + 1;
        let too_long = CusumSettings { sustained_for_ms, ..settings(5_000, 50_000, 1_000) };
        assert_eq!(refused(too_long), "sustained_for_ms");
    }

    #[test]
    fn rates_too_near_to_each_other_are_refused_with_the_nearest_that_is_allowed() {
        let error = CusumRule::new(settings(1_000, 1_001, MOST_CALLS)).unwrap_err();
        assert_eq!(error.field(), "broken");
        let nearest = error.minimum() as u32;
        assert!(CusumRule::new(settings(1_000, nearest, MOST_CALLS)).is_ok());
        if nearest > 1_001 {
            assert!(CusumRule::new(settings(1_000, nearest - 1, MOST_CALLS)).is_err());
        }
    }

    #[test]
    fn one_failure_trips_where_it_is_evidence_enough() {
        let rule = CusumRule::new(settings(1, 999_999, 2)).unwrap();
        assert_eq!(rule.failed(0, 0).1, Verdict::Trips);
    }

    /// Evidence that must last for 20 ms. Narrow words have no room for that.
    fn sustained(calls_per_false_trip: u64) -> Option<CusumRule> {
        let settings = settings(20_000, 500_000, calls_per_false_trip);
        WIDE.then(|| CusumRule::new(CusumSettings { sustained_for_ms: 20, ..settings }).unwrap())
    }

    #[test]
    fn evidence_must_have_been_mounting_for_as_long_as_asked() {
        let Some(rule) = sustained(485_165_195) else { return };
        let mut there = 0;
        for _ in 0..100 {
            let (next, verdict) = rule.failed(there, 1_000);
            assert_eq!(verdict, Verdict::Holds);
            there = next;
        }
        assert_eq!(rule.failed(there, 1_019).1, Verdict::Holds);
        assert_eq!(rule.failed(there, 1_020).1, Verdict::Trips);
        let (anew, verdict) = rule.failed(there, 900);
        assert_eq!(verdict, Verdict::Holds, "a clock behind the first failure");
        assert_eq!(rule.failed(anew, 920).1, Verdict::Trips);
    }

    #[test]
    fn neither_a_lone_failure_before_a_burst_nor_one_after_it_makes_it_sustained() {
        let Some(rule) = sustained(485_165_195) else { return };
        let mut there = rule.failed(0, 0).0;
        for _ in 0..100 {
            let (next, verdict) = rule.failed(there, 1_000);
            assert_eq!(verdict, Verdict::Holds, "a second after a lone failure");
            there = next;
        }
        there = rule.succeeded(there);
        let (there, verdict) = rule.failed(there, 2_000);
        assert_eq!(verdict, Verdict::Holds, "a lone failure a second later");
        assert_eq!(rule.failed(there, 2_001).1, Verdict::Trips, "one that is not alone");
    }

    #[test]
    fn sustained_evidence_trips_however_few_failures_the_threshold_asks_for() {
        for calls_per_false_trip in [2, 20, 50, 500, 1_000, 10_000, MOST_CALLS] {
            let Some(rule) = sustained(calls_per_false_trip) else { return };
            let mut there = 0;
            for _ in 0..20 {
                let (next, verdict) = rule.failed(there, 5);
                assert_eq!(verdict, Verdict::Holds, "{calls_per_false_trip}");
                there = next;
            }
            assert_eq!(rule.failed(there, 24).1, Verdict::Holds, "{calls_per_false_trip}");
            assert_eq!(rule.failed(there, 25).1, Verdict::Trips, "{calls_per_false_trip}");
        }
    }
}
