//! The `vak` command: parses arguments, calls the library, prints what it returns.
//!
//! Data goes to stdout through `Out`, everything else to stderr. Exit codes are the same for every
//! command and format: 0 clean, 1 findings or failed checks, 2 it could not do its work. This is the
//! only module that writes to the terminal.

mod doctor;
mod exec;
mod manual;
mod out;
mod plugins;
mod program;
mod scan;
#[cfg(feature = "server")]
mod serve;
mod session;
mod setup;
mod skills;
mod sync;
mod tools;

use crate::disk;
use crate::mode::Mode;
use crate::roots::Roots;
use crate::tools::retired_tools;
use crate::words::{count, split_hints};
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use clap::{Parser, Subcommand, ValueEnum};
use out::Out;
use scan::excerpt::{shown_lines, shown_path};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

/// Bold, for what a line is about.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is in order.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What deserves a look.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What explains.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// A local agent's retired-tool life cycle.
///
/// vak keeps one list of the tools it has retired, and finds, refuses and reversibly clears
/// everything on this machine that still tells a model to call one of them.
#[derive(Debug, Parser)]
#[command(
    name = "vak",
    version = version(),
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "State lives in `$VAK_HOME/.vak` (VAK_HOME defaults to `~/vak-home`) and in `.vak` of the \
                  working directory.\n\
                  Exit codes: 0 clean, 1 findings or failed checks, 2 it could not do its work."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Doctor(doctor::DoctorArgs),
    Setup(setup::SetupArgs),
    Plugins(plugins::PluginsArgs),
    Skills(skills::SkillsArgs),
    Tools(tools::ToolsArgs),
    Exec(exec::ExecArgs),
    Scan(scan::ScanArgs),
    #[cfg(feature = "server")]
    Serve(serve::ServeArgs),
    ServicesSync(sync::SyncArgs),
    #[command(name = "self")]
    Program(program::SelfArgs),
    Completions(manual::CompletionsArgs),
    Manual(manual::ManualArgs),
}

/// How a command's result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// One JSON document.
    Json,
}

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing to complain of.
    Clean,
    /// It found something, or a check failed.
    Findings,
}

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A reader that closed the pipe wants no help text; there is nobody left to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    disk::set_wait_hook(say_waiting);
    let mut out = Out::stdout();
    let result = run(&cli.command, &mut out).and_then(|status| {
        out.flush()
            .context("failed to write to stdout")
            .map(|()| status)
    });
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Findings) => ExitCode::from(1),
        Err(error) => {
            // What was already said stays said, in order.
            let _ = out.flush();
            report(&error);
            ExitCode::from(2)
        }
    }
}

fn run(command: &Command, out: &mut Out) -> anyhow::Result<Status> {
    match command {
        Command::Doctor(args) => doctor::run(args, out),
        Command::Plugins(args) => plugins::run(args, out),
        Command::Exec(args) => exec::run(args, out),
        Command::Setup(args) => setup::run(args, out),
        Command::Scan(args) => scan::run(args, out),
        Command::Skills(args) => skills::run(args, out),
        Command::Tools(args) => tools::run(args, out),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(args, out),
        Command::ServicesSync(args) => sync::run(args, out),
        Command::Program(args) => program::run(args, out),
        Command::Completions(args) => manual::completions(args, out),
        Command::Manual(args) => manual::manual(args, out),
    }
}

/// What `vak --version` says behind the name: the version, and how many retired tools this binary knows.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let known = count(retired_tools().len(), "retired tool");
        format!("{} ({known})", env!("CARGO_PKG_VERSION"))
    });
    &VERSION
}

/// Whether to write, as `--dry-run` says.
pub(crate) fn mode(dry_run: bool) -> Mode {
    if dry_run { Mode::Check } else { Mode::Write }
}

/// The roots this process works on, from its environment and working directory.
pub(crate) fn roots() -> anyhow::Result<Roots> {
    Ok(Roots::of_process(&cwd()?)?)
}

/// The directory this process works in.
pub(crate) fn cwd() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("failed to find the working directory")
}

/// Writes a JSON document, indented, with a final newline.
pub(crate) fn write_json(out: &mut Out, document: &impl serde::Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document).context("failed to write JSON")?;
    writeln!(out)?;
    Ok(())
}

/// Says on stderr that another process is at work.
fn say_waiting(lock: &Path) {
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(
        anstream::stderr(),
        "{FAINT}waiting for another vak, which holds `{}`{FAINT:#}",
        shown_path(lock)
    );
}

/// Says on stderr what went wrong, its causes, and, last, what to do.
fn report(error: &anyhow::Error) {
    say(BAD, "error", error.chain().map(ToString::to_string));
}

/// Writes a message and its causes to stderr and, last, what to do: the `hint:` lines that any of them
/// carries.
pub(crate) fn say(style: Style, lead: &str, messages: impl IntoIterator<Item = String>) {
    let mut stderr = anstream::stderr().lock();
    let mut hints = Vec::new();
    for (depth, message) in messages.into_iter().enumerate() {
        let message = shown_lines(&message);
        let (text, its_hints) = split_hints(&message);
        let lead = if depth == 0 { lead } else { "  caused by" };
        // Nobody is left to tell if stderr itself is gone.
        let _ = writeln!(stderr, "{style}{lead}{style:#}: {text}");
        hints.extend(its_hints.into_iter().map(str::to_owned));
    }
    for hint in hints {
        let _ = writeln!(stderr, "{GOOD}hint{GOOD:#}: {hint}");
    }
}
