//! What the list means, through the crate's public surface.
#![expect(clippy::unwrap_used, reason = "a test's set-up may panic")]

mod compare; // what one version did to the rows of another
mod faults; // every fault, as it is shown
mod render; // the generated source
