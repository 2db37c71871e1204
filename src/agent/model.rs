//! What the loop asks of a model.

use super::Transcript;
use crate::tools::{Cancel, ToolCall, ToolErrorKind};
use std::time::Duration;

/// Something that answers a transcript with text, tool calls, or both.
pub trait Model {
    /// The next message. Text is handed to `on_text` as it comes, and is in the reply again, whole.
    ///
    /// # Errors
    /// [`ModelError`] if there is no reply; its kind says whether asking again may help.
    fn reply(
        &mut self,
        transcript: &Transcript,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, ModelError>;
}

/// A model's message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text; may be empty if there are calls.
    pub text: String,
    /// The tool calls, in the order in which they are to be run.
    pub calls: Vec<ToolCall>,
    /// Whether the model ran out of room and the message ends early.
    pub cut: bool,
}

/// Why a model gave no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server can't be reached.
    #[error(
        "failed to reach the model at `{url}`\nhint: start its server, or give another address"
    )]
    Unreachable {
        /// Where it was looked for.
        url: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server sent nothing for too long.
    #[error("the model sent nothing for {} s", waited.as_secs_f32())]
    Silent {
        /// How long was waited.
        waited: Duration,
    },
    /// The connection broke, or ended before the message did.
    #[error("the connection to the model broke")]
    Broken {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server does not accept the key, or wants one.
    #[error(
        "the model's server refused access (status {status}): {message}\nhint: set the key that this server expects"
    )]
    Auth {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// Too many requests.
    #[error("the model's server has had too many requests: {message}")]
    RateLimited {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The server has trouble of its own.
    #[error("the model's server is in trouble (status {status}): {message}")]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The server does not take the request.
    #[error("the model's server refused the request (status {status}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// The answer is not what the protocol says.
    #[error("the model's server does not speak the protocol: {problem}")]
    Protocol {
        /// What is wrong.
        problem: String,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl ModelError {
    /// What may follow: only after [`Transient`](ToolErrorKind::Transient) and
    /// [`RateLimited`](ToolErrorKind::RateLimited) does it make sense to ask again.
    pub fn kind(&self) -> ToolErrorKind {
        match self {
            ModelError::Silent { .. }
            | ModelError::Broken { .. }
            | ModelError::Unavailable { .. } => ToolErrorKind::Transient,
            ModelError::RateLimited { .. } => ToolErrorKind::RateLimited,
            ModelError::Auth { .. } => ToolErrorKind::Auth,
            ModelError::Cancelled => ToolErrorKind::Cancelled,
            ModelError::Unreachable { .. }
            | ModelError::Refused { .. }
            | ModelError::Protocol { .. } => ToolErrorKind::Unknown,
        }
    }

    /// How long the server asked to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::RateLimited { retry_after, .. }
            | ModelError::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
