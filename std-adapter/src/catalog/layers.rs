//! Where settings come from: files, text and the environment, each laid over the one before.

use std::fmt;
use std::path::Path;

use config::builder::{ConfigBuilder, DefaultState};
use config::{Config, Environment, File, FileFormat};

use nanobreaker_settings::Catalog;

/// The formats of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    const fn of_file(self) -> FileFormat {
        match self {
            Self::Toml => FileFormat::Toml,
            Self::Json => FileFormat::Json,
            Self::Yaml => FileFormat::Yaml,
        }
    }
}

/// Where a [`Catalog`] is read from, each layer over those before it: setting by setting, not table
/// by table.
///
/// ```
/// use nanobreaker::catalog::{Format, Layers};
/// use std::time::Duration;
///
/// let catalog = Layers::new()
///     .text(Format::Toml, r#"
///         [defaults]
///         open_for = "10s"
///         [breakers.payments]
///         max_probes = 3
///     "#)
///     .optional_file("/etc/shop/breakers.yaml")
///     .environment("SHOP") // SHOP__BREAKERS__PAYMENTS__OPEN_FOR=30s
///     .load()?;
/// assert_eq!(catalog.settings("payments").max_probes, Some(3));
/// assert_eq!(catalog.settings("search").open_for, Some(Duration::from_secs(10)));
/// # Ok::<(), nanobreaker::catalog::LoadError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "call load() to read the layers"]
pub struct Layers(ConfigBuilder<DefaultState>);

impl Layers {
    /// No layer: every breaker has the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file that must be there, in the format that its extension names: `toml`, `json`, `yaml` or
    /// `yml`.
    pub fn file(self, path: impl AsRef<Path>) -> Self {
        Self(self.0.add_source(File::from(path.as_ref())))
    }

    /// The same for a file that may be missing.
    pub fn optional_file(self, path: impl AsRef<Path>) -> Self {
        Self(self.0.add_source(File::from(path.as_ref()).required(false)))
    }

    /// Text that is there already.
    pub fn text(self, format: Format, text: &str) -> Self {
        Self(self.0.add_source(File::from_str(text, format.of_file())))
    }

    /// The environment's variables that begin with `prefix`, in which two underscores separate
    /// tables: `PREFIX__BREAKERS__PAYMENTS__OPEN_FOR=30s`. Names of breakers are in lower case there.
    pub fn environment(self, prefix: &str) -> Self {
        self.add_environment(Environment::with_prefix(prefix))
    }

    fn add_environment(self, environment: Environment) -> Self {
        let separated = environment.separator("__").try_parsing(true);
        Self(self.0.add_source(separated))
    }

    #[cfg(test)]
    pub(super) fn variables(self, variables: &[(&str, &str)]) -> Self {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.add_environment(Environment::with_prefix("SHOP").source(Some(variables)))
    }

    /// Reads all layers, lays them over one another and checks every setting.
    ///
    /// # Errors
    ///
    /// A [`LoadError`]: a file can't be read (with line and column where its syntax is wrong), or
    /// a setting can't be (with its key, its value and what is allowed), or this build has not the feature
    /// that it needs.
    pub fn load(&self) -> Result<Catalog, LoadError> {
        let config: Config = self.0.build_cloned().map_err(LoadError::unread)?;
        let catalog = serde_path_to_error::deserialize(config).map_err(LoadError::refused)?;
        can_be_done(&catalog)?;
        Ok(catalog)
    }
}

/// Whether this build has what the catalogue asks for.
fn can_be_done(catalog: &Catalog) -> Result<(), LoadError> {
    #[cfg(feature = "check")]
    super::checks::Checks::of(catalog)?;
    #[cfg(not(feature = "check"))]
    if let Some((table, _)) = catalog.checks().next() {
        return Err(LoadError::new(format!("{table}.check needs the feature check")));
    }
    #[cfg(not(feature = "fleet"))]
    if catalog.fleet().is_some() {
        return Err(LoadError::new("fleet needs the feature fleet".to_owned()));
    }
    Ok(())
}

/// Why a [`Catalog`] could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    message: String,
}

impl LoadError {
    pub(super) fn new(message: String) -> Self {
        Self { message }
    }

    fn unread(error: config::ConfigError) -> Self {
        Self::new(error.to_string())
    }

    fn refused(error: serde_path_to_error::Error<config::ConfigError>) -> Self {
        let path = error.path().to_string();
        let inner = error.into_inner().to_string();
        // Whoever found the problem named the key already, unless it stands alone.
        let message = if path == "." || inner.contains(&path) { inner } else { format!("{path}: {inner}") };
        Self::new(message)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

#[cfg(test)]
mod tests;
