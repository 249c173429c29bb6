//! The other breakers, each in a file of its own whose head says what it is made to do and why that is fair.
//!
//! What holds for all of them: the newest version in the registry, with default features and what the
//! breaker itself needs (no logging, no metrics); no listener; the crate's own way to make a protected
//! call; one breaker, closed, shared by all threads. Where a crate can count consecutive failures it does,
//! with a threshold of five, because that is the cheapest thing it knows.

pub mod breaker;
pub mod circuitbreaker_rs;
pub mod failsafe;
pub mod ferryman_core;
pub mod governor;
pub mod nobreak;
pub mod recloser;
pub mod reliakit_circuit;
pub mod seatbelt;
pub mod throttle_net;
pub mod tower_resilience;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Answer, Case, Limits, Op, Peer, Subject, Work};

    fn stays_as_its_rows_say<P: Peer>() {
        for op in Op::ALL {
            if let Some(case) = Case::<P>::new(op) {
                let last = case.run(2_000);
                assert_eq!(last, Some(op.expected()), "{} {}", P::WHO, op.name());
            }
        }
    }

    fn trips_on_the_fifth_failure_in_a_row<P: Peer>() {
        let peer = P::build(Limits::Ordinary);
        let mut call = peer.caller();
        for _ in 0..4 {
            assert_eq!(call(Work::Fail), Answer::Failed, "{}", P::WHO);
        }
        assert_eq!(call(Work::Succeed), Answer::Succeeded, "{}", P::WHO);
        for _ in 0..5 {
            assert_eq!(call(Work::Fail), Answer::Failed, "{}", P::WHO);
        }
        assert_eq!(call(Work::Succeed), Answer::Rejected, "{}", P::WHO);
    }

    #[test]
    fn every_peer_is_closed_or_open_as_its_rows_say() {
        stays_as_its_rows_say::<breaker::Breaker>();
        stays_as_its_rows_say::<circuitbreaker_rs::CircuitbreakerRs>();
        stays_as_its_rows_say::<failsafe::Failsafe>();
        stays_as_its_rows_say::<ferryman_core::FerrymanCore>();
        stays_as_its_rows_say::<nobreak::Nobreak>();
        stays_as_its_rows_say::<recloser::Recloser>();
        stays_as_its_rows_say::<reliakit_circuit::ReliakitCircuit>();
        stays_as_its_rows_say::<seatbelt::Seatbelt>();
        stays_as_its_rows_say::<throttle_net::ThrottleNet>();
        stays_as_its_rows_say::<tower_resilience::TowerResilience>();
    }

    #[test]
    fn the_peers_that_count_failures_in_a_row_trip_on_the_fifth() {
        trips_on_the_fifth_failure_in_a_row::<breaker::Breaker>();
        trips_on_the_fifth_failure_in_a_row::<circuitbreaker_rs::CircuitbreakerRs>();
        trips_on_the_fifth_failure_in_a_row::<failsafe::Failsafe>();
        trips_on_the_fifth_failure_in_a_row::<ferryman_core::FerrymanCore>();
        trips_on_the_fifth_failure_in_a_row::<nobreak::Nobreak>();
        trips_on_the_fifth_failure_in_a_row::<reliakit_circuit::ReliakitCircuit>();
        trips_on_the_fifth_failure_in_a_row::<throttle_net::ThrottleNet>();
        trips_on_the_fifth_failure_in_a_row::<tower_resilience::TowerResilience>();
    }

    #[test]
    fn governor_admits_as_long_as_its_quota_lasts() {
        let governor = Case::<governor::Governor>::new(Op::Healthy).unwrap();
        assert_eq!(governor.run(2_000), Some(Answer::Succeeded));
    }
}
