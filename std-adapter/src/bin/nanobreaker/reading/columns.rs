//! What the fields of a log are called.

use std::borrow::Cow;

use crate::reading::malformed::Malformed;
use crate::reading::rules::Ending;
use crate::reading::value::{Unit, Value};

/// The names of the fields, in JSON lines and CSV. For the other formats only `key` matters.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) ts: String,
    pub(crate) status: String,
    pub(crate) ok: String,
    pub(crate) durations: Vec<(String, Unit)>,
    pub(crate) key: Option<String>,
    pub(crate) ts_unit: Option<Unit>,
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
        if name == self.ts {
            Some(Field::Ts)
        } else if name == self.status {
            Some(Field::Status)
        } else if name == self.ok {
            Some(Field::Ok)
        } else if self.key.as_deref() == Some(name) {
            Some(Field::Key)
        } else {
            let index = self.durations.iter().position(|(known, _)| known == name)?;
            Some(Field::Duration(index))
        }
    }

    /// The durations' names, to say what is missing.
    pub(crate) fn durations(&self) -> String {
        let names: Vec<_> = self.durations.iter().map(|(name, _)| &**name).collect();
        names.join("` or `")
    }
}

/// Whether a log's times say when calls began or when they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimeIs {
    /// When the call began
    Start,
    /// When the call ended
    End,
}

/// A line's fields, understood but not yet judged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record<'a> {
    pub(crate) time_us: i64,
    /// What the format itself says about its times.
    pub(crate) time_is: TimeIs,
    pub(crate) duration_us: i64,
    pub(crate) ending: Ending,
    pub(crate) key: Option<Cow<'a, str>>,
}

/// The fields of a line, as they come.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    ts: Option<Value<'a>>,
    status: Option<Value<'a>>,
    ok: Option<Value<'a>>,
    duration: Option<(usize, Value<'a>)>,
    key: Option<Value<'a>>,
}

impl<'a> Found<'a> {
    /// Takes a field in; a blank one is as good as missing.
    pub(crate) fn put(&mut self, field: Field, value: Value<'a>) {
        if value.is_blank() {
            return;
        }
        match field {
            Field::Ts => self.ts = Some(value),
            Field::Status => self.status = Some(value),
            Field::Ok => self.ok = Some(value),
            Field::Duration(index) => self.duration = Some((index, value)),
            Field::Key => self.key = Some(value),
        }
    }

    pub(crate) fn record(self, columns: &Columns) -> Result<Record<'a>, Malformed> {
        let missing = |field: &str| Malformed::field(field, "missing");
        let ts = self.ts.ok_or_else(|| missing(&columns.ts))?;
        let time_us = ts.time(&columns.ts, columns.ts_unit)?;
        let ending = match (self.ok, self.status) {
            (Some(ok), _) => Ending::Ok(ok.boolean(&columns.ok)?),
            (None, Some(status)) => Ending::Status(status.status(&columns.status)?),
            (None, None) => {
                return Err(missing(&format!("{}` or `{}", columns.status, columns.ok)));
            }
        };
        let (index, duration) = self.duration.ok_or_else(|| missing(&columns.durations()))?;
        let duration_us = match columns.durations.get(index) {
            Some((name, unit)) => duration.duration(name, *unit)?,
            None => return Err(missing(&columns.durations())),
        };
        let key = match (self.key, &columns.key) {
            (Some(key), Some(name)) => Some(key.into_key(name)?),
            _ => None,
        };
        Ok(Record {
            time_us,
            time_is: TimeIs::Start,
            duration_us,
            ending,
            key,
        })
    }
}
