//! The tool `skill`.

use super::LiveTool;

pub(super) const TOOL: LiveTool = LiveTool {
    name: "skill",
    aliases: &["use_skill", "load_skill", "read_skill"],
    summary: "Load a skill's instructions",
};
