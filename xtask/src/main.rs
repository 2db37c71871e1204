//! `cargo xtask`: the project's own chores.

fn main() {}
