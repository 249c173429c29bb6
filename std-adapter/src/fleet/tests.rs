//! The task under tokio's paused time. Stores have tests of their own in the crate `nanobreaker-fleet`.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use nanobreaker_core::Phase;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, sleep};

use super::message::{Finding, Group, Heard, News, Reply, Report, Said, Word};
use super::{Exchange, ExchangeError, Fleet, FleetError, Link};
use crate::clock::TokioClock;
use crate::shared::SharedBreaker;

/// A store for which one report is enough: all hear at once what it comes to.
#[derive(Clone)]
pub(crate) struct Echo(broadcast::Sender<Said>);

impl Echo {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(64).0)
    }
}

impl Exchange for Echo {
    async fn ask(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        for Report { breaker, news } in reports {
            let holder = Arc::clone(&group.instance);
            let word = match *news {
                News::Open { left_ms, probe_ms, .. } => {
                    Word::Open(Finding { epoch: 1, left_ms, probe_ms, holder, live: 0 })
                }
                News::Well { epoch } => Word::Look { epoch },
                News::Order(ref order) => Word::Order(order.clone()),
                News::Alive => continue,
            };
            let _ = self.0.send(Said { breaker: Arc::clone(breaker), word });
        }
        Ok(Reply::default())
    }

    async fn hear(&self, _: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let mut said = self.0.subscribe();
        let mut heard = Heard::Linked;
        while ear.send(heard).await.is_ok() {
            let Ok(said) = said.recv().await else { return };
            heard = Heard::Said(Reply { run: 0, said: vec![said] });
        }
    }
}

