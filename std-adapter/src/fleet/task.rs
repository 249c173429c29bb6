//! The one task of a fleet: it carries reports out and findings in.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use nanobreaker_core::Clock;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::sleep;

use super::exchange::Exchange;
use super::member::{Act, about};
use super::members::{Event, Members, ToDo, obey};
use super::message::{Group, Heard, News, Reply, Report};
use super::outbox::Outbox;
use crate::call::CallExt;
use crate::clock::TokioClock;
use crate::shared::SharedBreaker;

/// The store is asked at most this often.
const PACE: Duration = Duration::from_millis(10);
/// The store is given this long to answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// A heartbeat goes this often, where a quorum in per cent counts the living.
const HEARTBEAT_MS: u64 = 5_000;
/// After a gap, what is in force is asked for within this time.
const SYNC_SPREAD_MS: u64 = 2_000;

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

pub(super) struct State {
    pub(super) members: Members,
    /// Since when the link is lost; `None` while it stands.
    pub(super) alone_since: Option<SystemTime>,
    pub(super) heard_ms: Option<u64>,
    was_linked: bool,
    outbox: Outbox,
    sync_at_ms: Option<u64>,
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
                Some((number, event)) = inbox.recv() => shared.take(number, &event),
                Some(heard) = heard.recv() => shared.hear(heard),
                () = shared.wait(|| shared.go_on()) => {}
            }
        }
    };
    tokio::select! {
        () = hearing => {}
        () = doing => {}
        () = shared.ask(&exchange) => {}
        () = shared.beat() => {}
    }
}

impl Shared {
    pub(super) fn new(
        group: Group,
        counts_requests: bool,
        may_order: bool,
        inbox: UnboundedSender<(u64, Event)>,
    ) -> Self {
        let state = State {
            members: Members::new(Arc::clone(&group.instance), counts_requests),
            alone_since: Some(SystemTime::now()),
            heard_ms: None,
            was_linked: false,
            outbox: Outbox::default(),
            sync_at_ms: None,
        };
        Self {
            group: Arc::new(group),
            may_order,
            inbox,
            clock: TokioClock::new(),
            state: Mutex::new(state),
            changed: Notify::new(),
            store: before_the_store(),
        }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and does what follows after the lock was given back: breakers call listeners, who
    /// may ask for the status.
    fn change(&self, change: impl FnOnce(&mut State, u64) -> ToDo) {
        let now_ms = self.now_ms();
        let todo = change(&mut self.state(), now_ms);
        for (name, breaker, act) in todo {
            match act {
                Act::Tell(news) => self.state().outbox.put(Report { breaker: name, news }, now_ms),
                _ if !breaker.is_alive() => {}
                Act::Advise(ms) => drop(breaker.advise_ms(ms.into())),
                Act::Recover => drop(breaker.recover()),
                Act::Obey { before, after } => obey(breaker, before, after),
            }
        }
        self.changed.notify_waiters();
    }

    /// Has this report sent.
    pub(super) fn report(&self, report: Report) {
        self.change(|state, now_ms| {
            state.outbox.put(report, now_ms);
            ToDo::new()
        });
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
            let next_ms = self.state().members.next_ms();
            if next_ms.is_none_or(|at_ms| at_ms > self.now_ms()) {
                return next_ms;
            }
            self.change(|state, now_ms| state.members.due(now_ms));
        }
    }

    fn take(&self, number: u64, event: &Event) {
        self.change(|state, now_ms| {
            // It may be that a finding, or an order, is in force for it.
            if matches!(event, Event::Joined(..)) && state.was_linked {
                state.sync_at_ms.get_or_insert(now_ms);
            }
            state.members.take(number, event, now_ms)
        });
    }

    fn hear(&self, heard: Heard) {
        self.change(|state, now_ms| {
            match heard {
                Heard::Lost => {
                    state.alone_since.get_or_insert_with(SystemTime::now);
                    return ToDo::new();
                }
                Heard::Linked => {
                    // All come back at once after the store was gone, but not as they start.
                    let spread_ms = if state.was_linked { SYNC_SPREAD_MS } else { 0 };
                    state.was_linked = true;
                    state.sync_at_ms = Some(now_ms + fastrand::u64(0..=spread_ms));
                    state.alone_since = None;
                    self.store.reset();
                }
                Heard::Alive | Heard::Said { .. } => {}
            }
            state.heard_ms = Some(now_ms);
            match heard {
                Heard::Said { run, what } => state.members.heard(run, &what, now_ms),
                _ => ToDo::new(),
            }
        });
    }

    /// Asks the store for what is in force, and reports to it, when that is due.
    async fn ask<E: Exchange>(&self, exchange: &E) {
        loop {
            while self.state().asks_at_ms().is_none_or(|at_ms| at_ms > self.now_ms()) {
                self.wait(|| self.state().asks_at_ms()).await;
            }
            let now_ms = self.now_ms();
            let is_sync = self.state().sync_at_ms.take_if(|at_ms| *at_ms <= now_ms).is_some();
            let reports = if is_sync { Vec::new() } else { self.state().outbox.take(now_ms) };
            let asking = async {
                if is_sync {
                    exchange.sync(&self.group).await
                } else {
                    exchange.report(&self.group, &reports).await
                }
            };
            match self.store.calls().timeout(PATIENCE).call_async(asking).await {
                Ok(reply) => self.answered(&reply, is_sync),
                Err(error) => {
                    self.state().asks_again(is_sync, reports, now_ms);
                    if let Some(rest) = error.retry_after() {
                        self.wait(|| Some(now_ms + rest.as_millis() as u64)).await;
                    }
                }
            }
            sleep(PACE).await;
        }
    }

    fn answered(&self, reply: &Reply, is_sync: bool) {
        self.change(|state, now_ms| {
            state.heard_ms = Some(now_ms);
            let mut todo = state.members.in_run(reply.run, now_ms);
            for said in &reply.said {
                todo.extend(state.members.heard(reply.run, said, now_ms));
            }
            if is_sync {
                todo.extend(state.members.vote_again(now_ms));
            }
            todo
        });
    }

    /// Says again and again that this instance lives, where that is counted.
    async fn beat(&self) {
        while self.group.quorum_percent > 0 {
            self.report(Report { breaker: Arc::default(), news: News::Alive });
            sleep(Duration::from_millis(about(HEARTBEAT_MS, &mut fastrand::Rng::new()))).await;
        }
        pending().await
    }
}

impl State {
    /// When the store is to be asked for something.
    fn asks_at_ms(&self) -> Option<u64> {
        if self.outbox.is_empty() { self.sync_at_ms } else { Some(0) }
    }

    /// What could not be asked is asked once more.
    fn asks_again(&mut self, is_sync: bool, reports: Vec<Report>, asked_ms: u64) {
        if is_sync {
            self.sync_at_ms.get_or_insert(asked_ms);
        }
        self.outbox.put_back(reports, asked_ms);
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
