//! What the result of a request says about the host's health.

use http::StatusCode;
use reqwest::Response;
use reqwest_middleware::{Error, Result};

use nanobreaker_core::Outcome;

use super::rejection::rejection;

/// As the table in this module's documentation says.
pub(super) fn by_table(result: &Result<Response>) -> Outcome {
    judged(result, &by_status)
}

/// The same with the statuses that the settings of a file name.
#[cfg(feature = "settings")]
pub(super) fn by_statuses(statuses: &nanobreaker_settings::Statuses, result: &Result<Response>) -> Outcome {
    judged(result, &|status| statuses.of_http(status.as_u16(), by_status(status)))
}

fn judged(result: &Result<Response>, by_status: &dyn Fn(StatusCode) -> Outcome) -> Outcome {
    match result {
        Ok(response) => by_status(response.status()),
        Err(error) => by_error(error, by_status),
    }
}

/// The same for a client without middleware: a classifier of reqwest's own results.
///
/// ```
/// use nanobreaker::{CallExt, SharedBreaker, reqwest::classify};
///
/// # async fn get(rates: SharedBreaker, client: reqwest::Client) {
/// let response = rates.calls().classify(classify).call_async(client.get("http://127.0.0.1/rates").send()).await;
/// # drop(response);
/// # }
/// ```
pub fn classify(result: &std::result::Result<Response, reqwest::Error>) -> Outcome {
    match result {
        Ok(response) => by_status(response.status()),
        Err(error) => by_reqwest_error(error, &by_status),
    }
}

fn by_status(status: StatusCode) -> Outcome {
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Outcome::Failure,
        status if status.is_server_error() => Outcome::Failure,
        _ => Outcome::Success,
    }
}

fn by_error(error: &Error, by_status: &dyn Fn(StatusCode) -> Outcome) -> Outcome {
    match error {
        Error::Reqwest(error) => by_reqwest_error(error, by_status),
        Error::Middleware(_) if rejection(error).is_some() => Outcome::Ignored,
        // Retries wrap the error of the last attempt in their own.
        Error::Middleware(wrapped) => {
            let last = wrapped.chain().find_map(|source| source.downcast_ref());
            last.map_or(Outcome::Failure, |error| by_error(error, by_status))
        }
    }
}

fn by_reqwest_error(error: &reqwest::Error, by_status: &dyn Fn(StatusCode) -> Outcome) -> Outcome {
    if error.is_builder() || error.is_redirect() {
        Outcome::Ignored
    } else {
        error.status().map_or(Outcome::Failure, by_status)
    }
}
