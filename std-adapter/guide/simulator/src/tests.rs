//! Scenes as people play them.

use alloc::string::String;

use nanobreaker_core::Phase;
use serde_json::{Value, json};

use super::*;

fn played(link: &str) -> Simulation {
    let scene = Scene::from_link(link).unwrap();
    let mut simulation = Simulation::of(&scene).unwrap();
    simulation.run();
    simulation
}

fn preset(name: &str) -> [Tally; 2] {
    let simulation = played(&alloc::format!("preset={name}"));
    simulation.lanes().each_ref().map(|lane| *lane.tally())
}

/// Five failures within ten seconds open it for ten; one success closes it.
const FIVE_IN_TEN: &str = "open_for='10s'%0Amax_open='10s'%0Aprobe_successes=1%0A[window]%0Akind='failures'";
/// Half of the last twenty calls.
const HALF_OF_TWENTY: &str = "[window]%0Akind='calls'%0Asize=20%0Afailure_rate='50%25'";
/// A thousand failures in a row, of a thousand calls.
const THOUSAND: &str = "[window]%0Akind='calls'%0Asize=1000%0Afailure_rate='100%25'%0Amin_calls=1000";

fn ask(desk: &mut Desk, order: Value) -> Value {
    serde_json::from_str(&desk.ask(&order.to_string())).unwrap()
}

#[test]
fn a_link_keeps_the_whole_scene() {
    for preset in PRESETS {
        let scene = Scene::preset(preset.name).unwrap();
        let link = scene.link();
        let again = Scene::from_link(&link).unwrap();
        assert_eq!(again, scene, "{link}");
        assert_eq!(again.link(), link);
    }
}

#[test]
fn a_link_keeps_what_was_drawn_though_another_kind_was_chosen_afterwards() {
    let mut desk = Desk::new().unwrap();
    let drawn = ask(&mut desk, json!({"draw": {"from": [500, 1000], "to": [600, 1000]}}));
    let other = ask(&mut desk, json!({"outage": {"name": "half"}}));
    ask(&mut desk, json!({"load": {"link": other["scene"]["link"]}}));
    assert_eq!(ask(&mut desk, json!({"outage": {"name": "drawn"}})), drawn);
}

#[test]
fn what_a_link_names_goes_before_its_preset() {
    let scene = Scene::from_link("#preset=article&rate=7&a=open_for%20%3D%20%221s%22").unwrap();
    assert_eq!(scene.numbers.rate, 7);
    assert_eq!(scene.numbers.timeout_ms, 30_000);
    assert_eq!(scene.setups[0].text(), "open_for = \"1s\"");
    assert_eq!(scene.setups[1], Scene::preset("article").unwrap().setups[1]);
}

#[test]
fn a_link_that_cannot_be_is_refused_by_name() {
    for (link, field, part) in [
        ("rate=0", "rate", "from 1 to 100000"),
        ("rate=many", "rate", "\"many\" is no whole number"),
        ("rate=1&rate=2", "rate", "twice"),
        ("speed=1", "speed", "nothing that a scene has"),
        ("v=2", "v", "reads 1"),
        ("outage=bad", "outage", "hanging"),
        ("fails=bad", "fails", "error, hang"),
        ("drawn=abc", "drawn", "letters from a to u"),
        ("preset=bad", "preset", "article"),
        ("rate=100000&timeout_ms=30000", "timeout_ms", "at most 20000"),
        ("a=open_for+%3D+%2210%22", "a", "10"),
        ("b=max_probes+%3D+100", "b", "max_probes is 100, but must be from 1 to 63"),
        (&alloc::format!("a={}", "%0A".repeat(16_385)), "a", "16385 bytes, but must have at most 16384"),
        (&alloc::format!("b=x%3D{}", "[".repeat(16_000)), "b", "recursion"),
    ] {
        let refusal = Scene::from_link(link).unwrap_err();
        assert_eq!(refusal.field, field, "{link}: {refusal}");
        assert!(refusal.why.contains(part), "{link}: {refusal}");
    }
}

