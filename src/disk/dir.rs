//! Directories held open by handle, and what can be read through them without following a link.

use super::{DiskError, Result, io_error, os_error};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// An open directory. What it was when it was opened it stays, even if its path comes to mean another.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

/// What a directory entry is. A link is a link, whatever it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Its length in bytes.
        size: u64,
        /// Its permission bits.
        mode: RawMode,
        /// Whether it has more names than this one.
        hard_linked: bool,
    },
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name; bytes, not necessarily UTF-8.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

impl Dir {
    /// Opens a directory by path, following links: for a root, which may be one. `None` if there is none.
    pub fn open(path: &Path) -> Result<Option<Dir>> {
        found(
            rustix::fs::open(path, DIRECTORY, Mode::empty()),
            path.to_owned(),
        )
    }

    /// A directory that the caller holds open, perhaps by a handle that can't be read or synced; `path` is
    /// what messages call it.
    #[cfg(feature = "agent")]
    pub(super) fn held(directory: BorrowedFd<'_>, path: &Path) -> Result<Dir> {
        let fd = rustix::fs::openat(directory, ".", DIRECTORY, Mode::empty())
            .map_err(os_error("open", path))?;
        let path = path.to_owned();
        Ok(Dir { fd, path })
    }

    /// Another handle of the same opening: a lock that is taken with it lasts as long as either.
    pub(super) fn handle(&self) -> Result<OwnedFd> {
        self.fd.try_clone().map_err(io_error("hold", &self.path))
    }

    /// The path that it was opened by, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory of this one. `None` if there is none; an error if a link or a file stands there.
    pub fn child(&self, name: &OsStr) -> Result<Option<Dir>> {
        let path = self.path.join(name);
        found(
            rustix::fs::openat(&self.fd, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()),
            path,
        )
    }

    /// Opens a directory below this one, by way of directories alone. `None` if a step is missing; an error
    /// if a link or a file stands in the way.
    pub fn descend(&self, relative: &Path) -> Result<Option<Dir>> {
        let names = plain_names(relative)?;
        if names.len() > 1
            && let Some(dir) = self.descend_at_once(relative)
        {
            return Ok(Some(dir));
        }
        self.descend_by_steps(&names)
    }

