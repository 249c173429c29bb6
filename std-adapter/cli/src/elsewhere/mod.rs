//! What comes closest to a configuration in the settings of another library, and what these can't express.
//!
//! Names and meanings are those of each library's documentation: Resilience4j 2, Polly 8, opossum 8, Envoy's
//! outlier detection (v3), Hystrix 1.5.

mod envoy;
mod hystrix;
mod opossum;
mod polly;
mod resilience4j;

use std::time::Duration;

use nanobreaker::{PartialSettings, SettingsError};

use crate::explaining::{Full, Judges, Over};

/// Another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Library {
    /// Java: application.yaml of Spring Boot
    Resilience4j,
    /// .NET: C# options
    Polly,
    /// Node.js: options
    Opossum,
    /// Envoy: a cluster's outlier_detection, per host
    Envoy,
    /// Java: properties
    Hystrix,
}

/// Settings in another library's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) settings: String,
    /// What it can't express, a sentence each.
    pub(crate) not_expressed: Vec<String>,
}

impl Library {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Resilience4j => "resilience4j",
            Self::Polly => "polly",
            Self::Opossum => "opossum",
            Self::Envoy => "envoy",
            Self::Hystrix => "hystrix",
        }
    }

    /// What a comment begins with.
    pub(crate) const fn comment(self) -> &'static str {
        match self {
            Self::Resilience4j | Self::Envoy | Self::Hystrix => "#",
            Self::Polly | Self::Opossum => "//",
        }
    }

    /// The closest settings.
    ///
    /// # Errors
    ///
    /// What is wrong with `settings`.
    pub(crate) fn closest(
        self,
        settings: &PartialSettings,
        calls_per_second: f64,
    ) -> Result<Elsewhere, SettingsError> {
        let full = Full::of(settings)?;
        let mut notes = common(self, &full);
        if settings.failure_status.is_some() || settings.ignore_status.is_some() {
            notes.push(
                "failure_status, ignore_status: what fails is said elsewhere, often in code".to_owned(),
            );
        }
        let rule = Rule::of(&full.failed, calls_per_second);
        let settings = match self {
            Self::Resilience4j => resilience4j::settings(&full, &rule, &mut notes),
            Self::Polly => polly::settings(&full, &rule, &mut notes),
            Self::Opossum => opossum::settings(&full, &rule, &mut notes),
            Self::Envoy => envoy::settings(&full, &rule, &mut notes),
            Self::Hystrix => hystrix::settings(&full, &rule, &mut notes),
        };
        Ok(Elsewhere { settings, not_expressed: notes })
    }
}

/// What trips, as a failure rate: that is all that most libraries know.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    percent: f64,
    over: Over,
    min_calls: u32,
    /// The log's rate.
    calls_per_second: f64,
}

impl Rule {
    fn of(judges: &Judges, calls_per_second: f64) -> Self {
        match *judges {
            Judges::Rate { percent, over, min_calls } => Self { percent, over, min_calls, calls_per_second },
            // No other library weighs evidence. A rate that finds the same outage after as many failures in a
            // row is the nearest thing.
            Judges::Cusum { normal, broken, calls_per_false_trip, .. } => {
                let in_a_row = (calls_per_false_trip as f64).ln() / (broken / normal).ln();
                let min_calls = (in_a_row.ceil() as u32).max(1);
                Self { percent: broken, over: Over::Calls(2 * min_calls), min_calls, calls_per_second }
            }
            // All of the last few.
            Judges::Consecutive { threshold } => {
                Self { percent: 100.0, over: Over::Calls(threshold), min_calls: threshold, calls_per_second }
            }
            Judges::Failures { threshold, within } => {
                let calls = (calls_per_second * within.as_secs_f64()).max(1.0);
                let percent = f64::from(threshold) / calls * 100.0;
                // As fine as our own rates.
                Self {
                    percent: ((percent * 1e4).ceil() / 1e4).min(100.0),
                    over: Over::Time { span: within, buckets: 10 },
                    min_calls: threshold,
                    calls_per_second,
                }
            }
        }
    }

    /// For libraries that know whole per cent only.
    fn whole_percent(&self, notes: &mut Vec<String>) -> u32 {
        let whole = self.percent.ceil().clamp(1.0, 100.0);
        if whole != self.percent {
            notes.push(format!("a rate of {} %: whole per cent only", self.percent));
        }
        whole as u32
    }

    /// Over which time, and in how many steps, for libraries that know no window of calls.
    fn span(&self, notes: &mut Vec<String>) -> (Duration, u32) {
        match self.over {
            Over::Time { span, buckets } => (span, buckets),
            Over::Calls(size) => {
                let seconds = (f64::from(size) / self.calls_per_second.max(1e-3)).clamp(1.0, 3_600.0);
                notes.push(format!(
                    "a window of the last {size} calls: one of {seconds:.0} s has as many at the log's \
                     rate"
                ));
                (Duration::from_secs_f64(seconds.ceil()), 10)
            }
        }
    }
}

