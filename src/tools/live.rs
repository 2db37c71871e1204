//! The live tools, and which of them a name or an alias means.

use super::name::{MAX_NAME, is_folded};
use super::{PermissionMode, bash, edit, glob, grep, read, skill, write};

/// A tool that a model can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LiveTool {
    /// The name the model is told.
    pub name: &'static str,
    /// Other names that models are known to use for it, lower-cased and with `_`.
    pub aliases: &'static [&'static str],
    /// What the model is told of it. The first sentence says what it does.
    pub description: &'static str,
    /// The narrowest permission mode that allows it.
    pub needs: PermissionMode,
}

impl LiveTool {
    /// What the tool does, in one sentence without its full stop.
    pub fn summary(&self) -> &'static str {
        let end = self.description.find(". ");
        let sentence = end.map_or(self.description, |end| &self.description[..end]);
        sentence.trim_end_matches('.')
    }
}

/// Every live tool.
pub static LIVE_TOOLS: &[LiveTool] = &[
    bash::TOOL,
    read::TOOL,
    write::TOOL,
    edit::TOOL,
    glob::TOOL,
    grep::TOOL,
    skill::TOOL,
];

/// The live tool of exactly this name; aliases and other spellings are not looked at.
pub fn live_tool(name: &str) -> Option<&'static LiveTool> {
    LIVE_TOOLS.iter().find(|tool| tool.name == name)
}

/// The name of the live tool that a folded name means, by its own name or an alias.
#[inline]
pub(super) fn resolve(folded: &str) -> Option<&'static str> {
    let start = *STARTS.get(folded.len())?;
    let end = *STARTS.get(folded.len() + 1)?;
    NAMES[start..end]
        .iter()
        .find(|(name, _)| *name == folded)
        .map(|(_, tool)| *tool)
}

/// Every name that means a live tool, with that tool, by length: few names have the same.
static NAMES: [(&str, &str); NAME_COUNT] = names_by_length();

/// Where in [`NAMES`] the names of each length start.
static STARTS: [usize; MAX_NAME + 2] = starts();

const NAME_COUNT: usize = {
    let mut count = 0;
    let mut tool = 0;
    while tool < LIVE_TOOLS.len() {
        count += 1 + LIVE_TOOLS[tool].aliases.len();
        tool += 1;
    }
    count
};

const fn names_by_length() -> [(&'static str, &'static str); NAME_COUNT] {
    let mut names = [("", ""); NAME_COUNT];
    let mut count = 0;
    let mut length = 0;
    while length <= MAX_NAME {
        let mut tool = 0;
        while tool < LIVE_TOOLS.len() {
            let LiveTool { name, aliases, .. } = LIVE_TOOLS[tool];
            let mut nth = 0;
            while nth <= aliases.len() {
                let candidate = if nth == 0 { name } else { aliases[nth - 1] };
                if candidate.len() == length {
                    assert!(
                        is_folded(candidate),
                        "an alias is lower-cased and has no `-`"
                    );
                    names[count] = (candidate, name);
                    count += 1;
                }
                nth += 1;
            }
            tool += 1;
        }
        length += 1;
    }
    assert!(count == NAME_COUNT, "a name of a live tool is too long");
    names
}

const fn starts() -> [usize; MAX_NAME + 2] {
    let names = names_by_length();
    let mut starts = [0; MAX_NAME + 2];
    let mut length = 0;
    let mut at = 0;
    while length < starts.len() {
        while at < names.len() && names[at].0.len() < length {
            at += 1;
        }
        starts[length] = at;
        length += 1;
    }
    starts
}
