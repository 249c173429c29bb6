//! logfmt: `name=value` pairs with spaces between, values with spaces in quotes.

use std::borrow::Cow;

use memchr::memchr2;

use crate::reading::dates::Dates;
use crate::reading::layouts::words::quote;
use crate::reading::malformed::Malformed;
use crate::reading::named::{Columns, Found};
use crate::reading::record::Record;
use crate::reading::value::Value;

pub(crate) fn parse<'a>(
    line: &'a str,
    columns: &Columns,
    dates: &mut Dates,
) -> Result<Record<'a>, Malformed> {
    let mut found = Found::default();
    for pair in pairs(line) {
        let (name, value) = pair?;
        if let Some(field) = columns.field(name) {
            found.put(field, Value::Text(value));
        }
    }
    found.record(columns, dates)
}

/// The pairs of a line. A word without `=` is a pair without a value.
pub(crate) fn pairs(line: &str) -> impl Iterator<Item = Result<(&str, Cow<'_, str>), Malformed>> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let name_end = at + memchr2(b'=', b' ', rest).unwrap_or(rest.len());
        let name = line.get(at..name_end).unwrap_or_default();
        if bytes.get(name_end) != Some(&b'=') {
            at = name_end;
            return Some(Ok((name, Cow::Borrowed(""))));
        }
        let start = name_end + 1;
        if bytes.get(start) == Some(&b'"') {
            let Some(close) = quote(bytes, start + 1) else {
                at = bytes.len();
                let problem = "a quote that does not close";
                return Some(Err(Malformed::column(start + 1, problem)));
            };
            at = close + 1;
            let text = line.get(start + 1..close).unwrap_or_default();
            return Some(Ok((name, unescaped(text))));
        }
        let rest = bytes.get(start..).unwrap_or_default();
        at = start + memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
        Some(Ok((name, Cow::Borrowed(line.get(start..at).unwrap_or_default()))))
    })
}

/// Escapes are those of JSON and Go; one that isn't stays as it is written.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let json: Result<String, _> = serde_json::from_str(&format!("\"{text}\""));
    json.map_or(Cow::Borrowed(text), Cow::Owned)
}
