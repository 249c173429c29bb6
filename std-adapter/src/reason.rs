//! Why somebody changes a breaker, on its way to who is told of the transition.
//!
//! A transition is told on the thread that makes it. So the reason waits there meanwhile, and the core needs
//! to know nothing of it.

use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static REASON: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The reason of the transition that is being told. None while the thread ends.
pub(crate) fn present() -> Option<Arc<str>> {
    REASON.try_with(|reason| reason.borrow().clone()).ok().flatten()
}

/// Makes all transitions of `act` for this reason.
#[cfg(feature = "monitor")]
pub(crate) fn during<T>(reason: &str, act: impl FnOnce() -> T) -> T {
    /// Puts back what was there before, whatever `act` does.
    struct Before(Option<Arc<str>>);

    impl Drop for Before {
        fn drop(&mut self) {
            REASON.set(self.0.take());
        }
    }

    let _before = Before(REASON.replace(Some(Arc::from(reason))));
    act()
}
