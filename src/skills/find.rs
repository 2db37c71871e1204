//! Looks for skills below a directory.
//!
//! A skill is a directory with a `SKILL.md`. A link is followed unless it leads out of a border or to what
//! has been looked through already.

use super::diagnostic::{SkillDiagnostic, SkillFault};
use super::validate::FILE_NAME;
use crate::walk::Role;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many directories below its root a skill may be.
const MAX_DEPTH: usize = 16;

/// What was found: files to be judged, and what there is to say of the rest.
#[derive(Debug, Default)]
pub(super) struct Finds {
    pub(super) files: Vec<PathBuf>,
    pub(super) diagnostics: Vec<SkillDiagnostic>,
}

/// What kind of directory is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A `skills` directory: each directory in it ought to be, or to hold, a skill.
    SkillsRoot,
    /// A plugin's package, which may be a skill itself and holds other things too.
    Package,
}

/// Every skill's file below `root`, in a stable order; a root that does not exist has none. `border` is an
/// absolute path without links.
pub(super) fn find(root: &Path, kind: Kind, border: Option<&Path>) -> Finds {
    let mut search = Search {
        root,
        kind,
        border,
        visited: HashSet::new(),
        finds: Finds::default(),
    };
    match fs::metadata(root) {
        Ok(metadata) => {
            search.enter(root, &metadata, 0);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if root.is_symlink() {
                search.say(root, SkillFault::BrokenLink);
            }
        }
        Err(error) => search.unreadable(root, &error),
    }
    search.finds
}

struct Search<'a> {
    root: &'a Path,
    kind: Kind,
    border: Option<&'a Path>,
    /// The directories looked through so far, by device and number: this is what ends a cycle.
    visited: HashSet<(u64, u64)>,
    finds: Finds,
}

struct Entry {
    path: PathBuf,
    file_type: FileType,
}

impl Search<'_> {
    /// Looks through a directory and says whether there is a skill in it, or below it.
    fn enter(&mut self, directory: &Path, metadata: &Metadata, depth: usize) -> bool {
        if let Some(target) = self.outside(directory) {
            self.say(directory, SkillFault::LinkOutside { target });
            return false;
        }
        if depth > MAX_DEPTH {
            self.say(directory, SkillFault::TooDeep { limit: MAX_DEPTH });
            return false;
        }
        if !self.visited.insert((metadata.dev(), metadata.ino())) {
            self.say(directory, SkillFault::SeenAlready);
            return true;
        }
        let Some(entries) = self.entries(directory) else {
            return false;
        };
        let (skill_files, others): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .partition(|entry| self.is_skill_file(&entry.path));
        let is_skill = self.take(skill_files, depth);
        let mut found = is_skill;
        for entry in others {
            if is_skill {
                self.inside(&entry, depth + 1);
            } else {
                found |= self.below(&entry, depth + 1);
            }
        }
        found
    }

    /// Takes the file that makes a directory a skill, and says whether there is one.
    fn take(&mut self, mut skill_files: Vec<Entry>, depth: usize) -> bool {
        // The right spelling comes before any other.
        skill_files.sort_by_key(|entry| !entry.path.ends_with(FILE_NAME));
        let mut skill_files = skill_files.into_iter().map(|entry| entry.path);
        let Some(file) = skill_files.next() else {
            return false;
        };
        for other in skill_files {
            self.say(&other, SkillFault::BesideAnother);
        }
        if self.kind == Kind::SkillsRoot && depth == 0 {
            self.say(&file, SkillFault::NoDirectory);
            return false;
        }
        match self.outside(&file) {
            Some(target) => self.say(&file, SkillFault::LinkOutside { target }),
            None => self.finds.files.push(file),
        }
        true
    }

    /// Looks into what may be a directory.
    fn below(&mut self, entry: &Entry, depth: usize) -> bool {
        if entry.file_type.is_file() {
            return false;
        }
        let path = &entry.path;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let found = self.enter(path, &metadata, depth);
                let is_expected = self.kind == Kind::SkillsRoot && depth == 1;
                if !found && is_expected && !self.has_said(path) {
                    self.say(path, SkillFault::NoSkillFile);
                }
                return found;
            }
            Ok(_) => {}
            Err(_) if entry.file_type.is_symlink() => self.say(path, SkillFault::BrokenLink),
            Err(error) => self.unreadable(path, &error),
        }
        false
    }

    /// Looks into a directory inside a skill. A skill may keep whatever it likes beside its text; only what
    /// looks like another skill is told, because it is not offered.
    fn inside(&mut self, entry: &Entry, depth: usize) {
        if !entry.file_type.is_dir() || depth > MAX_DEPTH {
            return;
        }
        for entry in self.entries(&entry.path).unwrap_or_default() {
            if self.is_skill_file(&entry.path) {
                self.say(&entry.path, SkillFault::InsideAnother);
            } else {
                self.inside(&entry, depth + 1);
            }
        }
    }

    /// What is in a directory, sorted, without what version control and editors keep there.
    fn entries(&mut self, directory: &Path) -> Option<Vec<Entry>> {
        match entries(directory) {
            Ok(entries) => Some(entries),
            Err(error) => {
                self.unreadable(directory, &error);
                None
            }
        }
    }

    /// A command or an agent of a package may be called `skill.md`.
    fn is_skill_file(&self, path: &Path) -> bool {
        match self.kind {
            Kind::SkillsRoot => path
                .file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case(FILE_NAME)),
            Kind::Package => Role::of(path.strip_prefix(self.root).unwrap_or(path)) == Role::Skill,
        }
    }

    /// Where a path leads, if that is outside of the border.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        let border = self.border?;
        if !path.is_symlink() {
            return None;
        }
        let target = path.canonicalize().ok()?;
        (!target.starts_with(border)).then_some(target)
    }

    fn has_said(&self, path: &Path) -> bool {
        let mut said = self.finds.diagnostics.iter();
        said.any(|diagnostic| diagnostic.path.starts_with(path))
    }

    fn say(&mut self, path: &Path, fault: SkillFault) {
        self.finds.diagnostics.push(SkillDiagnostic {
            path: path.to_owned(),
            line: None,
            fault,
        });
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        let error = error.to_string();
        self.say(path, SkillFault::Unreadable { error });
    }
}

fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name: OsString = entry.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            entries.push(Entry {
                path: directory.join(name),
                file_type: entry.file_type()?,
            });
        }
    }
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}
