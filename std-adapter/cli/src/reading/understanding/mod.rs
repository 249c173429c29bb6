//! Finds out how a log is to be read, from its first lines: what stands around each line, which layout it
//! has, where the duration is and in which unit, and whether times are when calls began or ended.
//!
//! Nothing is guessed. A layout's own names, a known layout, the form of a number and the order of the lines
//! are knowledge; the more plausible size is not. What is left open is asked ([`question`]).

mod by_place;
mod combined;
mod format;
mod known;
mod named;
mod order;
mod plan;
mod question;

use std::borrow::Cow;

use crate::reading::envelope::Envelope;
use crate::reading::error::ReadError;
use crate::reading::layouts::spans::SpanKind;
use crate::reading::layouts::w3c::Fields;
use crate::reading::layouts::{Layout, w3c};
use crate::reading::record::TimeIs;
use crate::reading::rules::Rules;
use crate::reading::value::{Scale, Unit};
pub(crate) use format::Format;
pub(crate) use plan::{Plan, Understood};
use question::{Question, words_of};

/// What the arguments say about the logs.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) format: Option<Format>,
    pub(crate) ts_field: Option<String>,
    pub(crate) ts_unit: Option<Unit>,
    pub(crate) status_field: Option<String>,
    pub(crate) ok_field: Option<String>,
    pub(crate) duration_field: Option<String>,
    pub(crate) duration_unit: Option<Unit>,
    pub(crate) duration_word: Option<i32>,
    pub(crate) time_word: Option<i32>,
    pub(crate) status_word: Option<i32>,
    pub(crate) log_format: Option<String>,
    pub(crate) time_is: Option<TimeIs>,
    pub(crate) span_kind: SpanKind,
    /// The field that says which breaker a call belongs to.
    pub(crate) key: Option<String>,
    pub(crate) rules: Rules,
}

/// The first lines of a log, without the blank ones, and out of what stands around them.
pub(crate) struct Head<'h> {
    path: &'h str,
    pub(crate) lines: Vec<(u64, Cow<'h, str>)>,
}

/// How sure it is whether times are when calls began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// By the layout, or by the order of the lines.
    Known(TimeIs),
    /// The order of the lines may tell; where it does not, this.
    Likely(TimeIs),
}

/// How a log is to be read, before its first lines were.
struct Draft {
    layout: Layout,
    format: String,
    duration_from: String,
    scale: Scale,
    side: Side,
}

impl<'h> Head<'h> {
    pub(crate) fn new(path: &'h str, lines: Vec<(u64, Cow<'h, str>)>) -> Self {
        Self { path, lines }
    }

    /// The lines, out of what stands around them.
    fn open(self) -> (Self, Vec<Envelope>) {
        let mut lines = self.lines;
        let mut envelopes = Vec::new();
        // Docker within syslog and the like; nobody has more.
        while envelopes.len() < 3 {
            let sample: Vec<_> = lines.iter().take(100).map(|(_, line)| line.clone()).collect();
            let Some(envelope) = Envelope::of(&sample) else {
                break;
            };
            envelopes.push(envelope);
            lines = lines
                .into_iter()
                .filter_map(|(number, line)| {
                    let opened = envelope.open(&line).ok()?.into_owned();
                    (!opened.trim().is_empty()).then_some((number, Cow::Owned(opened)))
                })
                .collect();
        }
        let path = self.path;
        (Self { path, lines }, envelopes)
    }

    /// A question about a line.
    fn ask(&self, line: u64, question: &Question) -> ReadError {
        ReadError::Unclear { path: self.path.to_owned(), line, question: question.text() }
    }

    /// The layout is none that is known.
    fn unknown(&self, matter: &str) -> ReadError {
        let line = self.lines.first().map_or("", |(_, line)| line);
        let question = Question {
            matter: matter.to_owned(),
            words: words_of(line),
            candidates: Vec::new(),
            advice: "choose a format with --format; or say where things stand with --time-word N \
                     --duration-word N --status-word N, or with --log-format and the server's own \
                     format"
                .to_owned(),
            is_numbered: true,
        };
        ReadError::UnknownFormat { path: self.path.to_owned(), question: question.text() }
    }
}

