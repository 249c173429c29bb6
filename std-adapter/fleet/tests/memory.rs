//! Whole fleets in one process, under tokio's paused time, with the exchange in memory.

use std::sync::Arc;
use std::time::Duration;

use nanobreaker_fleet::nanobreaker::fleet::Link;
use nanobreaker_fleet::nanobreaker::fleet::message::{Group, Heard, Reply, Report};
use nanobreaker_fleet::nanobreaker::{Cause, Phase, SharedBreaker, TokioClock, Transition};
use nanobreaker_fleet::{Exchange, ExchangeError, Fleet, InMemory};
use tokio::sync::mpsc;
use tokio::time::sleep;

fn member(store: &InMemory) -> (Fleet, SharedBreaker) {
    let fleet = Fleet::builder("test").allow_orders().exchange(store.clone()).start().unwrap();
    let breaker = touchy(&fleet);
    (fleet, breaker)
}

fn touchy(fleet: &Fleet) -> SharedBreaker {
    SharedBreaker::builder()
        .name("payments")
        .consecutive(1)
        .open_for(Duration::from_secs(10))
        .probe_successes(1)
        .clock(TokioClock::new())
        .fleet(fleet)
        .build()
        .unwrap()
}

/// Lets every task do what it can do now.
async fn settle() {
    sleep(Duration::from_millis(50)).await;
}

fn fail(breaker: &SharedBreaker) {
    breaker.allow().unwrap().failure();
}

