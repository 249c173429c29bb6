//! loom, with threads that stop for ever.
//!
//! The models compile the core with this crate under the name of loom. Its atomics count the writes
//! of each thread. A thread that has used up its [writes](stopped_after) stops right before the next one: it
//! unwinds, and whatever its destructors still write reaches no one. So to all others it looks like a
//! thread that was killed there, or that an interrupt never returns to.
//!
//! Reads are not counted, since nobody sees them: to stop before a read is to stop before the write that
//! follows it.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use loom::{explore, model, stop_exploring, thread, thread_local};

/// Writes that a thread may still make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    Any,
    AtMost(usize),
    /// It has stopped.
    None,
}

loom::thread_local! {
    static WRITES: Cell<Writes> = Cell::new(Writes::Any);
}

/// What a stopped thread unwinds with.
struct Stopped;

/// Runs `act`, which stops for ever after `writes` writes; `None` where it did.
pub fn stopped_after<R>(writes: usize, act: impl FnOnce() -> R) -> Option<R> {
    WRITES.with(|left| left.set(Writes::AtMost(writes)));
    let result = catch_unwind(AssertUnwindSafe(act));
    WRITES.with(|left| left.set(Writes::Any));
    result.map_err(unless_stopped).ok()
}

/// A panic that is none of this crate's goes on.
fn unless_stopped(payload: Box<dyn Any + Send>) {
    if !payload.is::<Stopped>() {
        resume_unwind(payload);
    }
}

/// Whether this thread has stopped, and only unwinds.
pub fn is_stopped() -> bool {
    WRITES.with(Cell::get) == Writes::None
}

/// Counts a write. Returns whether it may be made: it may not where the thread has stopped.
fn may_write() -> bool {
    let left = WRITES.with(Cell::get);
    match left {
        Writes::Any => true,
        Writes::None => false,
        Writes::AtMost(0) => {
            WRITES.with(|left| left.set(Writes::None));
            resume_unwind(Box::new(Stopped))
        }
        Writes::AtMost(more) => {
            WRITES.with(|left| left.set(Writes::AtMost(more - 1)));
            true
        }
    }
}

/// As in loom.
pub mod sync {
    /// As in loom.
    pub mod atomic {
        pub use loom::sync::atomic::{Ordering, fence};

        use crate::may_write;

        macro_rules! atomics {
            ($($name:ident: $value:ty;)*) => {
                $(
                    /// loom's, with counted writes.
                    #[derive(Debug, Default)]
                    pub struct $name(loom::sync::atomic::$name);

                    impl $name {
                        /// Holds `value`.
                        #[track_caller]
                        pub fn new(value: $value) -> Self {
                            Self(loom::sync::atomic::$name::new(value))
                        }

                        /// Loads the value.
                        #[track_caller]
                        pub fn load(&self, order: Ordering) -> $value {
                            self.0.load(order)
                        }

                        /// Stores `value`.
                        #[track_caller]
                        pub fn store(&self, value: $value, order: Ordering) {
                            if may_write() {
                                self.0.store(value, order);
                            }
                        }

                        /// Adds `value`; adding nothing is a read.
                        #[track_caller]
                        pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                            if value == 0 || may_write() {
                                self.0.fetch_add(value, order)
                            } else {
                                0
                            }
                        }

                        /// Stores `new` where `seen` stands.
                        #[track_caller]
                        pub fn compare_exchange(
                            &self,
                            seen: $value,
                            new: $value,
                            stored: Ordering,
                            refused: Ordering,
                        ) -> Result<$value, $value> {
                            if may_write() {
                                self.0.compare_exchange(seen, new, stored, refused)
                            } else {
                                Ok(seen)
                            }
                        }

                        /// The same: loom's never fails without cause.
                        #[track_caller]
                        pub fn compare_exchange_weak(
                            &self,
                            seen: $value,
                            new: $value,
                            stored: Ordering,
                            refused: Ordering,
                        ) -> Result<$value, $value> {
                            self.compare_exchange(seen, new, stored, refused)
                        }
                    }
                )*
            };
        }

        atomics! {
            AtomicU32: u32;
            AtomicU64: u64;
        }
    }
}
