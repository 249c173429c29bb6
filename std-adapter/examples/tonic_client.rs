//! A tonic client behind a breaker that reads gRPC statuses, and a tonic server that is unwell for a
//! while. Runs for about a second:
//!
//! ```console
//! cargo run -p nanobreaker --example tonic_client
//! ```

use std::error::Error;
use std::time::Duration;

use nanobreaker::tower::BreakerLayer;
use nanobreaker::{CallError, SharedBreaker};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::ServiceBuilder;

/// Unwell from 200 to 600 ms after its start, and never knows a service called "none".
struct Unsteady {
    start: Instant,
}

#[tonic::async_trait]
impl Health for Unsteady {
    type WatchStream = tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        if request.into_inner().service == "none" {
            return Err(Status::not_found("no such service"));
        }
        match self.start.elapsed().as_millis() {
            200..600 => Err(Status::internal("the database is gone")),
            _ => Ok(Response::new(HealthCheckResponse { status: 1 })),
        }
    }

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("not here"))
    }
}

async fn serve() -> Result<Channel, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let start = Instant::now();
    let router = Server::builder().add_service(HealthServer::new(Unsteady { start }));
    tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
    Ok(Channel::from_shared(format!("http://{address}"))?.connect().await?)
}

/// What callers see of a call that was not made: unavailable, as if the server itself had said so.
fn status(error: CallError<tonic::transport::Error>) -> Status {
    match error {
        CallError::Rejected(rejected) => Status::unavailable(rejected.to_string()),
        CallError::TimedOut => Status::deadline_exceeded(error.to_string()),
        CallError::Failed(error) => Status::from_error(error.into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let breaker = SharedBreaker::builder()
        .consecutive(3)
        .open_for(Duration::from_millis(150))
        .max_open(Duration::from_millis(150))
        .probe_successes(1)
        .on_transition(|change| println!("  breaker: {} -> {}", change.from, change.to))
        .build()?;
    let channel =
        ServiceBuilder::new().map_err(status).layer(BreakerLayer::grpc(breaker)).service(serve().await?);
    let mut client = HealthClient::new(channel);

    for call in 0..20 {
        // Asking for what isn't there says nothing about the server's health.
        let service = if call % 4 == 3 { "none" } else { "" }.to_owned();
        match client.check(HealthCheckRequest { service }).await {
            Ok(_) => println!("ok"),
            Err(status) => println!("{:?}: {}", status.code(), status.message()),
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
