//! What holds in every course of events: whole fleets on simulated time, with real breakers, their real tasks, and a
//! network that the test makes as bad as it wants.

mod network;
mod world;

use std::sync::Arc;
use std::thread::scope;

use nanobreaker_fleet::InMemory;
use nanobreaker_fleet::nanobreaker::Phase;
use nanobreaker_fleet::nanobreaker::fleet::message::{Finding, Group, News, Report, Said, Word};

use network::{BAD, CUT, GOOD, Weather};
use world::{Instance, Timing, World, simulate};

const OPEN_MS: u32 = 10_000;
const MAX_OPEN_MS: u32 = 20_000;
const PROBE_MS: u32 = 2_000;
const TIMING: Timing =
    Timing { open_ms: OPEN_MS as u64, max_open_ms: MAX_OPEN_MS as u64, probe_ms: PROBE_MS as u64 };

fn world(weather: Weather, quorum: u32, intervals_ms: &[u64]) -> World {
    World::new(TIMING, Some(weather), quorum, intervals_ms)
}

/// Ten busy instances and forty quiet ones.
fn busy_and_quiet() -> Vec<u64> {
    let mut intervals = vec![50; 10];
    intervals.extend([10_000; 40]);
    intervals
}

/// An outage, and what becomes of the store for half of it.
#[derive(Clone, Copy)]
struct Outage {
    /// All times but the outage's are a quarter.
    is_quick: bool,
    ms: u64,
    store: Fate,
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Lives,
    /// Nobody hears of it, and then it is as it was.
    Hangs,
    /// It comes back without its memory.
    Dies,
}

async fn play(outage: Outage, weather: Option<Weather>) -> World {
    let parts = if outage.is_quick { 4 } else { 1 };
    let timing = Timing { open_ms: 10_000 / parts, max_open_ms: 15_000 / parts, probe_ms: 2_000 / parts };
    let intervals: Vec<_> = busy_and_quiet().iter().map(|ms| ms / parts).collect();
    let mut world = World::new(timing, weather, 2, &intervals);
    world.run_for(5_000 / parts).await;
    world.is_down = true;
    world.run_for(outage.ms / 6).await;
    let store =
        (outage.store != Fate::Lives).then(|| world.network.as_ref().map(|it| it.lose_store())).flatten();
    world.run_for(outage.ms / 2).await;
    if let Some(store) = store {
        let store = if outage.store == Fate::Dies { InMemory::new() } else { store };
        world.network().bring_store(store);
    }
    world.run_for(outage.ms - outage.ms / 6 - outage.ms / 2).await;
    world.is_down = false;
    world.run_for(60_000 / parts).await;
    world
}

/// What came of an outage in many courses of events.
#[derive(Debug, Default)]
struct Figures {
    reached: u32,
    most_probes: u32,
    lost: u32,
    /// In one course of events.
    most_lost: u32,
}

/// These outages, one a seed; without weather each instance is by itself.
fn play_all(outages: &[Outage], weather: Option<Weather>) -> Figures {
    let mut figures = Figures::default();
    for (seed, outage) in outages.iter().enumerate() {
        let world = simulate(seed as u64, play(*outage, weather));
        let all_stopped = world.instances.iter().all(Instance::has_stopped);
        assert!(weather.is_none() || all_stopped, "seed {seed}: somebody never stopped");
        figures.reached += world.calls.reached;
        figures.most_probes = figures.most_probes.max(world.calls.probes);
        figures.lost += world.calls.lost;
        figures.most_lost = figures.most_lost.max(world.calls.lost);
    }
    figures
}

/// Each for itself, and as a fleet whose store has each of these fates.
fn both<const FATES: usize>(outages: &[Outage], fates: [Fate; FATES]) -> (Figures, [Figures; FATES]) {
    let (alone, fleets) = scope(|threads| {
        let alone = threads.spawn(|| play_all(outages, None));
        let fleets = fates.map(|store| {
            let outages: Vec<_> = outages.iter().map(|outage| Outage { store, ..*outage }).collect();
            threads.spawn(move || play_all(&outages, Some(GOOD)))
        });
        (alone.join().unwrap(), fleets.map(|fleet| fleet.join().unwrap()))
    });
    println!("each for itself {alone:?}, as a fleet {fleets:?}");
    (alone, fleets)
}

