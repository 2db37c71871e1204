//! Directories as a whole: created, copied into, moved, deleted, always below a root and through handles.

use super::replace::unlink;
use super::{Dir, DiskError, Kind, LockGuard, Result, dir, io_error, os_error};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Deeper than this, a directory is moved up before it is deleted, so that depth costs no open handles.
const MAX_OPEN: usize = 64;

/// Creates the directories of a path below a root that are missing.
pub fn create_dirs(guard: &LockGuard, root: &Path, relative: &Path) -> Result<()> {
    guard.check(root)?;
    ensure_dirs(&open_root(root)?, relative).map(drop)
}

/// Creates a directory of a workspace that a tool works in, with those above it. No link leads out of the
/// workspace: the handle sees to that. This is the user's own work, which no lock of vak's covers.
#[cfg(feature = "agent")]
pub fn create_dirs_in(workspace: &cap_std::fs::Dir, relative: &Path) -> std::io::Result<()> {
    workspace.create_dir_all(relative)
}

/// Copies files below one directory to the same places below another, which is created below the root if
/// it is missing. Permission bits come along, without set-user-ID and the like. Everything is durable when
/// it returns. A link, a special file or an existing target is refused; what was copied before the error
/// stays, so copy to a place of its own.
pub fn copy_files(
    guard: &LockGuard,
    source: &Dir,
    files: &[PathBuf],
    root: &Path,
    relative: &Path,
) -> Result<()> {
    guard.check(root)?;
    let target = ensure_dirs(&open_root(root)?, relative)?;
    for file in files {
        copy_file(source, &target, file)?;
    }
    sync_dirs(&target)
}

/// Moves a directory to another place below the same root, in one step. The place must be free, and what
/// leads to it is created. A link in the place of the directory is refused.
pub fn move_dir(guard: &LockGuard, root: &Path, from: &Path, to: &Path) -> Result<()> {
    guard.check(root)?;
    let root = open_root(root)?;
    let (to_parent, to_name) = dir::split(to)?;
    let to_dir = ensure_dirs(&root, to_parent)?;
    let missing = || {
        let gone = std::io::ErrorKind::NotFound.into();
        io_error("move", &root.path().join(from))(gone)
    };
    let (from_dir, from_name) = root.parent_of(from)?.ok_or_else(missing)?;
    match from_dir.kind(from_name)? {
        Some(Kind::Directory) => {}
        Some(_) => {
            return Err(DiskError::NotADirectory {
                path: from_dir.path().join(from_name),
            });
        }
        None => return Err(missing()),
    }
    rename_to_free(&from_dir, from_name, &to_dir, to_name)?;
    to_dir.sync()?;
    from_dir.sync()
}

/// Deletes what stands at a path below a root, a directory with all that is in it. A link is deleted, not
/// followed. Nothing there is no error.
pub fn remove_tree(guard: &LockGuard, root: &Path, relative: &Path) -> Result<()> {
    guard.check(root)?;
    let Some((parent, name)) = open_root(root)?.parent_of(relative)? else {
        return Ok(());
    };
    match parent.kind(name)? {
        None => return Ok(()),
        Some(Kind::Directory) => {
            let_owner_in(&parent, name);
            if let Some(top) = parent.child(name)? {
                empty(&top)?;
            }
            remove_dir(&parent, name)?;
        }
        Some(_) => unlink(&parent, name)?,
    }
    parent.sync()
}

/// Deletes a file, or a link, below a root. Nothing there is no error.
pub fn remove_file(guard: &LockGuard, root: &Path, relative: &Path) -> Result<()> {
    guard.check(root)?;
    match open_root(root)?.parent_of(relative)? {
        Some((parent, name)) if parent.kind(name)?.is_some() => {
            unlink(&parent, name)?;
            parent.sync()
        }
        _ => Ok(()),
    }
}

/// Deletes a directory below a root if it is empty. Says whether it is gone.
pub fn remove_empty_dir(guard: &LockGuard, root: &Path, relative: &Path) -> Result<bool> {
    guard.check(root)?;
    let Some((parent, name)) = open_root(root)?.parent_of(relative)? else {
        return Ok(true);
    };
    match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => parent.sync().map(|()| true),
        Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(os_error("remove", &parent.path().join(name))(errno)),
    }
}

/// Creates a root and what leads to it. Only a lock may: without one there is no root to write below.
pub(super) fn create_root(root: &Path) -> Result<()> {
    if root.is_dir() {
        return Ok(());
    }
    let mut existing = root;
    let mut missing = Vec::new();
    while let (Some(parent), Some(name), false) =
        (existing.parent(), existing.file_name(), existing.is_dir())
    {
        missing.push(name);
        existing = parent;
    }
    let start = open_root(existing)?;
    let relative: PathBuf = missing.into_iter().rev().collect();
    ensure_dirs(&start, &relative).map(drop)
}

pub(super) fn open_root(root: &Path) -> Result<Dir> {
    Dir::open(root)?.ok_or_else(|| io_error("open", root)(std::io::ErrorKind::NotFound.into()))
}

