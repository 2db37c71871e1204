//! What a package may be: files in directories, within limits, and nothing else. Everything about a
//! package that is not yet installed is hostile until a survey has seen all of it.

use super::{PluginError, Result};
use crate::disk::{Dir, DiskError, Kind};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The most files in a package, and the most directories.
pub const FILE_LIMIT: usize = 4096;
/// The most bytes in a package.
pub const BYTE_LIMIT: u64 = 64 << 20;
/// How many directories below a package's own may be nested in one another.
pub const DEPTH_LIMIT: usize = 16;

/// Why a directory is not an acceptable package. Paths are relative to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageFault {
    /// It has too many files, or too many directories.
    #[error("more than {FILE_LIMIT} {what} (the next is `{}`); a package may have {FILE_LIMIT}", path.display())]
    TooMany {
        /// `files` or `directories`.
        what: &'static str,
        /// The first one over the limit.
        path: PathBuf,
    },
    /// It is too large.
    #[error("`{}` brings it to {found} bytes; a package may have {BYTE_LIMIT}", path.display())]
    TooLarge {
        /// The file that goes over the limit.
        path: PathBuf,
        /// The bytes up to and with that file.
        found: u64,
    },
    /// A directory is nested too deep.
    #[error("the directory `{}` is {found} levels deep; a package may have {DEPTH_LIMIT}", path.display())]
    TooDeep {
        /// The directory.
        path: PathBuf,
        /// Its level.
        found: usize,
    },
    /// There is a symbolic link in it.
    #[error("`{}` is a symbolic link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file in it has another name elsewhere, through which it can be changed.
    #[error("`{}` is a hard link: it has another name somewhere", path.display())]
    HardLink {
        /// The file.
        path: PathBuf,
    },
    /// A FIFO, socket or device is in it.
    #[error("`{}` is a FIFO, a socket or a device", path.display())]
    Special {
        /// It.
        path: PathBuf,
    },
    /// A file's name could mean something else on another system.
    #[error("the file name {} {why}", shown.as_str())]
    FileName {
        /// The path, quoted.
        shown: String,
        /// What is wrong with the name.
        why: &'static str,
    },
    /// No manifest is in it that this program knows.
    #[error("it has no manifest (`vak-plugin.json`, an imported one, or `SKILL.md`) at its top")]
    NoManifest,
    /// Its manifest is too long.
    #[error("its manifest `{}` has {found} bytes; {limit} are read", path.display())]
    ManifestTooLarge {
        /// The manifest.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// Its manifest does not read as one.
    #[error("its manifest `{}` is not one: {why}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong in it.
        why: String,
    },
    /// A file of it went away while it was read.
    #[error("`{}` went away while it was read", path.display())]
    Vanished {
        /// The file.
        path: PathBuf,
    },
    /// It changed while it was read.
    #[error("it changed while it was copied: {before} became {after}")]
    Changed {
        /// The digest before.
        before: Digest,
        /// The digest after.
        after: Digest,
    },
}

/// SHA-256 over a package.
///
/// Hashed are, for each file in the order of its path's bytes: the length of the path in bytes as a 64-bit
/// little-endian number, the path relative to the package with `/` between its steps, the length of the
/// content likewise, the content. Modes, times and empty directories do not count.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Digest(String);

impl Digest {
    /// The digest of a package that is in memory: its files by path relative to it, in any order.
    pub fn of_files(files: &[(&Path, &[u8])]) -> Digest {
        let mut files: Vec<_> = files.iter().collect();
        files.sort_by_key(|(path, _)| path.as_os_str());
        let mut hasher = Sha256::new();
        for (path, bytes) in files {
            add_file(&mut hasher, path, bytes);
        }
        Digest(hex(&hasher.finalize()))
    }

    /// The digest in lower-case hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// A package whose every file was looked at and is acceptable.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) dir: Dir,
    /// Relative paths, in the digest's order.
    pub(super) files: Vec<PathBuf>,
    pub(super) digest: Digest,
}

/// Looks at everything in a package and reads every file, once, in the digest's order. Ends at the first
/// thing that breaks a rule; a file that is too large is not read.
pub(super) fn survey(dir: Dir) -> Result<Survey> {
    let mut walk = Walk {
        package: dir.path(),
        files: Vec::new(),
        directories: 0,
        bytes: 0,
        hasher: Sha256::new(),
        buffer: Vec::new(),
    };
    walk.enter(&dir, Path::new(""), 0)?;
    let (files, digest) = (walk.files, Digest(hex(&walk.hasher.finalize())));
    Ok(Survey { dir, files, digest })
}

struct Walk<'a> {
    package: &'a Path,
    files: Vec<PathBuf>,
    directories: usize,
    bytes: u64,
    hasher: Sha256,
    buffer: Vec<u8>,
}

