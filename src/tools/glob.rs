//! The tool `glob`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "glob",
    aliases: &["glob_files", "find_files"],
    description: "Find files of the workspace by a pattern such as `*.rs` or `src/**/*.md`. A pattern \
        without `/` is held against file names, others against whole paths. Files that `.gitignore` names \
        are left out. The paths come sorted, one a line.",
    needs: PermissionMode::ReadOnly,
};
