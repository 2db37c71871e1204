//! Whether the starter skills are current, and whether somebody holds the lock.

use super::store::quoted;
use super::{Check, Item, Verdict, count, remedy};
use crate::disk::{self, LOCK_FILE};
use crate::mode::Mode;
use crate::roots::Roots;
use crate::seed::in_words;
use crate::seed::starter::{self, StarterState};

/// Warns where a starter skill is older than this vak's; an edited or deleted one is as it should be.
pub(super) fn starter(roots: &Roots) -> Check {
    let id = "starter-skills";
    let files = match starter::seed(&roots.shared, Mode::Check) {
        Ok(files) => files,
        Err(error) => {
            return Check {
                id,
                verdict: Verdict::Fail,
                summary: "can't tell whether they are current".to_owned(),
                items: vec![Item {
                    subject: roots.shared.display().to_string(),
                    found: in_words(&error),
                    places: Vec::new(),
                }],
                remedies: Vec::new(),
            };
        }
    };
    let number = |state| files.iter().filter(|file| file.state == state).count();
    let missing = number(StarterState::Written);
    let stale = number(StarterState::Updated);
    let current = number(StarterState::Current);
    let yours = files.len() - missing - stale - current;
    let seed = remedy(
        "vak setup seed",
        "brings them up to date, but for what you changed",
    );
    let (verdict, summary, remedies) = if missing == files.len() {
        // Nobody has set vak up here yet, which is no fault.
        let seed = remedy("vak setup seed", "writes them");
        (
            Verdict::Pass,
            format!("none yet; vak ships {}", files.len()),
            vec![seed],
        )
    } else if missing + stale > 0 {
        let summary = format!("{missing} missing, {stale} older than this vak's");
        (Verdict::Warn, summary, vec![seed])
    } else {
        let summary = match yours {
            0 => format!("all {} current", files.len()),
            _ => format!("all current but {yours} that you changed or deleted"),
        };
        (Verdict::Pass, summary, Vec::new())
    };
    Check {
        id,
        verdict,
        summary,
        items: Vec::new(),
        remedies,
    }
}

/// Fails where the lock cannot be taken at all; warns where another process holds it.
pub(super) fn lock(roots: &Roots) -> Check {
    let mut items = Vec::new();
    let mut remedies = Vec::new();
    let mut verdict = Verdict::Pass;
    for (scope, root) in roots.iter() {
        let path = root.join(LOCK_FILE);
        let (worse, found) = match disk::probe(root) {
            Ok(disk::LockState::Free) => continue,
            Ok(disk::LockState::Held) => (
                Verdict::Warn,
                "another vak is at work; changes wait for it".to_owned(),
            ),
            Err(error) => (Verdict::Fail, in_words(&error)),
        };
        verdict = verdict.max(worse);
        items.push(Item {
            subject: format!("{scope} root"),
            found,
            places: Vec::new(),
        });
        if worse == Verdict::Fail {
            remedies.push(remedy(
                format!("ls -la {}", quoted(&path)),
                "shows what stands in the lock's place; vak needs a plain file there that it may write",
            ));
        }
    }
    let summary = match verdict {
        Verdict::Pass => "free".to_owned(),
        Verdict::Warn => format!("{} held", count(items.len(), "lock")),
        Verdict::Fail => "can't be taken".to_owned(),
    };
    Check {
        id: "lock",
        verdict,
        summary,
        items,
        remedies,
    }
}
