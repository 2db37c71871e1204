//! What `retired_tools.toml` means: parse, validate, compare two versions, render Rust.