#[tokio::test(start_paused = true)]
async fn what_two_found_out_all_heed_and_one_success_lets_all_look_again() {
    let store = InMemory::new();
    let members: Vec<_> = (0..5).map(|_| member(&store)).collect();
    settle().await;
    assert!(members.iter().all(|(fleet, _)| fleet.status().link == Link::Together));
    fail(&members[0].1);
    settle().await;
    assert_eq!(members[2].1.phase(), Phase::Closed, "one is no quorum");
    fail(&members[1].1);
    settle().await;
    assert!(members.iter().all(|(_, breaker)| breaker.phase() == Phase::Open));
    let holders: Vec<_> = members.iter().map(|(fleet, _)| fleet.status().breakers[0].is_holder).collect();
    assert_eq!(holders, [false, true, false, false, false]);

    // 0 was advised, so only the holder probes.
    sleep(Duration::from_secs(10)).await;
    assert!(members[0].1.allow().is_err());
    members[1].1.allow().unwrap().success();
    assert_eq!(members[1].1.phase(), Phase::Closed);
    // The spread, where nothing counts the living, is a second at most.
    sleep(Duration::from_millis(1_100)).await;
    for (_, breaker) in members.iter().filter(|(_, breaker)| breaker.phase() != Phase::Closed) {
        let probe = breaker.allow().unwrap();
        assert!(probe.is_probe(), "only its own calls close it");
        probe.success();
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_comes_later_hears_what_is_in_force() {
    let store = InMemory::new();
    let (first, second) = (member(&store), member(&store));
    settle().await;
    fail(&first.1);
    fail(&second.1);
    first.0.isolate("search", Duration::from_secs(60), "on call").unwrap();
    settle().await;
    let late = member(&store);
    let search = SharedBreaker::builder().name("search").fleet(&late.0).build().unwrap();
    settle().await;
    assert_eq!(late.1.phase(), Phase::Open);
    assert_eq!(search.phase(), Phase::Isolated);
}

#[tokio::test(start_paused = true)]
async fn an_order_ends_and_whoever_is_there_may_decide_otherwise() {
    let store = InMemory::new();
    let (one, other) = (member(&store), member(&store));
    settle().await;
    one.0.isolate("payments", Duration::from_secs(60), "on call: maintenance").unwrap();
    settle().await;
    assert_eq!((one.1.phase(), other.1.phase()), (Phase::Isolated, Phase::Isolated));
    let status = other.0.status();
    let order = status.breakers[0].order.as_ref().unwrap();
    assert_eq!(&*order.reason, "on call: maintenance");
    other.1.reset();
    settle().await;
    one.0.disable("search", Duration::from_secs(1), "on call").unwrap();
    settle().await;
    assert_eq!(other.1.phase(), Phase::Closed, "its own operator was obeyed");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(one.1.phase(), Phase::Closed, "the order is over");
}

#[tokio::test(start_paused = true)]
async fn an_order_that_is_withdrawn_or_replaced_leaves_nothing_behind() {
    let store = InMemory::new();
    let (fleet, breaker) = member(&store);
    settle().await;
    let hour = Duration::from_secs(3_600);
    fleet.shadow("payments", hour, "trying out").unwrap();
    settle().await;
    assert!(breaker.snapshot().in_shadow);
    fleet.disable("payments", hour, "let all through").unwrap();
    settle().await;
    assert_eq!((breaker.phase(), breaker.snapshot().in_shadow), (Phase::Disabled, false));
    fleet.isolate("payments", hour, "or none").unwrap();
    settle().await;
    assert_eq!(breaker.phase(), Phase::Isolated);
    fleet.withdraw("payments").unwrap();
    settle().await;
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_new_order_holds_where_somebody_ended_an_older_one_of_the_same_kind() {
    let (fleet, breaker) = member(&InMemory::new());
    settle().await;
    let hour = Duration::from_secs(3_600);
    fleet.shadow("payments", hour, "trying out").unwrap();
    settle().await;
    breaker.shadow(false);
    fleet.shadow("payments", hour, "once more").unwrap();
    settle().await;
    assert!(breaker.snapshot().in_shadow);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_trips_as_an_order_comes_is_released_when_that_ends() {
    let store = InMemory::new();
    let (giver, _) = member(&store);
    for name in ["one", "other"] {
        giver.isolate(name, Duration::from_secs(60), "maintenance").unwrap();
    }
    settle().await;
    // It hears of both at once, and isolates one after the other.
    let fleet = Fleet::builder("test").exchange(store).start().unwrap();
    let builder = |name| SharedBreaker::builder().name(name).clock(TokioClock::new()).fleet(&fleet);
    let other = builder("other").build().unwrap();
    let trips = other.reference();
    let trip = move |moved: &Transition| _ = (moved.to == Phase::Isolated).then(|| trips.trip());
    let one = builder("one").on_transition(trip).build().unwrap();
    settle().await;
    assert_eq!((one.phase(), other.phase()), (Phase::Isolated, Phase::Isolated));
    sleep(Duration::from_secs(60)).await;
    assert_eq!((one.phase(), other.phase()), (Phase::Closed, Phase::Closed));
}

/// Hears no messages. Every minute it is linked anew.
struct Deaf(InMemory);

impl Exchange for Deaf {
    async fn ask(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        self.0.ask(group, reports).await
    }

    async fn hear(&self, _: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        while ear.send(Heard::Linked).await.is_ok() {
            sleep(Duration::from_secs(60)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_order_that_was_withdrawn_in_a_gap_ends_after_it() {
    let store = InMemory::new();
    let (giver, _) = member(&store);
    settle().await;
    giver.isolate("payments", Duration::from_secs(3_600), "maintenance").unwrap();
    settle().await;
    let fleet = Fleet::builder("test").exchange(Deaf(store)).start().unwrap();
    let breaker = touchy(&fleet);
    settle().await;
    assert_eq!(breaker.phase(), Phase::Isolated);
    giver.withdraw("payments").unwrap();
    settle().await;
    assert_eq!(breaker.phase(), Phase::Isolated, "it did not hear that");
    sleep(Duration::from_secs(63)).await;
    assert_eq!(breaker.phase(), Phase::Closed);
}

#[tokio::test(start_paused = true)]
async fn groups_do_not_hear_each_other() {
    let store = InMemory::new();
    let (one, other) = (member(&store), member(&store));
    let apart = Fleet::builder("apart").quorum(1).exchange(store.clone()).start().unwrap();
    let breaker = touchy(&apart);
    settle().await;
    fail(&breaker);
    settle().await;
    assert_eq!((one.1.phase(), other.1.phase()), (Phase::Closed, Phase::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_trip_on_request_is_a_vote_only_where_that_is_asked_for() {
    let store = InMemory::new();
    let other = member(&store);
    let builder = || Fleet::builder("test").quorum(1).exchange(store.clone());
    let (hearsay, own) = (builder().start().unwrap(), builder().count_requested_trips().start().unwrap());
    let (hears, knows) = (touchy(&hearsay), touchy(&own));
    settle().await;
    hears.trip();
    settle().await;
    assert_eq!(other.1.phase(), Phase::Closed);
    knows.trip();
    settle().await;
    assert_eq!(other.1.phase(), Phase::Open);
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_ends_the_fleet_and_the_breaker_goes_on() {
    let store = InMemory::new();
    let (fleet, breaker) = member(&store);
    let (other, _advised) = member(&store);
    settle().await;
    drop(fleet);
    fail(&breaker);
    settle().await;
    assert_eq!(breaker.phase(), Phase::Open);
    assert_eq!(other.status().breakers[0].finding, None);
}

#[tokio::test(start_paused = true)]
async fn advice_is_told_as_what_it_is() {
    let store = InMemory::new();
    let members: Vec<_> = (0..2).map(|_| member(&store)).collect();
    let fleet = Fleet::builder("test").exchange(store.clone()).start().unwrap();
    let (causes, mut heard) = mpsc::unbounded_channel();
    let told = SharedBreaker::builder()
        .name("payments")
        .fleet(&fleet)
        .on_transition(move |transition| causes.send(transition.cause).unwrap())
        .build()
        .unwrap();
    settle().await;
    members.iter().for_each(|(_, breaker)| fail(breaker));
    settle().await;
    assert_eq!(heard.try_recv(), Ok(Cause::Advised));
    drop(told);
}
