//! Logs from their bytes to their calls.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::ProgressBar;
use nanobreaker::Outcome;
use proptest::prelude::*;

use super::understanding::Understood;
use super::*;

const T: i64 = 1_767_225_600_000_000;

fn reading(format: Option<Format>) -> Reading {
    Reading {
        format,
        ts_field: None,
        ts_unit: None,
        status_field: None,
        ok_field: None,
        duration_field: None,
        duration_unit: None,
        duration_word: None,
        time_word: None,
        status_word: None,
        log_format: None,
        time_is: None,
        span_kind: SpanKind::default(),
        key: Some("key".into()),
        rules: Rules {
            failure: None,
            ignored: "".parse().unwrap(),
            cancelled: None,
            declared: nanobreaker::Statuses::default(),
        },
    }
}

/// What was read.
#[derive(Debug)]
struct Read {
    calls: Vec<Call>,
    names: Vec<String>,
    skipped: Skipped,
    understood: Option<Understood>,
}

fn read_by(reading: &Reading, bytes: &[u8]) -> Result<Read, ReadError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let notes = Notes::new(Keys::new(2), MaxMalformed::Share(100.0));
    let progress = ProgressBar::hidden();
    let between = Between::default();
    let mut ordered = Ordered::open(&[Place::new(&path)], 3, reading, between, notes, &progress)?;
    let mut calls = Vec::new();
    while let Some(call) = ordered.next_call()? {
        calls.push(call);
    }
    let notes = ordered.notes();
    let name = |call: &Call| notes.keys.name(call.key).to_owned();
    Ok(Read {
        names: calls.iter().map(name).collect(),
        calls,
        skipped: notes.skipped.clone(),
        understood: notes.logs.first().and_then(|log| log.understood.clone()),
    })
}

fn read(text: &str) -> Read {
    read_by(&reading(None), text.as_bytes()).unwrap()
}

fn read_keyed(key: &str, text: &str) -> Read {
    let mut reading = reading(None);
    reading.key = Some(key.into());
    read_by(&reading, text.as_bytes()).unwrap()
}

/// Start, duration, outcome and name of the only call.
fn one(read: &Read) -> (i64, u64, Outcome, &str) {
    assert_eq!(read.calls.len(), 1, "{read:?}");
    let call = read.calls[0];
    (call.start_us, call.duration_us(), call.outcome, &read.names[0])
}

/// What is wrong with the only line.
fn malformed(text: &str) -> String {
    let read = read(text);
    assert_eq!(read.calls, [], "{text}");
    let shown = read.skipped.shown.first().unwrap();
    shown.split_once(": ").unwrap().1.to_owned()
}

