//! `grep`: finds lines of the workspace's files by a regular expression.

use super::arguments::typed;
use super::execution::Execution;
use super::search::Patience;
use super::{Cancel, ToolError, Toolbox, search};
use crate::tools::grep::TOOL;
use crate::words::count;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

const MAX_MATCHES: usize = 200;
const MAX_CONTEXT: usize = 20;
const MAX_LINE_BYTES: usize = 500;
const MAX_OUTPUT_BYTES: usize = 64 << 10;

/// A larger file is no text that a person wrote.
const MAX_FILE_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 10_000,
                "description": "The regular expression."
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file or directory to look in; the workspace if not given."
            },
            "glob": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1_000,
                "description": "Only files that match this pattern, such as `*.rs`."
            },
            "ignore_case": {
                "type": "boolean",
                "description": "Let upper and lower case match each other."
            },
            "context": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_CONTEXT,
                "description": "How many lines around each match to show."
            }
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, cancel: &Cancel) -> Result<String, ToolError> {
    let arguments: Arguments = typed(arguments)?;
    let matcher = matcher(&arguments)?;
    let glob = arguments
        .glob
        .as_deref()
        .map(|pattern| search::pattern("glob", pattern))
        .transpose()?;
    let wanted = |path: &Path| glob.as_ref().is_none_or(|glob| search::matches(glob, path));
    let path = arguments.path.as_deref().unwrap_or(".");
    let patience = Patience::new(cancel);
    let files = search::files(toolbox, path, wanted, &patience)?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(arguments.context)
        .after_context(arguments.context)
        .build();
    let mut lines = Lines::default();
    let mut stop = files.stop;
    for (searched, file) in files.found.iter().enumerate() {
        if let Err(why) = patience.check() {
            stop = Some(why);
            lines.unsearched = files.found.len() - searched;
            break;
        }
        lines.enter(file);
        if search_in(toolbox, file, &matcher, &mut searcher, &mut lines).is_err() {
            lines.left_out += 1;
        }
    }
    let mut report = lines.report(stop.is_none());
    files.note_unreadable(&mut report);
    match stop {
        None => Ok(report),
        Some(stop) => Err(stop.with(report)),
    }
}

/// Searches a file that the walk has met, whatever has become of it since.
fn search_in(
    toolbox: &Toolbox,
    file: &Path,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    lines: &mut Lines,
) -> io::Result<()> {
    match toolbox.workspace.open_regular(file)? {
        Some((open, metadata)) if metadata.len() <= MAX_FILE_BYTES => {
            searcher.search_file(matcher, &open, lines)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| ToolError::InvalidParameter {
            parameter: "pattern".to_owned(),
            problem: error.to_string(),
        })
}

/// The lines found so far; past the limit they are only counted.
#[derive(Default)]
struct Lines {
    file: String,
    shown: String,
    matches: usize,
    /// Matches that were not shown.
    hidden: usize,
    /// Files that could not be read, or are too large.
    left_out: usize,
    /// Files of which only the beginning is text.
    binary: usize,
    /// Files that there was no time for.
    unsearched: usize,
}

impl Lines {
    fn enter(&mut self, file: &Path) {
        self.file = file.display().to_string();
    }

    fn push(&mut self, number: Option<u64>, separator: char, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\r', '\n']);
        let start = &text[..text.floor_char_boundary(MAX_LINE_BYTES)];
        let number = number.unwrap_or_default();
        let file = &self.file;
        let _ = write!(self.shown, "{file}{separator}{number}{separator}{start}");
        if start.len() < text.len() {
            let _ = write!(self.shown, " [{} bytes cut]", text.len() - start.len());
        }
        self.shown.push('\n');
    }

    fn is_full(&self) -> bool {
        self.hidden > 0 || self.matches > MAX_MATCHES || self.shown.len() > MAX_OUTPUT_BYTES
    }

    fn report(mut self, is_complete: bool) -> String {
        if self.matches == 0 && is_complete {
            self.shown.push_str("[no line matches]\n");
        }
        if self.hidden > 0 {
            let _ = writeln!(self.shown, "[{} more lines match]", self.hidden);
        }
        for (files, what) in [
            (self.left_out, "too large or not readable"),
            (self.binary, "searched only up to the first NUL"),
            (self.unsearched, "not searched"),
        ] {
            if files > 0 {
                let _ = writeln!(self.shown, "[{} {what}]", count(files, "file"));
            }
        }
        self.shown
    }
}

impl Sink for &mut Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.is_full() {
            self.hidden += 1;
        } else {
            self.push(line.line_number(), ':', line.bytes());
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        if !self.is_full() {
            self.push(line.line_number(), '-', line.bytes());
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.binary += usize::from(end.binary_byte_offset().is_some());
        Ok(())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.is_full() {
            self.shown.push_str("--\n");
        }
        Ok(true)
    }
}