#[test]
fn numbers_that_limit_each_other_may_stand_in_any_order() {
    let low_first = Scene::from_link("rate=100&timeout_ms=120000").unwrap();
    let high_first = Scene::from_link("timeout_ms=120000&rate=100").unwrap();
    assert_eq!(low_first, high_first);
    assert!(Scene::from_link("preset=a_hundred_thousand&timeout_ms=30000").is_err());
}

#[test]
fn the_same_link_gives_the_same_figures_in_steps_of_any_size() {
    let link = "preset=slow_recovery&length_s=60&background_ppm=20000&burst_every_s=5";
    let whole = played(link);
    let scene = Scene::from_link(link).unwrap();
    let mut stepped = Simulation::of(&scene).unwrap();
    let mut until_us = 0;
    while !stepped.is_over() {
        until_us += 16_667;
        stepped.advance(until_us, 37);
    }
    for (one, other) in whole.lanes().iter().zip(stepped.lanes()) {
        assert!(one.tally().trips > 0);
        assert_eq!(one.tally(), other.tally());
        assert_eq!(one.trips(), other.trips());
        assert_eq!(one.changes(), other.changes());
        assert_eq!(one.parts(), other.parts());
    }
}

/// Figures that are the same on every machine, browsers included: the check of the page compares with them, too.
#[test]
fn the_figures_of_a_scene_are_fixed() {
    let expected: Value = serde_json::from_str(include_str!("../tests/figures.json")).unwrap();
    let mut found = serde_json::Map::new();
    for preset in PRESETS.iter().filter(|preset| preset.name != "a_hundred_thousand") {
        let simulation = played(&alloc::format!("preset={}", preset.name));
        let tallies = simulation.lanes().each_ref().map(|lane| json!(lane.tally()));
        found.insert(preset.name.into(), json!(tallies));
    }
    let found = Value::Object(found);
    // Run with UPDATE_FIGURES=1 after a change of the simulation.
    if std::env::var_os("UPDATE_FIGURES").is_some() {
        let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/figures.json"), text).unwrap();
    } else {
        assert_eq!(found, expected);
    }
}

#[test]
fn every_call_is_counted_once() {
    for name in ["article", "slow_recovery", "bursts"] {
        for tally in preset(name) {
            assert_eq!(tally.calls, tally.good + tally.bad + tally.saved + tally.lost, "{name}");
        }
        let simulation = played(&alloc::format!("preset={name}"));
        let [a, b] = simulation.lanes();
        assert_eq!(a.tally().calls, b.tally().calls);
        for lane in [a, b] {
            let drawn: u32 = lane.parts().iter().flatten().sum();
            assert_eq!(u64::from(drawn), lane.tally().calls);
            assert_eq!(lane.under_way(), 0);
        }
    }
}

#[test]
fn traffic_is_as_the_scene_says() {
    let scene =
        Scene::from_link("rate=1000&length_s=300&background_ppm=50000&outage=half&share_percent=40&outage_from_s=100&outage_for_s=100").unwrap();
    let calls: Vec<Call> = Traffic::of(&scene).collect();
    let per_second = calls.len() as f64 / 300.0;
    assert!((per_second - 1_000.0).abs() < 10.0, "{per_second}");
    assert!(calls.is_sorted_by_key(|call| call.start_us));
    let failing = |from_s: u64, to_s: u64| {
        let among = calls.iter().filter(|call| (from_s..to_s).contains(&(call.start_us / 1_000_000)));
        let (count, failed) = among.fold((0.0, 0.0), |(count, failed), call| {
            (count + 1.0, failed + f64::from(u8::from(call.fails)))
        });
        failed / count
    };
    assert!((failing(0, 100) - 0.05).abs() < 0.005);
    // One or the other: 1 - 0.6 * 0.95.
    assert!((failing(100, 200) - 0.43).abs() < 0.01);
    let mean_us = calls.iter().map(|call| call.duration_us as f64).sum::<f64>() / calls.len() as f64;
    assert!((mean_us / 15_000.0 - 1.0).abs() < 0.02, "{mean_us}");
}

