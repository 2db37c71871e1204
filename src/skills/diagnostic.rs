//! What there is to say of a file that looks like a skill.

use crate::scan::Grade;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What a diagnostic means for its skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The skill is offered all the same, or its place is taken by another.
    Warning,
    /// The skill is not offered.
    Error,
}

/// One thing to say of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDiagnostic {
    /// The file or directory.
    pub path: PathBuf,
    /// The line, counted from 1, if it is about one.
    pub line: Option<usize>,
    /// What it is.
    pub fault: SkillFault,
}

/// What can be wrong with a skill. The text of each is a phrase that follows its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFault {
    /// It can't be opened, listed or read.
    #[error("can't be read: {error}")]
    Unreadable {
        /// The system's words.
        error: String,
    },
    /// It is a FIFO, a device, or a directory where a file should be.
    #[error("is not a regular file")]
    NotAFile,
    /// It is a link that leads nowhere.
    #[error("is a broken link")]
    BrokenLink,
    /// It is a link that leads out of where its skills may be.
    #[error("is a link that leads outside, to `{}`", target.display())]
    LinkOutside {
        /// Where it leads.
        target: PathBuf,
    },
    /// It is larger than a model can be given.
    #[error("is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// It is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// It begins with a byte order mark.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// Its lines end with CRLF.
    #[error("ends its lines with CRLF")]
    CrLf,
    /// Its name is not spelt `SKILL.md`.
    #[error("is not spelt `SKILL.md`")]
    OtherCase,
    /// A `SKILL.md` stands beside it.
    #[error("stands beside `SKILL.md`, which is the one that counts")]
    BesideAnother,
    /// It stands in another skill's directory.
    #[error("stands inside another skill's directory, where skills are not looked for")]
    InsideAnother,
    /// It stands in a directory whose name begins with a dot.
    #[error("stands in a hidden directory, where skills are not looked for")]
    Hidden,
    /// It has no directory of its own.
    #[error("has no directory of its own")]
    NoDirectory,
    /// It leads to a directory that was looked through under another path.
    #[error("leads to a directory that was looked through already")]
    SeenAlready,
    /// A directory where a skill should be has none.
    #[error("holds no `SKILL.md`")]
    NoSkillFile,
    /// There are more directories below it than are looked into.
    #[error("is more than {limit} directories deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// It has no frontmatter.
    #[error("has no frontmatter")]
    NoFrontmatter,
    /// Its frontmatter has no name.
    #[error("has no `name` in its frontmatter")]
    NoName,
    /// Its name is not a skill's name.
    #[error("has the name `{name}`, which {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Its name is not its directory's.
    #[error("has the name `{name}` in a directory called `{directory}`")]
    NameDiffers {
        /// The name.
        name: String,
        /// The directory's name.
        directory: String,
    },
    /// Its frontmatter has no description.
    #[error("has no `description` in its frontmatter")]
    NoDescription,
    /// Its description is too long.
    #[error("has a description of {characters} characters; at most {limit} are allowed")]
    LongDescription {
        /// Its length.
        characters: usize,
        /// The limit.
        limit: usize,
    },
    /// There is nothing behind its frontmatter.
    #[error("has no instructions behind its frontmatter")]
    NoBody,
    /// It refers to a retired tool. Only one that instructs is kept from the model.
    #[error("{} the retired tool `{tool}`: {reason}", verb(*.grade))]
    Retired {
        /// The tool.
        tool: String,
        /// What to call instead.
        replacement: String,
        /// How surely.
        grade: Grade,
        /// Why it has this grade.
        reason: String,
    },
    /// Another skill of its name comes first.
    #[error("is shadowed by the {by} of the same name, `{}`", path.display())]
    Shadowed {
        /// Whose skill comes first, such as "workspace skill".
        by: String,
        /// That skill's file.
        path: PathBuf,
    },
}

fn verb(grade: Grade) -> &'static str {
    match grade {
        Grade::Instructs => "tells the model to call",
        Grade::Declares => "declares",
        Grade::Suspect => "seems to refer to",
        Grade::Mentions => "mentions",
    }
}

