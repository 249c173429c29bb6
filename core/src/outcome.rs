//! How a call ended, and what became of that news.

/// How a call ended.
///
/// | outcome | in the window | as a probe |
/// | ------- | ------------- | ---------- |
/// | [`Success`](Self::Success) | good | counts towards closing |
/// | [`Slow`](Self::Slow) | bad for a window of slow calls, else a failure | counts towards reopening |
/// | [`Failure`](Self::Failure) | bad | counts towards reopening |
/// | [`SlowFailure`](Self::SlowFailure) | bad, for a window of slow calls too | counts towards reopening |
/// | [`Ignored`](Self::Ignored) | not counted | gives its place back, and shows that an answer came |
/// | [`Cancelled`](Self::Cancelled) | not counted | gives its place back, a few times in a row |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Outcome {
    /// The dependency did its work.
    Success,
    /// It did its work, but took longer than the caller accepts.
    ///
    /// A window with a rate of slow calls ([`WithSlow`](crate::window::WithSlow)) judges it there
    /// and as a success among the failures; every other window takes it for a failure.
    Slow,
    /// It failed.
    Failure,
    /// It failed, and took longer than the caller accepts: a timeout.
    ///
    /// A failure to every window, and to a window of slow calls a slow call as well.
    SlowFailure,
    /// It answered in a way that says nothing about its health: "not found", a validation error.
    Ignored,
    /// The caller gave up before an answer came. What a dropped permit records.
    ///
    /// Where every probe is given up, the dependency hangs: after 8 in a row without an answer in
    /// between (4 where words are 32 bits wide) a half-open breaker opens again.
    Cancelled,
}

impl Outcome {
    /// Whether it says anything about the dependency's health.
    pub(crate) const fn counts(self) -> bool {
        !matches!(self, Self::Ignored | Self::Cancelled)
    }
}

/// What [`record`](crate::Breaker::record) did with an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Recorded {
    /// It was judged.
    Counted,
    /// It is one that does not count, or belongs to a call that is not judged (while disabled, or
    /// one that passed only because the breaker is in shadow).
    Ignored,
    /// Its permit is from an earlier generation, or was spent before: nothing changed.
    Stale,
}
