//! The secret that lets operators change breakers.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use crate::admin::AdminError;

/// The least length, in bytes.
const MIN_LENGTH: usize = 16;

#[derive(Clone)]
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
        let Some(value) = headers.get(AUTHORIZATION) else {
            return false;
        };
        // The scheme's name is no secret, and in any case.
        let value = value.as_bytes();
        match value.split_at_checked("Bearer ".len()) {
            Some((scheme, borne)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
                self.0.as_bytes().ct_eq(borne).into()
            }
            _ => false,
        }
    }
}

/// Shows nothing of it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
