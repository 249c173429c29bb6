//! A configuration that can be replaced while others read it.
//!
//! One atomic setting beside the other, no lock: a reader in the middle of a replacement may see one
//! setting old and the next one new. Each is one that was configured, and no two of them have to fit
//! together: a cap below the open time caps it.

use crate::config::Config;
use crate::state::bit_length;
use crate::sync::{Setting, const_unless_loom};

/// Bits of the last setting, from the lowest: probes, successes, failures, latch.
const SUCCESSES: u32 = 8;
const FAILURES: u32 = 16;
const LATCH: u32 = 24;

/// No configuration, or one.
#[derive(Debug)]
pub(crate) struct ConfigCell {
    /// Never 0 where a configuration is.
    open_for_ms: Setting,
    max_open_ms: Setting,
    lease_ms: Setting,
    ramp_ms: Setting,
    jitter: Setting,
    counts: Setting,
}

impl ConfigCell {
    const_unless_loom! {
        /// No configuration.
        pub(crate) const fn empty() -> Self {
            Self {
                open_for_ms: Setting::new(0),
                max_open_ms: Setting::new(0),
                lease_ms: Setting::new(0),
                ramp_ms: Setting::new(0),
                jitter: Setting::new(0),
                counts: Setting::new(0),
            }
        }
    }

    /// The configuration, if there is one.
    #[inline]
    pub(crate) fn load(&self) -> Option<Config> {
        let open_for_ms = self.open_for_ms.load();
        if open_for_ms == 0 {
            return None;
        }
        let max_open_ms = self.max_open_ms.load();
        let lease_ms = self.lease_ms.load();
        let ramp_ms = self.ramp_ms.load();
        let counts = self.counts.load();
        Some(Config {
            open_for_ms,
            max_open_ms,
            lease_ms,
            ramp_ms,
            jitter: self.jitter.load(),
            open_for_bits: bit_length(open_for_ms) as u8,
            max_open_bits: bit_length(max_open_ms) as u8,
            lease_bits: bit_length(lease_ms) as u8,
            ramp_bits: bit_length(ramp_ms) as u8,
            probes: counts as u8,
            successes: (counts >> SUCCESSES) as u8,
            failures: (counts >> FAILURES) as u8,
            latch: counts >> LATCH != 0,
        })
    }

    /// Puts `config` in place of what is there.
    pub(crate) fn store(&self, config: &Config) {
        self.max_open_ms.store(config.max_open_ms);
        self.lease_ms.store(config.lease_ms);
        self.ramp_ms.store(config.ramp_ms);
        self.jitter.store(config.jitter);
        self.counts.store(
            u32::from(config.probes)
                | u32::from(config.successes) << SUCCESSES
                | u32::from(config.failures) << FAILURES
                | u32::from(config.latch) << LATCH,
        );
        // Last: who finds a configuration finds all of it.
        self.open_for_ms.store(config.open_for_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_comes_back_at_both_edges() {
        let longest = u64::from(Config::MAX_DURATION_MS);
        let smallest = Config::builder().open_for_ms(1).probe_lease_ms(1);
        let largest = Config::builder()
            .open_for_ms(longest)
            .max_open_ms(longest)
            .probe_lease_ms(longest)
            .ramp_ms(longest)
            .jitter_permille(1_000)
            .probes(Config::MAX_PROBES)
            .successes(Config::MAX_SUCCESSES)
            .failures(Config::MAX_FAILURES)
            .latch(true);
        let cell = ConfigCell::empty();
        assert_eq!(cell.load(), None);
        for config in [smallest, largest, Config::builder()] {
            let config = config.build().unwrap();
            cell.store(&config);
            assert_eq!(cell.load(), Some(config));
        }
    }
}
