//! Scenes worth seeing: the article's outage, and what common mistakes come to. In each, breaker A is what people
//! write and breaker B is set with care; the tests hold each to what it shows.

/// A scene with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What a link calls it.
    pub name: &'static str,
    /// Numbers and outage, as in a link.
    pub numbers: &'static str,
    /// The first breaker's settings.
    pub a: &'static str,
    /// The second breaker's.
    pub b: &'static str,
}

/// Opens for this long each time, and one success closes it. Every default that a preset shows is written out.
macro_rules! plain {
    ($open_for:literal, $window:literal) => {
        concat!(
            "open_for = \"",
            $open_for,
            "\"\nmax_open = \"",
            $open_for,
            "\"\nprobe_successes = 1\n",
            "probe_lease = \"",
            $open_for,
            "\"\n\n[window]\n",
            $window,
            "\n",
        )
    };
}

/// Opens briefly at first, backs off while it relapses, and asks for three successes to close.
macro_rules! well_set {
    ($more:literal, $normal:literal, $broken:literal) => {
        concat!(
            $more,
            "open_for = \"500ms\"\nmax_open = \"5s\"\nprobe_successes = 3\nprobe_lease = \"30s\"\n\n",
            "[window]\nkind = \"cusum\"\nnormal = \"",
            $normal,
            "\"\nbroken = \"",
            $broken,
            "\"\n",
        )
    };
    ($more:literal) => {
        well_set!($more, "2%", "50%")
    };
}

const FIVE_IN_TEN: &str = plain!("10s", "kind = \"failures\"\nthreshold = 5\nwithin = \"10s\"");
const FIVE_IN_A_ROW: &str = plain!("500ms", "kind = \"consecutive\"\nthreshold = 5");

/// All of them; the first one is shown first.
pub const PRESETS: &[Preset] = &[
    // A provider hangs for a minute; callers wait 30 s. Judging calls that still run is what helps.
    Preset {
        name: "article",
        numbers: "rate=500&length_s=120&latency_ms=15&timeout_ms=30000&background_ppm=0\
                  &outage=hanging&outage_from_s=20&outage_for_s=60",
        a: FIVE_IN_TEN,
        b: concat!(
            "hung_after = \"250ms\"\n",
            plain!("10s", "kind = \"failures\"\nthreshold = 5\nwithin = \"10s\"")
        ),
    },
    // A number of failures says nothing about a share: at 1,000 calls a second it opens on a good day.
    Preset {
        name: "count_at_high_rate",
        numbers: "rate=1000&length_s=120&background_ppm=2000&outage=none",
        a: FIVE_IN_TEN,
        b: well_set!(""),
    },
    // A rate with too few calls: at one call in two seconds a single failure is a rate of 100 %.
    Preset {
        name: "rate_of_few",
        numbers: "rate=1&length_s=600&background_ppm=20000&outage=none&latency_ms=50",
        a: plain!("10s", "kind = \"time\"\nspan = \"5s\"\nfailure_rate = \"20%\"\nmin_calls = 1"),
        b: well_set!(""),
    },
    // Half of all calls is a lot to ask: a fifth fails, and it never opens.
    Preset {
        name: "blind_to_brownout",
        numbers: "rate=500&length_s=120&outage=half&share_percent=30&outage_from_s=20&outage_for_s=60",
        a: plain!("10s", "kind = \"calls\"\nsize = 100\nfailure_rate = \"50%\""),
        b: well_set!("", "1%", "20%"),
    },
    // Long open times go on rejecting when all is well again.
    Preset {
        name: "open_too_long",
        numbers: "rate=500&length_s=180&outage=dead&outage_from_s=20&outage_for_s=10",
        a: plain!("1m", "kind = \"failures\"\nthreshold = 5\nwithin = \"10s\""),
        b: well_set!(""),
    },
    // An open time shorter than the timeout: probes hang longer than the breaker waits for them.
    Preset {
        name: "open_shorter_than_timeout",
        numbers: "rate=200&length_s=120&timeout_ms=5000&outage=hanging&outage_from_s=20&outage_for_s=60",
        a: plain!("200ms", "kind = \"consecutive\"\nthreshold = 5"),
        b: well_set!("hung_after = \"250ms\"\n"),
    },
    // One probe closes it: a dependency that fails half of its calls is let in again and again.
    Preset {
        name: "one_probe",
        numbers: "rate=500&length_s=120&outage=half&share_percent=60&outage_from_s=20&outage_for_s=60",
        a: FIVE_IN_A_ROW,
        b: "open_for = \"500ms\"\nmax_open = \"5s\"\nprobe_successes = 5\nprobe_lease = \"30s\"\n\n\
            [window]\nkind = \"consecutive\"\nthreshold = 5\n",
    },
    // A connection that twenty calls share is reset now and then; the dependency is well.
    Preset {
        name: "bursts",
        numbers: "rate=2000&length_s=120&background_ppm=0&burst_every_s=10&burst_size=20&outage=none",
        a: plain!("10s", "kind = \"consecutive\"\nthreshold = 5"),
        b: well_set!(""),
    },
    // No backoff: a dependency that comes and goes is asked every time.
    Preset {
        name: "no_backoff",
        numbers: "rate=500&length_s=180&outage=flapping&period_ms=4000&outage_from_s=20&outage_for_s=120",
        a: FIVE_IN_A_ROW,
        b: "open_for = \"500ms\"\nmax_open = \"8s\"\nrelapse_within = \"30s\"\nprobe_successes = 3\n\
            probe_lease = \"30s\"\n\n[window]\nkind = \"consecutive\"\nthreshold = 5\n",
    },
    // A latch waits for a person, also when the dependency was away for two seconds only.
    Preset {
        name: "latched",
        numbers: "rate=200&length_s=120&outage=dead&outage_from_s=20&outage_for_s=2",
        a: concat!("latch = true\n", plain!("10s", "kind = \"consecutive\"\nthreshold = 5")),
        b: well_set!(""),
    },
    // It recovers slowly, and its answers are slow at first.
    Preset {
        name: "slow_recovery",
        numbers: "rate=500&length_s=180&outage=recovering&outage_from_s=20&outage_for_s=90",
        a: FIVE_IN_TEN,
        b: well_set!("ramp = \"5s\"\n"),
    },
    // A hundred thousand calls a second.
    Preset {
        name: "a_hundred_thousand",
        numbers: "rate=100000&length_s=60&timeout_ms=1000&outage=hanging&outage_from_s=15&outage_for_s=25",
        a: FIVE_IN_TEN,
        b: well_set!("hung_after = \"250ms\"\n"),
    },
];
