use proptest::prelude::*;

use super::*;
use crate::reading::columns::TimeIs;
use crate::reading::rules::Ending;

const T: i64 = 1_767_225_600_000_000;

fn columns(key: &str) -> Columns {
    Columns {
        ts: "ts".into(),
        status: "status".into(),
        ok: "ok".into(),
        durations: vec![
            ("duration_ms".into(), Unit::Ms),
            ("duration_s".into(), Unit::S),
        ],
        key: Some(key.into()),
        ts_unit: None,
    }
}

fn parser(format: Format, first: &str) -> Parser {
    Parser::new(format, first, &columns("key"), &DurationWord::default())
        .unwrap()
        .0
}

/// Time, side, duration, ending and key of a line.
fn parsed(format: Format, key: &str, line: &str) -> (i64, TimeIs, i64, Ending, Option<String>) {
    let mut parser = parser(format, line);
    let record = parser.parse(line, &columns(key)).unwrap();
    let key = record.key.map(|key| key.into_owned());
    (
        record.time_us,
        record.time_is,
        record.duration_us,
        record.ending,
        key,
    )
}

fn refused(format: Format, line: &str) -> String {
    let columns = columns("key");
    parser(format, line)
        .parse(line, &columns)
        .unwrap_err()
        .to_string()
}

#[test]
fn json_lines_are_read_by_the_names_of_their_fields() {
    let line =
        r#"{"more":{"ts":[1,{}]},"ts":1767225600.5,"status":503,"duration_ms":1.5,"key":"pay"}"#;
    assert_eq!(
        parsed(Format::Json, "key", line),
        (
            T + 500_000,
            TimeIs::Start,
            1_500,
            Ending::Status(503),
            Some("pay".into())
        )
    );
    let line = r#"{"ts":"2026-01-01T00:00:00Z","ok":true,"status":500,"duration_s":"2"}"#;
    assert_eq!(
        parsed(Format::Json, "key", line),
        (T, TimeIs::Start, 2_000_000, Ending::Ok(true), None)
    );
}

