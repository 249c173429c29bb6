//! A catalogue as it is written.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::check::CheckSettings;
use crate::error::SettingsError;
use crate::fleet::FleetSettings;
use crate::keys::Seen;
use crate::nearest::nearest;
use crate::table::PartialSettings;

/// The tables of a catalogue.
pub(crate) const TABLES: [&str; 4] = ["defaults", "profiles", "breakers", "fleet"];

/// All tables.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) defaults: Entry,
    pub(crate) profiles: BTreeMap<String, Entry>,
    pub(crate) breakers: BTreeMap<String, Entry>,
    pub(crate) fleet: Option<FleetSettings>,
}

/// What a breaker's table says, or one that others lie over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What a breaker's table lies over.
    pub(crate) profile: Option<String>,
    pub(crate) settings: PartialSettings,
    pub(crate) check: CheckSettings,
    pub(crate) in_fleet: Option<bool>,
}

impl Entry {
    /// What is said here, and the rest from `base`.
    pub(crate) fn over(self, base: &Self) -> Self {
        Self {
            profile: self.profile,
            settings: self.settings.or(base.settings),
            check: self.check.or(base.check.clone()),
            in_fleet: self.in_fleet.or(base.in_fleet),
        }
    }

    /// Itself, if it can be. `must_ask` is whether its check has to say whom to ask.
    pub(crate) fn checked(self, must_ask: bool) -> Result<Self, SettingsError> {
        if self.profile.is_some() {
            return Err(SettingsError::misplaced("profile", "[breakers.NAME] of a catalogue"));
        }
        self.settings.complete()?;
        if must_ask || self.check.names_asked() {
            self.check.asked()?;
        }
        self.check.limits()?;
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                let mut entry = Entry::default();
                let settings = PartialSettings::read(map, |key, map| {
                    match key {
                        "profile" => entry.profile = map.next_value()?,
                        "check" => entry.check = or_empty(map)?,
                        "fleet" => entry.in_fleet = map.next_value()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?;
                Ok(Entry { settings, ..entry })
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> Visitor<'de> for Tables {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the tables {}", TABLES.join(", "))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
                let mut written = Written::default();
                let mut seen = Seen::default();
                while let Some(table) = map.next_key::<String>()? {
                    seen.note(&table, &table).map_err(A::Error::custom)?;
                    match table.as_str() {
                        "defaults" => written.defaults = or_empty(&mut map)?,
                        "profiles" => written.profiles = or_empty::<Named, A>(&mut map)?.0,
                        "breakers" => written.breakers = or_empty::<Named, A>(&mut map)?.0,
                        "fleet" => written.fleet = map.next_value()?,
                        _ => return Err(A::Error::custom(no_table(&table))),
                    }
                }
                Ok(written)
            }
        }
        deserializer.deserialize_map(Tables)
    }
}

/// Tables by their names, each of which is there once.
#[derive(Default)]
struct Named(BTreeMap<String, Entry>);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
                let mut named = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if named.contains_key(&name) {
                        return Err(A::Error::custom(SettingsError::both(&name, &name)));
                    }
                    named.insert(name, map.next_value()?);
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

/// A table, or an empty one where nothing is written.
fn or_empty<'de, T: Deserialize<'de> + Default, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    Ok(map.next_value::<Option<T>>()?.unwrap_or_default())
}

fn no_table(written: &str) -> SettingsError {
    let nearest = nearest(written, TABLES).map(String::from);
    SettingsError::unknown(written, nearest, TABLES.join(", "))
}
