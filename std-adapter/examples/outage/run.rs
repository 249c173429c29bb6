//! One run: starts the servers, lets the load go, breaks and heals the provider on time, and watches.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use nanobreaker::Cause;
use tokio::runtime::Runtime;

use crate::api;
use crate::guard::{Guard, State};
use crate::load::{Callers, Sample};
use crate::pool::Pool;
use crate::provider::Provider;
use crate::scenario::{Kind, Phase, Scenario, seconds};

/// What was seen in a run. All times count from its start.
pub(crate) struct Run {
    pub(crate) kind: Kind,
    pub(crate) samples: Vec<Sample>,
    /// Busy workers, now and then.
    pub(crate) busy: Vec<(Duration, usize)>,
    pub(crate) most_busy: usize,
    /// When all workers were busy for the first time since the outage began.
    pub(crate) full_at: Option<Duration>,
    pub(crate) outage_from: Duration,
    pub(crate) outage_to: Duration,
    pub(crate) transitions: Vec<Change>,
    /// What the breaker alone took for each rejection, without HTTP and without the wait for a worker.
    pub(crate) rejections: Vec<Duration>,
}

/// A transition of the breaker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) at: Duration,
    pub(crate) to: State,
    pub(crate) cause: Cause,
}

impl Run {
    pub(crate) fn phase_of(&self, due: Duration) -> Phase {
        match due {
            due if due < self.outage_from => Phase::Before,
            due if due < self.outage_to => Phase::Outage,
            _ => Phase::After,
        }
    }

    pub(crate) fn full_after(&self) -> Option<Duration> {
        Some(self.full_at?.saturating_sub(self.outage_from))
    }

    /// When the breaker opened for the first time since the outage began.
    pub(crate) fn opened_at(&self) -> Option<Duration> {
        let mut openings = self.transitions.iter().filter(|change| change.to == State::Open);
        let opening = openings.find(|change| change.at >= self.outage_from)?;
        Some(opening.at)
    }
}

pub(crate) fn play(kind: Kind, scenario: &Scenario, runtime: &Runtime) -> Result<Run, Box<dyn Error>> {
    let mut provider = Provider::start(scenario.provider_takes)?;
    let pool = Pool::new(scenario.workers);
    let guard = Arc::new(Guard::new(kind, scenario)?);
    let server = api::start(scenario, Arc::clone(&pool), Arc::clone(&guard), provider.address);
    let callers = Callers::new(runtime.block_on(server)?, scenario.patience)?;
    runtime.block_on(callers.warm_up())?;

    // The load generator needs a moment to lay out its schedule.
    let origin = Instant::now() + Duration::from_millis(50);
    let (sent, arriving) = callers.send_all(scenario, origin, runtime.handle().clone());

    let mut watch = Watch::new(origin, &pool, &guard, kind);
    watch.until(scenario.before, Phase::Before.name());
    provider.hang()?;
    let outage_from = origin.elapsed();
    pool.watch_from_now();
    watch.until(outage_from + scenario.outage, Phase::Outage.name());
    provider.answer()?;
    let outage_to = origin.elapsed();
    watch.until(scenario.length(), Phase::After.name());
    let samples = watch.rest(arriving);
    if samples.len() != sent {
        return Err(format!("{sent} requests were sent but {} are accounted for", samples.len()).into());
    }

    let since_origin = |at: Instant| at.saturating_duration_since(origin);
    Ok(Run {
        kind,
        samples,
        busy: watch.busy,
        most_busy: pool.most_busy(),
        full_at: pool.full_at().map(since_origin),
        outage_from,
        outage_to,
        rejections: guard.rejections(),
        transitions: guard
            .notes()
            .into_iter()
            .map(|note| Change { at: since_origin(note.at), to: note.to, cause: note.cause })
            .collect(),
    })
}

/// Passes the time by noting how many workers are busy and saying so.
struct Watch<'a> {
    origin: Instant,
    pool: &'a Pool,
    guard: &'a Guard,
    title: &'static str,
    busy: Vec<(Duration, usize)>,
    next_line: Instant,
}

impl<'a> Watch<'a> {
    const LOOK_EVERY: Duration = Duration::from_millis(10);

    fn new(origin: Instant, pool: &'a Pool, guard: &'a Guard, kind: Kind) -> Self {
        let title = kind.title();
        Watch { origin, pool, guard, title, busy: Vec::new(), next_line: origin }
    }

    fn until(&mut self, end: Duration, phase: &str) {
        while self.origin.elapsed() < end {
            self.look(phase);
            thread::sleep(Self::LOOK_EVERY);
        }
    }

    /// All samples, once the last caller has its answer or has given up.
    fn rest(&mut self, arriving: std::sync::mpsc::Receiver<Sample>) -> Vec<Sample> {
        let mut samples = Vec::new();
        loop {
            match arriving.recv_timeout(Self::LOOK_EVERY) {
                Ok(sample) => samples.push(sample),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.look("last answers"),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        progress(&format!("{}: done, {} requests\n", self.title, samples.len()));
        samples
    }

    fn look(&mut self, phase: &str) {
        let now = Instant::now();
        self.busy.push((now.saturating_duration_since(self.origin), self.pool.busy()));
        if now < self.next_line {
            return;
        }
        let state = match self.guard.state() {
            Some(state) => format!(", breaker {state}"),
            None => String::new(),
        };
        progress(&format!(
            "{}: {:>5}, {phase}: {} workers busy, {} requests wait for one{state}",
            self.title,
            seconds(Duration::from_millis(100 * (self.origin.elapsed().as_millis() / 100) as u64)),
            self.pool.busy(),
            self.pool.waiting(),
        ));
        // A terminal's line is overwritten; a log gets a line a second.
        let pause = if io::stderr().is_terminal() { 100 } else { 1_000 };
        self.next_line = now + Duration::from_millis(pause);
    }
}

/// On standard error, so that standard output holds the results only.
fn progress(text: &str) {
    let mut out = io::stderr();
    // Progress that cannot be shown is no reason to stop.
    let _ = match (out.is_terminal(), text.ends_with('\n')) {
        (true, _) => write!(out, "\r\x1b[2K{text}"),
        (false, true) => write!(out, "{text}"),
        (false, false) => writeln!(out, "{text}"),
    };
}
