//! The tool `glob`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "glob",
    aliases: &["glob_files", "find_files"],
    summary: "Find files by a pattern of their names",
};
