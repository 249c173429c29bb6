//! The settings of many breakers: defaults, named profiles, and what each breaker has of its own.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::error::SettingsError;
use crate::nearest::nearest;
use crate::table::PartialSettings;

/// The settings of many breakers, checked.
///
/// ```toml
/// [defaults]                  # for every breaker
/// open_for = "10s"
///
/// [profiles.patient]          # over the defaults, for whoever names it
/// max_open = "5m"
/// window = { kind = "time", span = "30s", failure_rate_percent = 40 }
///
/// [breakers.payments]         # over both, for the breaker of this name
/// profile = "patient"
/// max_probes = 3
/// ```
///
/// Each table takes the keys of [`PartialSettings`]; a breaker that isn't named has the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    defaults: PartialSettings,
    profiles: BTreeMap<String, PartialSettings>,
    breakers: BTreeMap<String, PartialSettings>,
}

/// What is wrong with a catalogue that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// A setting can't be.
    Setting(SettingsError),
    /// A breaker or a profile has no name.
    Unnamed {
        /// The table that it is in.
        table: &'static str,
    },
    /// Two names in one table differ in nothing but upper and lower case. The environment knows lower case only,
    /// so one of them is hardly meant.
    SameName {
        /// The table that both are in.
        table: &'static str,
        /// Both names.
        names: [String; 2],
    },
    /// A breaker names a profile that there is not.
    UnknownProfile {
        /// The breaker's table.
        table: String,
        /// The profile that it names.
        profile: String,
        /// Those that there are.
        known: Vec<String>,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::Unnamed { table } => write!(f, "{table} has an entry whose name is empty"),
            Self::SameName { table, names: [one, other] } => {
                write!(f, "{table}.{one} and {table}.{other} differ in nothing but upper and lower case")
            }
            Self::UnknownProfile { table, profile, known } => {
                write!(f, "{table}.profile is {profile:?}, but ")?;
                if known.is_empty() {
                    f.write_str("there are no profiles")
                } else {
                    write!(f, "must be one of: {}", known.join(", "))
                }
            }
        }
    }
}

impl core::error::Error for CatalogError {}

impl Catalog {
    /// The settings of the breaker called `name`: its own, over those of its profile, over the
    /// defaults.
    pub fn settings(&self, name: &str) -> PartialSettings {
        self.breakers.get(name).copied().unwrap_or(self.defaults)
    }

    /// The settings of a profile, over the defaults; `None` if there is none of this name.
    pub fn profile(&self, name: &str) -> Option<PartialSettings> {
        self.profiles.get(name).copied()
    }

    /// The names of the breakers that have settings of their own, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.breakers.keys().map(String::as_str)
    }

    fn checked(written: Written) -> Result<Self, CatalogError> {
        let defaults = written.defaults;
        checked(defaults, "defaults")?;
        check_names("profiles", written.profiles.keys())?;
        check_names("breakers", written.breakers.keys())?;
        let mut catalog = Self { defaults, ..Self::default() };
        for (name, settings) in written.profiles {
            let settings = checked(settings.or(defaults), &format!("profiles.{name}"))?;
            catalog.profiles.insert(name, settings);
        }
        for (name, own) in written.breakers {
            let table = format!("breakers.{name}");
            let base = catalog.base(own.profile, &table)?;
            catalog.breakers.insert(name, checked(own.settings.or(base), &table)?);
        }
        Ok(catalog)
    }

    /// What a breaker's own settings lie over.
    fn base(&self, profile: Option<String>, table: &str) -> Result<PartialSettings, CatalogError> {
        let Some(profile) = profile else {
            return Ok(self.defaults);
        };
        let unknown = |profile| CatalogError::UnknownProfile {
            table: table.into(),
            profile,
            known: self.profiles.keys().cloned().collect(),
        };
        self.profile(&profile).ok_or_else(|| unknown(profile))
    }
}

fn check_names<'a>(table: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), CatalogError> {
    let mut seen = BTreeMap::new();
    for name in names {
        if name.trim().is_empty() {
            return Err(CatalogError::Unnamed { table });
        }
        if let Some(other) = seen.insert(name.to_lowercase(), name) {
            return Err(CatalogError::SameName { table, names: [other.clone(), name.clone()] });
        }
    }
    Ok(())
}

fn checked(settings: PartialSettings, table: &str) -> Result<PartialSettings, CatalogError> {
    match settings.complete() {
        Ok(_) => Ok(settings),
        Err(error) => Err(CatalogError::Setting(error.under(table))),
    }
}

/// A catalogue as it is written.
#[derive(Default)]
struct Written {
    defaults: PartialSettings,
    profiles: BTreeMap<String, PartialSettings>,
    breakers: BTreeMap<String, Named>,
}

/// Settings that may name a profile which they lie over.
struct Named {
    profile: Option<String>,
    settings: PartialSettings,
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Named, A::Error> {
                let mut profile = None;
                let settings = PartialSettings::read(map, |key, map| {
                    let is_profile = key == "profile";
                    if is_profile {
                        profile = map.next_value()?;
                    }
                    Ok(is_profile)
                })?;
                Ok(Named { profile, settings })
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

const TABLES: [&str; 3] = ["defaults", "profiles", "breakers"];

impl<'de> Deserialize<'de> for Catalog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> Visitor<'de> for Tables {
            type Value = Catalog;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the tables defaults, profiles and breakers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Catalog, A::Error> {
                let mut written = Written::default();
                while let Some(table) = map.next_key::<String>()? {
                    match table.as_str() {
                        "defaults" => written.defaults = or_empty(&mut map)?,
                        "profiles" => written.profiles = or_empty(&mut map)?,
                        "breakers" => written.breakers = or_empty(&mut map)?,
                        _ => return Err(A::Error::custom(no_table(&table))),
                    }
                }
                Catalog::checked(written).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_map(Tables)
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
