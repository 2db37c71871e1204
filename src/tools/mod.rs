//! The names of tools: which are live, which are retired, and what a name the model says resolves to.

mod permission;

pub use permission::PermissionMode;

/// A row of the list of retired tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RetiredTool {
    /// The exact name a model might still call.
    pub name: &'static str,
    /// The version of vak that no longer had the tool.
    pub retired_in: &'static str,
    /// What the row names as replacement: a live tool, or another retired one.
    pub replacement: &'static str,
    /// One line for the model and the operator.
    pub hint: Option<&'static str>,
}

/// Every retired tool, in the order of the list.
pub fn retired_tools() -> &'static [RetiredTool] {
    &[]
}

/// The row of a retired tool, by any spelling of its name (letter case, `-` for `_`, outer blanks).
pub fn retired_tool(name: &str) -> Option<&'static RetiredTool> {
    retired_tools()
        .iter()
        .find(|row| row.name.eq_ignore_ascii_case(name.trim()))
}

/// The live tool that `name` means, or `name` itself if it means none.
pub fn canonical_tool_name(name: &str) -> &str {
    name
}
