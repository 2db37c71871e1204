//! A directory tree as a value: what stands where, with which mode and which bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Every entry below a directory, by relative path. Two trees are equal if nothing differs but times.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Clone, PartialEq, Eq)]
enum Entry {
    Directory { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link { target: PathBuf },
    Special { kind: &'static str },
}

impl Tree {
    /// Reads a tree; one that does not exist is empty.
    pub(crate) fn read(root: &Path) -> Tree {
        let mut entries = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            let Ok(listing) = fs::read_dir(&directory) else {
                continue;
            };
            for item in listing {
                let path = item.unwrap().path();
                let entry = Entry::read(&path);
                if matches!(entry, Entry::Directory { .. }) {
                    open.push(path.clone());
                }
                entries.insert(path.strip_prefix(root).unwrap().to_owned(), entry);
            }
        }
        Tree(entries)
    }

    /// The tree without the entries at or below these relative paths.
    pub(crate) fn without(mut self, paths: &[&str]) -> Tree {
        self.0
            .retain(|path, _| !paths.iter().any(|cut| path.starts_with(cut)));
        self
    }

    /// The relative paths, in order.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        self.0.keys().map(PathBuf::as_path).collect()
    }
}

impl Entry {
    fn read(path: &Path) -> Entry {
        let metadata = fs::symlink_metadata(path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Entry::Link {
                target: fs::read_link(path).unwrap(),
            }
        } else if kind.is_dir() {
            Entry::Directory { mode }
        } else if kind.is_file() {
            Entry::File {
                mode,
                bytes: fs::read(path).unwrap(),
            }
        } else if kind.is_fifo() {
            Entry::Special { kind: "fifo" }
        } else {
            Entry::Special { kind: "other" }
        }
    }
}

/// One line an entry, so that a failed comparison reads like a diff.
impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, entry) in &self.0 {
            let path = String::from_utf8_lossy(path.as_os_str().as_bytes());
            match entry {
                Entry::Directory { mode } => writeln!(f, "{mode:04o} {path}/")?,
                Entry::File { mode, bytes } => {
                    writeln!(f, "{mode:04o} {path} {:?}", String::from_utf8_lossy(bytes))?;
                }
                Entry::Link { target } => writeln!(f, "link {path} -> {}", target.display())?,
                Entry::Special { kind } => writeln!(f, "{kind} {path}")?,
            }
        }
        Ok(())
    }
}
