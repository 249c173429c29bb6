//! The classifiers of sqlx's and redis's errors, on real servers that are stopped, killed and started again.
//! `tests/servers/check` plays these tests; they need the servers, so plain `cargo test` leaves them out.

mod postgres;
mod redis;
mod rig;
