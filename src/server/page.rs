//! The page and how a browser gets to it.
//!
//! The HTML is made on the server; the one script opens dialogs and asks the API for changes. The style
//! stands in the page itself, so that signing in needs no second request; the policy that goes with every
//! answer allows that style by its hash, and no script but the one file.

mod markup;

use super::app::App;
use super::guard::Caller;
use super::problem::{Problem, sign_in_first};
use super::{api, session};
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use base64::Engine as _;
use maud::Markup;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/style.css");

/// The routes that nobody needs a token for: those that lead in.
pub(super) fn open_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(show))
        // Whoever looks at a link before it is opened, as some mail programs do, must not use it up.
        .route("/enter", get(enter).head(only_get))
        .route("/sign-in", post(sign_in))
}

/// The routes for those who are in.
pub(super) fn closed_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/page.js", get(script))
        .route("/page/health", get(health))
        .route("/sign-out", post(sign_out))
}

/// What the page may load and do: its own style and script, requests to this server, nothing else.
pub(super) fn content_security_policy() -> HeaderValue {
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'sha256-{hash}'; img-src data:; connect-src 'self'; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    // Base64 and ASCII words are a header value; without one, nothing at all may be loaded.
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

async fn show(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Response {
    let csrf = match &caller {
        Caller::Session(session) => session::csrf(&app.token(), session),
        // Who sends the token needs no other; the page is then a document to look at.
        Caller::Token => String::new(),
        Caller::Nobody => return sign_in_first(html(&markup::sign_in(None))),
    };
    let (view, quarantine) = tokio::join!(api::view(&app), api::quarantine(&app));
    let retired = match &view {
        Ok(view) => Ok((&view.retired, view.etag.to_str().unwrap_or_default())),
        Err(problem) => Err(problem.clone()),
    };
    html(&markup::overview(&markup::Overview {
        csrf: &csrf,
        retired,
        quarantine: quarantine.as_deref().map_err(Problem::clone),
    }))
}

async fn health(State(app): State<Arc<App>>) -> Response {
    let report = api::health(&app).await;
    html(&markup::health(report.as_deref()))
}

async fn script() -> Response {
    let kind = HeaderValue::from_static("text/javascript; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], SCRIPT).into_response()
}

#[derive(Deserialize)]
struct Link {
    #[serde(default)]
    key: String,
}

/// Where a one-time link leads.
async fn enter(
    State(app): State<Arc<App>>,
    link: Result<Query<Link>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(link) = link?;
    let token = app.token();
    if !app.used_links.redeem(&token, &link.key) {
        let refused = "This link was used before, or it is older than five minutes.";
        return Ok(sign_in_first(html(&markup::sign_in(Some(refused)))));
    }
    let cookie = session_cookie(
        &app,
        &session::new_session(&token)?,
        session::SESSION_LIFE.as_secs(),
    );
    Ok((cookie, html(&markup::entered())).into_response())
}

async fn only_get() -> Response {
    ([(header::ALLOW, "GET")], Problem::wrong_method()).into_response()
}

#[derive(Deserialize)]
struct SignIn {
    token: String,
}

async fn sign_in(
    State(app): State<Arc<App>>,
    form: Result<Form<SignIn>, FormRejection>,
) -> Result<Response, Problem> {
    let Form(SignIn { token: presented }) = form?;
    let token = app.token();
    if !token.is(presented.trim().as_bytes()) {
        let refused = "That is not the token of this server.";
        return Ok(sign_in_first(html(&markup::sign_in(Some(refused)))));
    }
    let cookie = session_cookie(
        &app,
        &session::new_session(&token)?,
        session::SESSION_LIFE.as_secs(),
    );
    Ok((cookie, Redirect::to("/")).into_response())
}

async fn sign_out(State(app): State<Arc<App>>) -> Response {
    (session_cookie(&app, "", 0), "{}").into_response()
}

fn session_cookie(
    app: &App,
    value: &str,
    seconds: u64,
) -> AppendHeaders<[(HeaderName, String); 1]> {
    let secure = if app.origins().is_https() {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!(
        "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}",
        app.cookie_name()
    );
    AppendHeaders([(header::SET_COOKIE, cookie)])
}

fn html(markup: &Markup) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], markup.0.clone()).into_response()
}
