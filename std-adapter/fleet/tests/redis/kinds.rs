//! Servers of other kinds: with TLS, with users who may do little, a cluster, and Sentinels.

use std::process::Command;
use std::time::Duration;

use nanobreaker_fleet::Redis;
use nanobreaker_fleet::nanobreaker::Phase;
use redis::{Client, TlsCertificates};
use tokio::time::sleep;

use crate::rig::{Instance, Server, all, free_port, outage, recovery, until};

/// What the documentation says that a user needs.
const RIGHTS: &str = "+eval +evalsha +subscribe +ping +time +hsetnx +hget +hset +hdel +hgetall +zadd \
                      +zremrangebyscore +zcard +zrevrange +pexpire +pttl +del +publish";

async fn works(instances: Vec<Instance>) {
    all(&instances, Instance::is_together).await;
    sleep(Duration::from_millis(300)).await;
    outage(&instances).await;
    recovery(&instances).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_user_who_may_do_what_is_documented_and_no_more() {
    let server = Server::start();
    let mut rule = vec!["ACL", "SETUSER", "fleet", "on", ">secret", "~nb1:{test}:*", "&nb1:{test}"];
    rule.extend(RIGHTS.split_whitespace());
    server.ask(&rule);
    let url = format!("redis://fleet:secret@127.0.0.1:{}", server.port);
    works((0..3).map(|_| Instance::at(&url)).collect()).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_user_who_may_do_nothing_is_alone() {
    let server = Server::start();
    server.ask(&["ACL", "SETUSER", "nobody", "on", ">secret"]);
    let url = format!("redis://nobody:secret@127.0.0.1:{}", server.port);
    let instance = Instance::at(&url);
    sleep(Duration::from_secs(1)).await;
    assert!(!instance.is_together());
    assert!(instance.call(true) && instance.call(false));
    assert_eq!(instance.phase(), Phase::Open);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_cluster() {
    let server = Server::start_with(&["--cluster-enabled", "yes"]);
    server.ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    until("the cluster is up", || format!("{:?}", server.ask(&["CLUSTER", "INFO"])).contains("state:ok"))
        .await;
    let url = server.url();
    let instance = || Instance::on(Redis::connect_cluster(&[&url]).unwrap(), "test");
    works((0..3).map(|_| instance()).collect()).await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn sentinels_name_the_server() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sentinel.conf");
    let watched = format!("sentinel monitor main 127.0.0.1 {} 1\n", server.port);
    std::fs::write(&file, watched).unwrap();
    let port = free_port().to_string();
    let mut sentinel = Command::new("redis-server")
        .arg(&file)
        .args(["--sentinel", "--port", &port])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let url = format!("redis://127.0.0.1:{port}");
    let instance = || Instance::on(Redis::connect_sentinels(&[&url], "main").unwrap(), "test");
    works((0..3).map(|_| instance()).collect()).await;
    sentinel.kill().unwrap();
    sentinel.wait().unwrap();
}

#[tokio::test]
#[ignore = "needs redis-server and openssl"]
async fn tls_with_a_certificate_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (key, certificate) = (path("key.pem"), path("certificate.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let port = free_port();
    let secret = port.to_string();
    let _server = Server::start_with(&[
        "--tls-port",
        &secret,
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &certificate,
        "--tls-auth-clients",
        "no",
    ]);
    let url = format!("rediss://localhost:{port}/?protocol=resp3");
    // Whoever sets up a client chooses the cryptography as well, which connect() does by itself.
    Redis::connect(&url).unwrap();
    let root_cert = Some(std::fs::read(&certificate).unwrap());
    let client = || {
        let certificates = TlsCertificates { client_tls: None, root_cert: root_cert.clone() };
        Client::build_with_tls(url.as_str(), certificates).unwrap()
    };
    works((0..3).map(|_| Instance::on(Redis::with_client(client()), "test")).collect()).await;
}

#[tokio::test]
async fn what_is_no_address_is_refused_at_once() {
    for url in ["", "payments", "http://cache.internal", "redis://host:port"] {
        let error = Redis::connect(url).unwrap_err().to_string();
        assert!(error.starts_with("the fleet's store: "), "{url}: {error}");
    }
    assert!(Redis::connect_cluster(&[]).unwrap_err().to_string().contains("name at least one"));
}
