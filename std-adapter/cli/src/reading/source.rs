//! Opens a log: a file or standard input, plain or compressed with gzip or zstd.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;

/// Large enough to keep system calls rare.
const BUFFER: usize = 1 << 16;
/// What every gzip member begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// What every zstd frame begins with.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How a log is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Gzip,
    Zstd,
}

impl Packed {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// A log's bytes, unpacked.
pub(crate) struct Source {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) packed: Option<Packed>,
}

/// The log at this path; `-` is standard input. What is read moves `progress` on.
pub(crate) fn open(path: &str, progress: &ProgressBar) -> io::Result<Source> {
    let bytes: Box<dyn Read + Send> =
        if path == "-" { Box::new(io::stdin()) } else { Box::new(progress.wrap_read(File::open(path)?)) };
    let mut reader = BufReader::with_capacity(BUFFER, bytes);
    let start = reader.fill_buf()?;
    // Rotated logs may be several compressed parts, one after the other: both read all of them.
    Ok(if start.starts_with(GZIP) {
        Source { reader: Box::new(MultiGzDecoder::new(reader)), packed: Some(Packed::Gzip) }
    } else if start.starts_with(ZSTD) {
        Source { reader: Box::new(zstd::Decoder::with_buffer(reader)?), packed: Some(Packed::Zstd) }
    } else {
        Source { reader: Box::new(reader), packed: None }
    })
}

/// The bytes to be read from these paths; `None` where standard input is among them.
pub(crate) fn total_bytes(paths: &[String]) -> Option<u64> {
    let length = |path: &String| std::fs::metadata(path).ok().map(|file| file.len());
    paths.iter().map(length).sum()
}
