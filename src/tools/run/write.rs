//! `write`: makes a file of the workspace, or replaces its whole content.

use super::arguments::typed;
use super::execution::Execution;
use super::workspace::Written;
use super::{Cancel, ToolError, Toolbox};
use crate::tools::write::TOOL;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the workspace directory."
            },
            "content": {
                "type": "string",
                "description": "The whole new content."
            }
        },
        "required": ["path", "content"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, _cancel: &Cancel) -> Result<String, ToolError> {
    let Arguments { path, content } = typed(arguments)?;
    let written = toolbox
        .workspace
        .write_text(&path, &content, toolbox.mode)?;
    let verb = match written {
        Written::Created => "created",
        Written::Replaced => "replaced",
    };
    Ok(format!("{verb} `{path}` ({} bytes)", content.len()))
}
