//! Removing retired plugins on request: what the client agreed to, and nothing else.
//!
//! The lock is taken first and the state compared under it, so nothing can change between the two.

use super::problem::Problem;
use super::state_tag::IfMatch;
use super::views::Views;
use super::wire::{
    FailedPlugin, PluginRef, QuarantinedPlugin, Removal, RetiredPlugin, SCHEMA, ScopeName,
};
use crate::disk::LockGuard;
use crate::plugin::cleanup::{self, Failure, Policy, Summary};
use crate::plugin::{Operation, Packages, RemovalReason};

/// Removes every retired plugin that is not kept, as a cleanup does.
pub(super) fn all(views: &Views, policy: &Policy, if_match: &IfMatch) -> Result<Removal, Problem> {
    let guard = agreed(views, if_match)?;
    let summary = cleanup::apply(views.stores(), &guard, policy, None)?;
    Ok(Removal::from(summary))
}

/// Removes the retired plugins of a name from the stores that `covers` says.
pub(super) fn named(
    views: &Views,
    name: &str,
    covers: impl Fn(ScopeName) -> bool,
    if_match: &IfMatch,
) -> Result<Removal, Problem> {
    let guard = agreed(views, if_match)?;
    let view = views.look()?;
    let mut removal = Removal::default();
    for plugin in view.plugins() {
        if plugin.name == name && covers(plugin.scope) {
            remove(views, &guard, plugin, &mut removal);
        }
    }
    // Whether one of these has such a plugin nobody knows.
    let faults = view.faults.iter().filter(|(scope, _)| covers(*scope));
    removal
        .failed
        .extend(faults.map(|(scope, problem)| FailedPlugin {
            name: None,
            scope: *scope,
            problem: problem.told(),
        }));
    Ok(removal)
}

/// The lock, provided that the state under it is one that the client agreed to change.
fn agreed(views: &Views, if_match: &IfMatch) -> Result<LockGuard, Problem> {
    let guard = cleanup::lock(views.stores())?;
    if *if_match != IfMatch::Any {
        if_match.check(&views.look()?.etag)?;
    }
    Ok(guard)
}

fn remove(views: &Views, guard: &LockGuard, plugin: &RetiredPlugin, removal: &mut Removal) {
    let named = PluginRef {
        name: plugin.name.clone(),
        scope: plugin.scope,
    };
    if plugin.kept {
        removal.kept.push(named);
        return;
    }
    let stores = views.stores().iter();
    for store in stores.filter(|store| ScopeName::from(store.scope()) == plugin.scope) {
        match store.remove(guard, &plugin.name, RemovalReason::Retired, Packages::Move) {
            Ok(removed) => removal.removed.push(removed.into()),
            Err(error) => removal.failed.push(FailedPlugin {
                name: Some(plugin.name.clone()),
                scope: plugin.scope,
                problem: Problem::from(error).told(),
            }),
        }
    }
}

impl Default for Removal {
    fn default() -> Removal {
        Removal {
            schema: SCHEMA,
            removed: Vec::new(),
            kept: Vec::new(),
            failed: Vec::new(),
        }
    }
}

impl From<Summary> for Removal {
    fn from(summary: Summary) -> Removal {
        // What a killed process had begun to remove is removed now.
        let finished = summary.finished.into_iter();
        let finished = finished.filter(|one| one.operation == Operation::Remove);
        let removed = summary.removed.into_iter();
        Removal {
            schema: SCHEMA,
            removed: removed
                .chain(finished.map(|one| one.plugin))
                .map(QuarantinedPlugin::from)
                .collect(),
            kept: summary
                .kept
                .into_iter()
                .map(|kept| PluginRef {
                    name: kept.name,
                    scope: kept.scope.into(),
                })
                .collect(),
            failed: summary.failed.into_iter().map(FailedPlugin::from).collect(),
        }
    }
}

impl From<Failure> for FailedPlugin {
    fn from(failure: Failure) -> FailedPlugin {
        FailedPlugin {
            name: failure.plugin,
            scope: failure.scope.into(),
            problem: Problem::from(failure.error).told(),
        }
    }
}
