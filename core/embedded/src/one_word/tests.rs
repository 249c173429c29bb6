extern crate std;

use core::cell::Cell;
use std::vec::Vec;

use nanobreaker_core::{Clock, ManualClock, Outcome, Phase, Recorded, Token};
use proptest::prelude::*;

use super::OneWordBreaker;

const OPEN_MS: u64 = 1_000;
/// A sixteenth of the open time at most: how late it may end.
const UNIT_MS: u64 = OPEN_MS / 16;

type Breaker = OneWordBreaker<3, { OPEN_MS as u32 }, ManualClock>;

fn breaker_at(now_ms: u64) -> Breaker {
    OneWordBreaker::new(ManualClock::new(now_ms))
}

fn call<const K: u32, const MS: u32, C: Clock>(
    breaker: &OneWordBreaker<K, MS, C>,
    outcome: Outcome,
) -> Recorded {
    breaker.record(breaker.allow_token().unwrap(), outcome)
}

fn tripped_at(now_ms: u64) -> Breaker {
    let breaker = breaker_at(now_ms);
    for _ in 0..3 {
        assert_eq!(call(&breaker, Outcome::Failure), Recorded::Counted);
    }
    assert_eq!(breaker.phase(), Phase::Open);
    breaker
}

/// The probe of a breaker that was tripped, and is half-open.
fn probe_of(breaker: &Breaker) -> Token {
    breaker.clock().advance(OPEN_MS + UNIT_MS);
    let probe = breaker.allow_token().unwrap();
    assert!(probe.is_probe());
    assert_eq!(breaker.phase(), Phase::HalfOpen);
    probe
}

/// How long it rejects from now on, asked in steps of a millisecond.
fn rejects_for_ms(breaker: &Breaker) -> u64 {
    (0..)
        .find(|_| {
            let is_admitted = breaker.allow_token().is_ok();
            breaker.clock().advance(1);
            is_admitted
        })
        .unwrap()
}

