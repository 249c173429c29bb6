//! Why a guarded call was not made, and which breaker said so.
//!
//! A rejection is copied around and lies in the result of each call, so it holds no name: it holds where the
//! name stands, and since when. Nothing is counted, so rejecting writes to nothing that threads share.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use nanobreaker_core::window::Window;
use nanobreaker_core::{Breaker, Clock, ConfigError, Observer, Rejected};

use crate::identity::Identity;

/// A guarded call was not made: which phase rejected it, until when, and the name of its breaker.
///
/// Dereferences to [`Rejected`], which is also among its sources as an error. With the feature `tonic` there
/// is a `Status` among them, too: so it arrives at a caller of tonic's clients as UNAVAILABLE, with
/// `grpc-retry-pushback-ms`.
///
/// ```
/// use nanobreaker::{CallError, CallExt, ManualClock, SharedBreaker};
///
/// # let clock = ManualClock::new(0); // stands still, so that the wait below is exact
/// let payments = SharedBreaker::builder().name("payments")
/// #   .clock(clock)
///     .build()?;
/// payments.trip();
/// let Err(CallError::Rejected(rejection)) = payments.call(|| Ok::<_, std::io::Error>(())) else {
///     unreachable!("it is open");
/// };
/// assert_eq!(rejection.name().as_deref(), Some("payments"));
/// assert_eq!(rejection.retry_after_ms(), Some(500));
/// assert_eq!(rejection.to_string(), "the breaker payments is open; retry after 500 ms");
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Rejection {
    rejected: Rejected,
    /// The edition of `identity` that was there.
    edition: u32,
    identity: Option<&'static Identity>,
    /// The same for tonic, which looks for one of its own among the sources of an error; made when that is
    /// asked for.
    #[cfg(feature = "tonic")]
    status: std::sync::OnceLock<Box<tonic::Status>>,
}

impl Rejection {
    /// What `breaker` said.
    #[cold]
    pub(crate) fn by<W: Window, C: Clock, O: Observer>(
        breaker: &Breaker<W, C, O>,
        rejected: Rejected,
    ) -> Self {
        let identity = Identity::of(breaker);
        let edition = identity.map_or(0, Identity::edition);
        Self { edition, identity, ..Self::from(rejected) }
    }

    /// There is no breaker to ask, since its settings are outside of their limits.
    #[cfg(all(feature = "tower", feature = "registry"))]
    #[cold]
    pub(crate) fn of_settings(error: ConfigError) -> Self {
        static ISOLATED: std::sync::LazyLock<Rejected> = std::sync::LazyLock::new(|| {
            let breaker =
                crate::SharedBreaker::builder().build().expect("the defaults are within their limits");
            breaker.isolate();
            breaker.allow_token().expect_err("an isolated breaker lets no call pass")
        });
        Self { identity: Some(Identity::of_error(error)), ..Self::from(*ISOLATED) }
    }

    /// Which setting kept the breaker from being made, where that is why.
    pub fn refused_setting(&self) -> Option<ConfigError> {
        self.identity?.refused()
    }

    /// The name that the breaker was given. `None` where it has none, as breakers in a `static`, and where it
    /// has been dropped since.
    pub fn name(&self) -> Option<Arc<str>> {
        self.identity?.name(self.edition)
    }
}

/// Without a name.
impl From<Rejected> for Rejection {
    fn from(rejected: Rejected) -> Self {
        Self {
            rejected,
            edition: 0,
            identity: None,
            #[cfg(feature = "tonic")]
            status: std::sync::OnceLock::new(),
        }
    }
}

impl Deref for Rejection {
    type Target = Rejected;

    #[inline]
    fn deref(&self) -> &Rejected {
        &self.rejected
    }
}

impl PartialEq for Rejection {
    fn eq(&self, other: &Self) -> bool {
        let is_same_breaker = match (self.identity, other.identity) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_breaker && self.edition == other.edition && self.rejected == other.rejected
    }
}

impl Eq for Rejection {}

impl fmt::Debug for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejection").field("name", &self.name()).field("rejected", &self.rejected).finish()
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = self.refused_setting() {
            return write!(f, "there is no breaker to ask, since it can't be made: {error}");
        }
        let Some(name) = self.name() else {
            return self.rejected.fmt(f);
        };
        // A name may come from strangers, and this line goes to a log.
        write!(f, "the breaker {} is {}", name.escape_debug(), self.rejected.phase)?;
        match self.rejected.retry_after_ms() {
            Some(ms) => write!(f, "; retry after {ms} ms"),
            None => f.write_str(" until it is reset"),
        }
    }
}

impl std::error::Error for Rejection {
    #[cfg(not(feature = "tonic"))]
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.rejected)
    }

    #[cfg(feature = "tonic")]
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&**self.status.get_or_init(|| Box::new(crate::tonic::unavailable(self))))
    }
}
