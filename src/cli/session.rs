//! What the commands share that start a session: the core, its warnings, and the wish to stop.

use super::{cwd, say};
use crate::core::{Core, StartupWarning, set_warning_hook};
use crate::tools::{Cancel, PermissionMode};
use anyhow::Context as _;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What a process ends with that was told twice to stop.
const STOPPED: i32 = 130;

/// How a session starts.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// What the tools may do; without it `permission_mode` of the config holds, and without that `read-only`
    #[arg(long, value_name = "MODE", value_parser = permission_mode())]
    pub(crate) permission_mode: Option<PermissionMode>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Whose config a session follows.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Follow the workspace's `.vak/config.toml`, though it may come from anywhere
    ///
    /// Without it, that config can lower the permission mode and nothing else.
    #[arg(long)]
    trust_project: bool,
}

fn permission_mode() -> impl TypedValueParser<Value = PermissionMode> {
    PossibleValuesParser::new(PermissionMode::ALL.map(PermissionMode::name))
        .map(|name| PermissionMode::from_name(&name).unwrap_or_default())
}

impl TrustArgs {
    /// Starts the core; what an operator should know goes to stderr.
    pub(crate) fn start(&self) -> anyhow::Result<Core> {
        set_warning_hook(show);
        Ok(Core::new_with_trust(&cwd()?, self.trust_project)?)
    }
}

fn show(warning: &StartupWarning) {
    say(super::WARN, "warning", [warning.to_string()]);
}

/// A switch that Ctrl-C and SIGTERM turn. The second one ends the process at once.
pub(crate) fn cancel_on_signal() -> anyhow::Result<Cancel> {
    let cancel = Cancel::new();
    for signal in [SIGINT, SIGTERM] {
        // In this order, or the first one would end the process already.
        flag::register_conditional_shutdown(signal, STOPPED, cancel.flag())
            .and_then(|_| flag::register(signal, cancel.flag()))
            .context("failed to watch for Ctrl-C")?;
    }
    Ok(cancel)
}