/// Outages that end at any moment of the longest open time: how far the last one outlasts an outage is most of
/// what is lost, and where breakers move in step its length alone decides about that.
fn ending_at_any_moment(shortest: Outage, seeds: u64) -> Vec<Outage> {
    let longest_open_ms = if shortest.is_quick { 15_000 / 4 } else { 15_000 };
    let after = |number| Outage { ms: shortest.ms + number * longest_open_ms / seeds, ..shortest };
    (0..seeds).map(after).collect()
}

/// Courses of events of which a figure is the sum: more in the long form.
fn courses() -> usize {
    std::env::var("NANOBREAKER_COURSES").map_or(24, |courses| courses.parse().expect("a number"))
}

const SHORT: Outage = Outage { is_quick: true, ms: 15_000, store: Fate::Lives };
const LONG: Outage = Outage { is_quick: false, ms: 60_000, store: Fate::Lives };

#[test]
fn a_fleet_sends_eight_times_fewer_calls_into_an_outage_and_loses_at_most_a_tenth_more() {
    for outage in [SHORT, LONG] {
        let (alone, [fleet]) = both(&vec![outage; courses()], [Fate::Lives]);
        assert!(alone.reached >= 8 * fleet.reached);
        assert!(10 * fleet.lost <= 11 * alone.lost);
        // One in each open time, which is 8 of 10 parts at least.
        assert!(fleet.most_probes <= 7);
    }
}

#[test]
fn over_all_moments_at_which_an_outage_can_end_a_fleet_loses_less() {
    for outage in [SHORT, LONG] {
        let (alone, [fleet]) = both(&ending_at_any_moment(outage, courses() as u64), [Fate::Lives]);
        assert!(10 * fleet.lost <= 9 * alone.lost);
    }
}

#[test]
fn with_its_store_gone_a_fleet_loses_less_than_each_for_itself() {
    let (alone, fleets) = both(&ending_at_any_moment(LONG, courses() as u64), [Fate::Hangs, Fate::Dies]);
    for fleet in fleets {
        assert!(3 * fleet.reached <= alone.reached);
        assert!(10 * fleet.lost <= 9 * alone.lost);
        // Of what is lost on average by each for itself.
        assert!(courses() as u32 * fleet.most_lost <= 2 * alone.lost);
    }
}

#[test]
fn while_its_holder_lives_a_finding_has_one_probe_in_flight() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(GOOD, 2, &[100; 200]);
            world.run_for(1_000).await;
            world.is_down = true;
            assert!(world.run_until(5_000, |world| world.open() == 200).await, "all hear of it");
            world.calls.most_probes_at_once = 0;
            // Until advice alone has held most of them for too long.
            world.run_for(u64::from(5 * MAX_OPEN_MS) - 10_000).await;
            let most = world.calls.most_probes_at_once;
            assert!(most <= 1, "seed {seed}: {most}");
        });
    }
}

async fn all_close_within(most_ms: u64, world: &mut World, seed: u64) {
    let closed = world.run_until(most_ms, |world| world.open() == 0).await;
    assert!(closed, "seed {seed}: {} are open still", world.open());
}

#[test]
fn no_echo_keeps_a_finding_alive_however_bad_the_network_is() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(BAD, 2, &[500; 200]);
            world.run_for(1_000).await;
            world.is_down = true;
            world.run_for(60_000).await;
            world.is_down = false;
            // Two open times, as long as they are by then.
            all_close_within(u64::from(2 * MAX_OPEN_MS), &mut world, seed).await;
        });
    }
}

#[test]
fn one_bad_instance_never_stops_another() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(BAD, 2, &[200; 50]);
            world.instances[7].is_poisoned = true;
            world.run_for(150_000).await;
            assert!(world.instances[7].has_stopped(), "it did find its own calls broken");
            assert_eq!(world.advised(), 0, "seed {seed}");
        });
    }
}

