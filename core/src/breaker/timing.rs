//! Reads and sets the times that the state word holds.

use crate::breaker::Step;
use crate::state::{Anchor, Code, Left, Span, State};
use crate::sync::Raw;
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Phase};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// What the clock shows, and the anchor as it stood before that was read. Ask after the state was loaded.
    ///
    /// In this order. A lease that is renewed a whole range later may leave the state as it was. Who stalled
    /// meanwhile with an earlier reading of the clock must not take the younger anchor for that reading's, and so
    /// find the lease over. Nor may it store an older anchor in its place.
    // On small chips once, since it takes more bytes than a call.
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    fn now(&self) -> (Raw, Anchor) {
        // Nothing has to be seen with it: it is believed only where it fits the state.
        let anchor = Anchor(self.anchor.first_look());
        (self.clock.now_ms() as Raw, anchor)
    }

    /// How long it is until the time of `state` is over: until an open breaker lets a probe pass, the probes in
    /// flight are lost, the ramp lets all calls pass, or a closed breaker counts as healthy.
    ///
    /// It reads the clock after the state was loaded. So a deadline that a trip has just set is never further
    /// ahead than its span, unless the clock was set back.
    // On small chips it is compiled once, as above. On large ones it is inlined: a rejection is a sixth shorter.
    #[cfg_attr(target_has_atomic = "64", inline(always))]
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    pub(super) fn left(&self, state: State, config: &Config) -> Left {
        let (now, before) = self.now();
        let span = span_of(state, config);
        let (time, after) = before.whole_time_of(state, span.units(now));
        // Where they differ, who set the time stalled or died before it stored the anchor. It is stored for it,
        // so that the next reader, whenever it comes, knows this time from one a whole range later.
        self.anchor(before, after);
        span.left(time, now, state.is_final())
    }

    /// The same in milliseconds: 0 when it is over. Of a ramp never more than its length, whatever rounding added.
    pub(super) fn left_ms(&self, state: State, config: &Config) -> u32 {
        let span = span_of(state, config);
        let ms = self.left(state, config).ms(span);
        if state.phase() == Phase::Recovering { ms.min(span.ms()) } else { ms }
    }

    /// `state` with `ms` left from now, the anchor as it stands, and the one to take its place.
    #[inline]
    pub(super) fn timed(&self, state: State, ms: u32, config: &Config) -> (State, Anchor, Anchor) {
        let (now, before) = self.now();
        let time = span_of(state, config).deadline(now, ms);
        let after = if state.needs_no_anchor() { before } else { Anchor::of(state, time) };
        (state.until(time), before, after)
    }

    /// The step to a state whose time begins now, with all of its span left.
    // On small chips once, as above.
    #[cfg_attr(target_has_atomic = "64", inline)]
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    pub(super) fn begin(&self, from: State, to: State, cause: Option<Cause>, config: &Config) -> Step {
        self.step(from, to, cause, Some(span_of(to, config).ms()), config)
    }

    /// Stores the anchor `after` in the place of `before`. A thread that stalled until somebody stored another one
    /// leaves that: it may be a later time's.
    #[inline]
    pub(super) fn anchor(&self, before: Anchor, after: Anchor) {
        // A loop, since it may be refused without cause.
        while before != after && self.anchor.exchange(before.0, after.0) == Err(before.0) {}
    }
}

/// The span that bounds the time of `state`, in whose unit it is counted.
pub(super) fn span_of(state: State, config: &Config) -> Span {
    match state.code() {
        Code::OPEN => config.open_span(state.streak()),
        Code::OPEN_ASKED => config.asked_span(),
        Code::OPEN_ADVISED => config.advised_span(),
        Code::HALF_OPEN => config.lease(),
        Code::RECOVERING => config.ramp(),
        _ => config.relapse(),
    }
}

