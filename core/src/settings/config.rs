//! How long a breaker opens once its window says trip, and what closes it again.

use crate::ConfigError;
use crate::settings::error::{attempt, within};
use crate::state::{
    ADVICE_MARGIN_MS, LEASE_DIGITS, MAX_FAILURES, MAX_PROBES, MAX_SPAN_MS, MAX_SUCCESSES, SPAN_DIGITS, Span,
    bit_length,
};

/// A valid configuration; build one with [`Config::builder`].
///
/// | setting | default | from | to | meaning |
/// | ------- | ------- | ---- | -- | ------- |
/// | `open_for_ms` | 10,000 | 1 | 67,108,864 | how long a first trip rejects calls |
/// | `max_open_ms` | `open_for_ms` | `open_for_ms` | 67,108,864 | what backoff may lengthen it to |
/// | `relapse_within_ms` | `open_for_ms` | 1 | 67,108,864 | a trip so soon after closing lengthens the next open time |
/// | `max_probes` | 1 | 1 | 63 (7) | probes in flight at once while half-open |
/// | `probe_successes` | 1 | 1 | 64 (8) | probes that must succeed to close |
/// | `probe_failures` | 1 | 1 | 16 (4) | probes that must fail to open again |
/// | `probe_lease_ms` | `open_for_ms` | 1 | 67,108,864 | how long probes in flight may stay without any answer |
/// | `ramp_ms` | 0 | 0 (off) | 67,108,864 | how long the admitted share grows after half-open |
/// | `jitter_permille` | 0 | 0 (off) | 1,000 | at most this part of an open time is cut off at random |
/// | `latch` | false | | | a trip holds the breaker open until a reset |
///
/// In brackets: the limit where words are 32 bits wide ([`Config::MAX_PROBES`] and so on).
///
/// Sources of the defaults: ten seconds are what most published examples of the pattern settle on;
/// one probe at a time is the pattern as Nygard described it in *Release It!*.
///
/// # Timing
///
/// Where words are 64 bits wide, times are exact to the millisecond of the [`Clock`](crate::Clock),
/// but for a lease over 4,194,303 ms (1.1 hours), which ends up to 31 ms late. Where they are 32 bits
/// wide, an open time or a ramp over 4,095 ms, and a relapse time over 4,094 ms, ends up to 1/2,048 of its
/// longest length late, and a lease over 15 ms up to 1/8; none ends early. An open time doubles seven times
/// at most, so that backoff ends at 128 times `open_for_ms`.
///
/// A time that is over stays over for as long as the clock's readings differ: 139 years where words
/// are 64 bits wide, else 2³² ms (49.7 days; for a lease under 1,024 ms 2²⁵ ms, 9.3 hours, or more). Who
/// asks at exactly that period finds the same time left again.
///
/// # Clocks that are set back
///
/// An open time that ends further ahead than its longest length begins anew from there, with the
/// length that backoff gives it: once. After that, if it ends more than an eighth further ahead than
/// its length, it is over. So is one that ends more than twice its length ahead. A lease
/// that ends more than an eighth further ahead than its length is over, and its round has failed. A
/// ramp, and the time since closing, stand still where they began at most their length ahead (the time
/// since closing at most a millisecond more), and are over where they began further ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    open_for_ms: u32,
    max_open_ms: u32,
    relapse_ms: u32,
    lease_ms: u32,
    ramp_ms: u32,
    /// A 16-bit fraction: the largest part of an open time that jitter takes away.
    jitter: u32,
    max_probes: u8,
    probe_successes: u8,
    probe_failures: u8,
    latch: bool,
}

impl Config {
    /// The longest duration of any setting: 2²⁶ ms, 18.6 hours.
    pub const MAX_DURATION_MS: u32 = MAX_SPAN_MS;
    /// The most probes in flight at once on this target.
    pub const MAX_PROBES: u32 = MAX_PROBES;
    /// The most successes that closing can take on this target.
    pub const MAX_SUCCESSES: u32 = MAX_SUCCESSES;
    /// The most failures that opening again can take on this target.
    pub const MAX_FAILURES: u32 = MAX_FAILURES;

    /// Every setting at its default.
    pub const DEFAULT: Self = match Self::builder().build() {
        Ok(config) => config,
        Err(error) => error.fail_to_compile(),
    };

    /// A builder that starts with the defaults.
    pub const fn builder() -> ConfigBuilder {
        ConfigBuilder {
            open_for_ms: 10_000,
            max_open_ms: None,
            relapse_within_ms: None,
            max_probes: 1,
            probe_successes: 1,
            probe_failures: 1,
            probe_lease_ms: None,
            ramp_ms: 0,
            jitter_permille: 0,
            latch: false,
        }
    }

    /// How long a first trip rejects calls.
    pub const fn open_for_ms(&self) -> u32 {
        self.open_for_ms
    }

