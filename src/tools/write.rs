//! The tool `write`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "write",
    aliases: &["write_file", "file_write", "create_file"],
    summary: "Write a whole file",
};
