//! The words of an access log's line: bare, "quoted" or [in brackets].

use crate::reading::malformed::Malformed;
use crate::reading::value::Value;

/// One word, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Without its quotes or brackets. Escapes stay as they are.
    pub(crate) text: &'a str,
    /// Counted in bytes from 1.
    pub(crate) column: usize,
    pub(crate) is_quoted: bool,
}

/// Splits a line.
pub(crate) fn words(line: &str) -> Result<Vec<Word<'_>>, Malformed> {
    let mut words = Vec::with_capacity(24);
    let mut at = 0;
    while let Some(word) = next(line, &mut at)? {
        words.push(word);
    }
    Ok(words)
}

fn next<'a>(line: &'a str, at: &mut usize) -> Result<Option<Word<'a>>, Malformed> {
    let rest = line.get(*at..).unwrap_or_default();
    let trimmed = rest.trim_start_matches([' ', '\t']);
    let start = *at + (rest.len() - trimmed.len());
    let (is_quoted, length) = match trimmed.bytes().next() {
        None => return Ok(None),
        Some(b'"') => (true, closing(trimmed, b'"')),
        Some(b'[') => (true, closing(trimmed, b']')),
        Some(_) => (false, Some(bare(trimmed))),
    };
    let Some(length) = length else {
        let problem = "a quote or bracket that does not close";
        return Err(Malformed::column(start + 1, problem));
    };
    *at = start + length;
    let edge = usize::from(is_quoted);
    let text = trimmed.get(edge..length - edge).unwrap_or_default();
    Ok(Some(Word {
        text,
        column: start + 1,
        is_quoted,
    }))
}

/// The length up to and with the closing mark. A mark after a backslash does not close.
fn closing(text: &str, mark: u8) -> Option<usize> {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\\' if !escaped => escaped = true,
            _ if byte == mark && !escaped => return Some(index + 1),
            _ => escaped = false,
        }
    }
    None
}

/// A bare word ends at a space. `name="quoted text"` is one word.
fn bare(text: &str) -> usize {
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    match text.find("=\"") {
        Some(equals) if equals < end => {
            let quoted = text.get(equals + 1..).unwrap_or_default();
            closing(quoted, b'"').map_or(end, |length| equals + 1 + length)
        }
        _ => end,
    }
}

/// The word with this index, or what is missing.
pub(crate) fn word<'a>(
    words: &[Word<'a>],
    index: usize,
    field: &str,
) -> Result<Word<'a>, Malformed> {
    let end = words.last().map_or(1, |word| word.column + word.text.len());
    words
        .get(index)
        .copied()
        .ok_or_else(|| Malformed::field(field, "missing").at(end))
}

impl<'a> Word<'a> {
    pub(crate) fn value(self) -> Value<'a> {
        Value::text(self.text)
    }

    /// The method and the path of a request line, `GET /path?query HTTP/1.1`: without the query.
    pub(crate) fn request(self) -> Option<(&'a str, &'a str)> {
        let mut parts = self.text.split(' ');
        let (method, target) = (parts.next()?, parts.next()?);
        // ALB writes the whole URL.
        let path = match target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => target,
        };
        Some((method, path.split('?').next().unwrap_or(path)))
    }
}
