//! How values are written, each in one form or two.
//!
//! A duration is text with its unit, or a whole number under the key with `_ms`. A rate is text in per
//! cent, or a whole number under the key with `_percent`. Numbers are taken as they are written: layers
//! of settings would else make 1 of `true` and 2 of `1.5`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};
use nanobreaker_core::Rate;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;

use crate::statuses::StatusSet;
use crate::then::Then;
use crate::window::WindowKind;

/// A value that a key can have.
pub(crate) trait Value: Sized {
    /// What is put behind the key, form by form.
    const SUFFIXES: &'static [&'static str] = &[""];

    /// The value, written in the form with this number; `None` where nothing is written, as by JSON's null.
    fn read<'de, A: MapAccess<'de>>(form: usize, map: &mut A) -> Result<Option<Self>, A::Error>;

    /// Writes it in its first form.
    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error>;
}

impl Value for Duration {
    const SUFFIXES: &'static [&'static str] = &["", "_ms"];

    fn read<'de, A: MapAccess<'de>>(form: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
        match form {
            0 => read_text::<Self, A>(map),
            _ => Ok(read_whole::<u64, A>(map)?.map(Duration::from_millis)),
        }
    }

    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
        match SignedDuration::try_from(*self) {
            Ok(duration) => map.serialize_entry(key, &format!("{duration:#}")),
            Err(_) => Err(serde::ser::Error::custom(format!("{key} is too long to be written"))),
        }
    }
}

impl Value for Rate {
    const SUFFIXES: &'static [&'static str] = &["", "_percent"];

    fn read<'de, A: MapAccess<'de>>(form: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
        match form {
            0 => read_text::<Self, A>(map),
            _ => Ok(read_whole::<u32, A>(map)?.map(Rate::percent)),
        }
    }

    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(key, &percent(self.as_ppm().into()))
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {
        $(impl Value for $type {
            fn read<'de, A: MapAccess<'de>>(_: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
                read_whole(map)
            }

            fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry(key, self)
            }
        })*
    };
}

whole_numbers!(u32 u64);

/// Values that are read and written as serde does.
macro_rules! as_they_are {
    ($($type:ty)*) => {
        $(impl Value for $type {
            fn read<'de, A: MapAccess<'de>>(_: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
                map.next_value()
            }

            fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry(key, self)
            }
        })*
    };
}

as_they_are!(bool String StatusSet);

impl Value for Vec<String> {
    fn read<'de, A: MapAccess<'de>>(_: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
        Ok(map.next_value::<Option<List>>()?.map(|List(texts)| texts))
    }

    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(key, self)
    }
}

/// Values that have names.
macro_rules! by_name {
    ($($type:ty)*) => {
        $(impl Value for $type {
            fn read<'de, A: MapAccess<'de>>(_: usize, map: &mut A) -> Result<Option<Self>, A::Error> {
                read_text::<Self, A>(map)
            }

            fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry(key, self.name())
            }
        })*
    };
}

by_name!(WindowKind Then);

/// So many parts per million, as people write it: `2%`, `0.05%`.
pub(crate) fn percent(ppm: u64) -> String {
    let (whole, part) = (ppm / 10_000, ppm % 10_000);
    let text = format!("{whole}.{part:04}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A duration in words.
pub(crate) fn humane(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_millis(ms))
}

/// What text stands for.
pub(crate) trait Text: Sized {
    /// What is expected, for errors.
    const EXPECTED: &'static str;

    /// The value, or what is wrong with the text.
    fn parse(text: &str) -> Result<Self, String>;
}

impl Text for Duration {
    const EXPECTED: &'static str = "a duration with its unit, such as \"10s\", \"1m 30s\" or \"250ms\" (for a \
                                    bare number of milliseconds add _ms to the key)";

    fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &dyn fmt::Display| {
            format!("{text:?} is no duration such as \"10s\", \"1m 30s\" or \"250ms\": {why}")
        };
        let span: Span = text.trim().parse().map_err(|error| refused(&error))?;
        let duration =
            span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| refused(&error))?;
        Duration::try_from(duration).map_err(|_| refused(&"it is negative"))
    }
}

impl Text for Rate {
    const EXPECTED: &'static str =
        "a rate such as \"50%\" or \"0.1%\" (for a bare number of per cent add _percent to the key)";

    fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &str| format!("{text:?} is no rate such as \"50%\" or \"0.1%\": {why}");
        let number =
            text.trim().strip_suffix('%').ok_or_else(|| refused("it does not end with %"))?.trim_end();
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(part) {
            return Err(refused("it is no number"));
        }
        if part.trim_end_matches('0').len() > 4 {
            return Err(refused("nothing finer than 0.0001% is told apart"));
        }
        let too_much = || refused("it is more than 100%");
        let whole: u32 = whole.parse().map_err(|_| too_much())?;
        let part: u32 = format!("{part:0<4}")[..4].parse().map_err(|_| too_much())?;
        match whole.saturating_mul(10_000).saturating_add(part) {
            0 => Err(refused("it must be at least 0.0001%")),
            1_000_001.. => Err(too_much()),
            ppm if ppm % 10_000 == 0 => Ok(Rate::percent(ppm / 10_000)),
            ppm => Ok(Rate::ppm(ppm)),
        }
    }
}

impl Text for WindowKind {
    const EXPECTED: &'static str = "a kind of window";

    fn parse(text: &str) -> Result<Self, String> {
        Self::from_name(text)
    }
}

impl Text for Then {
    const EXPECTED: &'static str = "\"probe\" or \"close\"";

    fn parse(text: &str) -> Result<Self, String> {
        Self::from_name(text)
    }
}

struct ByText<T>(T);

fn read_text<'de, T: Text, A: MapAccess<'de>>(map: &mut A) -> Result<Option<T>, A::Error> {
    let read = map.next_value::<Option<ByText<T>>>()?;
    Ok(read.map(|ByText(value)| value))
}

impl<'de, T: Text> Deserialize<'de> for ByText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = ByText<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        T::parse(text).map(ByText).map_err(E::custom)
    }
}

struct Whole<T>(T);

fn read_whole<'de, T: TryFrom<u64>, A: MapAccess<'de>>(map: &mut A) -> Result<Option<T>, A::Error> {
    let read = map.next_value::<Option<Whole<T>>>()?;
    Ok(read.map(|Whole(number)| number))
}

impl<'de, T: TryFrom<u64>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor(PhantomData))
    }
}

struct WholeVisitor<T>(PhantomData<T>);

impl<T: TryFrom<u64>> Visitor<'_> for WholeVisitor<T> {
    type Value = Whole<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let largest = u64::MAX >> (64 - 8 * size_of::<T>());
        write!(f, "a whole number from 0 to {largest}")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        T::try_from(number).map(Whole).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

/// A list of texts; or one text in which commas separate them, as the environment has to write it.
struct List(Vec<String>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of texts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<List, E> {
                Ok(List(text.split(',').map(|part| String::from(part.trim())).collect()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(List(texts))
            }
        }
        deserializer.deserialize_any(Texts)
    }
}
