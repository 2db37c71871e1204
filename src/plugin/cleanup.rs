//! Taking away what still tells the model to call a retired tool: first a plan, then its execution.
//!
//! A plan only reads. It can be printed, compared (its digest covers everything it saw) and thrown away.
//! Applying looks again under the lock, finishes what an earlier process left unfinished, and removes one
//! plugin after the other; one that fails does not stop the next.

use super::grants::reach;
use super::package::hex;
use super::pending::Unfinished;
use super::record::{Quarantined, RecordedFinding, RemovalReason, findings};
use super::removal::Inventory;
use super::store::{PluginStore, ScannedPlugin, lock_what_can_be};
use super::{Grant, Packages, PluginError, Result};
use crate::disk::LockGuard;
use crate::roots::Scope;
use crate::words::with_hints;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// The operator's word on what cleanup leaves (`[plugins] keep_retired`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    kept: BTreeSet<(Scope, String)>,
}

impl Policy {
    /// Has plugins stay although they are retired. The user's config speaks for both stores, a workspace's
    /// for its own alone: it may come from anywhere.
    pub fn keep(&mut self, config: Scope, names: impl IntoIterator<Item = String>) {
        self.kept
            .extend(names.into_iter().map(|name| (config, name)));
    }

    /// Whether a store's plugin stays.
    pub fn keeps(&self, store: Scope, name: &str) -> bool {
        let said_by = |config| self.kept.contains(&(config, name.to_owned()));
        said_by(Scope::User) || said_by(store)
    }
}

/// A plugin that tells the model to call a retired tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stale {
    /// The store it is installed in.
    pub scope: Scope,
    /// The plugin.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its package's digest, as the registry has it.
    pub digest: String,
    /// Whether the model is offered it.
    pub enabled: bool,
    /// Whether the operator keeps it.
    pub kept: bool,
    /// The first places that tell the model so.
    pub findings: Vec<RecordedFinding>,
    /// The config entries that would go with it.
    pub grants: Vec<Grant>,
    /// Why it could not be removed, in words.
    pub obstacle: Option<String>,
}

/// What cleanup would do.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// SHA-256 over all that follows, lower-case hex: equal plans have equal digests.
    pub digest: String,
    /// What is stale, by store and name.
    pub stale: Vec<Stale>,
    /// What an earlier process has begun; it would be finished.
    pub unfinished: Vec<Unfinished>,
    /// The stores, and the plugins, that could not be read.
    pub failed: Vec<Failure>,
}

/// Something that did not go.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The store.
    pub scope: Scope,
    /// The plugin; `None` where the store as a whole failed.
    pub plugin: Option<String>,
    /// Why.
    #[serde(serialize_with = "in_words")]
    pub error: PluginError,
}

/// What cleanup did.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// What is in quarantine now.
    pub removed: Vec<Quarantined>,
    /// What was left because the operator keeps it.
    pub kept: Vec<Stale>,
    /// What an earlier process had begun and is finished now.
    pub finished: Vec<Unfinished>,
    /// What did not go.
    pub failed: Vec<Failure>,
}

impl Plan {
    /// Whether applying it would change anything.
    pub fn changes(&self) -> bool {
        !self.unfinished.is_empty() || self.stale.iter().any(|stale| !stale.kept)
    }
}

/// Looks for what is stale in the stores. A store that cannot be read does not stop the others.
pub fn plan(stores: &[PluginStore], policy: &Policy) -> Plan {
    let mut plan = Plan {
        digest: String::new(),
        stale: Vec::new(),
        unfinished: Vec::new(),
        failed: Vec::new(),
    };
    for store in stores {
        if let Err(error) = look(store, policy, &mut plan) {
            let (scope, plugin) = (store.scope(), None);
            plan.failed.push(Failure {
                scope,
                plugin,
                error,
            });
        }
    }
    plan.digest = digest(&plan);
    plan
}

/// The lock that [`apply`] needs: of those roots that exist. Nothing is created where there is nothing to
/// clean. A root that can't be locked stops only what would change it.
pub fn lock(stores: &[PluginStore]) -> Result<LockGuard> {
    let roots: Vec<_> = stores
        .iter()
        .flat_map(PluginStore::governed_roots)
        .map(|(_, root)| root)
        .filter(|root| root.is_dir())
        .collect();
    lock_what_can_be(&roots)
}

