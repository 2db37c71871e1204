//! Whether an operation that removes or rewrites does so, or only says what it would do.

/// The two ways to run an operation that changes the disk. Both take the same path through the code and
/// return the same report; [`Mode::Check`] skips the writes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Say what would be done (`--dry-run`).
    Check,
    /// Do it.
    Write,
}

impl Mode {
    /// Whether changes are to be made.
    pub fn writes(self) -> bool {
        self == Mode::Write
    }
}
