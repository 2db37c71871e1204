//! The directory that tools work in, and its border.
//!
//! A path a model gives is resolved from the directory's handle: neither `..`, nor an absolute path, nor a
//! link, even one put there while the call runs, leads out. Files change whole or not at all.

use super::{PermissionMode, ToolError, WorkspaceError};
use crate::disk::{self, DiskError};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::{Component, Path, PathBuf};

/// The largest file that is read or written at once.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The name of every directory that holds vak's own state, of this workspace or of another.
const OWN_STATE: &str = ".vak";

/// An open workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Absolute and free of links.
    root: PathBuf,
    dir: Dir,
    /// Where else vak's own state is, by any path that leads there.
    own_state: Vec<PathBuf>,
}

/// Whether a write made a file or changed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Created,
    Replaced,
}

/// Where vak's own state is: absolute and free of links.
pub(super) struct OwnState(Vec<PathBuf>);

impl OwnState {
    /// Whether an absolute path, free of links, is where it begins.
    pub(super) fn begins_at(&self, path: &Path) -> bool {
        path.file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case(OWN_STATE))
            || self.0.iter().any(|own| own == path)
    }
}

impl Workspace {
    /// Opens a directory as workspace. `own_state` is where vak's own state is, besides every `.vak`: files and
    /// directories, which need not exist yet.
    ///
    /// # Errors
    /// [`WorkspaceError`] if it can't be opened.
    pub fn open(root: &Path, own_state: Vec<PathBuf>) -> Result<Workspace, WorkspaceError> {
        let failed = |source| WorkspaceError {
            path: root.to_owned(),
            source,
        };
        let root = root.canonicalize().map_err(failed)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed)?;
        Ok(Workspace {
            root,
            dir,
            own_state,
        })
    }

    /// The directory: absolute and free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place of something that exists, relative to the root and free of links.
    pub(super) fn find(&self, said: &str) -> Result<PathBuf, ToolError> {
        self.real(&self.relative(said)?)
            .map_err(|error| at(said, "open", error))
    }

    /// Reads a regular file that is text, at a place that was found.
    pub(super) fn read_text(&self, said: &str, place: &Path) -> Result<String, ToolError> {
        let bytes = self.read(said, place)?;
        String::from_utf8(bytes).map_err(|_| ToolError::WrongType {
            path: said.to_owned(),
            wanted: "UTF-8 text",
        })
    }

    /// Opens what is at a place that was found; `None` if that is no regular file.
    pub(super) fn open_regular(&self, place: &Path) -> io::Result<Option<(File, Metadata)>> {
        // Opening a FIFO would wait for its writer; so it opens at once and is then refused.
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(nonblocking);
        let file = self.dir.open_with(place, &options)?.into_std();
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then_some((file, metadata)))
    }

    fn read(&self, said: &str, place: &Path) -> Result<Vec<u8>, ToolError> {
        let failed = |error| at(said, "read", error);
        let open = self.open_regular(place).map_err(failed)?;
        let (file, metadata) = open.ok_or_else(|| not_regular(said))?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(ToolError::FileTooLarge {
                path: said.to_owned(),
                bytes: metadata.len().max(bytes.len() as u64),
                limit: MAX_FILE_BYTES,
            });
        }
        Ok(bytes)
    }

    /// Makes `text` the whole content of a file, in one step; directories that are missing are made. A
    /// link is written through, a file keeps its mode.
    pub(super) fn write_text(
        &self,
        said: &str,
        text: &str,
        mode: PermissionMode,
    ) -> Result<Written, ToolError> {
        check_size(said, text.len() as u64)?;
        let place = self.target(said, mode)?;
        let existed = self.dir.symlink_metadata(&place).is_ok();
        self.replace(said, &place, text.as_bytes())?;
        Ok(if existed {
            Written::Replaced
        } else {
            Written::Created
        })
    }

    fn replace(&self, said: &str, place: &Path, bytes: &[u8]) -> Result<(), ToolError> {
        let failed = |error| at(said, "write", error);
        let name = place.file_name().ok_or_else(|| not_regular(said))?;
        let parent = place.parent().unwrap_or(Path::new(""));
        let dir = if parent == Path::new("") {
            self.dir.try_clone().map_err(failed)?
        } else {
            disk::create_dirs_in(&self.dir, parent).map_err(failed)?;
            self.dir.open_dir(parent).map_err(failed)?
        };
        let replaced = disk::replace_at(dir.as_fd(), &self.root.join(parent), name, bytes);
        replaced.map_err(|error| match error {
            DiskError::Io { source, .. } => failed(source),
            DiskError::NotAFile { .. } => not_regular(said),
            other => failed(io::Error::other(other)),
        })
    }

    /// Where a file is, or would be made, provided that the mode may change it: only `full-access` may change
    /// vak's own state.
    pub(super) fn target(&self, said: &str, mode: PermissionMode) -> Result<PathBuf, ToolError> {
        let place = self.place(said)?;
        if mode < PermissionMode::FullAccess && self.is_own_state(&place) {
            return Err(ToolError::OwnState {
                path: said.to_owned(),
            });
        }
        Ok(place)
    }

    fn place(&self, said: &str) -> Result<PathBuf, ToolError> {
        let relative = self.relative(said)?;
        for ancestor in relative.ancestors() {
            match self.real(ancestor) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(at(said, "open", error)),
                Ok(real) => {
                    let missing = relative.strip_prefix(ancestor).unwrap_or(Path::new(""));
                    return joined(real, missing).ok_or_else(|| ToolError::NotFound {
                        path: said.to_owned(),
                    });
                }
            }
        }
        Err(ToolError::NotFound {
            path: said.to_owned(),
        })
    }

    /// Whether a place, free of links, is vak's own state or below it.
    pub(super) fn is_own_state(&self, place: &Path) -> bool {
        let own_state = self.own_state();
        let full = self.root.join(place);
        full.ancestors().any(|above| own_state.begins_at(above))
    }

    /// Where vak's own state is by now: a link may have been put there since the session started.
    pub(super) fn own_state(&self) -> OwnState {
        OwnState(self.own_state.iter().map(|path| resolved(path)).collect())
    }

    /// The path from the root. An absolute one is read as it stands if it is below the root.
    fn relative(&self, said: &str) -> Result<PathBuf, ToolError> {
        let path = Path::new(said);
        if !path.is_absolute() {
            return Ok(path.to_owned());
        }
        path.strip_prefix(&self.root)
            .map(Path::to_owned)
            .map_err(|_| ToolError::OutsideWorkspace {
                path: said.to_owned(),
            })
    }

    /// A path without its links. An absolute link is followed if it leads back into the workspace; what is
    /// opened then is the place it leads to, again from the handle.
    fn real(&self, relative: &Path) -> io::Result<PathBuf> {
        let from_root = if relative == Path::new("") {
            Path::new(".")
        } else {
            relative
        };
        let real = match self.dir.canonicalize(from_root) {
            Err(error) if is_escape(&error) => {
                let real = self.root.join(relative).canonicalize()?;
                match real.strip_prefix(&self.root) {
                    Ok(inside) => inside.to_owned(),
                    Err(_) => return Err(error),
                }
            }
            other => other?,
        };
        Ok(real.strip_prefix(".").map(Path::to_owned).unwrap_or(real))
    }
}

