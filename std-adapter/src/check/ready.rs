//! Checks that are ready-made.

use thiserror::Error;
use tokio::net::TcpStream;

use super::Check;

/// An address that can't be checked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// Not host and port.
    #[error("a TCP check asks {address:?}, but must ask host:port, such as db.internal:5432")]
    Address {
        /// What it was.
        address: String,
    },
    /// Not a URL that can be asked.
    #[error("a check asks {url:?}: {reason}")]
    Url {
        /// What it was.
        url: String,
        /// Why it can't be.
        reason: String,
    },
    /// Settings that can't be.
    #[cfg(feature = "settings")]
    #[error(transparent)]
    Settings(#[from] nanobreaker_settings::SettingsError),
    /// A kind of check that this build does not have.
    #[error("a check's {key} needs the feature {feature}")]
    Feature {
        /// The key.
        key: &'static str,
        /// The feature.
        feature: &'static str,
    },
}

impl Check {
    /// Well is who accepts a TCP connection at `host:port`; it is closed at once.
    ///
    /// # Errors
    ///
    /// A [`CheckError`] where that is no host and port.
    pub fn tcp(address: impl Into<String>) -> Result<Self, CheckError> {
        let address = address.into();
        let is_fit = address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
        if !is_fit {
            return Err(CheckError::Address { address });
        }
        Ok(Self::new(async move || TcpStream::connect(&address).await.map(drop)))
    }

    /// Well is who answers a GET of `url` with a status from 200 to 299. Redirects are not followed. `https`
    /// takes one of reqwest's features for TLS in your `Cargo.toml`.
    ///
    /// # Errors
    ///
    /// A [`CheckError`] where that is no URL of HTTP.
    #[cfg(feature = "check-http")]
    pub fn http(url: impl Into<String>) -> Result<Self, CheckError> {
        let url = url.into();
        let refused = |reason: String| CheckError::Url { url: url.clone(), reason };
        let parsed = reqwest::Url::parse(&url).map_err(|error| refused(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(refused("must begin with http:// or https://".into()));
        }
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            // Its connections are not for long.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| refused(error.to_string()))?;
        Ok(Self::new(async move || {
            let answer = client.get(parsed.clone()).send().await.map_err(|_| ())?;
            if answer.status().is_success() { Ok(()) } else { Err(()) }
        }))
    }

    /// Well is who says `SERVING` of `service` by grpc.health.v1; the empty name is the server as a whole.
    ///
    /// # Errors
    ///
    /// A [`CheckError`] where `url` is no URL.
    #[cfg(feature = "check-grpc")]
    pub fn grpc(url: impl Into<String>, service: impl Into<String>) -> Result<Self, CheckError> {
        use tonic_health::pb::health_check_response::ServingStatus;
        use tonic_health::pb::health_client::HealthClient;

        let (url, service) = (url.into(), service.into());
        let endpoint = tonic::transport::Endpoint::from_shared(url.clone())
            .map_err(|error| CheckError::Url { url, reason: error.to_string() })?;
        Ok(Self::new(async move || {
            let channel = endpoint.connect().await.map_err(|_| ())?;
            let request = tonic_health::pb::HealthCheckRequest { service: service.clone() };
            let answer = HealthClient::new(channel).check(request).await.map_err(|_| ())?;
            if answer.into_inner().status() == ServingStatus::Serving { Ok(()) } else { Err(()) }
        }))
    }
}
