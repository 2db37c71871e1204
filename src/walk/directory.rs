//! Directories by handle: opening one without following a link, listing it in order, and finding out
//! where a link in it leads.

use super::content::type_of;
use super::report::{Unscanned, unreadable};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// How many levels below its root a walk enters.
pub(crate) const DEPTH_LIMIT: usize = 128;

/// A name in a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: CString,
    pub(crate) file_type: FileType,
}

impl Entry {
    pub(crate) fn os_name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }
}

/// Opens a directory by its name in another one; a link is not followed.
pub(crate) fn open(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(parent, name, flags() | OFlags::NOFOLLOW, Mode::empty())
}

/// Opens the directory that a walk starts at.
pub(crate) fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, flags(), Mode::empty())
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// The entries of a directory, sorted by the bytes of their names, and the error that ended the listing
/// early, if one did.
pub(crate) fn entries(directory: &OwnedFd) -> (Vec<Entry>, Option<Errno>) {
    let mut entries = Vec::new();
    let result = list_into(directory, &mut entries);
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    (entries, result.err())
}

fn list_into(directory: &OwnedFd, entries: &mut Vec<Entry>) -> Result<(), Errno> {
    for entry in Dir::new(rustix::io::fcntl_dupfd_cloexec(directory, 0)?)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems tell the type only when asked for it; what vanished meanwhile is not there.
            FileType::Unknown => match type_of(directory.as_fd(), name) {
                Err(Errno::NOENT) => continue,
                other => other?,
            },
            known => known,
        };
        entries.push(Entry {
            name: name.to_owned(),
            file_type,
        });
    }
    Ok(())
}

/// Where a link leads, relative to `root`, if that is inside it. `root` is absolute and free of links.
pub(crate) fn follow(root: &Path, link: &Path) -> Result<PathBuf, Unscanned> {
    let target = match root.join(link).canonicalize() {
        Ok(target) => target,
        Err(error)
            if error.kind() == ErrorKind::NotFound
                || error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) =>
        {
            return Err(Unscanned::BrokenLink);
        }
        Err(error) => return Err(unreadable(error)),
    };
    match target.strip_prefix(root) {
        Ok(inside) => Ok(inside.to_owned()),
        Err(_) => Err(Unscanned::LinkOutside {
            directory: target.is_dir(),
            target,
        }),
    }
}

/// Opens the directory that holds what a path below `root` names, and tells the name in it. No step of
/// the way follows a link, so a directory swapped for one meanwhile leads nowhere. The root itself is
/// `.` in the root.
pub(crate) fn open_parent_beneath(
    root: &OwnedFd,
    path: &Path,
) -> Result<(OwnedFd, CString), Unscanned> {
    let mut directory = root.try_clone().map_err(unreadable)?;
    let mut name = c".".to_owned();
    for component in path.components() {
        let Component::Normal(next) = component else {
            continue;
        };
        directory = open(directory.as_fd(), &name).map_err(unreadable)?;
        name = CString::new(next.as_bytes()).map_err(|_| unreadable(Errno::INVAL))?;
    }
    Ok((directory, name))
}
