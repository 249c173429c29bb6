//! When does a breaker trip, when should it have, and what does the difference cost?
//!
//! The rules are the real core on a manual clock, and the published defaults of other breakers. They
//! meet simulated traffic: calls come as a Poisson process and fail independently of each other, but
//! for bursts. Each file is one idea:
//!
//! * [`chance`]: seeded random numbers.
//! * [`weather`]: how often calls come, and how many of them fail, over a day.
//! * [`rule`]: what the simulation asks of a breaker. [`guarded`] is the real core; [`windows`] lets
//!   it count whole stretches of successes at once; [`failsafe`] and [`opossum`] are written out;
//!   [`rules`] names them all.
//! * [`simulation`]: one rule in one weather.
//! * [`delay`] and [`bound`]: how many calls an outage takes in before the trip, and how many it must.
//! * [`cost`], with the days in [`days`]: what a day costs with each rule.
//! * [`workers`], [`tables`], [`json`], [`chart`], [`figures`], [`checks`]: running it and showing it.

pub mod bound;
pub mod chance;
pub mod chart;
pub mod checks;
pub mod cost;
pub mod days;
pub mod delay;
pub mod failsafe;
pub mod figures;
pub mod guarded;
pub mod json;
pub mod opossum;
pub mod rule;
pub mod rules;
pub mod simulation;
pub mod tables;
pub mod weather;
pub mod windows;
pub mod workers;
