//! The report for programs: one document, or one a line. Both are written file by file.

use super::super::out::Out;
use super::summary::Summary;
use super::{Entry, Report, uri_path, wording};
use crate::tools;
use crate::walk::{FileFinding, Role, Unscanned};
use serde::Serialize;
use std::io::{self, Write as _};
use std::path::Path;

/// The version of both forms.
const SCHEMA: u32 = 1;

/// One document: `schema`, `files`, `summary`.
#[derive(Default)]
pub(super) struct Document {
    has_file: bool,
}

/// A document a line: each finding, each unscanned part, and last the summary.
pub(super) struct Lines;

#[derive(Serialize)]
struct File<'r> {
    #[serde(flatten)]
    place: Place<'r>,
    /// How many entries of tools lists a fix changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<usize>,
    /// Why it could not be fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfixed: Option<String>,
    findings: Vec<Finding<'r>>,
    unscanned: Vec<Part<'r>>,
}

/// Which file it is about.
#[derive(Clone, Serialize)]
struct Place<'r> {
    path: std::borrow::Cow<'r, str>,
    /// The path's bytes, percent-encoded; only where `path` cannot hold them.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoded_path: Option<String>,
    role: Role,
}

#[derive(Serialize)]
struct Finding<'r> {
    #[serde(flatten)]
    found: &'r FileFinding,
    explanation: &'static str,
    replacement: &'r str,
    retired_in: Option<&'static str>,
    hint: Option<&'static str>,
}

#[derive(Serialize)]
struct Part<'r> {
    #[serde(flatten)]
    why: &'r Unscanned,
    message: String,
    hides_text: bool,
}

#[derive(Serialize)]
struct Unfixed {
    message: String,
}

#[derive(Serialize)]
struct Edits {
    edits: usize,
}

/// A line of the stream.
#[derive(Serialize)]
struct Line<'r, T: Serialize> {
    schema: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    place: Option<Place<'r>>,
    #[serde(flatten)]
    content: T,
}

impl Report for Document {
    fn begin(&mut self, out: &mut Out) -> io::Result<()> {
        write!(out, "{{\n  \"schema\": {SCHEMA},\n  \"files\": [")
    }

    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let comma = if self.has_file { "," } else { "" };
        self.has_file = true;
        write!(out, "{comma}\n    ")?;
        serde_json::to_writer(&mut *out, &File::of(entry))?;
        Ok(())
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        let close = if self.has_file { "\n  ]" } else { "]" };
        write!(out, "{close},\n  \"summary\": ")?;
        serde_json::to_writer(&mut *out, summary)?;
        writeln!(out, "\n}}")
    }
}

impl Report for Lines {
    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let File {
            place,
            fixed,
            unfixed,
            findings,
            unscanned,
        } = File::of(entry);
        if let Some(edits) = fixed {
            line(out, "fixed", Some(place.clone()), Edits { edits })?;
        }
        if let Some(message) = unfixed {
            line(out, "unfixed", Some(place.clone()), Unfixed { message })?;
        }
        for finding in findings {
            line(out, "finding", Some(place.clone()), finding)?;
        }
        for part in unscanned {
            line(out, "unscanned", Some(place.clone()), part)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        line(out, "summary", None, summary)
    }
}

fn line(
    out: &mut Out,
    kind: &'static str,
    place: Option<Place<'_>>,
    content: impl Serialize,
) -> io::Result<()> {
    let line = Line {
        schema: SCHEMA,
        kind,
        place,
        content,
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

impl<'r> File<'r> {
    fn of(entry: &Entry<'r>) -> File<'r> {
        let file = entry.file;
        File {
            place: Place::of(&file.path, file.role),
            fixed: entry.fix.as_ref().map(|fix| fix.edits),
            unfixed: entry.unfixed.as_deref().map(wording::unfixed),
            findings: file.findings.iter().map(Finding::of).collect(),
            unscanned: file.unscanned.iter().map(Part::of).collect(),
        }
    }
}

impl<'r> Place<'r> {
    fn of(path: &'r Path, role: Role) -> Place<'r> {
        Place {
            path: path.to_string_lossy(),
            encoded_path: path.to_str().is_none().then(|| uri_path(path)),
            role,
        }
    }
}

impl<'r> Finding<'r> {
    fn of(found: &'r FileFinding) -> Finding<'r> {
        let row = tools::retired_tool(&found.name);
        Finding {
            found,
            explanation: found.reason.explain(),
            replacement: tools::canonical_tool_name(&found.name),
            retired_in: row.map(|row| row.retired_in),
            hint: row.and_then(|row| row.hint),
        }
    }
}

impl<'r> Part<'r> {
    fn of(why: &'r Unscanned) -> Part<'r> {
        Part {
            why,
            message: why.to_string(),
            hides_text: why.hides_text(),
        }
    }
}
