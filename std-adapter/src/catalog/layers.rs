//! Where settings come from: files, text and the environment, each laid over the one before.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::builder::{ConfigBuilder, DefaultState};
use config::{Config, Environment, File, FileFormat};

use nanobreaker_settings::Catalog;

use super::bounds;
#[cfg(feature = "check")]
use super::checks::Checks;

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
    /// By a file's extension: `toml`, `json`, `yaml` or `yml`; `None` where it is another.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }

    pub(super) const fn of_file(self) -> FileFormat {
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
///
/// What is larger than a megabyte, deeper than 16 levels or has YAML's aliases is no file of settings: it is
/// refused. So is one in which a key or the name of a breaker is there twice. So is a file without a single
/// character, which somebody is about to write; one that says nothing on purpose says so in a comment.
#[derive(Clone, Debug, Default)]
#[must_use = "call load() to read the layers"]
pub struct Layers(Vec<Layer>);

#[derive(Clone, Debug)]
enum Layer {
    File { path: PathBuf, may_be_missing: bool },
    Text { format: Format, text: String },
    Environment(Environment),
}

/// What was read at one time.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) catalog: Arc<Catalog>,
    /// What the catalogue's checks became.
    #[cfg(feature = "check")]
    pub(super) checks: Arc<Checks>,
    /// The files that may be missing, and were not.
    there: Vec<PathBuf>,
}

impl Reading {
    /// An error where this build has not what the catalogue asks for.
    fn of(catalog: Catalog, there: Vec<PathBuf>) -> Result<Self, LoadError> {
        #[cfg(not(feature = "check"))]
        if let Some((table, _)) = catalog.checks().next() {
            return Err(LoadError::new(format!("{table}.check needs the feature check")));
        }
        #[cfg(not(feature = "fleet"))]
        if catalog.fleet().is_some() {
            return Err(LoadError::new("fleet needs the feature fleet".to_owned()));
        }
        Ok(Self {
            #[cfg(feature = "check")]
            checks: Arc::new(Checks::of(&catalog)?),
            catalog: Arc::new(catalog),
            there,
        })
    }
}

/// Checks follow from their catalogue.
impl PartialEq for Reading {
    fn eq(&self, other: &Self) -> bool {
        self.catalog == other.catalog && self.there == other.there
    }
}

impl Layers {
    /// No layer: every breaker has the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    fn and(mut self, layer: Layer) -> Self {
        self.0.push(layer);
        self
    }

    /// A file that must be there, in the format that its extension names: `toml`, `json`, `yaml` or
    /// `yml`.
    pub fn file(self, path: impl AsRef<Path>) -> Self {
        self.and(Layer::File { path: path.as_ref().to_owned(), may_be_missing: false })
    }

    /// The same for a file that may be missing. A [`LiveCatalog`](super::LiveCatalog) that has found it once takes
    /// it for an error where it is gone.
    pub fn optional_file(self, path: impl AsRef<Path>) -> Self {
        self.and(Layer::File { path: path.as_ref().to_owned(), may_be_missing: true })
    }

    /// Text that is there already.
    pub fn text(self, format: Format, text: &str) -> Self {
        self.and(Layer::Text { format, text: text.to_owned() })
    }

    /// The environment's variables that begin with `prefix`, in which two underscores separate
    /// tables: `PREFIX__BREAKERS__PAYMENTS__OPEN_FOR=30s`. Names of breakers are in lower case there.
    pub fn environment(self, prefix: &str) -> Self {
        self.add_environment(Environment::with_prefix(prefix))
    }

    fn add_environment(self, environment: Environment) -> Self {
        self.and(Layer::Environment(environment.separator("__").try_parsing(true)))
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
        self.read(None).map(|reading| Arc::unwrap_or_clone(reading.catalog))
    }

    /// The same, where all files must be there that were there `before`.
    pub(super) fn read(&self, before: Option<&Reading>) -> Result<Reading, LoadError> {
        let mut builder = Config::builder();
        let mut there = Vec::new();
        for layer in &self.0 {
            builder = match layer {
                Layer::Environment(environment) => builder.add_source(environment.clone()),
                Layer::Text { format, text } => add_text(builder, *format, text).map_err(LoadError::new)?,
                Layer::File { path, may_be_missing } => {
                    let was_there = || before.is_some_and(|before| before.there.contains(path));
                    // What can't be looked at is there, or may be.
                    let is_missing = matches!(path.try_exists(), Ok(false));
                    if *may_be_missing && is_missing && !was_there() {
                        continue;
                    }
                    if *may_be_missing {
                        there.push(path.clone());
                    }
                    let of_file = |problem| LoadError::new(format!("{}: {problem}", path.display()));
                    add_file(builder, path).map_err(of_file)?
                }
            };
        }
        let config = builder.build().map_err(|error| LoadError::new(error.to_string()))?;
        let catalog = serde_path_to_error::deserialize(config).map_err(LoadError::refused)?;
        Reading::of(catalog, there)
    }
}

type Builder = ConfigBuilder<DefaultState>;

fn add_file(builder: Builder, path: &Path) -> Result<Builder, String> {
    let format = Format::of_path(path)
        .ok_or("its extension names no format of settings, which are toml, json, yaml and yml")?;
    let text = bounds::text(path).map_err(|error| error.to_string())?;
    if text.trim_ascii().is_empty() {
        return Err("it is empty; a file that says nothing on purpose says so in a comment".to_owned());
    }
    add_text(builder, format, &text)
}

fn add_text(builder: Builder, format: Format, text: &str) -> Result<Builder, String> {
    bounds::check(text, format)?;
    // By itself, so that an error is told with the file that it is in.
    let source = Config::builder().add_source(File::from_str(text, format.of_file()));
    let source = source.build().map_err(|error| error.to_string())?;
    Ok(builder.add_source(source))
}

/// Why a [`Catalog`] could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    message: String,
}

impl LoadError {
    pub(super) const fn new(message: String) -> Self {
        Self { message }
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
