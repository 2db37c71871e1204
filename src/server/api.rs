//! The routes of the API: what each reads or changes, and what it answers.
//!
//! The OpenAPI document is made from these handlers, so a route and its description cannot part.

#![expect(
    unused_qualifications,
    reason = "`utoipa::path` writes the types of parameters out in full"
)]

use super::app::App;
use super::metrics;
use super::problem::{Kind, Problem, change_status, not_modified};
use super::state_tag::{IfMatch, is_known};
use super::views::View;
use super::wire::{
    Doctor, Health, Quarantine, Removal, Restored, RetiredPlugins, RetiredTools, SCHEMA, ScopeName,
};
use crate::plugin::{PluginStore, QuarantineId};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The route that anybody may ask.
pub(super) fn open_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(healthz))
}

/// The routes that need the token.
pub(super) fn closed_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(retired_plugins, remove_all))
        .routes(routes!(remove_one))
        .routes(routes!(quarantined))
        .routes(routes!(restore))
        .routes(routes!(retired_tools))
        .routes(routes!(doctor))
        .routes(routes!(metrics_text))
        .routes(routes!(openapi))
}

/// The retired plugins as a look that begins now sees them.
pub(super) async fn view(app: &Arc<App>) -> Result<Arc<View>, Problem> {
    let views = Arc::clone(&app.views);
    app.view_look.current(move || views.look()).await
}

/// What is in quarantine now.
pub(super) async fn quarantine(app: &Arc<App>) -> Result<Arc<Quarantine>, Problem> {
    let views = Arc::clone(&app.views);
    let look = move || list_quarantine(views.stores());
    app.quarantine_look.current(look).await
}

/// The health report as of now.
pub(super) async fn health(app: &Arc<App>) -> Result<Arc<Doctor>, Problem> {
    let roots = app.roots().clone();
    let look = move || Ok(Doctor::from(crate::health::examine(&roots)));
    app.health_look.current(look).await
}

/// Path parameters, whose faults are problems.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
struct PathPart<T>(T);

/// Query parameters, whose faults are problems.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
struct Options<T>(T);

/// Which store is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InStore {
    /// The store; without it, every store.
    scope: Option<ScopeName>,
}

impl InStore {
    fn covers(&self, scope: ScopeName) -> bool {
        self.scope.is_none_or(|wanted| wanted == scope)
    }
}

/// Whether the server answers.
///
/// Needs no token.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()),
    responses((status = 200, description = "It does.", body = Health)))]
async fn healthz() -> Json<Health> {
    Json(Health {
        schema: SCHEMA,
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// The plugins that tell the model to call a retired tool.
///
/// Of every store, with each place that names a retired tool. The `ETag` names this state: a removal that
/// sends it back as `If-Match` takes away what this answer shows, or nothing.
#[utoipa::path(get, path = "/plugins/retired", tag = "plugins",
    params(("If-None-Match" = Option<String>, Header, description = "The tag of a state that the client has.")),
    responses(
        (status = 200, description = "The retired plugins.", body = RetiredPlugins,
            headers(("ETag" = String, description = "Names this state."))),
        (status = 304, description = "The client has this state."),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 500, response = inline(super::openapi::Internal)),
    ))]
async fn retired_plugins(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let view = view(&app).await?;
    if is_known(&headers, &view.etag) {
        return Ok(not_modified(view.etag.clone()));
    }
    let etag = (header::ETAG, view.etag.clone());
    let kind = (
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(([etag, kind], view.json.clone()).into_response())
}

/// Removes every retired plugin.
///
/// Each goes into quarantine with its packages, its registry entry and its entries in `network_allow`; from
/// there it can be restored. Plugins that `keep_retired` names stay. Nothing to remove is a success.
#[utoipa::path(delete, path = "/plugins/retired", tag = "plugins",
    params(("If-Match" = Option<String>, Header, description = "The tag of the state that the client saw.")),
    responses(
        (status = 200, description = "All are removed.", body = Removal),
        (status = 207, description = "Some could not be removed; the others are.", body = Removal),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 412, response = inline(super::openapi::Changed)),
        (status = 500, response = inline(super::openapi::Internal)),
        (status = 503, response = inline(super::openapi::Busy)),
    ))]
async fn remove_all(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    let if_match = IfMatch::of(&headers);
    let removal = change(&app, move |app| {
        let policy = crate::seed::policy(app.roots())?;
        super::removal::all(&app.views, &policy, &if_match)
    })
    .await?;
    Ok(answer(removal))
}

/// Removes one retired plugin.
///
/// As the removal of all, for the plugin of this name in every store or in one. A name that no retired
/// plugin has is a success with nothing removed.
#[utoipa::path(delete, path = "/plugins/retired/{name}", tag = "plugins",
    params(
        ("name" = String, Path, description = "The plugin's name."),
        InStore,
        ("If-Match" = Option<String>, Header, description = "The tag of the state that the client saw."),
    ),
    responses(
        (status = 200, description = "It is removed.", body = Removal),
        (status = 207, description = "It could not be removed from every store.", body = Removal),
        (status = 400, response = inline(super::openapi::BadRequest)),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 412, response = inline(super::openapi::Changed)),
        (status = 500, response = inline(super::openapi::Internal)),
        (status = 503, response = inline(super::openapi::Busy)),
    ))]
async fn remove_one(
    State(app): State<Arc<App>>,
    PathPart(name): PathPart<String>,
    Options(store): Options<InStore>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let if_match = IfMatch::of(&headers);
    let removal = change(&app, move |app| {
        super::removal::named(&app.views, &name, |scope| store.covers(scope), &if_match)
    })
    .await?;
    Ok(answer(removal))
}

