//! Opens a log: a file or standard input, plain or compressed with gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;

/// Large enough to keep system calls rare.
const BUFFER: usize = 1 << 16;
/// What every gzip file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The log at this path; `-` is standard input. What is read moves `progress` on.
pub(crate) fn open(path: &str, progress: &ProgressBar) -> io::Result<Box<dyn BufRead + Send>> {
    let bytes: Box<dyn Read + Send> = if path == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(progress.wrap_read(File::open(path)?))
    };
    let mut reader = BufReader::with_capacity(BUFFER, bytes);
    if reader.fill_buf()?.starts_with(&GZIP) {
        // Rotated logs may be several compressed parts, one after the other.
        let plain = MultiGzDecoder::new(reader);
        Ok(Box::new(BufReader::with_capacity(BUFFER, plain)))
    } else {
        Ok(Box::new(reader))
    }
}

/// The bytes to be read from these paths; `None` where standard input is among them.
pub(crate) fn total_bytes(paths: &[String]) -> Option<u64> {
    let length = |path: &String| std::fs::metadata(path).ok().map(|file| file.len());
    paths.iter().map(length).sum()
}
