//! A connection to the store: one server, one that Sentinels name, or a cluster.

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    PushInfo, RedisConnectionInfo, RedisResult, Value, cmd,
};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long connecting, and any answer, may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Where the store is.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Server(Client),
    Sentinels { sentinels: Vec<ConnectionInfo>, service: String },
    Cluster(Vec<ConnectionInfo>),
}

/// A connection that can be used from several places at once.
#[derive(Clone)]
pub(crate) enum Link {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// What is pushed over a link, without being asked for.
pub(crate) type Pushes = mpsc::UnboundedReceiver<PushInfo>;

/// Messages come unasked only with version 3 of the protocol.
fn speaking_resp3(info: ConnectionInfo) -> ConnectionInfo {
    let settings = settings_of(&info);
    info.set_redis_settings(settings)
}

/// A user who may only do what the fleet does may not name its library.
fn settings_of(info: &ConnectionInfo) -> RedisConnectionInfo {
    info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name()
}

impl Address {
    pub(crate) async fn connect(&self, channel: &str) -> RedisResult<(Link, Pushes)> {
        let (pushed, pushes) = mpsc::unbounded_channel();
        let mut link = match self {
            Self::Server(client) => one(client, pushed).await?,
            Self::Sentinels { sentinels, service } => one(&master(sentinels, service).await?, pushed).await?,
            Self::Cluster(nodes) => {
                let client = ClusterClientBuilder::new(nodes.clone())
                    .use_protocol(ProtocolVersion::RESP3)
                    .connection_timeout(PATIENCE)
                    .response_timeout(PATIENCE)
                    .push_sender(pushed)
                    .build()?;
                Link::Cluster(client.get_async_connection().await?)
            }
        };
        match &mut link {
            Link::One(connection) => connection.subscribe(channel).await?,
            Link::Cluster(connection) => connection.ssubscribe(channel).await?,
        }
        Ok((link, pushes))
    }

    /// How a script tells all: a cluster's messages stay in the slot's shard.
    pub(crate) fn publish(&self) -> &'static str {
        if matches!(self, Self::Cluster(_)) { "SPUBLISH" } else { "PUBLISH" }
    }
}

async fn one(client: &Client, pushed: mpsc::UnboundedSender<PushInfo>) -> RedisResult<Link> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE))
        .set_push_sender(pushed);
    client.get_multiplexed_async_connection_with_config(&config).await.map(Link::One)
}

/// The server that the Sentinels name. It is asked as the user of the Sentinels' address.
async fn master(sentinels: &[ConnectionInfo], service: &str) -> RedisResult<Client> {
    let node = sentinels.first().map(|sentinel| {
        SentinelNodeConnectionInfo::default().set_redis_connection_info(settings_of(sentinel))
    });
    let kind = SentinelServerType::Master;
    SentinelClient::build(sentinels.to_vec(), service, node, kind)?.async_get_client().await
}

impl Link {
    pub(crate) async fn ask(&mut self, command: &Cmd) -> RedisResult<Value> {
        let answer = match self {
            Self::One(connection) => connection.req_packed_command(command).await,
            Self::Cluster(connection) => connection.req_packed_command(command).await,
        };
        // What the server refuses comes as an answer.
        answer?.extract_error()
    }

    /// Redis answers in order, so everything that was said before has arrived with the answer. In a cluster
    /// a script that does nothing is asked instead, since its keys lead to the node that is listened to.
    pub(crate) async fn ping(&mut self, script: &Cmd) -> RedisResult<()> {
        let ping = match self {
            Self::One(_) => &cmd("PING"),
            Self::Cluster(_) => script,
        };
        self.ask(ping).await.map(drop)
    }
}

/// An address as it is written.
pub(crate) fn address(url: &str) -> RedisResult<ConnectionInfo> {
    let info = url.into_connection_info().map(speaking_resp3)?;
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        // TLS needs cryptography. Where the process has chosen already this is refused, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    Ok(info)
}
