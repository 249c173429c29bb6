//! What holds in every course of events.

use std::thread::spawn;

use super::*;
use crate::fleet::message::Finding;

/// Ten busy instances and forty quiet ones.
fn busy_and_quiet() -> Vec<u64> {
    let mut intervals = vec![50; 10];
    intervals.extend([10_000; 40]);
    intervals
}

fn outage(seed: u64, network: Option<Network>) -> World {
    let mut world = World::with_backoff(15_000, seed, network, 2, &busy_and_quiet());
    world.run_for(5_000);
    world.is_down = true;
    world.run_for(60_000);
    world.is_down = false;
    world.run_for(60_000);
    world
}

/// What came of one course.
struct Figures {
    reached: u32,
    probes: u32,
    lost: u32,
}

/// The outage of a seed, each for itself and as a fleet.
fn both(seed: u64) -> [Figures; 2] {
    let worlds = [outage(seed, None), outage(seed, Some(GOOD))];
    let stopped = worlds[1].instances.iter().all(|instance| instance.stopped_at_ms.is_some());
    assert!(stopped, "seed {seed}: somebody never stopped");
    worlds.map(|world| Figures { reached: world.reached, probes: world.probes, lost: world.lost })
}

#[test]
fn a_fleet_sends_eight_times_fewer_calls_into_an_outage_and_loses_at_most_a_tenth_more() {
    // How far the last open time outlasts the outage is chance, and most of what is lost: many courses tell.
    let parts =
        [0..24, 24..48].map(|seeds| spawn(move || seeds.map(|seed| (seed, both(seed))).collect::<Vec<_>>()));
    let (mut reached, mut lost) = ([0, 0], [0, 0]);
    for (seed, [alone, fleet]) in parts.into_iter().flat_map(|part| part.join().unwrap()) {
        println!(
            "seed {seed}: reached {} and {}, probes {} and {}, lost {} and {}",
            alone.reached, fleet.reached, alone.probes, fleet.probes, alone.lost, fleet.lost
        );
        // One in each open time.
        assert!(fleet.probes <= 5, "seed {seed}: {} probes", fleet.probes);
        reached = [reached[0] + alone.reached, reached[1] + fleet.reached];
        lost = [lost[0] + alone.lost, lost[1] + fleet.lost];
    }
    assert!(reached[0] >= 8 * reached[1], "{reached:?}");
    assert!(lost[1] * 10 <= lost[0] * 11, "{lost:?}");
}

#[test]
fn while_its_holder_lives_a_finding_has_one_probe_in_flight() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(GOOD), 2, &[100; 200]);
        world.run_for(1_000);
        world.is_down = true;
        world.run_until(5_000, |world| world.open() == 200).expect("all hear of it");
        world.most_probes_at_once = 0;
        // Until advice alone has held most of them for too long.
        world.run_for(u64::from(5 * MAX_OPEN_MS) - 10_000);
        assert!(world.most_probes_at_once <= 1, "seed {seed}: {}", world.most_probes_at_once);
    }
}

#[test]
fn no_echo_keeps_a_finding_alive_however_bad_the_network_is() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(BAD), 2, &[500; 200]);
        world.run_for(1_000);
        world.is_down = true;
        world.run_for(60_000);
        world.is_down = false;
        // Two open times, as long as they are by then.
        let closed = world.run_until(u64::from(2 * MAX_OPEN_MS), |world| world.open() == 0);
        assert!(closed.is_some(), "seed {seed}: {} are open still", world.open());
    }
}

#[test]
fn one_bad_instance_never_stops_another() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(BAD), 2, &[200; 50]);
        world.instances[7].is_poisoned = true;
        world.run_for(150_000);
        assert!(world.instances[7].stopped_at_ms.is_some(), "it did find its own calls broken");
        let advised: u32 = world.instances.iter().map(|instance| instance.advised).sum();
        assert_eq!(advised, 0, "seed {seed}");
    }
}

