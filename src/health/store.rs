//! Whether the registries, the packages and the quarantine agree.

use super::{
    Check, Item, Remedy, Seen, SeenStore, Verdict, edit, look_at, merged, remedy, scope_flag,
};
use crate::plugin::{
    Depth, Inconsistency, LocationFault, Operation, PluginError, PluginStore, RegistryFault,
};
use crate::roots::Scope;
use crate::seed::{self, starter};
use crate::words::{count, plugin_command, shell_quoted, split_hints, with_hints};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A quarantine older than this is worth a purge.
const OLD: Duration = Duration::from_hours(90 * 24);

/// Fails where a registry cannot be read, or what it names is not there or not what was installed; warns of
/// what is merely left over.
pub(super) fn registry(all: &Seen) -> Check {
    let mut verdict = Verdict::Pass;
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    for seen in &all.stores {
        let (worst, found, run) = one_registry(all, seen);
        verdict = verdict.max(worst);
        items.extend(found);
        remedies.extend(run);
    }
    let remedies = merged(remedies);
    let summary = match verdict {
        Verdict::Pass => "every registered plugin is there as it was installed".to_owned(),
        _ => format!("{} to put right", count(items.len(), "thing")),
    };
    Check {
        id: "registry",
        verdict,
        summary,
        items,
        remedies,
    }
}

fn one_registry(all: &Seen, seen: &SeenStore) -> (Verdict, Vec<Item>, Vec<Remedy>) {
    let store = &seen.store;
    if let Err(error) = &seen.plugins {
        return unreadable(all, store, error);
    }
    let (found, unfinished) = match (store.check(Depth::Contents), store.unfinished()) {
        (Ok(found), Ok(unfinished)) => (found, unfinished),
        (Err(error), _) | (_, Err(error)) => return unreadable(all, store, &error),
    };
    let mut verdict = Verdict::Pass;
    let mut items = Vec::new();
    let mut run = Vec::new();
    for inconsistency in &found {
        verdict = verdict.max(gravity(inconsistency));
        items.push(Item {
            subject: format!("{} store", store.scope()),
            found: inconsistency.to_string(),
            places: Vec::new(),
        });
        run.extend(remedies_for(all, store, inconsistency));
    }
    for change in &unfinished {
        verdict = verdict.max(Verdict::Warn);
        let what = match change.operation {
            Operation::Remove => "taking away",
            Operation::Restore => "bringing back",
        };
        items.push(Item {
            subject: format!("{} store", store.scope()),
            found: format!("{what} `{}` was begun and not finished", change.plugin.name),
            places: Vec::new(),
        });
        run.push(remedy(
            "vak doctor --repair",
            "finishes what was interrupted",
        ));
    }
    (verdict, items, run)
}

fn gravity(inconsistency: &Inconsistency) -> Verdict {
    match inconsistency {
        Inconsistency::BadName { .. }
        | Inconsistency::Path { .. }
        | Inconsistency::Digest { .. }
        | Inconsistency::Unacceptable { .. } => Verdict::Fail,
        Inconsistency::Orphan { .. }
        | Inconsistency::Stray { .. }
        | Inconsistency::Pending { .. }
        | Inconsistency::Record { .. } => Verdict::Warn,
    }
}

/// A store of which the registry, or something else that the check needs, can't be read.
fn unreadable(
    all: &Seen,
    store: &PluginStore,
    error: &PluginError,
) -> (Verdict, Vec<Item>, Vec<Remedy>) {
    let told = with_hints(error);
    let (text, hints) = split_hints(&told);
    let run = match error {
        PluginError::Registry {
            fault: RegistryFault::Entry { name, .. },
            ..
        } => Some(forget(all, store, name)),
        PluginError::Registry { path, .. } => Some(edit(path, hints.join("; "))),
        other => look_into(other),
    };
    let item = Item {
        subject: format!("{} store", store.scope()),
        // A hint is told once.
        found: if run.is_some() { text } else { told.clone() },
        places: Vec::new(),
    };
    (Verdict::Fail, vec![item], Vec::from_iter(run))
}

/// What to look at where the disk refused.
fn look_into(error: &PluginError) -> Option<Remedy> {
    match error {
        PluginError::Disk(error) => Some(look_at(
            error.path(),
            "shows what stands there and whose it is; what vak keeps must be plain files and directories that it may read",
        )),
        _ => None,
    }
}

