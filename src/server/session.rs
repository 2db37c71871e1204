//! What is derived from the token for a browser, which cannot send it itself: links that open the page
//! once, sessions that a cookie carries, and the CSRF token of a session.
//!
//! All three are signed with the token and say when they end, so the server keeps no list of sessions:
//! they outlive a restart, and a new token ends them all. Only the links that were used are remembered,
//! until they would have expired.

use super::token::Token;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a link can be used.
pub(super) const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

/// How long a session lasts.
pub(super) const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// What a signed text is for, so that none can be used as another.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Link,
    Session,
    Csrf,
}

impl Purpose {
    fn label(self) -> &'static [u8] {
        match self {
            Purpose::Link => b"vak link\0",
            Purpose::Session => b"vak session\0",
            Purpose::Csrf => b"vak csrf\0",
        }
    }
}

/// A link's key: whoever presents it first gets a session.
pub(super) fn new_link(token: &Token) -> Result<String, getrandom::Error> {
    issue(token, Purpose::Link, LINK_LIFE)
}

/// A session, as the cookie's value.
pub(super) fn new_session(token: &Token) -> Result<String, getrandom::Error> {
    issue(token, Purpose::Session, SESSION_LIFE)
}

/// Whether a cookie's value is a session of this token that has not ended.
pub(super) fn is_session(token: &Token, value: &str) -> bool {
    expiry(token, Purpose::Session, value).is_some_and(|expiry| expiry > now())
}

/// The CSRF token of a session.
pub(super) fn csrf(token: &Token, session: &str) -> String {
    let mac = sign(token, Purpose::Csrf, session.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Whether `presented` is the CSRF token of a session.
pub(super) fn is_csrf(token: &Token, session: &str, presented: &[u8]) -> bool {
    URL_SAFE_NO_PAD.decode(presented).is_ok_and(|tag| {
        sign(token, Purpose::Csrf, session.as_bytes())
            .verify_slice(&tag)
            .is_ok()
    })
}

/// The links that were used.
#[derive(Debug)]
pub(super) struct UsedLinks {
    /// Links that end earlier than this were made before the server started, and may have been used.
    not_before: u64,
    used: Mutex<HashMap<String, u64>>,
}

impl UsedLinks {
    pub(super) fn new() -> UsedLinks {
        UsedLinks {
            not_before: now() + LINK_LIFE.as_secs(),
            used: Mutex::default(),
        }
    }

    /// Uses a link up. `false` if it is none, has expired or was used before.
    pub(super) fn redeem(&self, token: &Token, link: &str) -> bool {
        let now = now();
        let Some(expiry) = expiry(token, Purpose::Link, link) else {
            return false;
        };
        if expiry <= now || expiry < self.not_before {
            return false;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, expiry| *expiry > now);
        used.insert(link.to_owned(), expiry).is_none()
    }
}

/// `EXPIRY.NONCE.TAG`: when it ends in seconds since 1970, something unique, and the signature of both.
fn issue(token: &Token, purpose: Purpose, life: Duration) -> Result<String, getrandom::Error> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce)?;
    let claim = format!(
        "{}.{}",
        now() + life.as_secs(),
        URL_SAFE_NO_PAD.encode(nonce)
    );
    let tag = sign(token, purpose, claim.as_bytes()).finalize();
    Ok(format!(
        "{claim}.{}",
        URL_SAFE_NO_PAD.encode(tag.into_bytes())
    ))
}

/// When a signed text ends, if this token signed it for this purpose.
fn expiry(token: &Token, purpose: Purpose, value: &str) -> Option<u64> {
    let (claim, tag) = value.rsplit_once('.')?;
    let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
    sign(token, purpose, claim.as_bytes())
        .verify_slice(&tag)
        .ok()?;
    claim.split_once('.')?.0.parse().ok()
}

#[expect(
    clippy::expect_used,
    reason = "HMAC takes a key of any length; the error cannot happen"
)]
fn sign(token: &Token, purpose: Purpose, text: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.key()).expect("a key of any length");
    mac.update(purpose.label());
    mac.update(text);
    mac
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
