//! `vak setup`: preparing this machine for vak.

use super::out::Out;
use super::sync::{self, Verbosity};
use super::{Format, Status, mode};
use clap::{Args, Subcommand};

/// Prepare this machine for vak
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    #[command(subcommand)]
    command: SetupCommand,
}

#[derive(Debug, Subcommand)]
enum SetupCommand {
    Seed(SeedArgs),
}

/// Write the starter skills, then take away plugins that call a retired tool
///
/// Starter skills go into the shared root. One that you edited or deleted stays that way; one that is still as an earlier vak wrote
/// it is brought up to date. Then every plugin, in the shared store and in this workspace's, whose skills tell the model to call a
/// retired tool is moved into quarantine, and its entry is taken out of `network_allow`. Nothing is lost: `vak plugins restore`
/// brings a plugin back. A plugin named in `[plugins] keep_retired` is left alone. Running it again changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak setup seed --dry-run    # what it would do\n  \
    vak setup seed")]
struct SeedArgs {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(crate) fn run(args: &SetupArgs, out: &mut Out) -> anyhow::Result<Status> {
    let SetupCommand::Seed(args) = &args.command;
    sync::reconcile(mode(args.dry_run), args.format, Verbosity::Full, out)
}