#[test]
fn whatever_one_liar_reports_nobody_else_stops() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(BAD), 2, &[200; 50]);
        for turn in 0..1_500 {
            let (left_ms, probe_ms) = (world.rng.u32(..), world.rng.u32(..MAX_OPEN_MS));
            let news = match turn % 4 {
                0 => News::Open { left_ms, probe_ms },
                1 => News::Still { left_ms, probe_ms },
                2 => News::Well { epoch: world.rng.u64(..5) },
                _ => News::Alive,
            };
            world.send(7, Some(news));
            world.run_for(100);
        }
        assert_eq!(world.open(), 0, "seed {seed}");
        let advised: u32 = world.instances.iter().map(|instance| instance.advised).sum();
        assert_eq!((advised, world.lost), (0, 0), "seed {seed}");
    }
}

#[test]
fn with_a_quorum_of_one_a_bad_instance_stops_others() {
    let mut world = World::new(1, Some(GOOD), 1, &[200; 50]);
    world.instances[7].is_poisoned = true;
    world.run_for(10_000);
    assert_eq!(world.instances.iter().filter(|instance| instance.advised > 0).count(), 49);
}

#[test]
fn nobody_stays_open_for_longer_than_advice_may_last_after_the_last_message() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(BAD), 2, &[500; 200]);
        world.is_down = true;
        world.run_for(20_000 + seed * 3_000);
        world.network = None;
        world.is_down = false;
        world.run_for(3_000);
        let most_ms = u64::from(2 * MAX_OPEN_MS) + 10_000;
        let closed = world.run_until(most_ms, |world| world.open() == 0);
        assert!(closed.is_some(), "seed {seed}: {} are open still", world.open());
    }
}

#[test]
fn a_holder_that_dies_in_its_probe_delays_the_others_by_a_probe_and_the_spread() {
    for seed in 0..4 {
        let mut world = World::new(seed, Some(GOOD), 2, &[100; 50]);
        world.is_down = true;
        let holder = |world: &World| {
            let is_holder = |instance: &Instance| {
                instance.rules.finding(world.now_ms()).is_some_and(|known| known.is_mine)
            };
            world.instances.iter().position(is_holder)
        };
        world.run_until(5_000, |world| holder(world).is_some()).expect("a finding");
        let dies = holder(&world).unwrap();
        let probing = |world: &World| world.instances[dies].breaker.phase() == Phase::HalfOpen;
        world.run_until(u64::from(OPEN_MS) + 1_000, probing).expect("it probes");
        world.instances[dies].is_dead = true;
        world.is_down = false;
        let closed = world.run_until(u64::from(PROBE_MS) + 1_000 + 1_000, |world| world.open() == 0);
        assert!(closed.is_some(), "seed {seed}: {} are open still", world.open());
    }
}

#[test]
fn no_stream_of_lies_holds_a_breaker_for_ever() {
    let mut world = World::new(3, Some(GOOD), 2, &[1_000]);
    let mut passed = 0;
    for epoch in 1..600 {
        let lie = Finding {
            breaker: "payments".into(),
            epoch,
            left_ms: OPEN_MS,
            probe_ms: PROBE_MS,
            holder: "nobody".into(),
            live: 0,
        };
        world.publish(&Said::Open(lie));
        let lost = world.lost;
        world.run_for(1_000);
        passed += u32::from(world.lost == lost);
    }
    // 600 s are six times five longest open times.
    assert!(passed >= 5, "{passed} calls passed");
}

#[test]
fn a_message_of_a_finding_that_is_over_stops_nobody() {
    let mut world = World::new(5, Some(GOOD), 2, &[1_000]);
    let finding = Finding {
        breaker: "payments".into(),
        epoch: 4,
        left_ms: OPEN_MS,
        probe_ms: PROBE_MS,
        holder: "nobody".into(),
        live: 0,
    };
    world.hear(0, &Said::Look { breaker: "payments".into(), epoch: 4 });
    world.hear(0, &Said::Open(finding.clone()));
    assert_eq!(world.open(), 0);
    world.hear(0, &Said::Open(Finding { epoch: 5, ..finding }));
    assert_eq!(world.open(), 1);
}
