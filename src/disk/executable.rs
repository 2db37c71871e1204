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
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A program of this size would be no vak.
const MAX_BYTES: u64 = 512 << 20;

/// The file of a program.
#[derive(Debug)]
pub struct Executable {
    dir: Dir,
    name: OsString,
}

/// The right to replace a program: its directory is locked against other updates until the [`Executable`] is
/// dropped, which holds it open.
#[derive(Debug)]
pub struct ExecutableLock<'a>(&'a Executable);

/// New bytes for a program, whole and runnable beside it, under a temporary name. Dropped, they are gone.
pub struct Staged<'a> {
    executable: &'a Executable,
    temporary: Temporary<'a>,
}

/// A program that is on no disk and can be run all the same, for as long as this lives.
pub struct InMemory(File);

impl Executable {
    /// The program at `path`, a regular file.
    pub fn open(path: &Path) -> Result<Executable> {
        let not_a_file = || DiskError::NotAFile {
            path: path.to_owned(),
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(not_a_file());
        };
        let executable = Executable {
            dir: Dir::open(parent)?.ok_or_else(not_a_file)?,
            name: name.to_owned(),
        };
        executable.stat(&executable.name)?;
        Ok(executable)
    }

    /// Locks the program's directory. Waits like [`super::lock`] does, and removes what a killed update left
    /// there.
    pub fn lock(&self) -> Result<ExecutableLock<'_>> {
        let directory = File::from(self.dir.handle()?);
        acquire(&directory, self.dir.path(), Instant::now(), TIMEOUT)?;
        sweep_in(&self.dir)?;
        Ok(ExecutableLock(self))
    }

    /// The program's path.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    /// Where the program that was replaced is kept.
    pub fn previous_path(&self) -> PathBuf {
        self.dir.path().join(self.previous())
    }

    /// Whether the program is these bytes.
    pub fn is(&self, bytes: &[u8]) -> Result<bool> {
        Ok(self.read()? == bytes)
    }

    /// The error for a program that this process may not replace.
    pub fn check_replaceable(&self) -> Result<()> {
        may_write(&self.dir, &self.name, &self.path())?;
        may_write(&self.dir, OsStr::new("."), self.dir.path())
    }

    fn read(&self) -> Result<Vec<u8>> {
        let bytes = self.dir.read(&self.name, MAX_BYTES)?;
        bytes.ok_or_else(|| DiskError::NotAFile { path: self.path() })
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
}

impl ExecutableLock<'_> {
    /// Writes new bytes beside the program, with its mode and owner, so that they can be tried out.
    pub fn stage(&self, bytes: &[u8]) -> Result<Staged<'_>> {
        let executable = self.0;
        let old = executable.stat(&executable.name)?;
        let mut temporary = Temporary::create(&executable.dir, executable.path(), OWNER_ONLY)?;
        temporary.fill(bytes, Some(&old))?;
        // A file that is open for writing can't be run.
        temporary.close_for_writing()?;
        Ok(Staged {
            executable,
            temporary,
        })
    }

    /// Puts the kept program back in place of the present one, which is gone then.
    pub fn restore_previous(&self) -> Result<()> {
        let Executable { dir, name } = self.0;
        let previous = self.0.previous();
        self.0.stat(&previous)?;
        rustix::fs::renameat(dir, &previous, dir, name)
            .map_err(os_error("replace", &self.0.path()))?;
        dir.sync()
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
        let old = executable.stat(&executable.name)?;
        let copy = Temporary::create(&executable.dir, executable.previous_path(), OWNER_ONLY)?;
        copy.fill(&executable.read()?, Some(&old))?;
        copy.rename_to(&executable.previous())?;
        self.temporary.rename_to(&executable.name)?;
        executable.dir.sync()
    }
}

impl InMemory {
    /// Holds the bytes of the program at `path`.
    pub fn hold(bytes: &[u8], path: &Path) -> Result<InMemory> {
        let held = create_in_memory().and_then(|mut file| {
            file.write_all(bytes)?;
            Ok(InMemory(file))
        });
        held.map_err(io_error("hold in memory", path))
    }

    /// Where it can be run from while this process lives.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }
}

#[cfg(target_os = "linux")]
fn create_in_memory() -> std::io::Result<File> {
    use rustix::fs::MemfdFlags;
    Ok(rustix::fs::memfd_create("vak", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn create_in_memory() -> std::io::Result<File> {
    Err(std::io::ErrorKind::Unsupported.into())
}
