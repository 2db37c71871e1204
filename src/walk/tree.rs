//! What was asked for, as a sequence of jobs: paths in the order they were given, each tree in the order
//! of its paths. Directories are listed here; files are opened where they are scanned, by another thread.

use super::content::special;
use super::directory::{self, DEPTH_LIMIT, Entry};
use super::report::{FileReport, Unscanned, unreadable};
use super::role::{Place, Role, is_markdown};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Something to scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file of any name, or a directory: then its Markdown files and `hooks.json`, at any depth.
    Path(PathBuf),
    /// Standard input, and the path it goes by.
    Stdin(PathBuf),
}

/// One step of a walk.
#[derive(Debug)]
pub(crate) enum Job {
    /// A file in a tree.
    File {
        directory: Arc<Directory>,
        name: CString,
        role: Role,
    },
    /// A link in a tree.
    Link {
        directory: Arc<Directory>,
        name: CString,
    },
    /// A file that was asked for itself: the path to open, and the path to show.
    Named { open: CString, shown: PathBuf },
    /// Standard input, and the path it goes by.
    Stdin(PathBuf),
    /// Something in a tree that cannot be scanned.
    Skipped(FileReport),
    /// Something that was asked for itself and cannot be scanned.
    Failed(FileReport),
}

impl Job {
    /// Whether it is a file to read.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Job::File { .. } | Job::Named { .. } | Job::Stdin(_))
    }
}

/// An open directory of a tree.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) handle: OwnedFd,
    pub(crate) root: Arc<Root>,
    /// Below the path of its root.
    shown: PathBuf,
}

/// A directory that was asked for.
#[derive(Debug)]
pub(crate) struct Root {
    /// The path to show.
    shown: PathBuf,
    /// Absolute and free of links.
    pub(crate) real: PathBuf,
    pub(crate) handle: OwnedFd,
}

impl Directory {
    /// The path to show for a name in this directory.
    pub(crate) fn shown(&self, name: &CString) -> PathBuf {
        self.shown.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// The path of a name in this directory, relative to its tree.
    pub(crate) fn inside(&self, name: &CString) -> PathBuf {
        let shown = self.shown(name);
        match shown.strip_prefix(&self.root.shown) {
            Ok(inside) => inside.to_owned(),
            Err(_) => shown,
        }
    }
}

/// Whether a tree's files of this name are scanned.
pub(crate) fn is_scanned(name: &[u8], role: Role) -> bool {
    role != Role::Other || is_markdown(name)
}

/// Whether a tree's directories of this name are entered. All are, hidden ones too (skills live in
/// `.claude`), but for git's own.
pub(crate) fn is_entered(name: &[u8]) -> bool {
    name != b".git"
}

/// A walk through everything that was asked for. It holds a handle and a listing for each level it is in,
/// and nothing of what it has left.
pub(crate) struct Walk<'t> {
    targets: std::slice::Iter<'t, Target>,
    levels: Vec<Level>,
}

struct Level {
    directory: Arc<Directory>,
    place: Place,
    entries: std::vec::IntoIter<Entry>,
}

impl Iterator for Walk<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            let job = match self.levels.last_mut() {
                None => Some(self.targets.next()?).and_then(|target| self.begin(target)),
                Some(level) => match level.entries.next() {
                    Some(entry) => self.visit(entry),
                    None => {
                        self.levels.pop();
                        None
                    }
                },
            };
            if job.is_some() {
                return job;
            }
        }
    }
}

