//! What a breaker leaves behind before a sleep, as bytes that show whether they can be trusted.
//!
//! | bytes | meaning |
//! | ----- | ------- |
//! | 0–3   | what this is, and the version of this layout |
//! | 4–7   | sequence: of two images the one with the next number is newer |
//! | 8–15  | the breaker's state, of `Breaker::save` |
//! | 16–23 | when it was saved, in milliseconds of the real-time clock |
//! | 24–27 | CRC-32 of the bytes before |
//!
//! Numbers are little-endian.

use core::fmt;

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

/// "NBK" and the layout's version.
const MAGIC: u32 = u32::from_le_bytes(*b"NBK1");
/// Bit by bit: a table would be faster and takes a kilobyte of flash.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// A breaker's state and when it was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Of two images the one with the next number is newer.
    pub sequence: u32,
    /// What `Breaker::save` returned.
    pub state: u64,
    /// When that was, in milliseconds of the real-time clock.
    pub saved_at_ms: u64,
}

impl Image {
    /// How long an image is.
    pub const LENGTH: usize = 28;

    /// The image's bytes.
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let (content, check) = bytes.split_at_mut(Self::LENGTH - 4);
        content[..4].copy_from_slice(&MAGIC.to_le_bytes());
        content[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        content[8..16].copy_from_slice(&self.state.to_le_bytes());
        content[16..].copy_from_slice(&self.saved_at_ms.to_le_bytes());
        check.copy_from_slice(&CRC.checksum(content).to_le_bytes());
        bytes
    }

    /// The image that these bytes are.
    ///
    /// # Errors
    ///
    /// When they are none, or were damaged.
    pub fn from_bytes(bytes: &[u8; Self::LENGTH]) -> Result<Self, ImageError> {
        if bytes.iter().all(|byte| *byte == 0xFF) || bytes.iter().all(|byte| *byte == 0) {
            return Err(ImageError::NeverWritten);
        }
        let magic = u32_at(bytes, 0);
        if magic != MAGIC {
            return Err(ImageError::NoImage { found: magic });
        }
        let (found, computed) = (u32_at(bytes, 24), CRC.checksum(&bytes[..24]));
        if found != computed {
            return Err(ImageError::Damaged { found, computed });
        }
        Ok(Self { sequence: u32_at(bytes, 4), state: u64_at(bytes, 8), saved_at_ms: u64_at(bytes, 16) })
    }

    /// Whether this image was saved after `other`.
    pub const fn is_newer_than(&self, other: &Self) -> bool {
        (self.sequence.wrapping_sub(other.sequence) as i32) > 0
    }
}

fn u32_at(bytes: &[u8; Image::LENGTH], at: usize) -> u32 {
    u32::from_le_bytes(core::array::from_fn(|nth| bytes[at + nth]))
}

fn u64_at(bytes: &[u8; Image::LENGTH], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Why bytes are no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// All bits are the same, as in memory that nobody wrote.
    NeverWritten,
    /// The first bytes are not an image's.
    NoImage {
        /// What they are.
        found: u32,
    },
    /// It is an image, but not as it was saved.
    Damaged {
        /// The checksum beside it.
        found: u32,
        /// The checksum of what is there.
        computed: u32,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverWritten => f.write_str("no image was ever written"),
            Self::NoImage { found } => {
                write!(f, "an image begins with {MAGIC:#010x}, this with {found:#010x}")
            }
            Self::Damaged { found, computed } => {
                write!(f, "the image says checksum {found:#010x}, but has {computed:#010x}")
            }
        }
    }
}

impl core::error::Error for ImageError {}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Image = Image { sequence: 7, state: 0x0123_4567_89AB_CDEF, saved_at_ms: 1 << 40 };

    #[test]
    fn an_image_comes_back_as_it_was_saved() {
        assert_eq!(Image::from_bytes(&IMAGE.to_bytes()), Ok(IMAGE));
    }

    #[test]
    fn any_bit_that_flips_is_noticed() {
        for bit in 0..Image::LENGTH * 8 {
            let mut bytes = IMAGE.to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Image::from_bytes(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn memory_that_was_never_written_says_so() {
        for byte in [0, 0xFF] {
            let error = Image::from_bytes(&[byte; Image::LENGTH]).unwrap_err();
            assert_eq!(error, ImageError::NeverWritten);
        }
    }

    #[test]
    fn the_sequence_may_wrap() {
        let last = Image { sequence: u32::MAX, ..IMAGE };
        let next = Image { sequence: 0, ..IMAGE };
        assert!(next.is_newer_than(&last) && !last.is_newer_than(&next));
    }
}
