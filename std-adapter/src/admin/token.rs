//! The secrets that let operators look and change.

use std::fmt;

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::{AdminError, refusal};

/// The least length, in bytes.
const MIN_LENGTH: usize = 16;

/// Its own header, since that of `Authorization` may be a proxy's. The page sends it with every request.
const TOKEN: HeaderName = HeaderName::from_static("nanobreaker-token");

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Token(String);

impl Token {
    pub(super) const fn new(token: String) -> Self {
        Self(token)
    }

    pub(super) fn check(&self) -> Result<(), AdminError> {
        if self.0.len() < MIN_LENGTH {
            Err(AdminError::ShortToken { length: self.0.len(), minimum: MIN_LENGTH })
        } else if !self.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            Err(AdminError::UnsendableToken)
        } else {
            Ok(())
        }
    }

    /// Whether the request bears this token. The time that it takes tells nothing about it but its
    /// length.
    pub(super) fn is_borne_by(&self, headers: &HeaderMap) -> bool {
        borne(headers).is_some_and(|borne| self.0.as_bytes().ct_eq(borne).into())
    }
}

fn borne(headers: &HeaderMap) -> Option<&[u8]> {
    if let Some(value) = headers.get(TOKEN) {
        return Some(value.as_bytes());
    }
    // The scheme's name is no secret, and in any case.
    let (scheme, borne) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(borne)
}

/// The answer to who bears no token that will do.
pub(super) fn unauthorized(headers: &HeaderMap) -> Response {
    let message = "the token is missing or wrong";
    // 401 asks for another `Authorization`: behind a proxy that asks for a password, a browser would take
    // that one for refused.
    if headers.contains_key(TOKEN) {
        return refusal(StatusCode::FORBIDDEN, message);
    }
    ([(WWW_AUTHENTICATE, "Bearer")], refusal(StatusCode::UNAUTHORIZED, message)).into_response()
}

/// Shows nothing of it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
