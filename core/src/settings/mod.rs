//! What a breaker is told by its users: plain settings, their limits, and the errors that name them.
//!
//! [`Settings`] are plain numbers that any front can fill in: a builder, a file, a page for operators.
//! They are checked where a breaker takes them: the opening's numbers become a [`Config`], the
//! window's a rule of [`window`](crate::window).

mod config;
mod error;
mod rate;

pub(crate) use config::or;
pub use config::{Config, ConfigBuilder};
pub use error::{AdjustError, ConfigError};
pub(crate) use error::{attempt, within};
pub use rate::Rate;
pub(crate) use rate::{MILLION, Threshold};

/// All settings of a breaker, as plain numbers that nobody has checked yet.
///
/// [`Adjustable`](crate::window::Adjustable) windows and [`Breaker::adjust`](crate::Breaker::adjust)
/// take them whole; [`AnyWindow`](crate::window::AnyWindow) takes the window's.
///
/// ```
/// use nanobreaker_core::{Settings, WindowSettings};
///
/// let mut settings = Settings::DEFAULT;
/// settings.window = WindowSettings::Failures { threshold: 3, within_ms: 60_000 };
/// settings.opening.open_for_ms = 2_000;
/// settings.slow_after_ms = Some(500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Settings {
    /// What judges failed calls.
    pub window: WindowSettings,
    /// What judges slow calls. Without it a slow call is a failure to the window.
    pub slow_window: Option<WindowSettings>,
    /// How long the breaker opens and what closes it again.
    pub opening: ConfigBuilder,
    /// A call that takes longer than this is slow, in milliseconds. For those who measure calls: the
    /// breaker keeps it beside its own settings, so that both change at once.
    pub slow_after_ms: Option<u32>,
    /// A call that has not answered for this long has failed, in milliseconds. As for slow calls.
    pub hung_after_ms: Option<u32>,
}

impl Settings {
    /// Five failures within ten seconds open the breaker for ten seconds. These are what most
    /// published examples of the pattern settle on.
    pub const DEFAULT: Self = Self {
        window: WindowSettings::DEFAULT,
        slow_window: None,
        opening: Config::builder(),
        slow_after_ms: None,
        hung_after_ms: None,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Which window judges calls, as plain numbers. What they mean, and their limits, stands at the
/// window of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum WindowSettings {
    /// [`Failures`](crate::window::Failures)
    Failures {
        /// Failures that trip.
        threshold: u32,
        /// The time within which they must come, in milliseconds.
        within_ms: u64,
    },
    /// [`Consecutive`](crate::window::Consecutive)
    Consecutive {
        /// Failures with no success between them that trip.
        threshold: u32,
    },
    /// [`Calls`](crate::window::Calls)
    Calls {
        /// How many of the last calls are judged.
        size: u32,
        /// The rate that trips.
        rate: Rate,
    },
    /// [`Time`](crate::window::Time)
    Time {
        /// The time whose calls are judged, in milliseconds.
        span_ms: u64,
        /// How many buckets it slides by.
        buckets: u32,
        /// The rate that trips.
        rate: Rate,
    },
    /// [`Cusum`](crate::window::Cusum)
    Cusum(CusumSettings),
}

impl WindowSettings {
    /// Five failures within ten seconds.
    pub const DEFAULT: Self = Self::Failures { threshold: 5, within_ms: 10_000 };
}

/// What [`Cusum`](crate::window::Cusum) asks: how often calls fail on a good day, what is broken, and
/// how rarely it may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CusumSettings {
    /// The failure rate of a well dependency, in parts per million: from 1 to 999,998.
    pub normal_ppm: u32,
    /// The failure rate that is to be found out, in parts per million: above normal, to 999,999.
    pub broken_ppm: u32,
    /// How many calls pass, on average, between two trips that are wrong: from 2 to 10¹⁵.
    pub calls_per_false_trip: u64,
    /// How long the evidence must have been mounting before it trips, in milliseconds; 0 is not at
    /// all, and must be 0 where words are 32 bits wide. At most 16,777,216 (4.6 hours). It begins with the
    /// failure that raises the sum above 0; anew where only one failure's weight is left when it is over.
    ///
    /// Its time is kept modulo 18.6 hours. Evidence that began over 9.3 hours ago, or later than now since
    /// the clock was set back, counts as just begun: it trips with a failure that comes so long after.
    pub sustained_for_ms: u32,
}
