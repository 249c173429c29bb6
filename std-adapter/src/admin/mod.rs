//! A page and an interface for operators: what each breaker does, and a hand on its switches.
//!
//! | request | answer |
//! | ------- | ------ |
//! | `GET /` | the page, which updates by itself |
//! | `GET /api/breakers?filter=pay&page=1` | the breakers of one page, those that reject calls first: phase, counts, settings, recent transitions |
//! | `POST /api/change` | `{"breaker": "payments", "action": "isolate", "reason": "planned work"}` for one breaker |
//! | `POST /api/order` | `{"breaker": "payments", "action": "isolate", "seconds": 1800, "reason": "on call"}`, for all of the fleet |
//!
//! Actions: `isolate`, `disable`, `reset`, `trip`, `shadow` and `end_shadow`; of a fleet's orders `isolate`,
//! `disable`, `shadow` and `withdraw`. A reason is kept with the transition, shown, and part of its event.
//!
//! The token comes in the header `nanobreaker-token`, so that `Authorization` is free for a proxy's password;
//! `Authorization: Bearer …` will do as well.
//!
//! Each breaker comes with its `version`. A request that sends those it has, with commas between them, in
//! the header `nanobreaker-known` gets only what has changed.

mod api;
#[cfg(feature = "fleet")]
mod fleet;
mod guard;
mod list;
mod page;
mod token;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};

#[cfg(feature = "fleet")]
use crate::fleet::Fleet;
use crate::observe::Monitor;
use guard::Hosts;
use token::Token;

/// The longest request to change something, in bytes.
const MAX_BODY: usize = 4_096;

/// Builds the operators' router, to be mounted anywhere.
///
/// Mounted by `nest_service` its page is at `/breakers` and at `/breakers/`; by `nest`, only without
/// the slash at the end; by `merge`, at `/`.
///
/// It shows what `monitor` watches. Who can reach it can read it, unless there is a
/// [`read_token`](Self::read_token): mount it where only operators come, or behind your own
/// authentication. Changing anything is off unless allowed, and needs the [`token`](Self::token). Tokens are
/// compared in constant time.
///
/// It answers by address, as `localhost`, and by the names that [`host`](Self::host) is told, and to nobody
/// else: a stranger's page can't have its visitors' browsers ask here.
///
/// ```
/// use axum::Router;
/// use nanobreaker::admin::Admin;
/// use nanobreaker::observe::Monitor;
///
/// let monitor = Monitor::new();
/// let token = "a-long-secret-from-the-environment";
/// let admin = Admin::new(&monitor).host("ops.example.com").allow_changes().token(token).build()?;
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
    hosts: Hosts,
    allows_changes: bool,
    token: Option<Token>,
    read_token: Option<Token>,
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
    /// Whoever may look may change, too.
    #[error("the token to read is the token to change: set two that differ, or only the second")]
    SameToken,
    /// No request can have such a host.
    #[error(
        "host: {host:?} is no host's name; give it without scheme, port and path, such as ops.example.com"
    )]
    Host {
        /// What it is.
        host: String,
    },
}

/// What handlers share.
struct Shared {
    monitor: Monitor,
    #[cfg(feature = "fleet")]
    fleet: Option<Fleet>,
    hosts: Hosts,
    /// Whose bearer may change something; `None` where nobody may.
    token: Option<Token>,
    /// Whose bearer may look, beside who may change something; `None` where everybody may.
    read_token: Option<Token>,
}

impl Shared {
    fn lets_read(&self, headers: &HeaderMap) -> bool {
        let Some(read_token) = &self.read_token else {
            return true;
        };
        let mut tokens = [Some(read_token), self.token.as_ref()].into_iter().flatten();
        tokens.any(|token| token.is_borne_by(headers))
    }
}

fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(serde_json::json!({ "error": message }))).into_response()
}

impl Admin {
    /// Shows what `monitor` watches, and lets nobody change anything.
    pub fn new(monitor: &Monitor) -> Self {
        Self {
            monitor: monitor.clone(),
            #[cfg(feature = "fleet")]
            fleet: None,
            hosts: Hosts::default(),
            allows_changes: false,
            token: None,
            read_token: None,
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

    /// Answers as `host`, too: a name without scheme, port and path, in any case. May be called again.
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.add(host);
        self
    }

    /// The token to look at breakers, for those who may not change them; without it, everybody may look.
    /// Its characters are as those of [`token`](Self::token), which is another one, and lets look as well.
    /// The page itself is served to everybody, since it holds nothing.
    pub fn read_token(mut self, token: impl Into<String>) -> Self {
        self.read_token = Some(Token::new(token.into()));
        self
    }

    /// The token to change breakers: at least 16 bytes of visible ASCII, best from a random generator.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Token::new(token.into()));
        self
    }

    /// The router.
    ///
    /// # Errors
    ///
    /// An [`AdminError`] where changes are allowed without a token, where a token could be guessed or is both
    /// tokens, and where a host is no name.
    pub fn build<S: Clone + Send + Sync + 'static>(self) -> Result<Router<S>, AdminError> {
        for token in [&self.token, &self.read_token].into_iter().flatten() {
            token.check()?;
        }
        if self.token.is_some() && self.token == self.read_token {
            return Err(AdminError::SameToken);
        }
        self.hosts.check()?;
        let token = match (self.allows_changes, self.token) {
            (true, None) => return Err(AdminError::NoToken),
            (true, token) => token,
            (false, _) => None,
        };
        let shared = Arc::new(Shared {
            monitor: self.monitor,
            #[cfg(feature = "fleet")]
            fleet: self.fleet,
            hosts: self.hosts,
            token,
            read_token: self.read_token,
        });
        let router = Router::new();
        #[cfg(feature = "fleet")]
        let router = router.route("/api/order", post(fleet::order));
        Ok(router
            .route("/", get(page::page))
            .route("/api/breakers", get(list::breakers))
            .route("/api/change", post(api::change))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(from_fn_with_state(Arc::clone(&shared), guard::guard))
            .with_state(shared))
    }
}

#[cfg(test)]
mod tests;
