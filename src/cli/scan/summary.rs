//! What a scan adds up to, and the exit code that follows.

use super::super::Status;
use super::excerpt::{shown_path, shown_text};
use super::wording;
use crate::scan::Grade;
use crate::walk::{FileReport, SpecialFile, Unscanned};
use serde::Serialize;
use std::path::Path;

/// How many failed paths are named in the final error; the report has all of them.
const NAMED_FAILURES: usize = 10;

/// What a scan adds up to.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// Files looked at.
    pub(super) scanned: usize,
    /// Files with a finding that is shown.
    pub(super) files: usize,
    /// Findings by grade, also of grades that are not shown.
    pub(super) findings: ByGrade,
    /// Files of which something was not scanned.
    pub(super) unscanned: usize,
    /// Files that hide text from the scanner: these make the exit code 2.
    pub(super) incomplete: usize,
    /// Findings at or above the grade that is denied: these make the exit code 1.
    pub(super) denied: usize,
    /// Entries of tools lists that a fix changed.
    pub(super) fixed: usize,
    /// Paths that could not be scanned, and files that could not be fixed: these make the exit code 2.
    failed: usize,
    #[serde(skip)]
    shown_grade: Grade,
    #[serde(skip)]
    denied_grade: Grade,
    #[serde(skip)]
    failures: Vec<String>,
    /// Whether one of them is a pipe.
    #[serde(skip)]
    has_pipe: bool,
}

/// A number for each grade.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct ByGrade {
    pub(super) instructs: usize,
    pub(super) declares: usize,
    pub(super) suspect: usize,
    pub(super) mentions: usize,
}

impl ByGrade {
    fn of(&mut self, grade: Grade) -> &mut usize {
        match grade {
            Grade::Instructs => &mut self.instructs,
            Grade::Declares => &mut self.declares,
            Grade::Suspect => &mut self.suspect,
            Grade::Mentions => &mut self.mentions,
        }
    }

    fn strongest_first(self) -> [(Grade, usize); 4] {
        [
            (Grade::Instructs, self.instructs),
            (Grade::Declares, self.declares),
            (Grade::Suspect, self.suspect),
            (Grade::Mentions, self.mentions),
        ]
    }
}

/// The numbers in words; `None` if there are none.
fn list(numbers: &[(Grade, usize)]) -> Option<String> {
    let words: Vec<String> = numbers
        .iter()
        .map(|(grade, number)| format!("{number} {}", wording::grade(*grade)))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn is_pipe(why: &Unscanned) -> bool {
    matches!(
        why,
        Unscanned::Special {
            kind: SpecialFile::Fifo
        }
    )
}

impl Summary {
    /// Nothing yet, of a scan that shows and denies findings from these grades on.
    pub(super) fn new(shown_grade: Grade, denied_grade: Grade) -> Summary {
        Summary {
            scanned: 0,
            files: 0,
            findings: ByGrade::default(),
            unscanned: 0,
            incomplete: 0,
            denied: 0,
            fixed: 0,
            failed: 0,
            shown_grade,
            denied_grade,
            failures: Vec::new(),
            has_pipe: false,
        }
    }

    pub(super) fn count(&mut self, file: &FileReport) {
        for finding in &file.findings {
            *self.findings.of(finding.grade) += 1;
            self.denied += usize::from(finding.grade >= self.denied_grade);
        }
        let has_shown = file
            .findings
            .iter()
            .any(|finding| finding.grade >= self.shown_grade);
        self.files += usize::from(has_shown);
        self.unscanned += usize::from(!file.unscanned.is_empty());
        self.incomplete += usize::from(file.unscanned.iter().any(Unscanned::hides_text));
    }

    /// Keeps the words for a path that was asked for and could not be scanned.
    pub(super) fn fail(&mut self, file: &FileReport) {
        self.count(file);
        self.has_pipe |= file.unscanned.iter().any(is_pipe);
        let why: Vec<String> = file.unscanned.iter().map(Unscanned::to_string).collect();
        self.name_failure("scan", &file.path, &why.join("; "));
    }

    /// Keeps the words for a file that could not be fixed.
    pub(super) fn fail_fix(&mut self, path: &Path, why: &str) {
        self.name_failure("fix", path, why);
    }

    /// Whether everything that was asked for was done.
    pub(super) fn is_complete(&self) -> bool {
        self.incomplete == 0 && self.failed == 0
    }

    fn name_failure(&mut self, action: &str, path: &Path, why: &str) {
        self.failed += 1;
        if self.failures.len() < NAMED_FAILURES {
            let (path, why) = (shown_path(path), shown_text(why));
            self.failures
                .push(format!("failed to {action} `{path}`: {why}"));
        }
    }

    /// The summary for people, in one line.
    pub(super) fn sentence(&self) -> String {
        let (hidden, found): (Vec<_>, Vec<_>) = self
            .findings
            .strongest_first()
            .into_iter()
            .filter(|(_, number)| *number > 0)
            .partition(|(grade, _)| *grade < self.shown_grade);
        let scanned = wording::files(self.scanned);
        let mut parts = vec![match list(&found) {
            None => format!("no reference to a retired tool in {scanned}"),
            Some(found) => format!("{found} in {} of {scanned}", self.files),
        }];
        parts.extend(list(&hidden).map(|hidden| format!("{hidden} not shown")));
        if self.fixed > 0 {
            parts.push(format!("{} fixed", wording::edits(self.fixed)));
        }
        if self.unscanned > 0 {
            parts.push(format!(
                "{} not scanned in full",
                wording::files(self.unscanned)
            ));
        }
        parts.join("; ")
    }

    /// The exit code. That something could not be scanned outweighs findings: they may not be all.
    pub(super) fn verdict(&self) -> anyhow::Result<Status> {
        let hint = if self.has_pipe {
            "\nhint: what comes through a pipe is scanned as standard input: `vak scan -`"
        } else {
            ""
        };
        match (self.failures.as_slice(), self.incomplete, self.denied) {
            ([], 0, 0) => Ok(Status::Clean),
            ([], 0, _) => Ok(Status::Findings),
            ([], 1, _) => anyhow::bail!("1 file could not be scanned to its end"),
            ([], files, _) => anyhow::bail!("{files} files could not be scanned to their end"),
            ([only], ..) => anyhow::bail!("{only}{hint}"),
            (failures, ..) => {
                let more = match self.failed - failures.len() {
                    0 => String::new(),
                    more => format!("\n  and {more} more"),
                };
                let failures = failures.join("\n  ");
                anyhow::bail!("{} paths failed\n  {failures}{more}{hint}", self.failed)
            }
        }
    }
}
