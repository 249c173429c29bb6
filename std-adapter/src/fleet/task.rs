//! The one task of a fleet: it carries reports out and findings in.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use nanobreaker_core::{Outcome, Phase, Token};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::exchange::{Exchange, ExchangeError};
use super::member::{Act, Change, about};
use super::members::{Members, ToDo};
use super::message::{Group, Heard, News, OrderedAction, Reply, Report};
use super::outbox::{Outbox, aged};
use crate::shared::{BreakerRef, SharedBreaker};

/// Reports go at most this often.
const PACE_MS: u64 = 10;
/// The store is given this long to take a report.
const PATIENCE: Duration = Duration::from_millis(500);
/// A heartbeat goes this often, where a quorum in per cent counts the living.
const HEARTBEAT_MS: u64 = 5_000;
/// After a gap, what is in force is asked for within this time.
const SYNC_SPREAD_MS: u64 = 2_000;

/// What the process has to tell its task.
pub(super) enum Event {
    Joined(u64, Arc<str>, BreakerRef),
    Left(u64),
    Changed(u64, Change),
    #[cfg(feature = "check")]
    CheckFailed(u64),
    Report(Report),
}

/// What the task and the handles share.
pub(super) struct Shared {
    pub(super) group: Arc<Group>,
    began: Instant,
    pub(super) members: Mutex<Members>,
    pub(super) link: Mutex<LinkState>,
    /// Numbers of members.
    pub(super) next: AtomicU64,
    pub(super) may_order: bool,
}

pub(super) struct LinkState {
    /// Since when the link is lost; `None` while it stands.
    pub(super) alone_since: Option<SystemTime>,
    pub(super) heard_ms: Option<u64>,
}

impl Shared {
    pub(super) fn new(group: Group, counts_requests: bool, may_order: bool) -> Self {
        Self {
            group: Arc::new(group),
            began: Instant::now(),
            members: Mutex::new(Members::new(counts_requests)),
            link: Mutex::new(LinkState { alone_since: Some(SystemTime::now()), heard_ms: None }),
            next: AtomicU64::new(0),
            may_order,
        }
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn link(&self) -> MutexGuard<'_, LinkState> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn number(&self) -> u64 {
        // Relaxed: numbers only need to differ.
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn heard_now(&self) {
        self.link().heard_ms = Some(self.now_ms());
    }
}

type Sent = Vec<(Report, u64)>;

/// What the store was asked for, and what it answered.
enum Answered {
    Report(Sent, Result<Reply, ExchangeError>),
    Sync(Result<Reply, ExchangeError>),
}

/// What the task keeps for itself.
struct Task<'a, E> {
    exchange: &'a E,
    shared: &'a Shared,
    /// Before the store, so that a dead one is not asked all the time.
    store: SharedBreaker,
    token: Option<Token>,
    outbox: Outbox,
    asked: Option<Pin<Box<dyn Future<Output = Answered> + Send + 'a>>>,
    send_at_ms: u64,
    sync_at_ms: Option<u64>,
    beat_at_ms: Option<u64>,
    was_linked: bool,
}

pub(super) async fn run<E: Exchange>(
    exchange: E,
    shared: Arc<Shared>,
    store: SharedBreaker,
    mut inbox: mpsc::UnboundedReceiver<Event>,
) {
    let (ear, mut heard) = mpsc::channel(256);
    let mut hearing = pin!(exchange.hear(&shared.group, ear));
    let mut is_hearing = true;
    let mut task = Task::new(&exchange, &shared, store);
    loop {
        let next_ms = task.go_on();
        let wake = async {
            match next_ms {
                Some(at_ms) => sleep_until(shared.began + Duration::from_millis(at_ms)).await,
                None => pending().await,
            }
        };
        let answer = async {
            match &mut task.asked {
                Some(asked) => asked.await,
                None => pending().await,
            }
        };
        tokio::select! {
            event = inbox.recv() => match event {
                Some(event) => task.take(event),
                None => return,
            },
            Some(heard) = heard.recv() => task.hear(heard),
            answered = answer => task.answered(answered),
            () = &mut hearing, if is_hearing => {
                is_hearing = false;
                task.hear(Heard::Lost);
            }
            () = wake => {}
        }
    }
}

impl<'a, E: Exchange> Task<'a, E> {
    fn new(exchange: &'a E, shared: &'a Shared, store: SharedBreaker) -> Self {
        Self {
            exchange,
            shared,
            store,
            token: None,
            outbox: Outbox::default(),
            asked: None,
            send_at_ms: 0,
            sync_at_ms: None,
            beat_at_ms: (shared.group.quorum_percent > 0).then_some(0),
            was_linked: false,
        }
    }

