//! The tool `edit`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "edit",
    aliases: &[
        "edit_file",
        "file_edit",
        "str_replace",
        "str_replace_editor",
    ],
    summary: "Replace a passage of a file",
};