impl SkillFault {
    /// What it means for the skill.
    pub fn severity(&self) -> Severity {
        match self {
            SkillFault::Retired { grade, .. } if *grade < Grade::Instructs => Severity::Warning,
            SkillFault::ByteOrderMark
            | SkillFault::CrLf
            | SkillFault::OtherCase
            | SkillFault::BesideAnother
            | SkillFault::InsideAnother
            | SkillFault::Hidden
            | SkillFault::SeenAlready
            | SkillFault::NoSkillFile
            | SkillFault::NameDiffers { .. }
            | SkillFault::NoBody
            | SkillFault::Shadowed { .. } => Severity::Warning,
            SkillFault::Unreadable { .. }
            | SkillFault::NotAFile
            | SkillFault::BrokenLink
            | SkillFault::LinkOutside { .. }
            | SkillFault::TooLarge { .. }
            | SkillFault::NotUtf8
            | SkillFault::NoDirectory
            | SkillFault::TooDeep { .. }
            | SkillFault::NoFrontmatter
            | SkillFault::NoName
            | SkillFault::BadName { .. }
            | SkillFault::NoDescription
            | SkillFault::LongDescription { .. }
            | SkillFault::Retired { .. } => Severity::Error,
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            SkillFault::Unreadable { .. } => "give this user the right to read it".to_owned(),
            SkillFault::NotAFile => "put a regular file in its place".to_owned(),
            SkillFault::SeenAlready => "remove the link".to_owned(),
            SkillFault::BrokenLink => "mend or remove the link".to_owned(),
            SkillFault::LinkOutside { .. } => "put the skill itself there, not a link".to_owned(),
            SkillFault::TooLarge { .. } => {
                "move what is not needed at once into files beside it".to_owned()
            }
            SkillFault::NotUtf8 | SkillFault::ByteOrderMark => {
                "save it as UTF-8 without a byte order mark".to_owned()
            }
            SkillFault::CrLf => "save it with LF line ends".to_owned(),
            SkillFault::OtherCase => "rename it to `SKILL.md`".to_owned(),
            SkillFault::BesideAnother => "remove one of the two".to_owned(),
            SkillFault::InsideAnother | SkillFault::NoDirectory => {
                "give it a directory of its own, called like the skill".to_owned()
            }
            SkillFault::Hidden => {
                "move it to a directory whose name does not begin with a dot".to_owned()
            }
            SkillFault::NoSkillFile => "put one there, or remove the directory".to_owned(),
            SkillFault::TooDeep { .. } => "move it further up".to_owned(),
            SkillFault::NoFrontmatter => {
                "begin it with `---`, `name:` and `description:` lines, and `---`".to_owned()
            }
            SkillFault::NoName => "add a `name:` line, with its directory's name".to_owned(),
            SkillFault::BadName { .. } => {
                "use lower-case words of letters and digits, joined by `-`".to_owned()
            }
            SkillFault::NameDiffers { name, .. } => {
                format!("rename the directory to `{name}`, or change the name")
            }
            SkillFault::NoDescription => {
                "add a `description:` line that says what it is for and when to use it".to_owned()
            }
            SkillFault::LongDescription { .. } => {
                "shorten it; details belong behind the frontmatter".to_owned()
            }
            SkillFault::NoBody => "write down what the model should do".to_owned(),
            SkillFault::Retired { replacement, .. } => {
                format!("have it call `{replacement}` instead")
            }
            SkillFault::Shadowed { .. } => "rename or remove one of the two".to_owned(),
        }
    }
}

impl SkillDiagnostic {
    /// What it means for the skill.
    pub fn severity(&self) -> Severity {
        self.fault.severity()
    }
}

/// With the phrases that people read, so that a program needn't make its own.
impl Serialize for SkillDiagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SkillDiagnostic", 5)?;
        fields.serialize_field("path", &self.path.to_string_lossy())?;
        fields.serialize_field("line", &self.line)?;
        fields.serialize_field("severity", &self.severity())?;
        fields.serialize_field("reason", &self.fault.to_string())?;
        fields.serialize_field("advice", &self.fault.advice())?;
        fields.end()
    }
}
