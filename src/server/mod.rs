//! The admin API and its page: what `vak doctor`, `vak setup seed` and `vak plugins` do, for a browser and for
//! programs.
//!
//! Owns HTTP: connections and their limits, who may do what, the documents, the page. It refuses to do
//! anything of its own to the disk: every route calls what the command line calls, on a thread where it may
//! block. Status codes are known to `problem` alone.
//!
//! A request passes, from the outside in: `connection` (how many, how slow, how large), `guard` (host,
//! origin, token, CSRF), and a handler of `api` or `page`. What handlers know of the stores they have from
//! `views`, which looks at the disk for every answer, and remembers in `verdict` what makes that cheap.

mod api;
mod app;
mod connection;
mod guard;
mod metrics;
mod openapi;
mod origin;
mod page;
mod problem;
mod removal;
mod session;
mod shared_look;
mod state_tag;
mod token;
mod verdict;
mod views;
mod wire;

pub use origin::{PublicUrl, PublicUrlFault};
pub use token::{TOKEN_FILE, Token, TokenError};

use crate::roots::Roots;
use app::App;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use origin::Origins;
use problem::Problem;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The address that is bound unless another one is asked for.
pub const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8901);

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The stores and configs it works on.
    pub roots: Roots,
    /// Where it listens; port 0 has the system choose one.
    pub address: SocketAddr,
    /// Whether the address may be one that other machines reach.
    pub allow_remote: bool,
    /// The URL that a reverse proxy makes it known by.
    pub public_url: Option<PublicUrl>,
}

/// A server that is bound and not yet running.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    app: Arc<App>,
    interrupt: Signal,
    terminate: Signal,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is one that other machines reach, and that was not allowed.
    #[error(
        "`{address}` can be reached from other machines\nhint: with `--allow-remote` whoever reaches it and has the token can remove and restore plugins; the token travels unencrypted unless a reverse proxy adds TLS"
    )]
    Remote {
        /// The address.
        address: SocketAddr,
    },
    /// The address can't be bound.
    #[error("failed to listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// There is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The system refused threads, timers or signals.
    #[error("failed to start")]
    Start(#[source] io::Error),
}

impl Server {
    /// Binds the address and reads the token, which is made if there is none. From here on SIGINT and
    /// SIGTERM end [`Server::run`] instead of the process.
    ///
    /// # Errors
    /// [`ServerError`] says what is missing.
    pub fn bind(settings: Settings) -> Result<Server, ServerError> {
        let Settings {
            roots,
            address,
            allow_remote,
            public_url,
        } = settings;
        if !address.ip().is_loopback() && !allow_remote {
            return Err(ServerError::Remote { address });
        }
        let token = Token::load_or_create(&roots.shared)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(ServerError::Start)?;
        let entered = runtime.enter();
        let failed = |source| ServerError::Bind { address, source };
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let interrupt = signal(SignalKind::interrupt()).map_err(ServerError::Start)?;
        let terminate = signal(SignalKind::terminate()).map_err(ServerError::Start)?;
        drop(entered);
        Ok(Server {
            runtime,
            listener,
            app: Arc::new(App::new(roots, token, Origins::new(bound, public_url))),
            interrupt,
            terminate,
        })
    }

    /// The URL of the page, with a final `/`.
    pub fn url(&self) -> String {
        format!("{}/", self.app.origins().local_url())
    }

    /// The URL that a reverse proxy makes the page known by, with a final `/`.
    pub fn public_url(&self) -> Option<String> {
        let public = self.app.origins().public_url()?;
        Some(format!("{public}/"))
    }

    /// A link that opens the page once, within five minutes.
    ///
    /// # Errors
    /// [`TokenError`] if the system has no random bytes to give.
    pub fn link(&self) -> Result<String, TokenError> {
        Ok(link(self.app.origins(), &self.app.token())?)
    }

    /// Serves until SIGINT or SIGTERM; then until the requests in flight have ended, or a second signal.
    pub fn run(self) {
        let Server {
            runtime,
            listener,
            app,
            mut interrupt,
            mut terminate,
        } = self;
        let router = router(&app);
        runtime.block_on(async {
            let token_follower = tokio::spawn(Arc::clone(&app).follow_token());
            let (stop, hurry) = tokio::sync::oneshot::channel::<()>();
            let mut signals = tokio::spawn(async move {
                either(&mut interrupt, &mut terminate).await;
                tracing::info!("ending after the requests in flight");
                drop(stop);
                either(&mut interrupt, &mut terminate).await;
            });
            let stopped = async {
                let _ = hurry.await;
            };
            let hurried = async {
                let _ = (&mut signals).await;
            };
            connection::serve(listener, router, stopped, hurried).await;
            token_follower.abort();
        });
        // A look at the disk that nobody waits for any more need not end.
        runtime.shutdown_background();
    }
}

/// A link that opens the page of the server at an address once, within five minutes, for somebody who can
/// read the token. The server need not be this process.
///
/// # Errors
/// [`TokenError`] if there is no token and none can be made.
pub fn link_to(
    roots: &Roots,
    address: SocketAddr,
    public_url: Option<PublicUrl>,
) -> Result<String, TokenError> {
    let token = Token::load_or_create(&roots.shared)?;
    Ok(link(&Origins::new(address, public_url), &token)?)
}

/// The description of the API, as JSON with a final newline.
pub fn openapi_document() -> String {
    let mut text = openapi::document().to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

fn link(origins: &Origins, token: &Token) -> Result<String, getrandom::Error> {
    Ok(format!(
        "{}/enter?key={}",
        origins.url(),
        session::new_link(token)?
    ))
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// The whole server.
fn router(app: &Arc<App>) -> Router {
    let (closed, _) = api::closed_routes().split_for_parts();
    let (open, _) = api::open_routes().split_for_parts();
    let closed = closed
        .merge(page::closed_routes())
        .fallback(async || Problem::no_such_route())
        .method_not_allowed_fallback(async || Problem::wrong_method())
        .layer(from_fn_with_state(Arc::clone(app), guard::authenticate));
    let open = open
        .merge(page::open_routes())
        .method_not_allowed_fallback(async || Problem::wrong_method());
    closed
        .merge(open)
        .layer(DefaultBodyLimit::max(guard::MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(app), guard::admit))
        .with_state(Arc::clone(app))
}
