//! What a failed request is answered with: `application/problem+json` (RFC 9457).
//!
//! The only module that knows status codes. A 5xx tells the client that something failed and under which
//! id to look for it; the cause goes to the log. No cause holds a path: a log is often kept, copied and
//! read by others than the operator, who learns the rest from `vak doctor`.

use super::token::TokenError;
use super::wire::{ProblemDocument, StoreFault};
use crate::config::ConfigError;
use crate::disk::DiskError;
use crate::plugin::PluginError;
use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use std::sync::atomic::{AtomicU64, Ordering};

/// A request that failed.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    kind: Kind,
    detail: String,
    hint: Option<&'static str>,
    /// For the log alone.
    cause: Option<String>,
}

/// The kinds of problems; each has a status, a name that clients can compare, and a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A parameter is not what it should be.
    BadRequest,
    /// No token, or a wrong one.
    Unauthorized,
    /// A page of another origin sent the request.
    ForeignOrigin,
    /// A change was asked for with the cookie alone.
    MissingCsrf,
    /// There is no such thing.
    NotFound,
    /// The thing is there, but not for this method.
    MethodNotAllowed,
    /// The state of the store does not allow it.
    Conflict,
    /// The state is not the one that the client saw.
    Changed,
    /// The body is too large.
    TooLarge,
    /// The request names a host that is not this server.
    ForeignHost,
    /// Something failed here.
    Internal,
    /// The store is locked by another process, or the work took too long.
    Busy,
}

impl Kind {
    fn describe(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Kind::BadRequest => (
                StatusCode::BAD_REQUEST,
                "bad-request",
                "The request is not valid",
            ),
            Kind::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "The token is missing or wrong",
            ),
            Kind::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "foreign-origin",
                "The request comes from another site",
            ),
            Kind::MissingCsrf => (
                StatusCode::FORBIDDEN,
                "missing-csrf",
                "The CSRF token is missing or wrong",
            ),
            Kind::NotFound => (
                StatusCode::NOT_FOUND,
                "not-found",
                "There is no such thing here",
            ),
            Kind::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "The method is not allowed here",
            ),
            Kind::Conflict => (
                StatusCode::CONFLICT,
                "conflict",
                "The present state does not allow it",
            ),
            Kind::Changed => (
                StatusCode::PRECONDITION_FAILED,
                "changed",
                "The state has changed since you saw it",
            ),
            Kind::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                "The body is too large",
            ),
            Kind::ForeignHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "foreign-host",
                "The request is for another host",
            ),
            Kind::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "The server could not do its work",
            ),
            Kind::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "The server is busy",
            ),
        }
    }
}

/// The status of a change that was done, wholly or in part.
pub(super) fn change_status(all_done: bool) -> StatusCode {
    if all_done {
        StatusCode::OK
    } else {
        StatusCode::MULTI_STATUS
    }
}

/// The answer to a client that has the current state already.
pub(super) fn not_modified(etag: HeaderValue) -> Response {
    (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response()
}

/// The sign-in page, in place of what was asked for.
pub(super) fn sign_in_first(page: Response) -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, CHALLENGE)];
    (StatusCode::UNAUTHORIZED, challenge, page).into_response()
}

/// How to say who one is.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"vak\"");