impl<'t> Walk<'t> {
    pub(crate) fn new(targets: &'t [Target]) -> Walk<'t> {
        Walk {
            targets: targets.iter(),
            levels: Vec::new(),
        }
    }

    fn begin(&mut self, target: &Target) -> Option<Job> {
        let path = match target {
            Target::Stdin(name) => return Some(Job::Stdin(name.clone())),
            Target::Path(path) => path,
        };
        let shown = without_dot(path);
        match self.begin_path(path, &shown) {
            Ok(job) => job,
            Err(why) => {
                let role = Role::of(&shown);
                Some(Job::Failed(FileReport::unscanned(or_dot(shown), role, why)))
            }
        }
    }

    /// A path that was asked for is followed wherever it leads.
    fn begin_path(&mut self, path: &Path, shown: &Path) -> Result<Option<Job>, Unscanned> {
        let open =
            CString::new(path.as_os_str().as_bytes()).map_err(|_| unreadable(Errno::INVAL))?;
        let stat = rustix::fs::stat(&open).map_err(unreadable)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.begin_tree(path, shown),
            other => match special(other) {
                Some(kind) => Err(Unscanned::Special { kind }),
                None => Ok(Some(Job::Named {
                    open,
                    shown: shown.to_owned(),
                })),
            },
        }
    }

    fn begin_tree(&mut self, path: &Path, shown: &Path) -> Result<Option<Job>, Unscanned> {
        let real = path.canonicalize().map_err(unreadable)?;
        let root = Root {
            handle: directory::open_root(path).map_err(unreadable)?,
            shown: shown.to_owned(),
            real,
        };
        let directory = Directory {
            handle: root.handle.try_clone().map_err(unreadable)?,
            root: Arc::new(root),
            shown: shown.to_owned(),
        };
        Ok(self.descend(directory, Place::Open).map(Job::Failed))
    }

    fn visit(&mut self, entry: Entry) -> Option<Job> {
        let level = self.levels.last()?;
        let role = level.place.role(entry.name.to_bytes());
        match entry.file_type {
            FileType::Directory if is_entered(entry.name.to_bytes()) => self.enter(&entry),
            FileType::Symlink => Some(Job::Link {
                directory: Arc::clone(&level.directory),
                name: entry.name,
            }),
            FileType::Directory => None,
            _ if !is_scanned(entry.name.to_bytes(), role) => None,
            other => Some(match special(other) {
                Some(kind) => Job::Skipped(FileReport::unscanned(
                    level.directory.shown(&entry.name),
                    role,
                    Unscanned::Special { kind },
                )),
                None => Job::File {
                    directory: Arc::clone(&level.directory),
                    name: entry.name,
                    role,
                },
            }),
        }
    }

    fn enter(&mut self, entry: &Entry) -> Option<Job> {
        let depth = self.levels.len();
        let level = self.levels.last()?;
        let shown = level.directory.shown(&entry.name);
        let opened = if depth > DEPTH_LIMIT {
            Err(Unscanned::TooDeep { limit: DEPTH_LIMIT })
        } else {
            directory::open(level.directory.handle.as_fd(), &entry.name).map_err(unreadable)
        };
        let place = level.place.enter(entry.name.to_bytes());
        let skipped = match opened {
            Ok(handle) => {
                let root = Arc::clone(&level.directory.root);
                let directory = Directory {
                    handle,
                    root,
                    shown,
                };
                self.descend(directory, place)
            }
            Err(why) => Some(FileReport::unscanned(shown, Role::Other, why)),
        };
        skipped.map(Job::Skipped)
    }

    /// Goes on in a directory. What of it could be listed is walked, and an error that ended the listing
    /// is reported.
    fn descend(&mut self, directory: Directory, place: Place) -> Option<FileReport> {
        let (entries, error) = directory::entries(&directory.handle);
        let shown = error.map(|error| (or_dot(directory.shown.clone()), unreadable(error)));
        self.levels.push(Level {
            directory: Arc::new(directory),
            place,
            entries: entries.into_iter(),
        });
        shown.map(|(shown, why)| FileReport::unscanned(shown, Role::Other, why))
    }
}

/// The path without a `./` that adds nothing: `vak scan .` reports `skills/a/SKILL.md`.
fn without_dot(path: &Path) -> PathBuf {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .collect()
}

/// The path to show for a tree whose own path is empty.
fn or_dot(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}
