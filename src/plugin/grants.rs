//! A plugin's entries in the configs that govern its store: which of them go with it, and come back with it.

use super::{PluginStore, Result};
use crate::config::{self, ConfigError, Cut, Pruning};
use crate::disk::LockGuard;
use crate::mode::Mode;
use crate::roots::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A config entry that is taken out with its plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The config.
    pub config: PathBuf,
    /// The lines, counted from 1, that it stood on.
    pub lines: Vec<usize>,
    /// How to put it back.
    pub cut: Cut,
}

/// What became of a config entry when its plugin was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PutBack {
    /// The config.
    pub config: PathBuf,
    /// How it went.
    pub outcome: Outcome,
}

/// How putting an entry back went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum Outcome {
    /// It stands where it stood.
    Exact,
    /// The list has changed since; it is the last entry now.
    Last,
    /// It is there already.
    AlreadyThere,
    /// It was not put back; the reason, for a person to judge.
    LeftOut(String),
}

/// The entries that go when a plugin leaves this store: none of a plugin that another store of the same
/// configs still has.
pub(super) fn plan(store: &PluginStore, name: &str) -> Result<Vec<Grant>> {
    let mut grants = Vec::new();
    if store.neighbour_has(name) {
        return Ok(grants);
    }
    for (_, config) in store.configs() {
        if let Some(pruned) = config::plan_prune(&config, name)? {
            grants.push(Grant {
                config,
                lines: pruned.lines,
                cut: pruned.cut,
            });
        }
    }
    Ok(grants)
}

/// Takes the entries out. Does nothing where they are gone, or are needed by now.
pub(super) fn prune(
    store: &PluginStore,
    guard: &LockGuard,
    name: &str,
    grants: &[Grant],
) -> Result<()> {
    let mut needed = BTreeSet::new();
    if store.neighbour_has(name) {
        needed.insert(name.to_owned());
    }
    for (_, config) in store.configs() {
        if grants.iter().any(|grant| grant.config == config) {
            let pruning: Pruning =
                config::prune_plugins_network_allow(guard, &config, name, &needed, Mode::Write)?;
            // What is still needed stays, and what is gone needs no more.
            drop(pruning);
        }
    }
    Ok(())
}

/// Puts the entries back where that is this store's to do.
pub(super) fn put_back(
    store: &PluginStore,
    guard: &LockGuard,
    grants: &[Grant],
) -> Result<Vec<PutBack>> {
    grants
        .iter()
        .map(|grant| {
            Ok(PutBack {
                config: grant.config.clone(),
                outcome: put_back_one(store, guard, grant)?,
            })
        })
        .collect()
}

fn put_back_one(store: &PluginStore, guard: &LockGuard, grant: &Grant) -> Result<Outcome> {
    let known = store
        .configs()
        .into_iter()
        .find(|(_, config)| *config == grant.config);
    let Some((scope, config)) = known else {
        return Ok(Outcome::LeftOut(
            "the config of another workspace".to_owned(),
        ));
    };
    // A workspace may come from anywhere, its quarantine too: it grants nothing in the user's config.
    if store.scope() == Scope::Workspace && scope == Scope::User {
        return Ok(Outcome::LeftOut(
            "a workspace's plugin is not put into the user's config".to_owned(),
        ));
    }
    match config::restore_plugins_network_allow(guard, &config, &grant.cut, Mode::Write) {
        Ok(None) => Ok(Outcome::AlreadyThere),
        Ok(Some(restored)) if restored.exact => Ok(Outcome::Exact),
        Ok(Some(_)) => Ok(Outcome::Last),
        // The config has become something that takes no entry; the plugin comes back all the same.
        Err(ConfigError::Text { fault, .. }) => Ok(Outcome::LeftOut(fault.fault.to_string())),
        Err(error) => Err(error.into()),
    }
}