/// What is asked.
fn asked(text: &str) -> String {
    read_by(&reading(None), text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn json_lines_are_read_by_the_names_of_their_fields() {
    let line = r#"{"more":{"ts":[1,{}]},"ts":1767225600.5,"status":503,"duration_ms":1.5,"key":"pay"}"#;
    let expected = (T + 500_000, 1_500, Outcome::Failure, "pay");
    assert_eq!(one(&read(line)), expected);
    let line = r#"{"ts":"2026-01-01T00:00:00Z","ok":true,"status":500,"duration_s":"2"}"#;
    assert_eq!(one(&read(line)), (T, 2_000_000, Outcome::Success, ""));
}

#[test]
fn names_may_be_paths_into_objects() {
    let mut reading = reading(None);
    reading.ts_field = Some("at.start".into());
    reading.duration_field = Some("timing.total.ms".into());
    reading.status_field = Some("response.status".into());
    reading.key = Some("request.host".into());
    let line = r#"{"at":{"start":1767225600.5,"other":[1]},"timing":{"total":{"ms":7}},
        "response":{"status":200},"request":{"host":"pay","headers":{"x":"y"}}}"#;
    let read = read_by(&reading, line.replace('\n', "").as_bytes()).unwrap();
    let expected = (T + 500_000, 7_000, Outcome::Success, "pay");
    assert_eq!(one(&read), expected);
}

#[test]
fn json_that_is_wrong_is_refused_by_column_or_field() {
    let cases = [
        (r#"{"ts":1,"status":200"#.to_owned() + "\n", "column 20: "),
        (r#"{"ts":1,"status":200,"duration_ms":1} x"#.to_owned() + "\n", "column 39: trailing characters"),
        ("[{}]\n".to_owned(), "column 0: invalid type: sequence, expected an object"),
        (r#"{"ts":1,"duration_ms":1}"#.to_owned() + "\n", "field `status` or `ok`: missing"),
        (r#"{"ts":1,"ok":true}"#.to_owned() + "\n", "field `duration_ms` or `duration_s`: missing"),
        (r#"{"ts":null,"ok":true,"duration_s":1}"#.to_owned() + "\n", "field `ts`: missing"),
        (
            r#"{"ts":1,"status":"teapot","duration_s":1}"#.to_owned() + "\n",
            "field `status`: \"teapot\" is not",
        ),
        (
            r#"{"ts":1,"ok":true,"duration_s":-1}"#.to_owned() + "\n",
            "field `duration_s`: -1 is not a duration",
        ),
        (
            r#"{"ts":1,"ok":true,"duration_s":1,"duration_s":2}"#.to_owned() + "\n",
            "field `duration_s`: stands there twice",
        ),
    ];
    for (line, expected) in cases {
        let message = malformed(&line);
        // serde's columns of whole values differ between its versions.
        let expected = expected.trim_start_matches("column 0: ");
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn csv_is_read_by_its_header_in_any_order_and_with_quotes() {
    let text = "key,more,duration_ms,status,ts\n\"a \"\"b\"\", c\",,12,200,1767225600\n";
    assert_eq!(one(&read(text)), (T, 12_000, Outcome::Success, "a \"b\", c"));
    for text in [
        "ts;ok;duration_s\n1767225600;true;0.5\n",
        "ts\tok\tduration_s\n1767225600\ttrue\t0.5\n",
        "rubbish\nts,ok,duration_s\n1767225600,true,0.5\nts,ok,duration_s\n",
    ] {
        assert_eq!(one(&read(text)), (T, 500_000, Outcome::Success, ""), "{text}");
    }
}

#[test]
fn csv_that_is_wrong_is_refused_by_column_or_field() {
    let header = "ts,status,duration_ms\n";
    let of = |line: &str| malformed(&format!("{header}{line}\n"));
    assert_eq!(of("1,200"), "column 6: 2 fields, but the header has 3");
    // A quote that does not close spoils its line only.
    assert!(of("\"1,200,5").contains("fields, but"));
    assert!(of("1,,5").contains("missing"));
}

#[test]
fn combined_logs_of_nginx_end_with_seconds_and_are_written_at_the_end() {
    let line = r#"10.0.0.1 - bob [01/Jan/2026:01:00:00 +0100] "GET /pay?x=1 HTTP/1.1" 502 157 "-" "curl \"8\"" 1.250 "-""#;
    let expected = (T - 1_250_000, 1_250_000, Outcome::Failure, "/pay");
    assert_eq!(one(&read_keyed("path", line)), expected);
    let named = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" rt=0.010 urt="0.009""#;
    assert_eq!(one(&read_keyed("host", named)).1, 10_000);
}

#[test]
fn what_a_client_chooses_is_never_a_duration() {
    let line = |user: &str, request: &str, agent: &str| {
        format!("::1 - {user} [01/Jan/2026:00:00:00 +0000] \"{request}\" 200 1 \"-\" \"{agent}\" 0.010")
    };
    for (user, request, agent) in [
        ("a 9.000 [b", "GET / HTTP/1.1", "-"),
        (r"x [01/Jan/2020:00:00:00 +0000] \x22GET / HTTP/1.1\x22 200 1 9.000", "GET / HTTP/1.1", "-"),
        ("-", "GET / 9.000 rt=9.000 HTTP/1.1", "9.000"),
        ("-", "GET / HTTP/1.1", r#"rt=9.000 \" 9.000"#),
        ("-", r#"\" 9.000 \""#, "-"),
    ] {
        let line = line(user, request, agent);
        let expected = (T - 10_000, 10_000, Outcome::Success, "");
        assert_eq!(one(&read(&line)), expected, "{line}");
    }
    let hidden = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET /" 200 1 "-" "-" "0.500""#;
    assert!(asked(hidden).contains("no word after the request is known"));
}

#[test]
fn a_line_with_another_number_of_words_is_malformed() {
    let line =
        |tail: &str| format!("::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /\" 200 1 \"-\" \"-\" {tail}\n");
    let text = line("0.010").repeat(3) + &line("9.000 0.010");
    let read = read(&text);
    assert_eq!(read.calls.len(), 3);
    assert!(read.skipped.shown[0].contains("6 words after the request, where others have 5"));
}

#[test]
fn an_upstreams_time_is_known_by_its_gaps_and_lists() {
    let line =
        |tail: &str| format!("::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /\" 200 1 \"-\" \"-\" {tail}\n");
    for other in ["-", "0.001, 0.002", "0.001 : 0.002"] {
        let text = line("0.008 0.010") + &line(&format!("{other} 0.010"));
        assert_eq!(read(&text).calls[0].duration_us(), 10_000, "{other}");
    }
    let question = asked(&(line("0.008 0.010") + &line("0.007 0.009")));
    for words in ["10  0.008   <- may be", "11  0.010   <- may be", "--duration-word 10 (or -2)"] {
        assert!(question.contains(words), "{question}");
    }
}

#[test]
fn common_logs_and_those_with_a_host_before_are_read_too() {
    let common = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 0.010"#;
    assert_eq!(one(&read(common)).1, 10_000);
    let with_host = format!("shop.example.com:443 {common}");
    assert_eq!(one(&read_keyed("host", &with_host)).3, "shop.example.com:443");
}

#[test]
fn combined_lines_that_are_wrong_are_refused_by_column_and_field() {
    let good = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" 0.100"#;
    let wrong = |line: &str| {
        let read = read(&format!("{good}\n{line}\n"));
        assert_eq!(read.calls.len(), 1);
        let shown = read.skipped.shown.first().unwrap();
        shown.split_once(":2: ").unwrap().1.to_owned()
    };
    assert_eq!(
        wrong(&good.replace("200", "OK")),
        "column 55: field `status`: \"OK\" is not a status from 0 to 999"
    );
    let message = wrong(&good.replace("01/Jan/2026:00:00:00 +0000", "yesterday"));
    assert!(message.starts_with("column 9: field `time`: \"yesterday\""), "{message}");
    assert!(wrong("::1 - - [01/Jan/2026").contains("field `request`"));
}

#[test]
fn envoys_default_format_is_read() {
    let line = r#"[2026-01-01T00:00:00.000Z] "GET /a HTTP/2" 503 UH 0 19 25 - "-" "agent" "id" "pay.local" "10.0.0.2:80""#;
    let expected = (T, 25_000, Outcome::Failure, "pay.local");
    assert_eq!(one(&read_keyed("authority", line)), expected);
    let gone = line.replace("503 UH", "0 DC");
    let read = read_keyed("upstream", &gone);
    assert_eq!((one(&read).2, one(&read).3), (Outcome::Cancelled, "10.0.0.2:80"));
    let none = line.replace("503 UH", "0 UF");
    assert_eq!(one(&read_keyed("path", &none)).2, Outcome::Failure);
    let tcp = line.replace("GET /a HTTP/2", "- - -").replace("503 UH", "0 -");
    assert_eq!(one(&read_keyed("path", &tcp)).2, Outcome::Success);
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
    let answered = read_keyed("path", &line("0.000 0.250 0.001"));
    let expected = (T + 2_000_000 - 251_000, 251_000, Outcome::Failure, "/b");
    assert_eq!(one(&answered), expected);
    let unanswered = read_keyed("domain", &line("0.000 -1 -1"));
    assert_eq!((one(&unanswered).1, one(&unanswered).3), (1_500_000, "a.com"));
}

#[test]
fn haproxys_aborted_calls_are_no_failures() {
    let line = |status: &str, state: &str| {
        format!(
            "haproxy[1]: 10.0.0.1:5 [01/Jan/2026:00:00:00.250] web~ pay/p1 0/0/1/-1/+43 {status} 310 - - \
             {state} 3/3/2/1/0 0/0 {{9.000|rt=9}} \"GET /pay HTTP/1.1\""
        )
    };
    let good = read_keyed("backend", &line("200", "----"));
    assert_eq!(one(&good), (T + 250_000, 43_000, Outcome::Success, "pay"));
    assert_eq!(one(&read(&line("-1", "CR--"))).2, Outcome::Cancelled);
    assert_eq!(one(&read(&line("-1", "SC--"))).2, Outcome::Failure);
}

#[test]
fn spans_of_other_kinds_are_no_calls() {
    let span = |kind: &str, code: &str| {
        format!(
            r#"{{"name":"GET","kind":{kind},"startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225600007000000","attributes":[{{"key":"server.address","value":{{"stringValue":"pay"}}}}],"status":{code}}}"#
        )
    };
    let text =
        [span("3", r#"{"code":2}"#), span("2", "{}"), span(r#""SPAN_KIND_INTERNAL""#, "{}")].join("\n");
    let read = read_keyed("server.address", &text);
    assert_eq!(one(&read), (T, 7_000, Outcome::Failure, "pay"));
    assert_eq!(read.skipped.other_spans, 2);
    let error = span(r#""SPAN_KIND_CLIENT""#, r#"{"code":"STATUS_CODE_ERROR"}"#);
    assert_eq!(one(&read_keyed("name", &error)).2, Outcome::Failure);
}

#[test]
fn fields_that_change_within_a_file_are_followed() {
    let text = "#Software: Microsoft Internet Information Services 10.0\n\
        #Fields: date time cs-uri-stem sc-status sc-win32-status time-taken\n\
        2026-01-01 00:00:00 /a 200 0 7\n\
        #Fields: time date sc-status time-taken sc-win32-status\n\
        00:00:01 2026-01-01 500 9 0\n";
    let calls = read(text).calls;
    let durations: Vec<_> = calls.iter().map(Call::duration_us).collect();
    assert_eq!(durations, [7_000, 9_000]);
    assert_eq!(calls[1].outcome, Outcome::Failure);
}

#[test]
fn two_fields_that_may_be_the_duration_are_asked_for() {
    let line = r#"{"ts":1,"status":200,"duration_ms":5,"latency":"6ms"}"#;
    let question = asked(line);
    for words in ["duration_ms = 5   <- may be", "latency = \"6ms\"   <- may be", "--duration-field"] {
        assert!(question.contains(words), "{question}");
    }
    let nested = r#"{"ts":1,"status":200,"duration_ms":5,"headers":{"latency":"6ms"}}"#;
    assert_eq!(one(&read(nested)).1, 5_000);
}

#[test]
fn a_time_that_may_be_a_begin_or_an_end_is_not_guessed() {
    let line = r#"{"time":"2026-01-01T00:00:00.5Z","status":200,"duration_ms":5}"#;
    assert!(malformed(&format!("{line}\n")).contains("field `ts`: missing"));
    let mut reading = reading(None);
    reading.time_is = Some(TimeIs::End);
    let read = read_by(&reading, line.as_bytes()).unwrap();
    assert_eq!(one(&read).0, T + 495_000);
}

#[test]
fn what_stands_around_lines_may_stand_in_other_things() {
    let line = r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" 0.100"#;
    let docker = serde_json::json!({"log": format!("{line}\n"), "stream": "stdout", "time": "x"});
    let text = format!("<190>Jan  1 00:00:00 web1 docker[12]: {docker}\n").repeat(2);
    let read = read(&text);
    assert_eq!(read.calls.len(), 2);
    let format = read.understood.unwrap().format;
    assert!(format.ends_with("in docker's json-file in syslog (RFC 3164)"), "{format}");
}

#[test]
fn a_last_line_that_is_being_written_is_no_malformed_one() {
    let line = "{\"ts\":1,\"status\":200,\"duration_ms\":5}\n";
    let read = read(&format!("{line}{}", &line[..20]));
    assert_eq!((read.calls.len(), read.skipped.malformed), (1, 0));
    let warnings = read.understood.unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("being written")));
}

fn line(ts: u64, key: &str) -> String {
    format!("{{\"ts\":{ts}.5,\"status\":200,\"duration_ms\":1,\"key\":\"{key}\"}}\n")
}

#[test]
fn calls_of_keys_beyond_the_limit_are_left_out_and_counted() {
    let log = [line(1, "a"), line(2, "b"), line(3, "c"), line(4, "a")].concat();
    let read = read(&log);
    assert_eq!(read.calls.len(), 3);
    assert_eq!(read.skipped.beyond_keys, 1);
}

#[test]
fn one_line_far_in_the_future_does_not_hide_those_after_it() {
    let log = [line(1, "a"), line(200_000, "a"), line(2, "a"), line(3, "a")].concat();
    let read = read(&log);
    let starts: Vec<_> = read.calls.iter().map(|call| call.start_us / 1_000_000).collect();
    assert_eq!(starts, [1, 2, 3, 200_000]);
    assert_eq!(read.skipped.out_of_order, 0);
}

#[test]
fn the_lines_tell_the_format() {
    let formats = [
        (r#"{"ts":1}"#, Some(Format::Json)),
        ("ts,status,duration_ms", Some(Format::Csv)),
        (r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200"#, Some(Format::Combined)),
        (r#"[2026-01-01T00:00:00Z] "GET""#, Some(Format::Envoy)),
        ("h2 2026-01-01T00:00:00Z app", Some(Format::Alb)),
        ("a=1 b=2 c=3", Some(Format::Logfmt)),
        ("what is this", None),
    ];
    for (line, format) in formats {
        assert_eq!(Format::of_line(line), format, "{line}");
    }
}

fn any_format() -> impl Strategy<Value = Option<Format>> {
    use Format::{Alb, Combined, Csv, Elb, Envoy, Haproxy, Json, Logfmt, Otel, W3c, Words};
    prop::option::of(prop::sample::select(vec![
        Json, Csv, Combined, Envoy, Alb, Elb, Haproxy, W3c, Logfmt, Otel, Words,
    ]))
}

/// Lines that are nearly right reach further than noise does.
const NEARLY: [&str; 11] = [
    r#"{"ts":1767225600.5,"status":503,"duration_ms":1.5,"key":"pay"}"#,
    r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#,
    r#"{"log":"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /\" 200 1 0.010\n","stream":"a","time":"b"}"#,
    "ts,status,duration_ms\n1767225600,200,\"15\"",
    r#"::1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-" rt=0.010 0.010, 0.2"#,
    r#"[2026-01-01T00:00:00.000Z] "GET /a HTTP/2" 503 UH 0 19 25 - "-" "agent" "id" "pay" "10:80""#,
    r#"h2 2026-01-01T00:00:02Z a b c 0.000 -1 -1 504 - 34 366 "GET https://a/b HTTP/1" "-" - - - "-" "-" "-" 0 2026-01-01T00:00:00Z"#,
    r#"<13>1 2026-03-01T12:00:06Z h p 1 - [a b="c"] time=2026-03-01T12:00:06Z status=200 duration=1m2s msg="a b""#,
    "#Fields: date time sc-status time-taken sc-win32-status\n2026-01-01 00:00:00 200 7 0",
    r#"Mar  1 12:00:06 lb haproxy[2]: 1.1.1.1:4 [01/Mar/2026:12:00:06.598] s~ p/p1 0/0/1/25/43 204 310 - - ---- 3/3/2/1/0 0/0 "GET /""#,
    "2026-03-01T12:00:06.6Z stdout F 2026-03-01T12:00:06.6Z shop 1.1.1.1:4 1.1.1.2:8 0.1 0.2 0.3 200 200 0 310 \"GET http://a/b\" \"c\" - -",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

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
        if let Ok(read) = read_by(&reading(format), &file) {
            prop_assert!(read.calls.is_sorted_by_key(|call| call.start_us));
        }
    }

    #[test]
    fn no_nearly_right_file_panics(
        format in any_format(),
        which in proptest::collection::vec((0..NEARLY.len(), 0..120usize, 0..20usize, "[\\PC\0\u{ff}]{0,8}"), 1..5),
        words in prop::option::of(-20..20i32),
    ) {
        let mut text = String::new();
        for (which, at, length, put) in which {
            let mut chars: Vec<char> = NEARLY[which].chars().collect();
            let from = at.min(chars.len());
            let to = (from + length).min(chars.len());
            chars.splice(from..to, put.chars());
            text.extend(chars);
            text.push('\n');
        }
        let mut reading = reading(format);
        reading.duration_word = words;
        reading.time_word = words.map(|number| number / 2).filter(|number| *number != 0);
        let _ = read_by(&reading, text.as_bytes());
    }

    #[test]
    fn no_template_panics(template in "[$%>{}a-zA-Z_ \"\\[\\]]{0,60}") {
        let mut reading = reading(None);
        reading.log_format = Some(template);
        let _ = read_by(&reading, NEARLY[4].as_bytes());
    }
}
