//! On the real clock, with short times: what runs is a thread of its own.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nanobreaker_core::Phase;

use super::Check;
use crate::shared::{SharedBreaker, SharedBreakerBuilder};

const EVERY: Duration = Duration::from_millis(20);

fn touchy() -> SharedBreakerBuilder {
    let open_for = Duration::from_millis(100);
    let builder = SharedBreaker::builder().name("database").consecutive(1);
    builder.open_for(open_for).max_open(open_for).probe_successes(1)
}

/// A check that says what it is told to, and counts.
#[derive(Clone, Default)]
struct Told {
    is_well: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

impl Told {
    fn check(&self) -> Check {
        let told = self.clone();
        Check::new(async move || {
            told.asked.fetch_add(1, Ordering::Relaxed);
            if told.is_well.load(Ordering::Relaxed) { Ok(()) } else { Err(()) }
        })
        .every(EVERY)
        .timeout(EVERY)
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

fn within(most: Duration, is_so: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < most {
        if is_so() {
            return true;
        }
        sleep(Duration::from_millis(5));
    }
    false
}

fn fail(breaker: &SharedBreaker) {
    breaker.allow().unwrap().failure();
}

#[test]
fn no_call_is_a_probe_while_checks_fail_and_the_next_one_is_once_they_succeed() {
    let told = Told::default();
    let breaker = touchy().max_open(Duration::from_secs(10)).checked_by(told.check()).build().unwrap();
    fail(&breaker);
    // Five open times.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(500) {
        assert!(breaker.allow().is_err());
        sleep(Duration::from_millis(5));
    }
    assert!(told.asked() >= 3);
    told.is_well.store(true, Ordering::Relaxed);
    assert!(within(Duration::from_secs(5), || breaker.snapshot().ready_to_probe()));
    let probe = breaker.allow().unwrap();
    assert!(probe.is_probe());
    probe.success();
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[test]
fn without_any_traffic_a_check_can_close_into_the_ramp() {
    let told = Told::default();
    told.is_well.store(true, Ordering::Relaxed);
    let builder = touchy().max_probes(2).probe_successes(3).ramp(Duration::from_secs(600));
    let breaker = builder.checked_by(told.check().then_close()).build().unwrap();
    fail(&breaker);
    assert!(within(Duration::from_secs(5), || breaker.phase() == Phase::Recovering));
}

#[test]
fn what_hangs_or_panics_is_not_well() {
    let hangs = Check::new(async || pending::<Result<(), ()>>().await);
    let panics = Check::new(async || -> Result<(), ()> { panic!("on purpose") });
    for check in [hangs, panics] {
        let check = check.every(EVERY).timeout(EVERY);
        let breaker = touchy().max_open(Duration::from_secs(10)).checked_by(check).build().unwrap();
        fail(&breaker);
        sleep(Duration::from_millis(400));
        assert!(breaker.allow().is_err(), "four open times later");
    }
}

#[test]
fn a_check_that_is_wrong_does_not_keep_a_healthy_dependency_out_and_is_told() {
    let (told, disagreed) = (Told::default(), Arc::new(AtomicU32::new(0)));
    let counts = Arc::clone(&disagreed);
    let check = told.check().on_disagreement(move |name| {
        assert_eq!(name, "database");
        counts.fetch_add(1, Ordering::Relaxed);
    });
    let breaker = touchy().checked_by(check).build().unwrap();
    fail(&breaker);
    succeeds_as_a_probe_after_five_open_times(&breaker);
    assert_eq!(breaker.phase(), Phase::Closed);
    assert_eq!(disagreed.load(Ordering::Relaxed), 1);
}

/// No call passes for five of the longest open times. Then one does, and it answers.
fn succeeds_as_a_probe_after_five_open_times(breaker: &SharedBreaker) {
    let began = Instant::now();
    assert!(within(Duration::from_secs(20), || breaker.allow().is_ok_and(|probe| {
        probe.success();
        true
    })));
    assert!(began.elapsed() >= Duration::from_millis(500), "five longest open times");
}

#[test]
fn a_check_that_succeeds_now_and_then_but_never_often_enough_does_not_keep_calls_out_for_ever() {
    let fails = AtomicBool::new(true);
    let flaps = move || if fails.fetch_not(Ordering::Relaxed) { Err(()) } else { Ok(()) };
    let check = Check::new(async move || flaps()).every(EVERY).timeout(EVERY).healthy_after(2);
    let breaker = touchy().checked_by(check).build().unwrap();
    fail(&breaker);
    succeeds_as_a_probe_after_five_open_times(&breaker);
}

#[cfg(feature = "fleet")]
#[tokio::test]
async fn in_a_fleet_the_holder_alone_checks() {
    use crate::fleet::{Fleet, Link, tests::Echo};
    use tokio::time::sleep;

    let store = Echo::new();
    let [often, open_for] = [Duration::from_millis(200), Duration::from_secs(2)];
    let mut members = Vec::new();
    for _ in 0..3 {
        let (told, fleet) =
            (Told::default(), Fleet::builder("checks").exchange(store.clone()).start().unwrap());
        let builder = touchy().open_for(open_for).max_open(Duration::from_secs(20)).fleet(&fleet);
        let breaker = builder.checked_by(told.check().every(often)).build().unwrap();
        while fleet.status().link != Link::Together {
            sleep(Duration::from_millis(5)).await;
        }
        members.push((told, fleet, breaker));
    }
    sleep(Duration::from_millis(50)).await;
    fail(&members[1].2);
    sleep(Duration::from_millis(100)).await;
    let holds = |fleet: &Fleet| fleet.status().breakers[0].is_holder;
    assert!(holds(&members[1].1) && !holds(&members[0].1) && !holds(&members[2].1));
    // Until then its own open time keeps the finding with it.
    sleep(Duration::from_millis(350)).await;
    let asked: Vec<_> = members.iter().map(|(told, ..)| told.asked()).collect();
    assert!(asked[0] == 0 && asked[1] > 0 && asked[2] == 0, "{asked:?}");
}

#[test]
fn nothing_is_asked_while_it_is_closed_or_a_person_holds_it() {
    let told = Told::default();
    let breaker = touchy().checked_by(told.check()).build().unwrap();
    sleep(5 * EVERY);
    assert_eq!(told.asked(), 0);
    fail(&breaker);
    assert!(within(Duration::from_secs(5), || told.asked() > 0));
    told.is_well.store(true, Ordering::Relaxed);
    let holds: [fn(&SharedBreaker) -> bool; 2] = [|breaker| breaker.isolate(), |breaker| breaker.disable()];
    for hold in holds {
        hold(&breaker);
        sleep(3 * EVERY);
        let (asked, phase) = (told.asked(), breaker.phase());
        sleep(5 * EVERY);
        assert_eq!((told.asked(), breaker.phase()), (asked, phase));
    }
    breaker.reset();
    let asked = told.asked();
    sleep(5 * EVERY);
    assert_eq!(told.asked(), asked);
}

#[test]
fn a_check_ends_with_its_breaker() {
    let told = Told::default();
    let breaker = touchy().checked_by(told.check()).build().unwrap();
    fail(&breaker);
    assert!(within(Duration::from_secs(5), || told.asked() > 0));
    drop(breaker);
    sleep(3 * EVERY);
    let asked = told.asked();
    sleep(5 * EVERY);
    assert_eq!(told.asked(), asked);
}

#[test]
fn what_a_check_cannot_be_is_refused_by_name() {
    let error = |check: Check| touchy().checked_by(check).build().unwrap_err().to_string();
    let check = || Told::default().check();
    let longest = 67_108_864;
    assert_eq!(
        error(check().every(Duration::ZERO)),
        format!("check.every_ms is 0, but must be from 1 to {longest}")
    );
    assert_eq!(
        error(check().timeout(Duration::ZERO)),
        format!("check.timeout_ms is 0, but must be from 1 to {longest}")
    );
    assert_eq!(error(check().healthy_after(0)), "check.healthy_after is 0, but must be from 1 to 1000");
    for address in ["", "db", "db:", ":80", "db:0", "db:99999"] {
        let error = Check::tcp(address).unwrap_err().to_string();
        assert!(error.contains(&format!("{address:?}")) && error.contains("host:port"), "{error}");
    }
    assert!(Check::http("ftp://db").unwrap_err().to_string().contains("http://"));
    assert!(Check::http("health").is_err());
    assert!(Check::grpc("not a url", "").is_err());
}
