//! Layouts that are known by the names of their fields, or by their words.

use std::borrow::Cow;

use crate::reading::layouts::envoy::bytes_at;
use crate::reading::layouts::words::{Kind, Places};
use crate::reading::record::TimeIs;
use crate::reading::value::{Scale, Unit};

/// A layout in JSON whose fields are known by name.
pub(super) struct Known {
    pub(super) format: &'static str,
    /// All of these are there.
    signs: &'static [&'static str],
    /// The first of these that is there.
    pub(super) ts: &'static [(&'static str, TimeIs)],
    pub(super) status: &'static str,
    pub(super) duration: &'static str,
    pub(super) scale: Scale,
    /// In which unit it always is, even where it stands beside the number.
    pub(super) unit: Option<Unit>,
}

const KNOWN: [Known; 5] = [
    Known {
        format: "Traefik JSON",
        signs: &["Duration", "DownstreamStatus"],
        ts: &[("StartUTC", TimeIs::Start), ("StartLocal", TimeIs::Start), ("time", TimeIs::End)],
        status: "DownstreamStatus",
        duration: "Duration",
        scale: Scale::In(Unit::Ns),
        unit: None,
    },
    Known {
        format: "Caddy JSON",
        signs: &["ts", "duration", "status", "request.method", "request.uri"],
        ts: &[("ts", TimeIs::End)],
        status: "status",
        duration: "duration",
        scale: Scale::In(Unit::S),
        unit: None,
    },
    Known {
        format: "Google Cloud load balancer, JSON",
        signs: &["httpRequest.latency", "httpRequest.status", "timestamp"],
        ts: &[("timestamp", TimeIs::Start)],
        status: "httpRequest.status",
        duration: "httpRequest.latency",
        scale: Scale::Written,
        unit: Some(Unit::S),
    },
    Known {
        format: "Envoy JSON",
        signs: &["start_time", "duration", "response_code", "response_flags"],
        ts: &[("start_time", TimeIs::Start)],
        status: "response_code",
        duration: "duration",
        scale: Scale::In(Unit::Ms),
        unit: None,
    },
    // Only what nginx calls its variables.
    Known {
        format: "nginx JSON",
        signs: &["request_time", "status", "remote_addr"],
        ts: &[("time_iso8601", TimeIs::End), ("time_local", TimeIs::End), ("msec", TimeIs::End)],
        status: "status",
        duration: "request_time",
        scale: Scale::In(Unit::S),
        unit: None,
    },
];

/// The layout whose fields these lines have.
pub(super) fn of_fields(has: impl Fn(&str) -> bool) -> Option<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.signs.iter().all(|name| has(name)) && known.ts.iter().any(|(name, _)| has(name)))
}

/// Which of Envoy's and Istio's formats most lines are in: as the first that can be read.
pub(super) fn envoy_name(lines: &[(u64, Cow<'_, str>)]) -> &'static str {
    let mut places = Places::default();
    for (_, line) in lines {
        let Ok(words) = places.split(line) else {
            continue;
        };
        let Some(bytes) = bytes_at(&words) else {
            continue;
        };
        let is_quoted = |index: usize| words.get(index).is_some_and(|w| w.kind == Kind::Quoted);
        return match bytes {
            4 => "Envoy, default",
            5 if is_quoted(4) => "Istio, default until 1.2",
            6 if is_quoted(4) && is_quoted(5) => "Istio, default from 1.3 to 1.7",
            _ => "Istio, default since 1.8",
        };
    }
    "Envoy"
}

pub(super) fn spans_name(lines: &[(u64, Cow<'_, str>)]) -> &'static str {
    let is_batch = |(_, line): &&(u64, Cow<'_, str>)| line.contains("\"resourceSpans\"");
    if lines.iter().filter(is_batch).count() * 2 > lines.len() {
        "OpenTelemetry, OTLP file exporter"
    } else {
        "OpenTelemetry spans, one a line"
    }
}
