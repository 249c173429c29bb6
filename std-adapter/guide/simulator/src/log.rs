//! The scene's calls as a log, for `nanobreaker replay`.

use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::traffic::Traffic;

/// When a scene begins, in milliseconds since 1970: at the start of 2026, UTC. Windows over a time slide in steps
/// of the clock, so the log's clock must be the scene's.
pub const EPOCH_MS: u64 = 1_767_225_600_000;

/// The first line.
pub const HEADER: &str = "ts,duration_us,ok\n";

/// The most calls that one log may have, on average: a browser keeps it whole.
const MOST_CALLS: u64 = 5_000_000;

/// Writes a scene's log, a part at a time.
#[derive(Clone, Debug)]
pub struct Log {
    traffic: Traffic,
    has_begun: bool,
}

impl Log {
    /// The log of `scene`.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where it would be too long.
    pub fn of(scene: &Scene) -> Result<Self, Refusal> {
        let calls = u64::from(scene.numbers.rate) * u64::from(scene.numbers.length_s);
        if calls > MOST_CALLS {
            let why = format!("the log would have {calls} calls, but must have at most {MOST_CALLS}");
            return Err(Refusal::new("rate", why));
        }
        Ok(Self { traffic: Traffic::of(scene), has_begun: false })
    }

    /// The next lines, at most so many; none at the end.
    pub fn next_lines(&mut self, most: usize) -> String {
        let mut text = String::new();
        if !self.has_begun {
            self.has_begun = true;
            text.push_str(HEADER);
        }
        for call in self.traffic.by_ref().take(most) {
            let at_us = EPOCH_MS * 1_000 + call.start_us;
            // Into a string, which takes everything.
            let _ = writeln!(text, "{at_us},{},{}", call.duration_us, !call.fails);
        }
        text
    }
}
