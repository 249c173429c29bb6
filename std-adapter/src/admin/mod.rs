//! A page and an interface for operators: what each breaker does, and a hand on its switches.
//!
//! | request | answer |
//! | ------- | ------ |
//! | `GET /` | the page, which updates by itself |
//! | `GET /api/breakers` | every breaker: phase, counts, configuration, recent transitions |
//! | `POST /api/change` | `{"breaker": "payments", "action": "isolate"}`; needs the token as `Authorization: Bearer …` |
//! | `POST /api/order` | `{"breaker": "payments", "action": "isolate", "seconds": 1800, "reason": "on call"}`, for all of the fleet; needs the token, too |
//!
//! Actions: `isolate`, `disable`, `reset`, `trip`, `shadow` and `end_shadow`; of a fleet's orders `isolate`,
//! `disable`, `shadow` and `withdraw`.

mod api;
#[cfg(feature = "fleet")]
mod fleet;
mod page;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

#[cfg(feature = "fleet")]
use crate::fleet::Fleet;
use crate::observe::Monitor;
use token::Token;

/// The longest request to change something, in bytes.
const MAX_BODY: usize = 4_096;

/// Builds the operators' router, to be mounted anywhere.
///
/// Mounted by `nest_service` its page is at `/breakers` and at `/breakers/`; by `nest`, only without
/// the slash at the end; by `merge`, at `/`.
///
/// It shows what `monitor` watches. Who can reach it can read it: mount it where only operators
/// come, or behind your own authentication. Changing anything is off unless allowed, and needs a
/// token, which is compared in constant time.
///
/// ```
/// use axum::Router;
/// use nanobreaker::admin::Admin;
/// use nanobreaker::observe::Monitor;
///
/// let monitor = Monitor::new();
/// let token = "a-long-secret-from-the-environment";
/// let admin = Admin::new(&monitor).allow_changes().token(token).build()?;
/// let app: Router = Router::new().nest_service("/breakers", admin.with_state(()));
///
/// // Nobody gets to change anything because a variable was not set.
/// assert!(Admin::new(&monitor).allow_changes().build::<()>().is_err());
/// # Ok::<(), nanobreaker::admin::AdminError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "call build() to get the router"]
pub struct Admin {
    monitor: Monitor,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    allows_changes: bool,
    token: Option<Token>,
}

/// Why there is no router.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// Changes are allowed, but by nobody in particular.
    #[error("changes are allowed, but there is no token: set one with Admin::token")]
    NoToken,
    /// The token could be guessed.
    #[error("the token has {length} bytes, but must have at least {minimum}")]
    ShortToken {
        /// Its length, in bytes.
        length: usize,
        /// The least length.
        minimum: usize,
    },
    /// The token can't be sent in a header.
    #[error("the token holds characters other than visible ASCII")]
    UnsendableToken,
}

/// What handlers share.
struct Shared {
    monitor: Monitor,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    /// Whose bearer may change something; `None` where nobody may.
    token: Option<Token>,
}

impl Admin {
    /// Shows what `monitor` watches, and lets nobody change anything.
    pub fn new(monitor: &Monitor) -> Self {
        Self {
            monitor: monitor.clone(),
            #[cfg(feature = "fleet")]
            fleet: None,
            allows_changes: false,
            token: None,
        }
    }

    /// Shows this fleet, too: whether it is together, and what it found and ordered. Where changes are allowed
    /// and [`allow_orders`](crate::fleet::FleetBuilder::allow_orders) was set, it gives orders as well.
    #[cfg(feature = "fleet")]
    pub fn fleet(mut self, fleet: &Fleet) -> Self {
        self.fleet = Some(fleet.clone());
        self
    }

    /// Lets whoever has the token change breakers.
    pub fn allow_changes(mut self) -> Self {
        self.allows_changes = true;
        self
    }

    /// The token: at least 16 bytes of visible ASCII, best from a random generator.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Token::new(token.into()));
        self
    }

    /// The router.
    ///
    /// # Errors
    ///
    /// An [`AdminError`] where changes are allowed without a token, or with one that could be
    /// guessed.
    pub fn build<S: Clone + Send + Sync + 'static>(self) -> Result<Router<S>, AdminError> {
        if let Some(token) = &self.token {
            token.check()?;
        }
        let token = match (self.allows_changes, self.token) {
            (true, None) => return Err(AdminError::NoToken),
            (true, token) => token,
            (false, _) => None,
        };
        let shared = Arc::new(Shared {
            monitor: self.monitor,
            #[cfg(feature = "fleet")]
            fleet: self.fleet,
            token,
        });
        let router = Router::new();
        #[cfg(feature = "fleet")]
        let router = router.route("/api/order", post(fleet::order));
        Ok(router
            .route("/", get(page::page))
            .route("/api/breakers", get(api::breakers))
            .route("/api/change", post(api::change))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared))
    }
}

#[cfg(test)]
mod tests;
