//! Who is told of what a shared breaker does.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "monitor")]
use std::sync::OnceLock;
#[cfg(feature = "monitor")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use nanobreaker_core::{Observer, Transition};
#[cfg(feature = "monitor")]
use nanobreaker_core::{Outcome, Recorded, Rejected, Token};

use crate::identity::{ErrorClassifier, Identity};
#[cfg(feature = "monitor")]
use crate::watch::{Meter, Watch};

/// A listener that is told, whoever else is added meanwhile.
pub(super) type Listener = Arc<dyn Fn(&Transition) + Send + Sync>;

/// Those who want to be told of a breaker's transitions.
///
/// Each is told, whatever the others do: a panic of one ends there, after the panic hook has reported it.
pub struct Listeners {
    identity: &'static Identity,
    told: RwLock<Told>,
    /// Whether calls are counted. Beside the rest, since each call asks.
    #[cfg(feature = "monitor")]
    counts: AtomicBool,
    /// Kept when the slot is used again; a watch counts from where it finds it.
    #[cfg(feature = "monitor")]
    meter: OnceLock<Arc<Meter>>,
}

/// Who is told in this life of the slot.
#[derive(Clone, Default)]
pub(super) struct Told {
    listeners: Arc<[Listener]>,
    #[cfg(feature = "monitor")]
    watch: Option<Arc<Watch>>,
}

impl Told {
    pub(super) fn new(listeners: Vec<Listener>) -> Self {
        Self {
            listeners: listeners.into(),
            #[cfg(feature = "monitor")]
            watch: None,
        }
    }
}

impl Listeners {
    /// Nobody, of a breaker without a name.
    pub(super) fn nobody() -> Self {
        Self {
            identity: Identity::leaked(),
            told: RwLock::default(),
            #[cfg(feature = "monitor")]
            counts: AtomicBool::new(false),
            #[cfg(feature = "monitor")]
            meter: OnceLock::new(),
        }
    }

    /// Puts others in place of those who were told; these are dropped, outside of the lock. The name and the
    /// classifiers are the breaker's from here on.
    pub(super) fn replace(&self, told: Told, name: Arc<str>, classifiers: Vec<ErrorClassifier>) {
        quietly(|| self.identity.replace(name, classifiers));
        #[cfg(feature = "monitor")]
        // Relaxed: a call under way may be counted or not.
        self.counts.store(false, Ordering::Relaxed);
        let before = {
            let mut there = self.told.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *there, told)
        };
        quietly(|| drop(before));
    }

    /// Tells one more, for as long as this breaker lives.
    pub(super) fn add(&self, listener: Listener) {
        let mut there = self.told.write().unwrap_or_else(PoisonError::into_inner);
        let before = there.listeners.iter().map(Arc::clone);
        there.listeners = before.chain([listener]).collect();
    }

    fn told(&self) -> Told {
        self.told.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Runs `tell`. A panic ends here: it must not hide the news from others, and it would abort the process
/// where the transition was made by a permit that another panic drops.
fn quietly(tell: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(tell)) {
        // What the panic carries may panic itself when it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    }
}

impl Observer for Listeners {
    fn identity(&self) -> Option<&'static dyn Any> {
        Some(self.identity)
    }

    fn transition(&self, transition: &Transition) {
        let told = self.told();
        for listener in &*told.listeners {
            quietly(|| listener(transition));
        }
        #[cfg(feature = "monitor")]
        if let Some(watch) = &told.watch {
            // Its metrics are anyone's code, too.
            quietly(|| watch.transition(transition));
        }
    }

    #[cfg(feature = "monitor")]
    fn rejected(&self, rejected: &Rejected) {
        if self.counts()
            && let Some(meter) = self.meter.get()
        {
            meter.rejection(rejected.phase);
        }
    }

    #[cfg(feature = "monitor")]
    #[inline]
    fn recorded(&self, token: Token, outcome: Outcome, _: Recorded) {
        if self.counts() {
            self.count(token, outcome);
        }
    }
}

#[cfg(feature = "monitor")]
impl Listeners {
    #[inline]
    fn counts(&self) -> bool {
        // Relaxed: a call that begins at this moment may be counted or not.
        self.counts.load(Ordering::Relaxed)
    }

    /// Kept out of the way of breakers that nobody watches.
    #[inline(never)]
    fn count(&self, token: Token, outcome: Outcome) {
        if let Some(meter) = self.meter.get() {
            meter.call(outcome, token.is_probe());
        }
    }

    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        self.told().watch
    }

    /// Has `watch` made of the breaker's meter, unless somebody watches already. Returns the one that was.
    pub(crate) fn start_watch(&self, watch: impl FnOnce(Arc<Meter>) -> Watch) -> Option<Arc<Watch>> {
        let meter = self.meter.get_or_init(|| Arc::new(Meter::new()));
        let mut told = self.told.write().unwrap_or_else(PoisonError::into_inner);
        if told.watch.is_some() {
            return None;
        }
        told.watch = Some(Arc::new(watch(Arc::clone(meter))));
        self.counts.store(true, Ordering::Relaxed);
        told.watch.clone()
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listeners({})", self.told().listeners.len())
    }
}
