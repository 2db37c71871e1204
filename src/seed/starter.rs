//! What vak ships to get a new user started: skills and plugins, what it shipped before, and what the user
//! made of them.
//!
//! Something is written only where it is missing and was never shipped, or where it still is, byte for byte,
//! what an earlier vak wrote; what a user edited, deleted or linked stays that way. What was shipped is
//! remembered last, so that a seed that was interrupted finds its own work again and finishes.

mod plugins;
mod skills;

pub use plugins::{StarterPlugin, seed_plugins, shipped_plugins};
pub use skills::{StarterFile, seed_skills, shipped};

use include_dir::{Dir, include_dir};
use serde::Serialize;
use std::path::Path;

/// The directory `starter/` of the repository, as it was when this binary was built.
static STARTER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/starter");

/// What became of one thing that vak ships.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StarterState {
    /// It was not there and is now.
    Written,
    /// What an earlier vak wrote was replaced by this one's.
    Updated,
    /// It already is what this vak ships.
    Current,
    /// The user changed it; it stays.
    KeptEdited,
    /// The user deleted it; it stays away.
    KeptDeleted,
    /// The user keeps it, or the directory it belongs in, elsewhere and linked it here; nothing is written
    /// through the link.
    KeptLinked,
}

impl StarterState {
    /// Whether the disk has to change for it.
    pub fn changes(self) -> bool {
        matches!(self, StarterState::Written | StarterState::Updated)
    }
}

/// The files below a directory of `starter/`, by path in there, with their bytes.
fn files_below(directory: &str) -> Vec<(&'static Path, &'static [u8])> {
    let mut files = Vec::new();
    let mut open: Vec<_> = STARTER.get_dir(directory).into_iter().collect();
    while let Some(directory) = open.pop() {
        open.extend(directory.dirs());
        let found = directory.files();
        files.extend(found.map(|file| (file.path(), file.contents())));
    }
    files.sort_unstable_by_key(|(path, _)| path.as_os_str());
    files
}
