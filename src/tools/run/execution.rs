//! What runs when a live tool is called, and the schema its arguments have to fit.

use super::{Cancel, ToolError, Toolbox, schema};
use super::{bash, edit, glob, grep, read, skill, write};
use crate::tools::{LIVE_TOOLS, LiveTool};
use serde_json::Value;

/// How a live tool is run.
pub(super) struct Execution {
    /// The tool.
    pub(super) tool: LiveTool,
    /// The JSON schema of its arguments.
    pub(super) parameters: fn() -> Value,
    /// Runs it with arguments that the schema has passed.
    pub(super) run: fn(&Toolbox, Value, &Cancel) -> Result<String, ToolError>,
}

/// As many as there are live tools: one that nothing runs does not compile.
pub(super) static EXECUTIONS: [Execution; LIVE_TOOLS.len()] = [
    bash::EXECUTION,
    read::EXECUTION,
    write::EXECUTION,
    edit::EXECUTION,
    glob::EXECUTION,
    grep::EXECUTION,
    skill::EXECUTION,
];

/// How the live tool of exactly this name is run.
pub(super) fn find(name: &str) -> Option<&'static Execution> {
    EXECUTIONS
        .iter()
        .find(|execution| execution.tool.name == name)
}

impl LiveTool {
    /// The JSON schema of the tool's arguments.
    pub fn schema(&self) -> &'static Value {
        schema::of(self.name).document()
    }
}
