//! CSV with a header line that names the columns.
//!
//! Each record is one line: a quoted field can hold commas and quotes, but no line break, so that a
//! stray quote spoils a line and not the rest of the file.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter};

use crate::reading::dates::Dates;
use crate::reading::malformed::Malformed;
use crate::reading::named::{Columns, Field, Found};
use crate::reading::record::Record;
use crate::reading::value::Value;

/// What the header of one CSV file says.
#[derive(Clone, Debug)]
pub(crate) struct Csv {
    delimiter: u8,
    header: String,
    /// What the columns are, from left to right.
    fields: Vec<Option<Field>>,
    columns: Columns,
}

/// The names of a header line, and what parts them: the one of `,`, `;` and tab that it has most of.
pub(crate) fn names(header: &str) -> (Vec<String>, u8) {
    let count = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
    let delimiter = b"\t;,".iter().copied().max_by_key(count).unwrap_or(b',');
    let mut names = Splitter::default().fields(header, delimiter);
    names.iter_mut().for_each(|name| *name = name.trim().to_owned());
    (names, delimiter)
}

impl Csv {
    /// From the header line.
    ///
    /// # Errors
    ///
    /// The name of a column that is needed and not there.
    pub(crate) fn from_header(header: &str, columns: &Columns) -> Result<Self, Malformed> {
        let (names, delimiter) = names(header);
        let fields: Vec<_> = names.iter().map(|name| columns.field(name)).collect();
        match missing(&fields, columns) {
            Some(name) => {
                Err(Malformed::field(&name, format!("no such column; the header has {}", names.join(", "))))
            }
            None => Ok(Self { delimiter, header: header.to_owned(), fields, columns: columns.clone() }),
        }
    }

    /// The call of a line; `None` where the line is the header once more.
    pub(crate) fn parse<'a>(
        &self,
        line: &'a str,
        splitter: &'a mut Splitter,
        dates: &mut Dates,
    ) -> Result<Option<Record<'a>>, Malformed> {
        if line == self.header {
            return Ok(None);
        }
        let mut found = Found::default();
        let mut count = 0;
        let mut put = |text: &'a str| {
            if let Some(Some(field)) = self.fields.get(count) {
                found.put(*field, Value::text(text));
            }
            count += 1;
        };
        if memchr(b'"', line.as_bytes()).is_none() {
            let mut start = 0;
            for end in memchr_iter(self.delimiter, line.as_bytes()).chain([line.len()]) {
                put(line.get(start..end).unwrap_or_default());
                start = end + 1;
            }
        } else {
            splitter.split(line, self.delimiter)?.for_each(&mut put);
        }
        if count != self.fields.len() {
            let problem = format!("{count} fields, but the header has {}", self.fields.len());
            return Err(Malformed::column(line.len() + 1, problem));
        }
        found.record(&self.columns, dates).map(Some)
    }
}

/// The name of a column that is needed but not in the header.
fn missing(header: &[Option<Field>], columns: &Columns) -> Option<String> {
    let has = |wanted: fn(&Field) -> bool| header.iter().flatten().any(wanted);
    if !has(|field| *field == Field::Ts) {
        Some(columns.ts.clone())
    } else if !has(|field| matches!(field, Field::Status | Field::Ok)) {
        Some(format!("{}` or `{}", columns.status, columns.ok))
    } else if !has(|field| matches!(field, Field::Duration(_))) {
        Some(columns.durations())
    } else {
        None
    }
}

/// Splits lines into fields, in the same memory each time.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    /// With its delimiter; made when a line needs it.
    reader: Option<(u8, Reader)>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Splitter {
    /// The fields of a line, without their quotes; none where it can't be split.
    pub(crate) fn fields(&mut self, line: &str, delimiter: u8) -> Vec<String> {
        self.split(line, delimiter).map_or_else(|_| Vec::new(), |fields| fields.map(Into::into).collect())
    }

    fn split(&mut self, line: &str, delimiter: u8) -> Result<impl Iterator<Item = &str>, Malformed> {
        let made = self.reader.take().filter(|(known, _)| *known == delimiter);
        let (_, reader) = self.reader.insert(made.unwrap_or_else(|| {
            let reader = ReaderBuilder::new().delimiter(delimiter).build();
            (delimiter, reader)
        }));
        reader.reset();
        // Unquoting only shortens a line, and each field but the last has a delimiter.
        self.text.resize(line.len() + 1, 0);
        self.ends.resize(line.len() + 2, 0);
        let (mut read, mut written, mut ended) = (0, 0, 0);
        loop {
            // Once the line is used up, an empty input tells the reader that it ends there.
            let (result, used, wrote, ends) = reader.read_record(
                line.as_bytes().get(read..).unwrap_or_default(),
                self.text.get_mut(written..).unwrap_or_default(),
                self.ends.get_mut(ended..).unwrap_or_default(),
            );
            read += used;
            written += wrote;
            ended += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(Malformed::column(read + 1, "too many fields"));
                }
            }
        }
        let ends = self.ends.get(..ended).unwrap_or_default();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(starts.zip(ends).map(|(start, end)| {
            // The line was UTF-8, and is split at ASCII characters only.
            let field = self.text.get(start..*end).unwrap_or_default();
            str::from_utf8(field).unwrap_or_default()
        }))
    }
}
