//! The words of an access log's line: bare, "quoted" or [in brackets].
//!
//! A list that nginx writes with spaces in it (`0.010, 0.200 : 0.300`) is one word.

use memchr::{memchr, memchr2};

use crate::reading::malformed::Malformed;
use crate::reading::value::Value;

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    Quoted,
    Bracketed,
}

/// One word, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Without its quotes or brackets. Escapes stay as they are.
    pub(crate) text: &'a str,
    /// Counted in bytes from 1.
    pub(crate) column: usize,
    pub(crate) kind: Kind,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    kind: Kind,
}

/// The places of a line's words, in the same memory for each line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Vec<Span>);

/// A line's words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a, 'p> {
    line: &'a str,
    spans: &'p [Span],
}

impl Places {
    /// Splits a line.
    pub(crate) fn split<'a>(&mut self, line: &'a str) -> Result<Words<'a, '_>, Malformed> {
        self.split_from(line, 0)
    }

    /// Splits a line from a place on where no word is under way.
    pub(crate) fn split_from<'a>(&mut self, line: &'a str, from: usize) -> Result<Words<'a, '_>, Malformed> {
        self.0.clear();
        let mut at = from;
        while let Some(span) = next(line.as_bytes(), at)? {
            at = span.end + usize::from(span.kind != Kind::Bare);
            match self.0.last_mut() {
                Some(last) if is_list(line.as_bytes(), last, &span) => last.end = span.end,
                _ => self.0.push(span),
            }
        }
        Ok(Words { line, spans: &self.0 })
    }
}

/// Whether the second word goes on with the list that the first one began.
fn is_list(line: &[u8], first: &Span, second: &Span) -> bool {
    if first.kind != Kind::Bare || second.kind != Kind::Bare || first.end - first.start < 2 {
        return false;
    }
    let last = line.get(first.end - 1);
    let is_colon = |span: &Span| span.end - span.start == 1 && line.get(span.start) == Some(&b':');
    last == Some(&b',') || is_colon(second) || line.get(first.end - 2..first.end) == Some(b" :")
}

fn next(line: &[u8], from: usize) -> Result<Option<Span>, Malformed> {
    let rest = line.get(from..).unwrap_or_default();
    let Some(skipped) = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t')) else {
        return Ok(None);
    };
    let start = from + skipped;
    let (kind, end) = match line.get(start) {
        Some(b'"') => (Kind::Quoted, closing_quote(line, start + 1)),
        Some(b'[') => (Kind::Bracketed, closing_bracket(line, start + 1)),
        _ => (Kind::Bare, Some(bare(line, start))),
    };
    let Some(end) = end else {
        let problem = "a quote or bracket that does not close";
        return Err(Malformed::column(start + 1, problem));
    };
    let start = start + usize::from(kind != Kind::Bare);
    Ok(Some(Span { start, end, kind }))
}

/// Where the quote closes that was opened before `from`. One in the middle of a word does not close: not every
/// server escapes the quotes that a client sends, and what follows would be taken for the next field.
pub(crate) fn closing_quote(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = quote(line, from)?;
        if matches!(line.get(at + 1), None | Some(b' ' | b'\t' | b',')) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where the next quote is that no backslash stands before.
pub(crate) fn quote(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr2(b'"', b'\\', line.get(from..)?)?;
        if line.get(at) == Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

fn closing_bracket(line: &[u8], from: usize) -> Option<usize> {
    Some(from + memchr(b']', line.get(from..)?)?)
}

/// Where a bare word ends: at a space. `name="quoted text"` is one word.
fn bare(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' | b'\t' => break,
            b'"' if at > start && line.get(at - 1) == Some(&b'=') => {
                // One that does not close is no quote: its line would be searched again and again.
                match quote(line, at + 1) {
                    Some(close) => at = close,
                    None => return first_space(line, at),
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

fn first_space(line: &[u8], from: usize) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    memchr2(b' ', b'\t', rest).map_or(line.len(), |length| from + length)
}

impl<'a> Words<'a, '_> {
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<Word<'a>> {
        self.spans.get(index).map(|span| Word {
            text: self.line.get(span.start..span.end).unwrap_or_default(),
            column: span.start + usize::from(span.kind == Kind::Bare),
            kind: span.kind,
        })
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Word<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// The word with this index, or what is missing.
    pub(crate) fn need(&self, index: usize, field: &str) -> Result<Word<'a>, Malformed> {
        self.get(index).ok_or_else(|| Malformed::field(field, "missing").at(self.line.len() + 1))
    }
}

impl<'a> Word<'a> {
    pub(crate) fn value(self) -> Value<'a> {
        Value::text(self.text)
    }

    pub(crate) fn is_bare(self) -> bool {
        self.kind == Kind::Bare
    }

    /// Reads the word's value; an error says where the word stands.
    pub(crate) fn read<T>(
        self,
        read: impl FnOnce(Value<'a>) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        read(self.value()).map_err(|why| why.at(self.column))
    }

    /// The name and the value of `name=value`, the value without its quotes.
    pub(crate) fn named(self) -> Option<(&'a str, &'a str)> {
        let (name, value) = self.text.split_once('=').filter(|_| self.is_bare())?;
        Some((name, unquoted(value)))
    }

    /// The value of `name=value` where the name is this one.
    #[inline]
    pub(crate) fn value_of(self, name: &str) -> Option<&'a str> {
        let value = self.text.strip_prefix(name)?.strip_prefix('=')?;
        self.is_bare().then(|| unquoted(value))
    }
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value)
}

/// The method and the path of a request line, `GET /path?query HTTP/1.1`: without the query.
pub(crate) fn request(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.split(' ');
    let (method, target) = (parts.next()?, parts.next()?);
    // Load balancers write the whole URL.
    let path = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    };
    Some((method, path.split('?').next().unwrap_or(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        let mut places = Places::default();
        let words = places.split(line).unwrap();
        words.iter().map(|word| word.text.to_owned()).collect()
    }

    #[test]
    fn words_are_bare_quoted_or_in_brackets() {
        let line = r#"a  [b c] "d \" e" rt="f g" "" []"#;
        assert_eq!(split(line), ["a", "b c", r#"d \" e"#, r#"rt="f g""#, "", ""]);
    }

    #[test]
    fn a_list_of_nginx_is_one_word() {
        let line = "10.0.0.1:80, 10.0.0.2:80 310, 320 0.010, 0.200 : 0.300 502, 200 id";
        assert_eq!(
            split(line),
            ["10.0.0.1:80, 10.0.0.2:80", "310, 320", "0.010, 0.200 : 0.300", "502, 200", "id"]
        );
    }

    #[test]
    fn a_quote_within_a_word_closes_nothing() {
        let line = r#""GET /"500 HTTP/1.1" 200 "a"b" "c", "" "#;
        assert_eq!(split(line), [r#"GET /"500 HTTP/1.1"#, "200", r#"a"b"#, "c", ",", ""]);
    }

    #[test]
    fn a_quote_that_does_not_close_is_told_by_its_column() {
        let mut places = Places::default();
        let why = places.split("a \"b").unwrap_err().to_string();
        assert_eq!(why, "column 3: a quote or bracket that does not close");
    }
}