#[test]
fn json_that_is_wrong_is_refused_by_column_or_field() {
    let cases = [
        (r#"{"ts":1,"status":200"#, "column 20: "),
        (
            r#"{"ts":1,"status":200,"duration_ms":1} x"#,
            "column 39: trailing characters",
        ),
        (
            "[1]",
            "column 1: invalid type: sequence, expected an object",
        ),
        (
            r#"{"ts":1,"duration_ms":1}"#,
            "field `status` or `ok`: missing",
        ),
        (
            r#"{"ts":1,"ok":true}"#,
            "field `duration_ms` or `duration_s`: missing",
        ),
        (
            r#"{"ts":null,"ok":true,"duration_s":1}"#,
            "field `ts`: missing",
        ),
        (
            r#"{"ts":1,"status":"teapot","duration_s":1}"#,
            "field `status`: \"teapot\" is not",
        ),
        (
            r#"{"ts":1,"status":{},"duration_s":1}"#,
            "field `status`: an object or a list is not",
        ),
        (
            r#"{"ts":1,"ok":true,"duration_s":-1}"#,
            "field `duration_s`: -1 is not a duration",
        ),
    ];
    for (line, expected) in cases {
        let message = refused(Format::Json, line);
        assert!(message.starts_with(expected), "{line}: {message}");
    }
}

fn csv(header: &str, line: &str) -> Result<(i64, Option<String>), String> {
    let columns = columns("key");
    let (mut parser, _) = Parser::new(Format::Csv, header, &columns, &DurationWord::default())
        .map_err(|why| why.to_string())?;
    let record = parser
        .parse(line, &columns)
        .map_err(|why| why.to_string())?;
    Ok((record.duration_us, record.key.map(|key| key.into_owned())))
}

#[test]
fn csv_is_read_by_its_header_in_any_order_and_with_quotes() {
    let header = "key,more,duration_ms,status,ts";
    let line = r#""a ""b"", c",,12,200,1767225600"#;
    assert_eq!(csv(header, line), Ok((12_000, Some("a \"b\", c".into()))));
    assert_eq!(csv("ts;ok;duration_s", "1;true;0.5"), Ok((500_000, None)));
    assert_eq!(
        csv("ts\tok\tduration_s", "1\ttrue\t0.5"),
        Ok((500_000, None))
    );
}

#[test]
fn csv_that_is_wrong_is_refused_by_column_or_field() {
    let problem = csv("time,status,duration_ms", "").unwrap_err();
    assert_eq!(
        problem,
        "field `ts`: no such column; the header has time, status, duration_ms"
    );
    let header = "ts,status,duration_ms";
    assert_eq!(
        csv(header, "1,200").unwrap_err(),
        "column 6: 2 fields, but the header has 3"
    );
    // A quote that does not close spoils its line only.
    assert!(csv(header, "\"1,200,5").is_err());
    assert!(csv(header, "1,,5").unwrap_err().contains("missing"));
}

#[test]
fn combined_logs_of_nginx_end_with_seconds_and_are_written_at_the_end() {
    let line = r#"10.0.0.1 - bob [01/Jan/2026:01:00:00 +0100] "GET /pay?x=1 HTTP/1.1" 502 157 "-" "curl \"8\"" 1.250 "-""#;
    assert_eq!(
        parsed(Format::Combined, "path", line),
        (
            T,
            TimeIs::End,
            1_250_000,
            Ending::Status(502),
            Some("/pay".into())
        )
    );
    let named = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" rt=0.010 urt="0.009""#;
    assert_eq!(parsed(Format::Combined, "host", named).2, 10_000);
}

#[test]
fn combined_logs_of_apache_end_with_microseconds_and_tell_the_start() {
    let line = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "POST / HTTP/1.1" 200 - "-" "agent" 1500"#;
    assert_eq!(
        parsed(Format::Combined, "method", line),
        (
            T,
            TimeIs::Start,
            1_500,
            Ending::Status(200),
            Some("POST".into())
        )
    );
}

#[test]
fn combined_lines_that_are_wrong_are_refused_by_column_and_field() {
    let without_time = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-""#;
    assert!(refused(Format::Combined, without_time).contains("field `request time`"));
    let status = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" OK 1 "-" "-" 0.1"#;
    assert_eq!(
        refused(Format::Combined, status),
        "column 55: field `status`: \"OK\" is not a status from 0 to 999"
    );
    let time = r#"::1 - - [yesterday] "GET / HTTP/1.1" 200 1 "-" "-" 0.1"#;
    assert!(refused(Format::Combined, time).starts_with("column 9: field `time`: \"yesterday\""));
    assert_eq!(
        refused(Format::Combined, "::1 - - [01/Jan/2026"),
        "column 9: a quote or bracket that does not close"
    );
}

#[test]
fn envoys_default_format_is_read() {
    let line = r#"[2026-01-01T00:00:00.000Z] "GET /a HTTP/2" 503 UH 0 19 25 - "-" "agent" "id" "pay.local" "10.0.0.2:80""#;
    assert_eq!(
        parsed(Format::Envoy, "authority", line),
        (
            T,
            TimeIs::Start,
            25_000,
            Ending::Status(503),
            Some("pay.local".into())
        )
    );
    let gone = line.replace("503 UH", "0 DC");
    assert_eq!(
        parsed(Format::Envoy, "upstream", &gone).3,
        Ending::Cancelled
    );
}

#[test]
fn albs_format_is_read_with_or_without_an_answer_of_the_target() {
    let line = |times: &str| {
        format!(
            "https 2026-01-01T00:00:02.000000Z app/lb/1 1.2.3.4:5 10.0.0.1:80 {times} 504 - 34 366 \
             \"GET https://a.com:443/b?c=d HTTP/1.1\" \"agent\" C TLSv1.2 arn:group \"trace\" \
             \"a.com\" \"arn:cert\" 0 2026-01-01T00:00:00.500000Z \"forward\" \"-\" \"-\""
        )
    };
    let answered = parsed(Format::Alb, "path", &line("0.000 0.250 0.001"));
    assert_eq!(
        answered,
        (
            T + 2_000_000,
            TimeIs::End,
            251_000,
            Ending::Status(504),
            Some("/b".into())
        )
    );
    let unanswered = parsed(Format::Alb, "domain", &line("0.000 -1 -1"));
    assert_eq!(
        (unanswered.2, unanswered.4),
        (1_500_000, Some("a.com".into()))
    );
}

#[test]
fn the_first_line_tells_the_format() {
    let formats = [
        (r#"{"ts":1}"#, Some(Format::Json)),
        ("ts,status,duration_ms", Some(Format::Csv)),
        (
            r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200"#,
            Some(Format::Combined),
        ),
        (r#"[2026-01-01T00:00:00Z] "GET"#, Some(Format::Envoy)),
        ("h2 2026-01-01T00:00:00Z app", Some(Format::Alb)),
        ("what is this", None),
    ];
    for (line, format) in formats {
        assert_eq!(Format::of(line), format, "{line}");
    }
}

const FORMATS: [Format; 5] = [
    Format::Json,
    Format::Csv,
    Format::Combined,
    Format::Envoy,
    Format::Alb,
];

/// Lines that are nearly right reach further than noise does.
const NEARLY: [&str; 5] = [
    r#"{"ts":1767225600.5,"status":503,"duration_ms":1.5,"key":"pay"}"#,
    r#"1767225600,200,"15",pay"#,
    r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" rt=0.010 0.010"#,
    r#"[2026-01-01T00:00:00.000Z] "GET /a HTTP/2" 503 UH 0 19 25 - "-" "agent" "id" "pay" "10:80""#,
    r#"h2 2026-01-01T00:00:02Z a b c 0.000 -1 -1 504 - 34 366 "GET https://a/b HTTP/1" "-" - - - "-" "-" "-" 0 2026-01-01T00:00:00Z"#,
];

fn parse_anyhow(line: &str) {
    for format in FORMATS {
        for key in ["key", "path", "host", "upstream", "domain"] {
            let columns = columns(key);
            let header = "ts,status,duration_ms,key";
            for first in [line, header] {
                if let Ok((mut parser, _)) =
                    Parser::new(format, first, &columns, &DurationWord::default())
                {
                    let _ = parser.parse(line, &columns);
                    let _ = parser.parse(line, &columns);
                }
            }
        }
    }
    let _ = Format::of(line);
}

proptest! {
    #[test]
    fn no_line_panics(line in "\\PC{0,200}") {
        parse_anyhow(&line);
    }

    #[test]
    fn no_line_of_marks_panics(line in "[\\[\\]\"\\\\{}:,; =0-9.eE+\u{e4}-]{0,120}") {
        parse_anyhow(&line);
    }

    #[test]
    fn no_nearly_right_line_panics(
        which in 0..NEARLY.len(),
        at in 0..200usize,
        length in 0..20usize,
        put in "\\PC{0,8}",
    ) {
        let mut chars: Vec<char> = NEARLY[which].chars().collect();
        let from = at.min(chars.len());
        let to = (from + length).min(chars.len());
        chars.splice(from..to, put.chars());
        parse_anyhow(&chars.into_iter().collect::<String>());
    }
}
