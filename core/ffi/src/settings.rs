//! The structures that go in, and how they become the core's settings.

use core::ffi::c_void;

use nanobreaker_core::{Config, ConfigError};

use crate::memory::{ForeignClock, usable};
use crate::numbers::*;

/// Milliseconds since an arbitrary start, best from a monotonic clock. It gets the context of the
/// settings, and is called by whoever uses the breaker: from several threads or interrupts at once.
pub type NanobreakerClock = Option<unsafe extern "C" fn(context: *mut c_void) -> u64>;

/// How long a breaker opens and what closes it again. Filled by `nanobreaker_defaults`; then change
/// what should be different. All times are from 1 to 67108864 ms (18.6 hours) unless it says otherwise.
/// Several breakers may be initialised with the same settings, which are not needed afterwards.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NanobreakerSettings {
    /// Where the time comes from.
    pub clock: NanobreakerClock,
    /// What the clock is given. It must live as long as the breaker.
    pub context: *mut c_void,
    /// Set by `nanobreaker_defaults`: leave it.
    pub mark: u32,
    /// How long a first trip rejects calls. By default 10000 ms.
    pub open_for_ms: u32,
    /// Each trip in a row doubles the open time up to here, and nobody may ask for a longer one; at
    /// least `open_for_ms`. By default NANOBREAKER_SAME_AS_OPEN_FOR: no doubling.
    pub max_open_ms: u32,
    /// A trip so soon after closing counts as one in a row. By default NANOBREAKER_SAME_AS_OPEN_FOR.
    pub relapse_within_ms: u32,
    /// How many probes may be in flight at once while half-open: from 1, the default, to 63 (to 7 on
    /// a 32-bit chip).
    pub max_probes: u32,
    /// How many probes must succeed to close: from 1, the default, to 64 (8).
    pub probe_successes: u32,
    /// How many probes must fail to open again: from 1, the default, to 16 (4).
    pub probe_failures: u32,
    /// How long the probes in flight may stay without any answer before the round has failed. By
    /// default NANOBREAKER_SAME_AS_OPEN_FOR.
    pub probe_lease_ms: u32,
    /// How long after half-open the admitted share of calls grows; 0, the default, admits all at once.
    pub ramp_ms: u32,
    /// Which part of an open time may be cut off at random, in thousandths: from 0, the default, to
    /// 1000. See `nanobreaker_seed`.
    pub jitter_permille: u32,
    /// 1 if a trip holds the breaker open until a reset; 0 by default.
    pub latch: u32,
}

/// What a breaker with a cumulative sum asks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NanobreakerCusum {
    /// How many calls pass, on average, between two trips that are wrong: from 2 to 10^15.
    pub calls_per_false_trip: u64,
    /// The failure rate of a well dependency, in parts per million: from 1 to 999998.
    pub normal_ppm: u32,
    /// The failure rate that is to be found out, in parts per million: above normal, to 999999.
    pub broken_ppm: u32,
    /// How long the evidence must have been mounting before it trips, in milliseconds, to 16777216;
    /// 0 is not at all, and must be 0 on a 32-bit chip.
    pub sustained_for_ms: u32,
}

/// Why settings were refused.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanobreakerFault {
    /// What the setting was.
    pub value: u64,
    /// The smallest value that is allowed.
    pub minimum: u64,
    /// The largest value that is allowed.
    pub maximum: u64,
    /// Which setting: one of NANOBREAKER_FIELD_...
    pub field: u32,
}

/// What marks settings that were filled in. It changes when their layout does.
const MARK: u32 = 0x4E42_0001;

/// Fills settings with the defaults, and with the clock, which must not be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanobreaker_defaults(
    settings: *mut NanobreakerSettings,
    clock: NanobreakerClock,
    context: *mut c_void,
) -> i32 {
    if let Err(error) = usable(settings) {
        return error;
    }
    if clock.is_none() {
        return NANOBREAKER_ERROR_NULL;
    }
    let defaults = Config::builder();
    let filled = NanobreakerSettings {
        clock,
        context,
        mark: MARK,
        open_for_ms: defaults.open_for_ms as u32,
        max_open_ms: NANOBREAKER_SAME_AS_OPEN_FOR,
        relapse_within_ms: NANOBREAKER_SAME_AS_OPEN_FOR,
        max_probes: defaults.max_probes,
        probe_successes: defaults.probe_successes,
        probe_failures: defaults.probe_failures,
        probe_lease_ms: NANOBREAKER_SAME_AS_OPEN_FOR,
        ramp_ms: defaults.ramp_ms as u32,
        jitter_permille: defaults.jitter_permille,
        latch: u32::from(defaults.latch),
    };
    // SAFETY: it was checked above, and the caller promises the rest.
    unsafe { settings.write(filled) };
    NANOBREAKER_OK
}

