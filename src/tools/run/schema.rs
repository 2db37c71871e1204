//! Arguments held against a tool's JSON schema.

use super::ToolError;
use super::execution::{EXECUTIONS, Execution};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// More than the largest file that `write` takes, with every character escaped.
const MAX_ARGUMENT_BYTES: usize = 8 << 20;

/// A tool's schema, compiled.
pub(super) struct Schema {
    tool: &'static str,
    document: Value,
    /// `None` if the schema itself is bad: then every call fails and says so. A test holds that none is.
    validator: Option<Validator>,
}

static SCHEMAS: LazyLock<Vec<Schema>> =
    LazyLock::new(|| EXECUTIONS.iter().map(Schema::compile).collect());

/// The schema of a tool. Each is compiled once.
pub(super) fn of(tool: &str) -> &'static Schema {
    static NONE: LazyLock<Schema> = LazyLock::new(|| Schema {
        tool: "",
        document: Value::Null,
        validator: None,
    });
    SCHEMAS
        .iter()
        .find(|schema| schema.tool == tool)
        .unwrap_or(&NONE)
}

impl Schema {
    fn compile(execution: &Execution) -> Schema {
        let document = (execution.parameters)();
        let validator = jsonschema::draft202012::new(&document).ok();
        Schema {
            tool: execution.tool.name,
            document,
            validator,
        }
    }

    pub(super) fn document(&self) -> &Value {
        &self.document
    }

    /// Parses arguments and checks them. Of several faults a missing parameter is told first: it says most
    /// about what the caller misunderstood.
    pub(super) fn admit(&self, arguments: &str) -> Result<Map<String, Value>, ToolError> {
        let value = parse(arguments)?;
        let Some(validator) = &self.validator else {
            return Err(ToolError::MalformedArguments {
                problem: format!("`{}` has no usable schema", self.tool),
            });
        };
        let mut faults: Vec<ToolError> = validator
            .iter_errors(&value)
            .map(|error| fault(&error))
            .collect();
        faults.sort_by_key(|fault| !matches!(fault, ToolError::MissingParameter { .. }));
        match (faults.into_iter().next(), value) {
            (Some(fault), _) => Err(fault),
            (None, Value::Object(mut object)) => {
                object.values_mut().for_each(write_as_integer);
                Ok(object)
            }
            (None, _) => Err(not_an_object()),
        }
    }
}

/// Models send nothing at all where a tool needs no arguments; that is an empty object.
fn parse(arguments: &str) -> Result<Value, ToolError> {
    if arguments.len() > MAX_ARGUMENT_BYTES {
        return Err(ToolError::OversizedArguments {
            bytes: arguments.len(),
            limit: MAX_ARGUMENT_BYTES,
        });
    }
    if arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(not_an_object()),
        Err(error) => Err(ToolError::MalformedArguments {
            problem: error.to_string(),
        }),
    }
}

/// To a schema `2.0` is an integer, to a tool's type it is not. The schema has seen to it that none is large.
fn write_as_integer(value: &mut Value) {
    let float = value.as_f64().filter(|_| value.is_f64());
    if let Some(float) = float.filter(|float| float.fract() == 0.0) {
        *value = Value::from(float as i64);
    }
}

fn not_an_object() -> ToolError {
    ToolError::MalformedArguments {
        problem: "they are another JSON value".to_owned(),
    }
}

fn fault(error: &ValidationError<'_>) -> ToolError {
    match error.kind() {
        ValidationErrorKind::Required { property } => ToolError::MissingParameter {
            parameter: property.as_str().unwrap_or_default().to_owned(),
        },
        ValidationErrorKind::AdditionalProperties { unexpected } => ToolError::InvalidParameter {
            parameter: unexpected.first().cloned().unwrap_or_default(),
            problem: "the tool has no such parameter".to_owned(),
        },
        _ => ToolError::InvalidParameter {
            parameter: error
                .instance_path()
                .as_str()
                .trim_start_matches('/')
                .to_owned(),
            // The value may be a whole file; only what is wanted of it helps.
            problem: error.masked_with("the value").to_string(),
        },
    }
}