fn remedies_for(all: &Seen, store: &PluginStore, inconsistency: &Inconsistency) -> Vec<Remedy> {
    let plugins = store.root().join("plugins");
    let one = match inconsistency {
        Inconsistency::Path {
            path,
            fault: LocationFault::Unreadable(_),
            ..
        } => look_at(
            &store.root().join(path),
            "shows whose it is; vak must be allowed to read all of it",
        ),
        Inconsistency::BadName { plugin } | Inconsistency::Path { plugin, .. } => {
            forget(all, store, plugin)
        }
        Inconsistency::Digest { plugin, .. } | Inconsistency::Unacceptable { plugin, .. } => {
            return replace(all, store, plugin);
        }
        Inconsistency::Orphan { path } => remedy(
            format!("ls {}", shell_quoted(path)),
            "shows what is there; nothing uses it, delete it if you don't know it",
        ),
        Inconsistency::Record { id, .. } => look_at(
            &plugins.join("quarantine").join(id),
            "shows it; vak neither restores nor deletes it, delete it if you don't know it",
        ),
        Inconsistency::Pending { id, .. } => look_at(
            &plugins.join("pending").join(format!("{id}.json")),
            "shows the file; vak leaves that change as it is until the file is mended or deleted",
        ),
        Inconsistency::Stray { .. } => remedy(
            "vak doctor --repair",
            "clears away what a killed process left",
        ),
    };
    vec![one]
}

fn forget(all: &Seen, store: &PluginStore, name: &str) -> Remedy {
    if name.contains('\0') {
        let registry = store.root().join("plugins/registry.json");
        return edit(
            &registry,
            "opens the registry; no command can name that plugin, so take its entry out",
        );
    }
    let scope = scope_flag(all, name, store.scope());
    remedy(
        plugin_command("remove", name, &format!(" --forget{scope}")),
        "takes the entry out of the registry, into quarantine, and touches no package",
    )
}

/// How to come by a package as it was installed, for one that no longer is.
fn replace(all: &Seen, store: &PluginStore, name: &str) -> Vec<Remedy> {
    let scope = scope_flag(all, name, store.scope());
    let remove = plugin_command("remove", name, &scope);
    let is_shipped = starter::shipped_plugins().contains_key(name);
    if !is_shipped || store.scope() != Scope::User {
        let effect = "takes it away, reversibly; then install it again from its source";
        return vec![remedy(remove, effect)];
    }
    vec![
        remedy(
            remove,
            "takes it away, reversibly; vak then takes it for deleted by you",
        ),
        edit(
            &store.root().join(seed::MEMORY),
            format!(
                "opens what vak remembers of what it ships; without `{name}` in it, `vak setup seed` installs that plugin anew"
            ),
        ),
    ]
}

/// Says how much is in quarantine; warns where some of it is old.
pub(super) fn quarantine(seen: &Seen) -> Check {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut entries = 0;
    let mut bytes = 0;
    let mut oldest = Duration::ZERO;
    let mut items = Vec::new();
    let mut unread = Vec::new();
    for seen in &seen.stores {
        match seen.store.quarantine() {
            Ok(list) => {
                for entry in list {
                    entries += 1;
                    bytes += entry.bytes;
                    if let Some(about) = &entry.plugin {
                        let age = now.saturating_sub(Duration::from_secs(about.removed_at_unix));
                        oldest = oldest.max(age);
                    }
                }
            }
            Err(error) => {
                unread.extend(look_into(&error));
                items.push(Item {
                    subject: format!("{} store", seen.store.scope()),
                    found: with_hints(&error),
                    places: Vec::new(),
                });
            }
        }
    }
    let (verdict, remedies) = if !items.is_empty() {
        (Verdict::Fail, unread)
    } else if oldest > OLD {
        let purge = remedy(
            "vak plugins purge --older-than 90d",
            "deletes for good what was taken away more than 90 days ago",
        );
        (Verdict::Warn, vec![purge])
    } else {
        (Verdict::Pass, Vec::new())
    };
    let summary = match entries {
        0 => "empty".to_owned(),
        _ => format!(
            "{} in {}, the oldest from {}",
            count(entries, "plugin"),
            size(bytes),
            match oldest.as_secs() / 86_400 {
                0 => "today".to_owned(),
                days => format!(
                    "{} ago",
                    count(usize::try_from(days).unwrap_or(usize::MAX), "day")
                ),
            }
        ),
    };
    Check {
        id: "quarantine",
        verdict,
        summary,
        items,
        remedies,
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}
