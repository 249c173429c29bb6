//! The one task of a fleet: it carries reports out and findings in.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nanobreaker_core::Phase;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::builder::Terms;
use super::exchange::Exchange;
use super::member::Act;
use super::message::{Heard, OrderedAction};
use super::state::State;
use crate::call::CallExt;
use crate::clock::TokioClock;
use crate::error::CallError;
use crate::shared::{BreakerRef, SharedBreaker};

/// Reports go at most this often.
const PACE: Duration = Duration::from_millis(10);
/// The store is given this long to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the process has to tell its task.
pub(super) type Event = Box<dyn FnOnce(&mut State) + Send>;

/// What the task and the handles share.
pub(super) struct Shared {
    pub(super) terms: Arc<Terms>,
    inbox: UnboundedSender<Event>,
    state: Mutex<State>,
    /// The state was changed.
    changed: Notify,
}

/// Runs until it is dropped.
pub(super) async fn run<E: Exchange>(exchange: E, shared: Arc<Shared>, mut inbox: UnboundedReceiver<Event>) {
    let (ear, mut heard) = mpsc::channel(256);
    let store = before_the_store();
    // With one seed a simulation has one course of events.
    store.seed(fastrand::u32(..));
    let hearing = async {
        exchange.hear(&shared.terms.group, ear.clone()).await;
        let _ = ear.send(Heard::Lost).await;
        pending().await
    };
    let doing = async {
        loop {
            let next = shared.state().next();
            tokio::select! {
                biased;
                Some(event) = inbox.recv() => shared.change(event),
                Some(heard) = heard.recv() => {
                    if matches!(heard, Heard::Linked) {
                        store.reset();
                    }
                    shared.change(|state| state.hear(heard));
                }
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => shared.change(State::due),
            }
        }
    };
    tokio::select! {
        // Who asks comes last, so that what the others found is reported at once.
        biased;
        () = hearing => {}
        () = doing => {}
        () = shared.ask(&exchange, &store) => {}
    }
}

impl Shared {
    pub(super) fn new(terms: Terms, inbox: UnboundedSender<Event>) -> Self {
        let state = Mutex::new(State::new(terms.group.quorum_percent > 0));
        Self { terms: Arc::new(terms), inbox, state, changed: Notify::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the task do this to the state. Never waits; it allocates.
    pub(super) fn tell(&self, event: impl FnOnce(&mut State) + Send + 'static) {
        // Where the fleet has ended there is nobody to tell.
        let _ = self.inbox.send(Box::new(event));
    }

    /// Changes the state, and does what follows after the lock was given back: breakers call listeners, who
    /// may ask for the status.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let acts = {
            let mut state = self.state();
            change(&mut state);
            state.acts.clone()
        };
        for (_, breaker, act) in acts {
            if breaker.is_alive() {
                carry_out(breaker, act);
            }
        }
        self.state().acts.clear();
        self.changed.notify_waiters();
    }

    /// Asks the store for what is in force, and reports to it, when that is due.
    async fn ask<E: Exchange>(&self, exchange: &E, store: &SharedBreaker) {
        loop {
            let changed = self.changed.notified();
            let Some(question) = self.state().question() else {
                changed.await;
                continue;
            };
            let asked_at = Instant::now();
            let asking = exchange.ask(&self.terms.group, &question);
            let answer = store.calls().timeout(PATIENCE).call_async(asking).await;
            let rest = answer.as_ref().err().and_then(CallError::retry_after);
            self.tell(move |state| state.answered(question, answer.ok().as_ref(), asked_at));
            sleep(PACE).await;
            // It may have been linked again meanwhile.
            if let Some(rest) = rest.filter(|_| store.phase() != Phase::Closed) {
                let _ = timeout(rest, self.changed.notified()).await;
            }
        }
    }
}

fn carry_out(breaker: BreakerRef, act: Act) {
    match act {
        Act::Advise(ms) => drop(breaker.advise_ms(ms)),
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
        _ if before.and_then(OrderedAction::phase) == Some(breaker.phase()) => breaker.reset(),
        _ => {}
    }
}

/// A dead store is asked after half a second first, and every 10 s in the end.
fn before_the_store() -> SharedBreaker {
    SharedBreaker::builder()
        .name("fleet")
        .consecutive(1)
        .open_for(PATIENCE)
        .max_open(Duration::from_secs(10))
        .jitter_permille(200)
        .clock(TokioClock::new())
        .build()
        .expect("these settings are within their limits")
}
