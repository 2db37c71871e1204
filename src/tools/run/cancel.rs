//! The wish to stop, shared between whoever may voice it and whatever has to heed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that goes one way: from "go on" to "stop". Clones are the same switch.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A switch nobody has used yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks everything that holds this switch to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The switch itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
