//! The tool `edit`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "edit",
    aliases: &[
        "edit_file",
        "file_edit",
        "str_replace",
        "str_replace_editor",
    ],
    description: "Replace a piece of a text file of the workspace. `old_text` has to be in the file exactly \
        once, blanks and line breaks included, unless `replace_all` is set. Everything else stays as it is.",
    needs: PermissionMode::WorkspaceWrite,
};
