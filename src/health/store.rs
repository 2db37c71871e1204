//! Whether the registries, the packages and the quarantine agree.

use super::{Check, Item, Remedy, Seen, SeenStore, Verdict, edit, merged, remedy};
use crate::plugin::{Depth, Inconsistency, Operation};
use crate::words::{count, plugin_command, shell_quoted, with_hints};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A quarantine older than this is worth a purge.
const OLD: Duration = Duration::from_hours(90 * 24);

/// Fails where a registry cannot be read, or what it names is not there or not what was installed; warns of
/// what is merely left over.
pub(super) fn registry(seen: &Seen) -> Check {
    let mut verdict = Verdict::Pass;
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    for seen in &seen.stores {
        let (worst, found, run) = one_registry(seen);
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

fn one_registry(seen: &SeenStore) -> (Verdict, Vec<Item>, Vec<Remedy>) {
    let store = &seen.store;
    let file = store.root().join("plugins/registry.json");
    let unreadable = |why: String| {
        let (text, hints) = split_hints(&why);
        let item = Item {
            subject: format!("{} store", store.scope()),
            found: text,
            places: Vec::new(),
        };
        let mut run = vec![remedy(
            format!("mv {} {}.broken", shell_quoted(&file), shell_quoted(&file)),
            "sets the file aside; the packages stay, and are listed as belonging to no plugin",
        )];
        if !hints.is_empty() {
            run.clear();
            run.push(edit(&file, hints.join("; ")));
        }
        (Verdict::Fail, vec![item], run)
    };
    if let Err(why) = &seen.plugins {
        return unreadable(why.clone());
    }
    let (found, unfinished) = match (store.check(Depth::Contents), store.unfinished()) {
        (Ok(found), Ok(unfinished)) => (found, unfinished),
        (Err(error), _) | (_, Err(error)) => return unreadable(with_hints(&error)),
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
        run.extend(remedy_for(inconsistency));
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

fn remedy_for(inconsistency: &Inconsistency) -> Option<Remedy> {
    match inconsistency {
        Inconsistency::BadName { .. }
        | Inconsistency::Pending { .. }
        | Inconsistency::Record { .. } => None,
        Inconsistency::Path { plugin, .. } => Some(remedy(
            plugin_command("remove", plugin, " --forget"),
            "takes the entry out of the registry and touches no package",
        )),
        Inconsistency::Digest { plugin, .. } | Inconsistency::Unacceptable { plugin, .. } => {
            Some(remedy(
                plugin_command("remove", plugin, ""),
                "takes it away, reversibly; then install it again from its source",
            ))
        }
        Inconsistency::Orphan { path } => Some(remedy(
            format!("ls {}", shell_quoted(path)),
            "shows what is there; nothing uses it, delete it if you don't know it",
        )),
        Inconsistency::Stray { .. } => Some(remedy(
            "vak doctor --repair",
            "clears away what a killed process left",
        )),
    }
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
            Err(error) => items.push(Item {
                subject: format!("{} store", seen.store.scope()),
                found: with_hints(&error),
                places: Vec::new(),
            }),
        }
    }
    let (verdict, remedies) = if !items.is_empty() {
        (Verdict::Fail, Vec::new())
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

fn split_hints(words: &str) -> (String, Vec<String>) {
    let (hints, text): (Vec<&str>, Vec<&str>) =
        words.lines().partition(|line| line.starts_with("hint: "));
    let hints = hints
        .into_iter()
        .map(|line| line["hint: ".len()..].to_owned());
    (text.join("\n"), hints.collect())
}