/// Why a breaker was not initialised.
pub(crate) enum Refusal {
    /// By this error's number.
    Error(i32),
    /// By a setting outside its limits.
    Setting(ConfigError),
}

impl From<i32> for Refusal {
    fn from(error: i32) -> Self {
        Self::Error(error)
    }
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        Self::Setting(error)
    }
}

/// The configuration and the clock that `settings` ask for.
pub(crate) unsafe fn opening_of(
    settings: *const NanobreakerSettings,
) -> Result<(Config, ForeignClock), Refusal> {
    usable(settings)?;
    // SAFETY: it was checked above, and the caller promises the rest. Only the mark is read while it is
    // not known that the settings were filled in.
    let settings = unsafe {
        if (&raw const (*settings).mark).read() != MARK {
            return Err(NANOBREAKER_ERROR_NOT_INITIALISED.into());
        }
        settings.read()
    };
    let clock =
        ForeignClock { now_ms: settings.clock.ok_or(NANOBREAKER_ERROR_NULL)?, context: settings.context };
    if settings.latch > 1 {
        return Err(ConfigError::new("latch", settings.latch.into(), 0, 1).into());
    }
    let mut opening = Config::builder();
    opening.open_for_ms = settings.open_for_ms.into();
    opening.max_open_ms = unless_same(settings.max_open_ms);
    opening.relapse_within_ms = unless_same(settings.relapse_within_ms);
    opening.max_probes = settings.max_probes;
    opening.probe_successes = settings.probe_successes;
    opening.probe_failures = settings.probe_failures;
    opening.probe_lease_ms = unless_same(settings.probe_lease_ms);
    opening.ramp_ms = settings.ramp_ms.into();
    opening.jitter_permille = settings.jitter_permille;
    opening.latch = settings.latch == 1;
    Ok((opening.build()?, clock))
}

fn unless_same(ms: u32) -> Option<u64> {
    (ms != NANOBREAKER_SAME_AS_OPEN_FOR).then_some(ms.into())
}

/// What is written where a caller wants to know which setting was refused, and why.
pub(crate) fn fault_of(error: &ConfigError) -> NanobreakerFault {
    NanobreakerFault {
        value: error.value(),
        minimum: error.minimum(),
        maximum: error.maximum(),
        field: number_of(error.field()),
    }
}

fn number_of(field: &str) -> u32 {
    match field {
        "threshold" => NANOBREAKER_FIELD_THRESHOLD,
        "within_ms" => NANOBREAKER_FIELD_WITHIN_MS,
        "normal" => NANOBREAKER_FIELD_NORMAL_PPM,
        "broken" => NANOBREAKER_FIELD_BROKEN_PPM,
        "calls_per_false_trip" => NANOBREAKER_FIELD_CALLS_PER_FALSE_TRIP,
        "sustained_for_ms" => NANOBREAKER_FIELD_SUSTAINED_FOR_MS,
        "open_for_ms" => NANOBREAKER_FIELD_OPEN_FOR_MS,
        "max_open_ms" => NANOBREAKER_FIELD_MAX_OPEN_MS,
        "relapse_within_ms" => NANOBREAKER_FIELD_RELAPSE_WITHIN_MS,
        "max_probes" => NANOBREAKER_FIELD_MAX_PROBES,
        "probe_successes" => NANOBREAKER_FIELD_PROBE_SUCCESSES,
        "probe_failures" => NANOBREAKER_FIELD_PROBE_FAILURES,
        "probe_lease_ms" => NANOBREAKER_FIELD_PROBE_LEASE_MS,
        "ramp_ms" => NANOBREAKER_FIELD_RAMP_MS,
        "jitter_permille" => NANOBREAKER_FIELD_JITTER_PERMILLE,
        "latch" => NANOBREAKER_FIELD_LATCH,
        _ => NANOBREAKER_FIELD_UNKNOWN,
    }
}
