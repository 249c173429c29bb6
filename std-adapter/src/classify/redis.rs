//! Of redis's errors (feature `redis`).

use nanobreaker_core::Outcome;
use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind};

/// | error | outcome |
/// | ----- | ------- |
/// | no connection, one that broke, no answer in time | failure |
/// | the server says that it [can't serve now](#codes), also to one command of several | failure |
/// | no node of the cluster, no master by the sentinels | failure |
/// | any other answer of the server: a wrong type, a wrong command | success |
/// | wrong password, an answer that can't be read as the type asked for, settings of the client | ignored |
///
/// # Codes
///
/// `LOADING`, `BUSY`, `OOM`, `MISCONF`, `READONLY`, `NOREPLICAS`, `MASTERDOWN`, `CLUSTERDOWN`, `TRYAGAIN`, and
/// `MOVED` and `ASK` where the client has followed in vain; and a server that has as many clients as it takes.
///
/// ```
/// use nanobreaker::{CallExt, SharedBreaker, classify};
/// use redis::{RedisError, ServerErrorKind};
///
/// let cache = SharedBreaker::builder().name("cache").consecutive(1).build()?;
/// let calls = cache.calls().classify(classify::redis);
/// let loads = || RedisError::from((ServerErrorKind::BusyLoading.into(), "loading the dataset"));
/// assert!(calls.call(|| Err::<(), _>(loads())).is_err());
/// assert!(cache.allow().is_err());
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub fn redis<T>(result: &Result<T, RedisError>) -> Outcome {
    let Err(error) = result else {
        return Outcome::Success;
    };
    match error.kind() {
        ErrorKind::Io
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel => Outcome::Failure,
        ErrorKind::Server(kind) if is_unwell(kind) => Outcome::Failure,
        ErrorKind::Server(_) | ErrorKind::Extension => by_answers(error),
        _ => Outcome::Ignored,
    }
}

/// By all answers that the error has: it may be of several commands.
fn by_answers(error: &RedisError) -> Outcome {
    let answers = error.clone().into_server_errors();
    let says_unwell = |(_, answer): &(usize, ServerError)| match answer.kind() {
        Some(ServerErrorKind::ResponseError) => answer.details() == Some("max number of clients reached"),
        Some(kind) => is_unwell(kind),
        None => ["BUSY", "OOM", "MISCONF", "NOREPLICAS"].contains(&answer.code()),
    };
    let is_failure = answers.is_some_and(|answers| answers.iter().any(says_unwell));
    if is_failure { Outcome::Failure } else { Outcome::Success }
}

const fn is_unwell(kind: ServerErrorKind) -> bool {
    matches!(
        kind,
        ServerErrorKind::BusyLoading
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: impl Into<ErrorKind>) -> Outcome {
        redis::<()>(&Err(RedisError::from((kind.into(), "as the test says"))))
    }

    #[test]
    fn a_server_that_can_not_serve_fails_and_one_that_answers_does_not() {
        let extension = |code: &str| {
            redis::<()>(&Err(redis::make_extension_error(code.to_owned(), Some("as the test says".into()))))
        };
        for code in ["BUSY", "OOM", "MISCONF", "NOREPLICAS"] {
            assert_eq!(extension(code), Outcome::Failure, "{code}");
        }
        assert_eq!(extension("WRONGTYPE"), Outcome::Success);
        assert_eq!(outcome(ServerErrorKind::BusyLoading), Outcome::Failure);
        assert_eq!(outcome(ServerErrorKind::ReadOnly), Outcome::Failure);
        assert_eq!(outcome(ServerErrorKind::NoScript), Outcome::Success);
        assert_eq!(redis(&Ok(1)), Outcome::Success);
    }

    #[test]
    fn what_broke_on_the_way_fails_and_what_is_ours_is_ignored() {
        let timed_out = std::io::Error::from(std::io::ErrorKind::TimedOut);
        assert_eq!(redis::<()>(&Err(timed_out.into())), Outcome::Failure);
        assert_eq!(outcome(ErrorKind::MasterNameNotFoundBySentinel), Outcome::Failure);
        assert_eq!(outcome(ErrorKind::AuthenticationFailed), Outcome::Ignored);
        assert_eq!(outcome(ErrorKind::Parse), Outcome::Ignored);
        assert_eq!(outcome(ErrorKind::UnexpectedReturnType), Outcome::Ignored);
        assert_eq!(outcome(ErrorKind::InvalidClientConfig), Outcome::Ignored);
    }
}
