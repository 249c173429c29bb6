//! Opens a log: a file or standard input, plain or compressed with gzip or zstd.
//!
//! Standard input and pipes can be read once. Whoever reads twice keeps a copy of what comes from them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use tempfile::NamedTempFile;

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

/// A log as it is called, and where its bytes are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// A path; `-` is standard input.
    pub(crate) name: String,
    copy: Option<Arc<NamedTempFile>>,
}

impl Place {
    /// What is read where it is.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), copy: None }
    }

    /// What can be read as often as one likes: of all but files there is a copy, which goes when this does.
    pub(crate) fn kept(name: &str) -> io::Result<Self> {
        let place = Self::new(name);
        if name != "-" && Path::new(name).metadata()?.is_file() {
            return Ok(place);
        }
        let mut copy = NamedTempFile::new()?;
        io::copy(&mut place.bytes()?, &mut copy)?;
        Ok(Self { copy: Some(Arc::new(copy)), ..place })
    }

    /// The file, where it is one.
    fn path(&self) -> Option<&Path> {
        match &self.copy {
            Some(copy) => Some(copy.path()),
            None => Some(Path::new(&self.name)).filter(|_| self.name != "-"),
        }
    }

    fn bytes(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self.path() {
            Some(path) => Box::new(File::open(path)?),
            None => Box::new(io::stdin()),
        })
    }
}

/// The log at this place. What is read moves `progress` on.
pub(crate) fn open(place: &Place, progress: &ProgressBar) -> io::Result<Source> {
    let bytes = progress.wrap_read(place.bytes()?);
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

/// The bytes to be read from these places; `None` where one does not tell.
pub(crate) fn total_bytes(places: &[Place]) -> Option<u64> {
    let length = |place: &Place| {
        let file = place.path()?.metadata().ok()?;
        file.is_file().then_some(file.len())
    };
    places.iter().map(length).sum()
}
