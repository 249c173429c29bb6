//! Every number of the interface. What a function returns is not negative unless it was misused.

/// Done; for `nanobreaker_allow`: the call may be made.
pub const NANOBREAKER_OK: i32 = 0;
/// The call must not be made.
pub const NANOBREAKER_REJECTED: i32 = 1;

/// A pointer is null.
pub const NANOBREAKER_ERROR_NULL: i32 = -1;
/// A pointer is not aligned as its type asks.
pub const NANOBREAKER_ERROR_MISALIGNED: i32 = -2;
/// The memory is smaller than this kind of breaker.
pub const NANOBREAKER_ERROR_TOO_SMALL: i32 = -3;
/// The memory holds no breaker, or the settings no settings: neither was initialised, or it was
/// copied from where it was.
pub const NANOBREAKER_ERROR_NOT_INITIALISED: i32 = -4;
/// The memory holds a breaker already, or another thread is initialising it: see `nanobreaker_end`.
pub const NANOBREAKER_ERROR_IN_USE: i32 = -5;
/// This kind of window was left out when the library was built.
pub const NANOBREAKER_ERROR_NOT_BUILT: i32 = -6;
/// A setting is outside its limits: `nanobreaker_fault_t` tells which.
pub const NANOBREAKER_ERROR_SETTING: i32 = -7;
/// The number is no outcome.
pub const NANOBREAKER_ERROR_OUTCOME: i32 = -8;
/// The number is no token: the call was rejected.
pub const NANOBREAKER_ERROR_TOKEN: i32 = -9;
/// The number is no saved state: memory that was never written, or has lost bits.
pub const NANOBREAKER_ERROR_DAMAGED: i32 = -10;
/// The state was saved by a version of this library with another layout.
pub const NANOBREAKER_ERROR_VERSION: i32 = -11;

/// Calls pass and the window judges them.
pub const NANOBREAKER_PHASE_CLOSED: i32 = 1;
/// Calls are rejected until the open time is over.
pub const NANOBREAKER_PHASE_OPEN: i32 = 2;
/// A few probes pass and decide whether to close or to open again.
pub const NANOBREAKER_PHASE_HALF_OPEN: i32 = 3;
/// The probes succeeded; a growing share of the calls passes.
pub const NANOBREAKER_PHASE_RECOVERING: i32 = 4;
/// Held open until a reset.
pub const NANOBREAKER_PHASE_ISOLATED: i32 = 5;
/// All calls pass and none is judged, until a reset.
pub const NANOBREAKER_PHASE_DISABLED: i32 = 6;

/// The dependency did its work.
pub const NANOBREAKER_OUTCOME_SUCCESS: u32 = 1;
/// It did its work, but took longer than the caller accepts: a failure to these windows.
pub const NANOBREAKER_OUTCOME_SLOW: u32 = 2;
/// It failed.
pub const NANOBREAKER_OUTCOME_FAILURE: u32 = 3;
/// It failed, and took longer than the caller accepts: a timeout.
pub const NANOBREAKER_OUTCOME_SLOW_FAILURE: u32 = 4;
/// It answered in a way that says nothing about its health.
pub const NANOBREAKER_OUTCOME_IGNORED: u32 = 5;
/// The caller gave up before an answer came.
pub const NANOBREAKER_OUTCOME_CANCELLED: u32 = 6;

/// The outcome was judged.
pub const NANOBREAKER_RECORDED_COUNTED: i32 = 2;
/// The outcome is one that does not count, or belongs to a call that is not judged.
pub const NANOBREAKER_RECORDED_IGNORED: i32 = 3;
/// The token is from an earlier generation, or was spent before: nothing changed.
pub const NANOBREAKER_RECORDED_STALE: i32 = 4;

