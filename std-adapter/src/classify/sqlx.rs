//! Of sqlx's errors (feature `sqlx`).

use nanobreaker_core::Outcome;
use sqlx::Error;

/// | error | outcome |
/// | ----- | ------- |
/// | no connection, one that broke, a handshake or a protocol that went wrong | failure |
/// | no connection of the pool came free in time: nobody gets one, or queries hang | failure |
/// | the database says that it is [unwell](#codes) | failure |
/// | any other answer of the database, and no row where one was asked for | success |
/// | wrong password, no such database | ignored |
/// | types, columns, arguments, settings of the connection, a pool that was closed | ignored |
///
/// Where a pool is smaller than its calls need on purpose, one that has no connection left says nothing about the
/// database: then take [`PoolTimedOut`](Error::PoolTimedOut) out before.
///
/// # Codes
///
/// Those of the SQL standard, which PostgreSQL and MySQL have: class 08 (the connection), 53 (no memory, no
/// disk, too many connections), 57P (shutting down, starting), 58 and XX (faults of the server itself), 57014
/// (a query that took longer than the database lets it) and 25006 (a server that takes no writes, as after
/// another one took over). SQLite has others: its answers are successes.
///
/// ```
/// use nanobreaker::{CallExt, Outcome, SharedBreaker, classify};
/// use sqlx::Error;
///
/// let database = SharedBreaker::builder().name("database").consecutive(1).build()?;
/// let calls = database.calls().classify(classify::sqlx);
/// assert!(calls.call(|| Err::<(), _>(Error::RowNotFound)).is_err());
/// assert!(database.allow().is_ok());
/// assert!(calls.call(|| Err::<(), _>(Error::PoolTimedOut)).is_err());
/// assert!(database.allow().is_err());
///
/// // A small pool, on purpose:
/// let of_small_pool = |result: &Result<(), Error>| match result {
///     Err(Error::PoolTimedOut) => Outcome::Ignored,
///     result => classify::sqlx(result),
/// };
/// # assert_eq!(of_small_pool(&Err(Error::PoolTimedOut)), Outcome::Ignored);
/// # Ok::<(), nanobreaker::ConfigError>(())
/// ```
pub fn sqlx<T>(result: &Result<T, Error>) -> Outcome {
    match result {
        Ok(_) | Err(Error::RowNotFound) => Outcome::Success,
        Err(Error::Database(answer)) => answer.code().map_or(Outcome::Success, |code| by_code(&code)),
        Err(
            Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::PoolTimedOut | Error::WorkerCrashed,
        ) => Outcome::Failure,
        Err(_) => Outcome::Ignored,
    }
}

/// Beginnings of codes with which a database says that it can't serve now.
const UNWELL: [&str; 7] = ["08", "25006", "53", "57014", "57P", "58", "XX"];

/// Beginnings of those that are for whoever set up the connection.
const OURS: [&str; 2] = ["28", "3D"];

fn by_code(code: &str) -> Outcome {
    let is_among = |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
    // Others than the standard's have another length.
    if code.len() != 5 {
        Outcome::Success
    } else if is_among(&UNWELL) {
        Outcome::Failure
    } else if is_among(&OURS) {
        Outcome::Ignored
    } else {
        Outcome::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_a_database_that_is_unwell_are_failures_and_other_answers_are_none() {
        for code in ["08006", "08S01", "25006", "53300", "57014", "57P01", "57P03", "58030", "XX001"] {
            assert_eq!(by_code(code), Outcome::Failure, "{code}");
        }
        for code in ["23505", "42601", "40001", "40P01", "57000", "HY000", "5386", "2067", ""] {
            assert_eq!(by_code(code), Outcome::Success, "{code}");
        }
        assert_eq!((by_code("28P01"), by_code("3D000")), (Outcome::Ignored, Outcome::Ignored));
    }

    #[test]
    fn what_never_reached_the_database_is_told_from_what_broke_on_the_way() {
        let outcome = |error| sqlx::<()>(&Err(error));
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(outcome(Error::Io(refused)), Outcome::Failure);
        assert_eq!(outcome(Error::WorkerCrashed), Outcome::Failure);
        assert_eq!(outcome(Error::PoolClosed), Outcome::Ignored);
        assert_eq!(outcome(Error::ColumnNotFound("price".into())), Outcome::Ignored);
        assert_eq!(outcome(Error::RowNotFound), Outcome::Success);
        assert_eq!(sqlx(&Ok(1)), Outcome::Success);
    }
}
