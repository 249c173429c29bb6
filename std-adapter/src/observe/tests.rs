use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nanobreaker_core::{Cause, ManualClock, Phase};

use super::*;
use crate::SharedBreaker;

/// The clock of this thread's breakers.
fn clock() -> &'static ManualClock {
    thread_local! {
        static CLOCK: &'static ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    }
    CLOCK.with(|clock| *clock)
}

fn watched(monitor: &Monitor, name: &str) -> SharedBreaker {
    let builder = SharedBreaker::builder().clock(clock()).name(name);
    let builder = builder.failures(3, Duration::from_secs(10)).probe_successes(1);
    monitor.watch(builder.build().unwrap())
}

#[test]
fn every_call_is_counted_by_how_it_ended() {
    let monitor = Monitor::new();
    let breaker = watched(&monitor, "a");
    let permits = || breaker.allow().unwrap();
    permits().success();
    permits().slow();
    permits().failure();
    permits().ignore();
    drop(permits());
    breaker.trip();
    assert!(breaker.allow().is_err());
    clock().advance(10_000);
    breaker.allow().unwrap().success();

    let counts = monitor.find("a").unwrap().counts();
    let calls = CallCounts { success: 2, slow: 1, failure: 1, slow_failure: 0, ignored: 1, cancelled: 1 };
    assert_eq!(counts.calls, calls);
    assert_eq!((counts.probes.success, counts.probes.total()), (1, 1));
    assert_eq!((counts.rejections.open, counts.rejections.total()), (1, 1));
}

#[test]
fn no_call_is_lost_between_threads() {
    let monitor = Monitor::new();
    let breaker = watched(&monitor, "a");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    breaker.allow().unwrap().success();
                }
            });
        }
    });
    assert_eq!(monitor.find("a").unwrap().counts().calls.success, 80_000);
}

#[test]
fn the_last_transitions_are_kept_in_order() {
    let monitor = Monitor::new();
    let breaker = watched(&monitor, "a");
    let first = breaker.snapshot().generation;
    for _ in 0..100 {
        breaker.trip();
        breaker.reset();
    }
    let recent = monitor.find("a").unwrap().recent();
    assert_eq!(recent.len(), 64);
    let generations: Vec<_> =
        recent.iter().map(|c| c.transition.generation.wrapping_sub(first) % 4_096).collect();
    assert_eq!(generations, (137..=200).collect::<Vec<_>>());
    assert_eq!(recent[0].transition.cause, Cause::TripRequested);
    assert!(recent.iter().all(|change| &*change.breaker == "a"));
}

#[test]
fn breakers_that_are_gone_are_forgotten() {
    let monitor = Monitor::new();
    let kept = watched(&monitor, "kept");
    for _ in 0..10_000 {
        drop(watched(&monitor, "gone"));
    }
    assert_eq!(monitor.breakers().len(), 1);
    assert!(monitor.find("gone").is_none());
    drop(kept);
    assert!(monitor.breakers().is_empty());
}

#[test]
fn health_names_who_rejects() {
    let monitor = Monitor::new();
    let [a, b] = ["a", "b"].map(|name| watched(&monitor, name));
    assert_eq!(monitor.health().status, HealthStatus::Up);
    b.isolate();
    let health = monitor.health();
    assert_eq!(health.status, HealthStatus::Degraded);
    assert_eq!(health.rejecting, [("b".to_owned(), Phase::Isolated)]);
    let status_without = |required: &[&str]| monitor.health_of(required).unwrap().status;
    assert_eq!(status_without(&["a"]), HealthStatus::Degraded);
    assert_eq!(status_without(&["b"]), HealthStatus::Down);
    b.shadow(true);
    a.disable();
    assert_eq!(status_without(&["a", "b"]), HealthStatus::Up);
}

