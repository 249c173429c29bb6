//! How a log is read, and what is told of that.

use std::sync::Arc;

use crate::reading::envelope::Envelope;
use crate::reading::layouts::w3c::Fields;
use crate::reading::layouts::{Layout, Scratch};
use crate::reading::record::TimeIs;
use crate::reading::rules::{Ending, Rules};
use crate::reading::understanding::{Draft, Head, Reading, Side, order};

/// How the lines of one log become calls.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) envelopes: Vec<Envelope>,
    pub(crate) layout: Layout,
    pub(crate) time_is: TimeIs,
    /// Times are whole seconds: the calls of one are spread over it.
    pub(crate) spreads: bool,
    pub(crate) rules: Rules,
    /// What `#Fields` says first.
    pub(crate) fields: Option<Arc<Fields>>,
    pub(crate) understood: Understood,
}

/// What was understood, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Understood {
    pub(crate) format: String,
    pub(crate) times_are: &'static str,
    pub(crate) duration_from: String,
    pub(crate) duration_unit: &'static str,
    /// The step of the times.
    pub(crate) resolution: &'static str,
    pub(crate) statuses: &'static str,
    pub(crate) warnings: Vec<String>,
}

/// Lines whose times and durations are compared.
struct Sample {
    times_us: Vec<i64>,
    durations_us: Vec<i64>,
    statuses: Vec<u16>,
    saw_no_zone: bool,
}

impl Sample {
    fn of(layout: &Layout, head: &Head<'_>) -> Self {
        let mut scratch = Scratch::default();
        let mut sample =
            Self { times_us: Vec::new(), durations_us: Vec::new(), statuses: Vec::new(), saw_no_zone: false };
        for (_, line) in &head.lines {
            // What is malformed is told when it is read.
            let _ = layout.parse(line, &mut scratch, None, &mut |record| {
                sample.times_us.push(record.time_us);
                sample.durations_us.push(record.duration_us);
                if let Ending::Status(status) = record.ending {
                    sample.statuses.push(status);
                }
            });
        }
        sample.saw_no_zone = scratch.dates.saw_no_zone;
        sample
    }
}

impl Plan {
    pub(super) fn new(draft: Draft, head: &Head<'_>, envelopes: Vec<Envelope>, reading: &Reading) -> Self {
        let sample = Sample::of(&draft.layout, head);
        let mut warnings = Vec::new();
        let time_is = side(&draft, &sample, reading, &mut warnings);
        let spreads = !sample.times_us.is_empty() && order::resolution(&sample.times_us) == 1_000_000;
        if spreads {
            warnings
                .push("times are whole seconds: the calls of each second are spread evenly over it".into());
        }
        if sample.saw_no_zone {
            warnings.push("times name no zone: UTC is taken".into());
        }
        let is_grpc = is_grpc(&draft.layout, &sample.statuses);
        if is_grpc {
            warnings.push(
                "statuses are below 100: they are read as gRPC's, where 2, 4, 8, 13, 14 and 15 are \
                 failures"
                    .into(),
            );
        } else if sample.statuses.iter().any(|status| (1..100).contains(status)) {
            warnings.push("some statuses are below 100, and count as successes".into());
        }
        let fields = head.lines.iter().find_map(|(_, line)| Fields::of(line));
        let understood = Understood {
            format: named(&draft, &envelopes, is_grpc),
            times_are: time_is.name(),
            duration_from: within(draft.duration_from, &envelopes),
            duration_unit: draft.scale.name(),
            resolution: match order::resolution(&sample.times_us) {
                1_000_000 => "s",
                1_000 => "ms",
                _ => "us",
            },
            statuses: if is_grpc { "gRPC" } else { "HTTP" },
            warnings,
        };
        Self {
            envelopes,
            layout: draft.layout,
            time_is,
            spreads,
            rules: reading.rules.for_statuses(is_grpc),
            fields: fields.map(Arc::new),
            understood,
        }
    }
}

/// Whether times are begins or ends: by the arguments, by the layout, by the order of the lines.
fn side(draft: &Draft, sample: &Sample, reading: &Reading, warnings: &mut Vec<String>) -> TimeIs {
    let speaks_against = |side| order::contradicts(&sample.times_us, &sample.durations_us, side);
    let (side, is_open) = match (reading.time_is, draft.side) {
        (Some(side), _) | (None, Side::Known(side)) => (side, false),
        (None, Side::Likely(likely)) => match (speaks_against(TimeIs::Start), speaks_against(TimeIs::End)) {
            (true, false) => (TimeIs::End, false),
            (false, true) => (TimeIs::Start, false),
            _ => (likely, true),
        },
    };
    if is_open {
        warnings.push(format!(
            "the order of the lines does not tell whether times are when calls began or ended; {} is \
             taken, --time-is says otherwise",
            side.name()
        ));
    } else if speaks_against(side) {
        let other = match side {
            TimeIs::Start => "ended (--time-is end)",
            TimeIs::End => "began (--time-is start)",
        };
        warnings.push(format!(
            "times are taken for when calls {}, but the order of the lines says that they are when \
             calls {other}",
            match side {
                TimeIs::Start => "began",
                TimeIs::End => "ended",
            }
        ));
    }
    side
}

/// Whether statuses are gRPC's: all of them are numbers that gRPC has. Known layouts write HTTP's.
fn is_grpc(layout: &Layout, statuses: &[u16]) -> bool {
    let may_be = matches!(layout, Layout::Json(..) | Layout::Csv(_) | Layout::Logfmt(_) | Layout::ByPlace(_));
    may_be && !statuses.is_empty() && statuses.iter().all(|status| *status <= 16)
}

/// Where the duration stands, in the field of an object where lines are in one.
fn within(from: String, envelopes: &[Envelope]) -> String {
    if envelopes.contains(&Envelope::Docker) { from + " of `log`" } else { from }
}

fn named(draft: &Draft, envelopes: &[Envelope], is_grpc: bool) -> String {
    let mut name = draft.format.clone();
    if is_grpc {
        name.push_str(", gRPC statuses");
    }
    let mut envelopes = envelopes;
    // HAProxy has no files of its own: syslog belongs to its format.
    if let (Layout::Haproxy, [outer @ .., Envelope::Syslog3164 | Envelope::Syslog5424]) =
        (&draft.layout, envelopes)
    {
        name.push_str(", behind syslog");
        envelopes = outer;
    }
    for envelope in envelopes.iter().rev() {
        name.push_str(" in ");
        name.push_str(envelope.name());
    }
    name
}
