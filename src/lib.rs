//! vak's retired-tool life cycle: one append-only list of retired tools, compiled in, and everything
//! that is checked against it.
//!
//! With `default-features = false` this library is the table ([`tools`]) and the scanner ([`scan`])
//! alone; the other modules come with the features `walk`, `store`, `agent`, `server` and `cli`.
//!
//! ```
//! use vak::scan::{Grade, Scanner};
//! use vak::tools::{canonical_tool_name, retired_tools};
//!
//! let tool = retired_tools()[0];
//! let text = format!("Call `{}` with the code.", tool.name);
//! let found = Scanner::shipped().scan(&text);
//! assert_eq!(found[0].grade, Grade::Instructs);
//! assert_eq!((found[0].line, found[0].column), (1, 7));
//! assert_eq!(canonical_tool_name(tool.name), "bash");
//! ```

pub mod scan;
pub mod tools;

/// The README's example of the library, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "store")]
pub mod config;
#[cfg(feature = "store")]
pub mod core;
#[cfg(feature = "store")]
pub mod disk;
#[cfg(feature = "store")]
pub mod health;
#[cfg(feature = "store")]
pub mod mode;
#[cfg(feature = "store")]
pub mod plugin;
#[cfg(feature = "store")]
pub mod roots;
#[cfg(feature = "store")]
pub mod seed;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "store")]
pub mod skills;
#[cfg(feature = "store")]
pub mod update;
#[cfg(feature = "walk")]
pub mod walk;
#[cfg(feature = "store")]
mod words;

/// The guide for those who put a model behind vak; its examples are tests.
#[cfg(all(doctest, feature = "agent"))]
#[doc = include_str!("../docs/model.md")]
mod model_guide {}
