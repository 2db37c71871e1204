//! Whether the starter skills are current, and whether somebody holds the lock.

use super::{Check, Item, Verdict, look_at, remedy};
use crate::disk::{self, DiskError, LOCK_FILE};
use crate::mode::Mode;
use crate::plugin::PluginStore;
use crate::roots::{Roots, Scope};
use crate::seed::SeedError;
use crate::seed::starter::{self, StarterState};
use crate::words::with_hints;
use std::path::Path;

/// Warns where a starter skill or plugin is older than this vak's; one that the user changed is as it
/// should be.
pub(super) fn starter(roots: &Roots) -> Check {
    let id = "starter";
    let states = match states(roots) {
        Ok(states) => states,
        Err(error) => {
            return Check {
                id,
                verdict: Verdict::Fail,
                summary: "can't tell whether the starter skills are current".to_owned(),
                items: vec![Item {
                    subject: roots.shared.display().to_string(),
                    found: with_hints(&error),
                    places: Vec::new(),
                }],
                remedies: Vec::new(),
            };
        }
    };
    let number = |wanted| states.iter().filter(|state| **state == wanted).count();
    let missing = number(StarterState::Written);
    let stale = number(StarterState::Updated);
    let current = number(StarterState::Current);
    let (verdict, summary, effect) = if missing == states.len() {
        // Nobody has set vak up here yet, which is no fault.
        let shipped = starter::shipped().len() + starter::shipped_plugins().len();
        let summary = format!("no starter skills and plugins yet; vak ships {shipped}");
        (Verdict::Pass, summary, "writes them")
    } else if missing + stale > 0 {
        let summary = format!("{missing} missing, {stale} older than this vak's");
        (
            Verdict::Warn,
            summary,
            "brings them up to date, but for what you changed",
        )
    } else if current == states.len() {
        (
            Verdict::Pass,
            format!("all {current} skills and plugins current"),
            "",
        )
    } else {
        let yours = states.len() - current;
        let summary = format!("all current but {yours} that you changed, deleted or linked");
        (Verdict::Pass, summary, "")
    };
    let remedies = match effect {
        "" => Vec::new(),
        effect => vec![remedy("vak setup seed", effect)],
    };
    Check {
        id,
        verdict,
        summary,
        items: Vec::new(),
        remedies,
    }
}

fn states(roots: &Roots) -> Result<Vec<StarterState>, SeedError> {
    let store = PluginStore::open(&roots.shared, Scope::User);
    let skills = starter::seed_skills(&roots.shared, Mode::Check)?;
    let plugins = match starter::seed_plugins(&store, Mode::Check) {
        Ok(plugins) => plugins,
        // A registry that can't be read is another check's to tell.
        Err(SeedError::Plugin(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let skills = skills.into_iter().map(|file| file.state);
    Ok(skills
        .chain(plugins.into_iter().map(|plugin| plugin.state))
        .collect())
}

/// What changes write to besides the root itself, relative to it.
const WRITTEN: [&str; 4] = [
    "plugins",
    "plugins/packages",
    "plugins/quarantine",
    "plugins/registry.json",
];

/// Fails where the lock cannot be taken at all, or the user's root may not be changed under it; warns where
/// another process holds it, and where a workspace's root may not be changed.
pub(super) fn lock(roots: &Roots) -> Check {
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    let mut worst = (Verdict::Pass, "free");
    for (scope, root) in roots.iter() {
        let (verdict, summary, found) = match disk::probe(root) {
            Ok(disk::LockState::Held) => (
                Verdict::Warn,
                "held",
                "another vak is at work; changes wait for it".to_owned(),
            ),
            Ok(disk::LockState::Free) => match first_unwritable(scope, root) {
                None => continue,
                Some(error) => {
                    remedies.push(look_at(
                        error.path(),
                        "shows whose it is; every change needs to write there",
                    ));
                    let verdict = match scope {
                        Scope::User => Verdict::Fail,
                        Scope::Workspace => Verdict::Warn,
                    };
                    (
                        verdict,
                        "free, but no change can be made",
                        with_hints(&error),
                    )
                }
            },
            Err(error) => {
                remedies.push(look_at(
                    &root.join(LOCK_FILE),
                    "shows what stands in the lock's place; vak needs a plain file there that it may read",
                ));
                (Verdict::Fail, "can't be taken", with_hints(&error))
            }
        };
        if verdict > worst.0 {
            worst = (verdict, summary);
        }
        items.push(Item {
            subject: format!("{scope} root"),
            found,
            places: Vec::new(),
        });
    }
    let (verdict, summary) = worst;
    Check {
        id: "lock",
        verdict,
        summary: summary.to_owned(),
        items,
        remedies,
    }
}

fn first_unwritable(scope: Scope, root: &Path) -> Option<DiskError> {
    // Nobody needs a workspace root that is not there.
    if scope == Scope::Workspace && !root.exists() {
        return None;
    }
    let below = WRITTEN.iter().map(|place| root.join(place));
    let mut written = std::iter::once(root.to_owned()).chain(below);
    written.find_map(|place| disk::probe_write(&place).err())
}
