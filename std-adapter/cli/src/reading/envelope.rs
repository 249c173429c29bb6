//! What programs that collect logs put around each line: docker, CRI (Kubernetes) and syslog.

use std::borrow::Cow;

use serde::Deserialize;

use crate::reading::malformed::Malformed;

/// What stands around each line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// `{"log":"line\n","stream":"stdout","time":"…"}`
    Docker,
    /// `2026-03-01T12:00:06.689300000Z stdout F line`
    Cri,
    /// `<190>Mar  1 12:00:06 host program[pid]: line`, or with a time as in RFC 3339
    Syslog3164,
    /// `<190>1 2026-03-01T12:00:06.1Z host program pid id - line`
    Syslog5424,
}

#[derive(Deserialize)]
struct Docker<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(rename = "stream")]
    _stream: serde::de::IgnoredAny,
    #[serde(rename = "time")]
    _time: serde::de::IgnoredAny,
}

/// In the order in which they are looked for.
const ALL: [Envelope; 4] = [Envelope::Docker, Envelope::Cri, Envelope::Syslog5424, Envelope::Syslog3164];

impl Envelope {
    /// What most of these lines are in.
    pub(crate) fn of(lines: &[Cow<'_, str>]) -> Option<Self> {
        ALL.into_iter().find(|envelope| {
            let opened = lines.iter().filter(|line| envelope.open(line).is_ok());
            opened.count() * 2 > lines.len()
        })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker's json-file",
            Self::Cri => "CRI's log",
            Self::Syslog3164 => "syslog (RFC 3164)",
            Self::Syslog5424 => "syslog (RFC 5424)",
        }
    }

    /// The line that is inside.
    pub(crate) fn open(self, line: &str) -> Result<Cow<'_, str>, Malformed> {
        match self {
            Self::Docker => docker(line),
            Self::Cri => cri(line).map(Cow::Borrowed),
            Self::Syslog3164 => old_syslog(line).map(Cow::Borrowed),
            Self::Syslog5424 => new_syslog(line).map(Cow::Borrowed),
        }
        .ok_or_else(|| Malformed::column(1, format!("not in {}", self.name())))
    }
}

fn docker(line: &str) -> Option<Cow<'_, str>> {
    if !line.starts_with('{') {
        return None;
    }
    let docker: Docker<'_> = serde_json::from_str(line).ok()?;
    Some(match docker.log {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(['\r', '\n'])),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
            Cow::Owned(text)
        }
    })
}

fn cri(line: &str) -> Option<&str> {
    let mut parts = line.splitn(4, ' ');
    let (time, stream, tag) = (parts.next()?, parts.next()?, parts.next()?);
    // P: a part of a longer line, which is no line of its own.
    let is_whole = tag.split(':').next() == Some("F");
    (is_rfc_3339(time) && matches!(stream, "stdout" | "stderr") && is_whole).then_some(())?;
    Some(parts.next().unwrap_or(""))
}

fn is_rfc_3339(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 19 && bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T')
}

/// What follows `<190>`; the whole line where there is no such number.
fn after_priority(line: &str) -> &str {
    let inner = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    match inner {
        Some((number, rest)) if number.len() <= 3 && number.parse::<u16>().is_ok() => rest,
        _ => line,
    }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// RFC 3164, and the same with the time that rsyslog writes to files.
fn old_syslog(line: &str) -> Option<&str> {
    let rest = after_priority(line);
    let rest = if is_rfc_3339(rest.split(' ').next()?) {
        rest.split_once(' ')?.1
    } else {
        // `Mar  1 12:00:06 `: the day is two wide.
        let (date, rest) = (rest.get(..16)?, rest.get(16..)?);
        let is_date = MONTHS.iter().any(|month| date.starts_with(month))
            && date.get(9..10) == Some(":")
            && date.ends_with(' ');
        is_date.then_some(rest)?
    };
    let (_host, rest) = rest.split_once(' ')?;
    let (tag, message) = rest.split_once(':')?;
    let is_tag =
        !tag.is_empty() && tag.len() <= 64 && !tag.contains([' ', '"', '=', '{']) && message.starts_with(' ');
    is_tag.then(|| message.get(1..)).flatten()
}

fn new_syslog(line: &str) -> Option<&str> {
    let rest = after_priority(line);
    (rest.len() < line.len()).then_some(())?;
    let mut parts = rest.splitn(7, ' ');
    let (version, time) = (parts.next()?, parts.next()?);
    (version == "1" && (time == "-" || is_rfc_3339(time))).then_some(())?;
    let _host_program_pid_id = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let message = after_structured_data(parts.next()?)?;
    Some(message.trim_start_matches('\u{feff}'))
}

/// `-`, or one or more `[id name="value"]`, in which `]` may be escaped.
fn after_structured_data(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('-') {
        return Some(rest.strip_prefix(' ').unwrap_or(rest));
    }
    let (mut escaped, mut inside) = (false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' if !escaped => {
                escaped = true;
                continue;
            }
            b'[' if !inside => inside = true,
            b']' if inside && !escaped => inside = false,
            b' ' if !inside => return text.get(index + 1..),
            _ if !inside => return None,
            _ => {}
        }
        escaped = false;
    }
    (!inside).then_some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(line: &str) -> Option<(Envelope, String)> {
        let lines = [Cow::Borrowed(line)];
        let envelope = Envelope::of(&lines)?;
        Some((envelope, envelope.open(line).unwrap().into_owned()))
    }

    #[test]
    fn a_line_is_taken_out_of_what_stands_around_it() {
        let line = r#"192.0.2.7 - - [01/Mar/2026:12:00:06 +0000] "GET / HTTP/1.1" 200 1 "-" "a: b""#;
        let docker = serde_json::json!({"log": format!("{line}\n"), "stream": "stdout", "time": "x"});
        for (expected, text) in [
            (Envelope::Docker, docker.to_string()),
            (Envelope::Cri, format!("2026-03-01T12:00:06.689300000Z stdout F {line}")),
            (Envelope::Syslog3164, format!("<190>Mar  1 12:00:06 web1 nginx: {line}")),
            (Envelope::Syslog3164, format!("Mar 11 12:00:06 web1 nginx[12]: {line}")),
            (Envelope::Syslog3164, format!("2026-03-01T12:00:06.123456+00:00 web1 nginx: {line}")),
            (Envelope::Syslog5424, format!("<190>1 2026-03-01T12:00:06Z web1 nginx 12 - - {line}")),
            (Envelope::Syslog5424, format!(r#"<190>1 - web1 nginx 12 - [a b="c\]"][d e="f"] {line}"#)),
        ] {
            assert_eq!(opened(&text), Some((expected, line.to_owned())), "{text}");
        }
        assert_eq!(opened(line), None);
    }
}
