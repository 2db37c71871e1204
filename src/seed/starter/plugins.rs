//! The starter plugins: installed and enabled in the shared store, like any other plugin.

use super::super::SeedError;
use super::super::memory::Memory;
use super::{StarterState, files_below};
use crate::disk::LockGuard;
use crate::mode::Mode;
use crate::plugin::{
    Digest, InstallOptions, InstalledPlugin, LocationFault, PluginError, PluginStore,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What the registry says these plugins were installed from.
const SOURCE: &str = "shipped with vak";

/// One starter plugin and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StarterPlugin {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub state: StarterState,
}

/// A file of a package, by path relative to it, with its bytes.
type PackageFile = (&'static Path, &'static [u8]);

/// The plugins that vak ships: the files of each by its name.
pub fn shipped_plugins() -> BTreeMap<&'static str, Vec<PackageFile>> {
    let mut packages: BTreeMap<&str, Vec<PackageFile>> = BTreeMap::new();
    for (path, bytes) in files_below("plugins") {
        let mut steps = path.iter();
        let name = steps.nth(1).and_then(|name| name.to_str());
        if let Some(name) = name {
            let files = packages.entry(name).or_default();
            files.push((steps.as_path(), bytes));
        }
    }
    packages
}

/// Brings the starter plugins up to date, as far as they are vak's to change; with [`Mode::Check`] says what
/// that would be. One that the user disabled stays disabled.
///
/// # Errors
/// [`SeedError`]; plugins that were installed before the fault stay, and are recognised the next time.
pub fn seed_plugins(store: &PluginStore, mode: Mode) -> Result<Vec<StarterPlugin>, SeedError> {
    let plan = Plan::make(store)?;
    if !mode.writes() || !plan.has_work() {
        return Ok(plan.report());
    }
    let lock = store.lock()?;
    // Another process may have been at work until the lock was free.
    let plan = Plan::make(store)?;
    plan.carry_out(&lock, store)?;
    Ok(plan.report())
}

struct Plan {
    steps: Vec<Step>,
    before: Memory,
    after: Memory,
}

struct Step {
    name: &'static str,
    files: Vec<PackageFile>,
    state: StarterState,
    /// Whether the model is to be offered it: unless the user has it disabled.
    enabled: bool,
}

impl Plan {
    fn make(store: &PluginStore) -> Result<Plan, SeedError> {
        let before = Memory::read(store.root())?;
        let mut after = before.clone();
        let installed = store.list()?;
        let mut steps = Vec::new();
        for (name, files) in shipped_plugins() {
            let digest = Digest::of_files(&files);
            let known = before.plugins.get(name);
            let found = installed.iter().find(|plugin| plugin.name == name);
            let state = state(store, found, &digest, known)?;
            if state.changes() || state == StarterState::Current {
                after.plugins.insert(name.to_owned(), digest.to_string());
            }
            steps.push(Step {
                name,
                files,
                state,
                enabled: found.is_none_or(|plugin| plugin.enabled),
            });
        }
        Ok(Plan {
            steps,
            before,
            after,
        })
    }

    fn has_work(&self) -> bool {
        self.before != self.after || self.steps.iter().any(|step| step.state.changes())
    }

    fn report(&self) -> Vec<StarterPlugin> {
        let steps = self.steps.iter().map(|step| StarterPlugin {
            name: step.name.to_owned(),
            state: step.state,
        });
        steps.collect()
    }

    fn carry_out(&self, lock: &LockGuard, store: &PluginStore) -> Result<(), SeedError> {
        for step in &self.steps {
            if step.state.changes() {
                let options = InstallOptions {
                    upgrade: true,
                    source: Some(SOURCE),
                    enabled: step.enabled,
                    ..InstallOptions::default()
                };
                store.install_files(lock, &step.files, options)?;
            }
        }
        if self.before == self.after {
            return Ok(());
        }
        self.after.write(lock, store.root())
    }
}

fn state(
    store: &PluginStore,
    found: Option<&InstalledPlugin>,
    shipped: &Digest,
    remembered: Option<&String>,
) -> Result<StarterState, PluginError> {
    let Some(plugin) = found else {
        return Ok(match remembered {
            Some(_) => StarterState::KeptDeleted,
            None => StarterState::Written,
        });
    };
    let untouched = if plugin.digest == shipped.as_str() {
        StarterState::Current
    } else if remembered == Some(&plugin.digest) {
        StarterState::Updated
    } else {
        return Ok(StarterState::KeptEdited);
    };
    // The registry says what was installed; the files say what the user made of it.
    match store.check_intact(plugin) {
        Ok(()) => Ok(untouched),
        Err(PluginError::Location { fault, .. }) => Ok(match fault {
            LocationFault::Missing => StarterState::KeptDeleted,
            LocationFault::NotADirectory => StarterState::KeptLinked,
            _ => StarterState::KeptEdited,
        }),
        Err(PluginError::Digest { .. } | PluginError::Package { .. }) => {
            Ok(StarterState::KeptEdited)
        }
        Err(error) => Err(error),
    }
}
