//! The checks of a catalogue, ready to be given to breakers.

use nanobreaker_settings::{Catalog, CheckSettings};

use crate::catalog::LoadError;
use crate::check::Check;

/// What each of a catalogue's checks became.
#[derive(Debug)]
pub(super) struct Checks(Vec<(CheckSettings, Check)>);

impl Checks {
    /// Makes all that the catalogue has.
    pub(super) fn of(catalog: &Catalog) -> Result<Self, LoadError> {
        let checks = catalog.checks().map(|(table, settings)| match Check::from_settings(settings) {
            Ok(check) => Ok((settings.clone(), check)),
            Err(error) => Err(LoadError::new(format!("{table}.check: {error}"))),
        });
        checks.collect::<Result<_, _>>().map(Self)
    }

    /// The check of the breaker called `name`, if it has one.
    pub(super) fn check(&self, catalog: &Catalog, name: &str) -> Option<Check> {
        let settings = catalog.check(name)?;
        let (_, check) = self.0.iter().find(|(known, _)| known == settings)?;
        Some(check.clone())
    }
}
