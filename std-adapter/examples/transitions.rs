//! A breaker's transitions as `tracing` events and as a broadcast for async code, and a health
//! indicator. Runs for half a second:
//!
//! ```console
//! cargo run -p nanobreaker --example transitions
//! ```

use std::error::Error;
use std::io;
use std::time::Duration;

use nanobreaker::observe::Monitor;
use nanobreaker::{CallExt, SharedBreaker};
use tokio::time::sleep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stdout).with_ansi(false).init();

    let monitor = Monitor::new();
    let stock = SharedBreaker::builder()
        .name("stock")
        .consecutive(3)
        .open_for(Duration::from_millis(100))
        .max_open(Duration::from_millis(100))
        .probe_successes(1)
        .traced()
        .build()?;
    let stock = monitor.watch(stock);

    let mut changes = monitor.changes();
    let listener = tokio::spawn(async move {
        while let Ok(change) = changes.recv().await {
            println!("heard of {}: {} -> {}", change.breaker, change.transition.from, change.transition.to);
        }
    });

    for down in [true, true, true, true, false] {
        let answer = async { if down { Err("no answer") } else { Ok(7) } };
        match stock.call_async(answer).await {
            Ok(left) => println!("stock: {left} left"),
            Err(error) => println!("stock: {error}"),
        }
        let health = monitor.health_of(&["stock"])?;
        println!("health: {:?}, rejecting {:?}", health.status, health.rejecting);
        // Long enough for a probe once the breaker is open.
        sleep(Duration::from_millis(if health.rejecting.is_empty() { 10 } else { 120 })).await;
    }

    drop((stock, monitor));
    listener.await?;
    Ok(())
}
