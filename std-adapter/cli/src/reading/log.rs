//! One log: blocks of lines become calls, several blocks at a time on all cores, on a thread of the log's
//! own. What is no call is noted and skipped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use foldhash::fast::RandomState;
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::reading::blocks::{Block, Blocks, FieldsBefore, LONGEST};
use crate::reading::call::Call;
use crate::reading::error::ReadError;
use crate::reading::layouts::w3c::Fields;
use crate::reading::layouts::{Layout, Scratch};
use crate::reading::malformed::Malformed;
use crate::reading::record::{Record, TimeIs};
use crate::reading::source::{self, Place};
use crate::reading::understanding::{Head, Plan, Reading, Understood, understand};

/// So many bytes are looked at to find out how a log is to be read.
const HEAD: usize = 1 << 20;
/// So many lines of them.
const HEAD_LINES: usize = 20_000;

/// What became of a block's lines.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Their keys are indices into `keys`.
    pub(crate) calls: Vec<Call>,
    pub(crate) keys: Vec<String>,
    /// All lines, blank ones and headers, too.
    pub(crate) lines: u64,
    /// Lines that were to be calls.
    pub(crate) counted: u64,
    pub(crate) malformed: u64,
    /// The first few, with their number within the block from 1 on.
    pub(crate) shown: Vec<(u64, Malformed)>,
    /// Spans that are no calls of interest.
    pub(crate) others: u64,
    /// A last line without an end that could not be read: it was being written.
    pub(crate) is_cut: bool,
}

/// Few lines are shorter: where more are, the calls of a block take more than one piece of memory.
const SHORT: usize = 64;

/// How many malformed lines are kept of a block.
const SHOWN: usize = 10;

/// What a log's thread sends.
type Sent = Result<Message, ReadError>;

enum Message {
    Blocks(Vec<Parsed>),
    /// Compressed data could not be read to its end.
    Broken {
        why: String,
        lost_line: bool,
    },
}

/// One log under way.
pub(crate) struct Log {
    pub(crate) path: String,
    parsed: Receiver<Sent>,
    pub(crate) understood: Option<Understood>,
    pub(crate) time_is: TimeIs,
    pub(crate) spreads: bool,
}

impl Log {
    /// Opens a log and finds out how it is to be read.
    pub(crate) fn open(place: &Place, reading: &Reading, progress: &ProgressBar) -> Result<Self, ReadError> {
        let path = place.name.as_str();
        let open_error = |error| ReadError::Open { path: path.to_owned(), error };
        let source = source::open(place, progress).map_err(open_error)?;
        let packed = source.packed;
        let mut blocks = Blocks::new(source);
        let head = head(&mut blocks).map_err(|error| read_error(path, 1, error))?;
        let plan = understand(Head::new(path, lines(&head)), reading)?;
        let mut understood = plan.as_ref().map(|plan| plan.understood.clone());
        if let (Some(understood), Some(packed)) = (&mut understood, packed) {
            understood.format = format!("{}, {}", understood.format, packed.name());
        }
        let (time_is, spreads) =
            plan.as_ref().map_or((TimeIs::Start, false), |plan| (plan.time_is, plan.spreads));
        Ok(Self {
            path: path.to_owned(),
            parsed: start(path.to_owned(), blocks, head, plan, reading.key.clone()),
            understood,
            time_is,
            spreads,
        })
    }

