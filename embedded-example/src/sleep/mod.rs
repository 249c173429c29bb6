//! A node that loses its memory whenever it sleeps, and what it keeps over it.
//!
//! It wakes once a minute, reads its sensor, and switches itself off. Each wake-up is a reset: the
//! breaker begins closed, and its clock at 0. Without memory the node would try a dead sensor anew at
//! each wake-up. So it keeps an [`Image`] of its breaker in a [`Memory`]: backup RAM, or flash.

mod flash;
mod image;
mod node;
mod ram;

pub use flash::{EmulatedFlash, Flash, FlashError};
pub use image::{Image, ImageError};
pub use node::{Forgetful, Night, Totals, sleep_through};
pub use ram::BackupRam;

/// Where an image outlives the sleep.
pub trait Memory {
    /// Why there is no image.
    type Error;

    /// The last image that was saved.
    ///
    /// # Errors
    ///
    /// When there is none that can be trusted.
    fn load(&mut self) -> Result<Image, Self::Error>;

    /// Keeps `image` in place of the last.
    ///
    /// # Errors
    ///
    /// When the memory can't be written.
    fn save(&mut self, image: &Image) -> Result<(), Self::Error>;
}