    /// Opens it in one system call that refuses every link. Where there is no such call, and where it fails
    /// for whatever reason, going step by step tells what is wrong.
    #[cfg(target_os = "linux")]
    fn descend_at_once(&self, relative: &Path) -> Option<Dir> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let fd = rustix::fs::openat2(&self.fd, relative, DIRECTORY, Mode::empty(), resolve).ok()?;
        Some(Dir {
            fd,
            path: self.path.join(relative),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn descend_at_once(&self, _relative: &Path) -> Option<Dir> {
        None
    }

    fn descend_by_steps(&self, names: &[&OsStr]) -> Result<Option<Dir>> {
        let mut dir = self.duplicate()?;
        for name in names {
            match dir.child(name)? {
                Some(child) => dir = child,
                None => return Ok(None),
            }
        }
        Ok(Some(dir))
    }

    /// Opens the directory that holds the last step of `relative`, and says what the last step is.
    /// `None` if a step before it is missing.
    pub(super) fn parent_of<'a>(&self, relative: &'a Path) -> Result<Option<(Dir, &'a OsStr)>> {
        let (parent, name) = split(relative)?;
        Ok(self.descend(parent)?.map(|dir| (dir, name)))
    }

    /// What stands under a name, without following it; `None` if nothing does.
    pub fn kind(&self, name: &OsStr) -> Result<Option<Kind>> {
        Ok(self.stat(name)?.map(|stat| Kind::of(&stat)))
    }

    /// The entries, sorted by name.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for name in self.names()? {
            // An entry that went away meanwhile is no entry.
            if let Some(kind) = self.kind(&name)? {
                entries.push(Entry { name, kind });
            }
        }
        Ok(entries)
    }

    /// The entries' names, sorted.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let mut names: Vec<_> = self.listing()?.into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The entries' names and whether each is a directory, in the order of the paths below this one: a
    /// directory stands where its name with a `/` behind it would. Only a listing: what is no directory by
    /// it may be one by the time it is opened.
    pub fn names_in_path_order(&self) -> Result<Vec<(OsString, bool)>> {
        let mut names = Vec::new();
        for (name, file_type) in self.listing()? {
            let is_directory = match file_type {
                FileType::Directory => true,
                FileType::Unknown => self.kind(&name)? == Some(Kind::Directory),
                _ => false,
            };
            names.push((name, is_directory));
        }
        let slash = |is_directory: bool| if is_directory { &b"/"[..] } else { b"" };
        names.sort_unstable_by(|(a, a_is_directory), (b, b_is_directory)| {
            let a = a.as_bytes().iter().chain(slash(*a_is_directory));
            a.cmp(b.as_bytes().iter().chain(slash(*b_is_directory)))
        });
        Ok(names)
    }

    fn listing(&self) -> Result<Vec<(OsString, FileType)>> {
        let failed = || os_error("list", &self.path);
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push((name.to_owned(), entry.file_type()));
            }
        }
        Ok(names)
    }

    /// Opens a regular file of this directory for reading. `None` if there is none; a link or a special
    /// file is refused.
    pub fn open_file(&self, name: &OsStr) -> Result<Option<File>> {
        Ok(self.open_regular(name)?.map(|(file, _)| file))
    }

    /// As [`Dir::open_file`], with what the system says of the open file.
    pub fn open_regular(&self, name: &OsStr) -> Result<Option<(File, Metadata)>> {
        let path = self.path.join(name);
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => regular(fd.into(), &path).map(Some),
            Err(Errno::NOENT) => Ok(None),
            // A link, or a socket.
            Err(Errno::LOOP | Errno::NXIO) => Err(DiskError::NotAFile { path }),
            Err(errno) => Err(os_error("open", &path)(errno)),
        }
    }

    /// Reads a regular file of this directory. `None` if there is none. A link or a special file is
    /// refused, and so is a file of more than `limit` bytes.
    pub fn read(&self, name: &OsStr, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.open_file(name)? {
            Some(file) => read_open_file(file, &self.path.join(name), limit).map(Some),
            None => Ok(None),
        }
    }

    /// As [`Dir::read`], for a file below this directory, with directories alone on the way to it.
    pub fn read_below(&self, relative: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.parent_of(relative)? {
            Some((parent, name)) => parent.read(name, limit),
            None => Ok(None),
        }
    }

    pub(super) fn stat(&self, name: &OsStr) -> Result<Option<Stat>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(os_error("look at", &self.path.join(name))(errno)),
        }
    }

    pub(super) fn duplicate(&self) -> Result<Dir> {
        Ok(Dir {
            fd: self.fd.try_clone().map_err(io_error("open", &self.path))?,
            path: self.path.clone(),
        })
    }

    /// Makes what was done to this directory's entries durable.
    pub(super) fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.fd).map_err(os_error("sync", &self.path))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Kind {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Kind::Directory,
            FileType::RegularFile => Kind::File {
                size: u64::try_from(stat.st_size).unwrap_or(0),
                mode: stat.st_mode & 0o7777,
                hard_linked: stat.st_nlink > 1,
            },
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        }
    }
}

fn found(opened: rustix::io::Result<OwnedFd>, path: PathBuf) -> Result<Option<Dir>> {
    match opened {
        Ok(fd) => Ok(Some(Dir { fd, path })),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => Err(DiskError::NotADirectory { path }),
        Err(errno) => Err(os_error("open", &path)(errno)),
    }
}

fn regular(file: File, path: &Path) -> Result<(File, Metadata)> {
    let metadata = file.metadata().map_err(io_error("look at", path))?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(DiskError::NotAFile {
            path: path.to_owned(),
        })
    }
}

pub(super) fn read_open_file(file: File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let (file, metadata) = regular(file, path)?;
    let size = metadata.len();
    let too_large = |found| DiskError::TooLarge {
        path: path.to_owned(),
        limit,
        found,
    };
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may grow while it is read.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(io_error("read", path))?;
    match u64::try_from(bytes.len()) {
        Ok(read) if read <= limit => Ok(bytes),
        _ => Err(too_large(limit + 1)),
    }
}

/// The steps of a relative path, none of which is `..`, a root or a prefix.
pub(super) fn plain_names(relative: &Path) -> Result<Vec<&OsStr>> {
    relative
        .components()
        .map(|component| match component {
            Component::Normal(name) => Ok(name),
            _ => Err(DiskError::NotPlain {
                path: relative.to_owned(),
            }),
        })
        .collect()
}

/// A relative path's parent and last step.
pub(super) fn split(relative: &Path) -> Result<(&Path, &OsStr)> {
    plain_names(relative)?;
    match (relative.parent(), relative.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(DiskError::NotPlain {
            path: relative.to_owned(),
        }),
    }
}
