//! The one task of a fleet: it carries reports out and findings in.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nanobreaker_core::Clock;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::sleep;

use super::exchange::Exchange;
use super::member::{Act, about};
use super::message::{Group, Heard, News, OrderedAction, Report};
use super::state::{Event, State};
use crate::call::CallExt;
use crate::clock::TokioClock;
use crate::shared::{BreakerRef, SharedBreaker};

/// Reports go at most this often.
const PACE: Duration = Duration::from_millis(10);
/// The store is given this long to answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// A heartbeat goes this often, where a quorum in per cent counts the living.
const HEARTBEAT_MS: u64 = 5_000;

/// What the task and the handles share.
pub(super) struct Shared {
    pub(super) group: Arc<Group>,
    pub(super) may_order: bool,
    /// What the process has to tell its task: of which breaker, and what.
    pub(super) inbox: UnboundedSender<(u64, Event)>,
    clock: TokioClock,
    state: Mutex<State>,
    /// The state was changed.
    changed: Notify,
    /// Before the store, so that a dead one is not asked all the time.
    store: SharedBreaker,
}

/// Runs until it is dropped.
pub(super) async fn run<E: Exchange>(
    exchange: E,
    shared: Arc<Shared>,
    mut inbox: UnboundedReceiver<(u64, Event)>,
) {
    let (ear, mut heard) = mpsc::channel(256);
    let hearing = async {
        exchange.hear(&shared.group, ear.clone()).await;
        let _ = ear.send(Heard::Lost).await;
        pending().await
    };
    let doing = async {
        loop {
            tokio::select! {
                Some((number, event)) = inbox.recv() => {
                    shared.change(|state, now_ms| state.take(number, event, now_ms));
                }
                Some(heard) = heard.recv() => shared.hear(heard),
                () = shared.wait(|| shared.go_on()) => {}
            }
        }
    };
    tokio::select! {
        // Who asks comes last, so that what the others found is reported at once.
        biased;
        () = hearing => {}
        () = shared.beat() => {}
        () = doing => {}
        () = shared.ask(&exchange) => {}
    }
}

impl Shared {
    pub(super) fn new(
        group: Group,
        counts_requests: bool,
        may_order: bool,
        inbox: UnboundedSender<(u64, Event)>,
    ) -> Self {
        let state = Mutex::new(State::new(Arc::clone(&group.instance), counts_requests));
        let (clock, changed, store) = (TokioClock::new(), Notify::new(), before_the_store());
        Self { group: Arc::new(group), may_order, inbox, clock, state, changed, store }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and does what follows after the lock was given back: breakers call listeners, who
    /// may ask for the status.
    fn change(&self, change: impl FnOnce(&mut State, u64)) {
        let acts = {
            let mut state = self.state();
            change(&mut state, self.now_ms());
            std::mem::take(&mut state.acts)
        };
        for (breaker, act) in acts {
            if breaker.is_alive() {
                carry_out(breaker, act);
            }
        }
        self.changed.notify_waiters();
    }

    /// Has this report sent.
    pub(super) fn report(&self, report: Report) {
        self.change(|state, now_ms| state.outbox.put(report, now_ms));
    }

    /// Until this time, or until the state is changed after it was asked for that.
    async fn wait(&self, until_ms: impl FnOnce() -> Option<u64>) {
        let changed = self.changed.notified();
        let until_ms = until_ms();
        let in_time = async {
            match until_ms {
                Some(at_ms) => sleep(Duration::from_millis(at_ms.saturating_sub(self.now_ms()))).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = changed => {}
            () = in_time => {}
        }
    }

    /// Does what is due. Returns when something is due next.
    fn go_on(&self) -> Option<u64> {
        loop {
            let next_ms = self.state().next_ms();
            if next_ms.is_none_or(|at_ms| at_ms > self.now_ms()) {
                return next_ms;
            }
            self.change(State::due);
        }
    }

    fn hear(&self, heard: Heard) {
        if matches!(heard, Heard::Linked) {
            self.store.reset();
        }
        self.change(|state, now_ms| state.hear(heard, now_ms));
    }

    /// Asks the store for what is in force, and reports to it, when that is due.
    async fn ask<E: Exchange>(&self, exchange: &E) {
        loop {
            while self.state().asks_at_ms().is_none_or(|at_ms| at_ms > self.now_ms()) {
                self.wait(|| self.state().asks_at_ms()).await;
            }
            let now_ms = self.now_ms();
            let question = self.state().question(now_ms);
            let asking = async {
                match &question {
                    Some(reports) => exchange.report(&self.group, reports).await,
                    None => exchange.sync(&self.group).await,
                }
            };
            let pace = if question.is_some() { PACE } else { Duration::ZERO };
            match self.store.calls().timeout(PATIENCE).call_async(asking).await {
                Ok(reply) => self.change(|state, now_ms| state.answered(&question, &reply, now_ms)),
                Err(error) => {
                    self.state().asks_again(question, now_ms);
                    if let Some(rest) = error.retry_after() {
                        self.wait(|| Some(now_ms + rest.as_millis() as u64)).await;
                    }
                }
            }
            sleep(pace).await;
        }
    }

    /// Says again and again that this instance lives, where that is counted.
    async fn beat(&self) {
        if self.group.quorum_percent == 0 {
            return pending().await;
        }
        loop {
            self.report(Report { breaker: Arc::default(), news: News::Alive });
            sleep(Duration::from_millis(about(HEARTBEAT_MS, &mut fastrand::Rng::new()))).await;
        }
    }
}

fn carry_out(breaker: BreakerRef, act: Act) {
    match act {
        Act::Advise(ms) => drop(breaker.advise_ms(ms.into())),
        Act::Recover => drop(breaker.recover()),
        Act::Obey { before, after } => obey(breaker, before, after),
        // That is the store's to hear.
        Act::Tell(_) => {}
    }
}

/// One order takes the place of another, unless somebody did otherwise meanwhile.
fn obey(breaker: BreakerRef, before: Option<OrderedAction>, after: Option<OrderedAction>) {
    let shadow = Some(OrderedAction::Shadow);
    if [before, after].contains(&shadow) {
        breaker.shadow(after == shadow);
    }
    match after {
        Some(OrderedAction::Isolate) => drop(breaker.isolate()),
        Some(OrderedAction::Disable) => drop(breaker.disable()),
        Some(OrderedAction::Shadow) | None => {
            if before.and_then(OrderedAction::phase) == Some(breaker.phase()) {
                breaker.reset();
            }
        }
    }
}

/// A dead store is asked after half a second first, and every 10 s in the end.
fn before_the_store() -> SharedBreaker {
    SharedBreaker::builder()
        .name("fleet")
        .consecutive(1)
        .open_for(Duration::from_millis(500))
        .max_open(Duration::from_secs(10))
        .jitter_permille(200)
        .clock(TokioClock::new())
        .build()
        .expect("these settings are within their limits")
}
