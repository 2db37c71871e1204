//! Arguments that a schema has passed, as a tool's own type.

use super::ToolError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments as a tool's type. Where schema and type disagree, the call is the one at fault.
pub(super) fn typed<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::MalformedArguments {
        problem: error.to_string(),
    })
}
