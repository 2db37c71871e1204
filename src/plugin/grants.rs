//! A plugin's entries in the configs that govern its store: they go with it, and come back with it.
//!
//! What is cut out of a config is remembered beside that config, in its own root's `plugins/grants/`, and put
//! back from there alone. So a workspace, which may come from anywhere with a quarantine of its own making,
//! cannot have an entry put into the user's config that vak has not itself taken out of it for a plugin of
//! that very workspace. Nor can it by a link: a workspace's config is changed through one only if that leads
//! to a file of the workspace's own.
//!
//! The user's store is governed by the config of every workspace, in that workspace. A change that was begun
//! in one may be finished in another, so the places that its record names are gone to from there as well. What
//! a workspace's record names counts only where it governs that workspace's store.

use super::pending::RECORD_LIMIT;
use super::record::Quarantined;
use super::{PluginError, PluginStore, Result, lossy_path};
use crate::config::{self, ConfigError, Cut, Fault, Pruned, Restored};
use crate::disk::{self, Dir, DiskError, LockGuard};
use crate::mode::Mode;
use crate::roots::Scope;
use crate::words::in_one_line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const GRANTS: &str = "plugins/grants";

/// Why a config is left as it is that does not govern the store, or is a link that leads out of its workspace.
const NO_SAY: &str = "this store has no say over that config";

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
/// configs still has. The stores in `gone` are taken to have none. Refuses where a config cannot be changed.
pub(super) fn plan(store: &PluginStore, name: &str, gone: &[Scope]) -> Result<Vec<Grant>> {
    let mut found = Vec::new();
    for place in Place::all(store) {
        let config = place.config();
        match config::plan_prune(&config, name) {
            Ok(None) => {}
            // What a workspace has in the config's place is no reason to leave the user's plugin as it is.
            Err(error) if place.root != store.root() && says_nothing(&place, &error) => {}
            pruned => found.push((config, pruned)),
        }
    }
    // Most plugins are in no config, and no other store need be read for them.
    if found.is_empty() || store.neighbour_has(name, gone)? {
        return Ok(Vec::new());
    }
    let mut grants = Vec::new();
    for (config, pruned) in found {
        if let Some(Pruned { lines, .. }) = pruned? {
            disk::check_replace(&config)?;
            grants.push(Grant { config, lines });
        }
    }
    Ok(grants)
}

/// Takes the entries out, each remembered first. Does nothing where they are gone, or are needed by now.
pub(super) fn prune(store: &PluginStore, guard: &LockGuard, about: &Quarantined) -> Result<()> {
    let name = &about.name;
    for grant in &about.grants {
        let place = match Place::of(store, grant) {
            Some(place) => place,
            // As good as gone, or by now a link that leads out.
            None if store.scope() == Scope::User || !grant.config.exists() => continue,
            None => return Err(entry_error(about, &grant.config, NO_SAY)),
        };
        let config = place.config();
        if place.is_needed(store, name)? || config::plan_prune(&config, name)?.is_none() {
            continue;
        }
        let guard = reach(guard, &place.root)?;
        if let Some(pruned) = config::plan_prune(&config, name)? {
            remember(store, &guard, &place.root, about, pruned.cut)?;
            let none = BTreeSet::new();
            config::prune_plugins_network_allow(&guard, &config, name, &none, Mode::Write)?;
        }
    }
    Ok(())
}

/// What [`put_back`] would do, or why it would refuse. Reads only.
pub(super) fn plan_put_back(store: &PluginStore, about: &Quarantined) -> Result<Vec<PutBack>> {
    put_back_all(store, about, |config, cut| {
        let restored = config::plan_put_back(config, cut)?;
        if restored.is_some() {
            disk::check_replace(config)?;
        }
        Ok(restored)
    })
}

/// Puts the entries back where that is this store's to do. An entry whose config cannot be reached from here
/// is left out.
pub(super) fn put_back(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
) -> Result<Vec<PutBack>> {
    let put_back = put_back_all(store, about, |config, cut| {
        let root = config.parent().unwrap_or(config);
        let guard = reach(guard, root)?;
        let restored = config::restore_plugins_network_allow(&guard, config, cut, Mode::Write);
        if restored.as_ref().err().is_none_or(is_listless) {
            forget_in(store, &guard, root, about)?;
        }
        Ok(restored?)
    })?;
    // A process that was killed may have put an entry back and not wholly forgotten it.
    forget_where(store, guard, about, |place| {
        put_back
            .iter()
            .any(|it| it.outcome == Outcome::AlreadyThere && place.is_in(&it.config))
    })?;
    Ok(put_back)
}

