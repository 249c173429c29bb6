//! JSON lines: an object a line. Fields that are not asked for are skipped without being kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::reading::columns::{Columns, Field, Found, Record};
use crate::reading::malformed::Malformed;
use crate::reading::value::Value;

pub(crate) fn parse<'a>(line: &'a str, columns: &Columns) -> Result<Record<'a>, Malformed> {
    let mut reader = serde_json::Deserializer::from_str(line);
    let found = Object { columns }
        .deserialize(&mut reader)
        .and_then(|found| reader.end().map(|()| found))
        .map_err(|error| Malformed::column(error.column().max(1), without_place(&error)))?;
    found.record(columns)
}

/// The message without "at line 1 column 2", which is said elsewhere.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((message, _)) => message.to_owned(),
        None => message,
    }
}

/// A line's object.
struct Object<'c> {
    columns: &'c Columns,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Found<'de>, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found<'de>, A::Error> {
        let mut found = Found::default();
        while let Some(field) = map.next_key_seed(Name {
            columns: self.columns,
        })? {
            match field {
                Some(field) => {
                    if let Some(value) = map.next_value_seed(AnyValue)? {
                        found.put(field, value);
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// A field's name, which is looked up and not kept.
struct Name<'c> {
    columns: &'c Columns,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<Field>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Option<Field>, D::Error> {
        reader.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<Field>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<Field>, E> {
        Ok(self.columns.field(name))
    }
}

/// A field's value; `null` is as good as missing.
struct AnyValue;

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Option<Value<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Option<Value<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::Boolean(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::Integer(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(match i64::try_from(value) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Float(value as f64),
        }))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Value::Float(value)))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Value::Text(Cow::Borrowed(value))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(Value::Text(Cow::Owned(value.to_owned()))))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Some(Value::Nested))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(Value::Nested))
    }
}
