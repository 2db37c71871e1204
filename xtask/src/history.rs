//! Whether the list has only grown: each version against the one before it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use registry::{Comparison, Faults, Row, Salvage, Violation};

use crate::base::Base;
use crate::git::Git;
use crate::{paint, say};

/// How much of a commit's hash is shown.
const SHOWN_HASH: usize = 12;

/// A version of the list.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// Where it is from.
    pub(crate) origin: Origin,
    /// Its rows; `None` where there is no list.
    pub(crate) rows: Option<Vec<Row>>,
}

/// Where a version of the list is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A commit, by its full hash.
    Commit(String),
    /// A file that was given as base.
    File(String),
    /// The file as it is now.
    WorkTree,
}

impl Origin {
    /// Where a line of this version stands, for a message.
    pub(crate) fn place(&self, line: Option<usize>) -> String {
        let file = match self {
            Origin::Commit(commit) => format!("{}:{}", short(commit), registry::FILE),
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
    /// Whether the step only added.
    pub(crate) fn is_clean(&self) -> bool {
        matches!(&self.done, Done::Compared(comparison) if comparison.violations.is_empty())
    }

    /// What must not have been done.
    pub(crate) fn violations(&self) -> &[Violation] {
        match &self.done {
            Done::Gone(_) => &[],
            Done::Compared(comparison) => &comparison.violations,
        }
    }
}

/// A row that a merge brought and the list does not have.
#[derive(Debug)]
pub(crate) struct LostInMerge {
    pub(crate) merge: String,
    pub(crate) parent: String,
    pub(crate) row: Row,
}

/// What the comparison with a base showed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Each step, the earliest first.
    pub(crate) steps: Vec<Step>,
    /// The rows that merges lost.
    pub(crate) lost: Vec<LostInMerge>,
    /// The commit that is checked out, where it is one of the versions.
    pub(crate) head: Option<String>,
    /// Commits whose list cannot be read; they were passed over.
    pub(crate) unreadable: Vec<String>,
    /// Whether the base has no list: this is its first landing.
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

    /// The same as the last of the versions, if it can be compared.
    fn version(&self) -> Option<Version> {
        let rows = match self {
            Now::Unreadable => return None,
            Now::Missing => None,
            Now::Read(salvage) => Some(salvage.rows.clone()),
        };
        let origin = Origin::WorkTree;
        Some(Version { origin, rows })
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
    match (base, git) {
        (Base::None(_), _) | (Base::Commit { .. } | Base::History { .. }, None) => {
            Ok(Outcome::default())
        }
        (Base::File(path), _) => Ok(walk(vec![file(path)?], now)),
        (Base::Commit { commit, .. }, Some(git)) => {
            let (version, unreadable) = last_readable(git, commit)?;
            let mut outcome = walk(vec![version], now);
            outcome.unreadable = unreadable;
            outcome.lost = lost_in_merges(git, Some(commit), now)?;
            Ok(outcome)
        }
        (Base::History { .. }, Some(git)) => {
            let (versions, unreadable) = history(git, "HEAD")?;
            let mut outcome = walk(versions, now);
            outcome.head = git.commit("HEAD")?;
            outcome.unreadable = unreadable;
            outcome.lost = lost_in_merges(git, None, now)?;
            Ok(outcome)
        }
    }
}

/// Compares each version with the last one before it that had a list.
fn walk(versions: Vec<Version>, now: &Now) -> Outcome {
    let mut outcome = Outcome {
        is_first_landing: versions.iter().all(|version| version.rows.is_none()),
        ..Outcome::default()
    };
    let mut last: Option<(Origin, Vec<Row>)> = None;
    for version in versions.into_iter().chain(now.version()) {
        let Version { origin: to, rows } = version;
        if let Some((from, before)) = &last {
            let mut done = match &rows {
                Some(rows) => Done::Compared(registry::compare(before, rows)),
                None => Done::Gone(before.len()),
            };
            if let Done::Compared(comparison) = &mut done
                && to == Origin::WorkTree
            {
                // A row with faults is there: that it has faults is said elsewhere.
                comparison.violations.retain(|violation| {
                    violation.now().is_some() || !now.has(&violation.base().name)
                });
            }
            let from = from.clone();
            let to = to.clone();
            outcome.steps.push(Step { from, to, done });
        }
        if let Some(rows) = rows {
            last = Some((to, rows));
        }
    }
    outcome
}

/// The list in a file that was given as base.
fn file(path: &Path) -> Result<Version> {
    let bytes =
        fs::read(path).with_context(|| format!("failed to read the base `{}`", path.display()))?;
    let origin = Origin::File(path.display().to_string());
    match registry::read(&origin.place(None), &bytes) {
        Ok(rows) => Ok(Version {
            origin,
            rows: Some(rows),
        }),
        Err(faults) => unreadable(&origin, &faults),
    }
}

fn unreadable<T>(origin: &Origin, faults: &Faults) -> Result<T> {
    say(&(faults.draw(paint()) + "\n"));
    bail!("the base `{}` cannot be read", origin.place(None))
}

/// The list of a commit, or, where it cannot be read, the last one before it that can: a broken list that has
/// landed must not keep its repair from landing.
fn last_readable(git: &Git, commit: &str) -> Result<(Version, Vec<String>)> {
    let origin = Origin::Commit(commit.to_owned());
    let Some(bytes) = git.list_at(commit)? else {
        return Ok((Version { origin, rows: None }, Vec::new()));
    };
    match registry::read(&origin.place(None), &bytes) {
        Ok(rows) => {
            let rows = Some(rows);
            Ok((Version { origin, rows }, Vec::new()))
        }
        Err(faults) => match history(git, commit)?.0.pop() {
            Some(earlier) => Ok((earlier, vec![commit.to_owned()])),
            None => unreadable(&origin, &faults),
        },
    }
}

/// Every version of the list on the first-parent history of a revision, and the commits whose list is not readable.
fn history(git: &Git, of: &str) -> Result<(Vec<Version>, Vec<String>)> {
    let (mut versions, mut unreadable) = (Vec::new(), Vec::new());
    for commit in git.versions(of)? {
        let bytes = git.list_at(&commit)?;
        let origin = Origin::Commit(commit.clone());
        match bytes.map(|bytes| registry::read(&origin.place(None), &bytes)) {
            None => versions.push(Version { origin, rows: None }),
            Some(Ok(rows)) => versions.push(Version {
                origin,
                rows: Some(rows),
            }),
            Some(Err(_)) => unreadable.push(commit),
        }
    }
    Ok((versions, unreadable))
}

/// The rows that a merged branch had and that the list does not have now.
fn lost_in_merges(git: &Git, since: Option<&str>, now: &Now) -> Result<Vec<LostInMerge>> {
    let mut lost = Vec::new();
    for merge in git.merges(since)? {
        for parent in merge.merged {
            let Some(bytes) = git.list_at(&parent)? else {
                continue;
            };
            let origin = Origin::Commit(parent.clone());
            for row in registry::read(&origin.place(None), &bytes).unwrap_or_default() {
                if !now.has(&row.name) {
                    lost.push(LostInMerge {
                        merge: merge.commit.clone(),
                        parent: parent.clone(),
                        row,
                    });
                }
            }
        }
    }
    Ok(lost)
}
