//! The judge of one skill.

use super::diagnostic::{Severity, SkillDiagnostic, SkillFault};
use crate::disk::{self, DiskError};
use crate::plugin::hex;
use crate::scan::{Finding, Frontmatter, Grade, Scanner, Site};
use crate::tools::canonical_tool_name;
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The longest name, in characters.
pub const MAX_NAME: usize = 64;

/// The longest description, in characters.
pub const MAX_DESCRIPTION: usize = 1_024;

/// The largest skill, in bytes. A model is given it whole; and the scanner reads only so much of a file that
/// nobody could vouch for what is behind 4 MiB.
const MAX_BYTES: u64 = 1 << 20;

/// The one spelling of a skill's file.
pub(super) const FILE_NAME: &str = "SKILL.md";

/// A skill that may be offered, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// The file it was read from.
    pub path: PathBuf,
    /// The file's whole text.
    pub text: String,
}

impl Skill {
    /// SHA-256 of the file's bytes as they were read, in lower-case hex.
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(&self.text))
    }
}

/// What the judge says of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// Its name, if it tells one, good or bad.
    pub name: Option<String>,
    /// The skill, unless a diagnostic is an error.
    pub skill: Option<Skill>,
    /// What there is to say of it, by line.
    pub diagnostics: Vec<SkillDiagnostic>,
}

/// Reads and judges the skill in a file.
pub fn read(path: &Path) -> Validation {
    let fault = match disk::read(path, MAX_BYTES) {
        Ok(Some(bytes)) => return validate(path, &bytes),
        Ok(None) => SkillFault::BrokenLink,
        Err(DiskError::TooLarge { limit, .. }) => SkillFault::TooLarge { limit },
        Err(DiskError::NotAFile { .. }) => SkillFault::NotAFile,
        Err(DiskError::Io { source, .. }) => SkillFault::Unreadable {
            error: source.to_string(),
        },
        Err(other) => SkillFault::Unreadable {
            error: other.to_string(),
        },
    };
    Judge::new(path, "").end_with(fault)
}

/// Judges a skill by its file's bytes. `path` is only looked at for the names in it. Of several faults all
/// are told.
pub fn validate(path: &Path, bytes: &[u8]) -> Validation {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let mut judge = Judge::new(path, &valid);
            judge.say_at(valid.len(), SkillFault::NotUtf8);
            return judge.verdict(None);
        }
    };
    let mut judge = Judge::new(path, text);
    judge.file();
    let Some(frontmatter) = Frontmatter::read(text) else {
        judge.references(None);
        return judge.end_with(SkillFault::NoFrontmatter);
    };
    let name = judge.name(&frontmatter);
    let description = judge.description(&frontmatter);
    if text[frontmatter.body..].trim().is_empty() {
        judge.say_at(frontmatter.body, SkillFault::NoBody);
    }
    judge.references(description.as_deref().map(|told| (told, &frontmatter)));
    let mut validation = judge.verdict(name.clone());
    let is_sound = validation
        .diagnostics
        .iter()
        .all(|diagnostic| diagnostic.severity() < Severity::Error);
    if let (Some(name), Some(description), true) = (name, description, is_sound) {
        validation.skill = Some(Skill {
            name,
            description,
            path: path.to_owned(),
            text: text.to_owned(),
        });
    }
    validation
}

/// Collects what there is to say of one file.
struct Judge<'a> {
    path: &'a Path,
    text: &'a str,
    diagnostics: Vec<SkillDiagnostic>,
}

