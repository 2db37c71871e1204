//! A message put together from the protocol's pieces.

use crate::agent::{ModelError, Reply};
use crate::tools::ToolCall;
use serde::Deserialize;
use std::collections::HashSet;
use std::io;

/// More calls than any one message makes sense with.
const MAX_CALLS: usize = 128;

/// The longest of the server's own words that are passed on, in bytes.
const MAX_WORDS_BYTES: usize = 500;

/// A message that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    text: String,
    calls: Vec<Call>,
    finish: Option<String>,
}

#[derive(Debug, Default)]
struct Call {
    /// The server's number for it, if it gives one.
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
}

/// A whole answer or, with `delta` for `message`, a piece of one.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    choices: Vec<Choice>,
    error: Option<ServerError>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

/// Servers tell an error as an object with a message, or as the message alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum ServerError {
    Object { message: String },
    Words(String),
}

impl CallDelta {
    fn begins(&self) -> bool {
        self.function
            .as_ref()
            .is_some_and(|function| function.name.is_some())
    }
}

impl Assembly {
    /// Adds a piece of a stream.
    pub(super) fn add_chunk(
        &mut self,
        chunk: &str,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ModelError> {
        self.add(serde_json::from_str(chunk), on_text)
    }

    /// Adds the one document of an answer that is not streamed.
    pub(super) fn add_whole(
        &mut self,
        body: &[u8],
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ModelError> {
        self.add(serde_json::from_slice(body), on_text)?;
        self.end();
        Ok(())
    }

    /// Nothing follows, whether or not the server said why.
    pub(super) fn end(&mut self) {
        self.finish.get_or_insert_default();
    }

    fn add(
        &mut self,
        answer: serde_json::Result<Answer>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ModelError> {
        let answer = answer.map_err(|error| protocol(format!("an answer is not JSON: {error}")))?;
        if let Some(error) = answer.error {
            return Err(ModelError::Refused {
                status: 200,
                message: error.words(),
            });
        }
        // The request asks for one choice.
        let Some(choice) = answer.choices.into_iter().next() else {
            return Ok(());
        };
        let delta = choice.delta.as_ref();
        if let Some(text) = delta.and_then(|delta| delta.content.as_deref())
            && !text.is_empty()
        {
            self.text.push_str(text);
            on_text(text);
        }
        for call in choice
            .delta
            .and_then(|delta| delta.tool_calls)
            .into_iter()
            .flatten()
        {
            self.add_call(call)?;
        }
        self.finish = choice.finish_reason.or(self.finish.take());
        Ok(())
    }

    fn add_call(&mut self, delta: CallDelta) -> Result<(), ModelError> {
        let call = self.call_of(&delta)?;
        if let Some(id) = delta.id
            && call.id.is_empty()
        {
            call.id = id;
        }
        let Some(function) = delta.function else {
            return Ok(());
        };
        // A name comes whole; a server that repeats it with each piece means the same call.
        if let Some(name) = function.name
            && call.name.is_empty()
        {
            call.name = name;
        }
        call.arguments
            .push_str(function.arguments.as_deref().unwrap_or_default());
        Ok(())
    }

    /// The call that a piece belongs to: by its number, else by its id, else the last one. A piece with
    /// neither that bears a name begins a call, and so does one with a name and an id of its own: some servers
    /// give every call the same number.
    fn call_of(&mut self, delta: &CallDelta) -> Result<&mut Call, ModelError> {
        let id = delta.id.as_deref().unwrap_or_default();
        let is_other =
            |call: &Call| delta.begins() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let known = match (delta.index, id) {
            (Some(_), _) => self
                .calls
                .iter()
                .rposition(|call| call.index == delta.index)
                .filter(|at| !is_other(&self.calls[*at])),
            (None, "") if delta.begins() => None,
            (None, "") => self.calls.len().checked_sub(1),
            (None, id) => self.calls.iter().position(|call| call.id == id),
        };
        let at = match known {
            Some(at) => at,
            None if self.calls.len() == MAX_CALLS => {
                return Err(protocol(format!(
                    "more than {MAX_CALLS} calls in one message"
                )));
            }
            None => {
                self.calls.push(Call {
                    index: delta.index,
                    ..Call::default()
                });
                self.calls.len() - 1
            }
        };
        Ok(&mut self.calls[at])
    }

    /// The message, provided that it came to its end.
    pub(super) fn finish(self) -> Result<Reply, ModelError> {
        let Some(finish) = self.finish else {
            return Err(ModelError::Broken {
                source: Box::new(io::Error::from(io::ErrorKind::UnexpectedEof)),
            });
        };
        let mut ids = HashSet::new();
        let calls = self.calls.into_iter().enumerate().map(|(at, call)| {
            // An answer refers to its call by id, so each call needs one of its own.
            let id = match call.id {
                id if id.is_empty() || !ids.insert(id.clone()) => format!("call_{at}"),
                id => id,
            };
            ToolCall {
                id,
                name: call.name,
                arguments: call.arguments,
            }
        });
        Ok(Reply {
            calls: calls.collect(),
            text: self.text,
            cut: finish == "length",
        })
    }
}

impl ServerError {
    fn words(self) -> String {
        match self {
            ServerError::Object { message } | ServerError::Words(message) => brief(&message),
        }
    }
}

/// What a server says about a request it refuses: its message if it tells one, else the beginning of
/// whatever it sent.
pub(super) fn server_words(body: &[u8]) -> String {
    if let Ok(Answer {
        error: Some(error), ..
    }) = serde_json::from_slice(body)
    {
        return error.words();
    }
    match brief(&String::from_utf8_lossy(body)) {
        words if words.is_empty() => "it gives no reason".to_owned(),
        words => words,
    }
}

/// One line, not too long, without anything that a terminal would act on.
fn brief(text: &str) -> String {
    let line: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    match line.floor_char_boundary(MAX_WORDS_BYTES) {
        end if end < line.len() => format!("{}…", &line[..end]),
        _ => line,
    }
}

fn protocol(problem: String) -> ModelError {
    ModelError::Protocol { problem }
}
