//! `edit`: replaces one piece of a file's text by another.

use super::arguments::typed;
use super::execution::Execution;
use super::workspace::check_size;
use super::{Cancel, ToolError, Toolbox};
use crate::tools::edit::TOOL;
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
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
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
            "old_text": {
                "type": "string",
                "minLength": 1,
                "description": "The text to replace."
            },
            "new_text": {
                "type": "string",
                "description": "The text to put there."
            },
            "replace_all": {
                "type": "boolean",
                "description": "Replace every occurrence, not just one."
            }
        },
        "required": ["path", "old_text", "new_text"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, _cancel: &Cancel) -> Result<String, ToolError> {
    let Arguments {
        path,
        old_text,
        new_text,
        replace_all,
    } = typed(arguments)?;
    // First, so that no answer tells of a text that may not be changed.
    let place = toolbox.workspace.target(&path, toolbox.mode)?;
    let text = toolbox.workspace.read_text(&path, &place)?;
    let (old_text, new_text) = in_line_ends_of(&text, old_text, new_text);
    let count = text.matches(&old_text).count();
    if count == 0 {
        return Err(ToolError::TextNotFound { path });
    }
    if count > 1 && !replace_all {
        return Err(ToolError::TextNotUnique { path, count });
    }
    check_size(&path, size_after(&text, &old_text, &new_text, count))?;
    let changed = text.replace(&old_text, &new_text);
    toolbox
        .workspace
        .write_text(&path, &changed, toolbox.mode)?;
    let times = if count == 1 { "once" } else { "everywhere" };
    Ok(format!("edited `{path}` {times} ({count} replaced)"))
}

/// How many bytes a text has after `count` replacements.
fn size_after(text: &str, old_text: &str, new_text: &str, count: usize) -> u64 {
    let bytes = |text: &str| text.len() as u64;
    let kept = bytes(text) - bytes(old_text) * count as u64;
    bytes(new_text)
        .saturating_mul(count as u64)
        .saturating_add(kept)
}

/// `read` shows lines without their ends, so a model can't know that a file ends its lines with CRLF. One that
/// ends all of them so keeps to it; in a mixed one the text decides that is to be replaced.
fn in_line_ends_of(text: &str, old_text: String, new_text: String) -> (String, String) {
    let with_crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let crlf = text.matches("\r\n").count();
    let has_crlf_alone = crlf > 0 && crlf == text.matches('\n').count();
    let old_with_crlf = with_crlf(&old_text);
    if has_crlf_alone || (!text.contains(&old_text) && text.contains(&old_with_crlf)) {
        return (old_with_crlf, with_crlf(&new_text));
    }
    (old_text, new_text)
}
