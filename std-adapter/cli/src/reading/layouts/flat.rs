//! JSON lines that are flat: an object of plain values, without escapes. Most logs have no others, and they
//! can be read in one look; whatever else a line holds is left to serde.

use crate::reading::layouts::json::Tree;
use crate::reading::named::{Field, Found};
use crate::reading::number::Number;
use crate::reading::value::Value;

/// The names of the last line's fields with what they stand for: those of the next one are most often the
/// same, in the same order.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<(String, Option<Field>)>);

/// The fields of a line that are asked for; `None` where the line is another sort of JSON, or none.
pub(super) fn find<'a>(line: &'a str, tree: &Tree, names: &mut Names) -> Option<Found<'a>> {
    let mut scan = Scan { line, at: 0 };
    let mut found = Found::default();
    scan.expect(b'{')?;
    for index in 0.. {
        scan.expect(b'"')?;
        let field = scan.field(index, tree, names)?;
        scan.expect(b':')?;
        let value = scan.value()?;
        if let (Some(field), Some(value)) = (field, value) {
            found.put(field, value);
        }
        match scan.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    scan.skip_blanks();
    (scan.at == line.len()).then_some(found)
}

struct Scan<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    #[inline]
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not blank.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        self.skip_blanks();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// The rest of a text whose quote is open. One with an escape is left to others.
    #[inline]
    fn text(&mut self) -> Option<&'a str> {
        let rest = self.line.as_bytes().get(self.at..)?;
        let length = rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
        (rest.get(length) == Some(&b'"')).then_some(())?;
        let text = self.line.get(self.at..self.at + length)?;
        self.at += length + 1;
        Some(text)
    }

    /// What the name stands for whose quote is open.
    #[inline]
    fn field(&mut self, index: usize, tree: &Tree, names: &mut Names) -> Option<Option<Field>> {
        if let Some((name, field)) = names.0.get(index) {
            let rest = self.line.as_bytes().get(self.at..)?;
            if rest.get(name.len()) == Some(&b'"') && rest.starts_with(name.as_bytes()) {
                self.at += name.len() + 1;
                return Some(*field);
            }
        }
        let name = self.text()?;
        let field = tree.field(name)?;
        names.0.truncate(index);
        // Hostile lines may have no end of names.
        if names.0.len() == index && index < 100 {
            names.0.push((name.to_owned(), field));
        }
        Some(field)
    }

    /// A plain value; `Some(None)` for null.
    fn value(&mut self) -> Option<Option<Value<'a>>> {
        match self.next()? {
            b'"' => Some(Some(Value::text(self.text()?))),
            b'0'..=b'9' | b'-' => {
                self.at -= 1;
                Some(Some(self.number()?))
            }
            b't' => self.word("rue", Some(Value::Boolean(true))),
            b'f' => self.word("alse", Some(Value::Boolean(false))),
            b'n' => self.word("ull", None),
            _ => None,
        }
    }

    fn word(&mut self, rest: &str, value: Option<Value<'a>>) -> Option<Option<Value<'a>>> {
        let end = self.at + rest.len();
        (self.line.get(self.at..end)? == rest).then_some(())?;
        self.at = end;
        Some(value)
    }

    /// A number as JSON allows it: no leading zeros, and digits on both sides of a point.
    fn number(&mut self) -> Option<Value<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.digits();
        let leading_zero = whole > 1 && self.line.as_bytes().get(self.at - whole) == Some(&b'0');
        if whole == 0 || leading_zero {
            return None;
        }
        let has_point = self.peek() == Some(b'.');
        if has_point {
            self.at += 1;
            if self.digits() == 0 {
                return None;
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            return None;
        }
        let number = Number::in_text(self.line.get(start..self.at)?)?;
        match (number, number.integer()) {
            (_, Some(whole)) => Some(Value::Integer(whole)),
            (Number::Decimal { .. }, None) => Some(Value::Decimal(number)),
            (Number::Float(_), None) => None,
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }
}