impl Walk<'_> {
    fn enter(&mut self, dir: &Dir, at: &Path, depth: usize) -> Result<()> {
        // One by one: of too many, only the first few are looked at.
        for (name, is_directory) in dir.names_in_path_order()? {
            let path = at.join(&name);
            self.check_name(&path)?;
            if is_directory {
                self.count_directory(&path, depth + 1)?;
                match dir.child(&name) {
                    Ok(Some(child)) => self.enter(&child, &path, depth + 1)?,
                    Ok(None) => return self.refuse(PackageFault::Vanished { path }),
                    Err(DiskError::NotADirectory { .. }) => {
                        return self.refuse(PackageFault::Vanished { path });
                    }
                    Err(error) => return Err(error.into()),
                }
            } else {
                self.read(dir, &name, path)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, dir: &Dir, name: &OsStr, path: PathBuf) -> Result<()> {
        let (file, metadata) = match dir.open_regular(name) {
            Ok(Some(opened)) => opened,
            Ok(None) => return self.refuse(PackageFault::Vanished { path }),
            Err(DiskError::NotAFile { .. }) => {
                return match dir.kind(name)? {
                    Some(Kind::Link) => self.refuse(PackageFault::Link { path }),
                    Some(Kind::Special) => self.refuse(PackageFault::Special { path }),
                    _ => self.refuse(PackageFault::Vanished { path }),
                };
            }
            Err(error) => return Err(error.into()),
        };
        if metadata.nlink() > 1 {
            return self.refuse(PackageFault::HardLink { path });
        }
        if self.files.len() == FILE_LIMIT {
            let what = "files";
            return self.refuse(PackageFault::TooMany { what, path });
        }
        let found = self.bytes.saturating_add(metadata.len());
        if found > BYTE_LIMIT {
            return self.refuse(PackageFault::TooLarge { path, found });
        }
        read_whole(&file, metadata.len(), &mut self.buffer).map_err(|source| DiskError::Io {
            action: "read",
            path: dir.path().join(name),
            source,
        })?;
        self.bytes += length(&self.buffer);
        if self.bytes > BYTE_LIMIT {
            let found = self.bytes;
            return self.refuse(PackageFault::TooLarge { path, found });
        }
        add_file(&mut self.hasher, &path, &self.buffer);
        self.files.push(path);
        Ok(())
    }

    fn count_directory(&mut self, path: &Path, found: usize) -> Result<()> {
        self.directories += 1;
        let path = path.to_owned();
        if found > DEPTH_LIMIT {
            self.refuse(PackageFault::TooDeep { path, found })
        } else if self.directories > FILE_LIMIT {
            let what = "directories";
            self.refuse(PackageFault::TooMany { what, path })
        } else {
            Ok(())
        }
    }

    fn check_name(&self, path: &Path) -> Result<()> {
        let why = match path.to_str() {
            None => "is not UTF-8",
            Some(name) if name.contains('\\') => "has a backslash in it",
            Some(name) if name.contains(char::is_control) => "has a control character in it",
            Some(_) => return Ok(()),
        };
        let shown = format!("{path:?}");
        self.refuse(PackageFault::FileName { shown, why })
    }

    fn refuse<T>(&self, fault: PackageFault) -> Result<T> {
        Err(refused(self.package, fault))
    }
}

/// The error that says of a package what is wrong with it.
pub(super) fn refused(package: &Path, fault: PackageFault) -> PluginError {
    PluginError::Package {
        package: package.to_owned(),
        fault,
    }
}

fn add_file(hasher: &mut Sha256, path: &Path, bytes: &[u8]) {
    let path = path.as_os_str().as_encoded_bytes();
    hasher.update(length(path).to_le_bytes());
    hasher.update(path);
    hasher.update(length(bytes).to_le_bytes());
    hasher.update(bytes);
}

/// Reads a file that should have `size` bytes. One that has grown is read only as far as needed to be over
/// every limit.
fn read_whole(mut file: &File, size: u64, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let most = usize::try_from(BYTE_LIMIT).unwrap_or(usize::MAX) + 1;
    let mut filled = 0;
    // Room for one byte more than it should have: a read that leaves it free was the last one.
    buffer.resize(size + 1, 0);
    loop {
        let read = match file.read(&mut buffer[filled..]) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        filled += read;
        if read == 0 || filled == size || filled >= most {
            buffer.truncate(filled);
            return Ok(());
        }
        if filled == buffer.len() {
            buffer.resize(most.min(filled * 2), 0);
        }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Reads a file of a package, at most `limit` bytes.
pub(super) fn read_file(dir: &Dir, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let gone = || {
        refused(
            dir.path(),
            PackageFault::Vanished {
                path: path.to_owned(),
            },
        )
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(gone());
    };
    let parent = dir.descend(parent)?.ok_or_else(gone)?;
    parent.read(name, limit)?.ok_or_else(gone)
}

/// Bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
