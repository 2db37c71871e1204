//! Behaviour through the public surface: the library's API and the `vak` binary.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test's set-up may panic"
)]
