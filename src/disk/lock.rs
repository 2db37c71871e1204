//! The lock that every change is made under: one file per root, held by `flock`, so that it ends with its
//! process however that ends. The file stays when the lock is gone; it means nothing by itself.

use super::{Dir, DiskError, Result, io_error, os_error, sweep};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The name of the lock file in its root.
pub const LOCK_FILE: &str = ".lock";

/// How long [`lock`] waits for another process.
pub const TIMEOUT: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(10);

static WAIT_HOOK: RwLock<fn(&Path)> = RwLock::new(|_| {});

/// Sets what is called, once per wait and with the lock file's path, when a lock is held by another
/// process. The library itself says nothing.
pub fn set_wait_hook(hook: fn(&Path)) {
    *WAIT_HOOK.write().unwrap_or_else(PoisonError::into_inner) = hook;
}

/// The right to change what lies below one or more roots, until it is dropped.
#[derive(Debug)]
pub struct LockGuard {
    roots: Vec<PathBuf>,
    // Held for their `flock`, which ends when they are closed.
    _files: Vec<File>,
}

impl LockGuard {
    /// The roots it covers, as absolute paths, in the order they were asked for.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Whether `path` is one of the roots or, as it is spelt, below one.
    pub fn covers(&self, path: &Path) -> bool {
        std::path::absolute(path)
            .is_ok_and(|path| self.roots.iter().any(|root| path.starts_with(root)))
    }

    pub(super) fn check(&self, path: &Path) -> Result<()> {
        if self.covers(path) {
            Ok(())
        } else {
            Err(DiskError::NotCovered {
                path: path.to_owned(),
            })
        }
    }
}

/// Takes the lock of a root, which is created if it is missing. Waits up to [`TIMEOUT`] for another process
/// (see [`set_wait_hook`]), then gives up with [`DiskError::LockTimeout`]. Not re-entrant: a thread that
/// takes it twice waits for itself.
pub fn lock(root: &Path) -> Result<LockGuard> {
    lock_within(&[root], TIMEOUT)
}

/// Takes the locks of several roots as one, always in the same order whatever the order they are given in,
/// so that two processes cannot wait for each other. A root that is given twice, by whatever path, is
/// locked once.
pub fn lock_all(roots: &[&Path]) -> Result<LockGuard> {
    lock_within(roots, TIMEOUT)
}

/// As [`lock_all`], with a time-out of the caller's own for the whole of it.
pub fn lock_within(roots: &[&Path], timeout: Duration) -> Result<LockGuard> {
    let mut paths = Vec::new();
    let mut files = Vec::new();
    for root in roots {
        let root = std::path::absolute(root).map_err(io_error("resolve", root))?;
        files.push(LockFile::open(&root)?);
        paths.push(root);
    }
    files.sort_by_key(|lock| lock.identity);
    files.dedup_by_key(|lock| lock.identity);
    let start = Instant::now();
    for lock in &files {
        acquire(&lock.file, &lock.path, start, timeout)?;
    }
    let guard = LockGuard {
        roots: paths,
        _files: files.into_iter().map(|lock| lock.file).collect(),
    };
    for root in &guard.roots {
        sweep(&guard, root)?;
    }
    Ok(guard)
}

/// Whether a lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockState {
    /// Nobody holds it, or there is no lock file yet.
    Free,
    /// A process holds it.
    Held,
}

/// Says whether a root's lock is taken, without taking it for longer than the look and without creating
/// anything.
pub fn probe(root: &Path) -> Result<LockState> {
    let path = root.join(LOCK_FILE);
    let Some(dir) = Dir::open(root)? else {
        return Ok(LockState::Free);
    };
    let Some(file) = dir.open_file(OsStr::new(LOCK_FILE))? else {
        return Ok(LockState::Free);
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(LockState::Free),
        Err(TryLockError::WouldBlock) => Ok(LockState::Held),
        Err(TryLockError::Error(source)) => Err(io_error("look at the lock", &path)(source)),
    }
}

/// Says whether this process may change what stands at a path: write a file, or what a directory holds.
/// Where nothing stands there, what would hold it counts.
pub fn probe_write(path: &Path) -> Result<()> {
    let existing = path.ancestors().find(|it| it.exists()).unwrap_or(path);
    let access = match existing.is_dir() {
        true => Access::WRITE_OK | Access::EXEC_OK,
        false => Access::WRITE_OK,
    };
    rustix::fs::accessat(CWD, existing, access, AtFlags::EACCESS)
        .map_err(os_error("write to", existing))
}

struct LockFile {
    file: File,
    path: PathBuf,
    /// Device and inode: the same for every path to it.
    identity: (u64, u64),
}

impl LockFile {
    fn open(root: &Path) -> Result<LockFile> {
        super::tree::create_root(root)?;
        let dir = Dir::open(root)?.ok_or_else(|| DiskError::NotADirectory {
            path: root.to_owned(),
        })?;
        let path = root.join(LOCK_FILE);
        let file = open_or_create(&dir, &path)?;
        let metadata = file.metadata().map_err(io_error("look at", &path))?;
        if !metadata.is_file() {
            return Err(DiskError::NotAFile { path });
        }
        use std::os::unix::fs::MetadataExt as _;
        Ok(LockFile {
            file,
            path,
            identity: (metadata.dev(), metadata.ino()),
        })
    }
}

/// Some file systems lock only what is open for writing. On others a file that another user left (one `sudo
/// vak` is enough) can be locked all the same.
fn open_or_create(dir: &Dir, path: &Path) -> Result<File> {
    let flags = OFlags::RDWR
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, LOCK_FILE, flags, Mode::from_raw_mode(0o666)) {
        Ok(fd) => Ok(fd.into()),
        Err(Errno::LOOP) => Err(DiskError::NotAFile {
            path: path.to_owned(),
        }),
        Err(errno) => match dir.open_file(OsStr::new(LOCK_FILE)) {
            Ok(Some(file)) if matches!(errno, Errno::ACCESS | Errno::ROFS) => Ok(file),
            _ => Err(os_error("open the lock", path)(errno)),
        },
    }
}

/// Takes the `flock` of an open file, waiting for whoever holds it. `path` is what it is called in messages.
pub(super) fn acquire(file: &File, path: &Path, start: Instant, timeout: Duration) -> Result<()> {
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => {
                return Err(io_error("take the lock", path)(source));
            }
        }
        if !told {
            told = true;
            let hook = *WAIT_HOOK.read().unwrap_or_else(PoisonError::into_inner);
            hook(path);
        }
        if start.elapsed() >= timeout {
            return Err(DiskError::LockTimeout {
                path: path.to_owned(),
                waited: timeout,
            });
        }
        std::thread::sleep(PAUSE);
    }
}
