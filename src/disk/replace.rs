//! Replacing a file's content in one step.

use super::{Dir, DiskError, Kind, LockGuard, Result, io_error, os_error};
use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, RawMode, Stat, Uid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What the names of temporary files begin with. A process holds a `flock` on each of its own, so one that
/// nobody holds is a stray of a killed process.
pub const STRAY_PREFIX: &str = ".vak-tmp.";

/// The mode of what nobody else may read.
pub(super) const OWNER_ONLY: RawMode = 0o600;

/// As many links as Linux itself follows.
const MAX_LINKS: usize = 40;

/// Gives a file new content: the bytes are written and synced beside it, then renamed over it, then the
/// directory is synced. A link is followed to the file it leads to, which need not exist; the link stays.
/// Mode and owner stay, as far as this process may set them; a new file gets what the umask leaves of 0666.
///
/// A file that this process may not write is refused, though its directory would allow the rename. On every
/// error the old bytes are intact and no temporary file remains; only if the very last step (syncing the
/// directory) fails are the new bytes in place and perhaps not yet durable.
pub fn replace(guard: &LockGuard, path: &Path, bytes: &[u8]) -> Result<()> {
    guard.check(path)?;
    let (dir, name) = target_of(path)?;
    replace_in(&dir, &name, bytes)
}

/// Whether [`replace`] would be let: an error if the file, or the directory that it is in, may not be
/// written. Changes nothing.
pub fn check_replace(path: &Path) -> Result<()> {
    let (dir, name) = target_of(path)?;
    let path = dir.path().join(&name);
    check_target(&dir, &name, &path)?;
    let access = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(&dir, ".", access, AtFlags::EACCESS)
        .map_err(os_error("create a file beside", &path))
}

/// As [`replace`], for a file below a root, where no link is followed: not the file itself, and none on
/// the way to it.
pub fn replace_below(guard: &LockGuard, root: &Path, relative: &Path, bytes: &[u8]) -> Result<()> {
    guard.check(root)?;
    let dir = super::tree::open_root(root)?;
    match dir.parent_of(relative)? {
        Some((parent, name)) => replace_in(&parent, name, bytes),
        None => Err(io_error("open the directory of", &root.join(relative))(
            ErrorKind::NotFound.into(),
        )),
    }
}

/// As [`replace_below`], for a file in a directory that the caller holds open and that no lock covers: the
/// files of a workspace are not vak's own. `path` is what messages call the directory.
#[cfg(feature = "agent")]
pub(crate) fn replace_at(
    directory: std::os::fd::BorrowedFd<'_>,
    path: &Path,
    name: &OsStr,
    bytes: &[u8],
) -> Result<()> {
    let dir = Dir::held(directory, path)?;
    // Two writers would sweep away each other's temporary files, so they take turns. Where the file system
    // cannot lock a directory, they go on as they are.
    let handle = File::from(dir.handle()?);
    match super::lock::acquire(&handle, path, std::time::Instant::now(), super::TIMEOUT) {
        Ok(()) | Err(DiskError::Io { .. }) => replace_in(&dir, name, bytes),
        Err(error) => Err(error),
    }
}

/// Creates a file of a root that only its owner may read or write, whole and in one step. A name that is
/// taken is refused.
pub fn create_private(guard: &LockGuard, root: &Path, name: &OsStr, bytes: &[u8]) -> Result<()> {
    guard.check(root)?;
    let dir = super::tree::open_root(root)?;
    let path = root.join(name);
    if dir.kind(name)?.is_some() {
        return Err(DiskError::Exists { path });
    }
    let temporary = Temporary::create(&dir, path, OWNER_ONLY)?;
    temporary.fill(bytes, None)?;
    temporary.rename_to(name)?;
    dir.sync()
}

/// Removes the temporary files that killed processes left in a directory (not below it).
pub fn sweep(guard: &LockGuard, directory: &Path) -> Result<()> {
    guard.check(directory)?;
    match Dir::open(directory)? {
        Some(dir) => sweep_in(&dir),
        None => Ok(()),
    }
}

pub(super) fn sweep_in(dir: &Dir) -> Result<()> {
    for name in dir.names()? {
        if !name.as_encoded_bytes().starts_with(STRAY_PREFIX.as_bytes()) {
            continue;
        }
        let file = match dir.open_file(&name) {
            Ok(Some(file)) => file,
            // Nothing of vak's: it must not stop what vak is about to do.
            Ok(None) | Err(DiskError::NotAFile { .. }) => continue,
            Err(error) if error.io_kind() == Some(ErrorKind::PermissionDenied) => continue,
            Err(error) => return Err(error),
        };
        // Whoever still holds it will rename or remove it.
        if file.try_lock().is_ok() {
            unlink(dir, &name)?;
        }
    }
    Ok(())
}

