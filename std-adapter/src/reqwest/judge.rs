//! What the result of a request says about the host's health, and when the host wants to be asked
//! again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, header};
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

/// How long the host asks to be left alone. `None` where it doesn't, and where that is over.
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let status = response.status();
    let asks = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let wait = asks.then(|| parse(response.headers(), SystemTime::now())).flatten();
    wait.filter(|wait| !wait.is_zero())
}

/// Either whole seconds or a date.
fn parse(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty() {
        // So many digits that they don't fit ask for the longest time there is.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    httpdate::parse_http_date(value).ok()?.duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 1994-11-06 08:49:37 UTC.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn parsed(value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, value.parse().unwrap());
        parse(&headers, now())
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(parsed("120"), Some(Duration::from_secs(120)));
        assert_eq!(parsed("Sun, 06 Nov 1994 08:50:37 GMT"), Some(Duration::from_secs(60)));
    }

    #[test]
    fn a_date_in_the_past_and_a_value_of_no_kind_ask_for_nothing() {
        for value in ["Sun, 06 Nov 1994 08:00:00 GMT", "soon", "", "-1", "1.5"] {
            assert_eq!(parsed(value), None, "{value:?}");
        }
    }

    #[test]
    fn seconds_beyond_any_number_ask_for_the_longest_time() {
        let value = "9".repeat(40);
        assert_eq!(parsed(&value), Some(Duration::from_secs(u64::MAX)));
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(value) = http::HeaderValue::from_bytes(&bytes) {
                let mut headers = HeaderMap::new();
                headers.insert(header::RETRY_AFTER, value);
                let _ = parse(&headers, now());
            }
        }
    }
}
