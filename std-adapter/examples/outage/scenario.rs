//! The scenario's numbers, in one place: the article's, and what `--scale` makes of them.
//!
//! Waiting is scaled, work is not. The outage, the timeout, the breaker's times and the pauses around them are
//! divided by the scale; the rate (500 payments a second), the pool (200 workers) and what a healthy request takes
//! stay as they are. So the pool is full after 200 / 500 = 0.4 s at any scale, as in the article, and two cores
//! keep up. (Raising the rate with the scale would need 5,000 requests a second and thousands of sockets;
//! shrinking the pool would give up the article's 200 workers.) The price: at scale 10 those 0.4 s are a larger
//! share of the outage than they are of the real minute.

use std::time::Duration;

use clap::Args;

/// The most failures that the window has room for: more than the pool's workers can cause at once.
pub(crate) const MOST_FAILURES: usize = 1_000;

/// What a player may change.
#[derive(Args, Clone, Debug)]
pub(crate) struct Knobs {
    /// Divide all waiting times by this; 1 plays the real minute
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=40))]
    pub(crate) scale: u32,

    /// Failures within one open time that trip the breaker; 1000 never trips, and fails the demonstration
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=MOST_FAILURES as i64))]
    pub(crate) threshold: u32,

    /// How long the breaker stays open, before scaling
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub(crate) open_for: u64,

    /// When a running call counts as failed in the third run, not scaled (healthy payments take 15 ms)
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(20..=30_000))]
    pub(crate) hung_after: u64,
}

/// Which breaker guards the payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    Article,
    HungAfter,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::None, Kind::Article, Kind::HungAfter];

    /// The name in the JSON file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::Article => "breaker",
            Kind::HungAfter => "hung_after",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Kind::None => "no breaker",
            Kind::Article => "breaker, as in the article",
            Kind::HungAfter => "breaker with hung_after",
        }
    }
}

/// The three parts of a run; a request belongs to the one in which it was due to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    Outage,
    After,
}

impl Phase {
    pub(crate) const ALL: [Phase; 3] = [Phase::Before, Phase::Outage, Phase::After];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Before => "before",
            Phase::Outage => "outage",
            Phase::After => "after",
        }
    }
}

/// The numbers of one demonstration, scaled.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) scale: u32,
    pub(crate) workers: usize,
    pub(crate) payments_per_second: u32,
    /// Of search, and as many of products.
    pub(crate) others_per_second: u32,
    pub(crate) provider_takes: Duration,
    pub(crate) search_takes: Duration,
    pub(crate) products_takes: Duration,
    pub(crate) before: Duration,
    pub(crate) outage: Duration,
    pub(crate) after: Duration,
    /// How long the API server waits for the provider.
    pub(crate) http_timeout: Duration,
    /// How long a caller waits for the API server. Longer than `http_timeout`, so that the server's own answer is
    /// seen; short enough that a run ends, and that at most 700 x 32 requests are ever open at once.
    pub(crate) patience: Duration,
    pub(crate) threshold: u32,
    pub(crate) open_for: Duration,
    pub(crate) hung_after: Duration,
}

impl Scenario {
    pub(crate) fn new(knobs: &Knobs) -> Self {
        let seconds = |article: u64| Duration::from_secs(article) / knobs.scale;
        Scenario {
            scale: knobs.scale,
            workers: 200,
            payments_per_second: 500,
            others_per_second: 100,
            provider_takes: Duration::from_millis(15),
            search_takes: Duration::from_millis(4),
            products_takes: Duration::from_millis(6),
            before: seconds(20),
            outage: seconds(60),
            after: seconds(40),
            http_timeout: seconds(30),
            patience: seconds(32),
            threshold: knobs.threshold,
            open_for: seconds(knobs.open_for),
            hung_after: Duration::from_millis(knobs.hung_after),
        }
    }

    pub(crate) fn length(&self) -> Duration {
        self.before + self.outage + self.after
    }

    pub(crate) fn introduction(&self) -> String {
        format!(
            "\
An API server with {} workers takes {} payments a second, and {} other requests a second (search, products).
Every request needs a worker. The payment provider hangs for {}: it accepts calls and never answers them.
Timeout of a call to the provider {}; callers of the API give up after {}.
Breaker: {} failures within {} trip it, open for {}; hung_after {} in the third run.

Scale {}: every waiting time is the article's divided by {}. The rate, the pool and the time that healthy work
takes stay, so the pool can be full after {} / {} = 0.4 s, as in the article.
Three runs of {}, on loopback only:",
            self.workers,
            self.payments_per_second,
            2 * self.others_per_second,
            seconds(self.outage),
            seconds(self.http_timeout),
            seconds(self.patience),
            self.threshold,
            seconds(self.open_for),
            seconds(self.open_for),
            seconds(self.hung_after),
            self.scale,
            self.scale,
            self.workers,
            self.payments_per_second,
            seconds(self.length()),
        )
    }
}

/// As short as it can be said: 6 s, 0.25 s.
pub(crate) fn seconds(duration: Duration) -> String {
    let text = format!("{:.2}", duration.as_secs_f64());
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}