fn member(store: &Echo) -> (Fleet, SharedBreaker) {
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

/// A store that is dead, and then is not.
struct Hangs;

impl Exchange for Hangs {
    async fn ask(&self, _: &Arc<Group>, _: &[Report]) -> Result<Reply, ExchangeError> {
        pending().await
    }

    async fn hear(&self, _: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let _ = ear.send(Heard::Linked).await;
        sleep(Duration::from_secs(7)).await;
        let _ = ear.send(Heard::Lost).await;
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_delays_no_call_and_changes_nothing() {
    let fleet = Fleet::builder("test").exchange(Hangs).start().unwrap();
    let breaker = touchy(&fleet);
    let began = Instant::now();
    for _ in 0..1_000 {
        breaker.allow().unwrap().success();
    }
    fail(&breaker);
    assert_eq!(began.elapsed(), Duration::ZERO);
    sleep(Duration::from_secs(8)).await;
    assert!(matches!(fleet.status().link, Link::Alone { .. }));
    sleep(Duration::from_secs(2)).await;
    breaker.allow().unwrap().success();
    assert_eq!(breaker.phase(), Phase::Closed);
}

/// A store that refuses until it is linked, which is when the breaker before it just rejected a question.
struct Dawns {
    is_linked: AtomicBool,
    answers: Arc<AtomicUsize>,
}

impl Exchange for Dawns {
    async fn ask(&self, _: &Arc<Group>, _: &[Report]) -> Result<Reply, ExchangeError> {
        if !self.is_linked.load(Relaxed) {
            return Err(ExchangeError::new("not connected"));
        }
        self.answers.fetch_add(1, Relaxed);
        Ok(Reply::default())
    }

    async fn hear(&self, _: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        sleep(Duration::from_millis(15)).await;
        self.is_linked.store(true, Relaxed);
        let _ = ear.send(Heard::Linked).await;
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_back_is_asked_at_once() {
    let answers = Arc::new(AtomicUsize::new(0));
    let store = Dawns { is_linked: AtomicBool::new(false), answers: Arc::clone(&answers) };
    let fleet = Fleet::builder("test").exchange(store).start().unwrap();
    fail(&touchy(&fleet));
    settle().await;
    assert!(answers.load(Relaxed) > 0);
}

#[tokio::test]
async fn what_a_fleet_cannot_be_is_refused_by_name() {
    let start = |group: &str| Fleet::builder(group).exchange(Echo::new()).start();
    for group in ["", "a\nb", &"x".repeat(129)] {
        assert!(matches!(start(group), Err(FleetError::Limits { field: "group", .. })), "{group:?}");
    }
    assert!(matches!(start("a{b}"), Err(FleetError::Limits { .. })));
    let fleet = |quorum, percent| {
        let builder = Fleet::builder("test").quorum(quorum).quorum_percent(percent);
        builder.exchange(Echo::new()).start().map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(fleet(0, 0), Err("quorum is 0, but must be from 1 to 10000".into()));
    assert_eq!(fleet(2, 101), Err("quorum_percent is 101, but must be from 1 to 100".into()));
    let silent = start("test").unwrap();
    let second = Duration::from_secs(1);
    assert_eq!(silent.isolate("payments", second, "why"), Err(FleetError::NoOrders));
    let (fleet, _) = member(&Echo::new());
    assert!(matches!(fleet.isolate("", second, "why"), Err(FleetError::Limits { field: "breaker", .. })));
    assert!(matches!(fleet.isolate("payments", second, ""), Err(FleetError::Limits { .. })));
    assert!(matches!(fleet.isolate("payments", Duration::ZERO, "why"), Err(FleetError::Limits { .. })));
    let error = SharedBreaker::builder().fleet(&fleet).build().unwrap_err();
    assert_eq!(error.to_string(), "the name's length is 0, but must be from 1 to 128");
}

#[test]
fn outside_of_a_runtime_it_says_what_to_do() {
    let error = Fleet::builder("test").exchange(Echo::new()).start().unwrap_err();
    assert_eq!(error.to_string(), "a fleet runs in a tokio runtime: call start() inside of one");
}

#[cfg(feature = "state-file")]
#[tokio::test(start_paused = true)]
async fn of_what_is_kept_over_a_restart_an_order_is_no_part_but_what_an_operator_here_did_is() {
    let store = Echo::new();
    let (fleet, breaker) = member(&store);
    let kept = || {
        let (snapshot, saved) = breaker.kept();
        let again = touchy(&Fleet::builder("apart").exchange(Echo::new()).start().unwrap());
        again.restore(saved, 0).unwrap();
        assert_eq!((again.phase(), again.snapshot().in_shadow), (snapshot.phase, snapshot.in_shadow));
        (snapshot.phase, snapshot.in_shadow)
    };
    settle().await;
    let hour = Duration::from_secs(3_600);
    fleet.isolate("payments", hour, "maintenance").unwrap();
    settle().await;
    assert_eq!((breaker.phase(), kept()), (Phase::Isolated, (Phase::Closed, false)));
    fleet.shadow("payments", hour, "trying out").unwrap();
    settle().await;
    fail(&breaker);
    assert_eq!((breaker.phase(), kept()), (Phase::Open, (Phase::Open, false)));
    fleet.disable("payments", hour, "let all through").unwrap();
    settle().await;
    breaker.reset();
    settle().await;
    breaker.isolate();
    breaker.shadow(true);
    assert_eq!(kept(), (Phase::Isolated, true));
}

/// All that end at one moment are released one after the other.
#[cfg(feature = "state-file")]
#[tokio::test(start_paused = true)]
async fn an_order_that_ended_a_moment_ago_is_kept_by_nobody() {
    use std::sync::Mutex;

    let fleet = Fleet::builder("test").allow_orders().exchange(Echo::new()).start().unwrap();
    let breakers = Arc::new(Mutex::new(Vec::<SharedBreaker>::new()));
    let kept = Arc::new(Mutex::new(Vec::new()));
    for name in ["one", "other"] {
        let (all, seen) = (Arc::clone(&breakers), Arc::clone(&kept));
        let look =
            move || seen.lock().unwrap().extend(all.lock().unwrap().iter().map(|it| it.kept().0.phase));
        let builder = SharedBreaker::builder().name(name).clock(TokioClock::new()).fleet(&fleet);
        breakers.lock().unwrap().push(builder.on_transition(move |_| look()).build().unwrap());
    }
    settle().await;
    for name in ["one", "other"] {
        fleet.isolate(name, Duration::from_secs(60), "maintenance").unwrap();
    }
    sleep(Duration::from_secs(61)).await;
    assert!(breakers.lock().unwrap().iter().all(|breaker| breaker.phase() == Phase::Closed));
    assert_eq!(
        *kept.lock().unwrap(),
        [Phase::Closed; 8],
        "two that began and two that ended, both looked at"
    );
}