fn liar() -> Arc<Group> {
    let (name, instance) = ("simulated".into(), "a liar".into());
    Arc::new(Group { name, instance, quorum: 2, quorum_percent: 0 })
}

#[test]
fn whatever_one_liar_reports_nobody_else_stops() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(BAD, 2, &[200; 50]);
            for turn in 0..1_500 {
                let (left_ms, probe_ms) = (fastrand::u32(..), fastrand::u32(..MAX_OPEN_MS));
                let news = match turn % 4 {
                    0 => News::Open { left_ms, probe_ms, is_new: true },
                    1 => News::Open { left_ms, probe_ms, is_new: false },
                    2 => News::Well { epoch: fastrand::u64(..5) },
                    _ => News::Alive,
                };
                world.network().report(&liar(), &Report { breaker: "payments".into(), news });
                world.run_for(100).await;
            }
            assert_eq!((world.open(), world.advised(), world.calls.lost), (0, 0, 0), "seed {seed}");
        });
    }
}

#[test]
fn with_a_quorum_of_one_a_bad_instance_stops_others() {
    simulate(1, async {
        let mut world = world(GOOD, 1, &[200; 50]);
        world.instances[7].is_poisoned = true;
        world.run_for(10_000).await;
        assert_eq!(world.instances.iter().filter(|instance| instance.advised() > 0).count(), 49);
    });
}

#[test]
fn nobody_stays_open_for_longer_than_advice_may_last_after_the_last_message() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(BAD, 2, &[500; 200]);
            world.is_down = true;
            world.run_for(20_000 + seed * 3_000).await;
            world.network().set_weather(CUT);
            world.is_down = false;
            world.run_for(3_000).await;
            all_close_within(u64::from(2 * MAX_OPEN_MS) + 10_000, &mut world, seed).await;
        });
    }
}

#[test]
fn a_holder_that_dies_in_its_probe_delays_the_others_by_a_probe_and_the_spread() {
    for seed in 0..4 {
        simulate(seed, async {
            let mut world = world(GOOD, 2, &[100; 50]);
            world.is_down = true;
            let holder = |world: &World| world.instances.iter().position(Instance::is_holder);
            assert!(world.run_until(5_000, |world| holder(world).is_some()).await, "a finding");
            let dies = holder(&world).unwrap();
            let is_probing = |world: &World| world.instances[dies].breaker.phase() == Phase::HalfOpen;
            assert!(world.run_until(u64::from(OPEN_MS) + 1_000, is_probing).await, "it probes");
            world.instances[dies].die();
            world.is_down = false;
            all_close_within(u64::from(PROBE_MS) + 1_000 + 1_000, &mut world, seed).await;
        });
    }
}

/// A finding whose holder is nobody here.
fn lie(epoch: u64) -> Said {
    let holder = "nobody".into();
    let finding = Finding { epoch, left_ms: OPEN_MS, probe_ms: PROBE_MS, holder, live: 0 };
    Said { breaker: "payments".into(), word: Word::Open(finding) }
}

#[test]
fn no_stream_of_lies_holds_a_breaker_for_ever() {
    simulate(3, async {
        let mut world = world(GOOD, 2, &[1_000]);
        world.run_for(1_000).await;
        let mut passed = 0;
        for epoch in 1..600 {
            world.network().lie(&liar(), &lie(epoch)).await;
            let lost = world.calls.lost;
            world.run_for(1_000).await;
            passed += u32::from(world.calls.lost == lost);
        }
        // 600 s are six times five longest open times.
        assert!(passed >= 5, "{passed} calls passed");
    });
}

#[test]
fn a_message_of_a_finding_that_is_over_stops_nobody() {
    simulate(5, async {
        let mut world = world(GOOD, 2, &[1_000]);
        world.run_for(1_000).await;
        let over = Said { breaker: "payments".into(), word: Word::Look { epoch: 4 } };
        for (said, open) in [(over, 0), (lie(4), 0), (lie(5), 1)] {
            world.network().lie(&liar(), &said).await;
            world.run_for(100).await;
            assert_eq!(world.open(), open, "{said:?}");
        }
    });
}
