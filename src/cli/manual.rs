//! `vak completions` and `vak manual`: what shells and `man` read, made from the same definitions as the help.

use super::out::Out;
use super::{Cli, Status};
use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::io::Write as _;

/// Print a shell's completions for vak
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak completions bash > ~/.local/share/bash-completion/completions/vak\n  \
    vak completions zsh  > ~/.zfunc/_vak\n  \
    vak completions fish > ~/.config/fish/completions/vak.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the manual page of a command
///
/// The page is in roff, as `man` reads it. Without a command it is vak's own page. `cargo xtask man` writes all of
/// them into a directory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak manual | man -l -\n  \
    vak manual plugins install > vak-plugins-install.1")]
pub(crate) struct ManualArgs {
    /// List the commands that have a page, one a line, and print none
    #[arg(long, conflicts_with = "command")]
    list: bool,
    /// The command, such as `plugins install`
    command: Vec<String>,
}

pub(crate) fn completions(args: &CompletionsArgs, out: &mut Out) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "vak", &mut script);
    out.write_all(&script)?;
    Ok(Status::Clean)
}

pub(crate) fn manual(args: &ManualArgs, out: &mut Out) -> anyhow::Result<Status> {
    let mut vak = Cli::command();
    // Fills in what a subcommand inherits, its full name above all.
    vak.build();
    if args.list {
        list(&vak, &mut Vec::new(), out)?;
        return Ok(Status::Clean);
    }
    let mut command = &vak;
    for name in &args.command {
        command = command.find_subcommand(name).with_context(|| {
            format!(
                "vak has no command `{}`\nhint: `vak manual --list` lists them",
                args.command.join(" ")
            )
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    out.write_all(&page)?;
    Ok(Status::Clean)
}

fn list(command: &clap::Command, path: &mut Vec<String>, out: &mut Out) -> anyhow::Result<()> {
    for subcommand in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        path.push(subcommand.get_name().to_owned());
        writeln!(out, "{}", path.join(" "))?;
        list(subcommand, path, out)?;
        path.pop();
    }
    Ok(())
}