/// Finds out how this log is to be read; `None` where it has no lines.
pub(crate) fn understand(head: Head<'_>, reading: &Reading) -> Result<Option<Plan>, ReadError> {
    if head.lines.is_empty() {
        return Ok(None);
    }
    let (head, envelopes) = head.open();
    let by_place = reading.log_format.is_some() || reading.time_word.is_some();
    let format =
        if by_place { Some(Format::Words) } else { reading.format.or_else(|| Format::of(&head.lines)) };
    let Some(format) = format else {
        return Err(head.unknown("the first line does not tell the format, nor do others"));
    };
    let fixed = |layout, name: &str, from: &str, unit, side| Draft {
        layout,
        format: name.to_owned(),
        duration_from: from.to_owned(),
        scale: Scale::In(unit),
        side: Side::Known(side),
    };
    let draft = match format {
        Format::Json | Format::Csv | Format::Logfmt => named::understand(&head, format, reading)?,
        Format::Combined => combined::understand(&head, reading)?,
        Format::Words => by_place::understand(&head, reading)?,
        Format::W3c => w3c(&head, reading)?,
        Format::Envoy => fixed(
            Layout::Envoy,
            known::envoy_name(&head.lines),
            "%DURATION%, the word after the bytes sent",
            Unit::Ms,
            TimeIs::Start,
        ),
        Format::Alb => fixed(
            Layout::Alb,
            "AWS Application Load Balancer",
            "request_processing_time + target_processing_time + response_processing_time; where \
             one is -1, time - request_creation_time",
            Unit::S,
            TimeIs::End,
        ),
        Format::Elb => fixed(
            Layout::ClassicElb,
            "AWS Classic Load Balancer",
            "request_processing_time + backend_processing_time + response_processing_time",
            Unit::S,
            TimeIs::Start,
        ),
        Format::Haproxy => {
            fixed(Layout::Haproxy, "HAProxy HTTP", "Ta, the last of the five timers", Unit::Ms, TimeIs::Start)
        }
        Format::Otel => fixed(
            Layout::Spans(reading.span_kind),
            known::spans_name(&head.lines),
            "endTimeUnixNano - startTimeUnixNano",
            Unit::Ns,
            TimeIs::Start,
        ),
    };
    Ok(Some(Plan::new(draft, &head, envelopes, reading)))
}

/// The W3C's format, by what the first `#Fields` says.
fn w3c(head: &Head<'_>, reading: &Reading) -> Result<Draft, ReadError> {
    let found = head.lines.iter().find_map(|(_, line)| Fields::of(line));
    let Some(fields) = found else {
        return Err(head.unknown("no line begins with #Fields:"));
    };
    let refuse = |matter: String, advice: &str| {
        let lines = head.lines.iter().filter(|(_, line)| !w3c::is_directive(line));
        let (number, line) = lines.into_iter().next().map_or((1, ""), |(n, line)| (*n, &**line));
        let question = Question {
            matter,
            words: line.split(['\t', ' ']).map(str::to_owned).collect(),
            candidates: Vec::new(),
            advice: advice.to_owned(),
            is_numbered: true,
        };
        head.ask(number, &question)
    };
    if let Some(missing) = fields.missing() {
        let matter = format!("#Fields has no {missing}");
        return Err(refuse(matter, "the server can be told to write it"));
    }
    let Some(unit) = reading.duration_unit.or_else(|| fields.known_unit()) else {
        let matter = "in which unit is time-taken? Servers differ, and this one is not known";
        return Err(refuse(matter.to_owned(), "add --duration-unit s or ms"));
    };
    let name = if fields.is_cloudfront() {
        "CloudFront, standard"
    } else if unit == Unit::Ms && fields.known_unit() == Some(Unit::Ms) {
        "IIS, W3C extended"
    } else {
        "W3C extended"
    };
    Ok(Draft {
        layout: Layout::W3c(Scale::In(unit)),
        format: name.to_owned(),
        duration_from: "time-taken".to_owned(),
        scale: Scale::In(unit),
        side: Side::Known(TimeIs::End),
    })
}
