//! The tool `grep`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "grep",
    aliases: &["grep_search", "search_files", "ripgrep"],
    summary: "Find lines by a pattern of their text",
};
