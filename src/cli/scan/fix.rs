//! `vak scan --fix`: takes declared retired names out of a file's tools lists, and `--diff`, which shows what
//! that would change.

use super::super::out::Out;
use super::super::{BAD, FAINT, GOOD};
use super::excerpt::shown_text;
use super::summary::Summary;
use super::{Entry, Report};
use crate::disk;
use crate::mode::Mode;
use crate::scan::{Grade, Scanner};
use crate::walk::{self, FileReport};
use anyhow::Context as _;
use similar::TextDiff;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;

/// The largest file that is rewritten, in bytes.
const LIMIT: u64 = 64 << 20;

/// What a fix changed, or would change, in a file.
pub(super) struct Fix {
    pub(super) edits: usize,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// Fixes a file in whose tools list something was found. The report becomes that of the file as it is
/// afterwards; `None` if there is nothing that can be fixed.
pub(super) fn fix(
    report: &mut FileReport,
    mode: Mode,
    scanner: &Scanner,
) -> anyhow::Result<Option<Fix>> {
    let is_declared = |grade| grade == Grade::Declares;
    if !report.findings.iter().any(|found| is_declared(found.grade)) {
        return Ok(None);
    }
    // The temporary file must stand beside the file itself, not beside a link to it.
    let path = report.path.canonicalize()?;
    let before = disk::read(&path, LIMIT)?.context("it is gone")?;
    let Some(fixed) = walk::fix_bytes(&before, scanner) else {
        // Somebody may have fixed it since it was scanned.
        *report = walk::scan_again(report, &before, scanner);
        return Ok(None);
    };
    if mode.writes() {
        replace(&path, &fixed.bytes)?;
    }
    *report = walk::scan_again(report, &fixed.bytes, scanner);
    Ok(Some(Fix {
        edits: fixed.edits,
        before,
        after: fixed.bytes,
    }))
}

fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        anyhow::bail!("it has no directory");
    };
    let directory = std::fs::File::open(parent)?;
    disk::replace_at(directory.as_fd(), parent, name, bytes)?;
    Ok(())
}

/// Writes a unified diff of what a fix would change, and nothing else.
pub(super) struct Diff {
    is_terminal: bool,
}

impl Diff {
    pub(super) fn new() -> Diff {
        Diff {
            is_terminal: io::stdout().is_terminal(),
        }
    }
}

impl Report for Diff {
    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let Some(fix) = &entry.fix else { return Ok(()) };
        let [before, after] = ["a", "b"].map(|side| header(side, &entry.file.path));
        let mut diff = Vec::new();
        TextDiff::from_lines(fix.before.as_slice(), fix.after.as_slice())
            .unified_diff()
            .header(&before, &after)
            .to_writer(&mut diff)?;
        if self.is_terminal {
            return show(out, &diff);
        }
        out.write_all(&diff)
    }

    fn failed(&mut self, _out: &mut Out, _file: &FileReport) -> io::Result<()> {
        Ok(())
    }

    /// The summary is no part of a diff that `patch` reads.
    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        out.flush()?;
        writeln!(anstream::stderr(), "{}", summary.sentence())
    }
}

/// A file's name as `patch -p1` and `git apply` read it: an absolute path from the root, where they are to be run;
/// behind a name that holds blanks a tab.
fn header(side: &str, path: &Path) -> String {
    let path = path.strip_prefix("/").unwrap_or(path).display().to_string();
    let end = if path.contains(' ') { "\t" } else { "" };
    format!("{side}/{path}{end}")
}

/// Shows a diff on a terminal, where nothing in it may act.
fn show(out: &mut Out, diff: &[u8]) -> io::Result<()> {
    for line in String::from_utf8_lossy(diff).lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => FAINT,
            _ => anstyle::Style::new(),
        };
        writeln!(out, "{style}{}{style:#}", shown_text(line))?;
    }
    Ok(())
}