/// Cleans the stores. `expected` is the digest of the plan that was agreed to: if the stores have changed
/// since, nothing is done and the error is [`PluginError::PlanChanged`].
pub fn apply(
    stores: &[PluginStore],
    guard: &LockGuard,
    policy: &Policy,
    expected: Option<&str>,
) -> Result<Summary> {
    if expected.is_some_and(|expected| plan(stores, policy).digest != expected) {
        return Err(PluginError::PlanChanged);
    }
    let mut summary = Summary::default();
    // Whether a store without its lock has anything to settle is not told here: what is stale there fails below.
    for store in stores.iter().filter(|store| guard.covers(store.root())) {
        settle(store, guard, &mut summary);
    }
    let Plan { stale, failed, .. } = plan(stores, policy);
    summary.failed.extend(failed);
    let (kept, stale): (Vec<_>, Vec<_>) = stale.into_iter().partition(|it| it.kept);
    summary.kept = kept;
    for store in stores {
        let names = stale.iter().filter(|it| it.scope == store.scope());
        let names: Vec<_> = names.map(|it| it.name.as_str()).collect();
        remove(store, guard, &names, &mut summary);
    }
    Ok(summary)
}

fn look(store: &PluginStore, policy: &Policy, plan: &mut Plan) -> Result<()> {
    plan.unfinished.extend(store.unfinished()?);
    let scanned = store.scan()?;
    let inventory = store.inventory()?;
    for plugin in scanned {
        let kept = policy.keeps(store.scope(), &plugin.plugin.name);
        if plugin.scan.is_retired() {
            let stale = judge(store, &inventory, policy, &plugin, &plan.stale);
            plan.stale.push(stale);
        } else if let (Some(error), false) = (plugin.unreadable(), kept) {
            plan.failed.push(Failure {
                scope: store.scope(),
                plugin: Some(plugin.plugin.name),
                error,
            });
        }
    }
    Ok(())
}

/// Plans one removal. `before` are those that are planned before it, and will be done by then.
fn judge(
    store: &PluginStore,
    inventory: &Inventory,
    policy: &Policy,
    scanned: &ScannedPlugin,
    before: &[Stale],
) -> Stale {
    let plugin = &scanned.plugin;
    let kept = policy.keeps(store.scope(), &plugin.name);
    let gone: Vec<_> = before
        .iter()
        .filter(|it| it.name == plugin.name && !it.kept && it.obstacle.is_none())
        .map(|it| it.scope)
        .collect();
    let (reason, packages) = (RemovalReason::Retired, Packages::Move);
    let removal =
        (!kept).then(|| store.plan_removal_among(inventory, &plugin.name, reason, packages, &gone));
    let (grants, obstacle) = match removal.transpose() {
        Ok(removal) => (removal.map_or_else(Vec::new, |it| it.grants), None),
        Err(error) => (Vec::new(), Some(with_hints(&error))),
    };
    Stale {
        scope: scanned.scope,
        name: plugin.name.clone(),
        version: plugin.version.clone(),
        digest: plugin.digest.clone(),
        enabled: plugin.enabled,
        kept,
        findings: findings(&scanned.scan),
        grants,
        obstacle,
    }
}

fn settle(store: &PluginStore, guard: &LockGuard, summary: &mut Summary) {
    let failure = |plugin, error| Failure {
        scope: store.scope(),
        plugin,
        error,
    };
    match store.settle(guard) {
        Ok(settled) => {
            summary.finished.extend(settled.finished);
            let failed = settled.failed.into_iter();
            summary
                .failed
                .extend(failed.map(|(name, error)| failure(Some(name), error)));
        }
        Err(error) => summary.failed.push(failure(None, error)),
    }
}

fn remove(store: &PluginStore, guard: &LockGuard, names: &[&str], summary: &mut Summary) {
    let failure = |plugin: Option<&str>, error| Failure {
        scope: store.scope(),
        plugin: plugin.map(str::to_owned),
        error,
    };
    if names.is_empty() {
        return;
    }
    let guard = match reach(guard, store.root()) {
        Ok(guard) => guard,
        Err(error) => return summary.failed.push(failure(None, error)),
    };
    let removals = store.remove_all(&guard, names, RemovalReason::Retired);
    for (name, removed) in names.iter().zip(removals) {
        match removed {
            Ok(removed) => summary.removed.push(removed),
            Err(error) => summary.failed.push(failure(Some(name), error)),
        }
    }
}

fn digest(plan: &Plan) -> String {
    // A plan is made of texts and numbers, which always become JSON.
    let seen = serde_json::to_vec(plan).unwrap_or_default();
    hex(&Sha256::digest(seen))
}

/// An error and its causes as one text.
fn in_words<S: Serializer>(
    error: &PluginError,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&with_hints(error))
}
