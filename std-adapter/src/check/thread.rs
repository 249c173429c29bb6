//! The thread on which all checks of a process run: one, however many breakers are open.
//!
//! What a check awaits need not be `Send` there, so any async closure can be one. The thread's runtime is
//! never dropped, since connections that a check leaves in a pool belong to it.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::thread;

use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

type Job = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// Runs what `job` makes, there. Where there can be no thread nothing is checked, and the breaker is what it
/// is without checks.
pub(super) fn run<F: Future<Output = ()> + 'static>(job: impl FnOnce() -> F + Send + 'static) {
    static JOBS: OnceLock<Option<UnboundedSender<Job>>> = OnceLock::new();
    if let Some(jobs) = JOBS.get_or_init(start) {
        // Its receiver is never dropped.
        let _ = jobs.send(Box::new(move || Box::pin(job())));
    }
}

fn start() -> Option<UnboundedSender<Job>> {
    let (sender, jobs) = unbounded_channel();
    let builder = thread::Builder::new().name("nanobreaker-checks".into());
    builder.spawn(move || serve(jobs)).ok().map(|_| sender)
}

fn serve(mut jobs: UnboundedReceiver<Job>) {
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let local = LocalSet::new();
    local.block_on(&runtime, async move {
        while let Some(job) = jobs.recv().await {
            // A panic ends its task alone.
            spawn_local(job());
        }
    });
}
