//! Makes up logs: steady traffic to a dependency that now and then has an outage.
//!
//! The same numbers give the same log on every machine.

/// One made-up call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// When it began, in milliseconds since the epoch.
    pub(crate) start_ms: u64,
    /// What it took.
    pub(crate) duration_ms: u64,
    /// The HTTP status that it ended with.
    pub(crate) status: u16,
    /// Which dependency it went to.
    pub(crate) key: &'static str,
}

/// An outage: from, to (in seconds since the log's start) and how many in a hundred calls fail.
pub(crate) type Outage = (u64, u64, u64);

/// What to make up.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Calls a second, spread at random.
    pub(crate) calls_per_second: u64,
    /// How long the log is.
    pub(crate) seconds: u64,
    /// Outages of the first key.
    pub(crate) outages: Vec<Outage>,
    /// Calls in a thousand that fail at any time.
    pub(crate) noise_permille: u64,
    /// What a call takes that hangs until its caller's timeout.
    pub(crate) timeout_ms: u64,
    /// The dependencies, which take turns.
    pub(crate) keys: Vec<&'static str>,
    /// Another seed gives another log.
    pub(crate) seed: u64,
}

/// 2026-01-01T00:00:00Z.
pub(crate) const START_MS: u64 = 1_767_225_600_000;

impl Traffic {
    /// Ten minutes with two outages: a hard one, and one in which every second call fails.
    pub(crate) fn two_outages() -> Self {
        Self {
            calls_per_second: 5,
            seconds: 600,
            outages: vec![(120, 180, 100), (360, 420, 50)],
            noise_permille: 5,
            timeout_ms: 3_000,
            keys: vec!["payments", "search"],
            seed: 7,
        }
    }

    /// The calls, in the order in which they began.
    pub(crate) fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        let mut random = Random(self.seed);
        (0..self.calls_per_second * self.seconds).map(move |number| {
            let since_ms = number * 1_000 / self.calls_per_second
                + random.below(1_000 / self.calls_per_second.min(1_000));
            let key = self.keys[number as usize % self.keys.len()];
            let (duration_ms, status) = self.answer(since_ms, key, &mut random);
            Sample { start_ms: START_MS + since_ms, duration_ms, status, key }
        })
    }

    fn answer(&self, since_ms: u64, key: &str, random: &mut Random) -> (u64, u16) {
        let second = since_ms / 1_000;
        let percent = self
            .outages
            .iter()
            .find(|(from, to, _)| (*from..*to).contains(&second) && key == self.keys[0])
            .map_or(0, |(.., percent)| *percent);
        if random.below(100) < percent {
            // Half hang until the timeout, half are refused at once.
            if random.below(2) == 0 { (self.timeout_ms, 504) } else { (1 + random.below(5), 503) }
        } else if random.below(1_000) < self.noise_permille {
            (5 + random.below(40), 500)
        } else {
            (10 + random.below(80), 200)
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end.max(1)
    }
}

/// The formats that a log can be made up in.
pub(crate) const FORMATS: [&str; 6] = ["json", "csv", "nginx", "apache", "envoy", "alb"];

/// A line in this format, with the line break; those of `csv` need [`CSV_HEADER`] first.
pub(crate) fn line(format: &str, sample: &Sample) -> String {
    let Sample { start_ms, duration_ms, status, key } = sample;
    let end_ms = start_ms + duration_ms;
    let seconds = *duration_ms as f64 / 1e3;
    match format {
        "json" => format!(
            "{{\"ts\":{start_ms},\"status\":{status},\"duration_ms\":{duration_ms},\"key\":\"{key}\"}}\n"
        ),
        "csv" => format!("{},{status},{seconds:.3},{key}\n", rfc_3339(*start_ms)),
        "nginx" => format!(
            "10.0.0.1 - - [{}] \"GET /{key} HTTP/1.1\" {status} 612 \"-\" \"curl/8\" {seconds:.3}\n",
            clf(end_ms)
        ),
        "apache" => format!(
            "10.0.0.1 - - [{}] \"GET /{key} HTTP/1.1\" {status} 612 \"-\" \"curl/8\" {}\n",
            clf(*start_ms),
            duration_ms * 1_000
        ),
        "envoy" => format!(
            "[{}] \"GET / HTTP/2\" {status} - 0 19 {duration_ms} - \"-\" \"curl/8\" \"-\" \"{key}\" \
             \"10.0.0.2:80\"\n",
            rfc_3339(*start_ms)
        ),
        _ => format!(
            "https {} app/lb/1 10.0.0.1:5 10.0.0.2:80 0.000 {seconds:.3} 0.000 {status} {status} 34 366 \
             \"GET https://{key}:443/ HTTP/1.1\" \"curl/8\" - TLSv1.3 arn:group \"-\" \"{key}\" \"-\" 0 \
             {} \"forward\" \"-\" \"-\"\n",
            rfc_3339(end_ms),
            rfc_3339(*start_ms)
        ),
    }
}

/// The first line of a CSV log.
pub(crate) const CSV_HEADER: &str = "ts,status,duration_s,key\n";

/// Times within the first day of 2026.
fn rfc_3339(ms: u64) -> String {
    let (hour, minute, second) = clock(ms);
    format!("2026-01-01T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
}

fn clf(ms: u64) -> String {
    let (hour, minute, second) = clock(ms);
    format!("01/Jan/2026:{hour:02}:{minute:02}:{second:02} +0000")
}

fn clock(ms: u64) -> (u64, u64, u64) {
    let seconds = (ms - START_MS) / 1_000;
    (seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// A whole log: lines come in the order in which calls ended, as servers write them.
pub(crate) fn log(format: &str, traffic: &Traffic) -> String {
    let mut samples: Vec<_> = traffic.samples().collect();
    samples.sort_by_key(|sample| sample.start_ms + sample.duration_ms);
    let header = if format == "csv" { CSV_HEADER } else { "" };
    let lines = samples.iter().map(|sample| line(format, sample));
    std::iter::once(header.to_owned()).chain(lines).collect()
}
