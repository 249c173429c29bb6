//! The tables of one breaker's settings.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use nanobreaker_core::Rate;

use crate::keys::table;
use crate::statuses::StatusSet;
use crate::window::WindowKind;

/// Where a key belongs that is none of a breaker's.
fn elsewhere(written: &str) -> Option<&'static str> {
    if matches!(written, "profile" | "check" | "fleet") {
        return Some("[breakers.NAME] of a catalogue");
    }
    let is_windows = PartialWindow::KEYS.iter().any(|key| key.form(written).is_some());
    is_windows.then_some("the table [window]")
}

table! {
    /// The settings of one breaker, as written in a file. What is absent has its default.
    ///
    /// Durations are written with their unit (`open_for = "10s"`), or as a whole number of milliseconds
    /// under the key with `_ms` (`open_for_ms = 10000`).
    #[derive(Copy)]
    pub struct PartialSettings, "| key | default | meaning |", "| --- | ------- | ------- |" {
        open_for: Duration = "500ms", "how long a first trip rejects calls";
        max_open: Duration = "5s, or `open_for` if longer",
            "what backoff may lengthen it to, and the longest `Retry-After` that is followed";
        relapse_within: Duration = "`max_open`",
            "a trip so soon after closing lengthens the next open time";
        max_probes: u32 = "1", "probes in flight at once while half-open";
        probe_successes: u32 = "3", "probes that must succeed to close";
        probe_failures: u32 = "1", "probes that must fail to open again";
        probe_lease: Duration = "30s",
            "how long probes in flight may stay without any answer";
        ramp: Duration = "0s (off)", "how long the admitted share grows after half-open";
        jitter_permille: u32 = "0",
            "which part of an open time may be cut off at random, in thousandths";
        latch: bool = "false", "a trip holds the breaker open until a reset";
        slow_after: Duration = "none", "a call that took longer is slow";
        hung_after: Duration = "none", "an asynchronous call that runs longer has failed";
        failure_status: StatusSet = "what the adapter or the command says",
            "the statuses that are failures: `[\"5xx\", 429]`, of gRPC by name: `[\"UNAVAILABLE\"]`";
        ignore_status: StatusSet = "none", "the statuses that say nothing; they come first";
    }
    tables [
        window: PartialWindow, "what trips: see [`PartialWindow`]";
        slow_window: PartialWindow, "what slow calls trip, by any rule: `failure_rate` is their rate there";
    ]
    renamed [
        "probes" => "max_probes",
        "successes" => "probe_successes",
        "failures" => "probe_failures"
    ]
    elsewhere elsewhere
}

table! {
    /// The settings of a window; which of them count depends on the kind.
    ///
    /// Rates are written in per cent (`failure_rate = "0.5%"`), or as a whole number under the key with
    /// `_percent` (`failure_rate_percent = 50`).
    ///
    /// `slow_rate` stands beside the other kinds, too; there `size` or `span` says what it is over. It
    /// needs `slow_after`. A percentile (`p95 = "500ms"`) takes the place of both: it is the rate of calls
    /// that take longer, and only one can be. See [`Percentile`](crate::Percentile).
    #[derive(Copy)]
    pub struct PartialWindow,
        "| key | of kind | default | meaning |", "| --- | ------- | ------- | ------- |" {
        kind: WindowKind = "`cusum`, or `failures` where its keys are set",
            "`failures`, `consecutive`, `calls`, `time` or `cusum`", of "" [Failures Consecutive Calls Time Cusum];
        threshold: u32 = "5", "failures that trip",
            of "failures, consecutive" [Failures Consecutive];
        within: Duration = "10s", "the time in which they must fall", of "failures" [Failures];
        size: u32 = "100", "calls that the rate is over", of "calls" [Calls];
        span: Duration = "10s", "the time that the rate is over", of "time" [Time];
        buckets: u32 = "10", "steps in which the span slides", of "time" [Time];
        failure_rate: Rate = "50%", "the failure rate that trips", of "calls, time" [Calls Time];
        slow_rate: Rate = "none", "the rate of slow calls that trips", of "calls, time" [Calls Time];
        p50: Duration = "none", "trips when the median of durations exceeds this",
            of "calls, time" [Calls Time];
        p90: Duration = "none", "the same of the 90th percentile, by nearest rank",
            of "calls, time" [Calls Time];
        p95: Duration = "none", "the same of the 95th", of "calls, time" [Calls Time];
        p99: Duration = "none", "the same of the 99th", of "calls, time" [Calls Time];
        p999: Duration = "none", "the same of the 99.9th", of "calls, time" [Calls Time];
        min_calls: u32 = "20, or `size` if less", "calls that must be there for a rate to be judged",
            of "calls, time" [Calls Time];
        normal: Rate = "2%", "how often calls fail on a bad but well day", of "cusum" [Cusum];
        broken: Rate = "50%", "the smallest failure rate that is worth stopping for",
            of "cusum" [Cusum];
        calls_per_false_trip: u64 = "500,000,000", "how many calls pass between two trips that are wrong",
            of "cusum" [Cusum];
        sustained_for: Duration = "20ms", "how long the evidence must have been mounting before it trips",
            of "cusum" [Cusum];
    }
    tables []
    renamed []
    elsewhere elsewhere
}

impl PartialSettings {
    /// These settings, and those of `base` where these say nothing.
    ///
    /// ```
    /// use nanobreaker_settings::PartialSettings;
    /// use core::time::Duration;
    ///
    /// let base: PartialSettings = toml::from_str("open_for = '5s'\nmax_probes = 3")?;
    /// let own: PartialSettings = toml::from_str("open_for = '1m'")?;
    /// let settings = own.or(base);
    /// assert_eq!(settings.open_for, Some(Duration::from_secs(60)));
    /// assert_eq!(settings.max_probes, Some(3));
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        self.over(base)
    }
}

impl PartialWindow {
    /// These settings, and those of `base` where these say nothing. A window of another kind than
    /// that of `base` takes nothing over from it.
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        let is_of_other_kind = self.kind.is_some_and(|kind| kind != base.kind_in_force());
        if is_of_other_kind { self } else { self.over(base) }
    }

    /// The names of the keys that count for `kind`.
    pub(crate) fn keys_of(kind: WindowKind) -> String {
        let keys = Self::KEYS.iter().filter(|key| key.is_of(kind));
        let names: Vec<&str> = keys.map(|key| key.name).filter(|name| *name != "kind").collect();
        names.join(", ")
    }
}
