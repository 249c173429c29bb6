//! JSON lines that are flat and right: an object of plain values, without escapes, in which every field is
//! there once. Most logs have no others, and they can be read in one look. Whatever else a line holds is left
//! to serde, which can tell best what is wrong with it.

use memchr::memchr2;

use crate::reading::dates::Dates;
use crate::reading::layouts::json::Tree;
use crate::reading::named::{Columns, Field};
use crate::reading::number::Number;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::Value;

/// The names of the last line's fields as they are written, `"name":`, with what they stand for: those of the
/// next one are most often the same, in the same order.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<(String, Option<Field>)>);

/// The call of a line; `None` where the line is another sort of JSON, or wrong.
#[inline]
pub(super) fn record<'a>(
    line: &'a str,
    columns: &Columns,
    tree: &Tree,
    names: &mut Names,
    dates: &mut Dates,
) -> Option<Record<'a>> {
    let mut scan = Scan { line, at: 0 };
    let (mut time_us, mut duration_us, mut ok, mut status, mut key) = (None, None, None, None, None);
    scan.expect(b'{')?;
    for index in 0.. {
        let field = scan.field(index, tree, names)?;
        let value = scan.value()?.filter(|value| !value.is_blank());
        if let (Some(field), Some(value)) = (field, value) {
            match field {
                Field::Ts => once(&mut time_us, value.time_us(columns.ts_unit, dates)?)?,
                Field::Status => once(&mut status, value.named_code()?)?,
                Field::Ok => once(&mut ok, value.truth()?)?,
                Field::Duration(index) => {
                    let (_, scale) = columns.durations.get(index)?;
                    once(&mut duration_us, value.duration_us(*scale)?)?;
                }
                Field::Key => once(&mut key, value.name().ok()?)?,
            }
        }
        match scan.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    scan.skip_blanks();
    (scan.at == line.len()).then_some(())?;
    Some(Record {
        time_us: time_us?,
        duration_us: duration_us?,
        ending: match (ok, status) {
            (Some(ok), _) => Ending::Ok(ok),
            (None, status) => Ending::Status(status?),
        },
        key,
    })
}

/// Puts a value where there was none.
#[inline]
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    let is_first = place.is_none();
    *place = Some(value);
    is_first.then_some(())
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
        // Most lines have none.
        if self.peek()? <= b' ' {
            self.skip_blanks();
        }
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
        let length = memchr2(b'"', b'\\', rest)?;
        (rest.get(length) == Some(&b'"')).then_some(())?;
        let text = self.line.get(self.at..self.at + length)?;
        // All bytes are looked at, since that is done many at a time.
        let has_control = text.bytes().fold(false, |has, byte| has | (byte < b' '));
        (!has_control).then_some(())?;
        self.at += length + 1;
        Some(text)
    }

    /// What the name that comes next stands for.
    #[inline]
    fn field(&mut self, index: usize, tree: &Tree, names: &mut Names) -> Option<Option<Field>> {
        if let Some((written, field)) = names.0.get(index) {
            let rest = self.line.as_bytes().get(self.at..)?;
            if rest.starts_with(written.as_bytes()) {
                self.at += written.len();
                return Some(*field);
            }
        }
        self.new_field(index, tree, names)
    }

    #[cold]
    fn new_field(&mut self, index: usize, tree: &Tree, names: &mut Names) -> Option<Option<Field>> {
        self.expect(b'"')?;
        let name = self.text()?;
        self.expect(b':')?;
        let field = tree.field(name)?;
        names.0.truncate(index);
        // Hostile lines may have no end of names.
        if names.0.len() == index && index < 100 {
            names.0.push((format!("\"{name}\":"), field));
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

    /// A number as JSON allows it: no leading zeros, and digits on both sides of a point. Very long ones and
    /// those with an exponent are left to others.
    #[inline]
    fn number(&mut self) -> Option<Value<'a>> {
        let is_negative = self.peek() == Some(b'-');
        self.at += usize::from(is_negative);
        let start = self.at;
        let mut mantissa = 0_i64;
        self.digits(&mut mantissa);
        let whole = self.at - start;
        if whole == 0 || whole > 1 && self.line.as_bytes().get(start) == Some(&b'0') {
            return None;
        }
        let mut places = 0;
        if self.peek() == Some(b'.') {
            self.at += 1;
            let point = self.at;
            self.digits(&mut mantissa);
            places = self.at - point;
            if places == 0 {
                return None;
            }
        }
        // serde reads decimals as an `f64`: where that does not hold all digits, it alone shall read them.
        let is_rounded = places > 0 && mantissa > 1 << f64::MANTISSA_DIGITS;
        if whole + places > 18 || is_rounded || matches!(self.peek(), Some(b'e' | b'E')) {
            return None;
        }
        let mantissa = if is_negative { -mantissa } else { mantissa };
        Some(if places == 0 {
            Value::Integer(mantissa)
        } else {
            let places = places as u32;
            Value::Decimal(Number::Decimal { mantissa, places })
        })
    }

    /// Adds the digits that come next; of too many it makes nonsense.
    #[inline]
    fn digits(&mut self, mantissa: &mut i64) {
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
    }
}
