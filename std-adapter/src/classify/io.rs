//! Of the standard library's errors of input and output.

use std::io::{Error, ErrorKind};

use nanobreaker_core::Outcome;

/// An error is a failure, unless it is an answer to what was asked: there is no such file, one may not see it,
/// it is there already, the request made no sense. Those are ignored.
///
/// `WouldBlock` is a failure: on Unix a socket says that when its
/// [time to read](std::net::TcpStream::set_read_timeout) is over. Where sockets don't block, guard the whole exchange
/// and not each attempt to read.
///
/// ```
/// use nanobreaker::{CallExt, SharedBreaker, classify};
///
/// let share = SharedBreaker::builder().name("share").consecutive(1).build()?;
/// let _ = share.calls().classify(classify::io).call(|| std::fs::read("no such file"));
/// assert!(share.allow().is_ok());
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub fn io<T>(result: &Result<T, Error>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(error) => by_kind(error.kind()),
    }
}

fn by_kind(kind: ErrorKind) -> Outcome {
    match kind {
        ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::AlreadyExists
        | ErrorKind::InvalidInput
        | ErrorKind::Unsupported
        | ErrorKind::IsADirectory
        | ErrorKind::NotADirectory
        | ErrorKind::DirectoryNotEmpty
        // The call is to be made again: it says nothing yet.
        | ErrorKind::Interrupted => Outcome::Ignored,
        _ => Outcome::Failure,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_answers_the_request_is_ignored_and_what_breaks_is_a_failure() {
        let outcome = |kind: ErrorKind| io::<()>(&Err(kind.into()));
        assert_eq!(io(&Ok(1)), Outcome::Success);
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::Interrupted] {
            assert_eq!(outcome(kind), Outcome::Ignored, "{kind:?}");
        }
        for kind in [
            ErrorKind::ConnectionRefused,
            ErrorKind::ConnectionReset,
            ErrorKind::TimedOut,
            ErrorKind::UnexpectedEof,
            ErrorKind::BrokenPipe,
            ErrorKind::Other,
        ] {
            assert_eq!(outcome(kind), Outcome::Failure, "{kind:?}");
        }
    }

    #[test]
    fn a_server_that_says_nothing_in_the_time_to_read_has_failed() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(silent.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        assert_eq!(io(&client.read(&mut [0])), Outcome::Failure);
    }
}
