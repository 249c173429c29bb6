//! The operators' page, in front of dependencies that come and go.
//!
//! `cargo run -p nanobreaker --example admin` serves for half a minute at an address that it prints;
//! `-- --seconds 600 --port 8080` for longer, at a port of your choice; `-- --hosts 2000` with so many more
//! breakers, one in a hundred of them open.

use std::time::Duration;

use axum::Router;
use nanobreaker::admin::Admin;
use nanobreaker::observe::Monitor;
use nanobreaker::{CallExt, Rate, Registry, SharedBreaker};
use tokio::net::TcpListener;

/// Far too short for anything but an example: read yours from the environment.
const TOKEN: &str = "example-token-0123456789";
const READ_TOKEN: &str = "example-token-to-look";

/// Names may come from strangers; the last of these turns letters around and has a line break.
const NAMES: [&str; 4] =
    ["payments", "search", "<img src=x onerror=alert(1)>", "\u{202e}gnp.elif\n\"><script>alert(1)</script>"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |name: &str, otherwise: u16| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        let value = arguments.nth(1).and_then(|value| value.parse().ok());
        value.unwrap_or(otherwise)
    };

    let monitor = Monitor::new();
    let hosts: Registry<String> = Registry::builder(|host: &String| {
        SharedBreaker::builder()
            .name(host.as_str())
            .failure_rate_of_calls(20, Rate::percent(50).min_calls(10))
            .open_for(Duration::from_secs(3))
            .max_open(Duration::from_secs(12))
            .ramp(Duration::from_secs(4))
            .slow_after(Duration::from_millis(3))
            .slow_rate_of_calls(20, Rate::percent(90).min_calls(10))
    })
    .monitor(&monitor)
    .build();

    let admin = Admin::new(&monitor).read_token(READ_TOKEN).allow_changes().token(TOKEN).build()?;
    let app = Router::new().nest_service("/breakers", admin);
    let listener = TcpListener::bind(("127.0.0.1", number("--port", 0))).await?;
    let (seconds, others) = (number("--seconds", 30), u64::from(number("--hosts", 0)));
    println!("http://{}/breakers", listener.local_addr()?);
    println!("for {seconds} s, to look with the token {READ_TOKEN}, to change something with {TOKEN}");
    tokio::spawn(async move { axum::serve(listener, app).await });

    let traffic = async {
        for tick in 0_u64.. {
            for (i, host) in NAMES.iter().enumerate() {
                // Each is down for a while in its turn, and a little unreliable all the time.
                let place = tick + 300 * i as u64;
                let is_down = i != 1 && place % 900 < 250;
                let fails = is_down || place.is_multiple_of(37);
                let answer = async {
                    if i == 1 && tick.is_multiple_of(9) {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    if fails { Err(()) } else { Ok(()) }
                };
                let _ = hosts.get_or_create(*host)?.call_async(answer).await;
            }
            // Each of the others once in two seconds, those that are down also at the beginning.
            let is_called = |number: &u64| {
                (tick + number).is_multiple_of(100) || (number.is_multiple_of(100) && tick < 20)
            };
            for number in (0..others).filter(is_called) {
                let answer = if number.is_multiple_of(100) { Err(()) } else { Ok(()) };
                let host = hosts.get_or_create(&format!("host-{number:04}"))?;
                let _ = host.call_async(async { answer }).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, nanobreaker::ConfigError>(())
    };
    let seconds = Duration::from_secs(seconds.into());
    if let Ok(ended) = tokio::time::timeout(seconds, traffic).await {
        ended?;
    }
    for breaker in monitor.breakers() {
        let (name, transitions) = (breaker.name(), breaker.recent().len());
        let phase = breaker.snapshot().phase;
        println!("{name:?} is {phase} after {transitions} transitions");
    }
    Ok(())
}
