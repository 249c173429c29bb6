//! What a check does while its breaker is open.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use nanobreaker_core::{Cause, Outcome, Phase, Transition};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use super::{Check, thread};
#[cfg(feature = "fleet")]
use crate::fleet::Membership;
use crate::shared::BreakerRef;

/// Checks that are not healthy for so many times the longest open time are no longer believed.
const TRUST: u32 = 5;
/// Beside what is surely needed, so that the next check comes before the open time ends.
const MARGIN: Duration = Duration::from_millis(500);
/// A round of probes takes fewer permits.
const MOST_PERMITS: usize = 256;

/// A breaker's check, and what it found lately.
pub(crate) struct Checked {
    check: Check,
    name: Arc<str>,
    breaker: OnceLock<BreakerRef>,
    /// When the first check failed since it last was healthy, over all openings.
    failing_since: Mutex<Option<Instant>>,
    #[cfg(feature = "fleet")]
    membership: Option<Arc<Membership>>,
}

impl Checked {
    pub(crate) fn new(
        check: Check,
        name: Arc<str>,
        #[cfg(feature = "fleet")] membership: Option<Arc<Membership>>,
    ) -> Self {
        Self {
            check,
            name,
            breaker: OnceLock::new(),
            failing_since: Mutex::new(None),
            #[cfg(feature = "fleet")]
            membership,
        }
    }

    /// Once, before any call.
    pub(crate) fn begin(&self, breaker: BreakerRef) {
        let _ = self.breaker.set(breaker);
    }

    /// The breaker made a transition. Waits for nothing.
    pub(crate) fn changed(self: &Arc<Self>, transition: &Transition) {
        match (transition.to, transition.cause) {
            (Phase::Open, _) => self.opened(transition.generation),
            (Phase::Closed | Phase::Recovering, Cause::ProbesSucceeded) => {
                let disagrees = self.is_doubted();
                *self.failing_since() = None;
                if disagrees {
                    self.tell_disagreement();
                }
            }
            (Phase::Closed, Cause::Reset) => *self.failing_since() = None,
            _ => {}
        }
    }

    fn opened(self: &Arc<Self>, generation: u16) {
        let Some(breaker) = self.breaker.get().copied() else {
            return;
        };
        // Now, so that the open time cannot end before the first check has.
        self.postpone(&breaker);
        let check = self.check.clone();
        let checked = Arc::downgrade(self);
        thread::run(move || async move {
            let opening = Opening { check, checked, breaker, generation };
            opening.watch().await;
        });
    }

    fn failing_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failing_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether checks have failed for so long that traffic has to tell.
    fn is_doubted(&self) -> bool {
        let Some(breaker) = self.breaker.get() else {
            return false;
        };
        let longest = Duration::from_millis(breaker.config().max_open_ms().into());
        self.failing_since().is_some_and(|since| since.elapsed() >= TRUST * longest)
    }

    /// Keeps calls out until the next check has answered.
    fn postpone(&self, breaker: &BreakerRef) {
        if !self.is_doubted() {
            let needed = self.check.every + self.check.timeout + MARGIN;
            breaker.advise_ms(u64::try_from(needed.as_millis()).unwrap_or(u64::MAX));
        }
    }

    fn failed(&self, breaker: &BreakerRef) {
        self.failing_since().get_or_insert_with(Instant::now);
        self.postpone(breaker);
        #[cfg(feature = "fleet")]
        if let Some(membership) = &self.membership {
            membership.check_failed();
        }
    }

    /// Whether another process of the fleet is the one to look.
    fn is_anothers(&self) -> bool {
        #[cfg(feature = "fleet")]
        return self.membership.as_ref().is_some_and(|membership| membership.is_anothers());
        #[cfg(not(feature = "fleet"))]
        return false;
    }

    fn tell_disagreement(&self) {
        #[cfg(feature = "tracing")]
        tracing::warn!(
            target: "nanobreaker",
            breaker = &*self.name,
            "breaker {} closed by live traffic although its check fails: look at the check",
            self.name.escape_debug()
        );
        if let Some(tell) = &self.check.on_disagreement {
            tell(&self.name);
        }
    }
}

/// One opening of a breaker, which its check watches.
struct Opening {
    check: Check,
    /// Gone with the breaker.
    checked: Weak<Checked>,
    breaker: BreakerRef,
    generation: u16,
}

/// What the breaker does meanwhile.
enum Stage {
    Open,
    /// Live calls probe.
    Probing,
    Over,
}

impl Opening {
    fn stage(&self) -> Stage {
        let snapshot = self.breaker.snapshot();
        if !self.breaker.is_alive() || snapshot.generation != self.generation {
            return Stage::Over;
        }
        match snapshot.phase {
            Phase::Open => Stage::Open,
            Phase::HalfOpen => Stage::Probing,
            _ => Stage::Over,
        }
    }

    async fn watch(self) {
        let mut successes = 0;
        loop {
            sleep(self.check.every).await;
            match self.stage() {
                Stage::Open => {}
                Stage::Probing => continue,
                Stage::Over => return,
            }
            if self.checked.upgrade().is_none_or(|checked| checked.is_anothers()) {
                successes = 0;
                continue;
            }
            let is_well = self.ask().await;
            // It may have taken its time.
            let (Stage::Open, Some(checked)) = (self.stage(), self.checked.upgrade()) else {
                continue;
            };
            if !is_well {
                successes = 0;
                checked.failed(&self.breaker);
                continue;
            }
            successes += 1;
            if successes >= self.check.healthy_after {
                *checked.failing_since() = None;
                self.recover();
            } else {
                checked.postpone(&self.breaker);
            }
        }
    }

    /// Asks once. What hangs or panics is not well.
    async fn ask(&self) -> bool {
        let ask = self.check.ask.clone();
        let asking = spawn_local(async move { ask().await });
        let stop = asking.abort_handle();
        let answer = timeout(self.check.timeout, asking).await;
        stop.abort();
        matches!(answer, Ok(Ok(true)))
    }

    fn recover(&self) {
        self.breaker.recover();
        if !self.check.closes {
            return;
        }
        for _ in 0..MOST_PERMITS {
            if let Stage::Over = self.stage() {
                return;
            }
            match self.breaker.allow_token() {
                Ok(token) => {
                    let is_probe = token.is_probe();
                    let outcome = if is_probe { Outcome::Success } else { Outcome::Ignored };
                    self.breaker.record(token, outcome);
                }
                // The round's places are taken by calls, which will tell.
                Err(_) => return,
            }
        }
    }
}