/// What was taken away and can be restored.
#[utoipa::path(get, path = "/plugins/quarantine", tag = "quarantine",
    responses(
        (status = 200, description = "The quarantine of every store.", body = Quarantine,
            links(("restore" = (operation_id = "restore",
                parameters(("id" = "$response.body#/plugins/0/id"), ("scope" = "$response.body#/plugins/0/scope")))))),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 500, response = inline(super::openapi::Internal)),
    ))]
async fn quarantined(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    Ok(Json(&*quarantine(&app).await?).into_response())
}

/// Restores a plugin from the quarantine.
///
/// Its packages, its registry entry and, where that is safe, its entries in `network_allow`.
#[utoipa::path(post, path = "/plugins/quarantine/{id}/restore", tag = "quarantine",
    params(
        ("id" = String, Path, description = "The `id` of the quarantined plugin.",
            pattern = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,110}[A-Za-z0-9_-])?$"),
        InStore,
    ),
    responses(
        (status = 200, description = "It is back.", body = Restored),
        (status = 400, response = inline(super::openapi::BadRequest)),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 404, response = inline(super::openapi::NotFound)),
        (status = 409, response = inline(super::openapi::Conflict)),
        (status = 500, response = inline(super::openapi::Internal)),
        (status = 503, response = inline(super::openapi::Busy)),
    ))]
async fn restore(
    State(app): State<Arc<App>>,
    PathPart(id): PathPart<String>,
    Options(store): Options<InStore>,
) -> Result<Json<Restored>, Problem> {
    let id = QuarantineId::parse(&id)
        .map_err(|fault| Problem::new(Kind::BadRequest, format!("the id is none: {fault}")))?;
    let restored = change(&app, move |app| {
        let store = holder(app.views.stores(), &id, &store)?;
        let guard = store.lock()?;
        Ok(Restored::from(store.restore(&guard, id.as_str())?))
    })
    .await?;
    tracing::info!("a plugin was restored");
    Ok(Json(restored))
}

/// The list of retired tools.
#[utoipa::path(get, path = "/tools/retired", tag = "tools",
    responses(
        (status = 200, description = "Every retired tool that this build knows.", body = RetiredTools),
        (status = 401, response = inline(super::openapi::Unauthorized)),
    ))]
async fn retired_tools() -> Json<RetiredTools> {
    Json(RetiredTools::shipped())
}

/// The health report.
///
/// The same checks as `vak doctor`, without a repair.
#[utoipa::path(get, path = "/doctor", tag = "server",
    responses(
        (status = 200, description = "Every check. A failed check is no failed request.", body = Doctor),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 500, response = inline(super::openapi::Internal)),
    ))]
async fn doctor(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    Ok(Json(&*health(&app).await?).into_response())
}

/// The state in numbers.
///
/// In the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses(
        (status = 200, description = "The metrics.", body = String, content_type = "text/plain"),
        (status = 401, response = inline(super::openapi::Unauthorized)),
        (status = 500, response = inline(super::openapi::Internal)),
    ))]
async fn metrics_text(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let (view, quarantine) = tokio::join!(view(&app), quarantine(&app));
    let text = metrics::text(&*view?, &*quarantine?);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// This description.
#[utoipa::path(get, path = "/openapi.json", tag = "server",
    responses(
        (status = 200, description = "The OpenAPI document of this API.", body = Object),
        (status = 401, response = inline(super::openapi::Unauthorized)),
    ))]
async fn openapi(State(app): State<Arc<App>>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    let document: Bytes = app.openapi();
    ([(header::CONTENT_TYPE, kind)], document).into_response()
}

/// Makes a change on a thread where it may block, one at a time. It is carried through even if the client
/// goes away.
async fn change<T: Send + 'static>(
    app: &Arc<App>,
    make: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = Arc::clone(&app.changes).lock_owned().await;
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        make(&app)
    })
    .await?
}

fn answer(removal: Removal) -> Response {
    let (removed, failed) = (removal.removed.len(), removal.failed.len());
    if removed + failed > 0 {
        tracing::info!(removed, failed, "retired plugins were removed");
    }
    (change_status(removal.failed.is_empty()), Json(removal)).into_response()
}

fn list_quarantine(stores: &[PluginStore]) -> Result<Quarantine, Problem> {
    let mut entries = Vec::new();
    for store in stores {
        let found = store.quarantine()?;
        entries.extend(found.into_iter().map(|entry| (store.scope(), entry)));
    }
    Ok(Quarantine::of(entries.into_iter()))
}

/// The one store whose quarantine has this id.
fn holder<'a>(
    stores: &'a [PluginStore],
    id: &QuarantineId,
    wanted: &InStore,
) -> Result<&'a PluginStore, Problem> {
    let mut holders = Vec::new();
    for store in stores
        .iter()
        .filter(|store| wanted.covers(store.scope().into()))
    {
        if store
            .quarantine()?
            .iter()
            .any(|entry| entry.id == id.as_str())
        {
            holders.push(store);
        }
    }
    match holders[..] {
        [store] => Ok(store),
        [] => Err(Problem::new(
            Kind::NotFound,
            "nothing in quarantine has this id",
        )),
        _ => Err(Problem::new(
            Kind::Conflict,
            "more than one store has this id in quarantine",
        )
        .hint("add `?scope=user` or `?scope=workspace`")),
    }
}
