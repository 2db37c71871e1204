//! Everything that changes the disk: this module holds every line of the program that does.
//!
//! It owns four operations, each durable before it returns: replacing a file's content, moving a directory,
//! copying files in, and deleting a tree. Each takes a [`LockGuard`], so a change without the lock does not
//! compile, and each refuses a path that the lock does not cover.
//!
//! What it promises:
//! - A file has its old bytes or its new ones, never a part of them, whatever kills the process. Readers
//!   take no lock and never wait.
//! - Below a root no link is followed. Directories are held open by handle, and every change is made
//!   relative to such a handle, so a directory that is swapped for a link between a check and the change
//!   leads nowhere. The one exception is [`replace`], whose target may be a link on purpose (a `config.toml`
//!   kept elsewhere): the link stays and the file it leads to is replaced.
//! - What a killed process leaves behind is recognisable: its temporary files start with [`STRAY_PREFIX`],
//!   and [`sweep`] removes those that no living process holds.
//!
//! It refuses to know what the files mean.

mod dir;
mod executable;
mod lock;
mod replace;
mod tree;

pub use dir::{Dir, Entry, Kind};
pub use executable::{Executable, ExecutableLock, InMemory, Staged};
pub use lock::{
    LOCK_FILE, LockGuard, LockState, TIMEOUT, lock, lock_all, lock_within, probe, probe_write,
    set_wait_hook,
};
pub use replace::{STRAY_PREFIX, check_replace, create_private, replace, replace_below, sweep};
#[cfg(feature = "agent")]
pub(crate) use replace::{follow_links, replace_at};
#[cfg(feature = "agent")]
pub use tree::create_dirs_in;
pub use tree::{copy_files, create_dirs, move_dir, remove_empty_dir, remove_file, remove_tree};

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A change to the disk, or a look at it, that failed. The files named are as they were before, unless the
/// variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The system refused.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process kept the lock for longer than the time-out.
    #[error(
        "another process still holds the lock `{}` after {} s\nhint: wait for the other `vak` to end, or end it; a lock never outlives its process",
        path.display(),
        waited.as_secs_f32()
    )]
    LockTimeout {
        /// The lock file.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// A writer was called with a guard that does not cover its target.
    #[error("`{}` is outside of what the lock covers", path.display())]
    NotCovered {
        /// The target.
        path: PathBuf,
    },
    /// A path below a root has an absolute part, `..`, or nothing in it.
    #[error("`{}` is not a plain relative path", path.display())]
    NotPlain {
        /// The path.
        path: PathBuf,
    },
    /// A link, or something else, stands where a directory is needed.
    #[error("`{}` is not a directory (a link to one does not count: none is followed here)", path.display())]
    NotADirectory {
        /// What stands there.
        path: PathBuf,
    },
    /// A link, a directory, a FIFO or a device stands where a file is needed; it was not opened.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// What stands there.
        path: PathBuf,
    },
    /// Too many links lead to one another.
    #[error("`{}` leads through too many links", path.display())]
    TooManyLinks {
        /// Where the chain starts.
        path: PathBuf,
    },
    /// The file is longer than its reader accepts.
    #[error("`{}` has {found} bytes; at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
        /// The file's length in bytes.
        found: u64,
    },
    /// The place to move to is taken.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The place.
        path: PathBuf,
    },
}

impl DiskError {
    /// What it is about.
    pub fn path(&self) -> &Path {
        match self {
            DiskError::Io { path, .. }
            | DiskError::LockTimeout { path, .. }
            | DiskError::NotCovered { path }
            | DiskError::NotPlain { path }
            | DiskError::NotADirectory { path }
            | DiskError::NotAFile { path }
            | DiskError::TooManyLinks { path }
            | DiskError::TooLarge { path, .. }
            | DiskError::Exists { path } => path,
        }
    }

    /// The system's kind of error, where the system refused.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            DiskError::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}

/// The result of this module's functions.
pub type Result<T> = std::result::Result<T, DiskError>;

/// Turns a system error into a [`DiskError`] that says what was attempted on what.
fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DiskError {
    let path = path.to_owned();
    move |source| DiskError::Io {
        action,
        path,
        source,
    }
}

/// As [`io_error`], for the calls that return rustix's error.
fn os_error(action: &'static str, path: &Path) -> impl FnOnce(rustix::io::Errno) -> DiskError {
    let wrap = io_error(action, path);
    move |errno| wrap(errno.into())
}

/// Reads a regular file, following links to it. `None` if there is none. A FIFO or device is not opened
/// for reading, and a file of more than `limit` bytes is refused.
pub fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => dir::read_open_file(fd.into(), path, limit).map(Some),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(errno) => Err(os_error("open", path)(errno)),
    }
}
