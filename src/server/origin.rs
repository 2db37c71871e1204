//! Which hosts and origins are this server's own.
//!
//! A web page elsewhere can make a browser send requests here, and can have a name of its own resolve to
//! this machine. Both show: the first in `Origin` and `Sec-Fetch-Site`, the second in `Host`.

use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, Method, Uri, header};
use std::net::{IpAddr, SocketAddr};

/// The addresses that a client may know this server by.
#[derive(Debug, Clone)]
pub(super) struct Origins {
    bound: SocketAddr,
    public: Option<PublicUrl>,
}

/// The URL that a reverse proxy makes this server known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    https: bool,
    authority: Authority,
}

/// Why a text is not a [`PublicUrl`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a URL of the form `https://HOST` or `https://HOST:PORT`")]
pub struct PublicUrlFault;

impl PublicUrl {
    /// Reads `http://HOST[:PORT]` or `https://HOST[:PORT]`, with or without a final `/`.
    ///
    /// # Errors
    /// [`PublicUrlFault`] for anything else; a path cannot be part of it.
    pub fn parse(text: &str) -> Result<PublicUrl, PublicUrlFault> {
        let uri: Uri = text.parse().map_err(|_| PublicUrlFault)?;
        let parts = uri.into_parts();
        let https = match parts.scheme.as_ref().map(Scheme::as_str) {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(PublicUrlFault),
        };
        let authority = parts.authority.ok_or(PublicUrlFault)?;
        let is_bare = parts.path_and_query.is_none_or(|path| path == "/");
        if !is_bare || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(PublicUrlFault);
        }
        Ok(PublicUrl { https, authority })
    }

    fn origin(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", bare(&self.authority, self.https)).to_ascii_lowercase()
    }
}

/// What a request's headers say about where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provenance {
    /// From this server's own page, or from something that is no browser.
    Own,
    /// It asks for a host that is not this server.
    ForeignHost,
    /// A page of another origin sent it.
    ForeignOrigin,
}

impl Origins {
    pub(super) fn new(bound: SocketAddr, public: Option<PublicUrl>) -> Origins {
        Origins { bound, public }
    }

    /// The URL to open, without a final `/`.
    pub(super) fn url(&self) -> String {
        self.public_url().unwrap_or_else(|| self.local_url())
    }

    /// The URL on this machine, without a final `/`.
    pub(super) fn local_url(&self) -> String {
        format!("http://{}", self.reachable())
    }

    /// The URL that a reverse proxy makes it known by, without a final `/`.
    pub(super) fn public_url(&self) -> Option<String> {
        self.public.as_ref().map(PublicUrl::origin)
    }

    /// Whether browsers reach it through TLS.
    pub(super) fn is_https(&self) -> bool {
        self.public.as_ref().is_some_and(|public| public.https)
    }

    /// The port it is bound to.
    pub(super) fn port(&self) -> u16 {
        self.bound.port()
    }

    /// Judges a request by its `Host`, `Origin` and `Sec-Fetch-*` headers.
    pub(super) fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Provenance {
        let Some(host) = one_host(uri, headers).filter(|host| self.admits_host(host)) else {
            return Provenance::ForeignHost;
        };
        if self.admits_origin(&host, headers) && is_same_site(method, headers) {
            Provenance::Own
        } else {
            Provenance::ForeignOrigin
        }
    }

    /// No name can be made to resolve to an address that is written out, so an address is trusted where
    /// the server can be reached by it; of names only `localhost` and the public one are.
    fn admits_host(&self, host: &Authority) -> bool {
        if self.is_public(host) {
            return true;
        }
        if host.port_u16().unwrap_or(80) != self.bound.port() || host.as_str().contains('@') {
            return false;
        }
        let name = host.host();
        let address = name.trim_start_matches('[').trim_end_matches(']');
        match address.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || !self.bound.ip().is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// The origin must be the host's own; where a proxy does not pass the public host on, the public one.
    fn admits_origin(&self, host: &Authority, headers: &HeaderMap) -> bool {
        let is_own = |origin: &str, public: Option<&PublicUrl>| match public {
            Some(public) => origin.eq_ignore_ascii_case(&public.origin()),
            None => origin.eq_ignore_ascii_case(&format!("http://{}", bare(host, false))),
        };
        let public = self.public.as_ref();
        headers.get_all(header::ORIGIN).iter().all(|origin| {
            let Ok(origin) = origin.to_str() else {
                return false;
            };
            is_own(origin, public) || !self.is_public(host) && is_own(origin, None)
        })
    }

    fn is_public(&self, host: &Authority) -> bool {
        let public = self.public.as_ref();
        public.is_some_and(|public| {
            let bare = |authority| bare(authority, public.https);
            bare(&public.authority).eq_ignore_ascii_case(bare(host))
        })
    }

    /// The bound address, or, where that means "all of them", the loopback one.
    fn reachable(&self) -> SocketAddr {
        let ip = match self.bound.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        SocketAddr::new(ip, self.bound.port())
    }
}

/// An authority as browsers write it: without the port that its scheme implies.
fn bare(authority: &Authority, https: bool) -> &str {
    let implied = if https { ":443" } else { ":80" };
    let text = authority.as_str();
    text.strip_suffix(implied).unwrap_or(text)
}

/// The one host that a request names; `None` if it names none, several or two different ones.
fn one_host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, None) = (hosts.next()?, hosts.next()) else {
        return None;
    };
    let host = Authority::try_from(host.as_bytes()).ok()?;
    match uri.authority() {
        Some(authority) if *authority != host => None,
        _ => Some(host),
    }
}

/// Whether a browser says that the request comes from this server's page or from the user. Following a
/// link from elsewhere is the user's doing: nothing of the answer reaches the page that held the link.
fn is_same_site(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| {
        headers
            .get(name)
            .is_some_and(|found| found.as_bytes() == value.as_bytes())
    };
    let from_elsewhere =
        says("sec-fetch-site", "cross-site") || says("sec-fetch-site", "same-site");
    let is_visit = method == Method::GET
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document");
    !from_elsewhere || is_visit
}
