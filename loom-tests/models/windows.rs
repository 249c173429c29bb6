//! One of each window, told apart by nothing but their kind: each trips on the K-th failure.

use nanobreaker_core::window::{
    AnyWindow, Calls, Consecutive, Failures, StripedTime, Stripes, Time, WithSlow, calls_words,
};

/// The window of the failure ring and of the time window.
pub(crate) const WITHIN_MS: u64 = 1_000;
/// A bucket of the time window.
pub(crate) const BUCKET_MS: u64 = WITHIN_MS / 2;
/// Calls of the window in one word.
pub(crate) const SHORT: u32 = 8;
/// The smallest number of calls that takes a tally.
pub(crate) const TALLIED: u32 = if cfg!(nanobreaker_narrow) { 24 } else { 52 };

/// Words of such a window.
pub(crate) const TALLIED_WORDS: usize = calls_words(TALLIED);

pub(crate) fn failures(k: u32) -> Failures<4> {
    Failures::new(k, WITHIN_MS).unwrap()
}

pub(crate) fn consecutive(k: u32) -> Consecutive {
    Consecutive::new(k).unwrap()
}

/// The calls of one word; all must have failed.
pub(crate) fn history(k: u32) -> Calls<1> {
    Calls::new(SHORT, 100, k).unwrap()
}

/// The calls of a tally beside its outcomes; all must have failed.
pub(crate) fn tally(k: u32) -> Calls<TALLIED_WORDS> {
    Calls::new(TALLIED, 100, k).unwrap()
}

/// Two buckets; all calls must have failed.
pub(crate) fn time(k: u32) -> Time<2> {
    Time::new(WITHIN_MS, 2, 100, k).unwrap()
}

/// Tells stripes apart by the thread of the model.
#[derive(Clone, Copy)]
pub(crate) struct ByActor;

impl Stripes for ByActor {
    fn stripe(&self) -> usize {
        crate::explore::actor()
    }
}

/// Two buckets in two stripes.
pub(crate) fn striped(k: u32) -> StripedTime<ByActor, 2, 2> {
    StripedTime::new(WITHIN_MS, 2, 100, k, ByActor).unwrap()
}

/// Two windows side by side.
pub(crate) fn with_slow(k: u32) -> WithSlow<Consecutive, Consecutive> {
    WithSlow::new(consecutive(k), consecutive(k))
}

/// A window chosen at run time, here a time window.
pub(crate) fn any(k: u32) -> AnyWindow<4> {
    AnyWindow::time(WITHIN_MS, 2, 100, k).unwrap()
}

/// Makes a test of a model for each window.
macro_rules! for_each_window {
    ($model:ident) => {
        crate::windows::for_each_window!($model: failures consecutive history tally time striped with_slow any);
    };
    ($model:ident: $($window:ident)+) => {
        mod $model {
            $(#[test]
            fn $window() {
                super::$model(crate::windows::$window);
            })+
        }
    };
}
pub(crate) use for_each_window;
