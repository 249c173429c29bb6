//! Judges HTTP and gRPC calls by the statuses that a file names.

use http::{Response, StatusCode};
use tower_http::classify::{GrpcErrorsAsFailures, SharedClassifier};

use nanobreaker_core::Outcome;
use nanobreaker_settings::Statuses;
use nanobreaker_settings::grpc::FAILURES;

use super::answer::Terms;
use super::grpc::{Ignored, failing};
use super::head::judges_by_status;
use super::{BreakerLayer, ByHead, ByHttp, ServerErrors};
use crate::call::Classifier;
use crate::identity::{self, Identity};

// A status that the settings name is what they say; where they name no failures of HTTP, 5xx are failures. Errors
// are judged as by `ServerErrors`.
judges_by_status!(Statuses, by_status);

fn by_status(statuses: &Statuses, status: StatusCode) -> Outcome {
    statuses.of_http(status.as_u16(), ServerErrors.by_status(status))
}

impl<B> BreakerLayer<B, ByHead<Statuses>> {
    /// A layer for HTTP services as [`http`](Self::http) is, judged by the statuses that the settings of a file name.
    ///
    /// ```
    /// use nanobreaker::{PartialSettings, SharedBreaker, tower::BreakerLayer};
    ///
    /// let file: PartialSettings = toml::from_str("failure_status = ['5xx', 429]\nignore_status = [404]")?;
    /// let breaker = SharedBreaker::builder().settings(&file)?.build()?;
    /// let layer = BreakerLayer::http_by(breaker, file.statuses());
    /// # drop(layer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn http_by(breaker: B, statuses: Statuses) -> Self {
        Self { breaker, judge: ByHead::new(statuses, Terms::USUAL) }
    }
}

impl<B> BreakerLayer<B, ByHttp<SharedClassifier<GrpcErrorsAsFailures>>> {
    /// A layer for gRPC services, as [`grpc`](Self::grpc) is, whose failures are the codes that the
    /// settings of a file name, and which ignores what they ignore.
    pub fn grpc_by(breaker: B, statuses: &Statuses) -> Self {
        let ignored = Ignored::codes(|code| statuses.of_grpc(code, Outcome::Success) == Outcome::Ignored);
        Self::grpc(breaker).grpc_codes(failures(statuses), ignored)
    }
}

/// The codes that the settings name, else the usual ones.
fn failures(statuses: &Statuses) -> GrpcErrorsAsFailures {
    failing(|code| {
        let usual = if FAILURES.contains(&code) { Outcome::Failure } else { Outcome::Success };
        statuses.of_grpc(code, usual) == Outcome::Failure
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use nanobreaker_settings::PartialSettings;
    use tower_http::classify::{ClassifiedResponse, ClassifyResponse};

    fn statuses(toml: &str) -> Statuses {
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        settings.statuses()
    }

    /// The codes that a response's head with them makes a failure.
    fn failing(toml: &str) -> Vec<u16> {
        let judged = |code: u16| {
            let mut response = Response::new(());
            let headers: &mut HeaderMap = response.headers_mut();
            headers.insert("grpc-status", code.into());
            let verdict = failures(&statuses(toml)).classify_response(&response);
            matches!(verdict, ClassifiedResponse::Ready(Err(_)))
        };
        (0..=16).filter(|code| judged(*code)).collect()
    }

    #[test]
    fn codes_of_grpc_fail_as_the_file_names_them() {
        assert_eq!(failing("failure_status = ['UNAVAILABLE', 'not_found', '5xx']"), [5, 14]);
        assert_eq!(failing("failure_status = ['5xx']"), [2, 4, 8, 13, 14, 15]);
        assert_eq!(failing("ignore_status = ['UNAVAILABLE']"), [2, 4, 8, 13, 15]);
    }

    #[test]
    fn statuses_of_http_are_judged_as_the_file_names_them() {
        let judged = |toml: &str, status: u16| {
            let response = Response::builder().status(status).body(()).unwrap();
            statuses(toml).classify(&Ok::<_, ()>(response))
        };
        let file = "failure_status = ['5xx', 429]\nignore_status = [404, 501]";
        for (status, outcome) in [
            (500, Outcome::Failure),
            (501, Outcome::Ignored),
            (429, Outcome::Failure),
            (404, Outcome::Ignored),
            (400, Outcome::Success),
        ] {
            assert_eq!(judged(file, status), outcome, "{status}");
        }
        assert_eq!(judged("", 503), Outcome::Failure);
        assert_eq!(statuses(file).classify(&Err::<Response<()>, _>(())), Outcome::Failure);
    }
}