#[test]
fn failures_in_a_row_trip_and_a_success_starts_anew() {
    let breaker = breaker_at(0);
    for outcome in [Outcome::Failure, Outcome::SlowFailure, Outcome::Success, Outcome::Slow, Outcome::Failure]
    {
        assert_eq!(call(&breaker, outcome), Recorded::Counted);
        assert_eq!(breaker.phase(), Phase::Closed);
    }
    for outcome in [Outcome::Ignored, Outcome::Cancelled] {
        assert_eq!(call(&breaker, outcome), Recorded::Ignored);
    }
    assert_eq!(call(&breaker, Outcome::Failure), Recorded::Counted);
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn the_largest_threshold_is_reached() {
    let breaker: OneWordBreaker<1_024, 64, _> = OneWordBreaker::new(ManualClock::new(0));
    for _ in 0..1_023 {
        call(&breaker, Outcome::Failure);
        assert_eq!(breaker.phase(), Phase::Closed);
    }
    call(&breaker, Outcome::Failure);
    assert_eq!(breaker.phase(), Phase::Open);
}

#[test]
fn an_open_time_ends_up_to_a_sixteenth_late_and_never_early() {
    for began in [0, 1, 31, 32, 77_777, u64::from(u32::MAX) - 400, u64::from(u32::MAX)] {
        let breaker = tripped_at(began);
        let told = u64::from(breaker.allow_token().unwrap_err().retry_after_ms().unwrap());
        assert!((OPEN_MS..=OPEN_MS + UNIT_MS).contains(&told), "told {told} at {began}");
        assert_eq!(rejects_for_ms(&breaker), told, "at {began}");
    }
}

#[test]
fn a_rejection_says_what_rejected() {
    let breaker = tripped_at(0);
    assert_eq!(breaker.allow_token().unwrap_err().phase, Phase::Open);
    let probe = probe_of(&breaker);
    let rejected = breaker.allow_token().unwrap_err();
    assert_eq!((rejected.phase, rejected.generation), (Phase::HalfOpen, probe.generation()));
}

#[test]
fn a_probe_that_succeeds_closes_and_one_that_fails_opens_again() {
    let breaker = tripped_at(0);
    for failure in [Outcome::Failure, Outcome::SlowFailure, Outcome::Slow] {
        let probe = probe_of(&breaker);
        assert_eq!(breaker.record(probe, failure), Recorded::Counted);
        assert_eq!(breaker.phase(), Phase::Open);
        assert!(breaker.allow_token().is_err());
    }
    let probe = probe_of(&breaker);
    assert_eq!(breaker.record(probe, Outcome::Success), Recorded::Counted);
    assert_eq!(breaker.phase(), Phase::Closed);
    // As good as new: the threshold is whole again.
    for phase in [Phase::Closed, Phase::Closed, Phase::Open] {
        call(&breaker, Outcome::Failure);
        assert_eq!(breaker.phase(), phase);
    }
}

#[test]
fn one_probe_is_under_way_at_a_time() {
    let breaker = tripped_at(0);
    let _probe = probe_of(&breaker);
    for _ in 0..OPEN_MS {
        assert!(breaker.allow_token().is_err());
        breaker.clock().advance(1);
    }
}

#[test]
fn a_lost_probe_gives_way_to_another_and_its_late_outcome_is_stale() {
    for late in [Outcome::Success, Outcome::Failure, Outcome::Ignored] {
        let breaker = tripped_at(0);
        let lost = probe_of(&breaker);
        let probe = probe_of(&breaker);
        assert_eq!(breaker.record(lost, late), Recorded::Stale);
        assert_eq!(breaker.phase(), Phase::HalfOpen);
        assert_eq!(breaker.record(probe, Outcome::Success), Recorded::Counted);
        assert_eq!(breaker.phase(), Phase::Closed);
    }
}

#[test]
fn a_probe_is_spent_once() {
    let breaker = tripped_at(0);
    let probe = probe_of(&breaker);
    breaker.record(probe, Outcome::Failure);
    assert_eq!(breaker.record(probe, Outcome::Success), Recorded::Stale);
    assert_eq!(breaker.phase(), Phase::Open);
    let probe = probe_of(&breaker);
    breaker.record(probe, Outcome::Success);
    assert_eq!(breaker.record(probe, Outcome::Failure), Recorded::Stale);
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[test]
fn an_ignored_probe_gives_its_place_back_and_a_cancelled_one_does_after_an_open_time() {
    let breaker = tripped_at(0);
    let probe = probe_of(&breaker);
    assert_eq!(breaker.record(probe, Outcome::Ignored), Recorded::Ignored);
    let probe = breaker.allow_token().unwrap();
    assert!(probe.is_probe());
    assert_eq!(breaker.record(probe, Outcome::Cancelled), Recorded::Ignored);
    assert!((OPEN_MS..=OPEN_MS + UNIT_MS).contains(&rejects_for_ms(&breaker)));
}

#[test]
fn outcomes_from_before_a_trip_change_nothing() {
    let breaker = breaker_at(0);
    let old: Vec<Token> = (0..9).map(|_| breaker.allow_token().unwrap()).collect();
    for token in &old[..3] {
        breaker.record(*token, Outcome::Failure);
    }
    let mut old = old[3..].iter().copied();
    let mut is_stale = || {
        for outcome in [Outcome::Success, Outcome::Failure] {
            assert_eq!(breaker.record(old.next().unwrap(), outcome), Recorded::Stale);
        }
    };
    is_stale();
    assert_eq!(breaker.phase(), Phase::Open);
    let probe = probe_of(&breaker);
    is_stale();
    assert_eq!(breaker.phase(), Phase::HalfOpen);
    breaker.record(probe, Outcome::Success);
    call(&breaker, Outcome::Failure);
    call(&breaker, Outcome::Failure);
    is_stale();
    call(&breaker, Outcome::Failure);
    assert_eq!(breaker.phase(), Phase::Open, "a stale success changes no count");
}

#[test]
fn a_caller_with_any_period_is_admitted_again() {
    for period in (0..32).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]).skip(3) {
        let breaker = tripped_at(123);
        let calls = 2 * (OPEN_MS + UNIT_MS) / period + 2;
        let admitted = (0..calls).any(|_| {
            breaker.clock().advance(period);
            breaker.allow_token().is_ok()
        });
        assert!(admitted, "every {period} ms");
    }
}