/// The header that repeats a problem's request id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Problem {
    pub(super) fn new(kind: Kind, detail: impl Into<String>) -> Problem {
        Problem {
            kind,
            detail: detail.into(),
            hint: None,
            cause: None,
        }
    }

    /// Adds what to do about it.
    pub(super) fn hint(mut self, hint: &'static str) -> Problem {
        self.hint = Some(hint);
        self
    }

    /// A failure of the server; `cause` holds no path, and only the log gets it.
    pub(super) fn internal(cause: impl Into<String>) -> Problem {
        Problem {
            cause: Some(cause.into()),
            ..Problem::new(
                Kind::Internal,
                "the state on disk could not be read or changed",
            )
            .hint("run `vak doctor` on the machine: it says what is wrong and what to do")
        }
    }

    /// Another process held the lock for too long, or the work did not end in time.
    pub(super) fn busy(detail: &'static str) -> Problem {
        Problem::new(Kind::Busy, detail).hint("try again in a moment")
    }

    pub(super) fn no_such_route() -> Problem {
        Problem::new(Kind::NotFound, "no route has this path")
            .hint("`GET /openapi.json` lists them")
    }

    pub(super) fn wrong_method() -> Problem {
        Problem::new(Kind::MethodNotAllowed, "this path has other methods")
            .hint("the `Allow` header lists them")
    }

    /// What a document that is a success says of a store that can't be looked at, after the log was told the
    /// cause.
    pub(super) fn of_store(&self) -> StoreFault {
        let cause = self.cause.as_deref().unwrap_or(&self.detail);
        tracing::error!(cause, "a store could not be looked at");
        StoreFault {
            detail: self.detail.clone(),
            hint: self.hint.map(str::to_owned),
        }
    }

    /// The document for a client, after the log was told what the client is not.
    pub(super) fn told(&self) -> ProblemDocument {
        let document = self.document();
        self.log(&document);
        document
    }

    fn document(&self) -> ProblemDocument {
        let (status, name, title) = self.kind.describe();
        ProblemDocument {
            kind: format!("urn:vak:problem:{name}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: self.detail.clone(),
            hint: self.hint.map(str::to_owned),
            request_id: next_id(),
        }
    }

    /// Logs a failure of the server, under the id that the client was given.
    fn log(&self, document: &ProblemDocument) {
        let (status, name, _) = self.kind.describe();
        if status.is_server_error() {
            let cause = self.cause.as_deref().unwrap_or(&self.detail);
            tracing::error!(
                id = document.request_id,
                problem = name,
                cause,
                "a request failed"
            );
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = self.told();
        let (status, ..) = self.kind.describe();
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Ok(id) = HeaderValue::from_str(&document.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        match self.kind {
            Kind::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
            }
            Kind::Busy => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// An id that no other request of this process has, and hardly one of another.
fn next_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{serial:x}", std::process::id())
}

impl From<DiskError> for Problem {
    fn from(error: DiskError) -> Problem {
        match error {
            DiskError::LockTimeout { .. } => {
                Problem::busy("another `vak` process is changing the store")
            }
            DiskError::Io { action, source, .. } => {
                Problem::internal(format!("failed to {action}: {source}"))
            }
            DiskError::NotCovered { .. } => Problem::internal("outside of what the lock covers"),
            DiskError::NotPlain { .. } => Problem::internal("not a plain relative path"),
            DiskError::NotADirectory { .. } => Problem::internal("not a directory"),
            DiskError::NotAFile { .. } => Problem::internal("not a regular file"),
            DiskError::TooManyLinks { .. } => Problem::internal("too many links"),
            DiskError::TooLarge { .. } => Problem::internal("a file is too large"),
            DiskError::Exists { .. } => Problem::internal("the place to move to is taken"),
        }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Problem {
        match error {
            ConfigError::Disk(error) => error.into(),
            ConfigError::Dangling { .. } => Problem::internal("a config is a link to no file"),
            ConfigError::Text { fault, .. } => {
                Problem::internal(format!("a config has a fault in line {}", fault.place.line))
            }
        }
    }
}

impl From<PluginError> for Problem {
    fn from(error: PluginError) -> Problem {
        match error {
            PluginError::Disk(error) => error.into(),
            PluginError::Config(error) => error.into(),
            PluginError::Unfinished { source, .. } => Problem::from(*source),
            PluginError::NotInstalled { .. } => {
                Problem::new(Kind::NotFound, "no plugin of this name is installed")
            }
            PluginError::NotQuarantined { .. } => {
                Problem::new(Kind::NotFound, "nothing in quarantine has this id")
            }
            PluginError::NameTaken { installed, .. } => Problem::new(
                Kind::Conflict,
                format!("a plugin called `{installed}` is installed"),
            )
            .hint("remove that one first"),
            PluginError::PlanChanged => {
                Problem::new(Kind::Changed, "the plugins have changed meanwhile")
            }
            PluginError::Registry { .. } => Problem::internal("a registry does not read as one"),
            PluginError::NewerSchema { .. } => Problem::internal("a registry is of a newer vak"),
            PluginError::Location { fault, .. } => {
                Problem::internal(format!("a package path is refused: {fault}"))
            }
            PluginError::SharedPackage { .. } => Problem::internal("two plugins share a package"),
            PluginError::Entry { .. } => Problem::internal("a config entry was left as it is"),
            PluginError::Record { .. } => Problem::internal("a quarantine record is damaged"),
            _ => Problem::internal("the plugin store refused"),
        }
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Problem {
        match error {
            TokenError::Disk(error) => error.into(),
            TokenError::Random(error) => error.into(),
            TokenError::Exposed { .. } => Problem::internal("others can read the token file"),
            TokenError::Malformed { .. } => Problem::internal("the token file holds no token"),
        }
    }
}

impl From<getrandom::Error> for Problem {
    fn from(error: getrandom::Error) -> Problem {
        Problem::internal(format!("no random bytes: {error}"))
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(_: tokio::task::JoinError) -> Problem {
        Problem::internal("the work was broken off by a fault of the program")
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Problem {
        Problem::new(Kind::BadRequest, rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Problem {
        Problem::new(Kind::BadRequest, rejection.body_text())
    }
}

impl From<FormRejection> for Problem {
    fn from(rejection: FormRejection) -> Problem {
        let kind = if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Kind::TooLarge
        } else {
            Kind::BadRequest
        };
        Problem::new(kind, rejection.body_text())
    }
}
