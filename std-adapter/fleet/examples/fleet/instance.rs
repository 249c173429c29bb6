//! One instance: it calls the dependency through its breaker, and writes down what the breaker did.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nanobreaker_fleet::nanobreaker::fleet::Link;
use nanobreaker_fleet::nanobreaker::{CoarseClock, SharedBreaker};
use nanobreaker_fleet::{Fleet, FleetBuilder, Redis};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, stdin};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until};

use crate::Failure;
use crate::dependency::{CALL, PROBE, WELL};
use crate::scenario::now_ms;

/// What an instance is.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) dependency: SocketAddr,
    /// The store's address, where it is one that processes share.
    pub(crate) store: Option<String>,
    /// Each run has a group of its own, or the last run's votes would count.
    pub(crate) group: String,
    pub(crate) quorum: u32,
    pub(crate) every: Duration,
    pub(crate) open_for: Duration,
    pub(crate) max_open: Duration,
    pub(crate) patience: Duration,
    /// All its calls fail, whatever the dependency answers.
    pub(crate) is_poisoned: bool,
}

impl Part {
    /// Per cent, so that the living are counted: they then spread over 10 ms for each, and not over a second.
    pub(crate) fn fleet(&self) -> FleetBuilder {
        Fleet::builder(&self.group).quorum(self.quorum).quorum_percent(1)
    }
}

/// What an instance's breaker did.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When, to which phase, and why.
    pub(crate) transitions: Vec<(u64, String, String)>,
    pub(crate) rejected_ms: Vec<u64>,
    /// How long the breaker took to answer whether a call may be made.
    pub(crate) asked_ns: Vec<u64>,
}

/// An instance with its own process: says when it is ready, begins at one line and ends at the next.
pub(crate) async fn process(part: &str) -> Result<(), Failure> {
    let part: Part = serde_json::from_str(part)?;
    let fleet = match &part.store {
        Some(url) => Some(part.fleet().exchange(Redis::connect(url)?).start()?),
        None => None,
    };
    while fleet.as_ref().is_some_and(|fleet| fleet.status().link != Link::Together) {
        sleep(Duration::from_millis(5)).await;
    }
    println!("ready");
    let mut lines = BufReader::new(stdin()).lines();
    lines.next_line().await?;
    let record = live(part, fleet, async move { drop(lines.next_line().await) }).await?;
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}

/// Calls until `end`.
pub(crate) async fn live(
    part: Part,
    fleet: Option<Fleet>,
    end: impl Future<Output = ()>,
) -> Result<Record, Failure> {
    let record = Arc::new(Mutex::new(Record::default()));
    let written = Arc::clone(&record);
    let mut builder = SharedBreaker::builder()
        .name("dependency")
        .failures(5, part.open_for)
        .open_for(part.open_for)
        .max_open(part.max_open)
        .probe_successes(1)
        .hung_after(part.patience)
        .jitter_permille(200)
        .clock(CoarseClock)
        .on_transition(move |transition| {
            let (to, cause) = (transition.to.to_string(), transition.cause.to_string());
            written.lock().expect("nobody panics there").transitions.push((now_ms(), to, cause));
        });
    if let Some(fleet) = &fleet {
        builder = builder.fleet(fleet);
    }
    let breaker = builder.build()?;
    tokio::select! {
        () = call_again_and_again(&part, &breaker, &record) => {}
        () = end => {}
    }
    let record = record.lock().expect("nobody panics there").clone();
    Ok(record)
}

async fn call_again_and_again(part: &Part, breaker: &SharedBreaker, record: &Mutex<Record>) {
    let mut next = Instant::now();
    let mut stream = None;
    loop {
        // As calls of many users come: the time to the next is exponentially distributed.
        next += part.every.mul_f64(-(1.0 - fastrand::f64()).ln());
        sleep_until(next).await;
        let asked = Instant::now();
        let answer = breaker.allow();
        let asked_ns = asked.elapsed().as_nanos() as u64;
        record.lock().expect("nobody panics there").asked_ns.push(asked_ns);
        let Ok(permit) = answer else {
            record.lock().expect("nobody panics there").rejected_ms.push(now_ms());
            continue;
        };
        let kind = if permit.is_probe() { PROBE } else { CALL };
        let is_well = call(part.dependency, &mut stream, kind).await.unwrap_or(false);
        if is_well && !part.is_poisoned {
            permit.success()
        } else {
            permit.failure()
        };
    }
}

async fn call(to: SocketAddr, stream: &mut Option<TcpStream>, kind: u8) -> std::io::Result<bool> {
    // Kept only if the call came to its end.
    let mut connected = match stream.take() {
        Some(connected) => connected,
        None => TcpStream::connect(to).await?,
    };
    connected.write_all(&[kind]).await?;
    let mut answer = [0];
    connected.read_exact(&mut answer).await?;
    *stream = Some(connected);
    Ok(answer[0] == WELL)
}
