//! A configuration that is replaced while others read it, and while the breaker moves.
//!
//! * What is read is never torn: each setting is one that was configured, those that stand in one
//!   word are of one configuration, and who finds the first configuration finds all of it.
//! * Promises 1, 2, 6 and 7 under whichever of both configurations: no more probes than the larger
//!   number, each transition once, never wedged, no wait longer than the longer open time.
//! * Promise 8: who comes while another one adjusts is refused, and the rule and the configuration
//!   that stay are those of the same one.

use nanobreaker_core::window::{Adjustable, AnyWindow};
use nanobreaker_core::{Cause, Config, ConfigBuilder, Outcome, Phase, Recorded};

use crate::explore::{Bound, Reached, WIDELY, model};
use crate::rig::{LEASE_MS, OPEN_MS, Rig, at, config};

type Any = AnyWindow<1>;
type Adjusted = Rig<Adjustable<Any>>;

/// Twice the usual open time.
const LONGER_MS: u64 = 2 * OPEN_MS;

fn consecutive(threshold: u32) -> Any {
    Any::consecutive(threshold).unwrap()
}

fn closed(threshold: u32) -> Adjusted {
    Rig::new(Adjustable::new(consecutive(threshold)), config())
}

fn adjust(rig: &Adjusted, threshold: u32, config: ConfigBuilder) -> bool {
    let config = config.build().expect("a valid configuration");
    rig.breaker.adjust(&consecutive(threshold), config)
}

/// Open since time 0.
fn open(config: ConfigBuilder) -> Adjusted {
    let rig = Rig::new(Adjustable::new(consecutive(1)), config);
    at(0);
    rig.fail();
    rig
}

/// No setting is like that of [`config`].
fn unlike() -> ConfigBuilder {
    Config::builder()
        .open_for_ms(LONGER_MS)
        .max_open_ms(3 * OPEN_MS)
        .probe_lease_ms(2 * LEASE_MS)
        .ramp_ms(1)
        .probes(2)
        .successes(3)
        .failures(4)
        .latch(true)
}

fn counts(config: &Config) -> (u8, u8, u8, bool) {
    (
        config.probes(),
        config.successes(),
        config.failures(),
        config.latch(),
    )
}

/// The first configuration takes the place of the breaker's own, all at once.
#[test]
fn a_first_configuration_is_read_whole() {
    model(Bound::Exhaustive, || closed(3))
        .threads([
            |rig: &Adjusted| {
                assert!(adjust(rig, 3, unlike()));
                None
            },
            |rig| Some(rig.breaker.config()),
        ])
        .end(|_, [_, read]| {
            let [old, new] = [config(), unlike()].map(|config| config.build().unwrap());
            let read = read.expect("one thread reads");
            assert!(read == old || read == new, "torn: {read:?}");
            read == new
        })
        .exactly([false, true]);
}

/// A later one takes the place of one setting after the other; the open time comes last.
#[test]
fn a_later_configuration_is_read_setting_by_setting() {
    model(WIDELY, || {
        let rig = closed(3);
        adjust(&rig, 3, config());
        rig
    })
    .threads([
        |rig: &Adjusted| {
            assert!(adjust(rig, 3, unlike()));
            None
        },
        |rig| Some(rig.breaker.config()),
    ])
    .end(|_, [_, read]| {
        let [old, new] = [config(), unlike()].map(|config| config.build().unwrap());
        let read = read.expect("one thread reads");
        for setting in [
            Config::open_for_ms,
            Config::max_open_ms,
            Config::probe_lease_ms,
            Config::ramp_ms,
        ] {
            let read = setting(&read);
            assert!(
                read == setting(&old) || read == setting(&new),
                "torn: {read}"
            );
        }
        let new_counts = counts(&read) == counts(&new);
        assert!(
            new_counts || counts(&read) == counts(&old),
            "torn: {read:?}"
        );
        let new_open_time = read.open_for_ms() == new.open_for_ms();
        assert!(!new_open_time || read == new, "the open time comes last");
        (new_open_time, new_counts)
    })
    .exactly([(false, false), (false, true), (true, true)]);
}