#[test]
fn a_clock_that_is_set_back_keeps_it_open_for_at_most_a_quarter_longer() {
    for back in (0..3_000).step_by(7).chain([10_000, 99_000, 100_000]) {
        for is_half_open in [false, true] {
            let breaker = tripped_at(100_000);
            if is_half_open {
                let _lost = probe_of(&breaker);
            }
            let now = breaker.clock().now_ms();
            breaker.clock().set(now.saturating_sub(back));
            assert!(rejects_for_ms(&breaker) <= OPEN_MS + OPEN_MS / 4, "{back} ms back");
        }
    }
}

#[test]
fn a_reader_whose_clock_is_a_little_behind_finds_it_open() {
    for behind in 1..=OPEN_MS / 8 {
        let breaker = tripped_at(100_000);
        breaker.clock().set(100_000 - behind);
        assert!(breaker.allow_token().is_err(), "{behind} ms behind");
    }
}

#[test]
fn a_healthy_call_reads_no_clock() {
    struct Forbidden;
    impl Clock for Forbidden {
        fn now_ms(&self) -> u64 {
            panic!("the clock was read");
        }
    }
    let breaker: OneWordBreaker<3, 64, _> = OneWordBreaker::new(Forbidden);
    for outcome in
        [Outcome::Success, Outcome::Failure, Outcome::Failure, Outcome::Success, Outcome::Cancelled]
    {
        call(&breaker, outcome);
    }
}

#[test]
fn it_fits_into_a_word() {
    assert_eq!(size_of::<OneWordBreaker<3, 1_000, ()>>(), 4);
}

/// The same breaker as one would write it down for one thread: with whole milliseconds, and numbers of
/// rounds that never come round.
struct Model {
    threshold: u32,
    open_ms: u64,
    phase: Modelled,
    round: u64,
}

enum Modelled {
    Closed { failures: u32 },
    Open { until: u64 },
    HalfOpen { until: u64 },
}

#[derive(Debug, PartialEq)]
enum Admitted {
    Call,
    Probe,
    No,
}

impl Model {
    /// What a call meets. In the last unit of the open time it is up to the breaker.
    fn allow(&mut self, now: u64, did: Admitted) -> Result<(), Admitted> {
        let (Modelled::Open { until } | Modelled::HalfOpen { until }) = self.phase else {
            return if did == Admitted::Call { Ok(()) } else { Err(Admitted::Call) };
        };
        let is_over = now >= until + self.open_ms / 16;
        let must = match did {
            _ if now < until => Admitted::No,
            Admitted::No if !is_over => Admitted::No,
            _ => Admitted::Probe,
        };
        if did != must {
            return Err(must);
        }
        if must == Admitted::Probe {
            self.round += 1;
            self.phase = Modelled::HalfOpen { until: now + self.open_ms };
        }
        Ok(())
    }

    fn record(&mut self, now: u64, round: u64, is_probe: bool, outcome: Outcome) -> Recorded {
        let is_bad = matches!(outcome, Outcome::Failure | Outcome::SlowFailure | Outcome::Slow);
        match &mut self.phase {
            _ if round != self.round => return Recorded::Stale,
            Modelled::Closed { failures } if !is_probe => match outcome {
                Outcome::Success => *failures = 0,
                Outcome::Ignored | Outcome::Cancelled => return Recorded::Ignored,
                _ => *failures += 1,
            },
            Modelled::HalfOpen { .. } if is_probe => match outcome {
                Outcome::Success => self.phase = Modelled::Closed { failures: 0 },
                Outcome::Cancelled => return Recorded::Ignored,
                Outcome::Ignored => {
                    self.phase = Modelled::Open { until: now.saturating_sub(self.open_ms / 16) };
                    return Recorded::Ignored;
                }
                _ => {}
            },
            _ => return Recorded::Stale,
        }
        let trips = match self.phase {
            Modelled::Closed { failures } => failures >= self.threshold,
            Modelled::HalfOpen { .. } => is_bad,
            Modelled::Open { .. } => false,
        };
        if trips {
            self.phase = Modelled::Open { until: now + self.open_ms };
        }
        Recorded::Counted
    }

