//! Setup and update: the starter skills, then the cleanup of what calls a retired tool.
//!
//! This module decides the order and what one failure means for the rest; the parts do the work. A part
//! that fails is in the report, and the others go on.

mod memory;
pub mod starter;

pub(crate) use memory::FILE as MEMORY;

use crate::config::{self, Config, ConfigError};
use crate::disk::DiskError;
use crate::mode::Mode;
use crate::plugin::cleanup::{self, Failure, Plan, Policy, Stale, Summary};
use crate::plugin::{Grant, PluginError, PluginStore, RecordedFinding, Unfinished};
use crate::roots::{Roots, Scope};
use crate::walk::lossy_path;
use crate::words::with_hints;
use serde::Serialize;
use starter::{StarterFile, StarterPlugin};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Why seeding failed. What was there before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A starter plugin could not be installed.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The memory of what was shipped does not read as one.
    #[error(
        "`{}` does not say what vak shipped\nhint: nothing was changed; mend it, or move it away: every starter file that differs from this vak's then counts as your edit",
        path.display()
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: serde_json::Error,
    },
    /// The memory was written by a later program.
    #[error("`{}` has schema {found}; this vak knows schema 1\nhint: nothing was changed; use the newer vak that wrote it", path.display())]
    NewerMemory {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
}

/// What a seed did, or would do.
#[derive(Debug, Serialize)]
pub struct SeedReport {
    /// The version of this document's shape.
    pub schema: u32,
    /// Whether nothing was written because that was not asked for.
    pub dry_run: bool,
    /// The shared root, which the starter files' paths are relative to.
    #[serde(serialize_with = "lossy_path")]
    pub shared_root: PathBuf,
    /// Every starter file and what became of it.
    pub starter: Vec<StarterFile>,
    /// Every starter plugin and what became of it.
    pub starter_plugins: Vec<StarterPlugin>,
    /// What became of what is stale.
    pub cleanup: CleanupReport,
    /// What failed, each in words with what to do about it.
    pub failed: Vec<String>,
}

/// What a cleanup did, or would do.
#[derive(Debug, Default, Serialize)]
pub struct CleanupReport {
    /// The plugins that were taken away.
    pub taken: Vec<Taken>,
    /// The retired plugins that the operator keeps.
    pub kept: Vec<Stale>,
    /// The changes of killed processes that were finished.
    pub finished: Vec<Unfinished>,
    /// How much it failed at; `None` where nothing was looked at, because nobody knows what is to be kept.
    #[serde(skip)]
    pub failed: Option<usize>,
}

/// A plugin that was taken away.
#[derive(Debug, Serialize)]
pub struct Taken {
    /// The store it was in.
    pub scope: Scope,
    /// The plugin.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What brings it back (`vak plugins restore`); `None` in a dry run.
    pub quarantine: Option<String>,
    /// The first places that tell the model to call a retired tool.
    pub findings: Vec<RecordedFinding>,
    /// The config entries that went with it.
    pub grants: Vec<Grant>,
}

impl SeedReport {
    /// Whether anything on disk was changed, or would be.
    pub fn changes(&self) -> bool {
        let files = self.starter.iter().map(|file| file.state);
        let plugins = self.starter_plugins.iter().map(|plugin| plugin.state);
        files.chain(plugins).any(starter::StarterState::changes)
            || !self.cleanup.taken.is_empty()
            || !self.cleanup.finished.is_empty()
    }
}

/// Writes the starter skills into the shared root, then takes away what calls a retired tool, in every
/// store. Running it again changes nothing.
pub fn seed_shared_capabilities(roots: &Roots, mode: Mode) -> SeedReport {
    let mut failed = Vec::new();
    let mut told = |error| failed.push(with_hints(&error));
    let starter = starter::seed_skills(&roots.shared, mode)
        .map_err(&mut told)
        .unwrap_or_default();
    let store = PluginStore::open(&roots.shared, Scope::User);
    let starter_plugins = starter::seed_plugins(&store, mode)
        .map_err(&mut told)
        .unwrap_or_default();
    let cleanup = cleanup_retired_plugins(roots, mode, &mut failed);
    // One fault can stop several parts.
    let mut seen = BTreeSet::new();
    failed.retain(|words| seen.insert(words.clone()));
    SeedReport {
        schema: 1,
        dry_run: !mode.writes(),
        shared_root: roots.shared.clone(),
        starter,
        starter_plugins,
        cleanup,
        failed,
    }
}

