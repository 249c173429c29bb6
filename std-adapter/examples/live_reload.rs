//! New settings reach a breaker that is in use, and its state stays.
//!
//! `cargo run -p nanobreaker --example live_reload`

use std::time::Duration;

use nanobreaker::Phase;
use nanobreaker::catalog::{Layers, LiveCatalog};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("breakers-{}.toml", std::process::id()));
    let write = |text: &str| std::fs::write(&path, text);

    write("[breakers.payments]\nopen_for = '10s'\nwindow = { threshold = 5 }")?;
    let layers = Layers::new().file(&path).environment("SHOP");
    let catalog = LiveCatalog::load(layers)?;
    let payments = catalog.builder("payments").build()?;

    let (tell, mut changes) = tokio::sync::mpsc::unbounded_channel();
    let follower = tokio::spawn({
        let (catalog, payments) = (catalog.clone(), payments.clone());
        async move {
            let every = Duration::from_millis(20);
            let tell = |change: Result<(), _>| {
                let adjusted = change.map(|()| payments.adjust(&catalog.builder("payments")));
                drop(tell.send(adjusted));
            };
            catalog.follow(every, tell).await;
        }
    });

    for _ in 0..3 {
        payments.allow()?.failure();
    }
    println!("threshold 5, 3 failures: {}", payments.snapshot().phase);

    for text in [
        "[breakers.payments]\nopen_for = 'ten seconds'",
        "[breakers.payments]\nmax_probes = 'many'",
        "[breakers.payments]\nopen_fro = '10s'",
        "[breakers.payments]\nmax_probes = 100",
        "[breakers.payments]\nmax_probes = = 1",
    ] {
        write(text)?;
        while let Some(change) = changes.recv().await {
            if let Err(error) = change {
                println!("refused: {error}");
                break;
            }
        }
    }

    write("[breakers.payments]\nopen_for = '30s'\nwindow = { threshold = 3 }")?;
    while payments.snapshot().phase != Phase::Open {
        changes.recv().await;
    }
    let snapshot = payments.snapshot();
    println!(
        "threshold 3, the same 3 failures: {}, for {} ms",
        snapshot.phase,
        snapshot.time_left_ms.unwrap_or(0)
    );

    follower.abort();
    std::fs::remove_file(&path)?;
    Ok(())
}
