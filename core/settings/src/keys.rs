//! Tables of keys: name, kind of value, default and meaning of each, once.
//!
//! The macro makes of a table its struct, what reads and writes it, how one lies over another, and the
//! table in the documentation.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::SettingsError;
use crate::nearest::nearest;
use crate::window::WindowKind;

/// A key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What may be put behind the name, for each form of the value.
    pub(crate) suffixes: &'static [&'static str],
    /// The kinds of window that it counts for; all of them where it names none.
    pub(crate) kinds: &'static [WindowKind],
}

impl Key {
    pub(crate) fn is_of(&self, kind: WindowKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// The number of the form in which `written` writes this key.
    pub(crate) fn form(&self, written: &str) -> Option<usize> {
        let suffix = written.strip_prefix(self.name)?;
        self.suffixes.iter().position(|known| *known == suffix)
    }

    fn forms(&self) -> impl Iterator<Item = String> + '_ {
        let name = self.name;
        self.suffixes.iter().map(move |suffix| [name, suffix].concat())
    }
}

/// Keys that were read, as they were written, to find those that are set twice: readers of JSON give both.
#[derive(Default)]
pub(crate) struct Seen(Vec<(String, String)>);

impl Seen {
    pub(crate) fn note(&mut self, name: &str, written: &str) -> Result<(), SettingsError> {
        let before = self.0.iter().find(|(known, _)| known == name);
        if let Some((_, before)) = before {
            return Err(SettingsError::both(before, written));
        }
        self.0.push((name.into(), written.into()));
        Ok(())
    }
}

/// Why `written` is none of `keys`. `renamed` has old keys with their new names, `elsewhere` knows where keys
/// of other tables belong.
pub(crate) fn unknown(
    written: &str,
    keys: &[Key],
    renamed: &[(&str, &'static str)],
    elsewhere: fn(&str) -> Option<&'static str>,
) -> SettingsError {
    if let Some((_, now)) = renamed.iter().find(|(old, _)| *old == written) {
        return SettingsError::renamed(written, now);
    }
    if let Some(belongs) = elsewhere(written) {
        return SettingsError::misplaced(written, belongs);
    }
    let forms: Vec<String> = keys.iter().flat_map(Key::forms).collect();
    let nearest = nearest(written, forms.iter().map(String::as_str)).map(String::from);
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    SettingsError::unknown(written, nearest, names.join(", "))
}

/// For tables whose keys are mistaken for no other's.
pub(crate) fn nowhere(_: &str) -> Option<&'static str> {
    None
}

macro_rules! table {
    (
        $(#[$about:meta])*
        pub struct $name:ident, $header:literal, $rule:literal {
            $($key:ident: $type:ty = $default:literal, $meaning:literal
                $(, of $shown:literal [$($kind:ident)+])?;)*
        }
        tables [$($table:ident: $inner:ty, $inner_meaning:literal;)*]
        renamed [$($old:literal => $new:literal),*]
        elsewhere $elsewhere:path
    ) => {
        $(#[$about])*
        ///
        /// # Keys
        ///
        #[doc = $header]
        #[doc = $rule]
        $(#[doc = concat!("| `", stringify!($key), "` | ", $($shown, " | ",)? $default, " | ", $meaning, " |")])*
        $(#[doc = concat!("| `", stringify!($table), "` | | ", $inner_meaning, " |")])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = concat!("Key `", stringify!($key), "`: ", $meaning, ".")]
            pub $key: Option<$type>,)*
            $(#[doc = concat!("Table `", stringify!($table), "`: ", $inner_meaning, ".")]
            pub $table: $inner,)*
        }

        impl $name {
            pub(crate) const KEYS: &'static [$crate::keys::Key] = &[
                $($crate::keys::Key {
                    name: stringify!($key),
                    suffixes: <$type as $crate::value::Value>::SUFFIXES,
                    kinds: &[$($($crate::window::WindowKind::$kind),+)?],
                },)*
            ];

            const RENAMED: &'static [(&'static str, &'static str)] = &[$(($old, $new)),*];

            /// Whether nothing is set.
            pub fn is_empty(&self) -> bool {
                self.written().next().is_none() $(&& self.$table.is_empty())*
            }

            /// What is set here, and the rest from `base`.
            #[allow(dead_code, reason = "a fleet lies over none")]
            fn over(self, base: Self) -> Self {
                Self {
                    $($key: self.$key.or(base.$key),)*
                    $($table: self.$table.or(base.$table),)*
                }
            }

            /// The keys that are set.
            pub(crate) fn written(&self) -> impl Iterator<Item = &'static $crate::keys::Key> {
                let is_set = [$(self.$key.is_some()),*];
                let keys = Self::KEYS.iter().zip(is_set);
                keys.filter(|(_, is_set)| *is_set).map(|(key, _)| key)
            }

            /// Reads a map of keys; `other` takes what it knows itself.
            pub(crate) fn read<'de, A: serde::de::MapAccess<'de>>(
                mut map: A,
                mut other: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
            ) -> Result<Self, A::Error> {
                let mut read = Self::default();
                let mut seen = $crate::keys::Seen::default();
                while let Some(written) = map.next_key::<alloc::string::String>()? {
                    let found = Self::KEYS
                        .iter()
                        .find_map(|key| key.form(&written).map(|form| (key, form)));
                    let name = found.map_or(written.as_str(), |(key, _)| key.name);
                    seen.note(name, &written).map_err(serde::de::Error::custom)?;
                    $(if written == stringify!($table) {
                        read.$table = map.next_value::<Option<$inner>>()?.unwrap_or_default();
                        continue;
                    })*
                    if other(&written, &mut map)? {
                        continue;
                    }
                    let Some((key, form)) = found else {
                        let error = $crate::keys::unknown(&written, Self::KEYS, Self::RENAMED, $elsewhere);
                        return Err(serde::de::Error::custom(error));
                    };
                    match key.name {
                        $(stringify!($key) => read.$key = $crate::value::Value::read(form, &mut map)?,)*
                        _ => {}
                    }
                }
                Ok(read)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Keys;
                impl<'de> serde::de::Visitor<'de> for Keys {
                    type Value = $name;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str("a table of settings")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        $name::read(map, |_, _| Ok(false))
                    }
                }
                deserializer.deserialize_map(Keys)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(if let Some(value) = &self.$key {
                    $crate::value::Value::write(value, stringify!($key), &mut map)?;
                })*
                $(if !self.$table.is_empty() {
                    map.serialize_entry(stringify!($table), &self.$table)?;
                })*
                map.end()
            }
        }
    };
}
pub(crate) use table;
