//! A directory for files on their way to somewhere else.

use super::{Result, io_error};
use std::path::{Component, Path};

/// A directory of this process alone, below the system's directory for temporary files. It goes away with
/// this value. Nothing in it is anybody's state, so it needs no lock.
#[derive(Debug)]
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// Makes an empty one.
    pub fn new() -> Result<Scratch> {
        let parent = std::env::temp_dir();
        let dir = tempfile::Builder::new()
            .prefix("vak-")
            .tempdir()
            .map_err(io_error("create a directory in", &parent))?;
        Ok(Scratch { dir })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Puts a file into it, with the directories it needs.
    pub fn write(&self, relative: &Path, bytes: &[u8]) -> Result<()> {
        if !relative
            .components()
            .all(|step| matches!(step, Component::Normal(_)))
        {
            return Err(super::DiskError::NotPlain {
                path: relative.to_owned(),
            });
        }
        let path = self.path().join(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(io_error("create", parent))?;
        }
        std::fs::write(&path, bytes).map_err(io_error("write", &path))
    }
}
