//! The files that `glob` and `grep` look at: those of the workspace, without what its ignore files name,
//! without version control's own and vak's own; links are not followed.

use super::{Cancel, ToolError, Toolbox};
use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(60);

/// When a search has to stop: when somebody asks for it, or when its time is up.
pub(super) struct Patience<'a> {
    cancel: &'a Cancel,
    deadline: Instant,
}

impl Patience<'_> {
    pub(super) fn new(cancel: &Cancel) -> Patience<'_> {
        let deadline = Instant::now() + LIMIT;
        Patience { cancel, deadline }
    }

    /// Whether the search may go on.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if Instant::now() > self.deadline {
            return Err(ToolError::TimedOut {
                limit: LIMIT,
                output: String::new(),
            });
        }
        Ok(())
    }
}

/// A glob pattern, where `*` stays within a directory and `**` does not.
pub(super) fn pattern(parameter: &str, pattern: &str) -> Result<GlobMatcher, ToolError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::InvalidParameter {
            parameter: parameter.to_owned(),
            problem: error.kind().to_string(),
        })
}

/// Whether a pattern means a file: by its name alone if the pattern has no directory in it.
pub(super) fn matches(matcher: &GlobMatcher, path: &Path) -> bool {
    if matcher.glob().glob().contains('/') {
        return matcher.is_match(path);
    }
    path.file_name().is_some_and(|name| matcher.is_match(name))
}

/// The files at and below `path`, relative to the workspace, sorted.
pub(super) fn files(
    toolbox: &Toolbox,
    path: &str,
    wanted: impl Fn(&Path) -> bool + Sync,
    patience: &Patience<'_>,
) -> Result<Vec<PathBuf>, ToolError> {
    let root = toolbox.workspace.root();
    let place = toolbox.workspace.find(path)?;
    toolbox.may_look_at(path, &place)?;
    let start = root.join(place);
    let own_state = toolbox.workspace.own_state();
    let found = Mutex::new(Vec::new());
    let walk = WalkBuilder::new(&start)
        .hidden(false)
        .require_git(false)
        .parents(false)
        .filter_entry(move |entry| {
            entry.file_name() != ".git" && !own_state.begins_at(entry.path())
        })
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if patience.check().is_err() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if is_file && wanted(relative) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push(relative.to_owned());
            }
            WalkState::Continue
        })
    });
    patience.check()?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    Ok(found)
}
