//! The settings of many breakers: defaults, named profiles, and what each breaker has of its own; their checks,
//! and the fleet that they are in.

pub mod bounds;
#[cfg(feature = "check")]
mod checks;
mod layers;
mod live;
mod twice;
mod yaml;

pub use layers::{Format, Layers, LoadError};
pub use live::LiveCatalog;
pub use nanobreaker_settings::{Catalog, CatalogError};