/// What none, or hardly any, of the others has.
fn common(library: Library, full: &Full) -> Vec<String> {
    let mut notes = Vec::new();
    match full.failed {
        Judges::Failures { .. } => notes.push(
            "a number of failures within a time: a rate stands for it, from the log's calls per second"
                .to_owned(),
        ),
        Judges::Cusum { .. } => notes.push(
            "evidence: a rate stands for it that as many failures in a row trip; it finds smaller outages \
             later, or never"
                .to_owned(),
        ),
        Judges::Rate { .. } | Judges::Consecutive { .. } => {}
    }
    if !full.ramp().is_zero() {
        notes.push("ramp: all calls come back at once".to_owned());
    }
    if full.jitter_permille > 0 && library != Library::Resilience4j {
        notes.push("jitter_permille: open times are not drawn at random".to_owned());
    }
    if full.config.latch() {
        notes.push("latch: the breaker closes by itself".to_owned());
    }
    let has_backoff = full.max_open() > full.open_for();
    if has_backoff && matches!(library, Library::Opossum | Library::Hystrix) {
        notes.push("max_open: open times do not grow".to_owned());
    }
    let has_slow_rate = full.slow.is_some();
    if has_slow_rate && library != Library::Resilience4j {
        notes.push("a rule for slow calls: they don't trip it".to_owned());
    }
    if full.hung_after.is_some() && matches!(library, Library::Resilience4j | Library::Polly | Library::Envoy)
    {
        notes.push("hung_after: add a timeout, which makes such calls failures".to_owned());
    }
    let knows_slow = matches!(library, Library::Resilience4j | Library::Opossum | Library::Hystrix);
    if full.slow_after.is_some() && !has_slow_rate && !knows_slow {
        notes.push("slow_after: make slow calls failures with a timeout".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_library_says_what_it_can_not_express() {
        let toml = "open_for = '2s'\nmax_open = '30s'\nramp = '5s'\nmax_probes = 3\n\
                    [window]\nkind = 'failures'\nthreshold = 10\nwithin = '20s'";
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        for library in Library::value_variants() {
            let closest = library.closest(&settings, 50.0).unwrap();
            let notes = closest.not_expressed.join("\n");
            assert!(notes.contains("number of failures within a time"), "{library:?}: {notes}");
            assert!(notes.contains("ramp"), "{library:?}: {notes}");
            assert!(!closest.settings.is_empty(), "{library:?}");
        }
    }

    fn closest(library: Library, toml: &str) -> (String, String) {
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        let closest = library.closest(&settings, 500.0).unwrap();
        (closest.settings, closest.not_expressed.join("\n"))
    }

    #[test]
    fn a_rate_is_as_fine_as_each_library_has_it_and_is_else_said_to_be_coarser() {
        let toml = "[window]\nkind = 'time'\nfailure_rate = '0.5%'";
        for (library, line) in [
            (Library::Resilience4j, "failureRateThreshold: 0.5\n"),
            (Library::Polly, "FailureRatio = 0.005,"),
            (Library::Opossum, "errorThresholdPercentage: 0.5,"),
            (Library::Envoy, "failure_percentage_threshold: 1\n"),
            (Library::Hystrix, "errorThresholdPercentage=1\n"),
        ] {
            let (settings, notes) = closest(library, toml);
            assert!(settings.contains(line), "{library:?}: {settings}");
            let is_coarser = matches!(library, Library::Envoy | Library::Hystrix);
            assert_eq!(notes.contains("a rate of 0.5 %"), is_coarser, "{library:?}: {notes}");
            assert!(!notes.contains("number of failures"), "{library:?}: {notes}");
        }
    }

    #[test]
    fn what_is_left_out_or_taken_longer_is_said() {
        for library in Library::value_variants() {
            let toml = "hung_after = '2s'\nfailure_status = [429]\n[window]\nkind = 'cusum'";
            let (settings, notes) = closest(*library, toml);
            assert!(notes.contains("evidence: "), "{library:?}: {notes}");
            assert!(notes.contains("failure_status"), "{library:?}: {notes}");
            assert!(
                settings.contains("2000") || notes.contains("hung_after"),
                "{library:?}: {settings}{notes}"
            );
        }
        let toml = "open_for = '100ms'\nmax_open = '100ms'\n[window]\nkind = 'time'\nspan = '400ms'";
        let (settings, notes) = closest(Library::Polly, toml);
        assert!(settings.contains("BreakDuration = TimeSpan.FromMilliseconds(500)"), "{settings}");
        assert!(notes.contains("100ms: Polly allows no less than 500ms"), "{notes}");
        assert!(notes.contains("400ms: Polly allows no less than 500ms"), "{notes}");
        let (_, notes) = closest(Library::Resilience4j, toml);
        assert!(notes.contains("a span of 400ms: whole seconds only"), "{notes}");
        let toml = "slow_after = '1s'\nslow_window = {kind = 'consecutive'}\n[window]\nkind = 'calls'";
        let (_, notes) = closest(Library::Resilience4j, toml);
        assert!(notes.contains("slow_window"), "{notes}");
    }

    #[test]
    fn a_rate_is_what_resilience4j_knows() {
        let toml = "open_for = '5s'\n[window]\nkind = 'calls'\nsize = 50\nmin_calls = 20\n\
                    failure_rate_percent = 40";
        let settings: PartialSettings = toml::from_str(toml).unwrap();
        let closest = Library::Resilience4j.closest(&settings, 50.0).unwrap();
        assert_eq!(closest.not_expressed, Vec::<String>::new());
        for line in [
            "slidingWindowType: COUNT_BASED",
            "slidingWindowSize: 50",
            "minimumNumberOfCalls: 20",
            "failureRateThreshold: 40",
            "waitDurationInOpenState: 5000ms",
        ] {
            assert!(closest.settings.contains(line), "{line}: {}", closest.settings);
        }
    }
}
