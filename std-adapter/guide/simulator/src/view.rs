//! What the page is told: plain values, ready for JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::account::{Change, Tally, Trip};
use crate::lane::Lane;
use crate::outage::Outage;
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::simulation::Simulation;
use crate::sliders::Position;

/// So many points of the outage are drawn.
const POINTS: u64 = 240;

/// The trips that are told one by one.
const TRIPS_SHOWN: usize = 50;

#[derive(Serialize)]
pub(crate) struct NumberView {
    name: &'static str,
    least: u32,
    most: u32,
    value: u32,
}

#[derive(Serialize)]
pub(crate) struct SetupView {
    toml: String,
    kind: &'static str,
    sliders: Vec<Position>,
}

/// A scene, for its controls.
#[derive(Serialize)]
pub(crate) struct SceneView {
    link: String,
    numbers: Vec<NumberView>,
    outage: &'static str,
    fails: &'static str,
    /// The share of failing calls over the scene, in thousandths.
    severity: Vec<u32>,
    setups: Vec<SetupView>,
}

impl SceneView {
    pub(crate) fn of(scene: &Scene) -> Self {
        let numbers = scene.numbers.each();
        let outage = Outage::of(scene);
        let length_us = scene.numbers.length_us();
        let setups = scene.setups.iter().map(|setup| SetupView {
            toml: setup.text().into(),
            kind: setup.kind().name(),
            sliders: setup.positions(),
        });
        Self {
            link: scene.link(),
            numbers: numbers
                .map(|(range, value)| NumberView {
                    name: range.name,
                    least: range.least,
                    most: range.most,
                    value,
                })
                .collect(),
            outage: scene.outage.name(),
            fails: scene.fails.name(),
            severity: (0..POINTS).map(|point| outage.severity(point * length_us / POINTS)).collect(),
            setups: setups.collect(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct LaneView {
    phase: &'static str,
    tally: Tally,
    under_way: u32,
    time_to_trip_us: Option<u64>,
    time_to_close_us: Option<u64>,
    /// Good, bad, saved and lost calls of each part of the scene.
    parts: Vec<[u32; 4]>,
    changes: Vec<Change>,
    trips: Vec<Trip>,
}

impl LaneView {
    fn of(lane: &Lane) -> Self {
        Self {
            phase: lane.phase().name(),
            tally: *lane.tally(),
            under_way: lane.under_way(),
            time_to_trip_us: lane.time_to_trip_us(),
            time_to_close_us: lane.time_to_close_us(),
            parts: lane.parts().to_vec(),
            changes: lane.changes().to_vec(),
            trips: lane.trips().iter().take(TRIPS_SHOWN).copied().collect(),
        }
    }
}

/// How far a scene is, and what came of it so far.
#[derive(Serialize)]
pub(crate) struct ProgressView {
    now_us: u64,
    is_over: bool,
    lanes: Vec<LaneView>,
}

impl ProgressView {
    pub(crate) fn of(simulation: &Simulation) -> Self {
        Self {
            now_us: simulation.now_us(),
            is_over: simulation.is_over(),
            lanes: simulation.lanes().iter().map(LaneView::of).collect(),
        }
    }
}

/// What an order came to.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The scene as it is now, from its begin.
    Scene(SceneView),
    /// How far it is.
    Progress(ProgressView),
    /// The next lines of the log; none at its end.
    Log(String),
    /// The names of the presets.
    Presets(Vec<&'static str>),
    /// It can't be, and nothing has changed.
    Refused(Refusal),
}
