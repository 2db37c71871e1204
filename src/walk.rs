//! Reads files, packages and trees, and has the scanner look at what is in them.

use crate::scan::{Grade, Reason, Scanner, Site};
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A finding that has outlived the text it was found in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileFinding {
    /// The retired tool, spelt as in the list.
    pub name: String,
    /// How sure it is.
    pub grade: Grade,
    /// Where it stands.
    pub site: Site,
    /// Why it has this grade.
    pub reason: Reason,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted in characters from 1.
    pub column: usize,
    /// The bytes of the file that are the name.
    pub range: Range<usize>,
    /// The line it stands on.
    pub excerpt: String,
}

/// What a file is to its package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A `SKILL.md`: the only role that can flag a plugin.
    Skill,
    /// A Markdown file below `commands/`.
    Command,
    /// A Markdown file below `agents/`.
    Agent,
    /// A `hooks.json`.
    Hooks,
    /// Any other file.
    Other,
}

/// Why a file, or a part of it, was not scanned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why", content = "detail")]
pub enum Unscanned {
    /// It could not be opened or read: the system's words.
    Unreadable(String),
}

/// One file and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file, relative to the package for a package.
    pub path: PathBuf,
    /// What it is to its package.
    pub role: Role,
    /// What was found in it, in order.
    pub findings: Vec<FileFinding>,
    /// What of it was not scanned.
    pub unscanned: Vec<Unscanned>,
}

/// Everything the scanner says about one package: only the files with something to say, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PackageScan {
    /// The files with a finding or an unscanned part, sorted by path.
    pub files: Vec<FileReport>,
}

impl PackageScan {
    /// Whether a `SKILL.md` of the package tells the model to call a retired tool.
    pub fn is_retired(&self) -> bool {
        self.files.iter().any(|file| {
            file.role == Role::Skill
                && file
                    .findings
                    .iter()
                    .any(|finding| finding.grade == Grade::Instructs)
        })
    }
}

/// Scans the files of a package that can call a tool. Never fails: what cannot be read is in the report.
pub fn scan_package(package: &Path, scanner: &Scanner) -> PackageScan {
    let _ = (package, scanner);
    PackageScan::default()
}