    /// What backoff may lengthen the open time to.
    pub const fn max_open_ms(&self) -> u32 {
        self.max_open_ms
    }

    /// A trip so soon after closing lengthens the next open time.
    pub const fn relapse_within_ms(&self) -> u32 {
        self.relapse_ms
    }

    /// Probes in flight at once.
    pub const fn max_probes(&self) -> u8 {
        self.max_probes
    }

    /// Probes that must succeed to close.
    pub const fn probe_successes(&self) -> u8 {
        self.probe_successes
    }

    /// Probes that must fail to open again.
    pub const fn probe_failures(&self) -> u8 {
        self.probe_failures
    }

    /// How long probes in flight may stay without any answer.
    pub const fn probe_lease_ms(&self) -> u32 {
        self.lease_ms
    }

    /// How long the admitted share grows after half-open; 0 is not at all.
    pub const fn ramp_ms(&self) -> u32 {
        self.ramp_ms
    }

    /// Whether a trip holds the breaker open until a reset.
    pub const fn latch(&self) -> bool {
        self.latch
    }

    pub(crate) const fn jitter(&self) -> u32 {
        self.jitter
    }

    pub(crate) const fn lease(&self) -> Span {
        Span::new(self.lease_ms, LEASE_DIGITS)
    }

    pub(crate) const fn ramp(&self) -> Span {
        Span::new(self.ramp_ms, SPAN_DIGITS)
    }

    /// How long a breaker must have been closed for a trip not to lengthen the streak: longer than the time
    /// within which one does.
    pub(crate) const fn relapse(&self) -> Span {
        Span::new(self.relapse_ms + 1, SPAN_DIGITS)
    }

    /// The open time of a trip with this streak, before jitter: `open_for` × 2^streak, capped.
    /// Exponential backoff as in Ethernet's binary exponential backoff (IEEE 802.3), without its
    /// randomness: [`jitter_permille`](ConfigBuilder::jitter_permille) adds that.
    pub(crate) const fn open_span(&self, streak: u8) -> Span {
        if self.open_for_ms > self.max_open_ms >> streak {
            self.asked_span()
        } else {
            // Each doubling takes one bit more, so that of a constant nothing is left to count.
            let bits = bit_length(self.open_for_ms) + streak as u32;
            Span::of_length(self.open_for_ms << streak, bits, SPAN_DIGITS)
        }
    }

    /// The longest open time that somebody may ask for.
    pub(crate) const fn asked_span(&self) -> Span {
        Span::new(self.max_open_ms, SPAN_DIGITS)
    }

    /// The longest open time that others may advise: longer than what the one who found out will
    /// stay open itself, so that it is the first to probe.
    pub(crate) const fn advised_span(&self) -> Span {
        Span::new(2 * self.max_open_ms + ADVICE_MARGIN_MS, SPAN_DIGITS)
    }

    /// How many numbers hold a configuration.
    pub(crate) const NUMBERS: usize = 7;

    /// The configuration of these [`numbers`](Self::numbers). Total: whatever they are, no panic follows.
    pub(crate) const fn from_numbers(numbers: [u32; Self::NUMBERS]) -> Self {
        let [open_for_ms, max_open_ms, relapse_ms, lease_ms, ramp_ms, jitter, counts] = numbers;
        let [max_probes, probe_successes, probe_failures, latch] = counts.to_le_bytes();
        Self {
            open_for_ms,
            max_open_ms,
            relapse_ms,
            lease_ms,
            ramp_ms,
            jitter,
            max_probes,
            probe_successes,
            probe_failures,
            latch: latch != 0,
        }
    }

