//! `vak plugins`: what is installed, what comes in, what goes, and what comes back.

mod change;
mod table;
mod view;

use super::out::Out;
use super::{Format, Status, roots};
use crate::plugin::{PluginStore, Restoration};
use crate::roots::{Roots, Scope};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// See and change which plugins are installed
///
/// There are two stores: the user's, below `$VAK_HOME/.vak`, and the workspace's, below `.vak` of the working directory. A command
/// that looks, looks at both; one that changes a plugin finds the store that has it.
#[derive(Debug, Args)]
pub(crate) struct PluginsArgs {
    #[command(subcommand)]
    command: PluginsCommand,
}

#[derive(Debug, Subcommand)]
enum PluginsCommand {
    List(ListArgs),
    Inspect(InspectArgs),
    Install(InstallArgs),
    Enable(EnableArgs),
    Disable(DisableArgs),
    Remove(RemoveArgs),
    Restore(RestoreArgs),
    Purge(PurgeArgs),
    Retired(RetiredArgs),
}

/// List the installed plugins, or what is in quarantine
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak plugins list\n  \
    vak plugins list --quarantine    # what was taken away and can come back")]
struct ListArgs {
    /// What was taken away instead of what is installed
    #[arg(long)]
    quarantine: bool,
    #[command(flatten)]
    look: Look,
}

/// Show all there is to know of one plugin
///
/// Its registry entry, its files, whether they still are what was installed, and every place in it that names a retired tool.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  vak plugins inspect notes")]
struct InspectArgs {
    /// The plugin
    name: String,
    #[command(flatten)]
    look: Look,
}

/// Install a plugin from a directory
///
/// The directory holds `vak-plugin.json`, one of the manifests that are imported (`.claude-plugin/plugin.json`,
/// `.codex-plugin/plugin.json`, `plugin.json`, `.cursor-plugin/plugin.json`, `gemini-extension.json`), or a bare `SKILL.md`. It is
/// copied, the copy is verified, and the plugin is disabled until you enable it.
///
/// A package with links, special files, more than 4,096 files, 64 MiB or 16 levels is refused. So is one that tells the model to
/// call a retired tool: the next `vak setup seed` would take it away again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak plugins install ./notes\n  \
    vak plugins install ./notes --upgrade    # another version is installed")]
struct InstallArgs {
    /// The directory
    path: PathBuf,
    /// The store to install into
    #[arg(long, value_enum, default_value_t = Store::User)]
    scope: Store,
    /// Take a package that tells the model to call a retired tool
    #[arg(long)]
    allow_retired: bool,
    /// Let it take the place of another version
    #[arg(long)]
    upgrade: bool,
    #[command(flatten)]
    report: Report,
}

/// Let the model be offered a plugin's skills
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  vak plugins enable notes")]
struct EnableArgs {
    /// The plugin
    name: String,
    /// Enable it although it tells the model to call a retired tool
    ///
    /// The skills that do are kept from the model all the same.
    #[arg(long)]
    allow_retired: bool,
    /// The store to look in; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    #[command(flatten)]
    report: Report,
}

/// Keep a plugin's skills from the model
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  vak plugins disable notes")]
struct DisableArgs {
    /// The plugin
    name: String,
    /// The store to look in; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    #[command(flatten)]
    report: Report,
}

/// Take a plugin away, into quarantine
///
/// Its registry entry, its packages and its entries in `network_allow` go together, and come back together with `vak plugins
/// restore`. An entry stays in a config as long as the other store has a plugin of the same name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak plugins remove notes --dry-run\n  \
    vak plugins remove notes")]
struct RemoveArgs {
    /// The plugin
    name: String,
    /// The store to look in; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    /// Take out the registry entry alone and touch no package
    ///
    /// For an entry whose package path leads out of the store, or into another plugin's package.
    #[arg(long)]
    forget: bool,
    #[command(flatten)]
    report: Report,
}

/// Bring a plugin back from quarantine
///
/// Its packages, its registry entry and its entries in `network_allow` are put back as they were.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak plugins list --quarantine\n  \
    vak plugins restore notes")]
struct RestoreArgs {
    /// What names it in quarantine, or the plugin's name for the newest of that name
    #[arg(value_name = "ID|NAME")]
    id: String,
    /// The store to look in; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    #[command(flatten)]
    report: Report,
}

/// Delete for good what has been in quarantine for long enough
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak plugins purge --older-than 30d --dry-run\n  \
    vak plugins purge --older-than 0d    # everything")]
struct PurgeArgs {
    /// How long it must have been there: a number and `s`, `m`, `h`, `d` or `w`
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older_than: Duration,
    /// The store to purge; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    #[command(flatten)]
    report: Report,
}

