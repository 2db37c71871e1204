//! The `vak` command: parses arguments, calls the library, prints what it returns.

use std::process::ExitCode;

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