/// Two adjust at once: one after the other, or one of them not at all.
#[test]
fn one_adjusts_at_a_time() {
    model(WIDELY, || closed(4))
        .threads([
            |rig: &Adjusted| adjust(rig, 2, config()),
            |rig| adjust(rig, 3, unlike()),
        ])
        .end(|rig, adjusted| {
            let second = rig.breaker.config() == unlike().build().unwrap();
            assert!(
                adjusted[usize::from(second)],
                "who was refused left no trace"
            );
            for _ in 0..if second { 3 } else { 2 } {
                assert_eq!(rig.phase(), Phase::Closed, "the rule is the other one's");
                rig.fail();
            }
            assert_ne!(rig.phase(), Phase::Closed, "the rule is the other one's");
            (adjusted, second)
        })
        .exactly([
            ([true, false], false),
            ([false, true], true),
            ([true, true], false),
            ([true, true], true),
        ]);
}

/// Who adjusts after another one goes on from what that one left.
#[test]
fn the_next_to_adjust_sees_what_the_last_one_did() {
    model(WIDELY, || closed(4))
        .threads([
            |rig: &Adjusted| {
                let history = Any::calls(8, 100, 4).unwrap();
                let config = config().build().unwrap();
                let adjusted = rig.breaker.adjust(&history, config);
                rig.fail();
                rig.fail();
                adjusted
            },
            |rig| adjust(rig, 4, config()),
        ])
        .end(|rig, adjusted| {
            let mut more = 0;
            while rig.phase() == Phase::Closed {
                rig.fail();
                more += 1;
            }
            // Two of four are there, unless the other kind of window came after them.
            assert!((2..=4).contains(&more), "{more} more");
            (adjusted, more)
        })
        .exactly([
            ([true, false], 2),
            ([false, true], 2),
            ([true, true], 2),
            ([true, true], 3),
            ([true, true], 4),
        ]);
}

/// Promises 2, 6 and 7: a trip reads the open time that is being replaced.
fn a_trip_beside(new_open_ms: fn() -> u64) -> Reached<(u32, u32)> {
    struct Setup(Adjusted, fn() -> u64);
    model(WIDELY, move || Setup(closed(1).with_tokens(1), new_open_ms))
        .threads([
            |Setup(rig, new_open_ms): &Setup| {
                assert!(adjust(rig, 1, config().open_for_ms(new_open_ms())));
                Recorded::Ignored
            },
            |Setup(rig, _)| rig.breaker.record(rig.tokens[0], Outcome::Failure),
        ])
        .end(|Setup(rig, new_open_ms), [_, recorded]| {
            assert_eq!(recorded, Recorded::Counted);
            assert_eq!(rig.causes(), [Cause::ThresholdReached]);
            let longest = new_open_ms().max(OPEN_MS);
            let [(_, tripped)] = rig.breaker.observer().in_order()[..] else {
                panic!("told once");
            };
            let left = rig.breaker.snapshot().time_left_ms.expect("it is open");
            assert!(u64::from(tripped.open_for_ms.max(left)) <= longest);
            rig.is_not_wedged(0);
            (tripped.open_for_ms, left)
        })
}

#[test]
fn a_trip_beside_a_longer_open_time() {
    let reached = a_trip_beside(|| LONGER_MS);
    // Told, and left at the end.
    #[cfg(not(nanobreaker_narrow))]
    reached.exactly([(1_000, 1_000), (2_000, 2_000)]);
    // A narrow word counts in units of the open time: set by one and read by the other it is twice
    // as long or half as long, but no longer than the longer one.
    #[cfg(nanobreaker_narrow)]
    reached.exactly([
        (1_000, 1_000),
        (1_000, 2_000),
        (2_000, 1_000),
        (2_000, 2_000),
    ]);
}

#[test]
fn a_trip_beside_a_shorter_open_time() {
    a_trip_beside(|| OPEN_MS / 2).exactly([(500, 500), (1_000, 500)]);
}

