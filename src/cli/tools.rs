//! `vak tools`: names, the list of retired ones, one name's way, and one call through the whole path.

use super::out::Out;
use super::scan::excerpt::shown_text;
use super::session::{SessionArgs, cancel_on_signal};
use super::{BAD, FAINT, Format, GOOD, STRONG, Status, WARN, write_json};
use crate::tools::{
    LIVE_TOOLS, LiveTool, PermissionMode, RetiredTool, ToolCall, ToolErrorKind, ToolOutcome,
    canonical_tool_name, live_tool, retired_tool, retired_tools,
};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write as _};

/// Show what names of tools mean, and make a call as a model would
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
enum ToolsCommand {
    /// List the live tools
    List(FormatArgs),
    /// List the retired tools, in the order in which they were retired
    Retired(FormatArgs),
    Resolve(ResolveArgs),
    Call(CallArgs),
}

#[derive(Debug, Args)]
struct FormatArgs {
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Say what a name means: a live tool, an alias, a retired tool, or nothing
///
/// Outer blanks, letter case and `-` for `_` make no difference. The exit code is 1 if the name means nothing.
#[derive(Debug, Args)]
struct ResolveArgs {
    /// The name, as a model might say it
    name: String,
    #[command(flatten)]
    format: FormatArgs,
}

/// Make one call, as if a model had made it, and show what the model would be told
///
/// The call takes the whole path: its name, the permission mode, the schema, then the tool itself, at work in the working directory.
/// The exit code is 1 if the call failed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak tools call read --args '{\"path\": \"README.md\"}'\n  \
    vak tools call bash --args '{\"command\": \"ls\"}' --permission-mode full-access")]
struct CallArgs {
    /// The tool's name, as a model might say it
    name: String,
    /// The arguments, a JSON object; it is passed on as it is, well formed or not
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &ToolsArgs, out: &mut Out) -> anyhow::Result<Status> {
    match &args.command {
        ToolsCommand::List(args) => list(args.format, out),
        ToolsCommand::Retired(args) => retired(args.format, out),
        ToolsCommand::Resolve(args) => resolve(args, out),
        ToolsCommand::Call(args) => call(args, out),
    }
}

#[derive(Serialize)]
struct ListDocument {
    schema: u32,
    tools: Vec<ListedTool>,
}

#[derive(Serialize)]
struct ListedTool {
    name: &'static str,
    aliases: &'static [&'static str],
    needs: PermissionMode,
    description: &'static str,
    parameters: &'static Value,
}

fn list(format: Format, out: &mut Out) -> anyhow::Result<Status> {
    match format {
        Format::Json => {
            let tools = LIVE_TOOLS.iter().map(|tool| ListedTool {
                name: tool.name,
                aliases: tool.aliases,
                needs: tool.needs,
                description: tool.description,
                parameters: tool.schema(),
            });
            let document = ListDocument {
                schema: 1,
                tools: tools.collect(),
            };
            write_json(out, &document)?;
        }
        Format::Human => LIVE_TOOLS
            .iter()
            .try_for_each(|tool| write_tool(out, tool))?,
    }
    Ok(Status::Clean)
}

fn write_tool(out: &mut Out, tool: &LiveTool) -> io::Result<()> {
    let LiveTool { name, needs, .. } = tool;
    writeln!(
        out,
        "{STRONG}{name:6}{STRONG:#} {needs:16} {}",
        tool.summary()
    )?;
    let aliases = tool.aliases.join(", ");
    writeln!(out, "{FAINT}{:23} also called {aliases}{FAINT:#}", "")
}

#[derive(Serialize)]
struct RetiredDocument {
    schema: u32,
    retired: Vec<ListedRetired>,
}

#[derive(Serialize)]
struct ListedRetired {
    #[serde(flatten)]
    row: &'static RetiredTool,
    /// The live tool at the end of its replacements.
    tool: &'static str,
}

fn retired(format: Format, out: &mut Out) -> anyhow::Result<Status> {
    let rows = retired_tools();
    match format {
        Format::Json => {
            let retired = rows.iter().map(|row| ListedRetired {
                row,
                tool: canonical_tool_name(row.name),
            });
            let document = RetiredDocument {
                schema: 1,
                retired: retired.collect(),
            };
            write_json(out, &document)?;
        }
        Format::Human => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            for row in rows {
                let RetiredTool {
                    name, retired_in, ..
                } = row;
                let tool = canonical_tool_name(name);
                writeln!(
                    out,
                    "{STRONG}{name:width$}{STRONG:#}  retired in {retired_in}, use {GOOD}{tool}{GOOD:#}"
                )?;
                if let Some(hint) = row.hint {
                    writeln!(out, "{FAINT}{:width$}  {hint}{FAINT:#}", "")?;
                }
            }
        }
    }
    Ok(Status::Clean)
}

