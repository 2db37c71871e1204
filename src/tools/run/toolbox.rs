//! The call path: name, admission and permission, schema, execution, outcome.

use super::nearest::nearest;
use super::skill::FrozenSkills;
use super::{
    Cancel, LIVE_TOOLS, LiveTool, NormalizedCall, PermissionMode, ToolCall, ToolError, ToolOutcome,
    Workspace, execution, live_tool, normalize_tool_call, schema,
};
use serde_json::Value;
use std::path::Path;

/// The name of the file that holds a skill's text, in whatever letter case.
const SKILL_FILE: &str = "SKILL.md";

/// What the calls of one session can reach, and how much of it they may touch.
#[derive(Debug)]
pub struct Toolbox {
    pub(super) workspace: Workspace,
    pub(super) mode: PermissionMode,
    pub(super) skills: FrozenSkills,
}

impl Toolbox {
    /// The tools, at work in a workspace, in a permission mode, with the skills a session has frozen.
    pub fn new(workspace: Workspace, mode: PermissionMode, skills: FrozenSkills) -> Toolbox {
        Toolbox {
            workspace,
            mode,
            skills,
        }
    }

    /// The permission mode.
    pub fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// The tools that the mode allows, in order: what the model is told of.
    pub fn offered(&self) -> impl Iterator<Item = &'static LiveTool> {
        let mode = self.mode;
        LIVE_TOOLS.iter().filter(move |tool| tool.needs <= mode)
    }

    /// Takes one call all the way. Never fails: a failure is the outcome.
    pub fn call(&self, call: &ToolCall, cancel: &Cancel) -> ToolOutcome {
        let call = normalize_tool_call(call);
        let result = self.run(&call, cancel);
        ToolOutcome::new(&call, live_tool(call.tool), result)
    }

    fn run(&self, call: &NormalizedCall<'_>, cancel: &Cancel) -> Result<String, ToolError> {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let execution = execution::find(call.tool).ok_or_else(|| ToolError::UnknownCapability {
            said: call.said.to_owned(),
            nearest: nearest(call.said, self.offered()),
        })?;
        let LiveTool { name, needs, .. } = execution.tool;
        if self.mode < needs {
            return Err(ToolError::NotPermitted {
                tool: name,
                needs,
                mode: self.mode,
            });
        }
        let arguments = schema::of(name).admit(call.arguments)?;
        (execution.run)(self, Value::Object(arguments), cancel)
    }

    /// Refuses to look at vak's own state: the skills that were rejected, and what they came with, are there
    /// too. A person who decided for `full-access` has decided on that as well.
    pub(super) fn may_look_at(&self, said: &str, place: &Path) -> Result<(), ToolError> {
        if self.mode < PermissionMode::FullAccess && self.workspace.is_own_state(place) {
            return Err(ToolError::OwnState {
                path: said.to_owned(),
            });
        }
        Ok(())
    }

    /// Whether a file is one of those that an admitted skill has beside its text. The text itself, and that of
    /// a skill further below, is for the `skill` tool to give.
    pub(super) fn goes_with_a_skill(&self, place: &Path) -> bool {
        let is_text = place
            .file_name()
            .is_none_or(|name| name.eq_ignore_ascii_case(SKILL_FILE));
        let full = self.workspace.root().join(place);
        let directories = self.skills.admitted.values();
        !is_text
            && directories
                .filter_map(|skill| skill.path.parent()?.canonicalize().ok())
                .any(|directory| full.starts_with(directory))
    }
}
