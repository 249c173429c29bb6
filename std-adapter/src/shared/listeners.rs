//! Who is told of what a shared breaker does.

use std::fmt;
#[cfg(feature = "monitor")]
use std::sync::OnceLock;

use nanobreaker_core::{Observer, Transition};
#[cfg(feature = "monitor")]
use nanobreaker_core::{Outcome, Recorded, Rejected, Token};

#[cfg(feature = "monitor")]
use crate::observe::Watch;

type Listener = Box<dyn Fn(&Transition) + Send + Sync>;

/// Those who want to be told of transitions.
#[derive(Default)]
pub struct Listeners {
    listeners: Vec<Listener>,
    #[cfg(feature = "monitor")]
    watch: OnceLock<Watch>,
}

impl Listeners {
    pub(super) fn add(&mut self, listener: impl Fn(&Transition) + Send + Sync + 'static) {
        self.listeners.push(Box::new(listener));
    }
}

impl Observer for Listeners {
    fn transition(&self, transition: &Transition) {
        for listener in &self.listeners {
            listener(transition);
        }
        #[cfg(feature = "monitor")]
        if let Some(watch) = self.watch() {
            watch.transition(transition);
        }
    }

    #[cfg(feature = "monitor")]
    fn rejected(&self, rejected: &Rejected) {
        if let Some(watch) = self.watch() {
            watch.rejected(rejected);
        }
    }

    #[cfg(feature = "monitor")]
    #[inline]
    fn recorded(&self, token: Token, outcome: Outcome, _: Recorded) {
        if let Some(watch) = self.watch() {
            watch.recorded(token, outcome);
        }
    }
}

#[cfg(feature = "monitor")]
impl Listeners {
    #[inline]
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    /// Returns whether nobody watched before.
    pub(crate) fn start_watch(&self, watch: Watch) -> bool {
        self.watch.set(watch).is_ok()
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listeners({})", self.listeners.len())
    }
}
