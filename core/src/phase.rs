//! The phases that a breaker can be in, and why it goes from one to another.

/// An enum whose variants have names, and numbers if need be: the one place where they stand.
macro_rules! named {
    ($(#[$about:meta])* pub enum $enum:ident {
        $($(#[$meaning:meta])* $variant:ident $(= $number:literal)?: $name:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $enum {
            $($(#[$meaning])* #[cfg_attr(feature = "serde", serde(rename = $name))] $variant $(= $number)?,)*
        }

        impl $enum {
            /// The name in lower case with underscores, as displayed, for logs and labels.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl core::fmt::Display for $enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// Where a breaker stands.
    ///
    /// Displayed in lower case with underscores: `closed`, `open`, `half_open`, `recovering`,
    /// `isolated`, `disabled`.
    ///
    /// ```
    /// use nanobreaker_core::Phase;
    /// assert_eq!(Phase::HalfOpen.to_string(), "half_open");
    /// ```
    // The numbers are those of the state word, so that small chips need no table.
    pub enum Phase {
        /// Calls pass and the window judges them.
        Closed = 0: "closed",
        /// Calls are rejected until the open time is over.
        Open = 5: "open",
        /// A few probes pass and decide whether to close or to open again.
        HalfOpen = 4: "half_open",
        /// The probes succeeded; a growing share of the calls passes, and the window judges them.
        Recovering = 1: "recovering",
        /// Held open by an operator, or by a latch after a trip, until someone resets it.
        Isolated = 2: "isolated",
        /// An operator lets all calls pass; nothing is judged.
        Disabled = 3: "disabled",
    }
}

named! {
    /// Why a breaker changed its phase.
    #[non_exhaustive]
    pub enum Cause {
        /// The window's threshold was reached.
        ThresholdReached: "threshold_reached",
        /// The threshold of the window for slow calls was reached.
        SlowThresholdReached: "slow_threshold_reached",
        /// [`trip`](crate::Breaker::trip) or [`trip_for_ms`](crate::Breaker::trip_for_ms) was called.
        TripRequested: "trip_requested",
        /// Others advised to stop: [`advise_ms`](crate::Breaker::advise_ms) was called.
        Advised: "advised",
        /// The open time was over when a call came.
        OpenTimeOver: "open_time_over",
        /// Enough probes succeeded.
        ProbesSucceeded: "probes_succeeded",
        /// Enough probes failed, or too many in a row were given up.
        ProbesFailed: "probes_failed",
        /// No probe answered during a whole lease.
        ProbesLost: "probes_lost",
        /// The ramp was over when a call came.
        RampOver: "ramp_over",
        /// An operator holds the breaker open.
        Isolated: "isolated",
        /// An operator lets all calls pass.
        Disabled: "disabled",
        /// An operator declared the dependency repaired.
        Reset: "reset",
        /// A saved state was restored.
        Restored: "restored",
    }
}
