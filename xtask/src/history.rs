//! Whether the list has only grown: each version against the one before it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use registry::{Comparison, Faults, Row, Salvage, Violation};

use crate::base::Base;
use crate::git::{self, Git};
use crate::{paint, say};

/// How much of a commit's hash is shown.
const SHOWN_HASH: usize = 12;

/// A version of the list.
#[derive(Debug)]
struct Version {
    /// Where it is from.
    origin: Origin,
    rows: Vec<Row>,
    /// Its text, and how many lines that has.
    bytes: Vec<u8>,
    lines: usize,
}

impl Version {
    fn new(origin: Origin, rows: Vec<Row>, bytes: Vec<u8>) -> Version {
        Version {
            origin,
            rows,
            lines: count_lines(&bytes),
            bytes,
        }
    }

    /// Makes this the version with these bytes if that is this one with rows behind it, as `cargo xtask retire`
    /// leaves it: such a version cannot break the rule, and need not be read whole. Gives the bytes back if not.
    fn append(&mut self, origin: &Origin, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let more = bytes.strip_prefix(self.bytes.as_slice());
        let Some(more) = more.filter(|_| self.bytes.ends_with(b"\n")) else {
            return Some(bytes);
        };
        let Ok(rows) = registry::read("", more) else {
            return Some(bytes);
        };
        let lines = self.lines;
        self.rows.extend(rows.into_iter().map(|row| Row {
            line: row.line + lines,
            ..row
        }));
        self.lines += count_lines(more);
        self.origin = origin.clone();
        self.bytes = bytes;
        None
    }
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// Where a version of the list is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The list of a commit.
    Commit(git::File),
    /// A file that was given as base.
    File(String),
    /// The file as it is now.
    WorkTree,
}

impl Origin {
    /// Where a line of this version stands, for a message.
    pub(crate) fn place(&self, line: Option<usize>) -> String {
        let file = match self {
            Origin::Commit(git::File { commit, path }) => format!("{}:{path}", short(commit)),
            Origin::File(path) => path.clone(),
            Origin::WorkTree => registry::FILE.to_owned(),
        };
        line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

/// A hash as it is shown.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..SHOWN_HASH).unwrap_or(commit)
}

/// What one version did to the version before it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) from: Origin,
    pub(crate) to: Origin,
    pub(crate) done: Done,
    /// The rows of the work tree that the earlier version does not have.
    pub(crate) newer: Vec<Row>,
}

/// What was done to the list in one step.
#[derive(Debug)]
pub(crate) enum Done {
    /// The list is gone, and with it this many rows.
    Gone(usize),
    /// Both versions have a list.
    Compared(Comparison),
}

impl Step {
    /// What must not have been done.
    pub(crate) fn violations(&self) -> &[Violation] {
        match &self.done {
            Done::Gone(_) => &[],
            Done::Compared(comparison) => &comparison.violations,
        }
    }
}

/// A row of a merged branch that the merge did not leave as it was.
#[derive(Debug)]
pub(crate) struct InMerge {
    pub(crate) merge: git::File,
    pub(crate) parent: Origin,
    pub(crate) violation: Violation,
}

/// What the comparison with a base showed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Each step that did more than add, the earliest first.
    pub(crate) steps: Vec<Step>,
    /// How many versions of the list there were before the work tree's.
    pub(crate) versions: usize,
    /// What the work tree's list did to the version before it, where both are there.
    pub(crate) last: Option<Comparison>,
    /// What merges did to the rows of the branches they merged.
    pub(crate) merges: Vec<InMerge>,
    /// The commit that is checked out.
    pub(crate) head: Option<String>,
    /// Commits whose list cannot be read; they were passed over.
    pub(crate) unreadable: Vec<String>,
    /// Whether no earlier version was found: this is the list's first landing.
    pub(crate) is_first_landing: bool,
}

