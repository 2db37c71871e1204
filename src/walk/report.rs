//! What a walk says of a file: the findings in it, and what of it was not scanned.

use super::role::Role;
use crate::scan::{Finding, Grade, Reason, Site};
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The longest excerpt, in bytes: a hostile file is one line with a finding at every word, and each
/// finding keeps its excerpt.
const EXCERPT_LIMIT: usize = 320;
/// How much of a longer line stands before the mark; the rest of the limit stands behind it.
const EXCERPT_BEFORE: usize = 120;

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
    /// The line it stands on; of a long line the part around the name, with `…` for what was left out.
    pub excerpt: String,
    /// The bytes of the excerpt that are the name.
    pub mark: Range<usize>,
}

impl FileFinding {
    /// Keeps what a scan of `text` found.
    pub(crate) fn keep(finding: &Finding<'_>, text: &str) -> FileFinding {
        let line_start = finding.excerpt.as_ptr() as usize - text.as_ptr() as usize;
        let start = finding.range.start.saturating_sub(line_start);
        let (excerpt, mark) = clip(finding.excerpt, start..start + finding.range.len());
        FileFinding {
            name: finding.name.to_owned(),
            grade: finding.grade,
            site: finding.site,
            reason: finding.reason,
            line: finding.line,
            column: finding.column,
            range: finding.range.clone(),
            excerpt,
            mark,
        }
    }
}

/// The part of a line around `mark`, and where the mark is in it.
fn clip(line: &str, mark: Range<usize>) -> (String, Range<usize>) {
    if line.len() <= EXCERPT_LIMIT {
        return (line.to_owned(), mark);
    }
    let start = line.floor_char_boundary(mark.start.saturating_sub(EXCERPT_BEFORE));
    let end = line.ceil_char_boundary((start + EXCERPT_LIMIT).max(mark.end).min(line.len()));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    let shift = |at: usize| at - start + before.len();
    (
        format!("{before}{}{after}", &line[start..end]),
        shift(mark.start)..shift(mark.end),
    )
}

/// Why a file, or a part of it, was not scanned. `Display` says it to people; the JSON form is an object
/// whose `why` is the variant's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Unscanned {
    /// It could not be opened or read.
    Unreadable {
        /// The system's words.
        error: String,
    },
    /// It is longer than the scanner reads; the rest was not scanned.
    TooLarge {
        /// How many bytes, from its start, were scanned.
        scanned: usize,
    },
    /// Some of it is not UTF-8; the other parts were scanned.
    NotUtf8 {
        /// How many bytes are not part of a character.
        invalid: usize,
    },
    /// It is UTF-16, of which next to nothing can be scanned as UTF-8.
    Utf16,
    /// It is not a regular file, and was not opened.
    Special {
        /// What it is.
        kind: SpecialFile,
    },
    /// A symbolic link to nothing, or to itself.
    BrokenLink,
    /// A symbolic link out of the package or tree, not followed.
    LinkOutside {
        /// Where it leads, links resolved.
        #[serde(serialize_with = "lossy_path")]
        target: PathBuf,
        /// Whether that is a directory.
        directory: bool,
    },
    /// A directory nested so deep that it was not entered.
    TooDeep {
        /// How many levels are entered.
        limit: usize,
    },
}

/// A kind of file that has no text to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpecialFile {
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// A directory where a file was expected.
    Directory,
    /// Something else.
    Unknown,
}

impl Unscanned {
    /// Whether this keeps from the scanner text that was to be scanned.
    ///
    /// What is not UTF-8 does not: names are ASCII, and every valid part was scanned. Neither does a link
    /// to nothing, nor one to a directory outside, whose files are no part of what was asked for.
    pub fn hides_text(&self) -> bool {
        !matches!(
            self,
            Unscanned::NotUtf8 { .. }
                | Unscanned::BrokenLink
                | Unscanned::LinkOutside {
                    directory: true,
                    ..
                }
        )
    }
}

impl fmt::Display for Unscanned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unscanned::Unreadable { error } => write!(out, "could not be read: {error}"),
            Unscanned::TooLarge { scanned } => {
                write!(
                    out,
                    "too large: only the first {scanned} bytes were scanned"
                )
            }
            Unscanned::NotUtf8 { invalid: 1 } => {
                out.write_str("not UTF-8: 1 byte was left out, the rest was scanned")
            }
            Unscanned::NotUtf8 { invalid } => write!(
                out,
                "not UTF-8: {invalid} bytes were left out, the rest was scanned"
            ),
            Unscanned::Utf16 => out.write_str("UTF-16: could not be scanned; save it as UTF-8"),
            Unscanned::Special { kind } => write!(out, "{kind}: not opened"),
            Unscanned::BrokenLink => out.write_str("a broken link"),
            Unscanned::LinkOutside { target, .. } => {
                let target = target.display();
                write!(out, "a link to `{target}`, outside: not followed")
            }
            Unscanned::TooDeep { limit } => {
                write!(out, "more than {limit} directories deep: not entered")
            }
        }
    }
}

impl fmt::Display for SpecialFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            SpecialFile::Fifo => "a FIFO",
            SpecialFile::Socket => "a socket",
            SpecialFile::Device => "a device",
            SpecialFile::Directory => "a directory",
            SpecialFile::Unknown => "not a regular file",
        })
    }
}

/// One file and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file: relative to the package for a package, else as it was reached.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// What it is to its package.
    pub role: Role,
    /// What was found in it, in order.
    pub findings: Vec<FileFinding>,
    /// What of it was not scanned.
    pub unscanned: Vec<Unscanned>,
}

impl FileReport {
    /// The report of a file of which nothing was scanned.
    pub(crate) fn unscanned(path: PathBuf, role: Role, why: Unscanned) -> FileReport {
        FileReport {
            path,
            role,
            findings: Vec::new(),
            unscanned: vec![why],
        }
    }

    /// Whether there is nothing to say of the file.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.unscanned.is_empty()
    }
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

/// What a failed system call leaves unscanned.
pub(crate) fn unreadable(error: impl fmt::Display) -> Unscanned {
    Unscanned::Unreadable {
        error: error.to_string(),
    }
}

/// For a path that is only shown or compared: one that is not UTF-8 must not make a whole report fail.
pub(crate) fn lossy_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
