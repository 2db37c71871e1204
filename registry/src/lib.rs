//! What `retired_tools.toml` means: parse and validate it, compare two versions of it, render it as Rust.
//!
//! Pure: text in, values and text out. No file system, no git, nothing of vak's: the build script, the
//! chores and the tests all read the list through this crate, so that they all say the same about it.
//!
//! - [`read`] takes the text apart into rows and collects every fault of form.
//! - [`salvage`] takes what it can from a text with faults.
//! - [`parse`] also checks the rows against each other and against the package ([`Rules`]).
//! - [`compare`] says what one version of the list did to the rows of another.
//! - [`render`] turns a valid list into the source of the compiled-in table.

mod chain;
mod compare;
mod fault;
mod layout;
mod read;
mod render;
mod row;
pub mod sample;
mod validate;

pub use compare::{Comparison, Field, Violation, compare};
pub use fault::{Faults, LINE_ENDS_AGAIN, Paint, draw_unreadable};
pub use read::{Salvage, read, salvage};
pub use render::render;
pub use row::{LiveName, MAX_NAME, Row, fold};
pub use validate::{List, Rules, parse};

/// Where the list stands, seen from the project's root.
pub const FILE: &str = "retired_tools.toml";
