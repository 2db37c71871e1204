//! What became of a call, and the words in which the model is told.

use super::{LiveTool, NormalizedCall, RetiredTool, ToolError, ToolErrorKind};
use crate::words::with_hints;
use serde::Serialize;
use serde_json::Value;

/// What became of a call.
#[derive(Debug)]
pub struct ToolOutcome {
    /// The live tool that the name meant, if it meant one.
    pub tool: Option<&'static LiveTool>,
    /// The name as the model said it.
    pub said: String,
    /// The row of the list, if the model said a retired name.
    pub retired: Option<&'static RetiredTool>,
    /// The tool's output, or why there is none.
    pub result: Result<String, ToolError>,
    redirection: Option<String>,
}

impl ToolOutcome {
    pub(super) fn new(
        call: &NormalizedCall<'_>,
        tool: Option<&'static LiveTool>,
        result: Result<String, ToolError>,
    ) -> ToolOutcome {
        ToolOutcome {
            tool,
            said: call.said.to_owned(),
            retired: call.retired,
            result,
            redirection: call.redirection(),
        }
    }

    /// The kind of the failure; `None` if the call worked.
    pub fn error_kind(&self) -> Option<ToolErrorKind> {
        self.result.as_ref().err().map(ToolError::kind)
    }

    /// What the model is told: the output as it is, or a JSON object about the failure. A call that
    /// worked although it said a retired name is told so too, so that the next one says the live name.
    pub fn for_model(&self) -> String {
        match (&self.result, &self.redirection) {
            (Ok(output), None) => output.clone(),
            (Ok(output), Some(redirection)) => format!("note: {redirection}\n{output}"),
            (Err(error), _) => self.failure(error).to_string(),
        }
    }

    /// The failure as a JSON object: what the model is told, for programs.
    fn failure(&self, error: &ToolError) -> Value {
        let tool = self.tool.map(|tool| tool.name);
        // Nobody is led to a tool that the session does not have.
        let is_there = !matches!(error, ToolError::NotPermitted { .. });
        let redirection = self.redirection.clone().filter(|_| is_there);
        let failure = Failure {
            error: error.code(),
            kind: error.kind(),
            message: with_hints(error),
            tool,
            called: (tool != Some(self.said.as_str())).then_some(&self.said),
            retired_in: self.retired.map(|row| row.retired_in),
            hint: redirection.or_else(|| error.advice()),
            parameter: error.parameter(),
            nearest: match error {
                ToolError::UnknownCapability { nearest, .. } => Some(nearest),
                _ => None,
            },
            skills: match error {
                ToolError::UnknownSkill { offered, .. } => Some(offered),
                _ => None,
            },
            output: match error {
                ToolError::TimedOut { output, .. } => Some(output),
                _ => None,
            },
            schema: self
                .tool
                .filter(|_| error.is_about_arguments())
                .map(LiveTool::schema),
        };
        serde_json::to_value(failure).unwrap_or_else(|_| Value::String(error.to_string()))
    }
}

/// The error object, in the order in which it is read.
#[derive(Serialize)]
struct Failure<'a> {
    error: &'static str,
    kind: ToolErrorKind,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    called: Option<&'a String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retired_in: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<&'a Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'static Value>,
}
