//! The report as annotations of a GitHub workflow: a command a line, which the runner reads from the log.

use super::super::out::Out;
use super::summary::Summary;
use super::{Entry, Level, Report, level, wording};
use crate::scan::Grade;
use crate::walk::FileFinding;
use std::io::{self, Write as _};

pub(super) struct Github {
    deny: Grade,
}

impl Github {
    pub(super) fn new(deny: Grade) -> Github {
        Github { deny }
    }

    fn finding(&self, out: &mut Out, path: &str, found: &FileFinding) -> io::Result<()> {
        let command = match level(found.grade, self.deny) {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let FileFinding { line, column, .. } = found;
        let end = column + found.excerpt[found.mark.clone()].chars().count();
        let title = format!("{} {}", wording::grade(found.grade), found.name);
        writeln!(
            out,
            "::{command} file={path},line={line},endLine={line},col={column},endColumn={end},title={}::{}",
            property(&title),
            message(&wording::finding(found)),
        )
    }
}

impl Report for Github {
    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let file = entry.file;
        let path = property(&file.path.to_string_lossy());
        for found in &file.findings {
            self.finding(out, &path, found)?;
        }
        for why in &file.unscanned {
            let command = if why.hides_text() { "error" } else { "warning" };
            let why = message(&why.to_string());
            writeln!(out, "::{command} file={path},title=unscanned::{why}")?;
        }
        if let Some(why) = &entry.unfixed {
            let why = message(&wording::unfixed(why));
            writeln!(out, "::error file={path},title=unfixed::{why}")?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        writeln!(out, "{}", summary.sentence())
    }
}

/// A message as the runner reads it back.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property's value as the runner reads it back.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
