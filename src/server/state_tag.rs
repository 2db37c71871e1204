//! Conditional requests (RFC 9110, section 13): which state a client has, or saw.

use super::problem::{Kind, Problem};
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The state that a change is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IfMatch {
    /// Whatever state there is.
    Any,
    /// One that has one of these tags.
    Tags(Vec<String>),
}

impl IfMatch {
    /// What the `If-Match` headers of a request say.
    pub(super) fn of(headers: &HeaderMap) -> IfMatch {
        if !headers.contains_key(IF_MATCH) {
            return IfMatch::Any;
        }
        let tags = tags(headers, &IF_MATCH);
        if tags == ["*"] {
            IfMatch::Any
        } else {
            IfMatch::Tags(tags)
        }
    }

    /// Refuses a state with this tag unless the change is meant for it. A weak tag names no exact state.
    pub(super) fn check(&self, etag: &HeaderValue) -> Result<(), Problem> {
        match self {
            IfMatch::Any => Ok(()),
            IfMatch::Tags(tags) if tags.iter().any(|tag| tag.as_bytes() == etag.as_bytes()) => {
                Ok(())
            }
            IfMatch::Tags(_) => Err(Problem::new(
                Kind::Changed,
                "the plugins have changed since you looked; nothing was done",
            )
            .hint("look again, then repeat the request with the new `ETag`")),
        }
    }
}

/// Whether the client says that it has the state with this tag.
pub(super) fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    tags(headers, &IF_NONE_MATCH).iter().any(|tag| {
        let strong = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || strong.as_bytes() == etag.as_bytes()
    })
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim().to_owned())
        .collect()
}
