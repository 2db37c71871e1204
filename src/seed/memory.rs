//! What vak remembers of what it shipped: `seed.json` in the shared root.

use super::SeedError;
use crate::disk::{self, Dir, LockGuard};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// The memory's file, in the shared root.
pub(crate) const FILE: &str = "seed.json";

/// The schema that this program writes, and the newest it reads.
const SCHEMA: u32 = 1;

const READ_LIMIT: u64 = 4 << 20;

/// The digests of what was shipped, as it was shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memory {
    schema: u32,
    /// The SHA-256 of each file, by path relative to the root, with `/`.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// The digest of each plugin's package, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) plugins: BTreeMap<String, String>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            schema: SCHEMA,
            files: BTreeMap::new(),
            plugins: BTreeMap::new(),
        }
    }
}

impl Memory {
    pub(super) fn read(root: &Path) -> Result<Memory, SeedError> {
        let path = root.join(FILE);
        let bytes = match Dir::open(root)? {
            Some(root) => root.read(OsStr::new(FILE), READ_LIMIT)?,
            None => None,
        };
        let Some(bytes) = bytes else {
            return Ok(Memory::default());
        };
        let memory: Memory =
            serde_json::from_slice(&bytes).map_err(|source| SeedError::Memory {
                path: path.clone(),
                source,
            })?;
        if memory.schema > SCHEMA {
            return Err(SeedError::NewerMemory {
                path,
                found: memory.schema,
            });
        }
        Ok(memory)
    }

    pub(super) fn write(&self, lock: &LockGuard, root: &Path) -> Result<(), SeedError> {
        let mut text = serde_json::to_string_pretty(self).map_err(|source| SeedError::Memory {
            path: root.join(FILE),
            source,
        })?;
        text.push('\n');
        Ok(disk::replace_below(
            lock,
            root,
            Path::new(FILE),
            text.as_bytes(),
        )?)
    }
}

/// SHA-256 in lower-case hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    crate::plugin::hex(&Sha256::digest(bytes))
}
