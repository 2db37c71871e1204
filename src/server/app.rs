//! What all requests share: the roots, the token, who the server is, and what it remembers.

use super::origin::Origins;
use super::page;
use super::session::UsedLinks;
use super::shared_look::SharedLook;
use super::token::{Token, TokenError};
use super::views::{View, Views};
use super::wire::{Doctor, Quarantine};
use crate::roots::Roots;
use axum::body::Bytes;
use axum::http::HeaderValue;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Mutex;

/// How often the token's file is looked at. A deleted token is refused after this time at most.
const TOKEN_CHECK: Duration = Duration::from_secs(1);

/// The state of a running server.
#[derive(Debug)]
pub(super) struct App {
    roots: Roots,
    token: RwLock<Arc<Token>>,
    origins: Origins,
    content_security_policy: HeaderValue,
    openapi: Bytes,
    pub(super) used_links: UsedLinks,
    pub(super) views: Arc<Views>,
    pub(super) view_look: SharedLook<View>,
    pub(super) quarantine_look: SharedLook<Quarantine>,
    pub(super) health_look: SharedLook<Doctor>,
    /// Changes are made one after the other; who waits for the other costs no thread.
    pub(super) changes: Arc<Mutex<()>>,
}

impl App {
    pub(super) fn new(roots: Roots, token: Token, origins: Origins) -> App {
        App {
            views: Arc::new(Views::new(&roots)),
            view_look: SharedLook::default(),
            quarantine_look: SharedLook::default(),
            health_look: SharedLook::default(),
            roots,
            token: RwLock::new(Arc::new(token)),
            origins,
            content_security_policy: page::content_security_policy(),
            used_links: UsedLinks::new(),
            changes: Arc::default(),
            openapi: super::openapi_document().into(),
        }
    }

    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(super) fn origins(&self) -> &Origins {
        &self.origins
    }

    pub(super) fn token(&self) -> Arc<Token> {
        Arc::clone(&self.token.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn content_security_policy(&self) -> HeaderValue {
        self.content_security_policy.clone()
    }

    pub(super) fn openapi(&self) -> Bytes {
        self.openapi.clone()
    }

    /// Cookies know no ports: two servers on one machine need cookies of different names.
    pub(super) fn cookie_name(&self) -> String {
        format!("vak_session_{}", self.origins.port())
    }

    /// Follows the token's file for as long as it is polled: deleted, it is made anew, and the old token
    /// and all sessions end.
    pub(super) async fn follow_token(self: Arc<Self>) {
        let mut trouble = false;
        loop {
            tokio::time::sleep(TOKEN_CHECK).await;
            let app = Arc::clone(&self);
            let renewed = tokio::task::spawn_blocking(move || app.reload_token()).await;
            let failed = !matches!(renewed, Ok(Ok(())));
            if failed && !trouble {
                tracing::error!("the token file cannot be read; the old token stays in force");
            }
            trouble = failed;
        }
    }

    fn reload_token(&self) -> Result<(), TokenError> {
        let token = Token::load_or_create(&self.roots.shared)?;
        if token != *self.token() {
            *self.token.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(token);
            tracing::info!("the token was replaced; all sessions have ended");
        }
        Ok(())
    }
}