/// The list as it is now.
#[derive(Debug, Clone)]
pub(crate) enum Now {
    /// There is none.
    Missing,
    /// Nothing of it can be read.
    Unreadable,
    /// What of it can be read.
    Read(Salvage),
}

impl Now {
    /// Takes what it can from the bytes of the list.
    pub(crate) fn of(bytes: Option<&[u8]>) -> Now {
        match bytes.map(registry::salvage) {
            None => Now::Missing,
            Some(None) => Now::Unreadable,
            Some(Some(salvage)) => Now::Read(salvage),
        }
    }

    /// The rows that are whole.
    fn rows(&self) -> &[Row] {
        match self {
            Now::Missing | Now::Unreadable => &[],
            Now::Read(salvage) => &salvage.rows,
        }
    }

    /// Whether a row of this name is there, whole or not.
    fn has(&self, name: &str) -> bool {
        match self {
            Now::Missing => false,
            Now::Unreadable => true,
            Now::Read(Salvage { rows, broken }) => {
                rows.iter().any(|row| row.name == name) || broken.iter().any(|row| row == name)
            }
        }
    }
}

/// Compares the list of the work tree with a base.
///
/// # Errors
/// A base that was named cannot be read, or git fails.
pub(crate) fn compare(git: Option<&Git>, base: &Base, now: &Now) -> Result<Outcome> {
    let outcome = match (base, git) {
        (Base::None(_), _) | (Base::Commit { .. } | Base::History { .. }, None) => {
            Outcome::default()
        }
        (Base::File(path), _) => {
            let mut walk = Walk::after(Some(file(path)?), now);
            walk.end();
            walk.outcome
        }
        (Base::Commit { commit, branch, .. }, Some(git)) => {
            since(git, commit, branch.as_deref(), now)?
        }
        (Base::History { .. }, Some(git)) => everything(git, now)?,
    };
    Ok(outcome)
}

/// Compares each version on the first-parent history with the one before it.
fn everything(git: &Git, now: &Now) -> Result<Outcome> {
    let mut walk = Walk::after(None, now);
    let versions = git.history("HEAD")?;
    let mut objects = HashSet::new();
    let mut last = None;
    for version in &versions {
        last = walk.commit(git, version)?;
        objects.extend(last.clone());
    }
    let head = git.object(&git.list_at("HEAD"))?;
    if head.is_some() && head != last {
        bail!("git does not show how the list of `HEAD` came about\nhint: git fsck");
    }
    walk.end();
    let mut outcome = walk.outcome;
    outcome.head = git.commit("HEAD")?;
    in_merges(git, "HEAD", &objects, now, &mut outcome)?;
    Ok(outcome)
}

/// Compares the work tree's list with that of a commit, and each version that landed or will land since then with
/// the one before it: those of `HEAD` and, where that is only a trial merge, those of the branch it merges.
fn since(git: &Git, base: &str, branch: Option<&str>, now: &Now) -> Result<Outcome> {
    let (version, unreadable) = last_readable(git, base)?;
    if version.is_none() && git.is_shallow()? {
        bail!(
            "the history is cut off: the base has no list, and whether there was one before is not in this clone\n\
             hint: git fetch --unshallow --no-tags origin"
        );
    }
    let mut walk = Walk::after(version, now);
    walk.end();
    let mut outcome = walk.outcome;
    outcome.head = git.commit("HEAD")?;
    outcome.unreadable = unreadable;
    let branch = branch.filter(|branch| outcome.head.as_deref() != Some(*branch));
    for tip in branch.into_iter().chain(["HEAD"]) {
        let range = format!("{base}..{tip}");
        let versions = git.versions(&range)?;
        let before = match versions.first() {
            Some(first) => git.commit(&format!("{}^", first.commit))?,
            None => None,
        };
        // Not from the base on: a branch that merged it had not seen it before that.
        let start = match before {
            Some(before) => last_readable(git, &before)?.0,
            None => None,
        };
        let mut walk = Walk::after(start, now);
        for version in &versions {
            walk.commit(git, version)?;
        }
        outcome.add_earlier(walk.outcome);
        in_merges(git, &range, &HashSet::new(), now, &mut outcome)?;
    }
    Ok(outcome)
}

