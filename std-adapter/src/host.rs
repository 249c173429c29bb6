//! Hosts as keys: one host has one key, however a request writes it.

use std::borrow::Cow;
#[cfg(feature = "tower-http")]
use {
    http::{Request, header, uri::Authority},
    std::net::Ipv6Addr,
    std::str::FromStr,
};

/// A host, maybe with a port, in lower case and without the dot at the end that makes a name absolute.
pub(crate) fn normal(host: &str) -> Cow<'_, str> {
    let (name, port) = match host.rfind(':') {
        // Not within an address in brackets.
        Some(colon) if !host.ends_with(']') => host.split_at(colon),
        _ => (host, ""),
    };
    let plain = name.strip_suffix('.').unwrap_or(name);
    if plain.len() == name.len() && !host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(host);
    }
    Cow::Owned(format!("{}{port}", plain.to_ascii_lowercase()))
}

/// The host that a request is for, as a key: in lower case, without a dot at its end, an address of IPv6 as short as
/// can be, and with its port where that is not the scheme's own. It is taken from the request's URI, else from its
/// header `Host`; empty where neither names one.
///
/// ```
/// use http::Request;
/// use nanobreaker::tower::host;
///
/// let host = |uri: &str| host(&Request::get(uri).body(()).unwrap());
/// assert_eq!(host("https://Example.com.:443/rates"), "example.com");
/// assert_eq!(host("http://example.com:8080"), "example.com:8080");
/// assert_eq!(host("/rates"), "");
/// ```
#[cfg(feature = "tower-http")]
pub fn host<T>(request: &Request<T>) -> String {
    let named = |request: &Request<T>| {
        let value = request.headers().get(header::HOST)?.to_str().ok()?;
        Authority::from_str(value).ok()
    };
    let uri = request.uri();
    let Some(authority) = uri.authority().cloned().or_else(|| named(request)) else {
        return String::new();
    };
    let usual = match uri.scheme_str() {
        Some("http" | "ws") => Some(80),
        Some("https" | "wss") => Some(443),
        _ => None,
    };
    let name = match ipv6(authority.host()) {
        Some(address) => Cow::Owned(format!("[{address}]")),
        None => Cow::Borrowed(authority.host()),
    };
    match authority.port_u16() {
        Some(port) if Some(port) != usual => normal(&format!("{name}:{port}")).into_owned(),
        _ => normal(&name).into_owned(),
    }
}

/// An address in brackets, which can be written in many ways.
#[cfg(feature = "tower-http")]
fn ipv6(name: &str) -> Option<Ipv6Addr> {
    name.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_key_however_it_is_written() {
        for written in ["example.com", "EXAMPLE.com", "example.com.", "Example.Com."] {
            assert_eq!(normal(written), "example.com");
        }
        assert_eq!(normal("Example.com.:8080"), "example.com:8080");
        assert_eq!((normal("[::1]"), normal("[FE80::1]:80")), ("[::1]".into(), "[fe80::1]:80".into()));
        assert_eq!((normal(""), normal(".")), ("".into(), "".into()));
    }

    #[cfg(feature = "tower-http")]
    #[test]
    fn the_port_of_the_scheme_goes_without_saying_and_the_header_speaks_where_the_uri_does_not() {
        let of = |uri: &str| host(&Request::get(uri).body(()).unwrap());
        assert_eq!(
            (of("http://a.example:80"), of("http://a.example:443")),
            ("a.example".into(), "a.example:443".into())
        );
        assert_eq!(of("https://user@A.example:443/x?y"), "a.example");
        for uri in ["http://[::1]:8080/", "http://[0:0::0:1]:8080", "http://[0000:0:0:0:0:0:0:0001]:8080"] {
            assert_eq!(of(uri), "[::1]:8080");
        }
        assert_eq!(of("https://[2001:DB8::A]:443"), "[2001:db8::a]");
        let request = Request::get("/rates").header("host", "Rates.example.:8080").body(()).unwrap();
        assert_eq!(host(&request), "rates.example:8080");
    }
}
