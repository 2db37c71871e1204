//! A tool call as a model makes it, and under the name it means.

use super::{MAX_NAME, RetiredTool, canonical_tool_name, retired_tool};

/// A call as the model made it: nothing in it has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ToolCall {
    /// What the answer refers to.
    pub id: String,
    /// The name the model said.
    pub name: String,
    /// The arguments' JSON text, well formed or not.
    pub arguments: String,
}

/// A call under its canonical name, which keeps the name that the model used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NormalizedCall<'a> {
    /// What [`canonical_tool_name`] makes of the name: a live tool's name, unless there is none.
    pub tool: &'a str,
    /// The name as the model said it, without outer blanks; of one longer than any name its beginning.
    pub said: &'a str,
    /// The row of the list, if the model said a retired name.
    pub retired: Option<&'static RetiredTool>,
    /// The arguments' JSON text.
    pub arguments: &'a str,
}

/// Puts the canonical name into a call. A retired name leads to the end of its chain of replacements;
/// that the arguments rarely fit there is for the schema to say.
pub fn normalize_tool_call(call: &ToolCall) -> NormalizedCall<'_> {
    let name = call.name.trim();
    NormalizedCall {
        tool: canonical_tool_name(name),
        said: &name[..name.floor_char_boundary(2 * MAX_NAME)],
        retired: retired_tool(name),
        arguments: &call.arguments,
    }
}

impl NormalizedCall<'_> {
    /// What happened to a retired name, in a sentence for the model; `None` if the name is not retired.
    pub fn redirection(&self) -> Option<String> {
        let RetiredTool {
            name,
            retired_in,
            hint,
            ..
        } = self.retired?;
        let hint = hint.map_or_else(String::new, |hint| format!(": {hint}"));
        let tool = self.tool;
        Some(format!(
            "`{name}` was retired in {retired_in}; use `{tool}`{hint}"
        ))
    }
}
