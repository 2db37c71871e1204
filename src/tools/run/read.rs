//! `read`: shows a file of the workspace, with line numbers.

use super::arguments::typed;
use super::execution::Execution;
use super::{Cancel, ToolError, Toolbox};
use crate::tools::read::TOOL;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

const DEFAULT_LINES: usize = 2_000;

/// More than there are in any file that can be read.
const MAX_LINES: usize = 1_000_000_000;

const MAX_LINE_BYTES: usize = 2_000;
const MAX_OUTPUT_BYTES: usize = 128 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
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
            "offset": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LINES,
                "description": "The first line to show, counted from 1."
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LINES,
                "description": format!("How many lines to show; {DEFAULT_LINES} if not given.")
            }
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, _cancel: &Cancel) -> Result<String, ToolError> {
    let arguments: Arguments = typed(arguments)?;
    let place = toolbox.workspace.find(&arguments.path)?;
    if !toolbox.goes_with_a_skill(&place) {
        toolbox.may_look_at(&arguments.path, &place)?;
    }
    let text = toolbox.workspace.read_text(&arguments.path, &place)?;
    let offset = arguments.offset.unwrap_or(1);
    let limit = arguments.limit.unwrap_or(DEFAULT_LINES);
    let total = text.lines().count();
    if total == 0 {
        return Ok("[the file is empty]".to_owned());
    }
    if offset > total {
        return Err(ToolError::InvalidParameter {
            parameter: "offset".to_owned(),
            problem: format!("the file has {total} lines"),
        });
    }
    Ok(numbered(&text, offset, limit, total))
}

fn numbered(text: &str, offset: usize, limit: usize, total: usize) -> String {
    let mut shown = String::new();
    let mut next = offset;
    for line in text.lines().skip(offset - 1).take(limit) {
        if shown.len() + line.len().min(MAX_LINE_BYTES) > MAX_OUTPUT_BYTES {
            break;
        }
        let start = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
        let _ = write!(shown, "{next}\t{start}");
        if start.len() < line.len() {
            let _ = write!(shown, " [{} bytes cut]", line.len() - start.len());
        }
        shown.push('\n');
        next += 1;
    }
    if next <= total {
        let _ = writeln!(
            shown,
            "[{} of {total} lines left; go on with `offset` {next}]",
            total + 1 - next
        );
    }
    shown
}