/// Refuses a text that is too long to be written. Whoever makes one asks before making it.
pub(super) fn check_size(said: &str, bytes: u64) -> Result<(), ToolError> {
    if bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(ToolError::TextTooLarge {
        path: said.to_owned(),
        bytes,
        limit: MAX_FILE_BYTES,
    })
}

/// `base` with names that do not exist yet; `None` if they are not all plain names.
fn joined(base: PathBuf, missing: &Path) -> Option<PathBuf> {
    missing
        .components()
        .try_fold(base, |path, component| match component {
            Component::Normal(name) => Some(path.join(name)),
            _ => None,
        })
}

/// Where a path leads, whether or not there is anything yet.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let target = disk::follow_links(path).unwrap_or_else(|_| path.to_owned());
        match (target.parent().map(Path::canonicalize), target.file_name()) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            _ => target,
        }
    })
}

/// The handle's own word for a path that leads out; the system's refusals bear a number.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn not_regular(said: &str) -> ToolError {
    ToolError::WrongType {
        path: said.to_owned(),
        wanted: "a regular file",
    }
}

fn at(said: &str, action: &str, error: io::Error) -> ToolError {
    let path = said.to_owned();
    match error.kind() {
        _ if is_escape(&error) => ToolError::OutsideWorkspace { path },
        io::ErrorKind::NotFound => ToolError::NotFound { path },
        // A path with a NUL in it.
        io::ErrorKind::InvalidInput => ToolError::InvalidParameter {
            parameter: "path".to_owned(),
            problem: "it is not a path".to_owned(),
        },
        _ => ToolError::System {
            action: format!("{action} `{said}`"),
            source: error,
        },
    }
}
