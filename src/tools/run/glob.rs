//! `glob`: finds files of the workspace by name.

use super::arguments::typed;
use super::execution::Execution;
use super::search::{Files, Patience};
use super::{Cancel, ToolError, Toolbox, search};
use crate::tools::glob::TOOL;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

const MAX_PATHS: usize = 1_000;
const MAX_OUTPUT_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1_000,
                "description": "The pattern, relative to the workspace directory."
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The directory to look in; the workspace if not given."
            }
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, cancel: &Cancel) -> Result<String, ToolError> {
    let Arguments { pattern, path } = typed(arguments)?;
    let pattern = search::pattern("pattern", &pattern)?;
    let path = path.as_deref().unwrap_or(".");
    let wanted = |path: &std::path::Path| search::matches(&pattern, path);
    let files = search::files(toolbox, path, wanted, &Patience::new(cancel))?;
    let shown = report(&files);
    match files.stop {
        None => Ok(shown),
        Some(stop) => Err(stop.with(shown)),
    }
}

fn report(files: &Files) -> String {
    let mut shown = String::new();
    let mut left = files.found.len();
    for file in files.found.iter().take(MAX_PATHS) {
        if shown.len() > MAX_OUTPUT_BYTES {
            break;
        }
        let _ = writeln!(shown, "{}", file.display());
        left -= 1;
    }
    if files.found.is_empty() {
        shown.push_str("[no file matches]\n");
    }
    if left > 0 {
        let _ = writeln!(shown, "[{left} more files match]");
    }
    files.note_unreadable(&mut shown);
    shown
}
