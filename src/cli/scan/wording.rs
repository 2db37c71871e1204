//! The words that several formats share.

use crate::scan::Grade;
use crate::tools;
use crate::walk::FileFinding;

/// The grade as the command line and the JSON form spell it.
pub(super) fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Instructs => "instructs",
        Grade::Declares => "declares",
        Grade::Suspect => "suspect",
        Grade::Mentions => "mentions",
    }
}

/// A finding in one sentence, for formats that have a place for no more.
pub(super) fn finding(found: &FileFinding) -> String {
    let name = &found.name;
    let mut sentence = match tools::retired_tool(name) {
        Some(row) => format!(
            "`{name}` was retired in {}; use `{}`",
            row.retired_in,
            tools::canonical_tool_name(name)
        ),
        None => format!("`{name}` is retired"),
    };
    if let Some(hint) = tools::retired_tool(name).and_then(|row| row.hint) {
        sentence.push_str(": ");
        sentence.push_str(hint);
    }
    format!("{sentence} ({})", found.reason.explain())
}

/// A number of files.
pub(super) fn files(number: usize) -> String {
    match number {
        1 => "1 file".to_owned(),
        _ => format!("{number} files"),
    }
}

/// A number of changes in tools lists.
pub(super) fn edits(number: usize) -> String {
    match number {
        1 => "1 entry of a tools list".to_owned(),
        _ => format!("{number} entries of tools lists"),
    }
}

/// Why a file could not be fixed.
pub(super) fn unfixed(why: &str) -> String {
    format!("could not be fixed: {why}")
}
