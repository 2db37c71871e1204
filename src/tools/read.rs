//! The tool `read`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "read",
    aliases: &["read_file", "file_read", "open_file", "view_file"],
    description: "Read a text file of the workspace. Each line is shown as its number, a tab, and its text. \
        Of a long file the first lines are shown; ask for others with `offset` and `limit`.",
    needs: PermissionMode::ReadOnly,
};
