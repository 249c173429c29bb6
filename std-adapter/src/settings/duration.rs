//! Durations as people write them: "10s", "1m 30s", "250ms".

use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::Serializer;

use crate::settings::error::SettingsError;

/// A duration that was written with its unit.
#[derive(Clone, Copy)]
pub(super) struct Humane(Duration);

impl<'de> Deserialize<'de> for Humane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HumaneVisitor)
    }
}

struct HumaneVisitor;

impl Visitor<'_> for HumaneVisitor {
    type Value = Humane;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a duration with its unit, such as \"10s\", \"1m 30s\" or \"250ms\" (for a bare number \
             of milliseconds add _ms to the setting's name)",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Humane, E> {
        match humantime::parse_duration(text.trim()) {
            Ok(duration) => Ok(Humane(duration)),
            Err(error) => Err(E::custom(format_args!(
                "{text:?} is no duration such as \"10s\", \"1m 30s\" or \"250ms\": {error}"
            ))),
        }
    }
}

/// The duration of a setting that can be given in either form.
pub(super) fn one_of(
    key: &str,
    humane: Option<Humane>,
    ms: Option<u64>,
) -> Result<Option<Duration>, SettingsError> {
    match (humane, ms) {
        (Some(_), Some(_)) => Err(SettingsError::both(key, &format!("{key}_ms"))),
        (Some(Humane(duration)), None) => Ok(Some(duration)),
        (None, ms) => Ok(ms.map(Duration::from_millis)),
    }
}

/// Writes a duration in its humane form.
pub(super) fn serialize<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => serializer.collect_str(&humantime::format_duration(*duration)),
        None => serializer.serialize_none(),
    }
}
