//! `vak exec`: one turn with a model that may call tools.

use super::out::Out;
use super::scan::excerpt::shown_text;
use super::session::{SessionArgs, cancel_on_signal};
use super::{BAD, FAINT, Format, GOOD, Status, WARN, say, write_json};
use crate::agent::{
    ApiKey, ChatModel, ChatSettings, Event, Failure, Limits, Message, Session, Transcript, TurnEnd,
};
use crate::config::ModelConfig;
use crate::tools::ToolOutcome;
use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::time::Duration;

/// Where a model most likely is if nobody says where.
const DEFAULT_BASE_URL: &str = "http://127.0.0.1:11434/v1";

/// Models on small machines take their time to load.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(300);

/// As many characters of a call or an answer as fit beside its name.
const SHOWN: usize = 100;

/// Ask a model, and let it call tools until it answers
///
/// The answer goes to stdout, to a terminal as it comes, the tool calls to stderr. The model is one behind the OpenAI-compatible chat-completions
/// protocol; servers on this machine, such as Ollama or llama.cpp, need no key. What the options leave open is taken from the
/// environment, then from `[model]` of the config: `base_url`, `name`, `api_key_env`, `timeout_seconds`.
///
/// Exit codes: 0 it answered; 1 the turn ended without an answer because of its tool calls; 2 there was no reply, or it was stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak exec --model qwen3 \"What does this project do?\"\n  \
    git diff | vak exec - --model qwen3 --permission-mode read-only\n  \
    vak exec --permission-mode full-access \"Run the tests and explain what fails\"")]
pub(crate) struct ExecArgs {
    /// What to ask; `-` reads it from standard input
    prompt: String,
    /// The model's name, as its server knows it
    #[arg(long, value_name = "NAME", env = "VAK_MODEL")]
    model: Option<String>,
    /// Where the protocol starts [default: http://127.0.0.1:11434/v1]
    #[arg(long, value_name = "URL", env = "VAK_BASE_URL")]
    base_url: Option<String>,
    /// The environment variable that holds the key, if the server wants one [default: VAK_API_KEY]
    #[arg(long, value_name = "VARIABLE")]
    api_key_env: Option<String>,
    /// How many seconds the server may send nothing [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// How the result is written; `json` holds the whole transcript
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    end: &'static str,
    /// The answer; empty if there is none.
    answer: &'a str,
    /// Why there is none, or what is wrong with it.
    message: Option<String>,
    transcript: &'a Transcript,
}

pub(crate) fn run(args: &ExecArgs, out: &mut Out) -> anyhow::Result<Status> {
    let prompt = prompt(&args.prompt)?;
    let core = args.session.trust.start()?;
    let mut model = ChatModel::new(settings(args, &core.policy().model)?)?;
    let toolbox = core.toolbox(args.session.permission_mode)?;
    let mut session = Session::new(toolbox, core.system_prompt(), Limits::default());
    let cancel = cancel_on_signal()?;
    let mut watcher = Watcher {
        out,
        format: args.format,
        is_live: io::stdout().is_terminal(),
        held: String::new(),
        at_line_start: true,
    };
    let mut on_event = |event: Event<'_>| watcher.show(&event);
    let end = session.turn(&mut model, &prompt, &mut on_event, &cancel);
    if !matches!(end, TurnEnd::NoReply(_)) {
        watcher.release();
    }
    watcher.end_line();
    if args.format == Format::Json {
        let document = Document {
            schema: 1,
            end: name(&end),
            answer: answer(&end, session.transcript()),
            message: message(&end),
            transcript: session.transcript(),
        };
        write_json(out, &document)?;
    }
    conclude(end)
}

fn prompt(prompt: &str) -> anyhow::Result<String> {
    if prompt != "-" {
        return Ok(prompt.to_owned());
    }
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .context("failed to read the prompt from standard input")?;
    Ok(text)
}

/// The command line comes before the environment, and that before the config.
fn settings(args: &ExecArgs, config: &ModelConfig) -> anyhow::Result<ChatSettings> {
    let Some(model) = args.model.clone().or_else(|| config.name.clone()) else {
        anyhow::bail!(
            "no model is named\nhint: pass `--model NAME`, set `VAK_MODEL`, or put `name` into `[model]` of `config.toml`"
        );
    };
    let variable = args.api_key_env.as_ref().or(config.api_key_env.as_ref());
    let variable = variable.map_or("VAK_API_KEY", String::as_str);
    let key = std::env::var(variable).ok();
    let base_url = args.base_url.as_ref().or(config.base_url.as_ref());
    Ok(ChatSettings {
        base_url: base_url.map_or(DEFAULT_BASE_URL, String::as_str).to_owned(),
        model,
        key: key.as_deref().and_then(ApiKey::new),
        patience: args
            .timeout
            .map(Duration::from_secs)
            .or(config.timeout)
            .unwrap_or(DEFAULT_PATIENCE),
    })
}

/// Shows a turn as it goes on: the model's text on stdout, everything else on stderr.
struct Watcher<'a> {
    out: &'a mut Out,
    format: Format,
    /// Whether text is passed on before its message is whole. What is kept must not hold text that turned out
    /// to be void; on a terminal it can stay, with a word on it.
    is_live: bool,
    /// The text of a message that is not whole yet.
    held: String,
    at_line_start: bool,
}

