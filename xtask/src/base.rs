//! Which earlier version the list is compared with, and how that was decided.

use std::fs;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::git::Git;

/// What to do where there is nothing to fetch.
const NAME_ANOTHER: &str = "hint: name a commit that is here, or a file";

/// What the list of the work tree has to contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// The list of one commit.
    Commit {
        /// The commit, as a full hash.
        commit: String,
        /// How it was chosen.
        chosen: String,
        /// The last commit of a pull request's branch, where it is not `HEAD`: a CI run checks out a trial merge.
        branch: Option<String>,
    },
    /// A file.
    File(PathBuf),
    /// Every version on the first-parent history, each of which also has to contain the one before it.
    History {
        /// Whether the history that is here is cut off.
        cut: bool,
    },
    /// Nothing: why not.
    None(&'static str),
}

/// What the environment says about the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// Whether this is a CI run.
    pub(crate) ci: bool,
    /// The file that describes the CI event.
    pub(crate) event: Option<PathBuf>,
}

impl Environment {
    /// What this process's environment says.
    pub(crate) fn read() -> Environment {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            ci: set("CI").is_some_and(|value| value != "false" && value != "0"),
            event: set("GITHUB_EVENT_PATH").map(PathBuf::from),
        }
    }
}

/// A base that a CI event names.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    commit: String,
    event: Event,
    /// The last commit of a pull request's branch.
    branch: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    MergeQueue,
    PullRequest,
    Push,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Event::MergeQueue => "the merge queue's base",
            Event::PullRequest => "the pull request's base",
            Event::Push => "what the push replaced",
        })
    }
}

/// Chooses the base: what was asked for, else what a CI event names, else the history.
pub(crate) fn choose(
    git: Option<&Git>,
    asked: Option<&str>,
    environment: &Environment,
) -> Result<Base> {
    if let Some(asked) = asked {
        return asked_for(git, asked);
    }
    let Some(git) = git else {
        if environment.ci {
            bail!(
                "there is no git repository to find a base in\n\
                 hint: check the repository out with its history, or pass `--base FILE`"
            );
        }
        return Ok(Base::None("there is no git repository here"));
    };
    if let Some(path) = &environment.event
        && let Some(named) = read_event(path)?
    {
        return from_event(git, &named);
    }
    let cut = git.is_shallow()?;
    if cut && environment.ci {
        bail!(
            "the history is cut off and nothing names a base to compare with\n\
             hint: git fetch --unshallow --no-tags origin"
        );
    }
    if git.head()?.is_none() {
        if environment.ci {
            bail!(
                "nothing is committed yet and nothing names a base to compare with\n\
                 hint: check a commit out, or pass `--base FILE`"
            );
        }
        return Ok(Base::None("nothing is committed yet"));
    }
    Ok(Base::History { cut })
}

fn asked_for(git: Option<&Git>, asked: &str) -> Result<Base> {
    if let Some(git) = git
        && let Some(commit) = git.commit(asked)?
    {
        return at_merge_base(git, &commit, &format!("`--base {asked}`"), None);
    }
    if Path::new(asked).is_file() {
        return Ok(Base::File(asked.into()));
    }
    let hint = match git {
        Some(git) => how_to_fetch(git, asked)?,
        None => "hint: there is no git repository here; name a file".to_owned(),
    };
    bail!("`{asked}` is neither a commit that is here nor a file\n{hint}")
}

