//! Why a tool call failed, and what may follow from it.
//!
//! Each failure is made where it happens, as a variant; its kind is the variant's, never guessed from a
//! message.

use super::PermissionMode;
use rustix::io::Errno;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What may follow from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorKind {
    /// Whoever made the call can repair it and call again.
    Correctable,
    /// The same call may work later.
    Transient,
    /// It was not let into this session.
    NotAdmitted,
    /// The permission mode or the workspace's border forbids it.
    Denied,
    /// A credential is missing or refused.
    Auth,
    /// Too many requests for now.
    RateLimited,
    /// Somebody asked to stop.
    Cancelled,
    /// None of these: an operator has to look.
    Unknown,
}

/// Why a tool call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No live tool has this name.
    #[error("there is no tool `{said}`")]
    UnknownCapability {
        /// The name the model said.
        said: String,
        /// The tools of the session whose names are nearest to it, the nearest first; all if none is near.
        nearest: Vec<&'static str>,
    },
    /// The session's permission mode does not allow this tool.
    #[error("`{tool}` needs permission mode `{needs}`; this session runs in `{mode}`")]
    NotPermitted {
        /// The tool.
        tool: &'static str,
        /// The narrowest mode that allows it.
        needs: PermissionMode,
        /// The session's mode.
        mode: PermissionMode,
    },
    /// The arguments are larger than any call needs.
    #[error("the arguments are {bytes} bytes; at most {limit} are allowed")]
    OversizedArguments {
        /// Their size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The arguments are not a JSON object.
    #[error("the arguments are not a JSON object: {problem}")]
    MalformedArguments {
        /// What is wrong with them.
        problem: String,
    },
    /// A parameter that the schema requires is not there.
    #[error("missing required parameter: {parameter}")]
    MissingParameter {
        /// The parameter.
        parameter: String,
    },
    /// A parameter has a value that the schema, or the tool, can't take.
    #[error("invalid parameter `{parameter}`: {problem}")]
    InvalidParameter {
        /// The parameter.
        parameter: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A path leads out of the workspace, by itself or through a link.
    #[error("`{path}` leads out of the workspace")]
    OutsideWorkspace {
        /// The path as the model gave it.
        path: String,
    },
    /// A path leads to vak's own state.
    #[error("`{path}` is vak's own state, which only `full-access` may read or change")]
    OwnState {
        /// The path as the model gave it.
        path: String,
    },
    /// There is nothing at a path.
    #[error("there is no `{path}`")]
    NotFound {
        /// The path as the model gave it.
        path: String,
    },
    /// What is at a path is of another type than the tool works on.
    #[error("`{path}` is not {wanted}")]
    WrongType {
        /// The path as the model gave it.
        path: String,
        /// What was wanted, such as "a regular file".
        wanted: &'static str,
    },
    /// A file is larger than the tool reads.
    #[error("`{path}` is {bytes} bytes; at most {limit} can be read at once")]
    FileTooLarge {
        /// The path as the model gave it.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file would become larger than the tool writes.
    #[error("`{path}` would be {bytes} bytes; at most {limit} can be written at once")]
    TextTooLarge {
        /// The path as the model gave it.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The text to replace is not in the file.
    #[error("`{path}` does not contain `old_text`")]
    TextNotFound {
        /// The path as the model gave it.
        path: String,
    },
    /// The text to replace is in the file more than once.
    #[error("`{path}` contains `old_text` {count} times")]
    TextNotUnique {
        /// The path as the model gave it.
        path: String,
        /// How often.
        count: usize,
    },
    /// A command or a search took longer than it may.
    #[error("it was ended after {} s", limit.as_secs())]
    TimedOut {
        /// How long it was allowed to run.
        limit: Duration,
        /// What it had found or written by then.
        output: String,
    },
    /// No skill of this name was found when the session started.
    #[error("there is no skill `{name}`")]
    UnknownSkill {
        /// The name the model said.
        name: String,
        /// The skills that the session offers.
        offered: Vec<String>,
    },
    /// A skill was found when the session started, and rejected.
    #[error("skill `{name}` was not admitted to this session: {reason}")]
    SkillNotAdmitted {
        /// The skill.
        name: String,
        /// Why.
        reason: String,
    },
    /// A skill's file is no longer what was admitted.
    #[error("skill `{name}` has changed since this session admitted it")]
    SkillChanged {
        /// The skill.
        name: String,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The system refused something.
    #[error("failed to {action}")]
    System {
        /// What was tried.
        action: String,
        /// The system's words.
        source: io::Error,
    },
}

impl ToolError {
    /// What may follow from the failure.
    pub fn kind(&self) -> ToolErrorKind {
        match self {
            ToolError::UnknownCapability { .. }
            | ToolError::OversizedArguments { .. }
            | ToolError::MalformedArguments { .. }
            | ToolError::MissingParameter { .. }
            | ToolError::InvalidParameter { .. }
            | ToolError::NotFound { .. }
            | ToolError::WrongType { .. }
            | ToolError::FileTooLarge { .. }
            | ToolError::TextTooLarge { .. }
            | ToolError::TextNotFound { .. }
            | ToolError::TextNotUnique { .. }
            | ToolError::TimedOut { .. }
            | ToolError::UnknownSkill { .. }
            | ToolError::SkillChanged { .. } => ToolErrorKind::Correctable,
            ToolError::SkillNotAdmitted { .. } => ToolErrorKind::NotAdmitted,
            ToolError::NotPermitted { .. }
            | ToolError::OutsideWorkspace { .. }
            | ToolError::OwnState { .. } => ToolErrorKind::Denied,
            ToolError::Cancelled => ToolErrorKind::Cancelled,
            ToolError::System { source, .. } => system_kind(source),
        }
    }

    /// The failure's name, for programs and models.
    pub fn code(&self) -> &'static str {
        match self {
            ToolError::UnknownCapability { .. } => "unknown_capability",
            ToolError::NotPermitted { .. } => "not_permitted",
            ToolError::OversizedArguments { .. } => "oversized_arguments",
            ToolError::MalformedArguments { .. } => "malformed_arguments",
            ToolError::MissingParameter { .. } => "missing_parameter",
            ToolError::InvalidParameter { .. } => "invalid_parameter",
            ToolError::OutsideWorkspace { .. } => "outside_workspace",
            ToolError::OwnState { .. } => "own_state",
            ToolError::NotFound { .. } => "not_found",
            ToolError::WrongType { .. } => "wrong_type",
            ToolError::FileTooLarge { .. } | ToolError::TextTooLarge { .. } => "file_too_large",
            ToolError::TextNotFound { .. } => "text_not_found",
            ToolError::TextNotUnique { .. } => "text_not_unique",
            ToolError::TimedOut { .. } => "timed_out",
            ToolError::UnknownSkill { .. } => "unknown_skill",
            ToolError::SkillNotAdmitted { .. } => "skill_not_admitted",
            ToolError::SkillChanged { .. } => "skill_changed",
            ToolError::Cancelled => "cancelled",
            ToolError::System { .. } => "system",
        }
    }

    /// Whether the schema would help to repair the call.
    pub(super) fn is_about_arguments(&self) -> bool {
        matches!(
            self,
            ToolError::MalformedArguments { .. }
                | ToolError::MissingParameter { .. }
                | ToolError::InvalidParameter { .. }
        )
    }

    /// The parameter that is at fault, if one is.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            ToolError::MissingParameter { parameter }
            | ToolError::InvalidParameter { parameter, .. } => Some(parameter),
            _ => None,
        }
    }

    /// What to do about it, where the message leaves that open.
    pub fn advice(&self) -> Option<String> {
        match self {
            ToolError::NotPermitted { tool, .. } => Some(format!(
                "this session has no `{tool}`: do without it, or say what you could not do; \
                 never make up its result"
            )),
            ToolError::NotFound { .. } => Some("look for it with `glob`".to_owned()),
            ToolError::OwnState { .. } => Some(
                "a skill is loaded with the `skill` tool; the rest is a person's to look after"
                    .to_owned(),
            ),
            ToolError::FileTooLarge { .. } => Some("search it with `grep`".to_owned()),
            ToolError::TextNotFound { .. } => {
                Some("`read` the file and copy the text exactly, blanks included".to_owned())
            }
            ToolError::TextNotUnique { .. } => Some(
                "give more of the lines around it, or set `replace_all` to change every one"
                    .to_owned(),
            ),
            ToolError::TimedOut { .. } => Some(
                "ask for less at once, or allow it more time if it has a parameter for that"
                    .to_owned(),
            ),
            ToolError::SkillChanged { .. } => {
                Some("go on without it; a new session reads it anew".to_owned())
            }
            _ => None,
        }
    }
}

/// What may follow from a failed system call.
fn system_kind(error: &io::Error) -> ToolErrorKind {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ToolErrorKind::Denied
        }
        io::ErrorKind::Interrupted
        | io::ErrorKind::WouldBlock
        | io::ErrorKind::TimedOut
        | io::ErrorKind::ResourceBusy => ToolErrorKind::Transient,
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::ArgumentListTooLong
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => ToolErrorKind::Correctable,
        // Links that lead to one another, for which `ErrorKind` has no stable name.
        _ if Errno::from_io_error(error) == Some(Errno::LOOP) => ToolErrorKind::Correctable,
        _ => ToolErrorKind::Unknown,
    }
}

/// Why a workspace can't be worked in.
#[derive(Debug, thiserror::Error)]
#[error("failed to open the workspace `{}`", path.display())]
pub struct WorkspaceError {
    /// The directory.
    pub path: PathBuf,
    /// The system's words.
    pub source: io::Error,
}
