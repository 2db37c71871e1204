//! A transcript in the protocol's words.

use crate::agent::{Message, OfferedTool, Transcript};
use crate::tools::ToolCall;
use serde_json::{Value, json};

/// The body of a request for the next message.
pub(super) fn body(model: &str, transcript: &Transcript) -> Vec<u8> {
    let messages: Vec<Value> = transcript.messages.iter().map(message).collect();
    let tools: Vec<Value> = transcript.tools.iter().map(tool).collect();
    json!({
        "model": model,
        "stream": true,
        "messages": messages,
        "tools": tools,
    })
    .to_string()
    .into_bytes()
}

fn tool(tool: &OfferedTool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        }
    })
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            // A message without text has no content, rather than an empty one.
            let content = (!text.is_empty()).then_some(text);
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { call, text } => {
            json!({"role": "tool", "tool_call_id": call, "content": text})
        }
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments(&call.arguments)}
    })
}

/// Servers parse the arguments of earlier calls and refuse the whole request if they are not an object; what a
/// model wrote instead is handed back to it inside of one.
fn arguments(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        _ if text.trim().is_empty() => "{}".to_owned(),
        _ => json!({"malformed_arguments": text}).to_string(),
    }
}