    /// The configuration as plain numbers, which atomics can hold.
    pub(crate) const fn numbers(&self) -> [u32; Self::NUMBERS] {
        let counts = u32::from_le_bytes([
            self.max_probes,
            self.probe_successes,
            self.probe_failures,
            self.latch as u8,
        ]);
        [
            self.open_for_ms,
            self.max_open_ms,
            self.relapse_ms,
            self.lease_ms,
            self.ramp_ms,
            self.jitter,
            counts,
        ]
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The settings of a [`Config`], as plain numbers; [`build`](Self::build) checks them.
///
/// ```
/// use nanobreaker_core::Config;
///
/// let config = Config::builder()
///     .open_for_ms(1_000)
///     .max_open_ms(60_000)
///     .max_probes(3)
///     .probe_successes(3)
///     .build()?;
/// assert_eq!(config.max_open_ms(), 60_000);
///
/// let error = Config::builder().max_probes(0).build().unwrap_err();
/// assert_eq!(error.field(), "max_probes");
/// # Ok::<(), nanobreaker_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use = "call build() to get the checked configuration"]
pub struct ConfigBuilder {
    /// See [`open_for_ms`](Self::open_for_ms()).
    pub open_for_ms: u64,
    /// See [`max_open_ms`](Self::max_open_ms()).
    pub max_open_ms: Option<u64>,
    /// See [`relapse_within_ms`](Self::relapse_within_ms()).
    pub relapse_within_ms: Option<u64>,
    /// See [`max_probes`](Self::max_probes()).
    pub max_probes: u32,
    /// See [`probe_successes`](Self::probe_successes()).
    pub probe_successes: u32,
    /// See [`probe_failures`](Self::probe_failures()).
    pub probe_failures: u32,
    /// See [`probe_lease_ms`](Self::probe_lease_ms()).
    pub probe_lease_ms: Option<u64>,
    /// See [`ramp_ms`](Self::ramp_ms()).
    pub ramp_ms: u64,
    /// See [`jitter_permille`](Self::jitter_permille()).
    pub jitter_permille: u32,
    /// See [`latch`](Self::latch()).
    pub latch: bool,
}

/// The builder's methods: each sets the field of its name.
macro_rules! setters {
    ($($(#[$meaning:meta])* $name:ident: $type:ty => $set:expr;)*) => {
        impl ConfigBuilder {
            $($(#[$meaning])*
            pub const fn $name(mut self, $name: $type) -> Self {
                self.$name = $set;
                self
            })*
        }
    };
}

setters! {
    /// How long a first trip rejects calls, in milliseconds.
    open_for_ms: u64 => open_for_ms;
    /// The cap of backoff, in milliseconds: each trip in a row doubles the open time up to here.
    /// It also bounds [`trip_for_ms`](crate::Breaker::trip_for_ms). Without it there is no backoff.
    max_open_ms: u64 => Some(max_open_ms);
    /// A trip so soon after closing counts as one in a row, in milliseconds.
    relapse_within_ms: u64 => Some(relapse_within_ms);
    /// How many probes may be in flight at once while half-open.
    max_probes: u32 => max_probes;
    /// How many probes of a round must succeed for the breaker to close.
    probe_successes: u32 => probe_successes;
    /// How many probes of a round must fail for the breaker to open again.
    probe_failures: u32 => probe_failures;
    /// How long the probes in flight may stay without any answer, in milliseconds. A round in which
    /// nothing came back for that long has failed: a probe that hangs is an answer.
    probe_lease_ms: u64 => Some(probe_lease_ms);
    /// How long after half-open the admitted share grows evenly from none to all, in milliseconds;
    /// 0 lets all pass at once. Of any hundred calls in a row that share passes give or take three, of any
    /// million give or take thirty.
    ramp_ms: u64 => ramp_ms;
    /// Which part of an open time may be cut off at random, in thousandths, so that breakers of a
    /// fleet don't probe in step. Give each instance its own [`seed`](crate::Breaker::seed).
    jitter_permille: u32 => jitter_permille;
    /// Whether a trip holds the breaker open (isolated) until someone resets it.
    latch: bool => latch;
}

impl ConfigBuilder {
    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits (see [`Config`]).
    pub const fn build(self) -> Result<Config, ConfigError> {
        const LONGEST: u64 = MAX_SPAN_MS as u64;
        let open_for = self.open_for_ms;
        let open_for_ms = attempt!(within("open_for_ms", open_for, 1, LONGEST));
        let max_open = or(self.max_open_ms, open_for);
        let relapse = or(self.relapse_within_ms, open_for);
        let lease = or(self.probe_lease_ms, open_for);
        let probes = self.max_probes as u64;
        let successes = self.probe_successes as u64;
        let failures = self.probe_failures as u64;
        let jitter = self.jitter_permille as u64;
        Ok(Config {
            open_for_ms,
            max_open_ms: attempt!(within("max_open_ms", max_open, open_for, LONGEST)),
            relapse_ms: attempt!(within("relapse_within_ms", relapse, 1, LONGEST)),
            lease_ms: attempt!(within("probe_lease_ms", lease, 1, LONGEST)),
            ramp_ms: attempt!(within("ramp_ms", self.ramp_ms, 0, LONGEST)),
            jitter: (attempt!(within("jitter_permille", jitter, 0, 1_000)) << 16) / 1_000,
            max_probes: attempt!(within("max_probes", probes, 1, MAX_PROBES as u64)) as u8,
            probe_successes: attempt!(within("probe_successes", successes, 1, MAX_SUCCESSES as u64)) as u8,
            probe_failures: attempt!(within("probe_failures", failures, 1, MAX_FAILURES as u64)) as u8,
            latch: self.latch,
        })
    }
}

/// What is set, or else `default`.
pub(crate) const fn or<T: Copy>(set: Option<T>, default: T) -> T {
    match set {
        Some(value) => value,
        None => default,
    }
}

#[cfg(test)]
mod tests;