/// A balancer sends calls wherever the status is not down. If it took one that waits for a call for down,
/// no call would ever come.
#[test]
fn a_drained_instance_gets_calls_again_and_returns() {
    let monitor = Monitor::new();
    let builder = SharedBreaker::builder().clock(clock()).name("database").consecutive(1);
    let builder = builder.open_for(Duration::from_secs(10)).ramp(Duration::from_secs(4)).probe_successes(2);
    let database = monitor.watch(builder.build().unwrap());
    let status = || monitor.health_of(&["database"]).unwrap().status;
    let mut seen = vec![(database.phase(), status())];
    database.allow().unwrap().failure();
    for _ in 0..20 {
        if seen.last() != Some(&(database.phase(), status())) {
            seen.push((database.phase(), status()));
        }
        if status() != HealthStatus::Down
            && let Ok(permit) = database.allow()
        {
            permit.success();
        }
        clock().advance(1_000);
    }
    let expected = [
        (Phase::Closed, HealthStatus::Up),
        (Phase::Open, HealthStatus::Down),
        (Phase::Open, HealthStatus::Degraded),
        (Phase::HalfOpen, HealthStatus::Degraded),
        (Phase::Recovering, HealthStatus::Degraded),
        (Phase::Closed, HealthStatus::Up),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_required_name_that_nobody_has_is_an_error_with_the_nearest() {
    let monitor = Monitor::new();
    let _database = watched(&monitor, "database");
    let message = |required: &str| monitor.health_of(&["database", required]).unwrap_err().to_string();
    let expected = "the breaker \"databse\" is required, but there is none of that name among the 1 that are \
                    watched; is it \"database\"?";
    assert_eq!(message("databse"), expected);
    assert!(message("search").ends_with("among the 1 that are watched"));
}

#[test]
fn a_reason_is_kept_with_its_transition_and_with_no_other() {
    let monitor = Monitor::new();
    let breaker = watched(&monitor, "a");
    let seen = monitor.find("a").unwrap();
    seen.because("planned work", |seen| seen.isolate());
    breaker.reset();
    let panic = std::panic::catch_unwind(|| seen.because("gone wrong", |_| panic!()));
    assert!(panic.is_err());
    breaker.trip();
    let reasons: Vec<_> = seen.recent().into_iter().map(|change| change.reason).collect();
    assert_eq!(reasons, [Some("planned work".into()), None, None]);
}

#[test]
fn a_breaker_stays_with_its_first_monitor() {
    let (first, second) = (Monitor::new(), Monitor::new());
    let breaker = watched(&first, "a");
    let breaker = second.watch(breaker);
    breaker.allow().unwrap().success();
    assert_eq!(first.find("a").unwrap().counts().calls.success, 1);
    assert!(second.find("a").is_none());
}

#[cfg(feature = "registry")]
#[test]
fn a_registry_lets_its_breakers_be_watched() {
    let monitor = Monitor::new();
    let registry: crate::Registry<String> =
        crate::Registry::builder(|key: &String| SharedBreaker::builder().name(key.as_str()))
            .monitor(&monitor)
            .max_breakers(10)
            .build();
    for key in 0..1_000 {
        registry.get_or_create(&key.to_string()).unwrap().allow().unwrap().success();
    }
    let seen = monitor.breakers();
    assert_eq!(seen.len(), registry.len());
    assert!(seen.iter().all(|breaker| breaker.counts().calls.success == 1));
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn every_receiver_hears_of_every_transition_once() {
    let monitor = Monitor::new();
    let breaker = watched(&monitor, "a");
    let mut receivers = [monitor.changes(), monitor.changes()];
    breaker.trip();
    clock().advance(10_000);
    breaker.allow().unwrap().success();
    for changes in &mut receivers {
        for to in [Phase::Open, Phase::HalfOpen, Phase::Closed] {
            assert_eq!(changes.recv().await.unwrap().transition.to, to);
        }
        assert!(changes.try_recv().is_err());
    }
}

#[cfg(feature = "metrics")]
mod published {
    use metrics_exporter_prometheus::PrometheusBuilder;
    use metrics_util::MetricKindMask;
    use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

    use super::*;

    fn read(snapshotter: &Snapshotter) -> std::collections::BTreeMap<String, f64> {
        let rows = snapshotter.snapshot().into_vec().into_iter();
        rows.map(|(key, _, _, value)| {
            let labels: Vec<_> =
                key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => values.len() as f64,
            };
            (format!("{} {}", key.key().name(), labels.join(" ")), value)
        })
        .collect()
    }

    #[test]
    fn calls_probes_rejections_transitions_and_phases() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        ::metrics::with_local_recorder(&recorder, || {
            describe_metrics();
            let monitor = Monitor::with_series(&ALL);
            let breaker = watched(&monitor, "a");
            breaker.allow().unwrap().success();
            for _ in 0..3 {
                breaker.allow().unwrap().failure();
            }
            assert!(breaker.allow().is_err());
            monitor.publish();
            let open = read(&snapshotter);
            assert_eq!(open["nanobreaker_calls_total breaker=a outcome=success"], 1.0);
            assert_eq!(open["nanobreaker_calls_total breaker=a outcome=failure"], 3.0);
            assert_eq!(open["nanobreaker_rejections_total breaker=a"], 1.0);
            assert_eq!(open["nanobreaker_rejections_by_phase_total breaker=a phase=open"], 1.0);
            assert_eq!(open["nanobreaker_trips_total breaker=a"], 1.0);
            assert_eq!(open["nanobreaker_phase breaker=a"], 3.0);
            assert_eq!(
                open["nanobreaker_transitions_total breaker=a from=closed to=open \
                      cause=threshold_reached"],
                1.0
            );
            assert_eq!(open["nanobreaker_phase_duration_seconds breaker=a phase=closed"], 1.0);

            clock().advance(10_000);
            breaker.allow().unwrap().success();
            monitor.publish();
            let closed = read(&snapshotter);
            assert_eq!(closed["nanobreaker_probes_total breaker=a outcome=success"], 1.0);
            assert_eq!(closed["nanobreaker_phase breaker=a"], 0.0);
        });
    }

    const ALL: [Series; 5] =
        [Series::Unjudged, Series::Probes, Series::RejectionsByPhase, Series::Transitions, Series::Durations];

    #[test]
    fn every_counter_is_there_at_0_before_the_first_call() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        ::metrics::with_local_recorder(&recorder, || {
            let monitor = Monitor::with_series(&ALL);
            let builder = SharedBreaker::builder().clock(clock()).name("a").consecutive(1);
            let builder = builder.slow_after(Duration::from_secs(1)).probe_failures(1).max_probes(1);
            let builder = builder.open_for(Duration::from_secs(10)).probe_successes(1);
            let ramp = Duration::from_secs(4);
            let breaker = monitor.watch(builder.ramp(ramp).build().unwrap());
            let there = read(&snapshotter);
            assert!(there.values().all(|count| *count == 0.0), "{there:?}");
            assert_eq!(there["nanobreaker_trips_total breaker=a"], 0.0);

            let mut random = 1_u32;
            for _ in 0..20_000 {
                // Knuth's linear congruential generator; the upper bits are the better ones.
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                match random >> 28 {
                    0 => _ = breaker.trip(),
                    1 => _ = breaker.trip_for_ms(5_000),
                    2 => _ = breaker.advise_ms(5_000),
                    3 if random.is_multiple_of(7) => _ = breaker.isolate(),
                    4 if random.is_multiple_of(7) => _ = breaker.disable(),
                    5 if random.is_multiple_of(3) => breaker.reset(),
                    6..=9 => clock().advance(u64::from(random >> 16) % 12_000),
                    10 => drop(breaker.allow()),
                    11 => _ = breaker.allow().map(|permit| permit.failure()),
                    12 => _ = breaker.allow().map(|permit| permit.slow_failure()),
                    13 => std::mem::forget(breaker.allow()),
                    _ => _ = breaker.allow().map(|permit| permit.success()),
                }
            }
            monitor.publish();
            let after = read(&snapshotter);
            let made = after.iter().filter(|(name, count)| name.contains("transitions") && **count > 0.0);
            assert!(made.count() > 15);
            let new: Vec<_> = after.keys().filter(|name| !there.contains_key(*name)).collect();
            assert_eq!(new, ["nanobreaker_evidence_ratio breaker=a", "nanobreaker_phase breaker=a"]);
        });
    }

    #[test]
    fn a_breaker_has_8_series_at_most_unless_more_are_asked_for() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        ::metrics::with_local_recorder(&recorder, || {
            let monitor = Monitor::new();
            let breaker = watched(&monitor, "a");
            for _ in 0..100 {
                breaker.trip();
                assert!(breaker.allow().is_err());
                clock().advance(10_000);
                drop(breaker.allow());
                breaker.isolate();
                breaker.reset();
                breaker.allow().unwrap().ignore();
            }
            monitor.publish();
            let series = read(&snapshotter);
            assert_eq!(series.len(), 8, "{series:?}");
        });
    }

    #[test]
    fn evidence_tells_how_near_a_trip_is_of_failed_and_of_slow_calls() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        ::metrics::with_local_recorder(&recorder, || {
            let monitor = Monitor::new();
            let builder = SharedBreaker::builder().clock(clock()).name("a").consecutive(4);
            let builder = builder.slow_after(Duration::from_secs(1));
            let slow = nanobreaker_core::WindowSettings::Consecutive { threshold: 2 };
            let breaker = monitor.watch(builder.slow_window(slow).build().unwrap());
            let share = || {
                monitor.publish();
                read(&snapshotter)["nanobreaker_evidence_ratio breaker=a"]
            };
            assert_eq!(share(), 0.0);
            breaker.allow().unwrap().failure();
            assert_eq!(share(), 0.25);
            breaker.allow().unwrap().slow();
            assert_eq!(share(), 0.5);
            breaker.allow().unwrap().slow();
            assert_eq!((breaker.phase(), share()), (Phase::Open, 0.0));
        });
    }

    #[test]
    fn a_breaker_that_was_removed_and_made_again_goes_on_counting() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        ::metrics::with_local_recorder(&recorder, || {
            let monitor = Monitor::new();
            let mut total = 0.0;
            for _ in 0..3 {
                let breaker = watched(&monitor, "a");
                breaker.allow().unwrap().success();
                breaker.allow().unwrap().success();
                monitor.publish();
                breaker.allow().unwrap().success();
                drop(breaker);
                // A snapshot of the debugging recorder takes the counter back to 0.
                total += read(&snapshotter)["nanobreaker_calls_total breaker=a outcome=success"];
            }
            assert_eq!(total, 9.0);
            monitor.publish();
            let gone = read(&snapshotter);
            assert!(gone["nanobreaker_phase breaker=a"].is_nan());
            assert!(gone["nanobreaker_evidence_ratio breaker=a"].is_nan());
        });
    }

    #[test]
    fn series_of_a_quiet_breaker_outlive_the_idle_timeout_and_those_of_one_that_is_gone_end() {
        let idle = Duration::from_millis(300);
        let recorder =
            PrometheusBuilder::new().idle_timeout(MetricKindMask::ALL, Some(idle)).build_recorder();
        let handle = recorder.handle();
        ::metrics::with_local_recorder(&recorder, || {
            let monitor = Monitor::with_series(&[Series::Transitions, Series::Probes]);
            let (quiet, gone) = (watched(&monitor, "quiet"), watched(&monitor, "gone"));
            quiet.trip();
            drop(gone);
            let scrape = || {
                monitor.publish();
                handle.render()
            };
            let first = scrape();
            let names = |text: &str, breaker: &str| {
                let of_it = text.lines().filter(|line| line.contains(&format!("breaker=\"{breaker}\"")));
                of_it.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
            };
            assert!(names(&first, "gone").len() > 7);
            for _ in 0..8 {
                thread::sleep(idle / 4);
                scrape();
            }
            let last = scrape();
            assert_eq!(names(&first, "quiet"), names(&last, "quiet"));
            assert_eq!(names(&last, "gone"), Default::default());
        });
    }
}

