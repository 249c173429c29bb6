//! For how long an answer asks to be left alone: HTTP's `Retry-After`, and gRPC's pushback.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, header};

/// `Retry-After` of an answer with status 429 or 5xx. `None` where there is none, and where that time is over.
pub(crate) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let asks = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let wait = asks.then(|| parse(headers, SystemTime::now())).flatten();
    wait.filter(|wait| !wait.is_zero())
}

/// gRPC's `grpc-retry-pushback-ms`, from headers or trailers. A negative number asks not to be called again,
/// and names no time.
#[cfg(feature = "tower-http")]
pub(crate) fn pushback(headers: &HeaderMap) -> Option<Duration> {
    let ms = headers.get("grpc-retry-pushback-ms")?.to_str().ok()?;
    let wait = Duration::from_millis(ms.trim().parse().ok()?);
    (!wait.is_zero()).then_some(wait)
}

/// Either whole seconds or a date, in any of the three forms of RFC 9110, 5.6.7.
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
    fn retry_after_is_seconds_or_a_date_in_any_form() {
        assert_eq!(parsed("120"), Some(Duration::from_secs(120)));
        for date in
            ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994"]
        {
            assert_eq!(parsed(date), Some(Duration::from_secs(60)), "{date}");
        }
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

    #[test]
    fn only_answers_that_say_not_now_are_asked() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, "7".parse().unwrap());
        for status in [429, 500, 503] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(retry_after(status, &headers), Some(Duration::from_secs(7)));
        }
        for status in [200, 301, 404] {
            assert_eq!(retry_after(StatusCode::from_u16(status).unwrap(), &headers), None);
        }
    }

    #[cfg(feature = "tower-http")]
    #[test]
    fn pushback_is_milliseconds_and_a_negative_one_names_no_time() {
        let pushed = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-retry-pushback-ms", value.parse().unwrap());
            pushback(&headers)
        };
        assert_eq!(pushed("1500"), Some(Duration::from_millis(1_500)));
        for value in ["-1", "0", "soon"] {
            assert_eq!(pushed(value), None, "{value}");
        }
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
