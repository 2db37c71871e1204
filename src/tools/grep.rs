//! The tool `grep`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "grep",
    aliases: &["grep_search", "search_files", "ripgrep"],
    description: "Find lines that match a regular expression (Rust syntax) in the workspace's text files. \
        Each is shown as path, `:`, line number, `:`, text; context lines have `-` instead. Files that \
        `.gitignore` names are left out.",
    needs: PermissionMode::ReadOnly,
};
