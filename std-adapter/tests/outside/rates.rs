//! What a shared breaker makes of rates: slow failures, percentiles, large windows, any rule for slow calls.

use std::sync::Arc;
use std::time::Duration;

use nanobreaker::{
    CallExt, ManualClock, Percentile, Phase, Rate, SharedBreaker, SharedBreakerBuilder, WindowSettings,
};

struct Timed {
    breaker: SharedBreaker,
    clock: Arc<ManualClock>,
}

impl Timed {
    fn new(configure: impl FnOnce(SharedBreakerBuilder) -> SharedBreakerBuilder) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let builder = SharedBreaker::builder().clock(Arc::clone(&clock));
        Self { breaker: configure(builder).build().unwrap(), clock }
    }

    /// A call that takes so long; returns the breaker's phase after it.
    fn call(&self, takes_ms: u64, result: Result<(), ()>) -> Phase {
        let _ = self.breaker.call(|| {
            self.clock.advance(takes_ms);
            result
        });
        self.breaker.phase()
    }
}

#[test]
fn a_timeout_counts_in_the_rate_of_failures_and_in_that_of_slow_calls() {
    // 45 % time out and 45 % are slow: 45 % failed, and 90 % were slow.
    let half = Rate::percent(50).min_calls(100);
    let timed = Timed::new(|builder| {
        let builder = builder.failure_rate_of_calls(100, half).slow_after(Duration::from_millis(10));
        builder.slow_rate_of_calls(100, half)
    });
    let mut phase = Phase::Closed;
    for call in 0..100 {
        assert_eq!(phase, Phase::Closed, "{call}");
        phase = match call % 20 {
            0..9 => timed.call(11, Err(())),
            9..18 => timed.call(11, Ok(())),
            _ => timed.call(1, Ok(())),
        };
    }
    assert_eq!(phase, Phase::Open);
}

#[test]
fn a_percentile_trips_on_the_call_that_lifts_it_above_its_limit() {
    let limit = Duration::from_millis(50);
    let timed = Timed::new(|builder| builder.percentile_of_calls(Percentile::P95, limit, 100, 100));
    for call in 0..100 {
        let takes_ms = if call < 5 { 51 } else { 50 };
        assert_eq!(timed.call(takes_ms, Ok(())), Phase::Closed, "5 % may take longer");
    }
    // One of the five leaves the window; the next comes in.
    assert_eq!(timed.call(51, Ok(())), Phase::Closed);
    let phases = [timed.call(1, Ok(())), timed.call(51, Ok(())), timed.call(51, Ok(()))];
    assert_eq!(phases, [Phase::Closed; 3]);
    let mut slow = 0;
    while timed.call(51, Ok(())) == Phase::Closed {
        slow += 1;
        assert!(slow < 10);
    }
}

#[test]
fn three_timeouts_within_ten_seconds_are_a_rule_of_their_own() {
    let timed = Timed::new(|builder| {
        let rule = WindowSettings::Failures { threshold: 3, within_ms: 10_000 };
        builder.slow_after(Duration::from_secs(1)).slow_window(rule)
    });
    for _ in 0..10 {
        assert_eq!(timed.call(4_900, Ok(())), Phase::Closed, "two in ten seconds");
        timed.clock.advance(4_900);
    }
    timed.call(1_001, Ok(()));
    assert_eq!(timed.call(1_001, Ok(())), Phase::Open);
}

#[test]
fn sixty_buckets_of_a_second_and_a_threshold_of_a_hundred_are_no_limit() {
    let all = Rate::percent(100).min_calls(60);
    let minute = Timed::new(|builder| builder.failure_rate_of_time(Duration::from_secs(60), 60, all));
    for call in 1..=60 {
        let expected = if call < 60 { Phase::Closed } else { Phase::Open };
        assert_eq!(minute.call(990, Err(())), expected, "{call}");
    }
    let hundred = Timed::new(|builder| builder.failures(100, Duration::from_secs(60)));
    for call in 1..=100 {
        let expected = if call < 100 { Phase::Closed } else { Phase::Open };
        assert_eq!(hundred.call(1, Err(())), expected, "{call}");
    }
}