    /// What became of the next lines; `None` at the end.
    pub(crate) fn next_blocks(&mut self) -> Result<Option<Vec<Parsed>>, ReadError> {
        match self.parsed.recv() {
            Ok(Ok(Message::Blocks(parsed))) => Ok(Some(parsed)),
            Ok(Ok(Message::Broken { why, lost_line })) => {
                if let Some(understood) = &mut self.understood {
                    understood.format.push_str(" cut off");
                    let lost = if lost_line { "the last line is lost, and " } else { "lost is " };
                    understood.warnings.push(format!(
                        "the compressed data breaks off ({why}): {lost}whatever came after it"
                    ));
                }
                self.next_blocks()
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

fn read_error(path: &str, line: u64, error: std::io::Error) -> ReadError {
    ReadError::Read { path: path.to_owned(), line, error }
}

/// The blocks that are looked at first.
fn head(blocks: &mut Blocks) -> std::io::Result<Vec<Block>> {
    let (mut head, mut bytes) = (Vec::new(), 0);
    while bytes < HEAD {
        let Some(mut block) = blocks.next_block()? else {
            break;
        };
        // Some programs begin a file with a byte order mark.
        if head.is_empty() && block.bytes.starts_with(b"\xef\xbb\xbf") {
            block.bytes.drain(..3);
        }
        bytes += block.bytes.len();
        head.push(block);
    }
    Ok(head)
}

/// Their lines that hold text, with their numbers.
fn lines(head: &[Block]) -> Vec<(u64, Cow<'_, str>)> {
    let (mut lines, mut number) = (Vec::new(), 0);
    for block in head {
        for line in split(&block.bytes) {
            number += 1;
            if let Ok(text) = str::from_utf8(line)
                && !text.trim().is_empty()
                && lines.len() < HEAD_LINES
            {
                lines.push((number, Cow::Borrowed(text)));
            }
        }
        number += u64::from(block.is_overlong);
    }
    lines
}

/// A block's lines, without their ends.
fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', bytes);
    let unended = bytes.last().is_some_and(|last| *last != b'\n');
    ends.chain(unended.then_some(bytes.len())).map(move |end| {
        let line = bytes.get(start..end).unwrap_or_default();
        start = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// Reads and parses the log on a thread of its own, a little ahead of whoever plays it.
fn start(
    path: String,
    mut blocks: Blocks,
    head: Vec<Block>,
    plan: Option<Plan>,
    key: Option<String>,
) -> Receiver<Sent> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let Some(plan) = plan else {
            return;
        };
        let mut fields = FieldsBefore(plan.fields.clone());
        let mut head = head.into_iter();
        let mut line = 1;
        loop {
            let mut group = Vec::new();
            let mut failed = None;
            while group.len() < rayon::current_num_threads() && failed.is_none() {
                let next = head.next().map_or_else(|| blocks.next_block(), |block| Ok(Some(block)));
                match next {
                    Ok(Some(block)) => {
                        let is_w3c = matches!(plan.layout, Layout::W3c(_));
                        let before = is_w3c.then(|| fields.pass(&block)).flatten();
                        group.push((block, before));
                    }
                    Ok(None) => break,
                    Err(error) => failed = Some(error),
                }
            }
            let is_over = group.is_empty();
            let parsed: Vec<Parsed> = group
                .into_par_iter()
                .map(|(block, before)| parse(&block, &plan, before, key.as_deref()))
                .collect();
            line += parsed.iter().map(|parsed| parsed.lines).sum::<u64>();
            if !is_over && sender.send(Ok(Message::Blocks(parsed))).is_err() {
                // Nobody listens any more.
                return;
            }
            if let Some(error) = failed {
                let _ = sender.send(Err(read_error(&path, line, error)));
                return;
            }
            if is_over {
                if let Some((why, lost_line)) = blocks.broken() {
                    let lost = Parsed { lines: lost_line.into(), ..Parsed::default() };
                    let _ = sender.send(Ok(Message::Blocks(vec![lost])));
                    let _ = sender.send(Ok(Message::Broken { why: why.to_string(), lost_line }));
                }
                return;
            }
        }
    });
    receiver
}

/// Parses a block.
fn parse(block: &Block, plan: &Plan, fields: Option<Arc<Fields>>, key: Option<&str>) -> Parsed {
    let mut scratch = Scratch::with_fields(fields);
    // As many as there can be in lines as short as they get.
    let calls = Vec::with_capacity(block.bytes.len() / SHORT);
    let mut parsed = Parsed { calls, ..Parsed::default() };
    let mut keys = LocalKeys::default();
    let all = str::from_utf8(&block.bytes).ok();
    let mut start = 0;
    let unended = block.bytes.last().is_some_and(|last| *last != b'\n');
    let ends = memchr::memchr_iter(b'\n', &block.bytes);
    for end in ends.chain(unended.then_some(block.bytes.len())) {
        let line = match all {
            // Line ends are no parts of other characters.
            Some(text) => Ok(text.get(start..end).unwrap_or_default()),
            None => utf8(block.bytes.get(start..end).unwrap_or_default()),
        };
        start = end + 1;
        parsed.lines += 1;
        let line = line.map(|line| line.strip_suffix('\r').unwrap_or(line));
        if line.as_ref().is_ok_and(|line| is_blank(line)) {
            continue;
        }
        let before = parsed.calls.len();
        let done = line.and_then(|line| {
            let put = &mut |record: Record<'_>| parsed.calls.push(call(record, plan, &mut keys));
            one(line, plan, &mut scratch, key, put)
        });
        match done {
            Ok(others) => {
                parsed.others += others;
                parsed.counted += u64::from(parsed.calls.len() > before || others > 0);
            }
            Err(_) if unended && end == block.bytes.len() => parsed.is_cut = true,
            Err(why) => parsed.skip(why),
        }
    }
    if block.is_overlong {
        parsed.lines += 1;
        parsed.skip(Malformed::column(LONGEST, "longer than a megabyte"));
    }
    parsed.keys = keys.names;
    parsed
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_whitespace())
}

fn utf8(line: &[u8]) -> Result<&str, Malformed> {
    str::from_utf8(line).map_err(|error| Malformed::column(error.valid_up_to() + 1, "not UTF-8"))
}

/// Parses a line, out of what stands around it.
fn one(
    line: &str,
    plan: &Plan,
    scratch: &mut Scratch,
    key: Option<&str>,
    put: &mut dyn FnMut(Record<'_>),
) -> Result<u64, Malformed> {
    let mut line = Cow::Borrowed(line);
    for envelope in &plan.envelopes {
        line = match line {
            Cow::Borrowed(line) => envelope.open(line)?,
            Cow::Owned(line) => Cow::Owned(envelope.open(&line)?.into_owned()),
        };
    }
    if is_blank(&line) {
        return Ok(0);
    }
    plan.layout.parse(&line, scratch, key, put)
}

impl Parsed {
    fn skip(&mut self, why: Malformed) {
        self.counted += 1;
        self.malformed += 1;
        if self.shown.len() < SHOWN {
            self.shown.push((self.lines, why));
        }
    }
}

/// The names of a block's keys. Calls of one breaker often follow each other.
#[derive(Default)]
struct LocalKeys {
    names: Vec<String>,
    numbers: HashMap<String, u32, RandomState>,
    last: u32,
}

impl LocalKeys {
    fn number(&mut self, name: &str) -> u32 {
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_owned());
                self.numbers.insert(name.to_owned(), number);
                number
            }
        };
        self.last
    }
}

/// The call that a record tells of.
fn call(record: Record<'_>, plan: &Plan, keys: &mut LocalKeys) -> Call {
    let (start_us, end_us) = match plan.time_is {
        TimeIs::Start => (record.time_us, record.time_us + record.duration_us),
        TimeIs::End => (record.time_us - record.duration_us, record.time_us),
    };
    Call {
        start_us,
        end_us,
        key: keys.number(record.key.as_deref().unwrap_or("")),
        outcome: plan.rules.outcome(record.ending),
    }
}
