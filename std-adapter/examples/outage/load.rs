//! The load generator: open loop, so it never slows down when the server does.
//!
//! A thread of its own sends each request at the moment it is due, whatever became of those before, and each
//! latency counts from that moment, not from when the request got out: no coordinated omission.
//! The requests share a few HTTP/2 connections, on which thousands can wait at once without thousands of sockets.
//! What is open is bounded by the rate times the callers' patience; no request is left out or sent late on purpose.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, StatusCode, Url};
use tokio::runtime::Handle;

use crate::scenario::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Payments,
    Search,
    Products,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Ok,
    /// By the breaker.
    Rejected,
    /// An error, or no answer until the caller gave up.
    Failed,
}

/// What became of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) endpoint: Endpoint,
    /// When it was due, since the start of the run.
    pub(crate) due: Duration,
    /// From then until its answer, or until the caller gave up.
    pub(crate) latency: Duration,
    pub(crate) answer: Answer,
}

const CONNECTIONS: usize = 8;

/// The callers of the API.
pub(crate) struct Callers {
    clients: Vec<Client>,
    payments: Url,
    search: Url,
    products: Url,
}

impl Callers {
    pub(crate) fn new(api: SocketAddr, patience: Duration) -> Result<Self, Box<dyn Error>> {
        let client = || Client::builder().http2_prior_knowledge().timeout(patience).build();
        Ok(Callers {
            clients: (0..CONNECTIONS).map(|_| client()).collect::<Result<_, _>>()?,
            payments: format!("http://{api}/payments").parse()?,
            search: format!("http://{api}/search").parse()?,
            products: format!("http://{api}/products").parse()?,
        })
    }

    /// The `number`-th request; they take turns on the connections.
    fn ask(&self, endpoint: Endpoint, number: usize) -> impl Future<Output = Answer> + Send + use<> {
        let (method, url) = match endpoint {
            Endpoint::Payments => (Method::POST, &self.payments),
            Endpoint::Search => (Method::GET, &self.search),
            Endpoint::Products => (Method::GET, &self.products),
        };
        let request = self.clients[number % CONNECTIONS].request(method, url.clone());
        async move {
            match request.send().await.map(|response| response.status()) {
                Ok(status) if status.is_success() => Answer::Ok,
                Ok(StatusCode::SERVICE_UNAVAILABLE) => Answer::Rejected,
                Ok(_) | Err(_) => Answer::Failed,
            }
        }
    }

    /// Opens the connections, so that the first measured requests are like the others.
    pub(crate) async fn warm_up(&self) -> Result<(), String> {
        for round in 0..10 {
            let together = (0..CONNECTIONS).flat_map(|number| {
                let endpoints = [Endpoint::Payments, Endpoint::Search, Endpoint::Products];
                endpoints.map(|endpoint| tokio::spawn(self.ask(endpoint, number)))
            });
            for answer in together.collect::<Vec<_>>() {
                match answer.await {
                    Ok(Answer::Ok) => {}
                    other => return Err(format!("warm-up round {round} went wrong: {other:?}")),
                }
            }
        }
        Ok(())
    }

    /// Sends all requests of a run from `origin` on and returns at once: how many there will be,
    /// and where a sample of each arrives. The receiver ends after the last of them.
    pub(crate) fn send_all(
        self,
        scenario: &Scenario,
        origin: Instant,
        runtime: Handle,
    ) -> (usize, mpsc::Receiver<Sample>) {
        let schedule = schedule(scenario);
        let count = schedule.len();
        let (samples, receiver) = mpsc::channel();
        // A thread that sleeps is on time to a tenth of a millisecond; tokio's timer knows whole milliseconds only.
        thread::spawn(move || {
            for (number, (due, endpoint)) in schedule.into_iter().enumerate() {
                thread::sleep((origin + due).saturating_duration_since(Instant::now()));
                let asked = self.ask(endpoint, number);
                let samples = samples.clone();
                runtime.spawn(async move {
                    let answer = asked.await;
                    let latency = origin.elapsed().saturating_sub(due);
                    // Nobody receives any more when the run was given up.
                    let _ = samples.send(Sample { endpoint, due, latency, answer });
                });
            }
        });
        (count, receiver)
    }
}

/// When each request is due: evenly spaced per endpoint, and the endpoints not all at once.
fn schedule(scenario: &Scenario) -> Vec<(Duration, Endpoint)> {
    let streams = [
        (Endpoint::Payments, scenario.payments_per_second, 0.0),
        (Endpoint::Search, scenario.others_per_second, 0.15),
        (Endpoint::Products, scenario.others_per_second, 0.65),
    ];
    let mut all = Vec::new();
    for (endpoint, per_second, offset) in streams {
        let count = (scenario.length().as_secs_f64() * f64::from(per_second)).round() as u32;
        let due = |number: u32| (f64::from(number) + offset) / f64::from(per_second);
        all.extend((0..count).map(|number| (Duration::from_secs_f64(due(number)), endpoint)));
    }
    all.sort_by_key(|(due, _)| *due);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Knobs;

    #[test]
    fn the_schedule_holds_the_rate_and_is_in_order() {
        let scenario = Scenario::new(&Knobs { scale: 10, threshold: 5, open_for: 10, hung_after: 250 });
        let schedule = schedule(&scenario);
        let payments = schedule.iter().filter(|(_, e)| *e == Endpoint::Payments).count();
        assert_eq!((payments, schedule.len()), (12 * 500, 12 * 700));
        assert!(schedule.is_sorted_by_key(|(due, _)| *due));
        assert!(schedule.iter().all(|(due, _)| *due < scenario.length()));
    }
}
