//! The breaker under test: the only file that uses its API.
//!
//! Threshold and times as in the article, an observer that notes when each transition happened, and for the third
//! run `hung_after`: a call still running after that time is judged a failure at that moment, while its caller goes
//! on waiting for the answer.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nanobreaker::window::AnyWindow;
use nanobreaker::{
    Breaker, CallError, CallExt, Cause, CoarseClock, Config, ConfigError, Observer, Transition,
    WindowSettings,
};

/// A breaker's phase, under a name that keeps it apart from the phases of a run.
pub(crate) use nanobreaker::Phase as State;

use crate::scenario::{Kind, MOST_FAILURES, Scenario};

type Payments = Breaker<AnyWindow<MOST_FAILURES>, CoarseClock, Notes>;

/// Guards the payments or, in the run without a breaker, does nothing.
pub(crate) struct Guard {
    breaker: Option<Payments>,
    hung_after: Option<Duration>,
    /// How long each rejection took, from the question to the answer.
    rejections: Mutex<Vec<Duration>>,
}

impl Guard {
    pub(crate) fn new(kind: Kind, scenario: &Scenario) -> Result<Self, ConfigError> {
        let open_for_ms = scenario.open_for.as_millis() as u64;
        let breaker = Breaker::with_observer(
            AnyWindow::new(WindowSettings::Failures {
                threshold: scenario.threshold,
                within_ms: open_for_ms,
            })?,
            Config::builder().open_for_ms(open_for_ms).build()?,
            CoarseClock,
            Notes::default(),
        );
        Ok(Guard {
            breaker: (kind != Kind::None).then_some(breaker),
            hung_after: (kind == Kind::HungAfter).then_some(scenario.hung_after),
            rejections: Mutex::default(),
        })
    }

    pub(crate) async fn call<T, E: 'static>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallError<E>> {
        let asked = Instant::now();
        let result = match (&self.breaker, self.hung_after) {
            (None, _) => work.await.map_err(CallError::Failed),
            (Some(breaker), None) => breaker.call_async(work).await,
            (Some(breaker), Some(limit)) => breaker.calls().hung_after(limit).call_async(work).await,
        };
        if let Err(CallError::Rejected(_)) = result {
            let took = asked.elapsed();
            self.rejections.lock().expect("never poisoned").push(took);
        }
        result
    }

    pub(crate) fn rejections(&self) -> Vec<Duration> {
        self.rejections.lock().expect("never poisoned").clone()
    }

    /// For the progress line.
    pub(crate) fn state(&self) -> Option<State> {
        self.breaker.as_ref().map(|breaker| breaker.snapshot().phase)
    }

    /// All transitions so far.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.breaker
            .as_ref()
            .map_or(Vec::new(), |breaker| breaker.observer().0.lock().expect("never poisoned").clone())
    }
}

/// A transition, and when the observer was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub(crate) at: Instant,
    pub(crate) to: State,
    pub(crate) cause: Cause,
}

#[derive(Default)]
struct Notes(Mutex<Vec<Note>>);

impl Observer for Notes {
    fn transition(&self, transition: &Transition) {
        let at = Instant::now();
        let Transition { to, cause, .. } = *transition;
        self.0.lock().expect("never poisoned").push(Note { at, to, cause });
    }
}