    fn phase(&self) -> Phase {
        match self.phase {
            Modelled::Closed { .. } => Phase::Closed,
            Modelled::Open { .. } => Phase::Open,
            Modelled::HalfOpen { .. } => Phase::HalfOpen,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call begins.
    Allow,
    /// One of the calls under way ends.
    Record(usize, Outcome),
    /// Time passes, in thousandths of an open time.
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Success),
        6 => Just(Outcome::Failure),
        1 => Just(Outcome::Slow),
        1 => Just(Outcome::SlowFailure),
        1 => Just(Outcome::Ignored),
        1 => Just(Outcome::Cancelled),
    ];
    prop_oneof![
        8 => Just(Step::Allow),
        8 => (0..8_usize, outcome).prop_map(|(which, outcome)| Step::Record(which, outcome)),
        3 => (0..1_200_u64).prop_map(Step::Pass),
        1 => (0..300_000_u64).prop_map(Step::Pass),
    ]
}

/// Plays `steps` on both, from a clock that shows `start`.
fn play<const K: u32, const MS: u32>(start: u64, steps: &[Step]) {
    let clock = ManualClock::new(start);
    let breaker: OneWordBreaker<K, MS, _> = OneWordBreaker::new(&clock);
    let mut model =
        Model { threshold: K, open_ms: MS.into(), phase: Modelled::Closed { failures: 0 }, round: 0 };
    let mut calls: Vec<(Token, u64)> = Vec::new();
    // The generation of the present round, which is 0 before the first one.
    let mut generation = 0;
    for step in steps {
        let now = clock.now_ms();
        match *step {
            Step::Allow => {
                let answer = breaker.allow_token();
                let did = match &answer {
                    Ok(token) if token.is_probe() => Admitted::Probe,
                    Ok(_) => Admitted::Call,
                    Err(_) => Admitted::No,
                };
                if did == Admitted::Probe {
                    generation = answer.as_ref().map_or(0, |token| token.generation());
                }
                assert_eq!(model.allow(now, did), Ok(()), "at {now}");
                calls.extend(answer.ok().map(|token| (token, model.round)));
            }
            Step::Record(which, outcome) if which < calls.len() => {
                let (token, round) = calls.swap_remove(which);
                // The documented limit: numbers of generations come round.
                if round != model.round && token.generation() == generation {
                    continue;
                }
                let recorded = breaker.record(token, outcome);
                assert_eq!(recorded, model.record(now, round, token.is_probe(), outcome), "at {now}");
            }
            Step::Record(..) => {}
            Step::Pass(thousandths) => clock.advance(u64::from(MS) * thousandths / 1_000),
        }
        assert_eq!(breaker.phase(), model.phase(), "at {now} after {step:?}");
    }
}

proptest! {
    #[test]
    fn it_does_what_a_plain_model_does(
        start in prop_oneof![Just(0), 0..1_u64 << 32, (1_u64 << 32) - 5_000..1 << 32],
        steps in prop::collection::vec(step(), 1..120),
    ) {
        play::<1, 64>(start, &steps);
        play::<2, 1_000>(start, &steps);
        play::<3, 10_000>(start, &steps);
        play::<1, 1_023>(start, &steps);
    }

    /// Whatever the clock shows: nothing panics, and with time going on a probe is admitted again.
    #[test]
    fn it_is_never_wedged_by_a_clock_that_jumps(
        readings in prop::collection::vec((any::<u32>(), any::<bool>()), 1..60),
        every in 1..1_000_u64,
    ) {
        let now = Cell::new(0);
        struct Jumping<'a>(&'a Cell<u64>);
        impl Clock for Jumping<'_> {
            fn now_ms(&self) -> u64 {
                self.0.get()
            }
        }
        let breaker: OneWordBreaker<1, 1_000, _> = OneWordBreaker::new(Jumping(&now));
        for (reading, succeeds) in readings {
            now.set(reading.into());
            if let Ok(token) = breaker.allow_token() {
                breaker.record(token, if succeeds { Outcome::Cancelled } else { Outcome::Failure });
            }
        }
        let admitted = (0..=2_000 / every).any(|_| {
            now.set(now.get() + every);
            breaker.allow_token().is_ok()
        });
        prop_assert!(admitted);
    }
}
