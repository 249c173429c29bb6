//! OpenTelemetry spans in JSON: one a line, or a batch a line as the OTLP file exporter writes them.
//!
//! A breaker stands before calls that a program makes: spans of the kind client. One whose status code is 2
//! (error) failed; 0 (unset) and 1 (ok) did not.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::reading::layouts::json::malformed;
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;

/// Which spans are calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SpanKind {
    /// Calls that the program made, or spans that don't say
    #[default]
    Client,
    /// Calls that the program answered
    Server,
    /// Whatever was measured
    All,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceSpans<'a> {
    #[serde(borrow)]
    resource: Resource<'a>,
    #[serde(borrow)]
    scope_spans: Vec<ScopeSpans<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resource<'a> {
    #[serde(borrow)]
    attributes: Vec<Attribute<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScopeSpans<'a> {
    #[serde(borrow)]
    spans: Vec<Span<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Span<'a> {
    /// Of a line that is a batch, and then there is nothing else.
    #[serde(borrow)]
    resource_spans: Vec<ResourceSpans<'a>>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    kind: Json,
    #[serde(alias = "start_time_unix_nano")]
    start_time_unix_nano: Json,
    #[serde(alias = "end_time_unix_nano")]
    end_time_unix_nano: Json,
    #[serde(borrow)]
    attributes: Vec<Attribute<'a>>,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    code: Json,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attribute<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    value: Json,
}

/// Whether a line's object is a span or a batch of them.
pub(crate) fn is_one(object: &serde_json::Map<String, Json>) -> bool {
    ["resourceSpans", "startTimeUnixNano", "start_time_unix_nano"]
        .iter()
        .any(|name| object.contains_key(*name))
}

/// Gives each call to `put`, and tells how many spans were of other kinds.
pub(crate) fn parse(
    line: &str,
    kind: SpanKind,
    key: Option<&str>,
    put: &mut dyn FnMut(Record<'_>),
) -> Result<u64, Malformed> {
    let line: Span<'_> = serde_json::from_str(line).map_err(|error| malformed(&error))?;
    if line.resource_spans.is_empty() {
        return one(&line, &[], kind, key, put);
    }
    let mut others = 0;
    for of_resource in &line.resource_spans {
        let resource = &of_resource.resource.attributes;
        for span in of_resource.scope_spans.iter().flat_map(|scope| &scope.spans) {
            others += one(span, resource, kind, key, put)?;
        }
    }
    Ok(others)
}

fn one(
    span: &Span<'_>,
    resource: &[Attribute<'_>],
    wanted: SpanKind,
    key: Option<&str>,
    put: &mut dyn FnMut(Record<'_>),
) -> Result<u64, Malformed> {
    if !is_wanted(&span.kind, wanted) {
        return Ok(1);
    }
    let start_us = nanos(&span.start_time_unix_nano, "startTimeUnixNano")? / 1_000;
    let end_us = nanos(&span.end_time_unix_nano, "endTimeUnixNano")? / 1_000;
    if end_us < start_us {
        let problem = "before the span's start";
        return Err(Malformed::field("endTimeUnixNano", problem));
    }
    put(Record {
        time_us: start_us,
        duration_us: end_us - start_us,
        ending: Ending::Ok(!is_code(&span.status.code, 2, "ERROR")),
        key: key.and_then(|key| named(span, resource, key)),
    });
    Ok(0)
}

fn is_wanted(kind: &Json, wanted: SpanKind) -> bool {
    let says_nothing = kind.is_null() || is_code(kind, 0, "UNSPECIFIED");
    match wanted {
        SpanKind::All => true,
        SpanKind::Client => says_nothing || is_code(kind, 3, "CLIENT"),
        SpanKind::Server => is_code(kind, 2, "SERVER"),
    }
}

/// An enumeration of OTLP is a number, or a name that ends with this.
fn is_code(value: &Json, number: u64, name: &str) -> bool {
    match value {
        Json::String(text) => text.to_ascii_uppercase().ends_with(name),
        value => value.as_u64() == Some(number),
    }
}

/// 64-bit numbers are text in OTLP's JSON.
fn nanos(value: &Json, field: &str) -> Result<i64, Malformed> {
    let number = match value {
        Json::String(text) => text.parse().ok(),
        value => value.as_i64(),
    };
    number.filter(|number| *number >= 0).ok_or_else(|| {
        let shown: String = value.to_string().chars().take(40).collect();
        Malformed::field(field, format!("{shown} is not a time in nanoseconds"))
    })
}

fn named<'a>(span: &'a Span<'_>, resource: &'a [Attribute<'_>], key: &str) -> Option<Cow<'a, str>> {
    if key == "name" {
        return Some(Cow::Borrowed(&span.name));
    }
    let mut attributes = span.attributes.iter().chain(resource);
    let found = attributes.find(|attribute| attribute.key == key)?;
    match found.value.as_object()?.values().next()? {
        Json::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}
