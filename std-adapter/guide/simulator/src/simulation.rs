//! Two breakers before the same calls.

use crate::lane::Lane;
use crate::outage::Outage;
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::traffic::{Call, Traffic};

/// A scene under way.
pub struct Simulation {
    traffic: Traffic,
    next: Option<Call>,
    lanes: [Lane; 2],
    length_us: u64,
    now_us: u64,
    /// When the last call so far ends.
    last_us: u64,
    is_over: bool,
}

impl Simulation {
    /// The scene's begin.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where a breaker can't be made.
    pub fn of(scene: &Scene) -> Result<Self, Refusal> {
        let outage = Outage::of(scene);
        let length_us = scene.numbers.length_us();
        let mut traffic = Traffic::of(scene);
        let next = traffic.next();
        let [a, b] = &scene.setups;
        let lanes = [Lane::new(a, &outage, length_us)?, Lane::new(b, &outage, length_us)?];
        Ok(Self { traffic, next, lanes, length_us, now_us: 0, last_us: 0, is_over: false })
    }

    /// Goes on until that moment of the scene, or until so many calls have begun.
    pub fn advance(&mut self, until_us: u64, most: u32) {
        let until_us = until_us.min(self.length_us);
        for _ in 0..most {
            match self.next {
                Some(call) if call.start_us < until_us => {
                    for lane in &mut self.lanes {
                        lane.begin(&call);
                    }
                    self.now_us = call.start_us;
                    self.last_us = self.last_us.max(call.end_us());
                    self.next = self.traffic.next();
                }
                Some(_) => return self.rest(until_us),
                None => return self.end(until_us),
            }
        }
    }

    /// No call begins until then.
    fn rest(&mut self, until_us: u64) {
        self.now_us = self.now_us.max(until_us);
        for lane in &mut self.lanes {
            lane.play_until(until_us);
        }
    }

    fn end(&mut self, until_us: u64) {
        if until_us < self.length_us {
            return self.rest(until_us);
        }
        if !self.is_over {
            self.is_over = true;
            self.now_us = self.length_us;
            for lane in &mut self.lanes {
                lane.finish(self.last_us);
            }
        }
    }

    /// Plays all of it.
    pub fn run(&mut self) {
        while !self.is_over {
            self.advance(u64::MAX, u32::MAX);
        }
    }

    /// How far it is, in microseconds.
    pub const fn now_us(&self) -> u64 {
        self.now_us
    }

    /// Whether all calls have begun and ended.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Both breakers.
    pub const fn lanes(&self) -> &[Lane; 2] {
        &self.lanes
    }
}
