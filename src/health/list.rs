//! What this binary knows of retired tools.

use super::{Check, Verdict};
use crate::tools;
use crate::words::count;

/// Says how many tools the compiled-in list has, and the newest version among them. Always passes: a list
/// that is not in order does not compile.
pub(super) fn compiled_in() -> Check {
    let rows = tools::retired_tools();
    let newest = rows.iter().map(|row| row.retired_in).max_by_key(version);
    let summary = match newest {
        Some(version) => format!("{}, the newest in {version}", count(rows.len(), "row")),
        None => "empty".to_owned(),
    };
    Check {
        id: "retired-tools-list",
        verdict: Verdict::Pass,
        summary,
        items: Vec::new(),
        remedies: Vec::new(),
    }
}

/// A row's version, for comparison; the list was checked when it was compiled in.
fn version(text: &&str) -> Option<semver::Version> {
    semver::Version::parse(text).ok()
}
