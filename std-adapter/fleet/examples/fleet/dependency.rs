//! A dependency that counts the calls that reach it, and fails while it is told to.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::scenario::now_ms;

pub(crate) const CALL: u8 = b'c';
pub(crate) const PROBE: u8 = b'p';
pub(crate) const WELL: u8 = b'1';

/// A call that reached the dependency.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at_ms: u64,
    pub(crate) is_probe: bool,
    pub(crate) was_down: bool,
}

#[derive(Default)]
struct Shared {
    is_down: AtomicBool,
    arrivals: Mutex<Vec<Arrival>>,
}

pub(crate) struct Dependency {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Dependency {
    pub(crate) async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Ok(Self { address, shared, accepting })
    }

    pub(crate) fn fail(&self, is_down: bool) {
        self.shared.is_down.store(is_down, Ordering::Relaxed);
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.shared.arrivals.lock().expect("nobody panics there").clone()
    }
}

impl Drop for Dependency {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut call = [0];
    while stream.read_exact(&mut call).await.is_ok() {
        let was_down = shared.is_down.load(Ordering::Relaxed);
        let arrival = Arrival { at_ms: now_ms(), is_probe: call[0] == PROBE, was_down };
        shared.arrivals.lock().expect("nobody panics there").push(arrival);
        if stream.write_all(if was_down { b"0" } else { &[WELL] }).await.is_err() {
            return;
        }
    }
}
