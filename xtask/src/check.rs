//! `cargo xtask check`: the list is valid, it has only grown, and the sources agree with it.

use std::collections::{HashMap, HashSet};
use std::io;

use anyhow::{Result, bail};
use clap::Args;
use registry::{Comparison, List, Row, Rules, Violation, fold};

use crate::base::{self, Base, Environment};
use crate::explain::{mend_commit, retire_again, sides, undo, whereabouts};
use crate::git::Git;
use crate::history::{self, Done, InMerge, Now, Origin, Outcome, Step, short};
use crate::project::Project;
use crate::sources::{self, Sources};
use crate::{Status, paint, print, say};

/// Check that the list of retired tools is valid, has only grown, and agrees with the sources.
///
/// Without `--base` it compares with what a CI event names (merge queue, pull request, push), else with every
/// version on the first-parent history. Each commit since the base has to keep what the one before it had.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Compare with the list of this revision (where HEAD and it parted) or with this file.
    #[arg(long, value_name = "REV|FILE")]
    base: Option<String>,
}

/// Runs the check and says what it found.
pub(crate) fn run(check: &Check) -> Result<Status> {
    let project = Project::find()?;
    let git = Git::open(&project.root)?;
    let base = base::choose(git.as_ref(), check.base.as_deref(), &Environment::read())?;
    let list = project.read_list();
    let bytes = match &list {
        Ok(bytes) => Some(bytes.as_slice()),
        // Whether it ought to be there is for the base to say.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return unreadable(error),
    };
    let mut report = Report::default();

    let now = Now::of(bytes);
    let outcome = history::compare(git.as_ref(), &base, &now)?;
    report.base(&project, &base, &outcome, bytes);

    let sources = sources::read(&project)?;
    match &list {
        Ok(bytes) => report.list(&project, bytes, &sources),
        Err(error) if report.findings == 0 => return unreadable(error),
        Err(_) => {}
    }
    report.finish()
}

/// Says why there is nothing to check.
fn unreadable(error: &io::Error) -> Result<Status> {
    say(&(registry::draw_unreadable(registry::FILE, error, paint()) + "\n"));
    bail!("there is no list to check")
}

/// What was found, said as it is found, and what was compared, said at the end.
#[derive(Debug, Default)]
struct Report {
    findings: usize,
    compared: Vec<String>,
}

impl Report {
    /// Says one finding: what, the two sides, what to do.
    fn finding(&mut self, what: &str, sides: &[String], hints: &[String]) {
        self.findings += 1;
        let hints = hints.iter().map(|hint| format!("hint: {hint}"));
        let lines: Vec<String> = std::iter::once(format!("error: {what}"))
            .chain(sides.iter().cloned())
            .chain(hints)
            .collect();
        say(&(lines.join("\n") + "\n"));
    }

    /// The rules about the list itself and about the sources.
    fn list(&mut self, project: &Project, bytes: &[u8], sources: &Sources) {
        let rules = Rules {
            package: &project.package,
            live: Some(&sources.live),
        };
        match registry::parse(registry::FILE, bytes, rules) {
            Ok(list) => {
                self.compared.insert(
                    0,
                    format!("{}: {}", registry::FILE, count(list.rows().len(), "row")),
                );
                self.sources(&list, sources);
            }
            Err(faults) => {
                self.findings += faults.count();
                say(&(faults.draw(paint()) + "\n"));
                let salvage = registry::salvage(bytes);
                if salvage.is_none() {
                    say("note: the rows as they are now were not compared: none can be read");
                }
                let rows = salvage.unwrap_or_default().rows;
                self.literals(&rows, sources);
            }
        }
        if bytes.windows(2).any(|pair| pair == b"\r\n") {
            say(&format!(
                "warning: `{file}` has CRLF line ends; `.gitattributes` pins it to LF\n\
                 hint: {again}",
                file = registry::FILE,
                again = registry::LINE_ENDS_AGAIN,
            ));
        }
    }

    fn sources(&mut self, list: &List, sources: &Sources) {
        let found = self.literals(list.rows(), sources);
        if found == 0 {
            let live = sources.live.iter().filter(|live| live.name == live.tool);
            self.compared.push(format!(
                "sources: {}, {}, no second list",
                count(sources.files, "file"),
                count(live.count(), "live tool"),
            ));
        }
    }

    /// No literal of the sources is a retired name, a list of them, or a map from them to live tools.
    fn literals(&mut self, rows: &[Row], sources: &Sources) -> usize {
        let rows: HashMap<String, &Row> = rows.iter().map(|row| (fold(&row.name), row)).collect();
        let live: HashSet<String> = sources.live.iter().map(|live| fold(&live.name)).collect();
        let before = self.findings;
        for literal in &sources.literals {
            let names: Vec<String> = names_in(&literal.value).map(fold).collect();
            let is_text = |name: &String| !rows.contains_key(name) && !live.contains(name);
            if names.iter().any(is_text) {
                continue;
            }
            for row in names.iter().filter_map(|name| rows.get(name)) {
                self.finding(
                    &format!("a second list: `{}` is a literal in the sources", row.name),
                    &[
                        format!("  {}", literal.place),
                        format!("  {}:{}: {row}", registry::FILE, row.line),
                    ],
                    &[
                        "look the name up in `vak::tools::RETIRED_TOOLS`; only the list may say it"
                            .into(),
                    ],
                );
            }
        }
        self.findings - before
    }

