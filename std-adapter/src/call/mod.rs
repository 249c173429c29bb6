//! Guarded calls: ask, call, judge, record.

mod asking;
mod caller;
mod classifier;
mod ending;
mod guarded;
mod held;
mod limits;
mod probing;
mod running;
#[cfg(feature = "tower-http")]
mod silence;
mod stage;
#[cfg(feature = "tokio")]
mod timed;

use std::sync::Arc;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, Observer};

pub use caller::Caller;
pub use classifier::{ByResult, Classifier};
#[cfg(feature = "tower")]
pub(crate) use guarded::polled_again;
#[cfg(feature = "tower")]
pub(crate) use held::Held;
#[cfg(feature = "tower")]
pub(crate) use limits::Hung;
pub(crate) use limits::Limits;
pub(crate) use running::call_calmly;
#[cfg(feature = "tower-http")]
pub(crate) use silence::Silence;
#[cfg(feature = "tokio")]
pub use timed::Timed;

use crate::error::CallError;

/// Makes calls through a breaker: any [`Breaker`], or a [`SharedBreaker`](crate::SharedBreaker) with
/// the settings that it was built with.
///
/// [`calls`](Self::calls) gives a [`Caller`], which can be told how to judge them.
pub trait CallExt {
    /// The breaker's window.
    type Window: Window;
    /// The breaker's clock.
    type Clock: Clock;
    /// The breaker's observer.
    type Observer: Observer;

    /// A caller through this breaker.
    fn calls(&self) -> Caller<'_, Self::Window, Self::Clock, Self::Observer>;

    /// The breaker itself: to look at it, or to do to it what operators do.
    #[inline]
    fn breaker(&self) -> &Breaker<Self::Window, Self::Clock, Self::Observer> {
        self.calls().breaker()
    }

    /// Makes a blocking call: `Ok` is a success, `Err` a failure, unless the breaker has a
    /// [classifier of its own](crate::SharedBreakerBuilder::classify). A panic is a failure too, and goes on
    /// unwinding. An error with borrowed parts takes a [classifier of the call](Caller::classify).
    ///
    /// Costs what [`Breaker::allow`] and [`Breaker::record`] cost, and no allocation.
    ///
    /// ```
    /// use nanobreaker::{Breaker, CallExt, CoarseClock, Config, checked, window::Failures};
    ///
    /// static FILES: Breaker<Failures<5>, CoarseClock> = Breaker::new(
    ///     checked!(Failures::within_ms(10_000)),
    ///     Config::DEFAULT,
    ///     CoarseClock,
    /// );
    /// let text = FILES.call(|| std::fs::read_to_string("/etc/hostname"));
    /// # drop(text);
    /// ```
    ///
    /// # Errors
    ///
    /// [`CallError::Rejected`] if the call must not be made, [`CallError::Failed`] with the call's own
    /// error.
    #[inline(always)]
    fn call<T, E: 'static>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.calls().call(call)
    }

    /// Makes an asynchronous call, on any executor, judged as [`call`](Self::call) says. A panic is a failure,
    /// and goes on unwinding.
    ///
    /// The breaker is asked when the returned future is first polled. **Dropping** that future gives
    /// a probe's place back and counts as no outcome (see [`Caller::slow_after`] for calls that had
    /// run long already).
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[inline]
    fn call_async<T, E: 'static, F>(&self, call: F) -> impl Future<Output = Result<T, CallError<E>>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let caller = self.calls();
        guarded::Guarded::new(caller.breaker(), caller.limits(), ByResult, call)
    }
}

impl<W: Window, C: Clock, O: Observer> CallExt for Breaker<W, C, O> {
    type Window = W;
    type Clock = C;
    type Observer = O;

    #[inline]
    fn calls(&self) -> Caller<'_, W, C, O> {
        Caller::new(self)
    }

    #[inline]
    fn breaker(&self) -> &Self {
        self
    }
}

impl<B: CallExt + ?Sized> CallExt for &B {
    type Window = B::Window;
    type Clock = B::Clock;
    type Observer = B::Observer;

    #[inline]
    fn calls(&self) -> Caller<'_, B::Window, B::Clock, B::Observer> {
        (**self).calls()
    }

    #[inline]
    fn breaker(&self) -> &Breaker<B::Window, B::Clock, B::Observer> {
        (**self).breaker()
    }
}

impl<B: CallExt + ?Sized> CallExt for Arc<B> {
    type Window = B::Window;
    type Clock = B::Clock;
    type Observer = B::Observer;

    #[inline]
    fn calls(&self) -> Caller<'_, B::Window, B::Clock, B::Observer> {
        (**self).calls()
    }

    #[inline]
    fn breaker(&self) -> &Breaker<B::Window, B::Clock, B::Observer> {
        (**self).breaker()
    }
}

/// A breaker's handle that a service can keep, and give to its calls.
///
/// Implemented by the handles of this crate, by references and by `Arc`s of a [`Breaker`].
pub trait Handle: CallExt {
    /// What a call under way holds, so that its breaker is there when it ends. Where it counts something,
    /// as an `Arc` does, all calls share that counter.
    type Held: CallExt;

    /// What the next call holds.
    fn hold(&self) -> Self::Held;
}

impl<B: CallExt + ?Sized> Handle for &B {
    type Held = Self;

    #[inline]
    fn hold(&self) -> Self {
        self
    }
}

impl<B: CallExt + ?Sized> Handle for Arc<B> {
    type Held = Self;

    #[inline]
    fn hold(&self) -> Self {
        Self::clone(self)
    }
}