impl Outcome {
    /// Puts in front what earlier steps did, unless it is said of later ones.
    fn add_earlier(&mut self, earlier: Outcome) {
        let said = self.names();
        let is_gone = self
            .steps
            .iter()
            .any(|step| matches!(step.done, Done::Gone(_)));
        let mut steps = earlier.steps;
        for step in &mut steps {
            if let Done::Compared(comparison) = &mut step.done {
                comparison
                    .violations
                    .retain(|violation| !said.contains(&violation.base().name));
            }
        }
        steps.retain(|step| match &step.done {
            Done::Gone(_) => !is_gone,
            Done::Compared(comparison) => !comparison.violations.is_empty(),
        });
        self.steps.splice(..0, steps);
        for commit in earlier.unreadable {
            // What is wrong with the list as it is now is said elsewhere.
            if self.head.as_ref() != Some(&commit) {
                self.passed_over(commit);
            }
        }
    }

    fn passed_over(&mut self, commit: String) {
        if !self.unreadable.contains(&commit) {
            self.unreadable.push(commit);
        }
    }

    /// The rows of which something is said.
    fn names(&self) -> HashSet<String> {
        let steps = self.steps.iter().flat_map(Step::violations);
        let merges = self.merges.iter().map(|found| &found.violation);
        steps
            .chain(merges)
            .map(|violation| violation.base().name.clone())
            .collect()
    }
}

/// Goes from version to version and keeps what each did to the last one before it that had a list.
struct Walk<'a> {
    last: Option<Version>,
    now: &'a Now,
    outcome: Outcome,
}

