//! Backup RAM, or backup registers: words that a reset leaves as they are.

use super::{Image, ImageError, Memory};

const WORDS: usize = Image::LENGTH / 4;

/// An image in words that outlive a reset.
///
/// On a chip these are its backup registers (STM32's TAMP or RTC, nRF's GPREGRET are too few), its
/// RTC memory (ESP32), or RAM that stays powered, in a section that the runtime does not clear:
///
/// ```ignore
/// #[unsafe(link_section = ".uninit")]
/// static mut KEPT: MaybeUninit<[u32; BackupRam::WORDS]> = MaybeUninit::uninit();
/// ```
#[derive(Debug)]
pub struct BackupRam<'a>(&'a mut [u32; WORDS]);

impl<'a> BackupRam<'a> {
    /// How many words an image takes.
    pub const WORDS: usize = WORDS;

    /// An image in `words`, whatever they hold yet.
    pub const fn new(words: &'a mut [u32; WORDS]) -> Self {
        Self(words)
    }

    /// What radiation does to a cell.
    pub fn flip_bit(&mut self) {
        let [_, _, state, ..] = &mut self.0;
        *state ^= 0x10;
    }
}

impl Memory for BackupRam<'_> {
    type Error = ImageError;

    fn load(&mut self) -> Result<Image, ImageError> {
        let mut bytes = [0; Image::LENGTH];
        for (to, word) in bytes.chunks_exact_mut(4).zip(&*self.0) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Image::from_bytes(&bytes)
    }

    fn save(&mut self, image: &Image) -> Result<(), ImageError> {
        for (word, from) in self.0.iter_mut().zip(image.to_bytes().chunks_exact(4)) {
            *word = u32::from_le_bytes(core::array::from_fn(|nth| from[nth]));
        }
        Ok(())
    }
}