impl<'a> Judge<'a> {
    fn new(path: &'a Path, text: &'a str) -> Judge<'a> {
        Judge {
            path,
            text,
            diagnostics: Vec::new(),
        }
    }

    fn say(&mut self, line: Option<usize>, fault: SkillFault) {
        self.diagnostics.push(SkillDiagnostic {
            path: self.path.to_owned(),
            line,
            fault,
        });
    }

    fn say_at(&mut self, offset: usize, fault: SkillFault) {
        let before = &self.text.as_bytes()[..offset];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        self.say(Some(line), fault);
    }

    fn end_with(mut self, fault: SkillFault) -> Validation {
        self.say(None, fault);
        self.verdict(None)
    }

    fn verdict(mut self, name: Option<String>) -> Validation {
        self.diagnostics
            .sort_by_key(|diagnostic| diagnostic.line.unwrap_or_default());
        Validation {
            name,
            skill: None,
            diagnostics: self.diagnostics,
        }
    }

    /// What can be said of a file as a file.
    fn file(&mut self) {
        if self.path.file_name().is_some_and(|name| name != FILE_NAME) {
            self.say(None, SkillFault::OtherCase);
        }
        if self.text.starts_with('\u{feff}') {
            self.say(Some(1), SkillFault::ByteOrderMark);
        }
        if let Some(at) = memchr::memmem::find(self.text.as_bytes(), b"\r\n") {
            self.say_at(at, SkillFault::CrLf);
        }
    }

    fn name(&mut self, frontmatter: &Frontmatter<'_>) -> Option<String> {
        let name = frontmatter.name().filter(|name| !name.is_empty());
        let (Some(name), Some(field)) = (name, frontmatter.field("name")) else {
            self.say_at(0, SkillFault::NoName);
            return None;
        };
        let name = name.into_owned();
        let at = field.key_range.start;
        if let Some(why) = name_fault(&name) {
            let name = shown(&name);
            self.say_at(at, SkillFault::BadName { name, why });
        }
        let directory = self.path.parent().and_then(Path::file_name);
        if let Some(directory) = directory.filter(|directory| *directory != OsStr::new(&name)) {
            self.say_at(
                at,
                SkillFault::NameDiffers {
                    name: shown(&name),
                    directory: directory.to_string_lossy().into_owned(),
                },
            );
        }
        Some(name)
    }

    /// The description on one line, which is how the model is told of it.
    fn description(&mut self, frontmatter: &Frontmatter<'_>) -> Option<String> {
        let text = frontmatter.description().unwrap_or_default();
        let words: Vec<&str> = text
            .split(|sign: char| sign.is_whitespace() || sign.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let at = description_at(frontmatter);
        if words.is_empty() {
            self.say_at(at, SkillFault::NoDescription);
            return None;
        }
        let description = words.join(" ");
        let characters = description.chars().count();
        if characters > MAX_DESCRIPTION {
            self.say_at(
                at,
                SkillFault::LongDescription {
                    characters,
                    limit: MAX_DESCRIPTION,
                },
            );
        }
        Some(description)
    }

    /// The references to retired tools, but for those that only document that a tool is gone.
    ///
    /// A description may be written such that a call shows only when it is read: behind escapes, folded, cut
    /// off by a comment. So what the model is told of it is scanned as well as what is written.
    fn references(&mut self, description: Option<(&str, &Frontmatter<'_>)>) {
        let scanner = Scanner::shipped();
        let written = scanner.scan(self.text);
        for finding in &written {
            if finding.grade > Grade::Mentions {
                self.say(Some(finding.line), retired(finding));
            }
        }
        let Some((told, frontmatter)) = description else {
            return;
        };
        let instructs = |finding: &Finding<'_>| {
            finding.site == Site::Description && finding.grade == Grade::Instructs
        };
        let told = format!("---\ndescription: {told}\n---\n");
        let mut told = scanner.scan(&told);
        told.retain(|finding| {
            let is_known = |known: &Finding<'_>| instructs(known) && known.name == finding.name;
            instructs(finding) && !written.iter().any(is_known)
        });
        told.dedup_by_key(|finding| finding.name);
        for finding in &told {
            self.say_at(description_at(frontmatter), retired(finding));
        }
    }
}

/// Where the description stands; the beginning if there is none.
fn description_at(frontmatter: &Frontmatter<'_>) -> usize {
    let field = frontmatter.field("description");
    field.map_or(0, |field| field.key_range.start)
}

fn retired(finding: &Finding<'_>) -> SkillFault {
    SkillFault::Retired {
        tool: finding.name.to_owned(),
        replacement: canonical_tool_name(finding.name).to_owned(),
        grade: finding.grade,
        reason: finding.reason.explain().to_owned(),
    }
}

/// What keeps a text from being a skill's name.
fn name_fault(name: &str) -> Option<&'static str> {
    let is_word_sign = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit();
    if name.chars().count() > MAX_NAME {
        return Some("is longer than 64 characters");
    }
    if !name.chars().all(|sign| is_word_sign(sign) || sign == '-') {
        return Some("has other signs than `a` to `z`, `0` to `9` and `-`");
    }
    if name.split('-').any(str::is_empty) {
        return Some("has a `-` too many");
    }
    None
}

/// A name for a message: on one line and not endless.
fn shown(name: &str) -> String {
    let line = name.replace(char::is_control, " ");
    let end = line.floor_char_boundary(2 * MAX_NAME);
    if end < line.len() {
        format!("{}…", &line[..end])
    } else {
        line
    }
}