#[test]
fn another_outage_leaves_the_begin_of_every_call() {
    let begins = |link: &str| -> Vec<u64> {
        Traffic::of(&Scene::from_link(link).unwrap()).map(|call| call.start_us).collect()
    };
    assert_eq!(begins("outage=none"), begins("outage=hanging&background_ppm=500000"));
    assert_ne!(begins("outage=none"), begins("outage=none&seed=2"));
}

#[test]
fn a_hanging_call_takes_its_callers_whole_timeout() {
    let scene = Scene::from_link("outage=hanging&timeout_ms=700&background_ppm=0").unwrap();
    let outage = Outage::of(&scene);
    for call in Traffic::of(&scene) {
        let is_hit = outage.severity(call.start_us) > 0;
        assert_eq!(call.fails, is_hit);
        assert_eq!(call.duration_us == 700_000, is_hit);
    }
}

#[test]
fn every_kind_of_outage_is_as_bad_as_it_says() {
    let severity =
        |link: &str, at_s: u64| Outage::of(&Scene::from_link(link).unwrap()).severity(at_s * 1_000_000);
    for kind in OutageKind::ALL {
        let link = alloc::format!("outage={}", kind.name());
        assert_eq!([severity(&link, 19), severity(&link, 80)], [0, 0], "{link}");
    }
    assert_eq!(severity("outage=dead", 20), 1_000);
    assert_eq!(severity("outage=half&share_percent=7", 79), 70);
    assert_eq!([severity("outage=flapping", 24), severity("outage=flapping", 25)], [1_000, 0]);
    assert_eq!(severity("outage=recovering", 40), 1_000);
    assert_eq!(severity("outage=recovering", 60), 500);
}

