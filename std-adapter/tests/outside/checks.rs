//! Checks in the background, against servers on real sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use nanobreaker::{Check, Phase, SharedBreaker, SharedBreakerBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_stream::wrappers::TcpListenerStream;
use tonic_health::ServingStatus;
use tonic_health::server::health_reporter;

const EVERY: Duration = Duration::from_millis(50);

fn touchy() -> SharedBreakerBuilder {
    SharedBreaker::builder()
        .consecutive(3)
        .open_for(Duration::from_millis(200))
        .max_open(Duration::from_secs(10))
        .probe_successes(1)
}

fn often(check: Check) -> Check {
    check.every(EVERY).timeout(Duration::from_millis(500)).healthy_after(2)
}

async fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn within(most: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < most {
        if is_so() {
            return true;
        }
        sleep(Duration::from_millis(5)).await;
    }
    false
}

/// Opens, stays open while the server is sick, and closes without traffic once it is well.
async fn follows(check: Check, is_well: impl AsyncFn(bool)) {
    let breaker = touchy().checked_by(often(check).then_close()).build().unwrap();
    is_well(false).await;
    breaker.trip();
    sleep(Duration::from_millis(700)).await;
    assert_eq!(breaker.phase(), Phase::Open);
    assert!(breaker.allow().is_err(), "more than three open times later");
    is_well(true).await;
    let most = 2 * EVERY + Duration::from_secs(1);
    assert!(within(most, || breaker.phase() == Phase::Closed).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_by_http_wants_a_status_of_success() {
    let (listener, address) = listening().await;
    let status = Arc::new(AtomicU32::new(503));
    let told = Arc::clone(&status);
    let health = get(async move || StatusCode::from_u16(told.load(Ordering::Relaxed) as u16).unwrap());
    let server = axum::serve(listener, Router::new().route("/health", health));
    tokio::spawn(async move { server.await });
    let check = Check::http(format!("http://{address}/health")).unwrap();
    // A redirect is no success.
    follows(check, async |is_well| status.store(if is_well { 204 } else { 302 }, Ordering::Relaxed)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_by_grpc_wants_the_service_to_serve() {
    let (listener, address) = listening().await;
    let (reporter, health) = health_reporter();
    let server = tonic::transport::Server::builder().add_service(health);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    let check = Check::grpc(format!("http://{address}"), "payments").unwrap();
    follows(check, async |is_well| {
        let status = if is_well { ServingStatus::Serving } else { ServingStatus::NotServing };
        reporter.set_service_status("payments", status).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_by_tcp_wants_a_connection() {
    let (listener, address) = listening().await;
    drop(listener);
    let check = Check::tcp(address.to_string()).unwrap();
    follows(check, async |is_well| {
        if is_well {
            let listener = TcpListener::bind(address).await.unwrap();
            tokio::spawn(async move { while listener.accept().await.is_ok() {} });
        }
    })
    .await;
}

/// Answers each byte by whether it is well.
async fn dependency(is_well: Arc<AtomicBool>) -> SocketAddr {
    let (listener, address) = listening().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let is_well = Arc::clone(&is_well);
            tokio::spawn(async move {
                while stream.read_u8().await.is_ok() {
                    stream.write_u8(is_well.load(Ordering::Relaxed).into()).await.unwrap();
                }
            });
        }
    });
    address
}

async fn ask(address: SocketAddr) -> Result<(), ()> {
    let mut stream = TcpStream::connect(address).await.map_err(|_| ())?;
    stream.write_u8(0).await.map_err(|_| ())?;
    if stream.read_u8().await.map_err(|_| ())? == 1 { Ok(()) } else { Err(()) }
}

/// A twentieth of an outage of 60 s at 100 calls a second. Returns how many calls of users were probes that
/// failed, and how long after recovery the breaker closed.
async fn outage(check: impl FnOnce(SocketAddr) -> Option<Check>) -> (u32, Duration) {
    let is_well = Arc::new(AtomicBool::new(true));
    let address = dependency(Arc::clone(&is_well)).await;
    let mut builder = touchy().max_open(Duration::from_secs(1));
    if let Some(check) = check(address) {
        builder = builder.checked_by(often(check));
    }
    let breaker = builder.build().unwrap();
    let mut spent = 0;
    let began = Instant::now();
    let mut recovered = None;
    while began.elapsed() < Duration::from_secs(6) {
        let is_down = (500..3_500).contains(&began.elapsed().as_millis());
        is_well.store(!is_down, Ordering::Relaxed);
        if let Ok(permit) = breaker.allow() {
            let answer = ask(address).await;
            spent += u32::from(permit.is_probe() && answer.is_err());
            if answer.is_ok() {
                permit.success()
            } else {
                permit.failure()
            };
        }
        let is_closed = breaker.phase() == Phase::Closed;
        if began.elapsed() > Duration::from_millis(3_500) && is_closed {
            recovered.get_or_insert(began.elapsed() - Duration::from_millis(3_500));
        }
        sleep(Duration::from_millis(10)).await;
    }
    (spent, recovered.expect("it closed"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_an_outage_no_call_of_a_user_is_spent_as_a_probe() {
    let without = outage(|_| None);
    let with = outage(|address| Some(Check::new(async move || ask(address).await)));
    let ((spent, _), (spent_with, after)) = tokio::join!(without, with);
    assert!(spent >= 2, "without a check: one in each open time, {spent}");
    assert_eq!(spent_with, 0);
    assert!(after <= 2 * EVERY + Duration::from_secs(1), "{after:?}");
}
