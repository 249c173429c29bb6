//! A rejection as an error of reqwest's middleware.

use std::convert::Infallible;

use reqwest_middleware::Error;

use nanobreaker_core::Rejected;

use crate::error::CallError;

/// As a `CallError`, whose source is the rejection: some middleware keeps only the sources of errors
/// that it wraps.
pub(super) fn refused(why: CallError<Infallible>) -> Error {
    Error::middleware(why)
}

/// Why the request was not made, if a breaker rejected it; also where other middleware wrapped that
/// error.
///
/// ```
/// # async fn get(client: reqwest_middleware::ClientWithMiddleware) {
/// use nanobreaker::reqwest::rejection;
///
/// match client.get("http://127.0.0.1/rates").send().await {
///     Ok(response) => println!("{}", response.status()),
///     Err(error) => match rejection(&error) {
///         Some(rejected) => println!("again in {:?}", rejected.retry_after()),
///         None => println!("{error:#}"),
///     },
/// }
/// # }
/// ```
pub fn rejection(error: &Error) -> Option<&Rejected> {
    match error {
        Error::Middleware(wrapped) => wrapped.chain().find_map(|source| source.downcast_ref()),
        Error::Reqwest(_) => None,
    }
}