#[cfg(feature = "tracing")]
mod traced {
    use std::fmt;
    use std::sync::Mutex;

    use ::tracing::field::{Field, Visit};
    use ::tracing::span::{Attributes, Id, Record};
    use ::tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<String>>>);

    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            self.0 += &format!(" {}={value:?}", field.name());
        }
    }

    impl Subscriber for Heard {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "nanobreaker" && *metadata.level() <= Level::INFO
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut fields = Fields(event.metadata().level().to_string());
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_strange_name_or_reason_stays_within_its_line() {
        let heard = Heard::default();
        ::tracing::subscriber::with_default(heard.clone(), || {
            let monitor = Monitor::new();
            let name = "a\nINFO all is well\u{1b}[2J";
            let builder = SharedBreaker::builder().traced().name(name).clock(clock());
            let _breaker = monitor.watch(builder.build().unwrap());
            monitor.find(name).unwrap().because("b\nc", |breaker| breaker.isolate());
        });
        let heard = heard.0.lock().unwrap().clone();
        assert!(!heard[0].contains(char::is_control), "{heard:?}");
        assert!(heard[0].contains(r"breaker a\nINFO all is well\u{1b}[2J is isolated"), "{heard:?}");
        assert!(heard[0].ends_with(r#"reason="b\nc""#), "{heard:?}");
    }

    #[test]
    fn each_transition_is_told_once_with_what_an_operator_needs() {
        let heard = Heard::default();
        let mut generation = 0;
        ::tracing::subscriber::with_default(heard.clone(), || {
            let builder = SharedBreaker::builder().traced().name("pay").clock(clock());
            let builder = builder.consecutive(1).open_for(Duration::from_secs(10)).probe_successes(1);
            let breaker = builder.build().unwrap();
            generation = breaker.snapshot().generation + 1;
            breaker.allow().unwrap().failure();
            clock().advance(10_000);
            breaker.allow().unwrap().success();
        });
        let expected = [
            "WARN message=breaker pay is open breaker=\"pay\" generation=# from=\"closed\" \
             to=\"open\" cause=\"threshold_reached\" retry_after_ms=10000 streak=0",
            "INFO message=breaker pay is half_open breaker=\"pay\" generation=# from=\"open\" \
             to=\"half_open\" cause=\"open_time_over\" streak=0",
            "INFO message=breaker pay is closed breaker=\"pay\" generation=# from=\"half_open\" \
             to=\"closed\" cause=\"probes_succeeded\" streak=0",
        ];
        let expected = expected.map(|text| text.replace('#', &generation.to_string()));
        assert_eq!(*heard.0.lock().unwrap(), expected);
    }
}

#[test]
fn transitions_of_a_thread_that_ends_are_seen() {
    struct TripsAtTheEnd(SharedBreaker);

    impl Drop for TripsAtTheEnd {
        fn drop(&mut self) {
            self.0.trip();
        }
    }

    thread_local! {
        static BEFORE: std::cell::OnceCell<TripsAtTheEnd> = const { std::cell::OnceCell::new() };
        static AFTER: std::cell::OnceCell<TripsAtTheEnd> = const { std::cell::OnceCell::new() };
    }
    let monitor = Monitor::new();
    let breakers = ["a", "b"].map(|name| monitor.watch(SharedBreaker::builder().name(name).build().unwrap()));
    let [a, b] = breakers.clone();
    let ends = std::thread::spawn(move || {
        // Whatever the order in which a thread's own values end, what a transition needs of them ends in between.
        BEFORE.with(|before| _ = before.set(TripsAtTheEnd(a.clone())));
        a.trip();
        a.reset();
        AFTER.with(|after| _ = after.set(TripsAtTheEnd(b)));
    });
    ends.join().unwrap();
    let tripped = |name| monitor.find(name).unwrap().recent().last().map(|change| change.transition.to);
    assert_eq!((tripped("a"), tripped("b")), (Some(Phase::Open), Some(Phase::Open)));
}