pub(super) fn replace_in(dir: &Dir, name: &OsStr, bytes: &[u8]) -> Result<()> {
    let path = dir.path().join(name);
    let old = check_target(dir, name, &path)?;
    sweep_in(dir)?;
    // Until an old file's mode is known to be set, nobody else may read the bytes.
    let mode = if old.is_none() { 0o666 } else { OWNER_ONLY };
    let temporary = Temporary::create(dir, path, mode)?;
    temporary.fill(bytes, old.as_ref())?;
    temporary.rename_to(name)?;
    dir.sync()
}

/// What stands in the place of a file that is to be replaced, provided it may be.
fn check_target(dir: &Dir, name: &OsStr, path: &Path) -> Result<Option<Stat>> {
    let old = dir.stat(name)?;
    match old.as_ref().map(Kind::of) {
        None => {}
        Some(Kind::File { .. }) => may_write(dir, name, path)?,
        Some(_) => {
            return Err(DiskError::NotAFile {
                path: path.to_owned(),
            });
        }
    }
    Ok(old)
}

pub(super) fn may_write(dir: &Dir, name: &OsStr, path: &Path) -> Result<()> {
    rustix::fs::accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS)
        .map_err(os_error("write", path))
}

/// A file on its way to its name. Dropped before it got there, it is removed.
pub(super) struct Temporary<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    /// What it will be, for messages.
    target: PathBuf,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    pub(super) fn create(dir: &'a Dir, target: PathBuf, mode: RawMode) -> Result<Temporary<'a>> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!("{STRAY_PREFIX}{}.{serial}", std::process::id()));
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: File = rustix::fs::openat(dir, &name, flags, Mode::from_raw_mode(mode))
            .map_err(os_error("create a file beside", &target))?
            .into();
        let temporary = Temporary {
            dir,
            name,
            file,
            target,
            renamed: false,
        };
        // Only tells a sweep that the file is in use; nobody else can hold it yet.
        let _ = temporary.file.try_lock();
        Ok(temporary)
    }

    pub(super) fn fill(&self, bytes: &[u8], old: Option<&Stat>) -> Result<()> {
        let failed = || io_error("write", &self.target);
        (&self.file).write_all(bytes).map_err(failed())?;
        if let Some(old) = old {
            // Not ours to give away unless this is root; the mode still counts.
            let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            let _ = rustix::fs::fchown(&self.file, Some(owner.0), Some(owner.1));
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o7777))
                .map_err(os_error("keep the mode of", &self.target))?;
        }
        self.file.sync_all().map_err(io_error("sync", &self.target))
    }

    /// Where it is until it gets its name.
    pub(super) fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    /// Trades the open file for one that can only be read.
    pub(super) fn close_for_writing(&mut self) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.file = rustix::fs::openat(self.dir, &self.name, flags, Mode::empty())
            .map_err(os_error("open", &self.path()))?
            .into();
        Ok(())
    }

    pub(super) fn rename_to(mut self, name: &OsStr) -> Result<()> {
        rustix::fs::renameat(self.dir, &self.name, self.dir, name)
            .map_err(os_error("replace", &self.target))?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // The error that led here is the one to report; a later sweep tries again.
            let _ = unlink(self.dir, &self.name);
        }
    }
}

pub(super) fn unlink(dir: &Dir, name: &OsStr) -> Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(os_error("remove", &dir.path().join(name))(errno)),
    }
}

/// The directory and the name of the file that a path means.
fn target_of(path: &Path) -> Result<(Dir, OsString)> {
    let target = follow_links(path)?;
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(DiskError::NotAFile { path: target });
    };
    match Dir::open(parent)? {
        Some(dir) => Ok((dir, name.to_owned())),
        None => Err(io_error("open the directory of", &target)(
            ErrorKind::NotFound.into(),
        )),
    }
}

/// The file that a path means, with the links in its last step resolved, whether or not it exists.
pub(crate) fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut target = std::path::absolute(path).map_err(io_error("resolve", path))?;
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&target) {
            // A relative link starts from the directory that holds it; an absolute one replaces it all.
            Ok(next) => {
                target = target.parent().unwrap_or(Path::new("/")).join(next);
            }
            // Not a link, or nothing there yet.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(target);
            }
            Err(error) => return Err(io_error("resolve", &target)(error)),
        }
    }
    Err(DiskError::TooManyLinks {
        path: path.to_owned(),
    })
}
