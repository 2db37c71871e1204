//! The skills that never reach the model, and why.

use super::{Check, Item, Place, Seen, Verdict, remedy};
use crate::roots::Roots;
use crate::scan::Grade;
use crate::skills::{self, FoundSkill, Severity, SkillDiagnostic, SkillFault, Source, State};
use crate::words::count;

/// Fails where a skill that no plugin brings tells the model to call a retired tool; warns of every other
/// rejected one. A stale plugin's skills are that plugin's check's to fail.
pub(super) fn rejected(seen: &Seen, roots: &Roots) -> Check {
    let packages = seen
        .plugins()
        .filter(|plugin| plugin.plugin.enabled)
        .filter_map(|plugin| Some((plugin.plugin.name.clone(), plugin.package.clone()?)));
    let catalogue = skills::discover(roots, packages);
    let rejected: Vec<&FoundSkill> = catalogue
        .skills
        .iter()
        .filter(|skill| skill.state == State::Rejected)
        .collect();
    let offered = catalogue.offered().count();
    let mut verdict = Verdict::Pass;
    let mut items: Vec<Item> = Vec::new();
    for skill in &rejected {
        verdict = verdict.max(gravity(skill));
        items.push(item(skill));
    }
    let unusable = catalogue.places.iter().filter(|place| is_error(place));
    for place in unusable {
        verdict = verdict.max(Verdict::Warn);
        items.push(Item {
            subject: place.path.display().to_string(),
            found: in_words(place),
            places: Vec::new(),
        });
    }
    let summary = match items.len() {
        0 => format!("{offered} offered, none rejected"),
        number => format!("{offered} offered, {} rejected", count(number, "skill")),
    };
    let remedies = match items.len() {
        0 => Vec::new(),
        _ => vec![remedy(
            "vak skills list",
            "shows every skill with all there is to say of it",
        )],
    };
    Check {
        id: "skills",
        verdict,
        summary,
        items,
        remedies,
    }
}

fn gravity(skill: &FoundSkill) -> Verdict {
    let is_loose = !matches!(skill.source, Source::Plugin { .. });
    let is_stale = skill.diagnostics.iter().any(|diagnostic| {
        matches!(
            diagnostic.fault,
            SkillFault::Retired {
                grade: Grade::Instructs,
                ..
            }
        )
    });
    if is_loose && is_stale {
        Verdict::Fail
    } else {
        Verdict::Warn
    }
}

fn item(skill: &FoundSkill) -> Item {
    let errors: Vec<&SkillDiagnostic> = skill
        .diagnostics
        .iter()
        .filter(|diagnostic| is_error(diagnostic))
        .collect();
    // Of one reason the heading tells what is wrong and the place what to do; several stand in a list.
    let (found, text): (String, fn(&SkillDiagnostic) -> String) = match errors.as_slice() {
        [one] => (one.fault.to_string(), |one| one.fault.advice()),
        several => (
            format!("is rejected for {} reasons", several.len()),
            in_words,
        ),
    };
    Item {
        subject: format!("skill {} ({})", skill.name, skill.source),
        found,
        places: errors
            .iter()
            .map(|diagnostic| Place {
                file: diagnostic.path.clone(),
                line: diagnostic.line.unwrap_or(0),
                column: 0,
                text: text(diagnostic),
                mark: 0..0,
            })
            .collect(),
    }
}

fn is_error(diagnostic: &SkillDiagnostic) -> bool {
    diagnostic.severity() == Severity::Error
}

/// What is wrong, and what to do about it.
fn in_words(diagnostic: &SkillDiagnostic) -> String {
    format!("{}; {}", diagnostic.fault, diagnostic.fault.advice())
}