impl<'a> Walk<'a> {
    fn after(last: Option<Version>, now: &'a Now) -> Walk<'a> {
        Walk {
            last,
            now,
            outcome: Outcome::default(),
        }
    }

    /// Goes to the list of a commit. Returns what identifies it, if it has one.
    fn commit(&mut self, git: &Git, file: &git::File) -> Result<Option<String>> {
        let origin = Origin::Commit(file.clone());
        let Some(object) = git.object(file)? else {
            self.gone(origin);
            self.outcome.versions += 1;
            return Ok(None);
        };
        let bytes = git.contents(&object)?;
        let bytes = match &mut self.last {
            Some(last) => last.append(&origin, bytes),
            None => Some(bytes),
        };
        let Some(bytes) = bytes else {
            self.outcome.versions += 1;
            return Ok(Some(object));
        };
        match registry::read(&origin.place(None), &bytes) {
            Ok(rows) => {
                if let Some(last) = &self.last {
                    let comparison = registry::compare(&last.rows, &rows);
                    self.compared(origin.clone(), comparison);
                }
                self.last = Some(Version::new(origin, rows, bytes));
                self.outcome.versions += 1;
            }
            Err(_) => self.outcome.unreadable.push(file.commit.clone()),
        }
        Ok(Some(object))
    }

    /// Goes to the list as it is now.
    fn end(&mut self) {
        self.outcome.is_first_landing = self.last.is_none() && self.outcome.unreadable.is_empty();
        let Some(last) = &self.last else {
            return;
        };
        match self.now {
            Now::Unreadable => {}
            Now::Missing => self.gone(Origin::WorkTree),
            Now::Read(salvage) => {
                let mut comparison = registry::compare(&last.rows, &salvage.rows);
                // A row with faults is there: that it has faults is said elsewhere.
                comparison.violations.retain(|violation| {
                    violation.now().is_some() || !self.now.has(&violation.base().name)
                });
                self.outcome.last = Some(comparison.clone());
                self.compared(Origin::WorkTree, comparison);
            }
        }
    }

    fn gone(&mut self, to: Origin) {
        if let Some(last) = &self.last {
            self.step(to, Done::Gone(last.rows.len()));
        }
    }

    fn compared(&mut self, to: Origin, comparison: Comparison) {
        if !comparison.violations.is_empty() {
            self.step(to, Done::Compared(comparison));
        }
    }

    fn step(&mut self, to: Origin, done: Done) {
        if let Some(last) = &self.last {
            let before: HashSet<&str> = last.rows.iter().map(|row| row.name.as_str()).collect();
            let is_newer = |row: &&Row| !before.contains(row.name.as_str());
            self.outcome.steps.push(Step {
                from: last.origin.clone(),
                to,
                done,
                newer: self.now.rows().iter().filter(is_newer).cloned().collect(),
            });
        }
    }
}

/// The list in a file that was given as base.
fn file(path: &Path) -> Result<Version> {
    let bytes =
        fs::read(path).with_context(|| format!("failed to read the base `{}`", path.display()))?;
    let origin = Origin::File(path.display().to_string());
    match registry::read(&origin.place(None), &bytes) {
        Ok(rows) => Ok(Version::new(origin, rows, bytes)),
        Err(faults) => unreadable(&origin, &faults),
    }
}

fn unreadable<T>(origin: &Origin, faults: &Faults) -> Result<T> {
    say(&(faults.draw(paint()) + "\n"));
    bail!("the base `{}` cannot be read", origin.place(None))
}

/// The list of a commit, or, where it has none or that cannot be read, the last one before it that can: what had
/// landed still counts, and a broken list that has landed must not keep its repair from landing. With it, the
/// commits whose list cannot be read.
fn last_readable(git: &Git, commit: &str) -> Result<(Option<Version>, Vec<String>)> {
    let (mut passed, mut worst) = (Vec::new(), None);
    let earlier = std::iter::once_with(|| Ok(vec![git.list_at(commit)]))
        .chain(std::iter::once_with(|| git.history(commit)));
    for files in earlier {
        for file in files?.into_iter().rev() {
            let Some(bytes) = git.read(&file)? else {
                continue;
            };
            let origin = Origin::Commit(file.clone());
            match registry::read(&origin.place(None), &bytes) {
                Ok(rows) => return Ok((Some(Version::new(origin, rows, bytes)), passed)),
                Err(faults) => {
                    if passed.is_empty() {
                        passed.push(file.commit);
                    }
                    worst.get_or_insert((origin, faults));
                }
            }
        }
    }
    match worst {
        Some((origin, faults)) => unreadable(&origin, &faults),
        None => Ok((None, passed)),
    }
}

/// Adds what the merges of a range did to the rows of the branches they merged, unless it is said already or the
/// row is back. `known` are the lists of the versions that were walked: their rows are in each later one.
fn in_merges(
    git: &Git,
    range: &str,
    known: &HashSet<String>,
    now: &Now,
    outcome: &mut Outcome,
) -> Result<()> {
    let mut said = outcome.names();
    for merge in git.merges(range)? {
        let file = git.list_at(&merge.commit);
        let rows = match git.read(&file)? {
            // Where the merge's own list cannot be read, the rows count that are there now.
            Some(bytes) => registry::read("", &bytes).unwrap_or_else(|_| now.rows().to_vec()),
            None => Vec::new(),
        };
        for parent in merge.merged {
            let object = git.object(&git.list_at(&parent))?;
            if object.is_none_or(|object| known.contains(&object)) {
                continue;
            }
            let (Some(version), unreadable) = last_readable(git, &parent)? else {
                continue;
            };
            unreadable
                .into_iter()
                .for_each(|commit| outcome.passed_over(commit));
            for violation in registry::compare(&version.rows, &rows).violations {
                let name = &violation.base().name;
                let is_back = !rows.iter().any(|row| row.name == *name) && now.has(name);
                if !is_back && said.insert(name.clone()) {
                    outcome.merges.push(InMerge {
                        merge: file.clone(),
                        parent: version.origin.clone(),
                        violation,
                    });
                }
            }
        }
    }
    Ok(())
}
