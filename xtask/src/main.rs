//! `cargo xtask`: the project's own chores.
//!
//! Never depends on `vak`: a faulty list stops `vak` from compiling, and the chore that explains the fault must
//! still run. Exit codes: 0 in order, 1 the check found something, 2 it could not do its work.

mod base;
mod bench_build;
mod check;
mod copy;
mod explain;
mod git;
mod history;
mod man;
mod mentions;
mod project;
mod retire;
mod sources;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 in order, 1 the check found something, 2 it could not do its work."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Retire(retire::Retire),
    Check(check::Check),
    Copy(copy::Copy),
    BenchBuild(bench_build::BenchBuild),
    Man(man::Man),
}

/// How a chore that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// All in order.
    Clean,
    /// The check found something.
    Findings,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Retire(retire) => retire::run(retire),
        Command::Check(check) => check::run(check),
        Command::Copy(copy) => copy::run(copy),
        Command::BenchBuild(bench) => bench_build::run(bench),
        Command::Man(man) => man::run(man),
    };
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Findings) => ExitCode::from(1),
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

/// Says on stderr what went wrong and its causes; `hint:` lines of the messages come last.
fn report(error: &anyhow::Error) {
    let (mut text, mut hints) = (Vec::new(), Vec::new());
    for (depth, cause) in error.chain().enumerate() {
        let message = cause.to_string();
        let (hint, words): (Vec<&str>, Vec<&str>) =
            message.lines().partition(|line| line.starts_with("hint: "));
        let words = words.join("\n");
        text.push(match depth {
            0 => format!("error: {words}"),
            _ => format!("  caused by: {words}"),
        });
        hints.extend(hint.into_iter().map(str::to_owned));
    }
    say(&[text, hints].concat().join("\n"));
}

/// Writes a line to stderr. There is nobody left to tell where that fails.
fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Writes to stdout. Where the reader has gone away there is nobody left to tell, and nothing has failed.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("failed to write to stdout"),
    }
}

/// Whether a drawing of faults on stderr may be coloured.
fn paint() -> registry::Paint {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stderr().is_terminal() && !refused {
        registry::Paint::Colour
    } else {
        registry::Paint::Plain
    }
}
