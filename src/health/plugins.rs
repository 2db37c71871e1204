//! What the installed plugins tell the model.

use super::{Check, Item, Place, Seen, Verdict, heading, remedy, scope_flag};
use crate::plugin::ScannedPlugin;
use crate::scan::Grade;
use crate::tools;
use crate::walk::{FileFinding, FileReport, Role};
use crate::words::{count, plugin_command};
use std::collections::BTreeSet;

/// An item names this many places; the rest are counted.
const PLACES: usize = 5;

/// Fails where a plugin tells the model to call a retired tool.
pub(super) fn retired(seen: &Seen) -> Check {
    let retired: Vec<&ScannedPlugin> = seen
        .plugins()
        .filter(|plugin| {
            plugin.scan.is_retired() && !seen.policy.keeps(plugin.scope, &plugin.plugin.name)
        })
        .collect();
    let mut remedies = Vec::new();
    if !retired.is_empty() {
        remedies.push(remedy(
            "vak setup seed",
            match retired.len() {
                1 => "takes it away, reversibly, with its entry in `network_allow`",
                _ => "takes all of them away, reversibly, with their entries in `network_allow`",
            },
        ));
    }
    for plugin in retired.iter().filter(|_| retired.len() <= PLACES) {
        let name = &plugin.plugin.name;
        let scope = scope_flag(seen, name, plugin.scope);
        remedies.push(remedy(
            plugin_command("remove", name, &scope),
            "takes this one alone away, reversibly",
        ));
    }
    let unknown = seen.stores.iter().filter(|seen| seen.plugins.is_err());
    let unknown: Vec<String> = unknown
        .map(|seen| format!("the {} store", seen.store.scope()))
        .collect();
    let unread = seen.plugins().filter(|plugin| {
        let is_kept = seen.policy.keeps(plugin.scope, &plugin.plugin.name);
        !is_kept && !plugin.scan.is_retired() && plugin.unreadable().is_some()
    });
    let unread: Vec<String> = unread.map(heading).collect();
    let unknown = [unknown, unread].concat();
    let mut summary = match retired.len() {
        0 => format!(
            "none of {} calls a retired tool",
            count(seen.plugins().count(), "installed plugin")
        ),
        1 => "1 plugin tells the model to call a retired tool".to_owned(),
        number => format!("{number} plugins tell the model to call a retired tool"),
    };
    if !unknown.is_empty() {
        summary.push_str(&format!("; {} can't be read", unknown.join(" and ")));
    }
    let verdict = match (retired.len(), unknown.len()) {
        (0, 0) => Verdict::Pass,
        (0, _) => Verdict::Warn,
        _ => Verdict::Fail,
    };
    Check {
        id: "retired-plugins",
        verdict,
        summary,
        items: retired
            .iter()
            .map(|plugin| item(plugin, instructs, "calls"))
            .collect(),
        remedies,
    }
}

/// Warns of what falls short of that: a tools list, a bare word, a command or agent file, a file that could
/// not be scanned, and the plugins that the operator keeps.
pub(super) fn references(seen: &Seen) -> Check {
    let mut items = Vec::new();
    for plugin in seen.plugins() {
        let name = &plugin.plugin.name;
        let is_kept = seen.policy.keeps(plugin.scope, name);
        if plugin.scan.is_retired() && is_kept {
            let mut kept = item(plugin, instructs, "kept, though it calls");
            kept.found
                .push_str("; its stale skills stay away from the model");
            items.push(kept);
        }
        // What is about to be taken away needs no second look.
        let weaker = item(plugin, falls_short, "names");
        if !weaker.places.is_empty() && (is_kept || !plugin.scan.is_retired()) {
            items.push(weaker);
        }
        let unscanned = unscanned(plugin);
        if !unscanned.places.is_empty() {
            items.push(unscanned);
        }
    }
    let summary = match items.len() {
        0 => "no weaker sign of one, and every file could be scanned".to_owned(),
        number => format!(
            "{} to look at; nothing is taken away for that",
            count(number, "weaker sign")
        ),
    };
    let verdict = if items.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Warn
    };
    let remedies = if items.is_empty() {
        Vec::new()
    } else {
        vec![remedy(
            "vak plugins inspect NAME",
            "shows a plugin with all its findings and where its files are",
        )]
    };
    Check {
        id: "retired-references",
        verdict,
        summary,
        items,
        remedies,
    }
}

fn instructs(file: &FileReport, finding: &FileFinding) -> bool {
    file.role == Role::Skill && finding.grade == Grade::Instructs
}

fn falls_short(file: &FileReport, finding: &FileFinding) -> bool {
    finding.grade > Grade::Mentions && !instructs(file, finding)
}

/// The findings of a plugin that `wanted` picks, under one heading.
fn item(plugin: &ScannedPlugin, wanted: fn(&FileReport, &FileFinding) -> bool, verb: &str) -> Item {
    let found: Vec<(&FileReport, &FileFinding)> = plugin
        .scan
        .files
        .iter()
        .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)))
        .filter(|(file, finding)| wanted(file, finding))
        .collect();
    let names: BTreeSet<&str> = found
        .iter()
        .map(|(_, finding)| finding.name.as_str())
        .collect();
    let named: Vec<String> = names.into_iter().map(tool_in_words).collect();
    let more = found.len().saturating_sub(PLACES);
    let mut said = format!("{verb} {}", named.join(", "));
    if more > 0 {
        said.push_str(&format!(" ({} in all)", count(found.len(), "place")));
    }
    Item {
        subject: heading(plugin),
        found: said,
        places: found
            .into_iter()
            .take(PLACES)
            .map(|(file, finding)| Place {
                file: file.path.clone(),
                line: finding.line,
                column: finding.column,
                text: finding.excerpt.clone(),
                mark: finding.mark.clone(),
            })
            .collect(),
    }
}

fn unscanned(plugin: &ScannedPlugin) -> Item {
    let parts = plugin
        .scan
        .files
        .iter()
        .flat_map(|file| file.unscanned.iter().map(move |why| (file, why)));
    Item {
        subject: heading(plugin),
        found: "has what could not be scanned".to_owned(),
        places: parts
            .map(|(file, why)| Place {
                file: file.path.clone(),
                line: 0,
                column: 0,
                text: why.to_string(),
                mark: 0..0,
            })
            .collect(),
    }
}

/// A retired tool, since when, and what to use.
fn tool_in_words(name: &str) -> String {
    let Some(row) = tools::retired_tool(name) else {
        return format!("`{name}`");
    };
    format!(
        "`{name}` (retired in {}; use `{}`)",
        row.retired_in,
        tools::canonical_tool_name(name)
    )
}