/// Promises 2 and 6: a call at the end of a shorter open time, as that takes the place of a longer.
#[test]
fn an_open_time_that_is_shortened_ends_once() {
    const SHORTER_MS: u64 = OPEN_MS / 5;
    const MEANWHILE: u64 = OPEN_MS - 2 * SHORTER_MS;
    model(WIDELY, || open(config()))
        .threads([
            |rig: &Adjusted| {
                at(MEANWHILE);
                assert!(adjust(rig, 1, config().open_for_ms(SHORTER_MS)));
                None
            },
            |rig| {
                at(MEANWHILE + SHORTER_MS);
                rig.breaker.allow_token().ok()
            },
        ])
        .end(|rig, [_, token]| {
            let probes = token.is_some();
            assert_eq!(rig.causes().len(), if probes { 2 } else { 1 });
            rig.is_not_wedged(MEANWHILE + SHORTER_MS);
            probes
        })
        .exactly([false, true]);
}

/// Promise 1: two callers as one place becomes two.
#[test]
fn no_more_probes_than_the_larger_number() {
    model(
        // Bound: three threads, two of which read all settings.
        Bound::Preemptions(3),
        || {
            let rig = open(config().probes(1));
            at(OPEN_MS);
            rig
        },
    )
    .threads([
        |rig: &Adjusted| {
            at(OPEN_MS);
            adjust(rig, 1, config().probes(2));
            false
        },
        |rig| {
            at(OPEN_MS);
            rig.enter(2).is_some()
        },
        |rig| {
            at(OPEN_MS);
            rig.enter(2).is_some()
        },
    ])
    .end(|rig, [_, one, other]| {
        assert_eq!(rig.causes().len(), 2);
        let in_flight = rig.breaker.snapshot().in_flight;
        assert_eq!(in_flight, u8::from(one) + u8::from(other));
        in_flight
    })
    .exactly([1, 2]);
}

/// Promises 1 and 2: a probe's success is enough by one number and not by the other.
#[test]
fn a_verdict_is_by_one_number_or_the_other() {
    model(WIDELY, || {
        let rig = open(config().successes(1));
        at(OPEN_MS);
        rig.with_tokens(1)
    })
    .threads([
        |rig: &Adjusted| {
            at(OPEN_MS);
            assert!(adjust(rig, 1, config().successes(2)));
            Recorded::Ignored
        },
        |rig| {
            at(OPEN_MS);
            rig.breaker.record(rig.tokens[0], Outcome::Success)
        },
    ])
    .end(|rig, [_, recorded]| {
        assert_eq!(recorded, Recorded::Counted);
        let snapshot = rig.breaker.snapshot();
        match snapshot.phase {
            Phase::Closed => assert_eq!(rig.causes().len(), 3),
            _ => assert_eq!((snapshot.in_flight, snapshot.succeeded), (0, 1)),
        }
        rig.is_not_wedged(OPEN_MS);
        snapshot.phase
    })
    .exactly([Phase::Closed, Phase::HalfOpen]);
}

/// Promises 2 and 6: a lost round ends as its probes get a new lease.
#[test]
fn a_lost_round_fails_or_gets_the_new_lease() {
    const LEASE_OVER: u64 = OPEN_MS + LEASE_MS;
    model(WIDELY, || {
        let rig = open(config());
        at(OPEN_MS);
        rig.with_tokens(1)
    })
    .threads([
        |rig: &Adjusted| {
            at(LEASE_OVER);
            assert!(adjust(rig, 1, config().probe_lease_ms(2 * LEASE_MS)));
            true
        },
        |rig| {
            at(LEASE_OVER);
            rig.breaker.allow_token().is_ok()
        },
    ])
    .end(|rig, [_, passed]| {
        assert!(!passed, "the place is taken, or the round has failed");
        let phase = rig.phase();
        let lost = rig.causes().contains(&Cause::ProbesLost);
        assert_eq!(lost, phase == Phase::Open);
        rig.is_not_wedged(LEASE_OVER);
        phase
    })
    .exactly([Phase::HalfOpen, Phase::Open]);
}
