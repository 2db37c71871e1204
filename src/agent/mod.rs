//! The loop that lets a model call tools, and one model to run it with.
//!
//! A [`Session`] holds a [`Toolbox`](crate::tools::Toolbox) and a [`Transcript`]; each
//! [`turn`](Session::turn) asks a [`Model`] until it answers without calling a tool, or until going on makes
//! no sense. A model is given nothing but the transcript, so whatever it was told can be read there. Nothing
//! here prints; a turn's caller watches its [`Event`]s.

mod chat;
mod model;
mod transcript;
mod turn;

pub use chat::{ApiKey, ChatModel, ChatSettings, EndpointError};
pub use model::{Model, ModelError, Reply};
pub use transcript::{Message, OfferedTool, Transcript};
pub use turn::{Event, Failure, Limits, Session, TurnEnd};
