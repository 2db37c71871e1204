//! The report for people: each finding with its line, the mark under it, and what to do.

use super::super::out::Out;
use super::super::{BAD, FAINT, GOOD, STRONG, WARN};
use super::excerpt::{Shown, lay_out, shown_path, shown_text};
use super::summary::Summary;
use super::{Entry, Level, Report, level, wording};
use crate::scan::Grade;
use crate::tools;
use crate::walk::{FileFinding, FileReport};
use anstyle::Style;
use std::io::{self, Write as _};

/// How wide an excerpt is where no terminal says otherwise.
const WIDTH: usize = 100;

pub(super) struct Human {
    deny: Grade,
    width: usize,
    is_first: bool,
}

impl Human {
    pub(super) fn new(deny: Grade) -> Human {
        Human {
            deny,
            width: terminal_width().unwrap_or(WIDTH),
            is_first: true,
        }
    }

    fn style(&self, grade: Grade) -> Style {
        match level(grade, self.deny) {
            Level::Error => BAD,
            Level::Warning => WARN,
            Level::Note => FAINT,
        }
    }

    fn finding(&self, out: &mut Out, path: &str, found: &FileFinding) -> io::Result<()> {
        let style = self.style(found.grade);
        let FileFinding {
            name, line, column, ..
        } = found;
        write!(out, "{STRONG}{path}:{line}:{column}{STRONG:#}: ")?;
        write!(
            out,
            "{style}{}{style:#}: `{name}`",
            wording::grade(found.grade)
        )?;
        let row = tools::retired_tool(name);
        if let Some(row) = row {
            let replacement = tools::canonical_tool_name(name);
            write!(out, " → `{replacement}` (retired in {})", row.retired_in)?;
        }
        writeln!(out)?;
        self.excerpt(out, found)?;
        if let Some(hint) = row.and_then(|row| row.hint) {
            writeln!(out, "{:>8} {GOOD}hint{GOOD:#}: {hint}", "=")?;
        }
        Ok(())
    }

    fn excerpt(&self, out: &mut Out, found: &FileFinding) -> io::Result<()> {
        let style = self.style(found.grade);
        let gutter = found.line.to_string().len().max(6);
        let width = self.width.saturating_sub(gutter + 3);
        let Shown { text, mark } = lay_out(&found.excerpt, &found.mark, width);
        let (line, start, caret) = (found.line, mark.start, "^".repeat(mark.len()));
        let reason = found.reason.explain();
        writeln!(out, "{FAINT}{line:>gutter$} |{FAINT:#} {text}")?;
        write!(out, "{FAINT}{:>gutter$} |{FAINT:#} ", "")?;
        writeln!(out, "{:start$}{style}{caret} {reason}{style:#}", "")
    }
}

impl Report for Human {
    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let file = entry.file;
        if !std::mem::take(&mut self.is_first) {
            writeln!(out)?;
        }
        let path = shown_path(&file.path);
        if let Some(fix) = &entry.fix {
            let edits = wording::edits(fix.edits);
            writeln!(
                out,
                "{STRONG}{path}{STRONG:#}: {GOOD}fixed{GOOD:#}: {edits}"
            )?;
        }
        for found in &file.findings {
            self.finding(out, &path, found)?;
        }
        for why in &file.unscanned {
            let why = shown_text(&why.to_string());
            writeln!(
                out,
                "{STRONG}{path}{STRONG:#}: {WARN}unscanned{WARN:#}: {why}"
            )?;
        }
        Ok(())
    }

    fn failed(&mut self, _out: &mut Out, _file: &FileReport) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        if !self.is_first {
            writeln!(out)?;
        }
        writeln!(out, "{}", summary.sentence())
    }
}

/// How wide the terminal on stdout is, if there is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}
