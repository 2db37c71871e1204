//! Runs tool calls: what each live tool does, and the path that a call takes to it.
//!
//! A call goes through its name, admission and permission, its schema, and only then to the tool. Whatever
//! fails on the way is an outcome the model is told of, not an error of this module. Nothing here prints.

mod arguments;
mod bash;
mod cancel;
mod edit;
mod error;
mod excerpt;
mod execution;
mod glob;
mod grep;
mod nearest;
mod outcome;
mod read;
mod schema;
mod search;
mod skill;
mod toolbox;
mod workspace;
mod write;

pub use cancel::Cancel;
pub use error::{ToolError, ToolErrorKind, WorkspaceError};
pub use outcome::ToolOutcome;
pub use skill::{FrozenSkill, FrozenSkills};
pub use toolbox::Toolbox;
pub use workspace::Workspace;

use super::{
    LIVE_TOOLS, LiveTool, MAX_NAME, NormalizedCall, PermissionMode, RetiredTool, ToolCall,
    canonical_tool_name, live_tool, normalize_tool_call, retired_tools,
};