/// What a rejected call gets in place of a token.
pub const NANOBREAKER_NO_TOKEN: u32 = 0xFFFF_FFFF;
/// In place of milliseconds: no time ends it. Of a rejection: until a reset.
pub const NANOBREAKER_NEVER: u32 = 0xFFFF_FFFF;
/// In place of a setting's milliseconds: the same as `open_for_ms`.
pub const NANOBREAKER_SAME_AS_OPEN_FOR: u32 = 0x8000_0000;

/// The largest threshold of a breaker of failures, see `nanobreaker_init_failures`.
#[cfg(target_has_atomic = "64")]
pub const NANOBREAKER_MAX_THRESHOLD: usize = 64;
/// The largest threshold of a breaker of failures, see `nanobreaker_init_failures`.
#[cfg(not(target_has_atomic = "64"))]
pub const NANOBREAKER_MAX_THRESHOLD: usize = 16;

/// The alignment of every breaker, in bytes.
pub const NANOBREAKER_ALIGN: usize = 8;
/// The bytes of a breaker of failures, and of `nanobreaker_t`: enough for every kind.
#[cfg(target_has_atomic = "64")]
pub const NANOBREAKER_SIZE: usize = 608;
/// The bytes of a breaker of failures, and of `nanobreaker_t`: enough for every kind.
#[cfg(not(target_has_atomic = "64"))]
pub const NANOBREAKER_SIZE: usize = 128;
/// The bytes of a breaker of consecutive failures.
#[cfg(target_has_atomic = "64")]
pub const NANOBREAKER_CONSECUTIVE_SIZE: usize = 96;
/// The bytes of a breaker of consecutive failures.
#[cfg(not(target_has_atomic = "64"))]
pub const NANOBREAKER_CONSECUTIVE_SIZE: usize = 64;
/// The bytes of a breaker with a cumulative sum.
#[cfg(target_has_atomic = "64")]
pub const NANOBREAKER_CUSUM_SIZE: usize = 104;
/// The bytes of a breaker with a cumulative sum.
#[cfg(not(target_has_atomic = "64"))]
pub const NANOBREAKER_CUSUM_SIZE: usize = 72;

/// A setting that this version of the library has no number for.
pub const NANOBREAKER_FIELD_UNKNOWN: u32 = 0;
/// `threshold`
pub const NANOBREAKER_FIELD_THRESHOLD: u32 = 1;
/// `within_ms`
pub const NANOBREAKER_FIELD_WITHIN_MS: u32 = 2;
/// `normal_ppm`
pub const NANOBREAKER_FIELD_NORMAL_PPM: u32 = 3;
/// `broken_ppm`
pub const NANOBREAKER_FIELD_BROKEN_PPM: u32 = 4;
/// `calls_per_false_trip`
pub const NANOBREAKER_FIELD_CALLS_PER_FALSE_TRIP: u32 = 5;
/// `sustained_for_ms`
pub const NANOBREAKER_FIELD_SUSTAINED_FOR_MS: u32 = 6;
/// `open_for_ms`
pub const NANOBREAKER_FIELD_OPEN_FOR_MS: u32 = 7;
/// `max_open_ms`
pub const NANOBREAKER_FIELD_MAX_OPEN_MS: u32 = 8;
/// `relapse_within_ms`
pub const NANOBREAKER_FIELD_RELAPSE_WITHIN_MS: u32 = 9;
/// `max_probes`
pub const NANOBREAKER_FIELD_MAX_PROBES: u32 = 10;
/// `probe_successes`
pub const NANOBREAKER_FIELD_PROBE_SUCCESSES: u32 = 11;
/// `probe_failures`
pub const NANOBREAKER_FIELD_PROBE_FAILURES: u32 = 12;
/// `probe_lease_ms`
pub const NANOBREAKER_FIELD_PROBE_LEASE_MS: u32 = 13;
/// `ramp_ms`
pub const NANOBREAKER_FIELD_RAMP_MS: u32 = 14;
/// `jitter_permille`
pub const NANOBREAKER_FIELD_JITTER_PERMILLE: u32 = 15;
/// `latch`
pub const NANOBREAKER_FIELD_LATCH: u32 = 16;
