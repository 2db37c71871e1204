//! The chores, as processes, in projects and git repositories of the tests' own.
#![expect(clippy::unwrap_used, reason = "a test's set-up may panic")]

mod base; // which version the check compares with, and what may not mislead it
mod canary; // the check fails for each way to break the list, and for none of the ways to keep it
#[cfg(unix)]
mod ci; // `.ci/run` and the pre-commit hook: what they check the list against, and when
mod copy; // another list is built in a copy
mod project; // a small project in a git repository, and the chores run in it
mod retire; // a row is added whole or not at all
mod sources; // what the check says about the Rust sources
