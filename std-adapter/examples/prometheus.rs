//! Metrics of breakers for Prometheus, at `/metrics`, while a dependency fails and recovers.
//!
//! `cargo run -p nanobreaker --example prometheus` prints one scrape and ends.
//! With `-- --serve 60 --port 9898` it serves for 60 seconds.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use nanobreaker::observe::{Monitor, Series, describe_metrics};
use nanobreaker::{CallExt, SharedBreaker};
use tokio::net::TcpListener;

/// Well for five seconds, long enough for a first scrape.
const TICKS_UNTIL_DOWN: u64 = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1).and_then(|value| value.parse::<u16>().ok())
    };

    // Buckets make it a histogram; without them this exporter makes it a summary.
    let buckets = [0.01, 0.1, 1.0, 10.0, 60.0, 300.0, 1_800.0, 7_200.0];
    let phase_duration = Matcher::Full("nanobreaker_phase_duration_seconds".to_owned());
    let metrics =
        PrometheusBuilder::new().set_buckets_for_metric(phase_duration, &buckets)?.install_recorder()?;
    describe_metrics();

    // Beside the usual series those that the dashboard shows.
    let monitor = Monitor::with_series(&[Series::Probes, Series::Transitions, Series::Durations]);
    let breaker = |name: &str| {
        let builder = SharedBreaker::builder().name(name);
        let open_for = Duration::from_millis(300);
        let builder = builder.consecutive(3).open_for(open_for).max_open(open_for).probe_successes(1);
        builder.build().map(|breaker| monitor.watch(breaker))
    };
    let payments = breaker("payments")?;
    // A failure each second, half of what trips.
    let search = SharedBreaker::builder().name("search").failures(20, Duration::from_secs(10)).build()?;
    let search = monitor.watch(search);
    // One that is down for good, and one that opens and then is not called by anybody.
    let (ledger, idle) = (breaker("ledger")?, breaker("idle")?);

    let scraped = monitor.clone();
    let app = Router::new().route(
        "/metrics",
        get(async move || {
            scraped.publish();
            metrics.render()
        }),
    );
    let listener = TcpListener::bind(("127.0.0.1", number("--port").unwrap_or(0))).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });

    let traffic = async {
        for tick in 0_u64.. {
            let payments_answer = if tick % 100 < 40 { Err(()) } else { Ok(()) };
            let _ = payments.call_async(async { payments_answer }).await;
            let _ = search.call_async(async { if tick % 100 == 0 { Err(()) } else { Ok(()) } }).await;
            let _ = ledger.call_async(async { if tick < TICKS_UNTIL_DOWN { Ok(()) } else { Err(()) } }).await;
            if tick == TICKS_UNTIL_DOWN {
                idle.trip();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let seconds = number("--serve");
    if seconds.is_some() {
        eprintln!("http://{address}/metrics");
    }
    let run = Duration::from_secs(seconds.unwrap_or(1).into());
    let _ = tokio::time::timeout(run, traffic).await;

    if seconds.is_none() {
        print!("{}", scrape(address).await?);
    }
    Ok(())
}

/// What a scrape gets.
async fn scrape(address: std::net::SocketAddr) -> std::io::Result<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    body.ok_or_else(|| std::io::Error::other("no body"))
}