    /// The rule that the list only grows.
    fn base(&mut self, project: &Project, base: &Base, outcome: &Outcome, bytes: Option<&[u8]>) {
        for step in &outcome.steps {
            self.step(project, step, outcome.head.as_deref(), bytes);
        }
        for found in &outcome.merges {
            self.in_merge(found);
        }
        for commit in &outcome.unreadable {
            say(&format!(
                "warning: the list of {} cannot be read; the version before it counts",
                short(commit)
            ));
        }
        match base {
            Base::None(why) => say(&format!(
                "warning: not compared with an earlier version: {why}\n\
                 hint: `--base FILE` compares with a file"
            )),
            Base::History { cut: true } => say(
                "warning: the history is cut off; only the versions that are here were compared\n\
                 hint: git fetch --unshallow --no-tags origin",
            ),
            _ => {}
        }
        self.compared.push(compared_with(base, outcome));
    }

    /// One step that did more than add.
    fn step(&mut self, project: &Project, step: &Step, head: Option<&str>, bytes: Option<&[u8]>) {
        let hints = undo(step, head);
        if let Done::Gone(rows) = step.done {
            let sides = [
                format!(
                    "  base: {} with {}",
                    step.from.place(None),
                    count(rows, "row")
                ),
                format!("   now: {}", whereabouts(project, step)),
            ];
            return self.finding(&format!("`{}` is gone", registry::FILE), &sides, &hints);
        }
        let violations = step.violations();
        for (at, violation) in violations.iter().enumerate() {
            // One command undoes the whole step: it is said once, after the last.
            let is_last = at + 1 == violations.len();
            let hints = if is_last { hints.as_slice() } else { &[] };
            self.finding(
                &violation.to_string(),
                &sides(step, violation, bytes),
                hints,
            );
        }
    }

    fn in_merge(&mut self, found: &InMerge) {
        let InMerge {
            merge,
            parent,
            violation,
        } = found;
        let (base, commit) = (violation.base(), short(&merge.commit));
        let mut sides = vec![format!(
            "  merged: {}: {base}",
            parent.place(Some(base.line))
        )];
        // A row that looks renamed may as well be lost and another in its place: that is undone in the same way.
        let is_lost = matches!(
            violation,
            Violation::Removed { .. } | Violation::Renamed { .. }
        );
        let Some(now) = violation.now().filter(|_| !is_lost) else {
            sides.push(format!("     now: {}: no such row", registry::FILE));
            return self.finding(
                &format!("the row of `{}` was lost in the merge {commit}", base.name),
                &sides,
                &[retire_again(base)],
            );
        };
        let place = Origin::Commit(merge.clone()).place(Some(now.line));
        sides.push(format!("     now: {place}: {now}"));
        self.finding(
            &format!("{violation} in the merge {commit}"),
            &sides,
            &mend_commit(&merge.commit),
        );
    }

    /// Says what was compared if all is in order.
    fn finish(self) -> Result<Status> {
        if self.findings > 0 {
            say(&format!("{} found", count(self.findings, "fault")));
            return Ok(Status::Findings);
        }
        print(&(self.compared.join("\n") + "\n"))?;
        Ok(Status::Clean)
    }
}

/// The parts of a literal that may be names: `"a"`, `"a,b"`, `"a=b;c=d"`.
fn names_in(literal: &str) -> impl Iterator<Item = &str> {
    let is_separator = |letter: char| !(letter.is_alphanumeric() || "_.-".contains(letter));
    literal.split(is_separator).filter(|part| !part.is_empty())
}

/// What the list was compared with, in one line.
fn compared_with(base: &Base, outcome: &Outcome) -> String {
    let (named, how) = match base {
        Base::None(why) => return format!("base: none, {why}"),
        Base::File(path) => (path.display().to_string(), "`--base`".to_owned()),
        Base::Commit { commit, chosen, .. } => (short(commit).to_owned(), chosen.clone()),
        Base::History { .. } => {
            let versions = count(outcome.versions, "version");
            (
                "every version on the first-parent history".to_owned(),
                format!("{versions} before the work tree's"),
            )
        }
    };
    if outcome.is_first_landing {
        return format!("base: {named} ({how}) has no list: this is its first landing");
    }
    let did = match &outcome.last {
        Some(comparison) => what_it_did(comparison),
        None => "nothing to compare".to_owned(),
    };
    format!("base: {named} ({how}): {did}")
}

/// `2 rows kept, 1 added: a, hint reworded: b`.
fn what_it_did(comparison: &Comparison) -> String {
    let names = |rows: &[Row]| {
        let names: Vec<_> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
        names.join(", ")
    };
    let mut did = vec![format!("{} kept", count(comparison.kept, "row"))];
    did.push(match comparison.added.len() {
        0 => "none added".to_owned(),
        added => format!("{added} added: {}", names(&comparison.added)),
    });
    if !comparison.reworded.is_empty() {
        did.push(format!("hint reworded: {}", names(&comparison.reworded)));
    }
    did.join(", ")
}

/// `1 row`, `2 rows`.
fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
