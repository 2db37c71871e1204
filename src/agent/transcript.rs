//! Everything a model is told and says, in order.

use crate::tools::{LiveTool, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// The tools a model may call, and every message so far: all that a model is given.
#[derive(Debug, Clone, Serialize)]
pub struct Transcript {
    /// The tools the session offers.
    pub tools: Vec<OfferedTool>,
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
}

/// What a model is told of a tool.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OfferedTool {
    /// Its name.
    pub name: &'static str,
    /// What it does and what to know about it.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub parameters: &'static Value,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the session tells the model before anything else.
    System {
        /// The text.
        text: String,
    },
    /// What the person asks.
    User {
        /// The text.
        text: String,
    },
    /// What the model says.
    Assistant {
        /// The text; empty if it only calls tools.
        text: String,
        /// The calls, under the names the model said.
        calls: Vec<ToolCall>,
    },
    /// What became of a call.
    Tool {
        /// The call's id.
        call: String,
        /// What the model is told.
        text: String,
    },
}

impl From<&'static LiveTool> for OfferedTool {
    fn from(tool: &'static LiveTool) -> OfferedTool {
        OfferedTool {
            name: tool.name,
            description: tool.description,
            parameters: tool.schema(),
        }
    }
}
