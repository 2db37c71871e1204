//! A plugin's entries in the configs that govern its store: they go with it, and come back with it.
//!
//! What is cut out of a config is remembered beside that config, in its own root's `plugins/grants/`, and put
//! back from there alone. So a workspace, which may come from anywhere with a quarantine of its own making,
//! cannot have an entry put into the user's config that vak has not itself taken out of it for a plugin of
//! that very workspace.

use super::pending::RECORD_LIMIT;
use super::record::Quarantined;
use super::{PluginError, PluginStore, Result, lossy_path};
use crate::config::{self, ConfigError, Cut};
use crate::disk::{self, Dir, DiskError, LockGuard};
use crate::mode::Mode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub(super) const GRANTS: &str = "plugins/grants";

/// A config entry that is taken out with its plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The config.
    #[serde(serialize_with = "lossy_path")]
    pub config: PathBuf,
    /// The lines, counted from 1, that it stood on.
    pub lines: Vec<usize>,
}

/// What became of a config entry when its plugin was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PutBack {
    /// The config.
    #[serde(serialize_with = "lossy_path")]
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

/// What a root remembers of an entry that was cut out of its config.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    schema: u32,
    /// The root of the store that the plugin was removed from.
    #[serde(serialize_with = "lossy_path")]
    store: PathBuf,
    cut: Cut,
}

/// The entries that go when a plugin leaves this store: none of a plugin that another store of the same
/// configs still has.
pub(super) fn plan(store: &PluginStore, name: &str) -> Result<Vec<Grant>> {
    let mut grants = Vec::new();
    if store.neighbour_has(name) {
        return Ok(grants);
    }
    for root in store.governed_roots() {
        let config = root.join(config::FILE_NAME);
        if let Some(pruned) = config::plan_prune(&config, name)? {
            let lines = pruned.lines;
            grants.push(Grant { config, lines });
        }
    }
    Ok(grants)
}

/// Takes the entries out, each remembered first. Does nothing where they are gone, or are needed by now.
pub(super) fn prune(store: &PluginStore, guard: &LockGuard, about: &Quarantined) -> Result<()> {
    let mut needed = BTreeSet::new();
    if store.neighbour_has(&about.name) {
        needed.insert(about.name.clone());
    }
    for root in store.governed_roots() {
        let config = root.join(config::FILE_NAME);
        let is_meant = about
            .grants
            .iter()
            .any(|grant| is_recorded_as(&config, &grant.config));
        if !is_meant || !needed.is_empty() {
            continue;
        }
        if let Some(pruned) = config::plan_prune(&config, &about.name)? {
            remember(store, guard, root, about, pruned.cut)?;
            config::prune_plugins_network_allow(guard, &config, &about.name, &needed, Mode::Write)?;
        }
    }
    Ok(())
}

/// Puts the entries back where that is this store's to do.
pub(super) fn put_back(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
) -> Result<Vec<PutBack>> {
    let mut done = Vec::new();
    for grant in &about.grants {
        let config = grant.config.clone();
        let outcome = put_back_one(store, guard, about, grant)?;
        done.push(PutBack { config, outcome });
    }
    Ok(done)
}

/// Forgets what was cut out for a plugin that will not come back.
pub(super) fn forget(store: &PluginStore, guard: &LockGuard, about: &Quarantined) -> Result<()> {
    for root in store.governed_roots().filter(|root| guard.covers(root)) {
        forget_in(store, guard, root, about)?;
    }
    Ok(())
}

/// Refuses a lock that does not cover what a removal or a restore is going to change: it would be found out
/// only half-way.
pub(super) fn check_cover(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
) -> Result<()> {
    let mut roots = about
        .grants
        .iter()
        .filter_map(|grant| root_of(store, grant));
    match roots.find(|root| !guard.covers(root)) {
        Some(root) => Err(DiskError::NotCovered {
            path: root.join(config::FILE_NAME),
        }
        .into()),
        None => Ok(()),
    }
}

/// The root whose config an entry was in, if that config governs the store.
fn root_of<'a>(store: &'a PluginStore, grant: &Grant) -> Option<&'a Path> {
    store
        .governed_roots()
        .find(|root| is_recorded_as(&root.join(config::FILE_NAME), &grant.config))
}

/// Whether a path is the one that was recorded, as far as JSON could record it.
fn is_recorded_as(path: &Path, recorded: &Path) -> bool {
    path.to_string_lossy() == recorded.to_string_lossy()
}

fn put_back_one(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
    grant: &Grant,
) -> Result<Outcome> {
    let left_out = |why: &str| Ok(Outcome::LeftOut(why.to_owned()));
    let Some(root) = root_of(store, grant) else {
        return left_out("it is another workspace's config");
    };
    let Some(remembered) = recall(store, root, about)? else {
        return left_out("what was taken out of it is not remembered there");
    };
    if !is_recorded_as(store.root(), &remembered.store) || remembered.cut.name != about.name {
        return left_out("what is remembered there is of another plugin");
    }
    let config = root.join(config::FILE_NAME);
    let restored =
        config::restore_plugins_network_allow(guard, &config, &remembered.cut, Mode::Write);
    let outcome = match restored {
        Ok(None) => Outcome::AlreadyThere,
        Ok(Some(restored)) if restored.exact => Outcome::Exact,
        Ok(Some(_)) => Outcome::Last,
        // The config has become something that takes no entry; the plugin comes back all the same.
        Err(ConfigError::Text { fault, .. }) => Outcome::LeftOut(fault.fault.to_string()),
        Err(error) => return Err(error.into()),
    };
    forget_in(store, guard, root, about)?;
    Ok(outcome)
}

fn remember(
    store: &PluginStore,
    guard: &LockGuard,
    root: &Path,
    about: &Quarantined,
    cut: Cut,
) -> Result<()> {
    let place = Path::new(GRANTS).join(file_name(store, about));
    let remembered = Remembered {
        schema: 1,
        store: store.root().to_owned(),
        cut,
    };
    let text = serde_json::to_string_pretty(&remembered).map_err(|error| PluginError::Record {
        path: root.join(&place),
        why: error.to_string(),
    })?;
    disk::create_dirs(guard, root, Path::new(GRANTS))?;
    disk::replace_below(guard, root, &place, format!("{text}\n").as_bytes())?;
    Ok(())
}

/// What a root remembers of a removal. What does not read as that is as good as nothing.
fn recall(store: &PluginStore, root: &Path, about: &Quarantined) -> Result<Option<Remembered>> {
    let Some(root) = Dir::open(root)? else {
        return Ok(None);
    };
    let Some(grants) = root.descend(Path::new(GRANTS))? else {
        return Ok(None);
    };
    let bytes = grants.read(OsStr::new(&file_name(store, about)), RECORD_LIMIT)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn forget_in(
    store: &PluginStore,
    guard: &LockGuard,
    root: &Path,
    about: &Quarantined,
) -> Result<()> {
    // A root that is not there remembers nothing.
    if root.is_dir() {
        disk::remove_file(
            guard,
            root,
            &Path::new(GRANTS).join(file_name(store, about)),
        )?;
        disk::remove_empty_dir(guard, root, Path::new(GRANTS))?;
    }
    Ok(())
}

/// Both stores may have taken a plugin away under the same id.
fn file_name(store: &PluginStore, about: &Quarantined) -> String {
    format!("{}.{}.json", about.id, store.scope())
}
