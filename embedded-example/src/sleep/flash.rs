//! Flash: two images in turn, each in a sector of its own.
//!
//! An image is written over the older of the two, so a reset amid erasing or writing leaves the
//! newer one whole.

use core::fmt;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

use super::{Image, ImageError, Memory};

/// The longest unit of writing that a flash may have: four of them hold an image.
const LONGEST_WRITE: usize = 8;
/// An image, filled up to whole units of writing.
const SLOT: usize = Image::LENGTH.next_multiple_of(LONGEST_WRITE);

/// Two sectors of a flash that keep an image.
#[derive(Debug)]
pub struct Flash<F> {
    flash: F,
    start: u32,
}

impl<F: NorFlash> Flash<F> {
    /// The two sectors from `start` on, which must be where a sector begins.
    pub const fn new(flash: F, start: u32) -> Self {
        const {
            assert!(
                F::WRITE_SIZE <= LONGEST_WRITE && LONGEST_WRITE.is_multiple_of(F::WRITE_SIZE),
                "this flash writes units of 1, 2, 4 or 8 bytes"
            );
            assert!(F::ERASE_SIZE >= SLOT, "a sector holds an image");
        }
        Self { flash, start }
    }

    /// The flash itself.
    pub const fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    fn address(&self, slot: Slot) -> u32 {
        match slot {
            Slot::First => self.start,
            Slot::Second => self.start.wrapping_add(F::ERASE_SIZE as u32),
        }
    }

    fn read(&mut self, slot: Slot) -> Result<Image, FlashError<F::Error>> {
        let mut bytes = [0; SLOT];
        let address = self.address(slot);
        self.flash.read(address, &mut bytes).map_err(FlashError::Flash)?;
        let image = core::array::from_fn(|nth| bytes[nth]);
        Image::from_bytes(&image).map_err(FlashError::Image)
    }

    /// The newer image and where it is.
    fn newer(&mut self) -> Result<(Image, Slot), FlashError<F::Error>> {
        match (self.read(Slot::First), self.read(Slot::Second)) {
            (Ok(first), Ok(second)) if second.is_newer_than(&first) => Ok((second, Slot::Second)),
            (Ok(first), _) => Ok((first, Slot::First)),
            (_, Ok(second)) => Ok((second, Slot::Second)),
            (Err(error), Err(_)) => Err(error),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    First,
    Second,
}

impl<F: NorFlash> Memory for Flash<F> {
    type Error = FlashError<F::Error>;

    fn load(&mut self) -> Result<Image, Self::Error> {
        self.newer().map(|(image, _)| image)
    }

    fn save(&mut self, image: &Image) -> Result<(), Self::Error> {
        let (sequence, slot) = match self.newer() {
            Ok((last, Slot::First)) => (last.sequence.wrapping_add(1), Slot::Second),
            Ok((last, Slot::Second)) => (last.sequence.wrapping_add(1), Slot::First),
            Err(_) => (0, Slot::First),
        };
        let image = Image { sequence, ..*image };
        let mut bytes = [0xFF; SLOT];
        bytes[..Image::LENGTH].copy_from_slice(&image.to_bytes());
        let address = self.address(slot);
        let end = address.wrapping_add(F::ERASE_SIZE as u32);
        self.flash
            .erase(address, end)
            .and_then(|()| self.flash.write(address, &bytes))
            .map_err(FlashError::Flash)
    }
}

/// Why a flash has no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashError<E> {
    /// The flash itself failed.
    Flash(E),
    /// Neither sector holds an image; this is what is wrong with the first.
    Image(ImageError),
}

impl<E: fmt::Debug> fmt::Display for FlashError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "the flash failed: {error:?}"),
            Self::Image(error) => error.fmt(f),
        }
    }
}

/// A flash of two sectors in RAM: writing clears bits, erasing sets those of a whole sector.
#[derive(Debug)]
pub struct EmulatedFlash {
    bytes: [u8; 2 * Self::SECTOR],
    /// How often a sector was erased: what a flash wears out from.
    pub erased: u32,
    /// Resets the chip, as it were, after so many more bytes that are written.
    pub power_fails_after: Option<usize>,
}