/// List the plugins that tell the model to call a retired tool
///
/// Exit code 1 if there is one, 2 if a plugin can't be read. Changes nothing; `vak setup seed` takes them into quarantine.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  vak plugins retired --format json")]
struct RetiredArgs {
    #[command(flatten)]
    look: Look,
}

/// Where to look, and how to say it.
#[derive(Debug, Args)]
struct Look {
    /// The store to look in; without it, both
    #[arg(long, value_enum)]
    scope: Option<Store>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// What every change has.
#[derive(Debug, Args)]
struct Report {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// A store, as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    /// `$VAK_HOME/.vak`: every workspace of this user
    User,
    /// `.vak` of the working directory
    Workspace,
}

pub(crate) fn run(args: &PluginsArgs, out: &mut Out) -> anyhow::Result<Status> {
    let roots = roots()?;
    if let Some(scope) = args.command.changes() {
        change::tidy(&stores(&roots, scope))?;
    }
    match &args.command {
        PluginsCommand::List(args) => view::list(args, &roots, out),
        PluginsCommand::Inspect(args) => view::inspect(args, &roots, out),
        PluginsCommand::Retired(args) => view::retired(args, &roots, out),
        PluginsCommand::Install(args) => change::install(args, &roots, out),
        PluginsCommand::Enable(args) => change::enable(args, &roots, out),
        PluginsCommand::Disable(args) => change::disable(args, &roots, out),
        PluginsCommand::Remove(args) => change::remove(args, &roots, out),
        PluginsCommand::Restore(args) => change::restore(args, &roots, out),
        PluginsCommand::Purge(args) => change::purge(args, &roots, out),
    }
}

impl PluginsCommand {
    /// The scope of what it is to change, if anything.
    fn changes(&self) -> Option<Option<Store>> {
        let (report, scope) = match self {
            PluginsCommand::List(_) | PluginsCommand::Inspect(_) | PluginsCommand::Retired(_) => {
                return None;
            }
            PluginsCommand::Install(args) => (&args.report, Some(args.scope)),
            PluginsCommand::Enable(args) => (&args.report, args.scope),
            PluginsCommand::Disable(args) => (&args.report, args.scope),
            PluginsCommand::Remove(args) => (&args.report, args.scope),
            PluginsCommand::Restore(args) => (&args.report, args.scope),
            PluginsCommand::Purge(args) => (&args.report, args.scope),
        };
        (!report.dry_run).then_some(scope)
    }
}

impl Store {
    fn scope(self) -> Scope {
        match self {
            Store::User => Scope::User,
            Store::Workspace => Scope::Workspace,
        }
    }
}

/// The stores of a scope; of both without one. Where both are one directory, either name means it.
fn stores(roots: &Roots, scope: Option<Store>) -> Vec<PluginStore> {
    let mut stores = PluginStore::open_all(roots);
    if let (Some(scope), true) = (scope, stores.len() > 1) {
        stores.retain(|store| store.scope() == scope.scope());
    }
    stores
}

/// The store that has what is asked for: a plugin of this name, or something in quarantine.
fn find_store(
    roots: &Roots,
    scope: Option<Store>,
    name: &str,
    has: impl Fn(&PluginStore) -> crate::plugin::Result<bool>,
) -> anyhow::Result<PluginStore> {
    let mut candidates = stores(roots, scope);
    // The only one there is says best itself what it does not have.
    if candidates.len() == 1 {
        return Ok(candidates.remove(0));
    }
    let mut found = Vec::new();
    for store in &candidates {
        if has(store)? {
            found.push(store.clone());
        }
    }
    match found.len() {
        0 => Err(nowhere(&candidates, name)),
        1 => Ok(found.remove(0)),
        _ => anyhow::bail!(
            "both stores have `{name}`\nhint: say which one is meant, with `--scope user` or `--scope workspace`"
        ),
    }
}

fn nowhere(stores: &[PluginStore], name: &str) -> anyhow::Error {
    let quarantined = stores
        .iter()
        .find_map(|store| store.plan_restore(name).ok());
    match quarantined {
        Some(Restoration { plugin, .. }) => anyhow::anyhow!(
            "neither store has a plugin `{name}`\nhint: it was taken away; bring it back with `vak plugins restore {}`",
            plugin.id
        ),
        None => anyhow::anyhow!(
            "neither store has `{name}`\nhint: `vak plugins list` shows what is installed, `vak plugins list --quarantine` what was taken away"
        ),
    }
}

/// An option that makes a command mean this store, where it has to be said.
fn scope_option(roots: &Roots, scope: Scope) -> &'static str {
    match scope {
        Scope::Workspace if roots.workspace.is_some() => " --scope workspace",
        _ => "",
    }
}

fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong =
        || "a number and one of `s`, `m`, `h`, `d`, `w` is wanted, such as `30d`".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let age = number.checked_mul(seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(age))
}
