//! The right to make one call, as plain data.

/// How a call's outcome is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By the window.
    Counted,
    /// By the half-open round that admitted it.
    Probe,
    /// Not at all.
    Uncounted,
}

/// The right to make one call, as plain data.
///
/// For interrupts, C-like code and state machines that can't hold a guard. It is `Copy`, so nothing
/// stops code from losing it or spending it twice: a lost probe holds its place until the round's
/// lease ends, and a second outcome is refused where that can be known (always once the round is
/// over or no probe is in flight). Nor does a token know its breaker: the outcome of another breaker's
/// token counts here, if their generations happen to be the same. Prefer
/// [`Permit`](crate::Permit) where you can; it can be neither mistaken nor spent twice.
///
/// One word: the generation below, how the outcome is judged above it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a token must be recorded, or its place is lost until the lease ends"]
pub struct Token(u32);

const KIND: u32 = 16;

impl Token {
    #[inline]
    pub(crate) const fn new(generation: u16, kind: Kind) -> Self {
        Self(generation as u32 | (kind as u32) << KIND)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        match self.0 >> KIND {
            0 => Kind::Counted,
            1 => Kind::Probe,
            _ => Kind::Uncounted,
        }
    }

    /// The generation in which the call was admitted.
    #[inline]
    pub const fn generation(self) -> u16 {
        self.0 as u16
    }

    /// Whether this call is a probe of a half-open breaker.
    #[inline]
    pub const fn is_probe(self) -> bool {
        matches!(self.kind(), Kind::Probe)
    }

    /// The token as an integer, for code that can hold nothing else.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The token that [`to_bits`](Self::to_bits) made. Any other integer makes a token whose outcome
    /// is stale or not counted, or counts for a call that nobody made.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl core::fmt::Debug for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Token").field("generation", &self.generation()).field("kind", &self.kind()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_from_its_bits() {
        for kind in [Kind::Counted, Kind::Probe, Kind::Uncounted] {
            for generation in [0, 1, 255, u16::MAX] {
                let token = Token::from_bits(Token::new(generation, kind).to_bits());
                assert_eq!((token.generation(), token.kind()), (generation, kind));
            }
        }
    }
}
