//! How far a scan is, on stderr: only where a terminal watches, and only once it has taken a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

/// How long a scan may take before it is worth a line.
const PATIENCE: Duration = Duration::from_secs(1);

/// A count of files that shows itself late.
pub(super) struct Progress {
    started: Instant,
    files: usize,
    is_watched: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress {
            started: Instant::now(),
            files: 0,
            is_watched: io::stderr().is_terminal(),
            bar: None,
        }
    }

    pub(super) fn advance(&mut self, files: usize) {
        self.files += files;
        if self.bar.is_none() && self.is_watched && self.started.elapsed() >= PATIENCE {
            self.bar = Some(spinner());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.files as u64);
        }
    }

    /// Does something that may write to the same terminal.
    pub(super) fn pause<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} files scanned ({per_sec})");
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
