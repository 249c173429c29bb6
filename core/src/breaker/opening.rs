//! For how long a breaker opens.

use crate::breaker::Move;
use crate::breaker::timing::Now;
use crate::state::{Code, Opening, Span, State};
use crate::sync::Ordering;
use crate::window::Window;
use crate::{Breaker, Cause, Clock, Config, Observer, Phase};

impl<W: Window, C: Clock, O: Observer> Breaker<W, C, O> {
    /// What `state` becomes when its window says trip or its probes failed: open for the backoff's
    /// time less jitter, or held by the latch.
    pub(super) fn tripped(&self, state: State, now: &Now, cause: Cause, config: &Config) -> Move {
        self.opened(state, now, cause, config, |streak| {
            let span = config.open_span(streak);
            Opening {
                retry_at: span.deadline(now.ms, self.jittered(span.ms(), now, config)),
                ..Opening::BY_STREAK
            }
        })
    }

    /// What `state` becomes when it opens as `opening` makes of the streak, or held by the latch.
    pub(super) fn opened(
        &self,
        state: State,
        now: &Now,
        cause: Cause,
        config: &Config,
        opening: impl FnOnce(u8) -> Opening,
    ) -> Move {
        if config.latch() {
            return Move::to(state.isolated()).because(cause);
        }
        let stayed_closed = state.phase() == Phase::Closed
            && state.flag()
            && self.elapsed(state, now, config.relapse()) > config.relapse_within_ms();
        let streak = state.streak_after_trip(stayed_closed);
        Move::opened(state.with_streak(streak), opening(streak), now).because(cause)
    }

    /// `ms` less a random part of at most the configured jitter; never below 1.
    fn jittered(&self, ms: u32, now: &Now, config: &Config) -> u32 {
        let most = config.jitter();
        if most == 0 {
            return ms;
        }
        // Relaxed: any value that was ever there will do.
        let seed = self.sequence.load(Ordering::Relaxed) as u32;
        let random = (mixed(seed ^ now.ms as u32) >> 16) as u16;
        let part = part_of(most, random) as u16;
        ms.saturating_sub(part_of(ms, part)).max(1)
    }
}

/// The span that bounds the time of `state`, in whose unit it is counted.
pub(super) fn span_of(state: State, config: &Config) -> Span {
    match state.kind() {
        Code::Open => config.open_span(state.streak()),
        Code::OpenAsked => config.asked_span(),
        Code::OpenAdvised => config.advised_span(),
        Code::HalfOpen => config.lease(),
        Code::Recovering => config.ramp(),
        Code::Closed | Code::Isolated | Code::Disabled => config.relapse(),
    }
}

/// The longest that a breaker may be open by request or by advice.
pub(super) const fn longest(kind: Code, config: &Config) -> Span {
    if matches!(kind, Code::OpenAdvised) { config.advised_span() } else { config.asked_span() }
}

/// Open for `ms` from `now`, by request or by advice.
pub(super) fn open_for(ms: u32, now: &Now, kind: Code, config: &Config) -> Opening {
    Opening { retry_at: longest(kind, config).deadline(now.ms, ms), kind, again: false }
}

/// `value` × `fraction` / 2¹⁶, rounded down, without a product of 64 bits, which small chips lack.
pub(super) const fn part_of(value: u32, fraction: u16) -> u32 {
    let (high, low) = (value >> 16, value & 0xFFFF);
    high * fraction as u32 + ((low * fraction as u32) >> 16)
}

/// Spreads the bits of `value`: the finalizer of MurmurHash3 (Appleby, public domain).
const fn mixed(value: u32) -> u32 {
    let mut hash = value;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}
