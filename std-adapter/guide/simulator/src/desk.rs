//! The simulator as the page talks to it: an order in JSON, an answer in JSON.

use alloc::format;
use alloc::string::{String, ToString};

use serde::Deserialize;

use crate::log::Log;
use crate::outage::{Fails, OutageKind};
use crate::presets::PRESETS;
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::setup::Setup;
use crate::simulation::Simulation;
use crate::view::{Answer, ProgressView, SceneView};

/// What the page may ask for. All but the last four change the scene, which then begins anew.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// The scene of a link's fragment.
    Load { link: String },
    /// A number of the scene.
    Number { name: String, value: f64 },
    /// The kind of outage.
    Outage { name: String },
    /// How its calls fail.
    Fails { name: String },
    /// A stroke over the outage: places and shares in thousandths.
    Draw { from: [f64; 2], to: [f64; 2] },
    /// A breaker's settings as text.
    Toml { lane: usize, text: String },
    /// One setting of a breaker.
    Slide { lane: usize, key: String, value: f64 },
    /// The kind of a breaker's window.
    Kind { lane: usize, name: String },
    /// Goes on with the scene.
    Advance { until_us: f64, most: u32 },
    /// Plays the scene from its begin.
    Restart,
    /// The next lines of the scene's log, from its begin after each change of the scene.
    Log { most: usize },
    /// The names of the presets.
    Presets,
}

/// A scene, its simulation and its log.
pub struct Desk {
    scene: Scene,
    simulation: Simulation,
    log: Option<Log>,
}

impl Desk {
    /// With the first scene.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where its breakers can't be made.
    pub fn new() -> Result<Self, Refusal> {
        let scene = Scene::default();
        let simulation = Simulation::of(&scene)?;
        Ok(Self { scene, simulation, log: None })
    }

    /// Follows an order.
    pub fn ask(&mut self, order: &str) -> String {
        let answer = serde_json::from_str(order)
            .map_err(|error| Refusal::new("order", error.to_string()))
            .and_then(|order| self.follow(order))
            .unwrap_or_else(Answer::Refused);
        // Plain values with text as keys: there is nothing that JSON could not say.
        serde_json::to_string(&answer).unwrap_or_default()
    }

    fn follow(&mut self, order: Order) -> Result<Answer, Refusal> {
        let mut scene = self.scene.clone();
        match order {
            Order::Load { link } => scene = Scene::from_link(&link)?,
            Order::Number { name, value } => {
                let number = whole(&name, value, u32::MAX.into())? as u32;
                if !scene.numbers.set(&name, number)? {
                    return Err(Refusal::new(name, "is no number of a scene"));
                }
            }
            Order::Outage { name } => scene.outage = OutageKind::from_name(&name)?,
            Order::Fails { name } => scene.fails = Fails::from_name(&name)?,
            Order::Draw { from, to } => {
                let place = |[x, y]: [f64; 2]| [x, y].map(|number| number.clamp(0.0, 1_000.0) as u32);
                scene.draw(place(from), place(to));
            }
            Order::Toml { lane, text } => {
                let name = if lane == 0 { "a" } else { "b" };
                let read = Setup::from_toml(&text).map_err(|why| Refusal::new(name, why));
                *setup(&mut scene, lane)? = read?;
            }
            Order::Slide { lane, key, value } => {
                let number = whole(&key, value, 1e15)?;
                let place = setup(&mut scene, lane)?;
                *place = place.slide(&key, number)?;
            }
            Order::Kind { lane, name } => {
                let place = setup(&mut scene, lane)?;
                *place = place.with_kind(&name)?;
            }
            Order::Restart => {}
            Order::Advance { until_us, most } => {
                self.simulation.advance(until_us.max(0.0) as u64, most);
                return Ok(Answer::Progress(ProgressView::of(&self.simulation)));
            }
            Order::Log { most } => return self.log(most),
            Order::Presets => return Ok(Answer::Presets(PRESETS.iter().map(|preset| preset.name).collect())),
        }
        self.simulation = Simulation::of(&scene)?;
        self.scene = scene;
        self.log = None;
        Ok(Answer::Scene(SceneView::of(&self.scene)))
    }

    fn log(&mut self, most: usize) -> Result<Answer, Refusal> {
        let mut log = match self.log.take() {
            Some(log) => log,
            None => Log::of(&self.scene)?,
        };
        let lines = log.next_lines(most);
        // After the end the next log begins anew.
        self.log = (!lines.is_empty()).then_some(log);
        Ok(Answer::Log(lines))
    }
}

fn setup(scene: &mut Scene, lane: usize) -> Result<&mut Setup, Refusal> {
    let found = scene.setups.get_mut(lane);
    found.ok_or_else(|| Refusal::new("lane", format!("{lane}, but must be 0 or 1")))
}

/// JavaScript has no whole numbers: one that is none is refused, and so is one out of range.
fn whole(field: &str, value: f64, most: f64) -> Result<u64, Refusal> {
    if (0.0..=most).contains(&value) && value == (value as u64) as f64 {
        return Ok(value as u64);
    }
    Err(Refusal::new(field, format!("{value}, but must be a whole number from 0 to {most}")))
}
