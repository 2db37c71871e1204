//! What was asked for, and the trees below it: which directories are entered, which files are scanned, and
//! what becomes of links.

use super::content::{RegularFile, open_regular, special, type_of};
use super::directory::{self, DEPTH_LIMIT};
use super::report::{FileReport, SpecialFile, Unscanned, unreadable};
use super::role::{Place, Role, is_markdown};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
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

/// What a path that was asked for turned out to be.
#[derive(Debug)]
pub(crate) enum Start {
    /// A regular file, and the path to open.
    File(CString),
    Tree(Directory),
}

/// An open directory of a tree.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) handle: OwnedFd,
    root: Arc<Root>,
    /// Below the path of its root.
    shown: PathBuf,
    place: Place,
    depth: usize,
}

/// A directory that was asked for.
#[derive(Debug)]
struct Root {
    /// The path to show.
    shown: PathBuf,
    /// Absolute and free of links.
    real: PathBuf,
    handle: OwnedFd,
}

/// What a walk does with a name in a directory.
#[derive(Debug)]
pub(crate) enum Step {
    /// It is a directory to enter.
    Enter,
    /// It is a file to scan.
    Scan(Role),
    /// It is a link.
    Follow,
    /// It can't be scanned, and that is worth a word.
    Report(Unscanned),
}

impl Start {
    /// Looks at a path that was asked for. It is followed wherever it leads.
    pub(crate) fn find(path: &Path) -> Result<Start, Unscanned> {
        let open =
            CString::new(path.as_os_str().as_bytes()).map_err(|_| unreadable(Errno::INVAL))?;
        let stat = rustix::fs::stat(&open).map_err(unreadable)?;
        match special(FileType::from_raw_mode(stat.st_mode)) {
            None => Ok(Start::File(open)),
            Some(SpecialFile::Directory) => Directory::top(path).map(Start::Tree),
            Some(kind) => Err(Unscanned::Special { kind }),
        }
    }
}

impl Directory {
    fn top(path: &Path) -> Result<Directory, Unscanned> {
        let shown = without_dot(path);
        let root = Root {
            shown: shown.clone(),
            real: path.canonicalize().map_err(unreadable)?,
            handle: directory::open_root(path).map_err(unreadable)?,
        };
        Ok(Directory {
            handle: root.handle.try_clone().map_err(unreadable)?,
            root: Arc::new(root),
            shown,
            place: Place::Open,
            depth: 0,
        })
    }

    /// Opens a directory in this one.
    pub(crate) fn enter(&self, name: &CStr) -> Result<Directory, Unscanned> {
        if self.depth == DEPTH_LIMIT {
            return Err(Unscanned::TooDeep { limit: DEPTH_LIMIT });
        }
        Ok(Directory {
            handle: directory::open(self.handle.as_fd(), name).map_err(unreadable)?,
            root: Arc::clone(&self.root),
            shown: self.shown(name),
            place: self.place.enter(name.to_bytes()),
            depth: self.depth + 1,
        })
    }

    /// What to do with a name in this directory; `None` if nothing.
    pub(crate) fn step(&self, name: &CStr, file_type: FileType) -> Option<Step> {
        let role = self.place.role(name.to_bytes());
        match file_type {
            FileType::Directory => is_entered(name.to_bytes()).then_some(Step::Enter),
            FileType::Symlink => Some(Step::Follow),
            _ if !is_scanned(name.to_bytes(), role) => None,
            other => Some(match special(other) {
                None => Step::Scan(role),
                Some(kind) => Step::Report(Unscanned::Special { kind }),
            }),
        }
    }

    /// What a link in this directory adds to the walk: the role it gives a file, and the file.
    pub(crate) fn follow(&self, name: &CStr) -> Option<(Role, Result<RegularFile, Unscanned>)> {
        let role = self.place.role(name.to_bytes());
        let is_wanted = is_scanned(name.to_bytes(), role);
        match self.linked_file(name) {
            Ok(Some(file)) if is_wanted => Some((role, Ok(file))),
            Err(why) if is_wanted || leads_to_directory(&why) => Some((role, Err(why))),
            _ => None,
        }
    }

    /// The file a link leads to, if the walk does not meet it under its own name. Whatever else is inside
    /// is met on the way, so nothing is scanned twice for a link, and no cycle is entered.
    fn linked_file(&self, name: &CStr) -> Result<Option<RegularFile>, Unscanned> {
        let root = &self.root;
        let link = self.shown(name);
        let link = link.strip_prefix(&root.shown).unwrap_or(&link);
        let target = directory::follow(&root.real, link)?;
        let (parent, name) = directory::open_parent_beneath(&root.handle, &target)?;
        let file_type = type_of(parent.as_fd(), &name).map_err(unreadable)?;
        match special(file_type) {
            _ if is_met(&target, file_type) => Ok(None),
            None => open_regular(parent.as_fd(), &name).map(Some),
            Some(SpecialFile::Directory) => Err(Unscanned::LinkOutside {
                target: root.real.join(target),
                directory: true,
            }),
            Some(kind) => Err(Unscanned::Special { kind }),
        }
    }

    /// The path to show for a name in this directory.
    pub(crate) fn shown(&self, name: &CStr) -> PathBuf {
        self.shown.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// What is to be said of a name in this directory that could not be scanned.
    pub(crate) fn unscanned(&self, name: &CStr, why: Unscanned) -> FileReport {
        let role = self.place.role(name.to_bytes());
        FileReport::unscanned(self.shown(name), role, why)
    }

    /// What is to be said of the directory itself.
    pub(crate) fn unlisted(&self, why: Unscanned) -> FileReport {
        FileReport::unscanned(or_dot(self.shown.clone()), Role::Other, why)
    }
}

/// Whether a tree's files of this name are scanned.
fn is_scanned(name: &[u8], role: Role) -> bool {
    role != Role::Other || is_markdown(name)
}

/// Whether a tree's directories of this name are entered. All are, hidden ones too (skills live in
/// `.claude`), but for git's own.
fn is_entered(name: &[u8]) -> bool {
    name != b".git"
}

/// Whether the walk comes by what stands at this path of the tree.
fn is_met(inside: &Path, file_type: FileType) -> bool {
    let all_entered = |path: &Path| path.iter().all(|name| is_entered(name.as_bytes()));
    if file_type == FileType::Directory {
        return all_entered(inside);
    }
    let name = inside.file_name().map_or(b"".as_slice(), OsStr::as_bytes);
    inside.parent().is_none_or(all_entered) && is_scanned(name, Role::of(inside))
}

fn leads_to_directory(why: &Unscanned) -> bool {
    matches!(why, Unscanned::LinkOutside { directory, .. } if *directory)
}

/// The path without a `./` that adds nothing: `vak scan .` reports `skills/a/SKILL.md`.
pub(crate) fn without_dot(path: &Path) -> PathBuf {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .collect()
}

/// The path to show for a tree whose own path is empty.
pub(crate) fn or_dot(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}