impl EmulatedFlash {
    const SECTOR: usize = 256;

    /// A flash as it is delivered.
    pub const fn erased() -> Self {
        Self { bytes: [0xFF; 2 * Self::SECTOR], erased: 0, power_fails_after: None }
    }

    /// What radiation does to a cell.
    pub fn flip_bit(&mut self, address: usize) {
        if let Some(byte) = self.bytes.get_mut(address) {
            *byte ^= 0x10;
        }
    }

    /// The bytes from one address to another.
    fn span(&mut self, from: u32, to: u32) -> Result<&mut [u8], NorFlashErrorKind> {
        self.bytes.get_mut(from as usize..to as usize).ok_or(NorFlashErrorKind::OutOfBounds)
    }
}

/// The emulated flash fails as real ones do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedFlashError(NorFlashErrorKind);

impl NorFlashError for EmulatedFlashError {
    fn kind(&self) -> NorFlashErrorKind {
        self.0
    }
}

impl ErrorType for EmulatedFlash {
    type Error = EmulatedFlashError;
}

impl ReadNorFlash for EmulatedFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), EmulatedFlashError> {
        let end = offset.wrapping_add(bytes.len() as u32);
        bytes.copy_from_slice(self.span(offset, end).map_err(EmulatedFlashError)?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for EmulatedFlash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = Self::SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), EmulatedFlashError> {
        self.span(from, to).map_err(EmulatedFlashError)?.fill(0xFF);
        self.erased += 1;
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), EmulatedFlashError> {
        let written = self.power_fails_after.unwrap_or(bytes.len());
        let end = offset.wrapping_add(bytes.len() as u32);
        let cells = self.span(offset, end).map_err(EmulatedFlashError)?;
        for (cell, byte) in cells.iter_mut().zip(bytes).take(written) {
            *cell &= byte;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(state: u64) -> Image {
        Image { sequence: 0, state, saved_at_ms: 0 }
    }

    fn state(flash: &mut Flash<EmulatedFlash>) -> Option<u64> {
        flash.load().ok().map(|image| image.state)
    }

    #[test]
    fn the_last_image_saved_is_loaded() {
        let mut flash = Flash::new(EmulatedFlash::erased(), 0);
        assert_eq!(flash.load(), Err(FlashError::Image(ImageError::NeverWritten)));
        for saved in 1..=5 {
            flash.save(&image(saved)).unwrap();
            assert_eq!(state(&mut flash), Some(saved));
        }
    }

    #[test]
    fn power_that_fails_at_any_byte_leaves_the_last_image_or_the_new_one() {
        for after in 0..=SLOT {
            let mut flash = Flash::new(EmulatedFlash::erased(), 0);
            flash.save(&image(1)).unwrap();
            flash.save(&image(2)).unwrap();
            flash.flash_mut().power_fails_after = Some(after);
            flash.save(&image(3)).unwrap();
            let expected = if after < Image::LENGTH { 2 } else { 3 };
            assert_eq!(state(&mut flash), Some(expected), "after {after} bytes");
        }
    }

    #[test]
    fn damaged_images_are_refused() {
        let mut flash = Flash::new(EmulatedFlash::erased(), 0);
        flash.save(&image(1)).unwrap();
        flash.save(&image(2)).unwrap();
        flash.flash_mut().flip_bit(EmulatedFlash::SECTOR + 9);
        assert_eq!(state(&mut flash), Some(1));
        flash.flash_mut().flip_bit(9);
        let error = flash.load().unwrap_err();
        assert!(matches!(error, FlashError::Image(ImageError::Damaged { .. })));
    }

    #[test]
    fn a_place_beyond_the_flash_is_an_error() {
        let mut flash = Flash::new(EmulatedFlash::erased(), 4_096);
        let beyond = FlashError::Flash(EmulatedFlashError(NorFlashErrorKind::OutOfBounds));
        assert_eq!(flash.save(&image(1)), Err(beyond));
        assert_eq!(flash.load(), Err(beyond));
    }
}
