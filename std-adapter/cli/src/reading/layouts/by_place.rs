//! A layout of one's own: which word is what is said by arguments or by a template.

use crate::reading::dates::Dates;
use crate::reading::layouts::words::{Places, request};
use crate::reading::malformed::Malformed;
use crate::reading::record::Record;
use crate::reading::rules::Ending;
use crate::reading::value::{Scale, Unit, Value};

/// Where a word stands: counted from the line's start, or from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Start(usize),
    End(usize),
}

impl At {
    /// From what people count: from 1, or with a minus from the end.
    pub(crate) fn counted(number: i32) -> Option<Self> {
        let index = (number.unsigned_abs() as usize).checked_sub(1)?;
        Some(if number > 0 { Self::Start(index) } else { Self::End(index) })
    }

    pub(crate) fn index(self, words: usize) -> Option<usize> {
        match self {
            Self::Start(index) => Some(index).filter(|index| *index < words),
            Self::End(index) => words.checked_sub(index + 1),
        }
    }
}

/// Which word of a line is what.
#[derive(Clone, Debug)]
pub(crate) struct ByPlace {
    pub(crate) time: At,
    pub(crate) ts_unit: Option<Unit>,
    pub(crate) status: At,
    pub(crate) duration: At,
    pub(crate) scale: Scale,
    /// Names of words, for the breakers' keys.
    pub(crate) names: Vec<(String, At)>,
    /// Where a request line stands.
    pub(crate) request: Option<At>,
    /// Words of a line, where every line has as many.
    pub(crate) words: Option<usize>,
}

impl ByPlace {
    pub(crate) fn parse<'a>(
        &self,
        line: &'a str,
        places: &mut Places,
        dates: &mut Dates,
        key: Option<&str>,
    ) -> Result<Record<'a>, Malformed> {
        let words = places.split(line)?;
        if let Some(expected) = self.words.filter(|expected| *expected != words.len()) {
            let problem = format!("{} words, where others have {expected}", words.len());
            return Err(Malformed::column(line.len() + 1, problem));
        }
        let word = |at: At, field: &str| match at.index(words.len()) {
            Some(index) => words.need(index, field),
            None => Err(Malformed::field(field, "missing").at(line.len() + 1)),
        };
        let time = word(self.time, "time")?;
        // A date and a time of day may be two words.
        let both = || {
            let next = words.get(self.time.index(words.len())? + 1)?;
            let start = time.column - 1;
            line.get(start..next.column - 1 + next.text.len())
        };
        let time_us = time
            .read(|value| value.time("time", self.ts_unit, dates))
            .or_else(|why| both().and_then(|text| dates.micros(text)).ok_or(why))?;
        let duration = word(self.duration, "duration")?;
        // `rt=0.123`
        let text = duration.named().map_or(duration.text, |(_, value)| value);
        let status = word(self.status, "status")?;
        Ok(Record {
            time_us,
            duration_us: Value::text(text)
                .duration("duration", self.scale)
                .map_err(|why| why.at(duration.column))?,
            ending: Ending::Status(status.read(|value| value.status("status"))?),
            key: key.and_then(|key| self.key(key, &words).map(Into::into)),
        })
    }

    fn key<'a>(&self, key: &str, words: &super::words::Words<'a, '_>) -> Option<&'a str> {
        let text = |at: At| Some(words.get(at.index(words.len())?)?.text);
        if let Some((_, at)) = self.names.iter().find(|(name, _)| name == key) {
            return text(*at);
        }
        let (method, path) = request(text(self.request?)?)?;
        match key {
            "method" => Some(method),
            "path" => Some(path),
            _ => None,
        }
    }
}
