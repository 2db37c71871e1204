//! The names of tools: which are live, which are retired, and what a name the model says resolves to.
//!
//! The retired tools come from `retired_tools.toml`, compiled in; the live ones are defined here, each in its
//! own file with its aliases. No other code holds either list.

mod bash;
mod call;
mod edit;
mod glob;
mod grep;
mod live;
mod name;
mod permission;
mod read;
mod retired;
mod skill;
mod write;

pub use call::{NormalizedCall, ToolCall, normalize_tool_call};
pub use live::{LIVE_TOOLS, LiveTool, live_tool};
pub use name::MAX_NAME;
#[doc(hidden)]
pub use name::fold;
pub use permission::PermissionMode;
pub use retired::{RETIRED_TOOLS, RetiredTool};
#[doc(hidden)]
pub use retired::{Table, live};

#[cfg(feature = "agent")]
mod run;
#[cfg(feature = "agent")]
pub use run::*;

/// Every retired tool, in the order of the list.
pub fn retired_tools() -> &'static [RetiredTool] {
    retired::SHIPPED.rows()
}

/// The row of a retired tool, by any spelling of its name (letter case, `-` for `_`, outer blanks).
pub fn retired_tool(name: &str) -> Option<&'static RetiredTool> {
    retired::SHIPPED.retired_tool(name)
}

/// The live tool that `name` means, or `name` itself, untouched, if it means none.
///
/// Outer blanks, ASCII letter case and `-` for `_` make no difference. A retired name leads to the live tool at
/// the end of its replacements; then come the live tools' own names and aliases. Allocates nothing.
pub fn canonical_tool_name(name: &str) -> &str {
    retired::SHIPPED.canonical(name)
}
