//! One of each window, told apart by nothing but their kind: each trips on the K-th failure.
//!
//! As shipped they are windows of their own types. In the other builds most are `AnyWindow`s, which judge by
//! the same rules, so that the compiler makes each model twice instead of eight times.

use nanobreaker_core::window::{Consecutive, Stripes, calls_words};
use nanobreaker_core::{CusumSettings, Rate};

#[cfg(any(nanobreaker_first_read_writes, nanobreaker_weak_fails))]
pub(crate) use any::*;
#[cfg(not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
pub(crate) use own::*;

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

/// All of at least so many calls.
const fn all_of(min_calls: u32) -> Rate {
    Rate::percent(100).min_calls(min_calls)
}

/// Evidence of which `k` failures in a row are enough, and one failure less than that is not. A success
/// weighs half of a failure: a failure raises the sum by ln(p₁/p₀) = ln 4, a success lowers it by
/// ln((1−p₀)/(1−p₁)) = ln 2.
pub(crate) fn cusum_settings(k: u32) -> CusumSettings {
    CusumSettings {
        normal_ppm: 142_857,
        broken_ppm: 571_429,
        // A little less than 4 to the power of k.
        calls_per_false_trip: 4_u64.pow(k) - 1,
        sustained_for_ms: 0,
    }
}

pub(crate) fn consecutive(k: u32) -> Consecutive {
    Consecutive::new(k).unwrap()
}

#[cfg(not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
mod own {
    use nanobreaker_core::WindowSettings;
    use nanobreaker_core::window::{AnyWindow, Calls, Consecutive, Cusum, StripedTime, Time, WithSlow};

    use super::{ByActor, SHORT, TALLIED, TALLIED_WORDS, WITHIN_MS, all_of, consecutive, cusum_settings};

    /// The window that keeps a failure's stamp by itself, for any threshold up to 4.
    pub(crate) fn failures(k: u32) -> AnyWindow<4> {
        AnyWindow::new(WindowSettings::Failures { threshold: k, within_ms: WITHIN_MS }).unwrap()
    }

    pub(crate) fn cusum(k: u32) -> Cusum {
        Cusum::new(cusum_settings(k)).unwrap()
    }

    /// The calls of one word; all must have failed.
    pub(crate) fn history(k: u32) -> Calls<1> {
        Calls::new(SHORT, all_of(k)).unwrap()
    }

    /// The calls of a tally beside its outcomes; all must have failed.
    pub(crate) fn tally(k: u32) -> Calls<TALLIED_WORDS> {
        Calls::new(TALLIED, all_of(k)).unwrap()
    }

    /// Two buckets; all calls must have failed.
    pub(crate) fn time(k: u32) -> Time<2> {
        Time::new(WITHIN_MS, 2, all_of(k)).unwrap()
    }

    /// One bucket, which is the whole window.
    pub(crate) fn one_bucket(k: u32) -> Time<1> {
        Time::new(WITHIN_MS, 1, all_of(k)).unwrap()
    }

    /// Two buckets in two stripes.
    pub(crate) fn striped(k: u32) -> StripedTime<ByActor, 2, 2> {
        StripedTime::new(WITHIN_MS, 2, all_of(k), ByActor).unwrap()
    }

    /// Two windows side by side.
    pub(crate) fn with_slow(k: u32) -> WithSlow<Consecutive, Consecutive> {
        WithSlow::new(consecutive(k), consecutive(k))
    }
}

#[cfg(any(nanobreaker_first_read_writes, nanobreaker_weak_fails))]
mod any {
    use nanobreaker_core::WindowSettings;
    use nanobreaker_core::window::AnyWindow;

    use super::{SHORT, TALLIED, WITHIN_MS, all_of, cusum_settings};

    /// Room for the largest of them, two buckets of time.
    type Any = AnyWindow<5>;

    fn any(settings: WindowSettings) -> Any {
        AnyWindow::new(settings).unwrap()
    }

    pub(crate) fn failures(k: u32) -> Any {
        any(WindowSettings::Failures { threshold: k, within_ms: WITHIN_MS })
    }

    pub(crate) fn cusum(k: u32) -> Any {
        any(WindowSettings::Cusum(cusum_settings(k)))
    }

    pub(crate) fn history(k: u32) -> Any {
        any(WindowSettings::Calls { size: SHORT, rate: all_of(k) })
    }

    pub(crate) fn tally(k: u32) -> Any {
        any(WindowSettings::Calls { size: TALLIED, rate: all_of(k) })
    }

    pub(crate) fn time(k: u32) -> Any {
        any(WindowSettings::Time { span_ms: WITHIN_MS, buckets: 2, rate: all_of(k) })
    }
}

/// Tells stripes apart by the thread of the model.
#[derive(Clone, Copy)]
pub(crate) struct ByActor;

impl Stripes for ByActor {
    fn stripe(&self) -> usize {
        crate::explore::actor()
    }
}

/// Makes a test of a model for each window: for those behind `as shipped` in the builds as shipped only, since
/// they make for many executions or are made of the others.
macro_rules! for_each_window {
    ($model:ident) => {
        crate::windows::for_each_window!(
            $model: failures consecutive cusum history tally time; as shipped striped with_slow
        );
    };
    ($model:ident: $($window:ident)+ $(; as shipped $($more:ident)+)?) => {
        mod $model {
            $(#[test]
            fn $window() {
                super::$model(crate::windows::$window);
            })+
            $($(#[cfg(not(any(nanobreaker_first_read_writes, nanobreaker_weak_fails)))]
            #[test]
            fn $more() {
                super::$model(crate::windows::$more);
            })+)?
        }
    };
}
pub(crate) use for_each_window;
