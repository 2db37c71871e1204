//! The tools that a name which means none was probably meant for.

use super::{LiveTool, MAX_NAME, canonical_tool_name, retired_tools};

/// Names less alike than this have nothing to do with each other.
const ALIKE: f64 = 0.65;

/// A tool that is this much less like the name than the best one is not meant.
const MARGIN: f64 = 0.1;

/// The tools whose names, aliases or retired names are nearest to `said`, the nearest first; every one of
/// them if none is near.
pub(super) fn nearest(
    said: &str,
    tools: impl Iterator<Item = &'static LiveTool>,
) -> Vec<&'static str> {
    // Nothing that long is like a name, and finding that out would take its time.
    let said = if said.len() > MAX_NAME { "" } else { said };
    let said = said.to_ascii_lowercase().replace('-', "_");
    let mut tools: Vec<(f64, &'static str)> = tools
        .map(|tool| (likeness(&said, tool), tool.name))
        .collect();
    let names = |tools: Vec<(f64, &'static str)>| tools.into_iter().map(|(_, name)| name).collect();
    let best = tools
        .iter()
        .map(|(likeness, _)| *likeness)
        .fold(0.0, f64::max);
    if best < ALIKE {
        return names(tools);
    }
    tools.retain(|(likeness, _)| *likeness >= ALIKE.max(best - MARGIN));
    tools.sort_by(|a, b| b.0.total_cmp(&a.0));
    names(tools)
}

fn likeness(said: &str, tool: &LiveTool) -> f64 {
    let retired = retired_tools()
        .iter()
        .map(|row| row.name)
        .filter(|name| canonical_tool_name(name) == tool.name);
    [tool.name]
        .into_iter()
        .chain(tool.aliases.iter().copied())
        .chain(retired)
        .map(|name| strsim::normalized_damerau_levenshtein(said, name))
        .fold(0.0, f64::max)
}
