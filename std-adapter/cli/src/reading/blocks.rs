//! A log in blocks that end where a line does, so that several can be parsed side by side.
//!
//! A line that is longer than the limit is skipped without being kept. Where compressed data breaks off,
//! the last line is lost and what came before it is not.

use std::io::{self, Read};
use std::sync::Arc;

use memchr::{memchr, memrchr};

use crate::reading::layouts::w3c::Fields;
use crate::reading::source::Source;

/// The longest line that is read: a megabyte.
pub(crate) const LONGEST: usize = 1 << 20;
/// What is read at once.
const SIZE: usize = 1 << 18;

/// Lines that follow each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// With their line ends, but maybe that of the log's last line.
    pub(crate) bytes: Vec<u8>,
    /// Whether a line comes after them that is longer than the limit.
    pub(crate) is_overlong: bool,
}

/// Reads blocks.
pub(crate) struct Blocks {
    reader: Box<dyn Read + Send>,
    is_packed: bool,
    rest: Vec<u8>,
    is_at_end: bool,
    has_begun: bool,
    /// Why the compressed data could not be read to its end.
    broken: Option<io::Error>,
    /// Whether a line was lost by that.
    lost_line: bool,
}

impl Blocks {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            reader: source.reader,
            is_packed: source.packed.is_some(),
            rest: Vec::new(),
            is_at_end: false,
            has_begun: false,
            broken: None,
            lost_line: false,
        }
    }

    /// Why compressed data could not be read to its end, and whether a line was lost by that, once the end is
    /// reached.
    pub(crate) fn broken(&self) -> Option<(&io::Error, bool)> {
        self.broken.as_ref().map(|why| (why, self.lost_line))
    }

    /// The next block; `None` at the end.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut searched = 0;
        loop {
            self.fill(&mut bytes, SIZE.max(2 * searched))?;
            let unsearched = bytes.get(searched..).unwrap_or_default();
            if let Some(last) = memrchr(b'\n', unsearched) {
                self.rest = bytes.split_off(searched + last + 1);
                return Ok(Some(self.block(bytes, false)));
            }
            searched = bytes.len();
            if self.is_at_end {
                let has_rest = searched > 0;
                self.lost_line |= has_rest && self.broken.is_some();
                return Ok((has_rest && !self.lost_line).then(|| self.block(bytes, false)));
            }
            if searched > LONGEST {
                self.skip_line()?;
                return Ok(Some(self.block(Vec::new(), true)));
            }
        }
    }

    fn block(&mut self, bytes: Vec<u8>, is_overlong: bool) -> Block {
        self.has_begun = true;
        Block { bytes, is_overlong }
    }

    /// Reads on until there are so many bytes, or the end is reached.
    fn fill(&mut self, bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
        let missing = length.saturating_sub(bytes.len());
        if missing == 0 || self.is_at_end {
            return Ok(());
        }
        match self.reader.by_ref().take(missing as u64).read_to_end(bytes) {
            Ok(read) => self.is_at_end = read < missing,
            Err(error) => {
                let has_lines = self.has_begun || memchr(b'\n', bytes).is_some();
                if !self.is_packed || !has_lines {
                    return Err(error);
                }
                self.broken = Some(error);
                self.is_at_end = true;
            }
        }
        Ok(())
    }

    /// Drops everything up to the next line.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut dropped = Vec::new();
        while !self.is_at_end {
            dropped.clear();
            self.fill(&mut dropped, SIZE)?;
            if let Some(end) = memchr(b'\n', &dropped) {
                self.rest = dropped.split_off(end + 1);
                break;
            }
        }
        Ok(())
    }
}

/// The fields that hold at the start of each block, where a log says them in its lines.
#[derive(Debug, Default)]
pub(crate) struct FieldsBefore(pub(crate) Option<Arc<Fields>>);

impl FieldsBefore {
    /// Those at this block's start.
    pub(crate) fn pass(&mut self, block: &Block) -> Option<Arc<Fields>> {
        let at_start = self.0.clone();
        if let Some(last) = Fields::last_in(&block.bytes) {
            self.0 = Some(last);
        }
        at_start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(bytes: Vec<u8>) -> Vec<Block> {
        let mut blocks = Blocks::new(Source { reader: Box::new(io::Cursor::new(bytes)), packed: None });
        let mut all = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            all.push(block);
        }
        all
    }

    #[test]
    fn blocks_end_with_lines_and_nothing_is_lost() {
        let line = format!("{}\n", "x".repeat(1_000));
        let text = line.repeat(1_000) + "the end";
        let found = blocks(text.clone().into_bytes());
        assert!(found.len() > 2);
        let (last, others) = found.split_last().unwrap();
        assert!(others.iter().all(|block| block.bytes.ends_with(b"\n")));
        assert!(last.bytes.ends_with(b"the end"));
        let joined: Vec<u8> = found.into_iter().flat_map(|block| block.bytes).collect();
        assert_eq!(joined, text.into_bytes());
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_read() {
        for length in [LONGEST * 2, LONGEST * 5] {
            let mut text = vec![b'x'; length];
            text.extend_from_slice(b"\nnext\n");
            let found = blocks(text);
            assert!(found[0].is_overlong && found[0].bytes.is_empty());
            assert_eq!(found[1].bytes, b"next\n");
        }
    }
}
