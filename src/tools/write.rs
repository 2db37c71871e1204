//! The tool `write`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "write",
    aliases: &["write_file", "file_write", "create_file"],
    description: "Write a file of the workspace: its content becomes exactly `content`. Directories that \
        are missing are made. To change a part of a file, use `edit`.",
    needs: PermissionMode::WorkspaceWrite,
};