#[cfg(test)]
mod tests {
    use crate::window::{Adjustable, Consecutive};
    use crate::{Breaker, Config, ConfigBuilder, ManualClock, Phase, Settings, WindowSettings};

    fn touchy(opening: ConfigBuilder, now_ms: u64) -> Breaker<Consecutive, ManualClock> {
        let window = Consecutive::new(1).unwrap();
        Breaker::new(window, opening.build().unwrap(), ManualClock::new(now_ms))
    }

    /// A round of half-open with one probe in flight since `now_ms`.
    fn half_open(opening: ConfigBuilder, now_ms: u64) -> Breaker<Consecutive, ManualClock> {
        let breaker = touchy(opening, now_ms - opening.open_for_ms);
        breaker.allow().unwrap().failure();
        breaker.clock().advance(opening.open_for_ms);
        breaker
    }

    /// Narrow words count such a lease in 64 units of 32 ms.
    const LEASE_MS: u64 = 472;
    const LEASE_RANGE_MS: u64 = 64 * 32;

    #[test]
    fn a_lease_that_is_renewed_a_whole_range_later_is_a_new_one() {
        let opening = Config::builder().open_for_ms(1_000).probe_successes(2).probe_lease_ms(LEASE_MS);
        let breaker = half_open(opening, 100_000);
        breaker.allow().unwrap().success();
        breaker.clock().advance(LEASE_RANGE_MS);
        let probe = breaker.allow().unwrap();
        assert!(breaker.allow().is_err(), "one probe at a time");
        assert_eq!(breaker.phase(), Phase::HalfOpen, "it has a whole lease");
        probe.success();
        assert_eq!(breaker.phase(), Phase::Closed);
    }

    #[test]
    fn a_time_that_is_asked_for_a_whole_range_later_is_a_new_one() {
        let opening = Config::builder().open_for_ms(1_000).max_open_ms(2_000);
        let breaker = touchy(opening, 1_000);
        assert!(breaker.trip_for_ms(2_000));
        // 15 bits of whole milliseconds, where words are narrow.
        breaker.clock().advance(1 << 15);
        assert!(breaker.trip_for_ms(2_000));
        assert_eq!(breaker.allow().unwrap_err().retry_after_ms(), Some(2_000));
    }

    #[test]
    fn a_lease_holds_however_long_the_clock_has_run() {
        for lease_ms in [1, 15, LEASE_MS, 10_000] {
            for bits in [10, 20, 25, 28, 31] {
                let opening = Config::builder().open_for_ms(1_000).probe_lease_ms(lease_ms);
                let breaker = half_open(opening, (1 << bits) + 77_777);
                let _probe = breaker.allow().unwrap();
                assert!(breaker.allow().is_err());
                let phase = breaker.phase();
                assert_eq!(phase, Phase::HalfOpen, "{lease_ms} ms at 2^{bits}");
            }
        }
    }

    #[test]
    fn what_is_left_outlives_an_adjustment_that_counts_in_other_units() {
        let settings = |open_for_ms| Settings {
            window: WindowSettings::Consecutive { threshold: 1 },
            opening: Config::builder().open_for_ms(open_for_ms),
            ..Settings::DEFAULT
        };
        for now_ms in [0, 100_000, 3_000_000_000] {
            for (old, new) in [(2_000, 60_000), (60_000, 2_000), (2_000, 7_200_000)] {
                let window = Adjustable::<1>::new(&settings(old)).unwrap();
                let breaker = Breaker::new(window, (), ManualClock::new(now_ms));
                breaker.allow().unwrap().failure();
                breaker.adjust(&settings(new)).unwrap();
                let left = u64::from(breaker.snapshot().time_left_ms.unwrap());
                let expected = old.min(new);
                let unit = new / 2_048 + 1;
                assert!(
                    (expected..=expected + unit).contains(&left),
                    "{left} ms left of {expected}, {old} became {new} at {now_ms}"
                );
            }
        }
    }
}
