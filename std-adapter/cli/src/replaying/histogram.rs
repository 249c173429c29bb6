//! Calls over time, in at most a fixed number of bins, without knowing how long the log is: when it
//! outgrows them, bins are merged in pairs.

/// How many bins there may be.
const BINS: usize = 512;

/// What happened to calls that began within one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bin {
    /// Passed and did not fail.
    pub(crate) good: u64,
    /// Passed and failed.
    pub(crate) failed: u64,
    /// Rejected, would have failed.
    pub(crate) saved: u64,
    /// Rejected, would not have failed.
    pub(crate) lost: u64,
}

impl Bin {
    pub(crate) const fn total(&self) -> u64 {
        self.good + self.failed + self.saved + self.lost
    }

    fn add(&mut self, other: Self) {
        self.good += other.good;
        self.failed += other.failed;
        self.saved += other.saved;
        self.lost += other.lost;
    }
}

/// Bins of equal width since the first call.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    start_us: Option<i64>,
    width_us: u64,
    bins: Vec<Bin>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { start_us: None, width_us: 1_000, bins: Vec::new() }
    }
}

impl Histogram {
    /// Counts what happened to a call that began at this time, which none before did later.
    pub(crate) fn add(&mut self, at_us: i64, what: Bin) {
        let start_us = *self.start_us.get_or_insert(at_us);
        let since = at_us.abs_diff(start_us);
        while since / self.width_us >= BINS as u64 {
            self.halve();
        }
        let index = (since / self.width_us) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        if let Some(bin) = self.bins.get_mut(index) {
            bin.add(what);
        }
    }

    fn halve(&mut self) {
        self.width_us = self.width_us.saturating_mul(2);
        self.bins = self
            .bins
            .chunks(2)
            .map(|pair| {
                let mut sum = Bin::default();
                pair.iter().for_each(|bin| sum.add(*bin));
                sum
            })
            .collect();
    }

    /// When the first bin starts; `None` where there was no call.
    pub(crate) fn start_us(&self) -> Option<i64> {
        self.start_us
    }

    pub(crate) fn width_us(&self) -> u64 {
        self.width_us
    }

    pub(crate) fn bins(&self) -> &[Bin] {
        &self.bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_is_lost_however_long_the_log_grows() {
        let mut histogram = Histogram::default();
        let good = Bin { good: 1, ..Bin::default() };
        for power in 0..56 {
            histogram.add(-5 + (1_i64 << power), good);
        }
        assert!(histogram.bins().len() <= BINS);
        assert_eq!(histogram.bins().iter().map(Bin::total).sum::<u64>(), 56);
        assert_eq!(histogram.start_us(), Some(-4));
    }
}
