//! The tool `read`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "read",
    aliases: &["read_file", "file_read", "open_file", "view_file"],
    summary: "Read a file",
};
