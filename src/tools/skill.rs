//! The tool `skill`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "skill",
    aliases: &["use_skill", "load_skill", "read_skill"],
    description: "Load a skill: instructions for a kind of task, by a name of the list of available skills.",
    needs: PermissionMode::ReadOnly,
};
