//! How often calls come, and how many of them fail.

/// Milliseconds of a day.
pub const DAY: f64 = 86_400_000.0;

/// The traffic and the dependency's health over a simulated time. Times are milliseconds.
#[derive(Clone, Debug)]
pub struct Weather {
    calls_per_ms: f64,
    /// In order and without gaps, from 0 to the end of time.
    stretches: Vec<Stretch>,
    bursts: Vec<Burst>,
    /// How long a call takes that succeeds.
    pub success_takes: f64,
    /// How long a call takes that fails.
    pub failure_takes: f64,
}

/// A time in which calls fail evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// The share of calls that fail.
    pub failing: f64,
    /// Whether calls should be stopped.
    pub is_outage: bool,
}

impl Stretch {
    /// Its length.
    pub fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// Calls that fail at one instant though the dependency is well: those on a connection that was reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// When.
    pub at: f64,
    /// How many.
    pub calls: u32,
}

impl Weather {
    /// A well dependency whose calls end at once, `background` of them with a failure.
    pub fn fair(calls_per_s: f64, background: f64) -> Self {
        Self {
            calls_per_ms: calls_per_s / 1_000.0,
            stretches: vec![Stretch { from: 0.0, to: f64::INFINITY, failing: background, is_outage: false }],
            bursts: Vec::new(),
            success_takes: 0.0,
            failure_takes: 0.0,
        }
    }

    /// The same with calls that take so long.
    pub fn with_calls_taking(self, success_takes: f64, failure_takes: f64) -> Self {
        Self { success_takes, failure_takes, ..self }
    }

    /// The same but for this stretch.
    pub fn with(mut self, other: Stretch) -> Self {
        let mut stretches = Vec::with_capacity(self.stretches.len() + 2);
        for stretch in &self.stretches {
            let before = Stretch { to: stretch.to.min(other.from), ..*stretch };
            let after = Stretch { from: stretch.from.max(other.to), ..*stretch };
            stretches.extend([before, after].into_iter().filter(|part| part.from < part.to));
        }
        let place = stretches.partition_point(|stretch| stretch.to <= other.from);
        stretches.insert(place, other);
        self.stretches = stretches;
        self
    }

    /// The same with these bursts, in order.
    pub fn with_bursts(self, bursts: Vec<Burst>) -> Self {
        Self { bursts, ..self }
    }

    /// Calls per millisecond.
    pub fn calls_per_ms(&self) -> f64 {
        self.calls_per_ms
    }

    /// All stretches, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The bursts, in order.
    pub fn bursts(&self) -> &[Burst] {
        &self.bursts
    }

    /// The parts of the stretches within these times, in order.
    pub fn between(&self, from: f64, to: f64) -> impl DoubleEndedIterator<Item = Stretch> {
        let (first, last) = if from < to {
            let ends = self.place(to);
            // A stretch that begins at `to` has no part.
            let last = ends + usize::from(self.stretches[ends].from < to);
            (self.place(from), last)
        } else {
            (0, 0)
        };
        self.stretches[first..last].iter().map(move |stretch| Stretch {
            from: stretch.from.max(from),
            to: stretch.to.min(to),
            ..*stretch
        })
    }

    #[inline]
    fn place(&self, time: f64) -> usize {
        // The last one ends never.
        self.stretches.partition_point(|stretch| stretch.to <= time)
    }
}

/// One reader's place in a weather, for times that never go back.
#[derive(Clone, Debug, Default)]
pub struct Reader(usize);

impl Reader {
    /// The stretch that this moment lies in.
    #[inline]
    pub fn at<'w>(&mut self, weather: &'w Weather, time: f64) -> &'w Stretch {
        while weather.stretches[self.0].to <= time {
            self.0 += 1;
        }
        &weather.stretches[self.0]
    }

    /// When so many events have come from `from` on, where `share` of the calls in a stretch are events.
    /// Never is infinity. The reader stays at `from`.
    #[inline]
    pub fn time_of(
        &mut self,
        weather: &Weather,
        from: f64,
        mut events: f64,
        share: impl Fn(&Stretch) -> f64,
    ) -> f64 {
        let mut stretch = self.at(weather, from);
        let mut ahead = self.clone();
        let mut now = from;
        loop {
            let time = now + events / (weather.calls_per_ms * share(stretch));
            if time < stretch.to {
                return time;
            }
            if stretch.to == f64::INFINITY {
                return f64::INFINITY;
            }
            events -= (stretch.to - now) * weather.calls_per_ms * share(stretch);
            now = stretch.to;
            stretch = ahead.at(weather, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_outage() -> Weather {
        Weather::fair(1_000.0, 0.01).with(Stretch { from: 100.0, to: 200.0, failing: 0.5, is_outage: true })
    }

    #[test]
    fn a_stretch_takes_the_place_of_what_was_there() {
        let ends: Vec<_> = with_outage()
            .stretches()
            .iter()
            .map(|stretch| (stretch.from, stretch.to, stretch.failing))
            .collect();
        assert_eq!(ends, [(0.0, 100.0, 0.01), (100.0, 200.0, 0.5), (200.0, f64::INFINITY, 0.01)]);
    }

    #[test]
    fn parts_fill_the_time_asked_for() {
        let weather = with_outage();
        let lengths =
            |from, to| -> Vec<f64> { weather.between(from, to).map(|part| part.length()).collect() };
        assert_eq!(lengths(50.0, 250.0), [50.0, 100.0, 50.0]);
        assert_eq!(lengths(120.0, 130.0), [10.0]);
        assert_eq!(lengths(50.0, 100.0), [50.0]);
        assert!(lengths(50.0, 50.0).is_empty());
    }

    #[test]
    fn events_come_as_often_as_the_stretch_says() {
        let time_of = |weather: &Weather, from, failures| {
            Reader::default().time_of(weather, from, failures, |stretch| stretch.failing)
        };
        // One in a hundred calls, one call a millisecond, to the outage; then every other one.
        assert_eq!(time_of(&with_outage(), 0.0, 0.5), 50.0);
        assert_eq!(time_of(&with_outage(), 0.0, 2.0), 102.0);
        assert_eq!(time_of(&with_outage(), 0.0, 51.0 + 0.5), 250.0);
        assert_eq!(time_of(&with_outage(), 150.0, 1.0), 152.0);
        assert_eq!(time_of(&Weather::fair(1.0, 0.0), 0.0, 1.0), f64::INFINITY);
    }
}
