//! One turn: from a person's words to the model's answer, with the tool calls between.
//!
//! What follows a failed call depends on its kind. The model is told of what it can act on and may call
//! again, as long as there are repairs left and it does not make the same failing call twice. What it can't
//! act on ends the turn: going on would only lead it to make up a result.

use super::{Message, Model, ModelError, OfferedTool, Reply, Transcript};
use crate::tools::{Cancel, ToolCall, ToolErrorKind, ToolOutcome, Toolbox, canonical_tool_name};
use crate::words::with_hints;
use serde_json::Value;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long a turn may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many messages in a row may hold a failing call.
    pub repairs: u32,
    /// How many messages a model may send in a turn.
    pub rounds: u32,
    /// How often one request to the model is made again.
    pub retries: u32,
    /// The longest wait before a request is made again; a server that asks for more ends the turn.
    pub longest_wait: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            repairs: 5,
            rounds: 100,
            retries: 3,
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// What happens in a turn, as it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The model says something: a piece of its text.
    Text(&'a str),
    /// A call is about to run.
    Call(&'a ToolCall),
    /// A call has run.
    Outcome(&'a ToolOutcome),
    /// The model gave no reply, and is asked again after a wait. Text that it had begun is void.
    Retry {
        /// Why there was no reply.
        error: &'a ModelError,
        /// How long is waited.
        wait: Duration,
    },
}

/// How a turn ended.
#[derive(Debug)]
pub enum TurnEnd {
    /// The model answered; its last message is in the transcript.
    Answered {
        /// Whether the answer ends early, because the model ran out of room.
        cut: bool,
    },
    /// The model made a call that had already failed in this turn, and it failed again.
    RepeatedFailure(Failure),
    /// The model made failing calls in too many messages in a row. The last of them.
    RepairsSpent(Failure),
    /// A call failed in a way that the model can do nothing about.
    Hopeless(Failure),
    /// The model kept calling tools.
    TooManyRounds,
    /// The model gave no reply.
    NoReply(ModelError),
    /// Somebody asked to stop.
    Cancelled,
}

/// The call that ended a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name the model said.
    pub said: String,
    /// The failure's kind.
    pub kind: ToolErrorKind,
    /// The failure and its causes.
    pub message: String,
}

/// A conversation with a model that may call tools.
#[derive(Debug)]
pub struct Session {
    toolbox: Toolbox,
    transcript: Transcript,
    limits: Limits,
}

impl Session {
    /// A session that offers the tools its permission mode allows. `system` is told to the model first.
    pub fn new(toolbox: Toolbox, system: String, limits: Limits) -> Session {
        let transcript = Transcript {
            tools: toolbox.offered().map(OfferedTool::from).collect(),
            messages: vec![Message::System { text: system }],
        };
        Session {
            toolbox,
            transcript,
            limits,
        }
    }

    /// Everything the model was told and said so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Asks the model and runs its calls until it answers, or until there is no sense in going on. The
    /// transcript is left such that another turn can follow: every call in it has its answer.
    pub fn turn(
        &mut self,
        model: &mut dyn Model,
        prompt: &str,
        on_event: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> TurnEnd {
        self.transcript.messages.push(Message::User {
            text: prompt.to_owned(),
        });
        let mut failed = HashSet::new();
        let mut repairs = 0;
        for _ in 0..self.limits.rounds {
            let reply = match self.ask(model, on_event, cancel) {
                Ok(reply) => reply,
                Err(ModelError::Cancelled) => return TurnEnd::Cancelled,
                Err(error) => return TurnEnd::NoReply(error),
            };
            let Reply { text, calls, cut } = reply;
            self.transcript.messages.push(Message::Assistant {
                text,
                calls: calls.clone(),
            });
            if calls.is_empty() {
                return TurnEnd::Answered { cut };
            }
            let round = self.run(&calls, &mut failed, on_event, cancel);
            if let Some(end) = round.end {
                return end;
            }
            repairs = round.failure.as_ref().map_or(0, |_| repairs + 1);
            if let Some(failure) = round.failure.filter(|_| repairs > self.limits.repairs) {
                return TurnEnd::RepairsSpent(failure);
            }
        }
        TurnEnd::TooManyRounds
    }

    /// One message of the model; a failure that may pass is waited for.
    fn ask(
        &self,
        model: &mut dyn Model,
        on_event: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let mut attempt = 0;
        loop {
            let mut on_text = |text: &str| on_event(Event::Text(text));
            let error = match model.reply(&self.transcript, &mut on_text, cancel) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let passing = matches!(
                error.kind(),
                ToolErrorKind::Transient | ToolErrorKind::RateLimited
            );
            // Half a second, then twice as long each time, unless the server knows better.
            let backoff = Duration::from_millis(500) * 2u32.saturating_pow(attempt);
            let wait = error.retry_after().unwrap_or(backoff);
            if !passing || attempt == self.limits.retries || wait > self.limits.longest_wait {
                return Err(error);
            }
            attempt += 1;
            on_event(Event::Retry {
                error: &error,
                wait,
            });
            sleep(wait, cancel)?;
        }
    }

    /// Runs the calls of one message. Each gets its answer, whatever became of the ones before it.
    fn run(
        &mut self,
        calls: &[ToolCall],
        failed: &mut HashSet<String>,
        on_event: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Round {
        let mut round = Round::default();
        let mut failing = Vec::new();
        for call in calls {
            on_event(Event::Call(call));
            let outcome = self.toolbox.call(call, cancel);
            on_event(Event::Outcome(&outcome));
            self.transcript.messages.push(Message::Tool {
                call: call.id.clone(),
                text: outcome.for_model(),
            });
            if let Err(error) = &outcome.result {
                let kind = error.kind();
                let failure = Failure {
                    said: outcome.said.clone(),
                    kind,
                    message: with_hints(error),
                };
                let identity = identity(call);
                let is_repeated = failed.contains(&identity);
                round.end = round.end.or_else(|| end(failure.clone(), is_repeated));
                round.failure = Some(failure);
                failing.push(identity);
            }
        }
        // Only now: of two such calls in one message the model has not been told yet.
        failed.extend(failing);
        round
    }
}

/// What became of the calls of one message.
#[derive(Default)]
struct Round {
    end: Option<TurnEnd>,
    /// The last failure that the model was told of.
    failure: Option<Failure>,
}

/// Whether a failure ends the turn, and how.
fn end(failure: Failure, is_repeated: bool) -> Option<TurnEnd> {
    match failure.kind {
        ToolErrorKind::Cancelled => Some(TurnEnd::Cancelled),
        ToolErrorKind::Auth | ToolErrorKind::Unknown => Some(TurnEnd::Hopeless(failure)),
        // The same call may work later.
        ToolErrorKind::Transient | ToolErrorKind::RateLimited => None,
        ToolErrorKind::Correctable | ToolErrorKind::NotAdmitted | ToolErrorKind::Denied => {
            is_repeated.then_some(TurnEnd::RepeatedFailure(failure))
        }
    }
}

/// What makes two calls the same: the tool they mean, and their arguments however they are written.
fn identity(call: &ToolCall) -> String {
    let tool = canonical_tool_name(call.name.trim());
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(mut arguments) => {
            arguments.sort_all_objects();
            format!("{tool} {arguments}")
        }
        Err(_) => format!("{tool} {}", call.arguments),
    }
}

fn sleep(wait: Duration, cancel: &Cancel) -> Result<(), ModelError> {
    const TICK: Duration = Duration::from_millis(20);
    let until = Instant::now() + wait;
    loop {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        match until.checked_duration_since(Instant::now()) {
            None | Some(Duration::ZERO) => return Ok(()),
            Some(left) => std::thread::sleep(left.min(TICK)),
        }
    }
}
