//! A relay between instances and server, which can be slow, swallow everything, or turn elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

#[derive(Default)]
struct Mood {
    to: AtomicU16,
    swallows: AtomicBool,
    delay_ms: AtomicU64,
    more_ms: AtomicU64,
}

pub(crate) struct Relay {
    port: u16,
    mood: Arc<Mood>,
}

impl Relay {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let relay = Self { port: listener.local_addr().unwrap().port(), mood: Arc::default() };
        relay.turn_to(port);
        let mood = Arc::clone(&relay.mood);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let mood = Arc::clone(&mood);
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(("127.0.0.1", mood.to.load(Ordering::Relaxed))).await
                    else {
                        return;
                    };
                    let ((near_read, near_write), (far_read, far_write)) =
                        (near.into_split(), far.into_split());
                    tokio::join!(
                        carry(near_read, far_write, Arc::clone(&mood)),
                        carry(far_read, near_write, mood)
                    );
                });
            }
        });
        relay
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Where connections lead that are made from now on.
    pub(crate) fn turn_to(&self, port: u16) {
        self.mood.to.store(port, Ordering::Relaxed);
    }

    /// What comes is dropped, and no connection ends.
    pub(crate) fn swallow(&self, swallows: bool) {
        self.mood.swallows.store(swallows, Ordering::Relaxed);
    }

    /// Each way takes this long, and up to `more`.
    pub(crate) fn delay(&self, least: Duration, more: Duration) {
        self.mood.delay_ms.store(least.as_millis() as u64, Ordering::Relaxed);
        self.mood.more_ms.store(more.as_millis() as u64, Ordering::Relaxed);
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mood: Arc<Mood>) {
    let mut bytes = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let more_ms = mood.more_ms.load(Ordering::Relaxed);
        let wait_ms = mood.delay_ms.load(Ordering::Relaxed) + fastrand::u64(0..=more_ms);
        if wait_ms > 0 {
            sleep(Duration::from_millis(wait_ms)).await;
        }
        if !mood.swallows.load(Ordering::Relaxed) && to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
