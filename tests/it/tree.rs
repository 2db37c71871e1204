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

    /// The regular files' bytes.
    pub(crate) fn files(&self) -> BTreeMap<&Path, &[u8]> {
        self.0
            .iter()
            .filter_map(|(path, entry)| match entry {
                Entry::File { bytes, .. } => Some((path.as_path(), bytes.as_slice())),
                _ => None,
            })
            .collect()
    }

    /// The tree with each path and each file's text put through `rewrite`.
    pub(crate) fn rewritten(self, rewrite: &dyn Fn(&str) -> String) -> Tree {
        let rewritten = |(path, entry): (PathBuf, Entry)| {
            let entry = match entry {
                Entry::File { mode, bytes } => Entry::File {
                    mode,
                    bytes: match String::from_utf8(bytes) {
                        Ok(text) => rewrite(&text).into_bytes(),
                        Err(error) => error.into_bytes(),
                    },
                },
                other => other,
            };
            (PathBuf::from(rewrite(&path.to_string_lossy())), entry)
        };
        Tree(self.0.into_iter().map(rewritten).collect())
    }

    /// What only this tree has and what only the other one has, a line each.
    pub(crate) fn differences(&self, other: &Tree) -> String {
        let only = |sign: char, of: &Tree, not_in: &Tree| {
            let is_only = |(path, entry): &(&PathBuf, &Entry)| not_in.0.get(*path) != Some(*entry);
            let lines = of.0.iter().filter(is_only).map(|(path, entry)| {
                let one = Tree(BTreeMap::from([(path.clone(), entry.clone())]));
                format!("{sign} {one:?}")
            });
            lines.collect::<String>()
        };
        only('-', self, other) + &only('+', other, self)
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