#[test]
fn a_stroke_draws_over_what_was_chosen() {
    let mut desk = Desk::new().unwrap();
    ask(&mut desk, json!({"load": {"link": "outage=dead&outage_from_s=60&outage_for_s=30&length_s=120"}}));
    let answer = ask(&mut desk, json!({"draw": {"from": [0, 0], "to": [249.9, 1000]}}));
    let scene = &answer["scene"];
    assert_eq!(scene["outage"], "drawn");
    let severity: Vec<u64> =
        scene["severity"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    // A rising edge over the first quarter, and the chosen outage from the middle on.
    assert!(severity[..60].is_sorted(), "{severity:?}");
    assert_eq!(
        [severity[0], severity[59], severity[70], severity[121], severity[181]],
        [0, 1_000, 0, 1_000, 0]
    );
    let link = scene["link"].as_str().unwrap();
    assert_eq!(Scene::from_link(link).unwrap().link(), link);
    let outage = Outage::of(&Scene::from_link(link).unwrap());
    assert_eq!(outage.span_us().unwrap().1, 90_000_000);
}

#[test]
fn a_slider_writes_the_same_toml_that_a_person_would() {
    let mut desk = Desk::new().unwrap();
    ask(&mut desk, json!({"kind": {"lane": 1, "name": "calls"}}));
    ask(&mut desk, json!({"slide": {"lane": 1, "key": "failure_rate", "value": 305_000}}));
    ask(&mut desk, json!({"slide": {"lane": 1, "key": "slow_after", "value": 800}}));
    let answer = ask(&mut desk, json!({"slide": {"lane": 1, "key": "open_for", "value": 2_500}}));
    let setup = &answer["scene"]["setups"][1];
    let written = Setup::from_toml(setup["toml"].as_str().unwrap()).unwrap();
    let by_hand =
        "slow_after = '800ms'\nopen_for = '2500ms'\n[window]\nkind = 'calls'\nfailure_rate = '30.5%'";
    assert_eq!(written.complete(), Setup::from_toml(by_hand).unwrap().complete());
    let shown = setup["sliders"].as_array().unwrap();
    let value = |key: &str| shown.iter().find(|slider| slider["key"] == key).unwrap()["value"].clone();
    assert_eq!([value("failure_rate"), value("open_for"), value("size")], [305_000, 2_500, 100]);
    assert!(!shown.iter().any(|slider| slider["key"] == "within"), "what another kind has is not shown");
}

#[test]
fn every_slider_moves_its_setting() {
    for kind in ["failures", "consecutive", "calls", "time", "cusum"] {
        let setup = Setup::from_toml("open_for = '10s'\nmax_open = '2m'\nslow_after = '1s'")
            .unwrap()
            .with_kind(kind)
            .unwrap();
        for position in setup.positions() {
            let Value::Object(position) = json!(position) else { unreachable!() };
            let key = position["key"].as_str().unwrap();
            let to = match key {
                "buckets" => 5,
                "max_open" | "relapse_within" => 60_000,
                "broken" => 600_000,
                "latch" => 1,
                _ => position["least"].as_u64().unwrap() + (position["most"].as_u64().unwrap() / 100).max(1),
            };
            let moved = setup.slide(key, to).unwrap_or_else(|refusal| panic!("{kind}: {refusal}"));
            let now = moved.positions().into_iter().map(|one| json!(one)).find(|one| one["key"] == key);
            assert_eq!(now.unwrap()["value"], to, "{kind}: {key}");
        }
    }
}

#[test]
fn what_is_refused_changes_nothing_and_says_why() {
    let mut desk = Desk::new().unwrap();
    let before = ask(&mut desk, json!("restart"));
    for (order, field) in [
        (json!({"toml": {"lane": 0, "text": "open_fro = '1s'"}}), "a"),
        (json!({"slide": {"lane": 0, "key": "max_open", "value": 50}}), "max_open"),
        (json!({"slide": {"lane": 0, "key": "threshold", "value": 2.5}}), "threshold"),
        (json!({"slide": {"lane": 7, "key": "threshold", "value": 2}}), "lane"),
        (json!({"kind": {"lane": 0, "name": "callz"}}), "kind"),
        (json!({"number": {"name": "rate", "value": -1}}), "rate"),
        (json!({"number": {"name": "rat", "value": 1}}), "rat"),
        (json!({"outage": {"name": ""}}), "outage"),
        (json!({"nonsense": 1}), "order"),
    ] {
        let answer = ask(&mut desk, order.clone());
        assert_eq!(answer["refused"]["field"], field, "{order}: {answer}");
        assert_ne!(answer["refused"]["why"], "");
    }
    let typo = ask(&mut desk, json!({"toml": {"lane": 0, "text": "open_fro = '1s'"}}));
    assert!(typo["refused"]["why"].as_str().unwrap().contains("did you mean open_for?"), "{typo}");
    assert_eq!(ask(&mut desk, json!("restart")), before);
}

#[test]
fn the_log_has_every_call_and_begins_anew_after_its_end() {
    let mut desk = Desk::new().unwrap();
    ask(&mut desk, json!({"load": {"link": "rate=50&length_s=10"}}));
    let mut whole = || {
        let mut text = String::new();
        loop {
            let answer = ask(&mut desk, json!({"log": {"most": 100}}));
            match answer["log"].as_str().unwrap() {
                "" => return text,
                lines => text.push_str(lines),
            }
        }
    };
    let first = whole();
    assert_eq!(whole(), first);
    let scene = Scene::from_link("rate=50&length_s=10").unwrap();
    assert_eq!(first.lines().count(), 1 + Traffic::of(&scene).count());
    assert!(first.starts_with(HEADER));
    ask(&mut desk, json!({"load": {"link": "rate=100000&length_s=900&timeout_ms=100"}}));
    assert_eq!(ask(&mut desk, json!({"log": {"most": 1}}))["refused"]["field"], "rate");
}

#[test]
fn a_trip_tells_what_the_breaker_had_seen() {
    let link = alloc::format!("outage=dead&background_ppm=0&a={FIVE_IN_TEN}&b={HALF_OF_TWENTY}");
    let simulation = played(&link);
    let [count, rate] = simulation.lanes().each_ref().map(|lane| lane.trips()[0]);
    assert_eq!(count.cause, "threshold_reached");
    assert_eq!((count.evidence.bad, count.evidence.calls >= 5), (5, true));
    assert!(count.evidence.over_ms < 1_000);
    assert_eq!((rate.evidence.calls, rate.evidence.bad), (20, 10));
    assert!(!count.while_well && !rate.while_well);
    let on_a_good_day = played("preset=count_at_high_rate");
    for trip in on_a_good_day.lanes()[0].trips() {
        let Evidence { calls, bad, over_ms } = trip.evidence;
        assert!(trip.while_well && bad == 5 && calls > 100 && over_ms < 10_000, "{trip:?}");
    }
}

#[test]
fn times_to_trip_and_to_close_count_from_the_outages_ends() {
    let simulation = played(&alloc::format!("outage=dead&background_ppm=0&a={FIVE_IN_TEN}"));
    let [lane, _] = simulation.lanes();
    let to_trip_us = lane.time_to_trip_us().unwrap();
    assert!(to_trip_us < 1_000_000, "{to_trip_us}");
    let to_close_us = lane.time_to_close_us().unwrap();
    // It opens for 10 s at a time.
    assert!(to_close_us < 10_100_000, "{to_close_us}");
    assert_eq!(lane.phase(), Phase::Closed);
    assert_eq!(lane.trips()[0].closed_at_us, Some(80_000_000 + to_close_us));
    let without = played("outage=none");
    assert_eq!(without.lanes()[0].time_to_trip_us(), None);
    let undisturbed = played(&alloc::format!("outage=dead&rate=1&a={THOUSAND}"));
    assert_eq!(undisturbed.lanes()[0].time_to_trip_us(), None);
    assert_eq!(undisturbed.lanes()[0].time_to_close_us(), Some(0));
}

#[test]
fn times_are_right_after_more_changes_than_are_kept() {
    let nervous =
        "open_for='50ms'%0Amax_open='50ms'%0Aprobe_successes=1%0A[window]%0Akind='consecutive'%0Athreshold=1";
    let link = "rate=200&length_s=900&background_ppm=300000&outage=dead&outage_from_s=800&outage_for_s=50";
    let simulation = played(&alloc::format!("{link}&a={nervous}"));
    let [lane, _] = simulation.lanes();
    assert!(lane.tally().trips + lane.tally().reopenings > lane.changes().len() as u64);
    assert!(lane.time_to_trip_us().unwrap() < 1_000_000);
    let to_close_us = lane.time_to_close_us().unwrap();
    assert!((1..1_000_000).contains(&to_close_us), "{to_close_us}");
}

#[test]
fn the_articles_outage_is_noticed_late_and_with_hung_after_at_once() {
    let simulation = played("preset=article");
    let [article, hung_after] = simulation.lanes();
    let late_us = article.time_to_trip_us().unwrap();
    assert!((30_000_000..30_100_000).contains(&late_us), "after the first timeouts: {late_us}");
    assert!(hung_after.time_to_trip_us().unwrap() < 300_000);
    // 500 a second for 30 s, each waiting for its timeout.
    assert!(article.tally().most_under_way > 14_000);
    assert!(hung_after.tally().most_under_way < 300);
}

#[test]
fn presets_show_what_they_are_for() {
    let shows = |name: &str, is_shown: &dyn Fn(&Tally, &Tally) -> bool| {
        let [a, b] = preset(name);
        assert!(is_shown(&a, &b), "{name}: {a:?} {b:?}");
    };
    shows("count_at_high_rate", &|a, b| a.trips_while_well > 5 && a.lost > 10_000 && b.lost == 0);
    shows("rate_of_few", &|a, b| a.trips_while_well > 3 && b.trips == 0);
    shows("blind_to_brownout", &|a, b| a.trips == 0 && b.trips > 0 && b.saved > 2_000);
    shows("open_too_long", &|a, b| a.lost > 10 * b.lost.max(1));
    shows("open_shorter_than_timeout", &|a, b| a.waited_us > 3 * b.waited_us);
    shows("one_probe", &|a, b| a.bad > 2 * b.bad);
    shows("bursts", &|a, b| a.trips_while_well > 3 && a.lost > 20 * b.lost);
    shows("no_backoff", &|a, b| a.trips + a.reopenings > 2 * (b.trips + b.reopenings));
    shows("latched", &|a, b| a.lost > 10_000 && b.lost < 2_000);
    shows("slow_recovery", &|a, b| a.trips > 0 && b.bad > 0);
}
