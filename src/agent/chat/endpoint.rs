//! The server's address, the key, and what keeps the key from going where it should not.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A secret that a server wants to see. Never shown, not even when debugging.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key, without outer blanks; `None` if nothing is left.
    pub fn new(key: &str) -> Option<ApiKey> {
        let key = key.trim();
        (!key.is_empty()).then(|| ApiKey(key.to_owned()))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Why a model's address can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// It is no address of a web server.
    #[error(
        "`{url}` is not an `http` or `https` address\nhint: give one such as `http://127.0.0.1:11434/v1`"
    )]
    BadUrl {
        /// The address as it was given.
        url: String,
    },
    /// The key would cross the network unencrypted.
    #[error("a key would go to `{url}` in the clear\nhint: use `https`, or unset the key")]
    KeyInTheClear {
        /// The address as it was given.
        url: String,
    },
    /// The key holds characters that no HTTP header can.
    #[error(
        "the key holds characters that can't be sent\nhint: look for a line break or a blank in it"
    )]
    BadKey,
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) agent: Agent,
    key: Option<ApiKey>,
}

impl Endpoint {
    pub(super) fn new(
        base_url: &str,
        key: Option<ApiKey>,
        patience: Duration,
    ) -> Result<Endpoint, EndpointError> {
        let url = || base_url.to_owned();
        let uri: Uri = base_url
            .parse()
            .map_err(|_| EndpointError::BadUrl { url: url() })?;
        let (Some(scheme @ ("http" | "https")), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err(EndpointError::BadUrl { url: url() });
        };
        let is_loopback = is_loopback(host);
        if key.is_some() && scheme == "http" && !is_loopback {
            return Err(EndpointError::KeyInTheClear { url: url() });
        }
        if let Some(ApiKey(key)) = &key
            && !key.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(EndpointError::BadKey);
        }
        Ok(Endpoint {
            url: format!("{}/chat/completions", base_url.trim_end_matches('/')),
            agent: agent(is_loopback, patience),
            key,
        })
    }

    pub(super) fn authorization(&self) -> Option<String> {
        self.key.as_ref().map(|ApiKey(key)| format!("Bearer {key}"))
    }
}

/// A redirect could take the key elsewhere, and a proxy has no business with this machine's own servers.
fn agent(is_loopback: bool, patience: Duration) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_send_request(Some(patience))
        .timeout_send_body(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .user_agent(concat!("vak/", env!("CARGO_PKG_VERSION")));
    if is_loopback {
        config = config.proxy(None);
    }
    config.build().new_agent()
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
