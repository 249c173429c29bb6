//! Lines of a log, however long: one that is longer than the limit is skipped without being kept.

use std::io::{self, BufRead};

/// The longest line that is read: a megabyte.
pub(crate) const LONGEST: usize = 1 << 20;

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// The number of the line read last, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.number += 1;
        let mut length = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() && length == 0 {
                return Ok(None);
            }
            let end = memchr(chunk);
            let text = &chunk[..end.unwrap_or(chunk.len())];
            length += text.len();
            if length <= LONGEST {
                self.buffer.extend_from_slice(text);
            }
            let used = text.len() + usize::from(end.is_some());
            let at_end = end.is_some() || chunk.is_empty();
            self.reader.consume(used);
            // An empty line has no length, but is a line.
            length = length.max(1);
            if at_end {
                break;
            }
        }
        if length > LONGEST {
            return Ok(Some(Line::TooLong));
        }
        let line = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        Ok(Some(Line::Whole(line)))
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Option<String>> {
        // A small buffer, so that lines span several reads.
        let mut lines = Lines::new(io::BufReader::with_capacity(7, text));
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(String::from_utf8_lossy(line).into_owned()),
                Line::TooLong => None,
            });
        }
        assert_eq!(lines.number(), found.len() as u64 + 1);
        found
    }

    #[test]
    fn lines_end_with_either_ending_or_with_the_file() {
        let text = b"first line\r\n\nthird\nlast";
        let expected = ["first line", "", "third", "last"].map(|line| Some(line.to_owned()));
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_read() {
        let mut text = vec![b'x'; LONGEST + 1];
        text.extend_from_slice(b"\nnext\n");
        assert_eq!(lines(&text), [None, Some("next".to_owned())]);
    }
}
