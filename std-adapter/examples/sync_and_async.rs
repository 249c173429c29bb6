//! One breaker for a dependency that threads and tasks use alike: failures of blocking calls turn
//! away asynchronous ones, and an asynchronous probe lets both in again. Runs for half a second:
//!
//! ```console
//! cargo run -p nanobreaker --example sync_and_async
//! ```

use std::error::Error;
use std::io;
use std::thread;
use std::time::Duration;

use nanobreaker::{CallError, CallExt, Fallback, SharedBreaker};

fn blocking_call(well: bool) -> io::Result<&'static str> {
    well.then_some("an answer").ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
}

async fn async_call() -> io::Result<&'static str> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    blocking_call(true)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let breaker = SharedBreaker::builder()
        .failures(3, Duration::from_secs(10))
        .open_for(Duration::from_millis(200))
        .probe_successes(1)
        .hung_after(Duration::from_secs(1))
        .on_transition(|change| println!("  breaker: {} -> {}", change.from, change.to))
        .build()?;

    let for_thread = breaker.clone();
    let worker = thread::spawn(move || {
        for _ in 0..4 {
            match for_thread.call(|| blocking_call(false)) {
                Ok(answer) => println!("thread: {answer}"),
                Err(CallError::Failed(error)) => println!("thread: {error}"),
                Err(CallError::Rejected(rejected)) => println!("thread: {rejected}"),
                Err(error @ CallError::TimedOut) => println!("thread: {error}"),
            }
        }
    });
    // A worker that panics has said so by itself.
    let _ = tokio::task::spawn_blocking(|| worker.join()).await?;

    let answer = breaker.call_async(async_call()).await;
    println!("task: {}", answer.fallback("the answer of yesterday"));

    tokio::time::sleep(Duration::from_millis(250)).await;
    let answer = breaker.call_async(async_call()).await;
    println!("task: {}", answer.fallback("the answer of yesterday"));
    let answer = breaker.call(|| blocking_call(true));
    println!("main thread: {}", answer.fallback("the answer of yesterday"));
    Ok(())
}
