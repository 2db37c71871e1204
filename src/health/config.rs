//! Whether the configs can be read, and whether what they allow is there.

use super::{Check, Item, Place, Seen, Verdict, edit, look_at, merged};
use crate::config::ConfigError;
use crate::roots::Scope;
use crate::words::{count, with_hints};
use std::path::Path;

/// Fails where a config cannot be read or understood.
pub(super) fn readable(seen: &Seen) -> Check {
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    for seen in &seen.configs {
        if let Err(why) = &seen.config {
            items.push(Item {
                subject: format!("{} config", seen.scope),
                found: with_hints(why),
                places: Vec::new(),
            });
            let waiting = match seen.scope {
                Scope::User => "no plugin",
                Scope::Workspace => "no plugin of the workspace's",
            };
            remedies.push(match why {
                ConfigError::Text { .. } => edit(
                    &seen.path,
                    format!("opens it to be mended; until then {waiting} is cleaned up, and the file is left as it is"),
                ),
                _ => look_at(
                    &seen.path,
                    format!("shows what stands there and whose it is; until it can be read {waiting} is cleaned up"),
                ),
            });
        }
    }
    let present = seen
        .configs
        .iter()
        .filter(|seen| seen.path.exists())
        .count();
    let summary = match (items.len(), present) {
        (0, 0) => "none, so the defaults hold".to_owned(),
        (0, number) => format!("{} read", count(number, "file")),
        (number, _) => format!("{} can't be read", count(number, "file")),
    };
    Check {
        id: "config",
        verdict: if items.is_empty() {
            Verdict::Pass
        } else {
            Verdict::Fail
        },
        summary,
        items,
        remedies,
    }
}

/// Warns of entries in `network_allow` and `keep_retired` that name no installed plugin.
pub(super) fn entries(seen: &Seen) -> Check {
    let all_known = seen.stores.iter().all(|seen| seen.plugins.is_ok());
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    for seen_config in &seen.configs {
        let Ok(config) = &seen_config.config else {
            continue;
        };
        for (key, names) in [
            ("network_allow", &config.network_allow),
            ("keep_retired", &config.keep_retired),
        ] {
            for name in names {
                let is_installed = seen.plugins().any(|plugin| plugin.plugin.name == *name);
                if all_known && !is_installed {
                    items.push(dangling(&seen_config.path, key, name));
                    remedies.push(edit(
                        &seen_config.path,
                        "opens the config; take the entry out unless you are about to install that plugin",
                    ));
                }
            }
        }
    }
    let (verdict, summary) = match (items.len(), all_known) {
        (_, false) => (
            Verdict::Warn,
            "unknown while a registry can't be read".to_owned(),
        ),
        (0, true) => (
            Verdict::Pass,
            "every plugin that the config names is installed".to_owned(),
        ),
        (1, true) => (
            Verdict::Warn,
            "1 entry names no installed plugin".to_owned(),
        ),
        (number, true) => (
            Verdict::Warn,
            format!("{number} entries name no installed plugin"),
        ),
    };
    Check {
        id: "config-entries",
        verdict,
        summary,
        items,
        remedies: merged(remedies),
    }
}

fn dangling(path: &Path, key: &str, name: &str) -> Item {
    Item {
        subject: path.display().to_string(),
        found: format!("`{key}` names `{name}`, which is not installed"),
        places: places_of(path, name),
    }
}

/// The lines that spell the name; best effort, for a person to find it.
fn places_of(path: &Path, name: &str) -> Vec<Place> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = text.lines().enumerate();
    let found = lines.find(|(_, line)| {
        let quoted = [format!("\"{name}\""), format!("'{name}'")];
        quoted.iter().any(|quoted| line.contains(quoted.as_str()))
    });
    let place = found.map(|(at, line)| Place {
        file: path.to_owned(),
        line: at + 1,
        column: 0,
        text: line.trim().to_owned(),
        mark: 0..0,
    });
    place.into_iter().collect()
}