/// What a name means.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Meaning {
    Live,
    Alias,
    Retired,
    Unknown,
}

#[derive(Serialize)]
struct ResolveDocument<'a> {
    schema: u32,
    name: &'a str,
    meaning: Meaning,
    tool: Option<&'static str>,
    retired: Option<&'static RetiredTool>,
}

fn resolve(args: &ResolveArgs, out: &mut Out) -> anyhow::Result<Status> {
    let tool = live_tool(canonical_tool_name(&args.name)).map(|tool| tool.name);
    let retired = retired_tool(&args.name);
    let meaning = match (tool, retired) {
        (_, Some(_)) => Meaning::Retired,
        (Some(tool), None) if tool == args.name => Meaning::Live,
        (Some(_), None) => Meaning::Alias,
        (None, None) => Meaning::Unknown,
    };
    let status = match meaning {
        Meaning::Unknown => Status::Findings,
        Meaning::Live | Meaning::Alias | Meaning::Retired => Status::Clean,
    };
    let document = ResolveDocument {
        schema: 1,
        name: &args.name,
        meaning,
        tool,
        retired,
    };
    match args.format.format {
        Format::Json => write_json(out, &document)?,
        Format::Human => write_meaning(out, &document)?,
    }
    Ok(status)
}

fn write_meaning(out: &mut Out, document: &ResolveDocument<'_>) -> io::Result<()> {
    let name = shown_text(document.name);
    let tool = document.tool.unwrap_or_default();
    match (&document.meaning, document.retired) {
        (Meaning::Live, _) => writeln!(out, "`{name}` is a live tool"),
        (Meaning::Alias, _) => {
            writeln!(out, "`{name}` means {GOOD}{tool}{GOOD:#}")
        }
        (Meaning::Retired, Some(row)) => {
            writeln!(
                out,
                "`{name}` was {WARN}retired{WARN:#} in {}; it leads to {GOOD}{tool}{GOOD:#}",
                row.retired_in
            )?;
            match row.hint {
                Some(hint) => writeln!(out, "{FAINT}{hint}{FAINT:#}"),
                None => Ok(()),
            }
        }
        (Meaning::Unknown | Meaning::Retired, _) => {
            writeln!(out, "`{name}` {BAD}means no tool{BAD:#}, live or retired")
        }
    }
}

#[derive(Serialize)]
struct CallDocument<'a> {
    schema: u32,
    called: &'a str,
    tool: Option<&'static str>,
    retired: Option<&'static RetiredTool>,
    ok: bool,
    kind: Option<ToolErrorKind>,
    /// What the model would be told: text, or the error object.
    told: Value,
}

fn call(args: &CallArgs, out: &mut Out) -> anyhow::Result<Status> {
    let core = args.session.trust.start()?;
    let toolbox = core.toolbox(args.session.permission_mode)?;
    let cancel = cancel_on_signal()?;
    let call = ToolCall {
        id: "cli".to_owned(),
        name: args.name.clone(),
        arguments: args.args.clone(),
    };
    let outcome = toolbox.call(&call, &cancel);
    match args.format.format {
        Format::Json => write_json(out, &call_document(&outcome)?)?,
        Format::Human => writeln!(out, "{}", outcome.for_model().trim_end_matches('\n'))?,
    }
    Ok(match outcome.result {
        Ok(_) => Status::Clean,
        Err(_) => Status::Findings,
    })
}

fn call_document(outcome: &ToolOutcome) -> anyhow::Result<CallDocument<'_>> {
    let told = outcome.for_model();
    let told = match &outcome.result {
        Ok(_) => Value::String(told),
        Err(_) => serde_json::from_str(&told).context("failed to read the error object")?,
    };
    Ok(CallDocument {
        schema: 1,
        called: &outcome.said,
        tool: outcome.tool.map(|tool| tool.name),
        retired: outcome.retired,
        ok: outcome.result.is_ok(),
        kind: outcome.error_kind(),
        told,
    })
}
