//! What an operator is warned of when a session starts, and the hook that it goes through.

use crate::plugin::cleanup::Policy as Cleanup;
use crate::plugin::{LocationFault, ScannedPlugin};
use crate::roots::Scope;
use crate::scan::Grade;
use crate::walk::{Role, lossy_path};
use crate::words::plugin_command;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// How many places of a plugin are named; the rest are counted.
const PLACES: usize = 3;

static HOOK: RwLock<fn(&StartupWarning)> = RwLock::new(|_| {});

/// Sets what a [`Core`](super::Core) hands its warnings to. The library itself says nothing.
pub fn set_warning_hook(hook: fn(&StartupWarning)) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = hook;
}

pub(super) fn to_hook(warning: &StartupWarning) {
    let hook = *HOOK.read().unwrap_or_else(PoisonError::into_inner);
    hook(warning);
}

/// Something an operator should know before a session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "warning")]
#[non_exhaustive]
pub enum StartupWarning {
    /// A plugin tells the model to call a retired tool.
    RetiredPlugin {
        /// The plugin.
        plugin: String,
        /// The store it is installed in.
        scope: Scope,
        /// Whether the operator keeps it.
        kept: bool,
        /// Whether the other store has a plugin of the same name.
        ambiguous: bool,
        /// The places that tell the model so.
        references: Vec<RetiredReference>,
    },
    /// An enabled plugin's package can't be looked at. Its skills are not offered.
    BrokenPlugin {
        /// The plugin.
        plugin: String,
        /// The store it is installed in.
        scope: Scope,
        /// What is wrong with the place of its package.
        fault: LocationFault,
    },
    /// A plugin store can't be read. Its plugins are not offered.
    BrokenStore {
        /// The root it lies below.
        #[serde(serialize_with = "lossy_path")]
        root: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A config can't be read. It counts as one that says `read-only` and nothing else.
    BrokenConfig {
        /// The file.
        #[serde(serialize_with = "lossy_path")]
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A workspace's config asks for more than one that is not trusted may have.
    UntrustedConfig {
        /// The file.
        #[serde(serialize_with = "lossy_path")]
        path: PathBuf,
        /// The keys that were not followed.
        ignored: Vec<&'static str>,
    },
}

/// A place that tells the model to call a retired tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetiredReference {
    /// The retired tool.
    pub tool: String,
    /// The file, relative to the package.
    #[serde(serialize_with = "lossy_path")]
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}

impl StartupWarning {
    /// A plugin whose skills would vanish without a word.
    pub(super) fn broken(scanned: &ScannedPlugin) -> Option<StartupWarning> {
        let fault = scanned.fault.clone().filter(|_| scanned.plugin.enabled)?;
        Some(StartupWarning::BrokenPlugin {
            plugin: scanned.plugin.name.clone(),
            scope: scanned.scope,
            fault,
        })
    }

    pub(super) fn retired(
        scanned: &ScannedPlugin,
        all: &[ScannedPlugin],
        kept: &Cleanup,
    ) -> StartupWarning {
        let name = &scanned.plugin.name;
        let files = &scanned.scan.files;
        let references = files
            .iter()
            .filter(|file| file.role == Role::Skill)
            .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)))
            .filter(|(_, finding)| finding.grade == Grade::Instructs)
            .map(|(file, finding)| RetiredReference {
                tool: finding.name.clone(),
                file: file.path.clone(),
                line: finding.line,
            });
        StartupWarning::RetiredPlugin {
            plugin: name.clone(),
            scope: scanned.scope,
            kept: kept.keeps(scanned.scope, name),
            ambiguous: all
                .iter()
                .any(|other| other.scope != scanned.scope && other.plugin.name == *name),
            references: references.collect(),
        }
    }
}

/// What happened, in a line, and what to do, in `hint:` lines.
impl fmt::Display for StartupWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartupWarning::RetiredPlugin {
                plugin,
                scope,
                kept,
                ambiguous,
                references,
            } => {
                let name = plugin.escape_debug();
                write!(f, "plugin `{name}` ({scope}) calls ")?;
                write_references(f, references)?;
                let scope = match ambiguous {
                    true => format!(" --scope {scope}"),
                    false => String::new(),
                };
                match kept {
                    true => write!(
                        f,
                        "\nhint: it stays, because `keep_retired` names it; the model is not offered its stale skills"
                    ),
                    false => write!(
                        f,
                        "\nhint: `vak setup seed` takes away every such plugin, reversibly; \
                         `{}` this one",
                        plugin_command("remove", plugin, &scope)
                    ),
                }
            }
            StartupWarning::BrokenPlugin {
                plugin,
                scope,
                fault,
            } => write!(
                f,
                "plugin `{}` ({scope}) is left out: its package {fault}\n\
                 hint: `vak doctor` says more",
                plugin.escape_debug()
            ),
            // The messages name their files.
            StartupWarning::BrokenStore { message, .. } => {
                write!(f, "the plugins of a store are left out: {message}")
            }
            StartupWarning::BrokenConfig { message, .. } => {
                write!(
                    f,
                    "a config is left out and counts as `read-only`: {message}"
                )
            }
            StartupWarning::UntrustedConfig { path, ignored } => write!(
                f,
                "not followed in the workspace's config: `{}` (`{}`)\n\
                 hint: read it, then pass `--trust-project` if you agree",
                ignored.join("`, `"),
                path.display(),
            ),
        }
    }
}

fn write_references(f: &mut fmt::Formatter<'_>, references: &[RetiredReference]) -> fmt::Result {
    let tools: BTreeSet<&str> = references
        .iter()
        .map(|reference| reference.tool.as_str())
        .collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let noun = if tools.len() == 1 { "tool" } else { "tools" };
    write!(f, "the retired {noun} `{}`: ", tools.join("`, `"))?;
    let places: Vec<String> = references
        .iter()
        .take(PLACES)
        .map(|reference| {
            let file = reference.file.to_string_lossy();
            format!("{}:{}", file.escape_debug(), reference.line)
        })
        .collect();
    f.write_str(&places.join(", "))?;
    match references.len().saturating_sub(PLACES) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