/// The command that fetches what is not here and can be somewhere else: a branch, or a commit in a history that
/// is cut off.
fn how_to_fetch(git: &Git, asked: &str) -> Result<String> {
    let remotes = git.remotes()?;
    let unshallow = if git.is_shallow()? {
        " --unshallow"
    } else {
        ""
    };
    let in_remote = remotes.iter().find_map(|remote| {
        let branch = asked.strip_prefix(remote.as_str())?.strip_prefix('/')?;
        Some((remote, branch))
    });
    let (remote, branch) = match (in_remote, remotes.first()) {
        (Some(found), _) => found,
        (None, Some(first)) => {
            let origin = remotes.iter().find(|remote| *remote == "origin");
            (origin.unwrap_or(first), asked)
        }
        (None, None) => return Ok(NAME_ANOTHER.to_owned()),
    };
    let is_hash = asked.len() >= 40 && asked.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hash || (asked.contains(['^', '~']) && !unshallow.is_empty()) {
        let what = if unshallow.is_empty() { asked } else { "" };
        let fetch = format!("hint: git fetch{unshallow} --no-tags {remote} {what}");
        return Ok(fetch.trim_end().to_owned());
    }
    if !git.can_be_branch(branch)? {
        return Ok(NAME_ANOTHER.to_owned());
    }
    let fetch = format!(
        "hint: git fetch{unshallow} --no-tags {remote} +refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    );
    Ok(match in_remote {
        Some(_) => fetch,
        None => format!("{fetch}\nhint: cargo xtask check --base {remote}/{branch}"),
    })
}

fn from_event(git: &Git, named: &Named) -> Result<Base> {
    let Named {
        commit,
        event,
        branch,
    } = named;
    let Some(commit) = git.commit(commit)? else {
        let what = match git.is_shallow()? {
            true => "--unshallow --no-tags origin".to_owned(),
            false => format!("--no-tags origin {commit}"),
        };
        bail!("{event}, `{commit}`, is not in this clone\nhint: git fetch {what}");
    };
    let branch = match branch {
        Some(branch) => git.commit(branch)?,
        None => None,
    };
    match event {
        // What was pushed over is what had landed: a forced push must not lose any of it.
        Event::Push => Ok(Base::Commit {
            chosen: event.to_string(),
            commit,
            branch,
        }),
        Event::MergeQueue | Event::PullRequest => {
            at_merge_base(git, &commit, &event.to_string(), branch)
        }
    }
}

/// The commit itself where `HEAD` contains it; else where the two parted, so that a branch is not blamed for
/// the rows that it has not seen yet.
fn at_merge_base(git: &Git, commit: &str, named: &str, branch: Option<String>) -> Result<Base> {
    if git.is_ancestor(commit, "HEAD")? {
        return Ok(Base::Commit {
            commit: commit.to_owned(),
            chosen: named.to_owned(),
            branch,
        });
    }
    if git.is_shallow()? {
        bail!(
            "the history is cut off: where `HEAD` and {named} parted is not in this clone\n\
             hint: git fetch --unshallow --no-tags origin"
        );
    }
    match git.merge_base(commit, "HEAD")? {
        Some(commit) => Ok(Base::Commit {
            commit,
            chosen: format!("where `HEAD` and {named} parted"),
            branch,
        }),
        None => bail!(
            "`HEAD` and {named} have no history in common\n\
             hint: `--base FILE` compares with a file"
        ),
    }
}

/// The base that a CI event names, if it is of a kind that has one.
fn read_event(path: &Path) -> Result<Option<Named>> {
    let text = fs::read(path)
        .with_context(|| format!("failed to read the CI event `{}`", path.display()))?;
    let event: Value = serde_json::from_slice(&text)
        .with_context(|| format!("failed to parse the CI event `{}`", path.display()))?;
    Ok(named_by(&event))
}

fn named_by(event: &Value) -> Option<Named> {
    let named = |pointer, event_kind| {
        let commit = event.pointer(pointer)?.as_str()?;
        // A push that creates a branch replaces nothing: git writes that as zeros.
        (!commit.bytes().all(|digit| digit == b'0')).then(|| Named {
            commit: commit.to_owned(),
            event: event_kind,
            branch: event
                .pointer("/pull_request/head/sha")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    };
    named("/merge_group/base_sha", Event::MergeQueue)
        .or_else(|| named("/pull_request/base/sha", Event::PullRequest))
        .or_else(|| named("/before", Event::Push))
}
