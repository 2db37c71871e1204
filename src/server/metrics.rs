//! The state in numbers, in the text format of Prometheus.

use super::views::View;
use super::wire::{Quarantine, ScopeName};
use std::fmt::Write as _;

/// The metrics as of a look at the stores and their quarantine.
pub(super) fn text(view: &View, quarantine: &Quarantine) -> String {
    let mut text = String::new();
    let stores = || view.retired.stores.iter();
    // Of one that can't be looked at there is nothing to count.
    let readable = || stores().filter(|store| store.fault.is_none());
    gauge(
        &mut text,
        "vak_unreadable_stores",
        "Whether a store cannot be looked at.",
        stores().map(|store| {
            (
                scope(store.scope),
                f64::from(u8::from(store.fault.is_some())),
            )
        }),
    );
    gauge(
        &mut text,
        "vak_installed_plugins",
        "Installed plugins.",
        readable().map(|store| (scope(store.scope), store.installed as f64)),
    );
    gauge(
        &mut text,
        "vak_retired_plugins",
        "Installed plugins that tell the model to call a retired tool.",
        readable().map(|store| (scope(store.scope), store.plugins.len() as f64)),
    );
    gauge(
        &mut text,
        "vak_kept_plugins",
        "Retired plugins that the operator keeps.",
        readable().map(|store| {
            let kept = store.plugins.iter().filter(|plugin| plugin.kept);
            (scope(store.scope), kept.count() as f64)
        }),
    );
    gauge(
        &mut text,
        "vak_findings",
        "References to retired tools in installed plugins.",
        view.findings
            .iter()
            .map(|(grade, count)| (format!("{{grade=\"{}\"}}", grade.as_str()), *count as f64)),
    );
    gauge(
        &mut text,
        "vak_quarantined_plugins",
        "Plugins in quarantine.",
        stores().map(|store| {
            let held = quarantine.plugins.iter();
            (
                scope(store.scope),
                held.filter(|plugin| plugin.scope == store.scope).count() as f64,
            )
        }),
    );
    gauge(
        &mut text,
        "vak_scan_duration_seconds",
        "How long the latest look at all installed plugins took.",
        [(String::new(), view.took.as_secs_f64())],
    );
    text
}

fn gauge(
    text: &mut String,
    name: &str,
    help: &str,
    samples: impl IntoIterator<Item = (String, f64)>,
) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
    for (labels, value) in samples {
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

fn scope(scope: ScopeName) -> String {
    format!("{{scope=\"{}\"}}", scope.as_str())
}
