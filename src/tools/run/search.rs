//! The files that `glob` and `grep` look at: those of the workspace, without what its ignore files name,
//! without version control's own and vak's own; links are not followed. Directories are listed by their paths;
//! what is found is opened, if it is, from the workspace's handle.

use super::{Cancel, ToolError, Toolbox};
use crate::words::count;
use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a search may take.
const LIMIT: Duration = Duration::from_secs(60);

/// When a search has to stop: when somebody asks for it, or when its time is up.
pub(super) struct Patience<'a> {
    cancel: &'a Cancel,
    deadline: Instant,
}

/// Why a search stopped.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Cancelled,
    TimedOut,
}

impl Patience<'_> {
    pub(super) fn new(cancel: &Cancel) -> Patience<'_> {
        let deadline = Instant::now() + LIMIT;
        Patience { cancel, deadline }
    }

    /// Whether the search may go on.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if Instant::now() > self.deadline {
            return Err(Stop::TimedOut);
        }
        Ok(())
    }
}

impl Stop {
    /// The failure, with what had been found by then.
    pub(super) fn with(self, output: String) -> ToolError {
        match self {
            Stop::Cancelled => ToolError::Cancelled,
            Stop::TimedOut => ToolError::TimedOut {
                limit: LIMIT,
                output,
            },
        }
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

/// What a search looks at.
#[derive(Default)]
pub(super) struct Files {
    /// The files, relative to the workspace, sorted.
    pub(super) found: Vec<PathBuf>,
    /// Directories, mostly, that could not be read.
    pub(super) unreadable: usize,
    /// Why there may be more.
    pub(super) stop: Option<Stop>,
}

impl Files {
    /// Says at the end of a report that not everything was looked into.
    pub(super) fn note_unreadable(&self, report: &mut String) {
        if self.unreadable > 0 {
            let places = count(self.unreadable, "place");
            let _ = writeln!(report, "[{places} not readable]");
        }
    }
}

/// The files at and below `path`. The way to it is walked from the root, because ignore files on it count
/// below it too. What is itself ignored, or passed by, is looked at if `path` asks for it.
pub(super) fn files(
    toolbox: &Toolbox,
    path: &str,
    wanted: impl Fn(&Path) -> bool + Sync,
    patience: &Patience<'_>,
) -> Result<Files, ToolError> {
    let root = toolbox.workspace.root();
    let place = toolbox.workspace.find(path)?;
    toolbox.may_look_at(path, &place)?;
    let start = root.join(place);
    let walk = |from: &Path| walk(toolbox, from, &start, &wanted, patience);
    Ok(match walk(root) {
        Some(files) => files,
        None => walk(&start).unwrap_or_default(),
    })
}

/// Walks from a directory to `start` and all that is below it; `None` if it did not come there.
fn walk(
    toolbox: &Toolbox,
    from: &Path,
    start: &Path,
    wanted: &(impl Fn(&Path) -> bool + Sync),
    patience: &Patience<'_>,
) -> Option<Files> {
    let root = toolbox.workspace.root();
    let own_state = toolbox.workspace.own_state();
    let way = start.to_owned();
    let files = Mutex::new(Files::default());
    let has_arrived = AtomicBool::new(false);
    let walk = WalkBuilder::new(from)
        .hidden(false)
        .require_git(false)
        .parents(false)
        .filter_entry(move |entry| {
            let path = entry.path();
            let is_passed_by = entry.file_name() == ".git" || own_state.begins_at(path);
            !is_passed_by && (path.starts_with(&way) || way.starts_with(path))
        })
        .build_parallel();
    let note = |change: &dyn Fn(&mut Files)| {
        change(&mut files.lock().unwrap_or_else(PoisonError::into_inner));
    };
    walk.run(|| {
        Box::new(|entry| {
            if let Err(stop) = patience.check() {
                note(&|files| files.stop = Some(stop));
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                note(&|files| files.unreadable += 1);
                return WalkState::Continue;
            };
            let path = entry.path();
            if path == start {
                has_arrived.store(true, Ordering::Relaxed);
            }
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let relative = path.strip_prefix(root).unwrap_or(path);
            if is_file && path.starts_with(start) && wanted(relative) {
                note(&|files| files.found.push(relative.to_owned()));
            }
            WalkState::Continue
        })
    });
    let mut files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.found.sort_unstable();
    (has_arrived.into_inner() || files.stop.is_some()).then_some(files)
}