impl Watcher<'_> {
    fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) => self.text(text),
            Event::Call(call) => {
                self.release();
                self.end_line();
                let name = shown_text(&call.name);
                note(&format!(
                    "{FAINT}→{FAINT:#} {name} {FAINT}{}{FAINT:#}",
                    brief(&call.arguments)
                ));
            }
            Event::Outcome(outcome) => note(&in_a_line(outcome)),
            Event::Retry { error, wait } => {
                self.held.clear();
                self.end_line();
                let wait = wait.as_secs_f32();
                say(
                    WARN,
                    "warning",
                    [format!("{error}; asking again in {wait} s")],
                );
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.held.extend(text.chars().map(obeyed_by_none));
        if self.is_live {
            self.release();
        }
    }

    /// Passes on the text that is held. If stdout fails, the end of the command tells.
    fn release(&mut self) {
        let text = std::mem::take(&mut self.held);
        if self.format == Format::Json || text.is_empty() {
            return;
        }
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
        self.at_line_start = text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if !self.at_line_start {
            let _ = writeln!(self.out);
            let _ = self.out.flush();
            self.at_line_start = true;
        }
    }
}

/// The character, or a visible sign for one that a terminal would obey: a model may repeat what it has read
/// anywhere. Every other character is the model's own business.
fn obeyed_by_none(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}'..='\u{9f}' => '\u{fffd}',
        other => other,
    }
}

/// What became of a call, in a line.
fn in_a_line(outcome: &ToolOutcome) -> String {
    match &outcome.result {
        Ok(output) => {
            let note = match outcome.retired {
                Some(row) => format!(
                    "{WARN}`{}` is retired{WARN:#}, ran as `{}`: ",
                    row.name,
                    tool_name(outcome)
                ),
                None => String::new(),
            };
            format!("{GOOD}✓{GOOD:#} {note}{FAINT}{}{FAINT:#}", brief(output))
        }
        Err(error) => {
            let redirected = match outcome.retired {
                Some(row) => format!(
                    " (`{}` was retired in {}, the model is led to `{}`)",
                    row.name,
                    row.retired_in,
                    tool_name(outcome)
                ),
                None => String::new(),
            };
            format!("{BAD}✗{BAD:#} {}{redirected}", brief(&error.to_string()))
        }
    }
}

fn tool_name(outcome: &ToolOutcome) -> &'static str {
    outcome.tool.map_or("nothing", |tool| tool.name)
}

/// The beginning of a text, on one line.
fn brief(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = shown_text(&line.chars().take(SHOWN).collect::<String>());
    if line.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn note(line: &str) {
    // Nobody is left to tell if stderr itself is gone.
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

fn name(end: &TurnEnd) -> &'static str {
    match end {
        TurnEnd::Answered { .. } => "answered",
        TurnEnd::RepeatedFailure(_) => "repeated-failure",
        TurnEnd::RepairsSpent(_) => "repairs-spent",
        TurnEnd::Hopeless(_) => "hopeless",
        TurnEnd::TooManyRounds => "too-many-rounds",
        TurnEnd::NoReply(_) => "no-reply",
        TurnEnd::Cancelled => "cancelled",
    }
}

fn answer<'a>(end: &TurnEnd, transcript: &'a Transcript) -> &'a str {
    match (end, transcript.messages.last()) {
        (TurnEnd::Answered { .. }, Some(Message::Assistant { text, .. })) => text,
        _ => "",
    }
}

/// Why a turn ended as it did, if there is more to say than that there is an answer.
fn message(end: &TurnEnd) -> Option<String> {
    let of = |failure: &Failure| {
        let (said, message) = (shown_text(&failure.said), shown_text(&failure.message));
        format!("`{said}`: {message}")
    };
    Some(match end {
        TurnEnd::Answered { cut: false } => return None,
        TurnEnd::Answered { cut: true } => {
            "the answer ends early: the model ran out of room".to_owned()
        }
        TurnEnd::RepeatedFailure(failure) => format!(
            "the model made the same failing call twice, {}",
            of(failure)
        ),
        TurnEnd::RepairsSpent(failure) => format!(
            "the model made failing calls again and again, the last one {}",
            of(failure)
        ),
        TurnEnd::Hopeless(failure) => {
            format!("the model can do nothing about this, {}", of(failure))
        }
        TurnEnd::TooManyRounds => "the model kept calling tools and never answered".to_owned(),
        TurnEnd::NoReply(error) => error.to_string(),
        TurnEnd::Cancelled => "stopped".to_owned(),
    })
}

fn conclude(end: TurnEnd) -> anyhow::Result<Status> {
    let message = message(&end);
    match end {
        TurnEnd::Answered { .. } => {
            if let Some(message) = message {
                say(WARN, "warning", [message]);
            }
            Ok(Status::Clean)
        }
        TurnEnd::RepeatedFailure(_)
        | TurnEnd::RepairsSpent(_)
        | TurnEnd::Hopeless(_)
        | TurnEnd::TooManyRounds => {
            say(BAD, "error", message);
            Ok(Status::Findings)
        }
        TurnEnd::NoReply(error) => Err(error.into()),
        TurnEnd::Cancelled => anyhow::bail!("stopped"),
    }
}
