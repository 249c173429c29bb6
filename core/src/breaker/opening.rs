//! Opens, with the backoff's streak and less jitter.

use crate::breaker::Step;
use crate::breaker::timing::span_of;
use crate::state::{Code, Left, State};
use crate::sync::Ordering;
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Phase};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// Opens, since the window of `state` says trip or its probes failed: for the backoff's time less jitter,
    /// or for good where the latch holds it.
    // On small chips once, as in `timing`.
    #[cfg_attr(not(target_has_atomic = "64"), inline(never))]
    pub(super) fn fail(&self, state: State, cause: Cause, config: &Config) -> Step {
        if config.latch() {
            return self.step(state, state.entered(Code::ISOLATED), Some(cause), None, config);
        }
        let open = self.opened(state, Code::OPEN, config);
        match config.jitter() {
            0 => self.begin(state, open, Some(cause), config),
            most => {
                let ms = self.jittered(span_of(open, config).ms(), most);
                self.step(state, open, Some(cause), Some(ms), config)
            }
        }
    }

    /// What `state` becomes when it opens, as `code` says. Advice leaves the streak alone. One that is closed
    /// begins anew, unless the dependency did not stay healthy since it was open last.
    pub(super) fn opened(&self, state: State, code: Code, config: &Config) -> State {
        let streak = match state.phase() {
            _ if code == Code::OPEN_ADVISED => state.streak(),
            Phase::Closed if !state.flag() || self.left(state, config) == Left::Due => 0,
            _ => state.streak() + 1,
        };
        state.with_streak(streak).entered(code)
    }

    /// `ms` less a random part of at most the jitter `most`; never below 1.
    fn jittered(&self, ms: u32, most: u32) -> u32 {
        // Relaxed: any value that was ever there will do.
        let seed = self.sequence.load(Ordering::Relaxed) as u32;
        let random = (mixed(seed ^ self.clock.now_ms() as u32) >> 16) as u16;
        let part = part_of(most, random) as u16;
        ms.saturating_sub(part_of(ms, part)).max(1)
    }
}

/// `value` × `fraction` / 2¹⁶, rounded down, without a product of 64 bits, which small chips lack.
pub(super) const fn part_of(value: u32, fraction: u16) -> u32 {
    let (high, low) = (value >> 16, value & 0xFFFF);
    high * fraction as u32 + ((low * fraction as u32) >> 16)
}

/// Spreads the bits of a number: the finalizer of MurmurHash3 (Appleby, public domain).
const fn mixed(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}
