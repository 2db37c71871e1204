//! `skill`: gives the model the text of a skill, exactly as this session admitted it.

use super::arguments::typed;
use super::execution::Execution;
use super::{Cancel, ToolError, Toolbox};
use crate::disk;
use crate::tools::skill::TOOL;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
                "description": "The skill's name."
            }
        },
        "required": ["name"],
        "additionalProperties": false
    })
}

/// The skills of a session, as they were when it started.
#[derive(Debug, Clone, Default)]
pub struct FrozenSkills {
    /// The skills that were admitted, by name.
    pub admitted: BTreeMap<String, FrozenSkill>,
    /// Why each other skill was not, by name.
    pub rejected: BTreeMap<String, String>,
}

/// The text of a skill at the moment it was admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrozenSkill {
    /// The file it was read from.
    pub path: PathBuf,
    /// The file's whole text, frontmatter included.
    pub text: String,
}

impl FrozenSkill {
    /// Whether the file still is what was admitted.
    fn is_unchanged(&self) -> bool {
        let limit = self.text.len() as u64;
        let now = disk::read(&self.path, limit).ok().flatten();
        now.is_some_and(|bytes| bytes == self.text.as_bytes())
    }
}

fn run(toolbox: &Toolbox, arguments: Value, _cancel: &Cancel) -> Result<String, ToolError> {
    let Arguments { name } = typed(arguments)?;
    let skills = &toolbox.skills;
    if let Some(skill) = skills.admitted.get(&name) {
        // The text in hand is safe to use, but a model should not follow what its author has since taken
        // back, and must not be led to think that it read the file as it is now.
        return match skill.is_unchanged() {
            true => Ok(skill.text.clone()),
            false => Err(ToolError::SkillChanged { name }),
        };
    }
    match skills.rejected.get(&name) {
        Some(reason) => Err(ToolError::SkillNotAdmitted {
            reason: reason.clone(),
            name,
        }),
        None => Err(ToolError::UnknownSkill {
            name,
            offered: skills.admitted.keys().cloned().collect(),
        }),
    }
}