/// Takes every retired plugin of every store into quarantine, together with its entries in the configs,
/// except those the operator keeps, and finishes what a killed process began. What fails is added to
/// `failed` in words; the rest goes on.
pub fn cleanup_retired_plugins(
    roots: &Roots,
    mode: Mode,
    failed: &mut Vec<String>,
) -> CleanupReport {
    let stores = PluginStore::open_all(roots);
    let before = failed.len();
    let mut policy = Policy::default();
    let mut clear = stores.clone();
    for (scope, root) in roots.iter() {
        match Config::read(&root.join(config::FILE_NAME)) {
            Ok(config) => policy.keep(scope, config.keep_retired),
            Err(error) => {
                failed.push(with_hints(&error));
                // Without the operator's word nobody knows what is to be kept. A workspace speaks for its
                // own store alone.
                clear.retain(|store| scope == Scope::Workspace && store.scope() != scope);
            }
        }
    }
    let report = match clear.is_empty() {
        true => CleanupReport::default(),
        false => {
            let report = clean(&clear, &policy, mode, failed);
            CleanupReport {
                failed: Some(failed.len() - before),
                ..report
            }
        }
    };
    if mode.writes() {
        clear_strays(&stores, failed);
    }
    report
}

fn clean(
    stores: &[PluginStore],
    policy: &Policy,
    mode: Mode,
    failed: &mut Vec<String>,
) -> CleanupReport {
    let plan = cleanup::plan(stores, policy);
    if !mode.writes() || !plan.changes() {
        return CleanupReport::of_plan(plan, failed);
    }
    let applied =
        cleanup::lock(stores).and_then(|guard| cleanup::apply(stores, &guard, policy, None));
    match applied {
        Ok(summary) => CleanupReport::of_summary(summary, failed),
        Err(error) => {
            failed.push(with_hints(&error));
            CleanupReport::default()
        }
    }
}

/// Clears away what killed processes left half-copied, where there is such a thing: the lock of a store
/// that is in order is not even asked for.
fn clear_strays(stores: &[PluginStore], failed: &mut Vec<String>) {
    for store in stores {
        if let Err(error) = store.clear_leftovers() {
            failed.push(with_hints(&error));
        }
    }
}

/// The operator's word in both configs.
///
/// # Errors
/// [`ConfigError`] if a config can't be read or understood.
pub fn policy(roots: &Roots) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    for (scope, root) in roots.iter() {
        let config = Config::read(&root.join(config::FILE_NAME))?;
        policy.keep(scope, config.keep_retired);
    }
    Ok(policy)
}

impl CleanupReport {
    fn of_plan(plan: Plan, failed: &mut Vec<String>) -> CleanupReport {
        failed.extend(plan.failed.iter().map(failure_in_words));
        let mut report = CleanupReport {
            finished: plan.unfinished,
            ..CleanupReport::default()
        };
        for stale in plan.stale {
            if stale.kept {
                report.kept.push(stale);
            } else if let Some(obstacle) = stale.obstacle {
                failed.push(obstacle);
            } else {
                report.taken.push(Taken {
                    scope: stale.scope,
                    name: stale.name,
                    version: stale.version,
                    quarantine: None,
                    findings: stale.findings,
                    grants: stale.grants,
                });
            }
        }
        report
    }

    fn of_summary(summary: Summary, failed: &mut Vec<String>) -> CleanupReport {
        failed.extend(summary.failed.iter().map(failure_in_words));
        let taken = summary.removed.into_iter().map(|plugin| Taken {
            scope: plugin.scope,
            name: plugin.name,
            version: plugin.version,
            quarantine: Some(plugin.id),
            findings: plugin.findings,
            grants: plugin.grants,
        });
        CleanupReport {
            taken: taken.collect(),
            kept: summary.kept,
            finished: summary.finished,
            ..CleanupReport::default()
        }
    }
}

fn failure_in_words(failure: &Failure) -> String {
    with_hints(&failure.error)
}
