use embedded_io::{BufRead, Error, ErrorKind, ErrorType, Read, Write};
use std::string::ToString;

use super::{breaker, phase};
use crate::guarded::*;
use nanobreaker_core::{Outcome, Phase};

/// Takes bytes, but nobody answers.
struct Line {
    asked: u32,
}

impl Line {
    fn fail<R>(&mut self) -> Result<R, ErrorKind> {
        self.asked += 1;
        Err(ErrorKind::TimedOut)
    }
}

impl ErrorType for Line {
    type Error = ErrorKind;
}

impl Read for Line {
    fn read(&mut self, _: &mut [u8]) -> Result<usize, ErrorKind> {
        self.fail()
    }
}

impl BufRead for Line {
    fn fill_buf(&mut self) -> Result<&[u8], ErrorKind> {
        self.fail()
    }
    fn consume(&mut self, _: usize) {}
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> Result<(), ErrorKind> {
        self.fail()
    }
}

#[test]
fn writes_that_only_fill_a_buffer_do_not_hide_failing_flushes() {
    let breaker = breaker();
    let mut line = Guarded::new(Line { asked: 0 }, &breaker);
    for _ in 0..5 {
        let _ = line.write_all(b"ping").and_then(|()| line.flush());
    }
    assert_eq!((line.inner().asked, phase(&breaker)), (2, Phase::Open));
}

#[test]
fn reads_are_guarded_with_and_without_a_buffer() {
    for buffered in [false, true] {
        let breaker = breaker();
        let mut line = Guarded::new(Line { asked: 0 }, &breaker);
        for _ in 0..5 {
            let refused = if buffered { line.fill_buf().is_err() } else { line.read(&mut [0]).is_err() };
            assert!(refused);
        }
        assert_eq!(line.inner().asked, 2);
    }
}

#[test]
fn a_rejection_is_of_the_kind_other_and_says_when_to_ask_again() {
    let breaker = breaker();
    breaker.trip();
    let mut line = Guarded::new(Line { asked: 0 }, &breaker);
    let error = line.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Other);
    assert!(error.to_string().contains("1000 ms"), "{error}");
}

#[test]
fn a_closure_judges_errors() {
    let breaker = breaker();
    let silence_is_normal = |error: &ErrorKind| match error {
        ErrorKind::TimedOut => Outcome::Ignored,
        _ => Outcome::Failure,
    };
    let mut line = Guarded::with_policy(Line { asked: 0 }, &breaker, silence_is_normal);
    for _ in 0..5 {
        assert!(line.read(&mut [0]).is_err());
    }
    assert_eq!((line.inner().asked, phase(&breaker)), (5, Phase::Closed));
}
