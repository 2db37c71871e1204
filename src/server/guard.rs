//! Who may do what: everything that stands between a request and its handler.
//!
//! A request is refused for its host, its origin, the size of its body, its missing or wrong token, or its
//! missing CSRF token, in this order, before any handler sees it. What goes out gets the headers that keep
//! a browser from doing more with it than the page needs.

use super::app::App;
use super::origin::Provenance;
use super::problem::{Kind, Problem};
use super::session;
use super::token::Token;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument as _;

/// The largest body of a request, in bytes. The only one that is read at all is the sign-in form's.
pub(super) const MAX_BODY: usize = 4 << 10;

/// How long a request may take, once its head is here. A change waits up to 10 s for the lock.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// The header that carries the CSRF token.
pub(super) const CSRF_HEADER: &str = "x-vak-csrf";

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Caller {
    /// Somebody with the token.
    Token,
    /// A browser with this session.
    Session(String),
    /// Somebody with a wrong token, or none.
    Nobody,
}

/// Refuses foreign requests, limits the others, and finds out who sent them. Wraps every route.
pub(super) async fn admit(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let span = tracing::info_span!(
        "request",
        method = request.method().as_str(),
        route = route.map_or("none", MatchedPath::as_str),
    );
    let answer = async {
        if let Err(problem) = check(&app, &request) {
            return problem.into_response();
        }
        let caller = caller(&app, request.headers());
        request.extensions_mut().insert(caller);
        tokio::time::timeout(REQUEST_TIME, next.run(request))
            .await
            .unwrap_or_else(|_| Problem::busy("the request took too long").into_response())
    };
    let mut response = answer.instrument(span).await;
    secure(&app, response.headers_mut());
    response
}

/// Refuses whoever has no token, and changes that a foreign page could have had a browser ask for. Wraps
/// every route but the few that nobody needs a token for.
pub(super) async fn authenticate(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let verdict = match request.extensions().get() {
        Some(Caller::Token) => Ok(()),
        Some(Caller::Session(session)) => {
            check_csrf(&app.token(), session, request.method(), request.headers())
        }
        Some(Caller::Nobody) | None => Err(Problem::new(
            Kind::Unauthorized,
            "this needs the server's token: `Authorization: Bearer TOKEN`",
        )
        .hint("`vak serve --print-token` prints it")),
    };
    match verdict {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(app: &App, request: &Request) -> Result<(), Problem> {
    let provenance = app
        .origins()
        .judge(request.method(), request.uri(), request.headers());
    match provenance {
        Provenance::Own => check_size(request.headers()),
        Provenance::ForeignHost => Err(Problem::new(
            Kind::ForeignHost,
            "the `Host` header names another host than this server",
        )
        .hint("behind a reverse proxy, start it with `--public-url`")),
        Provenance::ForeignOrigin => Err(Problem::new(
            Kind::ForeignOrigin,
            "requests from other sites are refused",
        )),
    }
}

fn check_size(headers: &HeaderMap) -> Result<(), Problem> {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_BODY) {
        return Err(Problem::new(
            Kind::TooLarge,
            format!("a body may have {MAX_BODY} bytes"),
        ));
    }
    Ok(())
}

/// Who sent a request with these headers. Somebody with a wrong token is nobody, whatever cookie comes
/// with it; other schemes than `Bearer`, such as that of a proxy's own sign-in, are not meant for this server.
fn caller(app: &App, headers: &HeaderMap) -> Caller {
    let token = app.token();
    let authorization = headers.get_all(header::AUTHORIZATION).iter();
    let mut presented = authorization.filter_map(bearer);
    match (presented.next(), presented.next()) {
        (Some(one), None) if token.is(one) => Caller::Token,
        (Some(_), _) => Caller::Nobody,
        (None, _) => cookie(headers, &app.cookie_name())
            .filter(|value| session::is_session(&token, value))
            .map_or(Caller::Nobody, |value| Caller::Session(value.to_owned())),
    }
}

fn bearer(authorization: &HeaderValue) -> Option<&[u8]> {
    let (scheme, presented) = authorization.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(presented)
}

/// The value of a cookie.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(found, value)| (found == name).then_some(value))
}

fn check_csrf(
    token: &Token,
    session: &str,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let presented = headers
        .get(CSRF_HEADER)
        .map_or(&b""[..], HeaderValue::as_bytes);
    if method.is_safe() || session::is_csrf(token, session, presented) {
        return Ok(());
    }
    Err(Problem::new(
        Kind::MissingCsrf,
        "a change asked for with a cookie needs the page's CSRF token as well",
    )
    .hint("reload the page"))
}

fn secure(app: &App, headers: &mut HeaderMap) {
    const FIXED: [(HeaderName, &str); 6] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer` browsers would hide the origin of the sign-in form, too.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        app.content_security_policy(),
    );
}
