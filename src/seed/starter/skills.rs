//! The starter skills: files in the shared root.

use super::super::SeedError;
use super::super::memory::{Memory, digest};
use super::{StarterState, files_below};
use crate::disk::{self, LockGuard};
use crate::mode::Mode;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A skill may be edited into something long; anything above this is not worth comparing.
const READ_LIMIT: u64 = 4 << 20;

/// One starter file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StarterFile {
    /// The file, relative to the shared root.
    pub path: PathBuf,
    /// What became of it.
    pub state: StarterState,
}

/// The skills that vak ships: each file by its path relative to the shared root, with its bytes.
pub fn shipped() -> Vec<(&'static Path, &'static [u8])> {
    files_below("skills")
}

/// Brings the starter skills up to date, as far as they are vak's to change; with [`Mode::Check`] says what
/// that would be.
///
/// # Errors
/// [`SeedError`]; files that were written before the fault stay, and are recognised the next time.
pub fn seed_skills(root: &Path, mode: Mode) -> Result<Vec<StarterFile>, SeedError> {
    let plan = Plan::make(root)?;
    if !mode.writes() || !plan.has_work() {
        return Ok(plan.files);
    }
    let lock = disk::lock(root)?;
    // Another process may have been at work until the lock was free.
    let plan = Plan::make(root)?;
    plan.carry_out(&lock, root)?;
    Ok(plan.files)
}

/// What is to be done, and what will be remembered of it.
struct Plan {
    files: Vec<StarterFile>,
    before: Memory,
    after: Memory,
}

impl Plan {
    fn make(root: &Path) -> Result<Plan, SeedError> {
        let before = Memory::read(root)?;
        let mut after = before.clone();
        let mut files = Vec::new();
        for (path, bytes) in shipped() {
            let state = state(root, path, bytes, &before)?;
            if state.changes() || state == StarterState::Current {
                after.files.insert(key(path), digest(bytes));
            }
            files.push(StarterFile {
                path: path.to_owned(),
                state,
            });
        }
        Ok(Plan {
            files,
            before,
            after,
        })
    }

    fn has_work(&self) -> bool {
        self.before != self.after || self.files.iter().any(|file| file.state.changes())
    }

    fn carry_out(&self, lock: &LockGuard, root: &Path) -> Result<(), SeedError> {
        for ((path, bytes), file) in shipped().into_iter().zip(&self.files) {
            if file.state.changes() {
                put(lock, root, path, bytes)?;
            }
        }
        if self.before == self.after {
            return Ok(());
        }
        self.after.write(lock, root)
    }
}

fn state(
    root: &Path,
    path: &Path,
    shipped: &[u8],
    memory: &Memory,
) -> Result<StarterState, SeedError> {
    let remembered = memory.files.get(&key(path));
    let found = match disk::read(&root.join(path), READ_LIMIT) {
        Ok(found) => found,
        // Too long, or no plain file any more: the user made something else of it.
        Err(disk::DiskError::TooLarge { .. } | disk::DiskError::NotAFile { .. }) => {
            return Ok(StarterState::KeptEdited);
        }
        Err(error) => return Err(error.into()),
    };
    Ok(match (found, remembered) {
        (Some(bytes), _) if bytes == shipped => StarterState::Current,
        _ if is_linked(root, path) => StarterState::KeptLinked,
        (None, None) => StarterState::Written,
        (None, Some(_)) => StarterState::KeptDeleted,
        (Some(bytes), Some(known)) if digest(&bytes) == *known => StarterState::Updated,
        (Some(_), _) => StarterState::KeptEdited,
    })
}

/// Whether any step from the root to the file is a link.
fn is_linked(root: &Path, path: &Path) -> bool {
    path.ancestors()
        .filter(|step| !step.as_os_str().is_empty())
        .any(|step| root.join(step).is_symlink())
}

fn put(lock: &LockGuard, root: &Path, path: &Path, bytes: &[u8]) -> Result<(), SeedError> {
    if let Some(parent) = path.parent() {
        disk::create_dirs(lock, root, parent)?;
    }
    Ok(disk::replace_below(lock, root, path, bytes)?)
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
