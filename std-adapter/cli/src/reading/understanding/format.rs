//! Which layout a log has, told by its first lines: the one that most of them are in.

use std::borrow::Cow;

use crate::reading::layouts::combined::Parts;
use crate::reading::layouts::words::{Kind, Places, Words};
use crate::reading::layouts::{haproxy, logfmt, spans};
use crate::reading::number::Number;

/// What a log is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Format {
    /// An object a line; also Traefik's, Caddy's, Google's load balancer's, Envoy's
    Json,
    /// With a header line that names the columns
    Csv,
    /// nginx's or Apache's combined or common format, with a duration in it; also ingress-nginx's and
    /// Traefik's
    Combined,
    /// Envoy's default format, and Istio's
    Envoy,
    /// AWS Application Load Balancer
    Alb,
    /// AWS Classic Load Balancer
    Elb,
    /// HAProxy's HTTP log
    Haproxy,
    /// The W3C's extended format with #Fields: IIS, CloudFront
    W3c,
    /// name=value pairs
    Logfmt,
    /// OpenTelemetry spans as JSON, one or a batch a line
    Otel,
    /// Words whose places --time-word, --duration-word and --status-word give
    Words,
}

/// Lines that are looked at.
const LOOKED_AT: usize = 200;

impl Format {
    /// What most of these lines are in, if half of them are in any.
    pub(crate) fn of(lines: &[(u64, Cow<'_, str>)]) -> Option<Self> {
        let looked_at = lines.get(..LOOKED_AT).unwrap_or(lines);
        if looked_at.iter().any(|(_, line)| line.starts_with("#Fields:")) {
            return Some(Self::W3c);
        }
        let mut votes: Vec<(Self, usize)> = Vec::new();
        for (_, line) in looked_at {
            let Some(format) = Self::of_line(line) else {
                continue;
            };
            match votes.iter_mut().find(|(known, _)| *known == format) {
                Some((_, count)) => *count += 1,
                None => votes.push((format, 1)),
            }
        }
        // The first of several with as many.
        let (format, count) = votes.into_iter().rev().max_by_key(|(_, count)| *count)?;
        (count * 2 >= looked_at.len()).then_some(format)
    }

    /// Told by one line.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let bracketed = line.strip_prefix('[');
        // A list of objects is no log, but JSON can tell best what is wrong with it.
        let is_list = bracketed.is_some_and(|rest| rest.trim_start().starts_with('{'));
        if line.starts_with('{') || is_list {
            let object: Result<serde_json::Map<_, _>, _> = serde_json::from_str(line);
            let is_span = object.is_ok_and(|object| spans::is_one(&object));
            return Some(if is_span { Self::Otel } else { Self::Json });
        }
        let mut places = Places::default();
        if let Some(format) = places.split(line).ok().and_then(|words| of_words(&words)) {
            return Some(format);
        }
        let has_time =
            |parts: Parts<'_, '_>| crate::reading::dates::Dates::default().micros(parts.time).is_some();
        if Parts::of(line, &mut places).is_ok_and(has_time) {
            return Some(Self::Combined);
        }
        let pairs = logfmt::pairs(line).take(40);
        let named = pairs
            .filter(|pair| pair.as_ref().is_ok_and(|(name, value)| !name.is_empty() && !value.is_empty()));
        if named.count() >= 3 {
            return Some(Self::Logfmt);
        }
        line.contains([',', ';', '\t']).then_some(Self::Csv)
    }
}

fn of_words(words: &Words<'_, '_>) -> Option<Format> {
    let is_time = |index: usize| {
        let bytes = words.get(index).filter(|word| word.is_bare());
        bytes.is_some_and(|word| word.text.as_bytes().get(10) == Some(&b'T'))
    };
    let is_number = |index: usize| words.get(index).is_some_and(|word| Number::in_text(word.text).is_some());
    let is_quoted = |index: usize| words.get(index).is_some_and(|word| word.kind == Kind::Quoted);
    let first = words.get(0)?;
    if first.kind == Kind::Bracketed && first.text.contains('T') && is_quoted(1) {
        return Some(Format::Envoy);
    }
    let is_kind = ["http", "https", "h2", "grpcs", "ws", "wss"].contains(&first.text);
    if is_kind && first.is_bare() && is_time(1) {
        return Some(Format::Alb);
    }
    if is_time(0) && (4..7).all(is_number) && is_quoted(11) {
        return Some(Format::Elb);
    }
    haproxy::date_at(words).map(|_| Format::Haproxy)
}
