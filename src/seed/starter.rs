//! The starter skills: what vak ships, what it shipped before, and what the user made of it.
//!
//! `seed.json` in the shared root remembers the digest of each file as it was shipped. A file is written
//! only where it is missing and was never shipped, or where it still is, byte for byte, what an earlier
//! vak wrote; what a user edited or deleted stays that way. The memory is written last, so that a seed
//! that was interrupted finds its own files again and finishes.

use super::SeedError;
use crate::disk::{self, LockGuard};
use crate::mode::Mode;
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directory `starter/` of the repository, as it was when this binary was built.
static STARTER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/starter");

/// Where the skills are, in there and in the shared root.
const SKILLS: &str = "skills";

/// The memory's file, in the shared root.
const MEMORY: &str = "seed.json";

/// A starter file may be edited into something long; anything above this is not worth comparing.
const READ_LIMIT: u64 = 4 << 20;

/// What became of one starter file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StarterState {
    /// It was not there and is now.
    Written,
    /// An earlier vak's text was replaced by this one's.
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
    /// Whether the file on disk had to change.
    pub fn changes(self) -> bool {
        matches!(self, StarterState::Written | StarterState::Updated)
    }
}

/// One starter file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StarterFile {
    /// The file, relative to the shared root.
    pub path: PathBuf,
    /// What became of it.
    pub state: StarterState,
}

/// What vak wrote into the shared root, as it remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Memory {
    schema: u32,
    /// The SHA-256 of each file as it was shipped, by path relative to the root, with `/`.
    files: BTreeMap<String, String>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            schema: 1,
            files: BTreeMap::new(),
        }
    }
}

impl Memory {
    fn read(root: &Path) -> Result<Memory, SeedError> {
        let path = root.join(MEMORY);
        let Some(bytes) = disk::read(&path, READ_LIMIT)? else {
            return Ok(Memory::default());
        };
        let memory: Memory =
            serde_json::from_slice(&bytes).map_err(|source| SeedError::Memory {
                path: path.clone(),
                source,
            })?;
        if memory.schema > 1 {
            return Err(SeedError::NewerMemory {
                path,
                found: memory.schema,
            });
        }
        Ok(memory)
    }

    fn write(&self, lock: &LockGuard, root: &Path) -> Result<(), SeedError> {
        let mut text = serde_json::to_string_pretty(self).map_err(|source| SeedError::Memory {
            path: root.join(MEMORY),
            source,
        })?;
        text.push('\n');
        Ok(disk::replace(lock, &root.join(MEMORY), text.as_bytes())?)
    }
}

/// The skills that vak ships: each file by its path relative to the shared root, with its bytes.
pub fn shipped() -> Vec<(&'static Path, &'static [u8])> {
    let mut files = Vec::new();
    let mut open: Vec<_> = STARTER.get_dir(SKILLS).into_iter().collect();
    while let Some(directory) = open.pop() {
        open.extend(directory.dirs());
        files.extend(directory.files().map(|file| (file.path(), file.contents())));
    }
    files.sort_unstable_by_key(|(path, _)| *path);
    files
}

/// Brings the starter files up to date, as far as they are vak's to change; with [`Mode::Check`] says what
/// that would be.
///
/// # Errors
/// [`SeedError`]; files that were written before the fault stay, and are recognised the next time.
pub fn seed(root: &Path, mode: Mode) -> Result<Vec<StarterFile>, SeedError> {
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
    path.to_string_lossy().replace('\\', "/")
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
