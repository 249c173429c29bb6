//! Who is answered at all, and what every answer carries.
//!
//! A page of strangers can have its own name resolve to this machine, and so make its visitors' browsers ask
//! here as if for itself. The browser then says that name as `Host`. So only names that were chosen for this
//! page are answered. Addresses are: what is asked by its address was resolved by nobody.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::{AdminError, Shared, refusal};

/// Unless an answer has its own.
const ALWAYS: [(HeaderName, &str); 6] = [
    (CACHE_CONTROL, "no-store"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
];

/// The names by which the page may be asked for, beside those of this machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts(BTreeSet<String>);

impl Hosts {
    pub(super) fn add(&mut self, host: &str) {
        self.0.insert(plain(host));
    }

    /// An error for the first that can't be a host's name.
    pub(super) fn check(&self) -> Result<(), AdminError> {
        let is_name = |host: &str| host.parse::<Authority>().is_ok_and(|parsed| parsed.host() == host);
        match self.0.iter().find(|host| !is_name(host)) {
            Some(host) => Err(AdminError::Host { host: host.clone() }),
            None => Ok(()),
        }
    }

    /// The first name of the request that is not allowed.
    fn refused(&self, request: &Request) -> Option<String> {
        let of_uri = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        let headers = request.headers().get_all(HOST).into_iter().map(HeaderValue::as_bytes);
        let mut named = of_uri.into_iter().chain(headers);
        let refused = named.find(|named| !Authority::try_from(*named).is_ok_and(|named| self.allows(&named)));
        refused.map(|named| String::from_utf8_lossy(named).into_owned())
    }

    fn allows(&self, named: &Authority) -> bool {
        let host = plain(named.host());
        is_address(&host) || host == "localhost" || host.ends_with(".localhost") || self.0.contains(&host)
    }
}

fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn is_address(host: &str) -> bool {
    let within = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match within {
        Some(host) => host.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<IpAddr>().is_ok(),
    }
}

pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut answer = match shared.hosts.refused(&request) {
        None => next.run(request).await,
        Some(host) => {
            let message = format!("nobody said that this page may be asked for as {host:?}: see Admin::host");
            refusal(StatusCode::MISDIRECTED_REQUEST, &message)
        }
    };
    for (name, value) in ALWAYS {
        answer.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    answer
}
