//! Which statuses are failures, and which say nothing: of HTTP and of gRPC.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use nanobreaker_core::Outcome;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::grpc::CODES;
use crate::nearest::nearest;

const FIRST: u16 = 100;
const LAST: u16 = 599;
const WORDS: usize = (LAST - FIRST) as usize / 64 + 1;

/// A set of statuses: of HTTP by number (`429`), class (`"5xx"`) or range (`"500-504"`), of gRPC by the
/// code's name (`"UNAVAILABLE"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusSet {
    http: [u64; WORDS],
    grpc: u32,
}

impl StatusSet {
    /// Whether this status of HTTP is in it.
    pub fn has_http(&self, status: u16) -> bool {
        let (word, bit) = place(status);
        (FIRST..=LAST).contains(&status) && self.http[word] & bit != 0
    }

    /// Whether the code of gRPC with this number is in it.
    pub fn has_grpc(&self, code: u16) -> bool {
        usize::from(code) < CODES.len() && self.grpc & (1 << code) != 0
    }

    fn names_http(&self) -> bool {
        self.http != [0; WORDS]
    }

    fn add_range(&mut self, first: u16, last: u16) -> Result<(), String> {
        if !(FIRST..=LAST).contains(&first) || !(first..=LAST).contains(&last) {
            return Err(format!(
                "{first} to {last} are no statuses of HTTP, which are from {FIRST} to {LAST} (codes of gRPC \
                 are written by name: \"UNAVAILABLE\")"
            ));
        }
        for status in first..=last {
            let (word, bit) = place(status);
            self.http[word] |= bit;
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<(), String> {
        let number = |text: &str| text.trim().parse::<u16>().ok();
        if let Some(class) = text.strip_suffix("xx").and_then(number) {
            return self.add_range(class.saturating_mul(100), class.saturating_mul(100).saturating_add(99));
        }
        let ends = text.split_once('-').map(|(first, last)| (number(first), number(last)));
        if let Some((Some(first), Some(last))) = ends {
            return self.add_range(first, last);
        }
        if let Some(status) = number(text) {
            return self.add_range(status, status);
        }
        let name = text.trim().to_ascii_uppercase();
        match CODES.iter().position(|code| *code == name) {
            Some(code) => {
                self.grpc |= 1 << code;
                Ok(())
            }
            None => Err(match nearest(&name, CODES) {
                Some(near) => format!("{text:?} is no status: did you mean {near:?}?"),
                None => format!(
                    "{text:?} is no status such as 429, \"5xx\", \"500-504\" or \"UNAVAILABLE\" (of gRPC)"
                ),
            }),
        }
    }

    /// Its ranges of HTTP's statuses, in order.
    fn ranges(&self) -> Vec<(u16, u16)> {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for status in (FIRST..=LAST).filter(|status| self.has_http(*status)) {
            match ranges.last_mut() {
                // A class begins a range of its own, so that it can be written as one.
                Some((_, last)) if *last + 1 == status && status % 100 != 0 => *last = status,
                _ => ranges.push((status, status)),
            }
        }
        ranges
    }
}

fn place(status: u16) -> (usize, u64) {
    let index = usize::from(status.clamp(FIRST, LAST) - FIRST);
    (index / 64, 1 << (index % 64))
}

/// What a breaker's settings say of statuses.
///
/// ```
/// use nanobreaker_core::Outcome;
/// use nanobreaker_settings::PartialSettings;
///
/// let settings: PartialSettings = toml::from_str(r#"
///     failure_status = ["5xx", 429, "UNAVAILABLE"]
///     ignore_status = [404]
/// "#)?;
/// let statuses = settings.statuses();
/// assert_eq!(statuses.of_http(429, Outcome::Success), Outcome::Failure);
/// assert_eq!(statuses.of_http(404, Outcome::Success), Outcome::Ignored);
/// assert_eq!(statuses.of_http(200, Outcome::Success), Outcome::Success);
/// assert_eq!(statuses.of_grpc(14, Outcome::Success), Outcome::Failure);
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statuses {
    failure: StatusSet,
    ignored: StatusSet,
}

impl Statuses {
    pub(crate) fn new(failure: Option<StatusSet>, ignored: Option<StatusSet>) -> Self {
        Self { failure: failure.unwrap_or_default(), ignored: ignored.unwrap_or_default() }
    }

    /// What this status of HTTP says. Where the settings name no failure of HTTP, what is `usual` holds for
    /// all but the ignored ones; otherwise what they don't name is a success. What can't be named, such as the 0
    /// that proxies log where there was no answer, stays what is `usual`.
    pub fn of_http(&self, status: u16, usual: Outcome) -> Outcome {
        if self.ignored.has_http(status) {
            Outcome::Ignored
        } else if !self.failure.names_http() || !(FIRST..=LAST).contains(&status) {
            usual
        } else if self.failure.has_http(status) {
            Outcome::Failure
        } else {
            Outcome::Success
        }
    }

    /// The same of gRPC's code with this number.
    pub fn of_grpc(&self, code: u16, usual: Outcome) -> Outcome {
        if self.ignored.has_grpc(code) {
            Outcome::Ignored
        } else if self.failure.grpc == 0 || usize::from(code) >= CODES.len() {
            usual
        } else if self.failure.has_grpc(code) {
            Outcome::Failure
        } else {
            Outcome::Success
        }
    }
}

impl Serialize for StatusSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (first, last) in self.ranges() {
            if last - first == 99 {
                list.serialize_element(&format!("{}xx", first / 100))?;
            } else if last > first {
                list.serialize_element(&format!("{first}-{last}"))?;
            } else {
                list.serialize_element(&format!("{first}"))?;
            }
        }
        for code in (0..CODES.len()).filter(|code| self.grpc & (1 << code) != 0) {
            list.serialize_element(CODES[code])?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for StatusSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = StatusSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of statuses such as [429, \"5xx\", \"UNAVAILABLE\"]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StatusSet, A::Error> {
                let mut set = StatusSet::default();
                while let Some(Entry(more)) = list.next_element()? {
                    for (word, more) in set.http.iter_mut().zip(more.http) {
                        *word |= more;
                    }
                    set.grpc |= more.grpc;
                }
                Ok(set)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// One entry of a list.
struct Entry(StatusSet);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl Visitor<'_> for One {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status such as 429, \"5xx\", \"500-504\" or \"UNAVAILABLE\" (of gRPC)")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Entry, E> {
                let status = u16::try_from(number).unwrap_or(u16::MAX);
                let mut set = StatusSet::default();
                set.add_range(status, status).map_err(E::custom)?;
                Ok(Entry(set))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Entry, E> {
                self.visit_u64(u64::try_from(number).unwrap_or(0))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Entry, E> {
                let mut set = StatusSet::default();
                set.add_text(text).map_err(E::custom)?;
                Ok(Entry(set))
            }
        }
        deserializer.deserialize_any(One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(json: &str) -> Result<StatusSet, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_set_holds_numbers_classes_ranges_and_names() {
        let set = set(r#"["5xx", 429, "401-403", "unavailable", "DEADLINE_EXCEEDED"]"#).unwrap();
        let http: Vec<u16> = (0..1_000).filter(|status| set.has_http(*status)).collect();
        let expected: Vec<u16> = [401, 402, 403, 429].into_iter().chain(500..=599).collect();
        assert_eq!(http, expected);
        let grpc: Vec<u16> = (0..100).filter(|code| set.has_grpc(*code)).collect();
        assert_eq!(grpc, [4, 14]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for json in [r#"["5xx","4xx"]"#, r#"[100, "598-599"]"#, "[]", r#"["OK","UNAUTHENTICATED", 404]"#] {
            let before = set(json).unwrap();
            assert_eq!(set(&serde_json::to_string(&before).unwrap()), Ok(before), "{json}");
        }
        assert_eq!(serde_json::to_string(&set(r#"["4xx", "5xx"]"#).unwrap()).unwrap(), r#"["4xx","5xx"]"#);
    }

    #[test]
    fn what_is_no_status_is_refused_with_what_is() {
        for (json, why) in [
            ("[14]", "by name"),
            ("[600]", "from 100 to 599"),
            ("[-1]", "from 100 to 599"),
            (r#"["6xx"]"#, "from 100 to 599"),
            (r#"["504-500"]"#, "from 100 to 599"),
            (r#"["UNAVAILABL"]"#, "did you mean \"UNAVAILABLE\"?"),
            (r#"["soon"]"#, "no status such as"),
            (r#""5xx""#, "a list of statuses"),
            ("[1.5]", "a status such as"),
        ] {
            let error = set(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_ignored_comes_first_and_each_protocol_has_its_usual_failures() {
        let statuses = Statuses::new(set(r#"["4xx"]"#).ok(), set(r#"[404, "NOT_FOUND"]"#).ok());
        assert_eq!(statuses.of_http(404, Outcome::Success), Outcome::Ignored);
        assert_eq!(statuses.of_http(400, Outcome::Success), Outcome::Failure);
        assert_eq!(statuses.of_http(500, Outcome::Failure), Outcome::Success);
        for unnamed in [0, 99, 600, 999] {
            assert_eq!(statuses.of_http(unnamed, Outcome::Failure), Outcome::Failure);
            assert_eq!(statuses.of_http(unnamed, Outcome::Success), Outcome::Success);
        }
        assert_eq!(statuses.of_grpc(5, Outcome::Success), Outcome::Ignored);
        assert_eq!(statuses.of_grpc(14, Outcome::Failure), Outcome::Failure);
        let of_grpc = Statuses::new(set(r#"["UNAVAILABLE"]"#).ok(), None);
        assert_eq!(of_grpc.of_grpc(17, Outcome::Failure), Outcome::Failure);
        assert_eq!(of_grpc.of_grpc(13, Outcome::Failure), Outcome::Success);
        assert_eq!(Statuses::default().of_http(500, Outcome::Failure), Outcome::Failure);
    }
}