    /// Does what is due. Returns when something is due next.
    fn go_on(&mut self) -> Option<u64> {
        let now_ms = self.shared.now_ms();
        let (todo, next_ms) = self.shared.members().due(now_ms);
        self.carry_out(todo);
        if self.beat_at_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            self.beat_at_ms = Some(now_ms + about(HEARTBEAT_MS, &mut fastrand::Rng::new()));
            self.outbox.put(Report { breaker: Arc::from(""), news: News::Alive }, now_ms);
        }
        let ask_at_ms = self.ask(now_ms);
        [next_ms, self.beat_at_ms, ask_at_ms].into_iter().flatten().min()
    }

    /// Asks the store for something, if that is due. Returns when it is due otherwise.
    fn ask(&mut self, now_ms: u64) -> Option<u64> {
        if self.asked.is_some() {
            return None;
        }
        let sends = (!self.outbox.is_empty()).then_some(self.send_at_ms);
        let at_ms = [sends, self.sync_at_ms].into_iter().flatten().min()?;
        if at_ms > now_ms {
            return Some(at_ms);
        }
        match self.store.allow_token() {
            Ok(token) => self.token = Some(token),
            Err(rejected) => {
                let wait_ms = rejected.retry_after_ms().unwrap_or(1_000).max(1);
                return Some(now_ms + u64::from(wait_ms));
            }
        }
        let (exchange, group) = (self.exchange, &self.shared.group);
        self.asked = if self.sync_at_ms.take_if(|at_ms| *at_ms <= now_ms).is_some() {
            Some(Box::pin(async move { Answered::Sync(in_time(exchange.sync(group)).await) }))
        } else {
            self.send_at_ms = now_ms + PACE_MS;
            let sent = self.outbox.take(now_ms);
            let reports: Vec<_> = sent.iter().map(|(report, at_ms)| aged(report, now_ms - at_ms)).collect();
            Some(Box::pin(async move {
                let answer = in_time(exchange.report(group, &reports)).await;
                Answered::Report(sent, answer)
            }))
        };
        None
    }

    fn answered(&mut self, answered: Answered) {
        self.asked = None;
        let now_ms = self.shared.now_ms();
        let (reply, is_sync) = match answered {
            Answered::Sync(reply) => (reply, true),
            Answered::Report(sent, reply) => {
                if reply.is_err() {
                    self.outbox.put_back(sent);
                }
                (reply, false)
            }
        };
        if let Some(token) = self.token.take() {
            self.store.record(token, if reply.is_ok() { Outcome::Success } else { Outcome::Failure });
        }
        let Ok(reply) = reply else {
            if is_sync {
                self.sync_at_ms = Some(now_ms);
            }
            return;
        };
        self.shared.heard_now();
        self.shared.members().in_run(reply.run, now_ms);
        for said in reply.said {
            self.hear(Heard::Said { run: reply.run, what: said });
        }
        if is_sync {
            self.shared.members().vote_again(now_ms);
        }
    }

    fn hear(&mut self, heard: Heard) {
        let now_ms = self.shared.now_ms();
        match heard {
            Heard::Linked => {
                // All come back at once after the store was gone, but not as they start.
                let wait_ms = if self.was_linked { fastrand::u64(0..=SYNC_SPREAD_MS) } else { 0 };
                self.was_linked = true;
                self.sync_at_ms = Some(now_ms + wait_ms);
                self.shared.link().alone_since = None;
                self.store.reset();
            }
            Heard::Lost => {
                self.shared.link().alone_since.get_or_insert_with(SystemTime::now);
                return;
            }
            Heard::Alive => {}
            Heard::Said { run, what } => {
                let todo = self.shared.members().heard(run, &what, now_ms);
                self.carry_out(todo);
            }
        }
        self.shared.heard_now();
    }

    fn take(&mut self, event: Event) {
        let now_ms = self.shared.now_ms();
        match event {
            Event::Joined(number, name, breaker) => {
                self.shared.members().join(number, name, breaker, &self.shared.group);
                // It may be that a finding, or an order, is in force for it.
                if self.was_linked {
                    self.sync_at_ms.get_or_insert(now_ms + PACE_MS);
                }
            }
            Event::Left(number) => self.shared.members().leave(number),
            Event::Changed(number, change) => {
                let todo = self.shared.members().changed(number, change, now_ms);
                self.carry_out(todo);
            }
            #[cfg(feature = "check")]
            Event::CheckFailed(number) => {
                let todo = self.shared.members().check_failed(number, now_ms);
                self.carry_out(todo);
            }
            Event::Report(report) => self.outbox.put(report, now_ms),
        }
    }

    fn carry_out(&mut self, todo: ToDo) {
        let now_ms = self.shared.now_ms();
        for report in todo.reports {
            self.outbox.put(report, now_ms);
        }
        for (breaker, act) in todo.acts {
            if breaker.is_alive() {
                carry_out(&breaker, act);
            }
        }
    }
}

fn carry_out(breaker: &BreakerRef, act: Act) {
    match act {
        Act::Advise(ms) => drop(breaker.advise_ms(ms.into())),
        Act::Recover => drop(breaker.recover()),
        Act::Obey(action, before) => {
            if before == Some(OrderedAction::Shadow) {
                breaker.shadow(false);
            }
            match action {
                OrderedAction::Isolate => drop(breaker.isolate()),
                OrderedAction::Disable => drop(breaker.disable()),
                OrderedAction::Shadow => {
                    release(breaker, before);
                    breaker.shadow(true);
                }
            }
        }
        Act::Release(action) => release(breaker, Some(action)),
    }
}

/// Ends what an order did, unless somebody did otherwise meanwhile.
fn release(breaker: &BreakerRef, action: Option<OrderedAction>) {
    match (action, breaker.phase()) {
        (Some(OrderedAction::Isolate), Phase::Isolated) | (Some(OrderedAction::Disable), Phase::Disabled) => {
            breaker.reset();
        }
        (Some(OrderedAction::Shadow), _) => breaker.shadow(false),
        _ => {}
    }
}

async fn in_time(answer: impl Future<Output = Result<Reply, ExchangeError>>) -> Result<Reply, ExchangeError> {
    timeout(PATIENCE, answer).await.unwrap_or_else(|_| Err(ExchangeError::new("no answer in 500 ms")))
}