fn ensure_dirs(start: &Dir, relative: &Path) -> Result<Dir> {
    let mut dir = start.duplicate()?;
    for name in dir::plain_names(relative)? {
        dir = match dir.child(name)? {
            Some(child) => child,
            None => make_dir(&dir, name)?,
        };
    }
    Ok(dir)
}

fn make_dir(parent: &Dir, name: &OsStr) -> Result<Dir> {
    let path = parent.path().join(name);
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        // Another process that creates the same root is no conflict.
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(os_error("create", &path)(errno)),
    }
    parent.sync()?;
    parent
        .child(name)?
        .ok_or_else(|| io_error("create", &path)(std::io::ErrorKind::NotFound.into()))
}

fn copy_file(source: &Dir, target: &Dir, file: &Path) -> Result<()> {
    let (parent, name) = dir::split(file)?;
    let vanished = || {
        let gone = std::io::ErrorKind::NotFound.into();
        io_error("copy", &source.path().join(file))(gone)
    };
    let from = source
        .descend(parent)?
        .and_then(|dir| dir.open_file(name).transpose())
        .ok_or_else(vanished)??;
    let to = ensure_dirs(target, parent)?;
    write_copy(from, &source.path().join(file), &to, name)
}

fn write_copy(mut from: File, from_path: &Path, dir: &Dir, name: &OsStr) -> Result<()> {
    let path = dir.path().join(name);
    let stat = rustix::fs::fstat(&from).map_err(os_error("look at", from_path))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut to: File = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))
        .map_err(os_error("create", &path))?
        .into();
    std::io::copy(&mut from, &mut to).map_err(io_error("copy to", &path))?;
    let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
    rustix::fs::fchmod(&to, mode).map_err(os_error("set the mode of", &path))?;
    to.sync_all().map_err(io_error("sync", &path))
}

/// Makes the entries of a directory, and of all below it, durable.
fn sync_dirs(dir: &Dir) -> Result<()> {
    for entry in dir.entries()? {
        if entry.kind == Kind::Directory
            && let Some(child) = dir.child(&entry.name)?
        {
            sync_dirs(&child)?;
        }
    }
    dir.sync()
}

fn rename_to_free(from: &Dir, from_name: &OsStr, to: &Dir, to_name: &OsStr) -> Result<()> {
    let path = to.path().join(to_name);
    match rustix::fs::renameat_with(from, from_name, to, to_name, RenameFlags::NOREPLACE) {
        // A file system that cannot promise it: the lock keeps others of this program away.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if to.kind(to_name)?.is_none() => {
            rustix::fs::renameat(from, from_name, to, to_name)
        }
        Err(Errno::EXIST) => return Err(DiskError::Exists { path }),
        other => other,
    }
    .map_err(os_error("move to", &path))
}

/// Deletes everything in a directory.
fn empty(top: &Dir) -> Result<()> {
    let mut moved_up = 0_usize;
    loop {
        empty_to_depth(top, top, 0, &mut moved_up)?;
        if top.names()?.is_empty() {
            return Ok(());
        }
    }
}

fn empty_to_depth(top: &Dir, dir: &Dir, depth: usize, moved_up: &mut usize) -> Result<()> {
    for entry in dir.entries()? {
        if entry.kind != Kind::Directory {
            unlink(dir, &entry.name)?;
            continue;
        }
        if depth == MAX_OPEN {
            move_up(top, dir, &entry.name, moved_up)?;
            continue;
        }
        let_owner_in(dir, &entry.name);
        if let Some(child) = dir.child(&entry.name)? {
            empty_to_depth(top, &child, depth + 1, moved_up)?;
        }
        // A directory that still holds something that was moved up is empty by now.
        remove_dir(dir, &entry.name)?;
    }
    Ok(())
}

/// Moves a directory to a free name at the top of the tree that is being deleted.
fn move_up(top: &Dir, dir: &Dir, name: &OsStr, moved_up: &mut usize) -> Result<()> {
    loop {
        *moved_up += 1;
        let free = OsString::from(format!("{}{moved_up}", super::STRAY_PREFIX));
        match rename_to_free(dir, name, top, &free) {
            Err(DiskError::Exists { .. }) => {}
            other => return other,
        }
    }
}

/// Lets its owner into a directory whose mode forbids it; it would stay for ever.
fn let_owner_in(parent: &Dir, name: &OsStr) {
    let is_shut = |stat: &Stat| !Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU);
    if matches!(parent.stat(name), Ok(Some(stat)) if is_shut(&stat)) {
        // Where that fails, opening or emptying the directory says why.
        let _ = set_mode(parent, name, Mode::RWXU);
    }
}

/// Linux cannot change a mode by name without following a link, but it can through a handle that needs no
/// permission to get.
#[cfg(target_os = "linux")]
fn set_mode(parent: &Dir, name: &OsStr, mode: Mode) -> rustix::io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(parent: &Dir, name: &OsStr, mode: Mode) -> rustix::io::Result<()> {
    rustix::fs::chmodat(parent, name, mode, AtFlags::SYMLINK_NOFOLLOW)
}

fn remove_dir(parent: &Dir, name: &OsStr) -> Result<()> {
    match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(os_error("remove", &parent.path().join(name))(errno)),
    }
}
