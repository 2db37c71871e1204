//! A model behind the OpenAI-compatible chat-completions protocol, with streaming and tool calls.
//!
//! Many servers speak it, among them Ollama and llama.cpp on the same machine. The request runs in a thread
//! of its own, so that a wish to stop is heard while the server is silent.

mod endpoint;
mod exchange;
mod message;
mod request;
mod stream;

pub use endpoint::{ApiKey, EndpointError};

use super::{Model, ModelError, Reply, Transcript};
use crate::tools::Cancel;
use endpoint::Endpoint;
use exchange::{Exchange, Head};
use message::Assembly;
use std::time::Duration;
use stream::Events;

/// More than any message is long, in bytes.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// Which model to talk to, and where.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    /// Where the protocol starts, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The model's name, as its server knows it.
    pub model: String,
    /// The key, if the server wants one.
    pub key: Option<ApiKey>,
    /// How long the server may send nothing.
    pub patience: Duration,
}

/// A model behind the chat-completions protocol.
#[derive(Debug)]
pub struct ChatModel {
    endpoint: Endpoint,
    model: String,
    patience: Duration,
}

impl ChatModel {
    /// Makes ready to talk to a model; nothing is sent yet.
    ///
    /// # Errors
    /// [`EndpointError`] if the address can't be used, or a key would go over the network in the clear.
    pub fn new(settings: ChatSettings) -> Result<ChatModel, EndpointError> {
        Ok(ChatModel {
            endpoint: Endpoint::new(&settings.base_url, settings.key, settings.patience)?,
            model: settings.model,
            patience: settings.patience,
        })
    }
}

impl Model for ChatModel {
    fn reply(
        &mut self,
        transcript: &Transcript,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let body = request::body(&self.model, transcript);
        let mut exchange = Exchange::start(&self.endpoint, body, self.patience, cancel);
        let head = exchange.head()?;
        if head.status != 200 {
            return Err(refusal(&head, &mut exchange));
        }
        let mut assembly = Assembly::default();
        if head.is_stream {
            let mut events = Events::default();
            while let Some(bytes) = exchange.next()? {
                for event in events.push(&bytes)? {
                    assembly.add_chunk(&event, on_text)?;
                }
                if events.is_done() {
                    assembly.end();
                    break;
                }
            }
        } else {
            assembly.add_whole(&exchange.rest()?, on_text)?;
        }
        assembly.finish()
    }
}

fn refusal(head: &Head, exchange: &mut Exchange<'_>) -> ModelError {
    let Head {
        status,
        retry_after,
        ..
    } = *head;
    let message = match exchange.rest() {
        Ok(body) => message::server_words(&body),
        Err(error) => error.to_string(),
    };
    match status {
        401 | 403 => ModelError::Auth { status, message },
        429 => ModelError::RateLimited {
            retry_after,
            message,
        },
        408 | 500..=599 => ModelError::Unavailable {
            status,
            retry_after,
            message,
        },
        _ => ModelError::Refused { status, message },
    }
}
