//! The fields of logs whose fields have names: JSON lines, CSV, logfmt.

use crate::reading::dates::Dates;
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit, Value};

/// What the fields are called. In JSON a name may be a path, `a.b.c`.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) ts: String,
    pub(crate) ts_unit: Option<Unit>,
    pub(crate) status: String,
    pub(crate) ok: String,
    /// A line has one of them.
    pub(crate) durations: Vec<(String, Scale)>,
    pub(crate) key: Option<String>,
}

/// Which field a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Ts,
    Status,
    Ok,
    /// With its index among the names for durations.
    Duration(usize),
    Key,
}

impl Columns {
    pub(crate) fn field(&self, name: &str) -> Option<Field> {
        self.fields().find(|(known, _)| *known == name).map(|(_, field)| field)
    }

    /// All names with what they stand for.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, Field)> {
        let durations = self.durations.iter().enumerate();
        [(self.ts.as_str(), Field::Ts), (&self.status, Field::Status), (&self.ok, Field::Ok)]
            .into_iter()
            .chain(self.key.as_deref().map(|key| (key, Field::Key)))
            .chain(durations.map(|(index, (name, _))| (name.as_str(), Field::Duration(index))))
    }

    /// The durations' names, to say what is missing.
    pub(crate) fn durations(&self) -> String {
        let names: Vec<_> = self.durations.iter().map(|(name, _)| &**name).collect();
        names.join("` or `")
    }
}

/// The fields of a line, as they come.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    ts: Option<Value<'a>>,
    status: Option<Value<'a>>,
    ok: Option<Value<'a>>,
    duration: Option<(usize, Value<'a>)>,
    key: Option<Value<'a>>,
    twice: Option<Field>,
}

impl<'a> Found<'a> {
    /// Takes a field in; a blank one is as good as missing.
    pub(crate) fn put(&mut self, field: Field, value: Value<'a>) {
        if value.is_blank() {
            return;
        }
        let was_there = match field {
            Field::Ts => self.ts.replace(value).is_some(),
            Field::Status => self.status.replace(value).is_some(),
            Field::Ok => self.ok.replace(value).is_some(),
            Field::Duration(index) => self.duration.replace((index, value)).is_some(),
            Field::Key => self.key.replace(value).is_some(),
        };
        if was_there {
            self.twice = Some(field);
        }
    }

    pub(crate) fn record(self, columns: &Columns, dates: &mut Dates) -> Result<Record<'a>, Malformed> {
        let missing = |field: &str| Malformed::field(field, "missing");
        if let Some(field) = self.twice {
            // Whoever can add to a line could choose which of them counts.
            let name = columns.fields().find(|(_, known)| *known == field);
            let name = name.map_or("", |(name, _)| name);
            return Err(Malformed::field(name, "stands there twice"));
        }
        let ts = self.ts.ok_or_else(|| missing(&columns.ts))?;
        let time_us = ts.time(&columns.ts, columns.ts_unit, dates)?;
        let ending = match (self.ok, self.status) {
            (Some(ok), _) => Ending::Ok(ok.boolean(&columns.ok)?),
            (None, Some(status)) => Ending::Status(status.status_or_name(&columns.status)?),
            (None, None) => {
                return Err(missing(&format!("{}` or `{}", columns.status, columns.ok)));
            }
        };
        let (index, duration) = self.duration.ok_or_else(|| missing(&columns.durations()))?;
        let duration_us = match columns.durations.get(index) {
            Some((name, scale)) => duration.duration(name, *scale)?,
            None => return Err(missing(&columns.durations())),
        };
        let key = match (self.key, &columns.key) {
            (Some(key), Some(name)) => Some(key.into_key(name)?),
            _ => None,
        };
        Ok(Record { time_us, duration_us, ending, key })
    }
}
