//! CSV with a header line that names the columns.
//!
//! Each record is one line: a quoted field can hold commas and quotes, but no line break, so that a
//! stray quote spoils a line and not the rest of the file.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::reading::columns::{Columns, Field, Found, Record};
use crate::reading::malformed::Malformed;
use crate::reading::value::Value;

/// Reads the lines of one CSV file.
#[derive(Debug)]
pub(crate) struct Csv {
    splitter: Splitter,
    /// What the columns are, from left to right.
    header: Vec<Option<Field>>,
}

impl Csv {
    /// From the header line. The delimiter is the one of `,`, `;` and tab that it has most of.
    ///
    /// # Errors
    ///
    /// The name of a column that is needed and not there.
    pub(crate) fn from_header(header: &str, columns: &Columns) -> Result<Self, Malformed> {
        let count = |delimiter: u8| header.bytes().filter(|byte| *byte == delimiter).count();
        let candidates = b"\t;,".iter().copied();
        let delimiter = candidates.max_by_key(|delimiter| count(*delimiter));
        let mut splitter = Splitter::new(delimiter.unwrap_or(b','));
        let names: Vec<&str> = splitter.split(header)?.map(str::trim).collect();
        let header: Vec<_> = names.iter().map(|name| columns.field(name)).collect();
        match missing(&header, columns) {
            Some(name) => Err(Malformed::field(
                &name,
                format!("no such column; the header has {}", names.join(", ")),
            )),
            None => Ok(Self { splitter, header }),
        }
    }

    pub(crate) fn parse<'a>(
        &'a mut self,
        line: &str,
        columns: &Columns,
    ) -> Result<Record<'a>, Malformed> {
        let mut found = Found::default();
        let mut fields = 0;
        for text in self.splitter.split(line)? {
            if let Some(Some(field)) = self.header.get(fields) {
                found.put(*field, Value::text(text));
            }
            fields += 1;
        }
        if fields != self.header.len() {
            let problem = format!("{fields} fields, but the header has {}", self.header.len());
            return Err(Malformed::column(line.len() + 1, problem));
        }
        found.record(columns)
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
#[derive(Debug)]
struct Splitter {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Splitter {
    fn new(delimiter: u8) -> Self {
        Self {
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn split(&mut self, line: &str) -> Result<impl Iterator<Item = &str>, Malformed> {
        self.reader.reset();
        // Unquoting only shortens a line, and each field but the last has a delimiter.
        self.text.resize(line.len() + 1, 0);
        self.ends.resize(line.len() + 2, 0);
        let (mut read, mut written, mut ended) = (0, 0, 0);
        loop {
            // Once the line is used up, an empty input tells the reader that it ends there.
            let (result, used, wrote, ends) = self.reader.read_record(
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
