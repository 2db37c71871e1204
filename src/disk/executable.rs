//! Replacing this program's own file, and putting the one before it back.
//!
//! The lock here is the directory itself, held by `flock`: a directory of programs is no place for a lock
//! file. At every moment the program's name leads to a whole file, the old one or the new.

use super::lock::acquire;
use super::replace::{OWNER_ONLY, Temporary, may_write, sweep_in};
use super::{Dir, DiskError, Kind, Result, TIMEOUT, io_error, os_error};
use rustix::fs::Stat;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A program of this size would be no vak.
const MAX_BYTES: u64 = 512 << 20;

/// The file of a program, its directory locked against other updates for as long as this lives.
#[derive(Debug)]
pub struct Executable {
    dir: Dir,
    name: OsString,
    // Held for its `flock`.
    _lock: File,
}

/// New bytes for a program, whole and runnable beside it, under a temporary name. Dropped, they are gone.
pub struct Staged<'a> {
    executable: &'a Executable,
    temporary: Temporary<'a>,
}

impl Executable {
    /// Locks the directory of the program at `path`, a regular file. Waits like [`super::lock`] does, and
    /// removes what a killed update left there.
    pub fn lock(path: &Path) -> Result<Executable> {
        let not_a_file = || DiskError::NotAFile {
            path: path.to_owned(),
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(not_a_file());
        };
        let dir = Dir::open(parent)?.ok_or_else(not_a_file)?;
        let lock: File = dir
            .as_fd()
            .try_clone_to_owned()
            .map_err(io_error("open", parent))?
            .into();
        acquire(&lock, parent, Instant::now(), TIMEOUT)?;
        let executable = Executable {
            dir,
            name: name.to_owned(),
            _lock: lock,
        };
        executable.stat(&executable.name)?;
        sweep_in(&executable.dir)?;
        Ok(executable)
    }

    /// The program's path.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    /// Where the program that was replaced is kept.
    pub fn previous_path(&self) -> PathBuf {
        self.dir.path().join(self.previous())
    }

    /// Writes new bytes beside the program, with its mode and owner, so that they can be tried out.
    pub fn stage(&self, bytes: &[u8]) -> Result<Staged<'_>> {
        may_write(&self.dir, &self.name, &self.path())?;
        let old = self.stat(&self.name)?;
        let mut temporary = Temporary::create(&self.dir, self.path(), OWNER_ONLY)?;
        temporary.fill(bytes, Some(&old))?;
        // A file that is open for writing can't be run.
        temporary.close_for_writing()?;
        Ok(Staged {
            executable: self,
            temporary,
        })
    }

    /// Puts the kept program back in place of the present one, which is gone then. `false` if none is kept.
    pub fn restore_previous(&self) -> Result<bool> {
        let previous = self.previous();
        if self.dir.kind(&previous)?.is_none() {
            return Ok(false);
        }
        self.stat(&previous)?;
        rustix::fs::renameat(&self.dir, &previous, &self.dir, &self.name)
            .map_err(os_error("replace", &self.path()))?;
        self.dir.sync()?;
        Ok(true)
    }

    fn previous(&self) -> OsString {
        let mut name = self.name.clone();
        name.push(".previous");
        name
    }

    fn stat(&self, name: &OsStr) -> Result<Stat> {
        let path = self.dir.path().join(name);
        match self.dir.stat(name)? {
            Some(stat) if matches!(Kind::of(&stat), Kind::File { .. }) => Ok(stat),
            _ => Err(DiskError::NotAFile { path }),
        }
    }

    /// Keeps a copy of the present program under the name of the previous one.
    fn keep_previous(&self) -> Result<()> {
        let old = self.stat(&self.name)?;
        let bytes = self.dir.read(&self.name, MAX_BYTES)?.unwrap_or_default();
        let copy = Temporary::create(&self.dir, self.previous_path(), OWNER_ONLY)?;
        copy.fill(&bytes, Some(&old))?;
        copy.rename_to(&self.previous())
    }
}

impl Staged<'_> {
    /// Where the bytes can be run from until they are in place.
    pub fn path(&self) -> PathBuf {
        self.temporary.path()
    }

    /// Keeps the present program as the previous one and puts these bytes in its place.
    pub fn put_in_place(self) -> Result<()> {
        let executable = self.executable;
        executable.keep_previous()?;
        self.temporary.rename_to(&executable.name)?;
        executable.dir.sync()
    }
}
