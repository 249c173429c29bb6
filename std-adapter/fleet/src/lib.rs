//! Breakers of many processes share what they find out, through Redis (6.2 or later) or Valkey.
//!
//! > Others can make a breaker stop, and can make it look again. Only its own calls close it.
//!
//! ```no_run
//! use nanobreaker_fleet::nanobreaker::SharedBreaker;
//! use nanobreaker_fleet::{Fleet, Redis};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fleet = Fleet::builder("checkout")                      // who shares findings
//!     .quorum(2)                                              // one bad process stops nobody else
//!     .exchange(Redis::connect("redis://cache.internal")?)    // never waits
//!     .start()?;
//! let payments = SharedBreaker::builder().name("payments").fleet(&fleet).build()?;
//! # drop(payments);
//! # Ok(())
//! # }
//! ```
//!
//! The rules of an instance, and how to look at a fleet, are in [`nanobreaker::fleet`]. This crate brings the stores,
//! [`Redis`] and for tests [`InMemory`], so that whoever needs no fleet builds no client for Redis.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod link;
mod memory;
mod settings;
mod store;
mod wire;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use nanobreaker;
pub use nanobreaker::fleet::{
    BreakerInFleet, Exchange, ExchangeError, Fleet, FleetBuilder, FleetError, FleetStatus,
};

use nanobreaker::fleet::message::{Group, Heard, Reply, Report};
use redis::{Client, Cmd, PushInfo, PushKind, RedisError, Script, ServerErrorKind, Value, cmd};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

pub use memory::InMemory;
pub use nanobreaker::FleetSettings;
pub use settings::{StartError, start};

use link::{Address, Link, PATIENCE, Pushes, address};

/// The link is asked so often whether it still answers.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Between two attempts to connect, 20 % more or less.
const RETRY_AFTER: Duration = Duration::from_millis(200);
const RETRY_AFTER_AT_MOST: Duration = Duration::from_secs(5);

/// Redis or Valkey as the place where a fleet's processes meet.
///
/// It connects in the background, again and again, and no caller of a breaker ever waits for it. A link that
/// does not answer within two seconds, asked every five, is dropped: no message older than that is heeded.
///
/// The user needs `+eval +evalsha +subscribe +ping` (in a cluster `+ssubscribe +spublish`), what the script
/// calls (`+time +hsetnx +hget +hset +hdel +hgetall +zadd +zremrangebyscore +zcard +zrevrange
/// +pexpire +pttl +del +publish`), the keys `~nb1:{group}:*` and the channel `&nb1:{group}`.
pub struct Redis {
    address: Address,
    script: Script,
    link: Mutex<Option<Link>>,
    /// The store's time, and when that was.
    heard: Mutex<Option<(u64, Instant)>>,
}

impl Redis {
    /// One server: `redis://user:password@host:port`, with TLS `rediss://`, or `redis+unix:///path`.
    ///
    /// # Errors
    ///
    /// An [`ExchangeError`] where that is no address. Whether anyone is there shows later, in
    /// [`Fleet::status`].
    pub fn connect(url: &str) -> Result<Self, ExchangeError> {
        let client = address(url).and_then(Client::open).map_err(refused)?;
        Ok(Self::at(Address::Server(client)))
    }

    /// A server that you set up yourself, such as with certificates of your own. It must speak RESP3.
    pub fn with_client(client: Client) -> Self {
        Self::at(Address::Server(client))
    }

    /// The master of `service`, as these Sentinels name it. User and password of the first address are the
    /// master's, too.
    ///
    /// # Errors
    ///
    /// See [`connect`](Self::connect).
    pub fn connect_sentinels(urls: &[&str], service: &str) -> Result<Self, ExchangeError> {
        let (sentinels, service) = (addresses(urls)?, service.to_owned());
        Ok(Self::at(Address::Sentinels { sentinels, service }))
    }

    /// A cluster (7 or later, since messages stay in one shard), of which these nodes are known. A group lies
    /// in one slot.
    ///
    /// # Errors
    ///
    /// See [`connect`](Self::connect).
    pub fn connect_cluster(urls: &[&str]) -> Result<Self, ExchangeError> {
        Ok(Self::at(Address::Cluster(addresses(urls)?)))
    }

    fn at(address: Address) -> Self {
        let script = Script::new(include_str!("script.lua"));
        Self { address, script, link: Mutex::new(None), heard: Mutex::new(None) }
    }

    fn link(&self) -> Option<Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another server has another time.
    fn set_link(&self, link: Option<Link>) {
        *self.heard() = None;
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = link;
    }

