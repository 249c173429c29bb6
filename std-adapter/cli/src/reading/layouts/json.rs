//! JSON lines: an object a line. Fields that are not asked for are skipped without being kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::reading::dates::Dates;
use crate::reading::layouts::flat::{self, Names};
use crate::reading::malformed::Malformed;
use crate::reading::named::{Columns, Field, Found};
use crate::reading::record::Record;
use crate::reading::value::Value;

/// The names that are asked for; a path `a.b.c` is a name within objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(Vec<(String, Branch)>);

#[derive(Clone, Debug, Default)]
struct Branch {
    field: Option<Field>,
    inner: Tree,
}

impl Tree {
    pub(crate) fn new(columns: &Columns) -> Self {
        let mut tree = Self::default();
        for (name, field) in columns.fields() {
            // A dot may be a part of the name, too.
            tree.put(&[name], field);
            let path: Vec<&str> = name.split('.').collect();
            if path.len() > 1 {
                tree.put(&path, field);
            }
        }
        tree
    }

    fn put(&mut self, path: &[&str], field: Field) {
        let Some((name, rest)) = path.split_first() else {
            return;
        };
        let index = self.0.iter().position(|(known, _)| known == name);
        let index = index.unwrap_or_else(|| {
            self.0.push(((*name).to_owned(), Branch::default()));
            self.0.len() - 1
        });
        if let Some((_, branch)) = self.0.get_mut(index) {
            if rest.is_empty() {
                branch.field = Some(field);
            } else {
                branch.inner.put(rest, field);
            }
        }
    }

    /// The field that this name stands for; `None` where it is an object that holds some.
    #[inline]
    pub(super) fn field(&self, name: &str) -> Option<Option<Field>> {
        match self.branch(name) {
            Some(Branch { field: None, .. }) => None,
            Some(branch) => Some(branch.field),
            None => Some(None),
        }
    }

    fn branch(&self, name: &str) -> Option<&Branch> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, branch)| branch)
    }
}

#[inline]
pub(crate) fn parse<'a>(
    line: &'a str,
    columns: &Columns,
    tree: &Tree,
    names: &mut Names,
    dates: &mut Dates,
) -> Result<Record<'a>, Malformed> {
    match flat::record(line, columns, tree, names, dates) {
        Some(record) => Ok(record),
        None => find(line, tree)?.record(columns, dates),
    }
}

/// The fields of any line of JSON.
fn find<'a>(line: &'a str, tree: &Tree) -> Result<Found<'a>, Malformed> {
    let mut reader = serde_json::Deserializer::from_str(line);
    let mut found = Found::default();
    let object = Object { tree, found: &mut found, is_inner: false };
    object.deserialize(&mut reader).and_then(|()| reader.end()).map_err(|error| malformed(&error))?;
    Ok(found)
}

pub(crate) fn malformed(error: &serde_json::Error) -> Malformed {
    Malformed::column(error.column().max(1), without_place(error))
}

/// The message without "at line 1 column 2", which is said elsewhere.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((message, _)) => message.to_owned(),
        None => message,
    }
}

/// A line's object, or one within it.
struct Object<'t, 'f, 'de> {
    tree: &'t Tree,
    found: &'f mut Found<'de>,
    is_inner: bool,
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        if self.is_inner { reader.deserialize_any(self) } else { reader.deserialize_map(self) }
    }
}

impl<'de> Visitor<'de> for Object<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(branch) = map.next_key_seed(Name { tree: self.tree })? {
            match branch {
                Some(Branch { field: Some(field), .. }) => {
                    if let Some(value) = map.next_value_seed(AnyValue)? {
                        self.found.put(*field, value);
                    }
                }
                Some(branch) => map.next_value_seed(Object {
                    tree: &branch.inner,
                    found: &mut *self.found,
                    is_inner: true,
                })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    // What is no object holds no fields.
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.is_inner {
            return Err(A::Error::custom("invalid type: sequence, expected an object"));
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// A field's name, which is looked up and not kept.
struct Name<'t> {
    tree: &'t Tree,
}

impl<'de, 't> DeserializeSeed<'de> for Name<'t> {
    type Value = Option<&'t Branch>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_identifier(self)
    }
}

impl<'t> Visitor<'_> for Name<'t> {
    type Value = Option<&'t Branch>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.tree.branch(name))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::value::{Scale, Unit};
    use proptest::prelude::*;

    fn columns() -> Columns {
        Columns {
            ts: "ts".into(),
            ts_unit: None,
            status: "status".into(),
            ok: "ok".into(),
            durations: vec![("d".into(), Scale::In(Unit::Ms))],
            key: Some("key".into()),
        }
    }

    #[test]
    fn a_time_with_more_digits_than_serde_keeps_is_read_by_serde() {
        let columns = columns();
        let tree = Tree::new(&columns);
        for (ts, is_flat) in [("1767225600.123456", true), ("20000000000.000021", false)] {
            let line = format!(r#"{{"ts":{ts},"status":200,"d":0,"key":""}}"#);
            let record = flat::record(&line, &columns, &tree, &mut Names::default(), &mut Dates::default());
            assert_eq!(record.is_some(), is_flat, "{ts}");
        }
    }

    proptest! {
        /// Both ways to read a line come to the same.
        #[test]
        fn a_flat_line_is_read_as_serde_reads_it(
            ts in "0|[1-9][0-9]{0,14}(\\.[0-9]{1,6})?|01|-1|1\\.|1e3",
            status in "200|5[0-9]{2}|\"503\"|null|true|\\[\\]|\\{\\}",
            d in "[0-9]{1,4}(\\.[0-9]{1,3})?|\"7ms\"|nul",
            key in "[a-z/\u{e4}\\\\n\"]{0,6}",
            blank in "[ \t]?",
            end in "\\}?[ x]?",
        ) {
            let line = format!("{{{blank}\"ts\":{ts},\"status\"{blank}:{status},\"x\":1,\"d\":{d}{blank},\"key\":\"{key}\"{end}");
            let columns = columns();
            let tree = Tree::new(&columns);
            let mut dates = Dates::default();
            let mut names = Names::default();
            // The names of another line are remembered.
            let other = r#"{"ts":1,"status":2,"y":3,"d":4}"#;
            let _ = flat::record(other, &columns, &tree, &mut names, &mut dates);
            if let Some(record) = flat::record(&line, &columns, &tree, &mut names, &mut dates) {
                let by_serde = find(&line, &tree).and_then(|found| found.record(&columns, &mut dates));
                prop_assert_eq!(Ok(record), by_serde);
            }
        }
    }
}
