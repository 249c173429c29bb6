//! A fleet on a real redis-server. `std-adapter/fleet/check` plays these tests; they need redis-server, so
//! plain `cargo test` leaves them out.

mod faults;
mod kinds;
mod processes;
mod relay;
mod rig;
mod rules;
mod script;
