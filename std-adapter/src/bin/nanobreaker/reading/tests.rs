use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::ProgressBar;
use proptest::prelude::*;

use super::*;
use formats::DurationWord;

fn reading(format: Option<Format>) -> Reading {
    Reading {
        format,
        columns: Columns {
            ts: "ts".into(),
            status: "status".into(),
            ok: "ok".into(),
            durations: vec![("d".into(), Unit::Ms)],
            key: Some("key".into()),
            ts_unit: None,
        },
        duration: DurationWord::default(),
        time_is: None,
        rules: Rules {
            failure: "500-599".parse().unwrap(),
            ignored: "".parse().unwrap(),
            cancelled: "499".parse().unwrap(),
        },
        max_malformed: u64::MAX,
    }
}

/// The calls in a file with these bytes, and what was skipped.
fn calls(format: Option<Format>, bytes: &[u8]) -> Result<(Vec<Call>, Skipped), ReadError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let notes = Notes {
        keys: Keys::new(2),
        skipped: Skipped::default(),
    };
    let progress = ProgressBar::hidden();
    let mut ordered = Ordered::open(&[path], 3, reading(format), notes, &progress)?;
    let mut calls = Vec::new();
    while let Some(call) = ordered.next_call()? {
        calls.push(call);
    }
    Ok((calls, ordered.notes().skipped.clone()))
}

fn line(ts: u64, key: &str) -> String {
    format!("{{\"ts\":{ts},\"status\":200,\"d\":1,\"key\":\"{key}\"}}\n")
}

#[test]
fn calls_of_keys_beyond_the_limit_are_left_out_and_counted() {
    let log = [line(1, "a"), line(2, "b"), line(3, "c"), line(4, "a")].concat();
    let (calls, skipped) = calls(None, log.as_bytes()).unwrap();
    assert_eq!(calls.len(), 3);
    assert_eq!(skipped.beyond_keys, 1);
}

#[test]
fn one_line_far_in_the_future_does_not_hide_those_after_it() {
    let log = [line(1, "a"), line(200_000, "a"), line(2, "a"), line(3, "a")].concat();
    let (calls, skipped) = calls(None, log.as_bytes()).unwrap();
    let starts: Vec<_> = calls.iter().map(|call| call.start_us / 1_000_000).collect();
    assert_eq!(starts, [1, 2, 3, 200_000]);
    assert_eq!(skipped.out_of_order, 0);
}

fn any_format() -> impl Strategy<Value = Option<Format>> {
    use Format::{Alb, Combined, Csv, Envoy, Json};
    prop::option::of(prop::sample::select(vec![Json, Csv, Combined, Envoy, Alb]))
}

proptest! {
    #[test]
    fn no_file_panics(
        format in any_format(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        compressed: bool,
        cut in 0..400usize,
    ) {
        let mut file = if compressed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            bytes
        };
        file.truncate(cut);
        if let Ok((calls, _)) = calls(format, &file) {
            prop_assert!(calls.is_sorted_by_key(|call| call.start_us));
        }
    }
}
