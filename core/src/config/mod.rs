//! What a breaker is configured to do once its window says trip.

mod cell;
mod error;

pub use error::ConfigError;

use crate::state::{
    LEASE_DIGITS, MAX_FAILURES, MAX_PROBES, MAX_SPAN_MS, MAX_SUCCESSES, SPAN_DIGITS, Span,
    bit_length,
};
pub(crate) use cell::ConfigCell;
pub(crate) use error::within;

/// A valid configuration; build one with [`Config::builder`].
///
/// | setting | default | from | to | meaning |
/// | ------- | ------- | ---- | -- | ------- |
/// | `open_for_ms` | 10,000 | 1 | 67,108,864 | how long a first trip rejects calls |
/// | `max_open_ms` | `open_for_ms` | `open_for_ms` | 67,108,864 | what backoff may lengthen it to |
/// | `probes` | 1 | 1 | 63 (7) | probes in flight at once while half-open |
/// | `successes` | 1 | 1 | 64 (8) | probes that must succeed to close |
/// | `failures` | 1 | 1 | 16 (4) | probes that must fail to open again |
/// | `probe_lease_ms` | `open_for_ms` | 1 | 67,108,864 | how long probes in flight may stay without any answer |
/// | `ramp_ms` | 0 | 0 (off) | 67,108,864 | how long the admitted share grows after half-open |
/// | `jitter_permille` | 0 | 0 (off) | 1,000 | at most this part of an open time is cut off at random |
/// | `latch` | false | | | a trip holds the breaker open until a reset |
///
/// In brackets: the limit where words are 32 bits wide ([`Config::MAX_PROBES`] and so on).
///
/// Sources of the defaults: five failures and ten seconds are what most published examples of the
/// pattern settle on; one probe at a time is the pattern as Nygard described it in *Release It!*.
///
/// # Timing
///
/// Where words are 64 bits wide, times are exact to the millisecond of the [`Clock`](crate::Clock)
/// (a lease over 2.3 hours: to 16 ms). Where they are 32 bits wide, an open time may end early by
/// 1/128 of itself, and a lease late by 1/8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    open_for_ms: u32,
    max_open_ms: u32,
    lease_ms: u32,
    ramp_ms: u32,
    /// A 16-bit fraction: the largest part of an open time that jitter takes away.
    jitter: u32,
    /// Bit lengths of the durations, which choose the units that words count them in.
    open_for_bits: u8,
    max_open_bits: u8,
    lease_bits: u8,
    ramp_bits: u8,
    probes: u8,
    successes: u8,
    failures: u8,
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
            probes: 1,
            successes: 1,
            failures: 1,
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

    /// Probes in flight at once.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// Probes that must succeed to close.
    pub const fn successes(&self) -> u8 {
        self.successes
    }

    /// Probes that must fail to open again.
    pub const fn failures(&self) -> u8 {
        self.failures
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

    pub(crate) const fn lease(&self) -> Span {
        Span::with_length(self.lease_ms, self.lease_bits as u32, LEASE_DIGITS)
    }

    pub(crate) const fn ramp(&self) -> Span {
        Span::with_length(self.ramp_ms, self.ramp_bits as u32, SPAN_DIGITS)
    }

    pub(crate) const fn jitter(&self) -> u32 {
        self.jitter
    }

    /// How long a breaker must have been closed for a trip not to lengthen the streak.
    pub(crate) const fn flap(&self) -> Span {
        Span::with_length(self.open_for_ms, self.open_for_bits as u32, SPAN_DIGITS)
    }

    /// The open time of a trip with this streak, before jitter: `open_for` × 2^streak, capped.
    /// Exponential backoff as in Ethernet's binary exponential backoff (IEEE 802.3), without its
    /// randomness: [`jitter`](Self::jitter) adds that.
    pub(crate) const fn open_span(&self, streak: u8) -> Span {
        let (ms, bits) = if self.open_for_ms > self.max_open_ms >> streak {
            (self.max_open_ms, self.max_open_bits)
        } else {
            (self.open_for_ms << streak, self.open_for_bits + streak)
        };
        Span::with_length(ms, bits as u32, SPAN_DIGITS)
    }

    /// The span that bounds an open time somebody asked for.
    pub(crate) const fn longest_open_span(&self) -> Span {
        Span::with_length(self.max_open_ms, self.max_open_bits as u32, SPAN_DIGITS)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Collects the settings of a [`Config`]; [`build`](Self::build) checks them.
///
/// ```
/// use nanobreaker_core::Config;
///
/// let config = Config::builder()
///     .open_for_ms(1_000)
///     .max_open_ms(60_000)
///     .probes(3)
///     .successes(3)
///     .build()?;
/// assert_eq!(config.max_open_ms(), 60_000);
///
/// let error = Config::builder().probes(0).build().unwrap_err();
/// assert_eq!(error.field(), "probes");
/// # Ok::<(), nanobreaker_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "call build() to get the checked configuration"]
pub struct ConfigBuilder {
    open_for_ms: u64,
    max_open_ms: Option<u64>,
    probes: u32,
    successes: u32,
    failures: u32,
    probe_lease_ms: Option<u64>,
    ramp_ms: u64,
    jitter_permille: u32,
    latch: bool,
}

impl ConfigBuilder {
    /// How long a first trip rejects calls, in milliseconds.
    pub const fn open_for_ms(mut self, ms: u64) -> Self {
        self.open_for_ms = ms;
        self
    }

    /// The cap of backoff, in milliseconds: each trip in a row doubles the open time up to here.
    /// It also bounds [`trip_for_ms`](crate::Breaker::trip_for_ms). Without it there is no backoff.
    pub const fn max_open_ms(mut self, ms: u64) -> Self {
        self.max_open_ms = Some(ms);
        self
    }

    /// How many probes may be in flight at once while half-open.
    pub const fn probes(mut self, probes: u32) -> Self {
        self.probes = probes;
        self
    }

    /// How many probes of a round must succeed for the breaker to close.
    pub const fn successes(mut self, successes: u32) -> Self {
        self.successes = successes;
        self
    }

    /// How many probes of a round must fail for the breaker to open again.
    pub const fn failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// How long the probes in flight may stay without any answer, in milliseconds. A round in which
    /// nothing came back for that long has failed: a probe that hangs is an answer.
    pub const fn probe_lease_ms(mut self, ms: u64) -> Self {
        self.probe_lease_ms = Some(ms);
        self
    }

    /// How long after half-open the admitted share grows evenly from none to all, in milliseconds;
    /// 0 lets all pass at once.
    pub const fn ramp_ms(mut self, ms: u64) -> Self {
        self.ramp_ms = ms;
        self
    }

    /// Which part of an open time may be cut off at random, in thousandths, so that breakers of a
    /// fleet don't probe in step. Give each instance its own [`seed`](crate::Breaker::seed).
    pub const fn jitter_permille(mut self, permille: u32) -> Self {
        self.jitter_permille = permille;
        self
    }

    /// Whether a trip holds the breaker open (isolated) until someone resets it.
    pub const fn latch(mut self, latch: bool) -> Self {
        self.latch = latch;
        self
    }

    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting outside its limits (see [`Config`]).
    pub const fn build(self) -> Result<Config, ConfigError> {
        let longest = MAX_SPAN_MS as u64;
        let open_for = match within("open_for_ms", self.open_for_ms, 1, longest) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        let max_open = match self.max_open_ms {
            Some(ms) => match within("max_open_ms", ms, self.open_for_ms, longest) {
                Ok(value) => value,
                Err(error) => return Err(error),
            },
            None => open_for,
        };
        let lease = match self.probe_lease_ms {
            Some(ms) => match within("probe_lease_ms", ms, 1, longest) {
                Ok(value) => value,
                Err(error) => return Err(error),
            },
            None => open_for,
        };
        let ramp = match within("ramp_ms", self.ramp_ms, 0, longest) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        let probes = match within("probes", self.probes as u64, 1, MAX_PROBES as u64) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        let successes = match within("successes", self.successes as u64, 1, MAX_SUCCESSES as u64) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        let failures = match within("failures", self.failures as u64, 1, MAX_FAILURES as u64) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        let jitter = match within("jitter_permille", self.jitter_permille as u64, 0, 1_000) {
            Ok(value) => value,
            Err(error) => return Err(error),
        };
        Ok(Config {
            open_for_ms: open_for,
            max_open_ms: max_open,
            lease_ms: lease,
            ramp_ms: ramp,
            jitter: (jitter << 16) / 1_000,
            open_for_bits: bit_length(open_for) as u8,
            max_open_bits: bit_length(max_open) as u8,
            lease_bits: bit_length(lease) as u8,
            ramp_bits: bit_length(ramp) as u8,
            probes: probes as u8,
            successes: successes as u8,
            failures: failures as u8,
            latch: self.latch,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Set = fn(ConfigBuilder, u64) -> ConfigBuilder;

    /// Every setting with its limits.
    fn settings() -> Vec<(&'static str, Set, u64, u64)> {
        let longest = u64::from(MAX_SPAN_MS);
        vec![
            ("open_for_ms", |b, v| b.open_for_ms(v), 1, longest),
            ("max_open_ms", |b, v| b.max_open_ms(v), 10_000, longest),
            ("probe_lease_ms", |b, v| b.probe_lease_ms(v), 1, longest),
            ("ramp_ms", |b, v| b.ramp_ms(v), 0, longest),
            (
                "probes",
                |b, v| b.probes(v as u32),
                1,
                u64::from(MAX_PROBES),
            ),
            (
                "successes",
                |b, v| b.successes(v as u32),
                1,
                u64::from(MAX_SUCCESSES),
            ),
            (
                "failures",
                |b, v| b.failures(v as u32),
                1,
                u64::from(MAX_FAILURES),
            ),
            (
                "jitter_permille",
                |b, v| b.jitter_permille(v as u32),
                0,
                1_000,
            ),
        ]
    }

    #[test]
    fn every_setting_is_accepted_at_both_edges_and_refused_by_name_outside() {
        for (name, set, minimum, maximum) in settings() {
            for value in [minimum, maximum] {
                assert!(
                    set(Config::builder(), value).build().is_ok(),
                    "{name} {value}"
                );
            }
            let mut outside = vec![maximum + 1, u64::from(u32::MAX)];
            if minimum > 0 {
                outside.extend([0, minimum - 1]);
            }
            if name.ends_with("_ms") {
                outside.extend([u64::from(u32::MAX) + 1, u64::MAX]);
            }
            for value in outside {
                let error = set(Config::builder(), value).build().unwrap_err();
                assert_eq!(
                    (
                        error.field(),
                        error.value(),
                        error.minimum(),
                        error.maximum()
                    ),
                    (name, value, minimum, maximum)
                );
            }
        }
    }

    #[test]
    fn the_cap_follows_the_open_time_unless_set() {
        let config = Config::builder().open_for_ms(500).build().unwrap();
        assert_eq!(config.max_open_ms(), 500);
        assert_eq!(config.probe_lease_ms(), 500);
    }

    #[test]
    fn backoff_doubles_and_saturates_at_its_cap() {
        let config = Config::builder()
            .open_for_ms(1_000)
            .max_open_ms(4_500)
            .build()
            .unwrap();
        let spans: Vec<u32> = (0..=15)
            .map(|streak| config.open_span(streak).ms())
            .collect();
        assert_eq!(spans[..5], [1_000, 2_000, 4_000, 4_500, 4_500]);
        assert_eq!(spans[15], 4_500);
    }

    #[test]
    fn backoff_never_overflows() {
        for open_for in [1, 3, 1_000, u64::from(MAX_SPAN_MS)] {
            let config = Config::builder()
                .open_for_ms(open_for)
                .max_open_ms(u64::from(MAX_SPAN_MS))
                .build()
                .unwrap();
            for streak in 0..=15 {
                let expected = (open_for << streak).min(u64::from(MAX_SPAN_MS));
                assert_eq!(u64::from(config.open_span(streak).ms()), expected);
                assert_eq!(
                    config.open_span(streak),
                    Span::new(expected as u32, SPAN_DIGITS)
                );
            }
        }
    }
}
