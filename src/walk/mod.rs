//! Reads files, packages and trees, and has the scanner look at what is in them.
//!
//! Owns what "every file" means: which files of a directory are scanned, what becomes of links, and what
//! is said of a file that could not be scanned to its end. Nothing is skipped silently and nothing can
//! make a walk hang: only regular files are opened, and a file that turns into something else between
//! the look and the open is noticed. It refuses to write, and to decide what a finding leads to.

mod content;
mod directory;
mod fix;
mod order;
mod package;
mod report;
mod role;
mod stream;
mod tree;

pub use fix::{FixedBytes, fix_bytes, scan_again};
pub use package::scan_package;
#[cfg(feature = "store")]
pub(crate) use report::lossy_path;
pub use report::{FileFinding, FileReport, PackageScan, SpecialFile, Unscanned};
pub use role::Role;
pub use stream::{Event, scan_targets};
pub use tree::Target;
