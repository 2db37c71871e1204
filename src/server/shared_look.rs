//! One look at the disk for all requests that wait for it.
//!
//! An answer has to show every change that was finished when its request arrived, and looking costs
//! milliseconds. So one look at a time is taken, and it serves all requests that arrived before it began;
//! those that arrive while it is under way wait for the next. However many requests come, at most two looks
//! stand between a request and its answer, and one thread is at work.

use super::problem::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// A kind of look, and the outcome of the latest.
#[derive(Debug)]
pub(super) struct SharedLook<T> {
    /// How many looks have begun.
    begun: AtomicU64,
    latest: Mutex<Latest<T>>,
}

#[derive(Debug)]
struct Latest<T> {
    /// Which look it was, counted from 1; 0 for none.
    number: u64,
    outcome: Option<Result<Arc<T>, Problem>>,
}

impl<T> Default for SharedLook<T> {
    fn default() -> SharedLook<T> {
        SharedLook {
            begun: AtomicU64::new(0),
            latest: Mutex::new(Latest {
                number: 0,
                outcome: None,
            }),
        }
    }
}

impl<T: Send + Sync + 'static> SharedLook<T> {
    /// The outcome of a look that began after this call: of this `look`, taken on a thread where it may
    /// block, or of another request's.
    pub(super) async fn current(
        &self,
        look: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<Arc<T>, Problem> {
        let wanted = self.begun.load(Ordering::SeqCst) + 1;
        let mut latest = self.latest.lock().await;
        if latest.number >= wanted
            && let Some(outcome) = &latest.outcome
        {
            return outcome.clone();
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let outcome = tokio::task::spawn_blocking(look).await?.map(Arc::new);
        *latest = Latest {
            number,
            outcome: Some(outcome.clone()),
        };
        outcome
    }
}
