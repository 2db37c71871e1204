//! Looks for skills below a directory.
//!
//! A skill is a directory with a `SKILL.md`. A link is followed unless it leads out of a border or to what
//! has been looked through already; links come last, so that a directory counts under its own path.

use super::diagnostic::{SkillDiagnostic, SkillFault};
use super::validate::FILE_NAME;
use crate::walk::Role;
use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
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
        links: VecDeque::new(),
        unoffered: Vec::new(),
        expected: Vec::new(),
        told: HashSet::new(),
        finds: Finds::default(),
    };
    match fs::metadata(root) {
        Ok(metadata) => search.all(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if root.is_symlink() {
                search.say(root, SkillFault::BrokenLink);
            }
        }
        Err(error) => search.unreadable(root, &error),
    }
    let mut finds = search.finds;
    finds.files.sort_unstable();
    finds.diagnostics.sort_by(|a, b| a.path.cmp(&b.path));
    finds
}

/// Where a path leads, if that is outside of the border.
pub(super) fn outside(path: &Path, border: Option<&Path>) -> Option<PathBuf> {
    let target = path.canonicalize().ok()?;
    (!target.starts_with(border?)).then_some(target)
}

struct Search<'a> {
    root: &'a Path,
    kind: Kind,
    border: Option<&'a Path>,
    /// The directories looked through so far, by device and number: this is what ends a cycle.
    visited: HashSet<(u64, u64)>,
    /// The links that are still to be followed, with their depths.
    links: VecDeque<(PathBuf, usize)>,
    /// What may hold skills that are not offered, with its depth and the reason.
    unoffered: Vec<(Entry, usize, SkillFault)>,
    /// The directories that ought to be, or to hold, a skill.
    expected: Vec<PathBuf>,
    /// The root's entries in which there was a skill, or something to say.
    told: HashSet<OsString>,
    finds: Finds,
}

struct Entry {
    path: PathBuf,
    file_type: FileType,
}

impl Entry {
    fn is_hidden(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b".")
    }
}

impl Search<'_> {
    fn all(&mut self, metadata: &Metadata) {
        // A step before the root's own may be a link, too.
        if let Some(target) = outside(self.root, self.border) {
            self.say(self.root, SkillFault::LinkOutside { target });
            return;
        }
        self.enter(self.root, metadata, 0);
        while let Some((link, depth)) = self.links.pop_front() {
            self.follow(&link, depth);
        }
        for (entry, depth, fault) in std::mem::take(&mut self.unoffered) {
            self.unoffered(&entry, depth, &fault);
        }
        for directory in std::mem::take(&mut self.expected) {
            if !self.told.contains(&self.top(&directory)) {
                self.say(&directory, SkillFault::NoSkillFile);
            }
        }
    }

    /// Looks through a directory.
    fn enter(&mut self, directory: &Path, metadata: &Metadata, depth: usize) {
        if let Some(target) = self.outside(directory) {
            self.say(directory, SkillFault::LinkOutside { target });
            return;
        }
        if depth > MAX_DEPTH {
            self.say(directory, SkillFault::TooDeep { limit: MAX_DEPTH });
            return;
        }
        if !self.visited.insert((metadata.dev(), metadata.ino())) {
            self.say(directory, SkillFault::SeenAlready);
            return;
        }
        let Some(entries) = self.entries(directory) else {
            return;
        };
        let (skill_files, others): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .partition(|entry| self.is_skill_file(&entry.path));
        let is_skill = self.take(skill_files, depth);
        for entry in others {
            if is_skill {
                let fault = SkillFault::InsideAnother;
                self.unoffered.push((entry, depth + 1, fault));
            } else if entry.is_hidden() {
                self.unoffered.push((entry, depth + 1, SkillFault::Hidden));
            } else {
                self.below(entry, depth + 1);
            }
        }
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
            None => {
                self.told.insert(self.top(&file));
                self.finds.files.push(file);
            }
        }
        true
    }

    /// Looks into what may be a directory; into a link later.
    fn below(&mut self, entry: Entry, depth: usize) {
        if entry.file_type.is_symlink() {
            self.links.push_back((entry.path, depth));
        } else if !entry.file_type.is_file() {
            self.follow(&entry.path, depth);
        }
    }

    fn follow(&mut self, path: &Path, depth: usize) {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                if self.kind == Kind::SkillsRoot && depth == 1 {
                    self.expected.push(path.to_owned());
                }
                self.enter(path, &metadata, depth);
            }
            Ok(_) => {}
            Err(_) if path.is_symlink() => self.say(path, SkillFault::BrokenLink),
            Err(error) => self.unreadable(path, &error),
        }
    }

    /// Looks into a directory whose skills are not offered, unless a link led there. A skill, and whoever hides
    /// a directory, may keep whatever they like there; only what looks like a skill is told.
    fn unoffered(&mut self, entry: &Entry, depth: usize, fault: &SkillFault) {
        if !entry.file_type.is_dir() || depth > MAX_DEPTH || entry.path.ends_with(".git") {
            return;
        }
        let was_visited = |seen: Metadata| self.visited.contains(&(seen.dev(), seen.ino()));
        if fs::symlink_metadata(&entry.path).is_ok_and(was_visited) {
            return;
        }
        for entry in self.entries(&entry.path).unwrap_or_default() {
            if self.is_skill_file(&entry.path) {
                self.say(&entry.path, fault.clone());
            } else {
                self.unoffered(&entry, depth + 1, fault);
            }
        }
    }

    /// What is in a directory, sorted.
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

    /// Where a link leads, if that is outside of the border. What is no link is where its directory is.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        path.is_symlink().then(|| outside(path, self.border))?
    }

    /// The root's entry that a path is below of.
    fn top(&self, path: &Path) -> OsString {
        let inside = path.strip_prefix(self.root).unwrap_or(path);
        inside
            .iter()
            .next()
            .map(OsStr::to_owned)
            .unwrap_or_default()
    }

    fn say(&mut self, path: &Path, fault: SkillFault) {
        self.told.insert(self.top(path));
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
        entries.push(Entry {
            path: directory.join(entry.file_name()),
            file_type: entry.file_type()?,
        });
    }
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}