    fn heard(&self) -> MutexGuard<'_, Option<(u64, Instant)>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What time it is for the store, as far as is known.
    fn store_ms(&self) -> Option<u64> {
        let (at_ms, heard) = (*self.heard())?;
        Some(at_ms + u64::try_from(heard.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn call(&self, verb: &str, script: &str, group: &Group, reports: &[Report]) -> Cmd {
        let key = |rest: &str| format!("nb1:{{{}}}:{rest}", group.name);
        let mut call = cmd(verb);
        call.arg(script).arg(4 + reports.len());
        for rest in ["run", "live", "f", "o"] {
            call.arg(key(rest));
        }
        for report in reports {
            call.arg(key(&format!("v:{}", report.breaker)));
        }
        // A new name each time: a memory that was lost must not come back under its old one.
        call.arg(wire::ask(fastrand::u64(..), group, reports, self.store_ms()));
        call.arg(self.address.publish()).arg(channel(group));
        call
    }

    /// Listens until the link is dead.
    async fn listen(&self, group: &Arc<Group>, link: Link, mut pushes: Pushes, ear: &mpsc::Sender<Heard>) {
        let pinging = async {
            let (mut link, nothing) = (link, self.call("EVAL", "return 1", group, &[]));
            loop {
                sleep(PING_EVERY).await;
                match timeout(PATIENCE, link.ping(&nothing)).await {
                    Ok(Ok(())) => drop(ear.send(Heard::Alive).await),
                    _ => return,
                }
            }
        };
        let hearing = async {
            while let Some(push) = pushes.recv().await {
                if push.kind == PushKind::Disconnection {
                    return;
                }
                if let Some(reply) = told(&push)
                    && ear.send(Heard::Said(reply)).await.is_err()
                {
                    return;
                }
            }
        };
        tokio::select! {
            () = pinging => {}
            () = hearing => {}
        }
    }
}

impl Exchange for Redis {
    async fn ask(&self, group: &Arc<Group>, reports: &[Report]) -> Result<Reply, ExchangeError> {
        let mut link = self.link().ok_or_else(|| ExchangeError::new("not connected"))?;
        let answer = match link.ask(&self.call("EVALSHA", self.script.get_hash(), group, reports)).await {
            Err(error) if error.kind() == ServerErrorKind::NoScript.into() => {
                link.ask(&self.call("EVAL", include_str!("script.lua"), group, reports)).await
            }
            answer => answer,
        };
        let json = match answer.map_err(refused)? {
            Value::BulkString(json) => json,
            Value::SimpleString(json) => json.into_bytes(),
            _ => Vec::new(),
        };
        *self.heard() = wire::written_ms(&json).map(|now_ms| (now_ms, Instant::now()));
        wire::told(&json).ok_or_else(|| ExchangeError::new("an answer that is none"))
    }

    async fn hear(&self, group: &Arc<Group>, ear: mpsc::Sender<Heard>) {
        let mut retry_after = RETRY_AFTER;
        loop {
            let channel = channel(group);
            if let Ok(Ok((link, pushes))) = timeout(2 * PATIENCE, self.address.connect(&channel)).await {
                self.set_link(Some(link.clone()));
                let _ = ear.send(Heard::Linked).await;
                self.listen(group, link, pushes, &ear).await;
                self.set_link(None);
                let _ = ear.send(Heard::Lost).await;
                retry_after = RETRY_AFTER;
            }
            sleep(retry_after.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
            retry_after = (2 * retry_after).min(RETRY_AFTER_AT_MOST);
        }
    }
}

fn channel(group: &Group) -> String {
    format!("nb1:{{{}}}", group.name)
}

/// What a push says, if it is a message.
fn told(push: &PushInfo) -> Option<Reply> {
    let is_message = matches!(push.kind, PushKind::Message | PushKind::SMessage);
    match push.data.last() {
        Some(Value::BulkString(json)) if is_message => wire::told(json),
        _ => None,
    }
}

fn addresses(urls: &[&str]) -> Result<Vec<redis::ConnectionInfo>, ExchangeError> {
    if urls.is_empty() {
        return Err(ExchangeError::new("no address: name at least one"));
    }
    urls.iter().map(|url| address(url).map_err(refused)).collect()
}

fn refused(error: RedisError) -> ExchangeError {
    ExchangeError::new(error)
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("is_linked", &self.link().is_some()).finish_non_exhaustive()
    }
}

/// Its examples compile, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
