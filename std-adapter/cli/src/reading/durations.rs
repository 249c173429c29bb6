//! How long calls took: exact quantiles of up to some hundred thousand of them, beyond that within a
//! hundredth of a per cent.

/// Durations that are kept one by one.
const MOST_KEPT: usize = 1 << 18;
/// Bins between a number and its double: 2 to this power.
const BIN_BITS: u32 = 13;

/// Durations in microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    kept: Vec<u64>,
    /// How many fall into each bin, once there are too many to keep.
    bins: Vec<u64>,
    count: u64,
}

impl Durations {
    #[inline]
    pub(crate) fn add(&mut self, us: u64) {
        self.count += 1;
        if self.bins.is_empty() {
            self.kept.push(us);
            if self.kept.len() >= MOST_KEPT {
                for us in std::mem::take(&mut self.kept) {
                    self.count_in_bin(us);
                }
            }
        } else {
            self.count_in_bin(us);
        }
    }

    fn count_in_bin(&mut self, us: u64) {
        let index = bin(us);
        if self.bins.len() <= index {
            self.bins.resize(index + 1, 0);
        }
        if let Some(bin) = self.bins.get_mut(index) {
            *bin += 1;
        }
    }

    /// The nearest-rank quantile; `None` where there are none.
    pub(crate) fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        if self.bins.is_empty() {
            let mut kept = self.kept.clone();
            let index = rank as usize - 1;
            return (index < kept.len()).then(|| *kept.select_nth_unstable(index).1);
        }
        let mut below = 0;
        let index = self.bins.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        Some(middle(index))
    }
}

/// Small numbers have a bin each; beyond, bins grow with the number.
fn bin(us: u64) -> usize {
    let shift = (64 - us.leading_zeros()).saturating_sub(BIN_BITS + 1);
    ((shift as usize) << BIN_BITS) + (us >> shift) as usize
}

fn middle(bin: usize) -> u64 {
    if bin < 2 << BIN_BITS {
        return bin as u64;
    }
    let shift = (bin >> BIN_BITS) - 1;
    let rest = bin - (shift << BIN_BITS);
    ((rest as u64) << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_exact() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5), None);
        for us in [30, 10, 20, 1_000_001, 40] {
            durations.add(us);
        }
        assert_eq!(durations.quantile(0.5), Some(30));
        assert_eq!(durations.quantile(0.99), Some(1_000_001));
    }

    #[test]
    fn many_are_within_a_hundredth_of_a_per_cent() {
        let mut durations = Durations::default();
        let count = MOST_KEPT as u64 * 2;
        for number in 0..count {
            durations.add(number * 1_001);
        }
        for share in [0.001, 0.5, 0.99] {
            let exact = (count as f64 * share).ceil() * 1_001.0 - 1_001.0;
            let found = durations.quantile(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 1e-4, "{share}: {found} {exact}");
        }
    }
}
