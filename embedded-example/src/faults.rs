//! What breaks when: the script that both runs play.

use crate::board;

/// How long a run lasts.
pub const RUN_MS: u32 = 60_000;

/// When the sensor does not acknowledge (a brown-out).
pub const SENSOR_ABSENT_MS: core::ops::Range<u32> = 10_000..18_000;
/// When the sensor hangs and holds the data line down. Nine clocks free it, but only once this is
/// over; without them it hangs for ever.
pub const SENSOR_STUCK_MS: core::ops::Range<u32> = 25_000..40_000;
/// When nobody answers the modem.
pub const RADIO_DOWN_MS: core::ops::Range<u32> = 45_000..52_000;

/// What a timeout on either bus burns of the loop's budget.
pub const TIMEOUT_US: u32 = 25_000;

/// Milliseconds into the script: a run begins when the board's timer is started.
pub fn elapsed_ms() -> u32 {
    board::uptime_us() / 1_000
}

/// Whether the modem's peer is gone.
pub fn radio_is_down() -> bool {
    RADIO_DOWN_MS.contains(&elapsed_ms())
}
