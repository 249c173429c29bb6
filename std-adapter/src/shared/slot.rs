//! Where shared breakers lie: in slots that are never freed, but used again.
//!
//! Whoever owns a breaker is counted, since somebody must see the last one go; whoever calls is not, since
//! a counter that all calls share costs more than all the rest of a call. So a call under way holds the slot
//! itself, which is memory that is always valid, and the token of its generation. Once the breaker is gone
//! its slot is in another generation, and what such a call has to say is stale.
//!
//! Memory stays at the largest number of breakers that there ever were at once.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use nanobreaker_core::window::Adjustable;
use nanobreaker_core::{AdjustError, Breaker, ConfigError, Settings};
use nanobreaker_settings::WORDS;

use super::clock::{SharedClock, Source};
use super::listeners::{Listeners, Told};
#[cfg(all(feature = "fleet", feature = "state-file"))]
use crate::fleet::Membership;
use crate::identity::ErrorClassifier;
use crate::stripes::ThreadLanes;

/// The window of a [`SharedBreaker`](crate::SharedBreaker): any kind for failures, and maybe another for
/// slow calls.
///
/// Both can be replaced while calls go on: see [`SharedBreaker::adjust`](crate::SharedBreaker::adjust).
/// Time windows count in [`ThreadLanes`].
pub type SharedWindow = Adjustable<WORDS, WORDS, ThreadLanes>;

/// The breaker itself.
pub(crate) type Guarded = Breaker<SharedWindow, SharedClock, Listeners>;

/// A breaker's place. It begins a line of its own, with the version, the breaker's state and what a call asks
/// beside it.
#[repr(C, align(128))]
pub(super) struct Slot {
    /// Stepped at the end of each life.
    version: AtomicU32,
    pub(super) breaker: Guarded,
    /// Whether it is in shadow for as long as a group says so. Relaxed throughout: whoever asks is content with what
    /// was so a moment ago.
    lets_pass: AtomicBool,
}

impl Slot {
    #[inline]
    pub(super) fn version(&self) -> u32 {
        // Acquire: who finds a version finds the breaker as it is in that life.
        self.version.load(Ordering::Acquire)
    }

    #[cfg(any(feature = "registry", feature = "state-file"))]
    pub(super) fn lets_pass(&self) -> bool {
        self.lets_pass.load(Ordering::Relaxed)
    }

    pub(super) fn set_lets_pass(&self, lets_pass: bool) {
        self.lets_pass.store(lets_pass, Ordering::Relaxed);
    }
}

/// Slots that nobody owns, the oldest first: a slot rests for as long as can be, so that a call which
/// outlives its breaker finds the generation far away.
static FREE: Mutex<VecDeque<&'static Slot>> = Mutex::new(VecDeque::new());

fn free() -> MutexGuard<'static, VecDeque<&'static Slot>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The life of one breaker in a slot: it ends with its last owner.
pub(crate) struct Life {
    pub(super) slot: &'static Slot,
    pub(super) name: Arc<str>,
    /// What is in force. Whoever adjusts holds it meanwhile.
    settings: Mutex<Settings>,
    #[cfg(all(feature = "fleet", feature = "state-file"))]
    pub(super) membership: Option<Arc<Membership>>,
}

impl Life {
    pub(super) fn begin(
        name: Arc<str>,
        settings: Settings,
        source: Source,
        told: Told,
        classifiers: Vec<ErrorClassifier>,
    ) -> Result<Self, ConfigError> {
        // Checked before a slot is taken.
        let window = Adjustable::new(&settings)?.with_lanes(ThreadLanes::for_settings(&settings));
        let free = free().pop_front();
        let slot = match free {
            Some(slot) => {
                slot.breaker.clock().replace(source);
                put(&slot.breaker, &settings)?;
                slot
            }
            None => Box::leak(Box::new(Slot {
                breaker: Breaker::with_observer(window, (), SharedClock::new(source), Listeners::nobody()),
                version: AtomicU32::new(0),
                lets_pass: AtomicBool::new(false),
            })),
        };
        // Seeded by the operating system, once a process, and different for each breaker.
        let seed = RandomState::new().hash_one(std::ptr::from_ref(slot).addr());
        slot.breaker.seed(seed as u32);
        slot.breaker.observer().replace(told, Arc::clone(&name), classifiers);
        Ok(Self {
            slot,
            name,
            settings: Mutex::new(settings),
            #[cfg(all(feature = "fleet", feature = "state-file"))]
            membership: None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Settings> {
        // Whoever panicked there, in a clock, changed nothing.
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings(&self) -> Settings {
        *self.lock()
    }

    pub(super) fn adjust(&self, settings: Settings) -> Result<(), ConfigError> {
        let mut in_force = self.lock();
        put(&self.slot.breaker, &settings)?;
        *in_force = settings;
        Ok(())
    }

    #[cfg(feature = "monitor")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "monitor")]
    pub(crate) fn breaker(&self) -> &'static Guarded {
        &self.slot.breaker
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let slot = self.slot;
        // In this order: nobody is told of the reset, and whatever the listeners hold goes now.
        slot.breaker.observer().replace(Told::default(), Arc::from(""), Vec::new());
        // Release: see `Slot::version`.
        slot.version.fetch_add(1, Ordering::Release);
        slot.breaker.reset();
        slot.breaker.shadow(false);
        slot.set_lets_pass(false);
        free().push_back(slot);
    }
}

fn put(breaker: &Guarded, settings: &Settings) -> Result<(), ConfigError> {
    breaker.lanes().provide_for(settings);
    loop {
        match breaker.adjust(settings) {
            Ok(()) => return Ok(()),
            Err(AdjustError::Settings(error)) => return Err(error),
            // Somebody adjusts the breaker itself, past its handle, and is soon done.
            Err(AdjustError::Busy) => thread::yield_now(),
        }
    }
}