/// Forgets what was cut out for a plugin that will not come back.
pub(super) fn forget(store: &PluginStore, guard: &LockGuard, about: &Quarantined) -> Result<()> {
    forget_where(store, guard, about, |_| true)
}

fn forget_where(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
    wanted: impl Fn(&Place) -> bool,
) -> Result<()> {
    for place in Place::standing(store, about).filter(wanted) {
        // What stays remembered where nobody can get at it does no harm.
        if let Ok(guard) = reach(guard, &place.root) {
            forget_in(store, &guard, &place.root, about)?;
        }
    }
    Ok(())
}

/// Refuses to begin a change of configs whose locks cannot be had: it would be found out only half-way.
pub(super) fn check_reach(
    store: &PluginStore,
    guard: &LockGuard,
    about: &Quarantined,
) -> Result<()> {
    for place in Place::standing(store, about) {
        match reach(guard, &place.root) {
            Err(error) if place.governs || is_busy(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// What was left out when a plugin was brought back, as an error.
pub(super) fn left_out(about: &Quarantined, put_back: &PutBack) -> Option<PluginError> {
    match &put_back.outcome {
        Outcome::LeftOut(why) => Some(entry_error(about, &put_back.config, why)),
        _ => None,
    }
}

/// A lock that covers a root: the one that is held or, where that does not, one of its own. Waits for nobody,
/// for whoever has that lock may wait for the one that is held.
pub(super) fn reach<'a>(guard: &'a LockGuard, root: &Path) -> Result<Reached<'a>> {
    if guard.covers(root) {
        return Ok(Reached::Held(guard));
    }
    let own = disk::lock_within(&[root], Duration::ZERO)?;
    Ok(Reached::Own(own))
}

/// See [`reach`].
pub(super) enum Reached<'a> {
    Held(&'a LockGuard),
    Own(LockGuard),
}

impl Deref for Reached<'_> {
    type Target = LockGuard;

    fn deref(&self) -> &LockGuard {
        match self {
            Reached::Held(guard) => guard,
            Reached::Own(guard) => guard,
        }
    }
}

/// A root whose config may have a plugin's entry, and is vak's to change.
struct Place {
    scope: Scope,
    root: PathBuf,
    /// Whether the config governs the store here and now, and not only in another workspace.
    governs: bool,
}

impl Place {
    /// The roots whose configs govern a store.
    fn all(store: &PluginStore) -> impl Iterator<Item = Place> {
        let places = store.governed_roots().map(|(scope, root)| Place {
            scope,
            root: root.to_owned(),
            governs: true,
        });
        places.filter(|place| !place.leads_out(store))
    }

    /// The root whose config an entry was in, provided that the store has a say over it.
    fn of(store: &PluginStore, grant: &Grant) -> Option<Place> {
        if let Some(place) = Place::all(store).find(|it| it.is_in(&grant.config)) {
            return Some(place);
        }
        let is_config = grant.config.is_absolute() && grant.config.ends_with(config::FILE_NAME);
        let root = grant.config.parent().filter(|_| is_config)?;
        let place = Place {
            scope: Scope::Workspace,
            root: root.to_owned(),
            governs: false,
        };
        let is_elsewhere = store.governed_roots().all(|(_, known)| known != root);
        let is_open = store.scope() == Scope::User && is_elsewhere && !place.leads_out(store);
        is_open.then_some(place)
    }

    /// Where a plugin's entries were, as far as that is still there: nothing is created to be locked.
    fn standing(store: &PluginStore, about: &Quarantined) -> impl Iterator<Item = Place> {
        let places = about.grants.iter().filter_map(|it| Place::of(store, it));
        places.filter(|place| place.root.is_dir())
    }

    fn config(&self) -> PathBuf {
        self.root.join(config::FILE_NAME)
    }

    /// Whether this is what was recorded, as far as JSON could record it.
    fn is_in(&self, recorded: &Path) -> bool {
        self.config().to_string_lossy() == recorded.to_string_lossy()
    }

    /// Whether a workspace's config is a link to what is not the workspace's own.
    fn leads_out(&self, store: &PluginStore) -> bool {
        let config = self.config();
        if self.scope == Scope::User || !config.is_symlink() {
            return false;
        }
        let workspace = self.root.parent().map(Path::canonicalize);
        let (Some(Ok(workspace)), Ok(file)) = (workspace, config.canonicalize()) else {
            return true;
        };
        let is_anothers = store
            .governed_roots()
            .filter(|(_, root)| *root != self.root)
            .any(|(_, root)| matches!(root.join(config::FILE_NAME).canonicalize(), Ok(other) if other == file));
        is_anothers || !file.starts_with(workspace)
    }

    /// Whether a store that the config governs has a plugin of this name.
    fn is_needed(&self, store: &PluginStore, name: &str) -> Result<bool> {
        if self.governs {
            store.neighbour_has(name, &[])
        } else {
            PluginStore::open(&self.root, self.scope).may_have(name)
        }
    }
}

/// Whether a config that cannot be used says nothing of any plugin: there is no entry in it to be cut.
fn says_nothing(place: &Place, error: &ConfigError) -> bool {
    place.scope == Scope::Workspace
        && match error {
            ConfigError::Text { fault, .. } => !matches!(fault.fault, Fault::Layout { .. }),
            ConfigError::Dangling { .. } => true,
            ConfigError::Disk(error) => {
                matches!(
                    error,
                    DiskError::NotAFile { .. } | DiskError::TooLarge { .. }
                ) || error.io_kind() == Some(ErrorKind::PermissionDenied)
            }
        }
}

fn is_busy(error: &PluginError) -> bool {
    matches!(error, PluginError::Disk(DiskError::LockTimeout { .. }))
}

/// Whether its owner has taken the whole list out of a config.
fn is_listless(error: &ConfigError) -> bool {
    matches!(error, ConfigError::Text { fault, .. } if is_no_list(&fault.fault))
}

fn is_no_list(fault: &Fault) -> bool {
    matches!(fault, Fault::NoList { .. })
}

fn entry_error(about: &Quarantined, config: &Path, why: &str) -> PluginError {
    PluginError::Entry {
        name: about.name.clone(),
        config: config.to_owned(),
        why: why.to_owned(),
    }
}

fn put_back_all(
    store: &PluginStore,
    about: &Quarantined,
    restore: impl Fn(&Path, &Cut) -> Result<Option<Restored>>,
) -> Result<Vec<PutBack>> {
    let grants = about.grants.iter();
    grants
        .map(|grant| {
            let config = grant.config.clone();
            let outcome = put_back_one(store, about, grant, &restore)?;
            Ok(PutBack { config, outcome })
        })
        .collect()
}

fn put_back_one(
    store: &PluginStore,
    about: &Quarantined,
    grant: &Grant,
    restore: impl Fn(&Path, &Cut) -> Result<Option<Restored>>,
) -> Result<Outcome> {
    let left_out = |why: &str| Ok(Outcome::LeftOut(why.to_owned()));
    let Some(place) = Place::of(store, grant) else {
        return left_out(NO_SAY);
    };
    let Some(remembered) = recall(store, &place.root, about)? else {
        // A process that was killed since may have put it back.
        return match config::plan_prune(&place.config(), &about.name) {
            Ok(Some(_)) => Ok(Outcome::AlreadyThere),
            _ => left_out("what was taken out of it is not remembered there"),
        };
    };
    let is_of_this = remembered.store.to_string_lossy() == store.root().to_string_lossy();
    if !is_of_this || remembered.cut.name != about.name {
        return left_out("what is remembered there is of another plugin");
    }
    match restore(&place.config(), &remembered.cut) {
        Ok(None) => Ok(Outcome::AlreadyThere),
        Ok(Some(restored)) if restored.exact => Ok(Outcome::Exact),
        Ok(Some(_)) => Ok(Outcome::Last),
        Err(PluginError::Config(ConfigError::Text { fault, .. })) if is_no_list(&fault.fault) => {
            left_out(&fault.fault.to_string())
        }
        // Another workspace is no reason to leave the plugin where it is.
        Err(error) if !place.governs && !is_busy(&error) => left_out(&in_one_line(&error)),
        Err(error) => Err(error),
    }
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
