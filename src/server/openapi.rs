//! The description of the API that is not any one route's: title, authentication, the common refusals.

use super::api;
use super::app::App;
use super::wire::ProblemDocument;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{RefOr, Response};
use utoipa::{Modify, OpenApi, ToResponse};
use utoipa_axum::router::OpenApiRouter;

/// The document that the routes are added to.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "vak admin API",
        description = "Lists what still tells a model to call a retired tool, takes it away reversibly, and \
                       puts it back. Every request but `/healthz` needs the server's token; every failed one \
                       is answered with `application/problem+json`, but for one whose head can't be read: \
                       that gets 400 or 431 without a body.",
        license(name = "MIT", identifier = "MIT"),
    ),
    servers((url = "http://127.0.0.1:8901", description = "The default address.")),
    security(("token" = [])),
    tags(
        (name = "plugins", description = "Installed plugins that call a retired tool."),
        (name = "quarantine", description = "What was taken away."),
        (name = "tools", description = "The list of retired tools."),
        (name = "server", description = "The server and the machine it runs on."),
    ),
    modifiers(&Token),
)]
struct Document;

/// The description of the whole API.
pub(super) fn document() -> utoipa::openapi::OpenApi {
    let mut document = OpenApiRouter::<Arc<App>>::with_openapi(Document::openapi())
        .merge(api::open_routes())
        .merge(api::closed_routes())
        .into_openapi();
    for path in document.paths.paths.values_mut() {
        let PathItem {
            get, post, delete, ..
        } = path;
        for operation in [get, post, delete].into_iter().flatten() {
            add_common(&mut operation.responses.responses);
        }
    }
    document
}

/// What every route may answer, because it is decided before the route is.
fn add_common(responses: &mut BTreeMap<String, RefOr<Response>>) {
    for (status, (_, response)) in [
        ("403", Forbidden::response()),
        ("413", TooLarge::response()),
        ("421", ForeignHost::response()),
        ("503", Busy::response()),
    ] {
        responses.entry(status.to_owned()).or_insert(response);
    }
}

struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some("What `vak serve --print-token` prints.".to_owned());
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

macro_rules! problems {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(ToResponse)]
        #[response(content_type = "application/problem+json")]
        pub(super) struct $name(#[expect(dead_code, reason = "it only describes the answer")] ProblemDocument);
    )*};
}

problems! {
    /// A parameter is not what it should be.
    BadRequest;
    /// The token is missing or wrong.
    Unauthorized;
    /// Another site's page sent it; or the cookie came without the CSRF token.
    Forbidden;
    /// There is no such thing.
    NotFound;
    /// The present state does not allow it.
    Conflict;
    /// The state is not the one that `If-Match` names; nothing was changed.
    Changed;
    /// The body is too large.
    TooLarge;
    /// The `Host` is not this server.
    ForeignHost;
    /// The server could not do its work; its log has the cause.
    Internal;
    /// Another process is changing the store, or the request took too long.
    Busy;
}
