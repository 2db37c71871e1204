//! The health report: named checks over everything that can be stale, and what to run about each.
//!
//! A check looks and never changes anything. What it cannot look at (a corrupt registry, an unreadable
//! file) is a failed check that names it, not an error: the report always comes out whole, with all checks
//! in the same order.

mod config;
mod list;
mod plugins;
mod skills;
mod state;
mod store;

use crate::config::{Config, ConfigError};
use crate::plugin::cleanup::Policy;
use crate::plugin::{PluginError, PluginStore, ScannedPlugin};
use crate::roots::{Roots, Scope};
use crate::walk::lossy_path;
use crate::words::shell_quoted;
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How a check came out, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// In order.
    Pass,
    /// Deserves a look; nothing is broken.
    Warn,
    /// Wrong.
    Fail,
}

/// A place in a file that a check points at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file; a plugin's are relative to its package.
    #[serde(serialize_with = "lossy_path")]
    pub file: PathBuf,
    /// The line, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// The column, counted in characters from 1; 0 for the line as a whole.
    pub column: usize,
    /// What stands or what is wrong there.
    pub text: String,
    /// The bytes of the text that it is about; empty for all of it.
    pub mark: Range<usize>,
}

/// Something a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it is about: a plugin, a file, a config entry.
    pub subject: String,
    /// What was found.
    pub found: String,
    /// Where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// A command, and what it would bring about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// What to type.
    pub run: String,
    /// What that does.
    pub effect: String,
}

/// One named check and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A stable name, for programs.
    pub id: &'static str,
    /// How it came out.
    pub verdict: Verdict,
    /// The outcome in a phrase.
    pub summary: String,
    /// What was found.
    pub items: Vec<Item>,
    /// What to type, in order.
    pub remedies: Vec<Remedy>,
}

/// The whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The version of this document's shape.
    pub schema: u32,
    /// Every check, always all of them and in the same order.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether no check failed. Warnings are no failure.
    pub fn is_healthy(&self) -> bool {
        self.count(Verdict::Fail) == 0
    }

    /// How many checks came out so.
    pub fn count(&self, verdict: Verdict) -> usize {
        let checks = self.checks.iter();
        checks.filter(|check| check.verdict == verdict).count()
    }
}

/// Looks at everything below the roots. Reads only, and never fails as a whole.
pub fn examine(roots: &Roots) -> Report {
    let seen = Seen::look(roots);
    Report {
        schema: 1,
        // What others rest on comes first, so that a reader can mend from the top.
        checks: vec![
            config::readable(&seen),
            store::registry(&seen),
            plugins::retired(&seen),
            plugins::references(&seen),
            skills::rejected(&seen, roots),
            config::entries(&seen),
            store::quarantine(&seen),
            state::starter(roots),
            state::lock(roots),
            list::compiled_in(),
        ],
    }
}

/// What several checks look at, read once.
struct Seen {
    stores: Vec<SeenStore>,
    configs: Vec<SeenConfig>,
    /// The operator's word, as far as the configs could be read.
    policy: Policy,
}

struct SeenStore {
    store: PluginStore,
    plugins: Result<Vec<ScannedPlugin>, PluginError>,
}

struct SeenConfig {
    scope: Scope,
    path: PathBuf,
    config: Result<Config, ConfigError>,
}

impl Seen {
    fn look(roots: &Roots) -> Seen {
        let stores = PluginStore::open_all(roots).into_iter().map(|store| {
            let plugins = store.scan();
            SeenStore { store, plugins }
        });
        let mut policy = Policy::default();
        let configs = roots.iter().map(|(scope, root)| {
            let path = root.join(crate::config::FILE_NAME);
            let config = Config::read(&path);
            if let Ok(config) = &config {
                policy.keep(scope, config.keep_retired.iter().cloned());
            }
            SeenConfig {
                scope,
                path,
                config,
            }
        });
        Seen {
            stores: stores.collect(),
            configs: configs.collect(),
            policy,
        }
    }

    /// Every plugin that could be read.
    fn plugins(&self) -> impl Iterator<Item = &ScannedPlugin> {
        let read = self
            .stores
            .iter()
            .filter_map(|seen| seen.plugins.as_ref().ok());
        read.flatten()
    }
}

/// A plugin as a heading: name, version, store.
fn heading(plugin: &ScannedPlugin) -> String {
    let version = match plugin.plugin.version.as_str() {
        "" => String::new(),
        version => format!(" {version}"),
    };
    format!("{}{version} ({})", plugin.plugin.name, plugin.scope)
}

/// ` --scope …` for the commands about a plugin whose name another store has too, or may have.
fn scope_flag(seen: &Seen, name: &str, scope: Scope) -> String {
    let mut others = seen.stores.iter().filter(|it| it.store.scope() != scope);
    let may_have = |other: &SeenStore| match &other.plugins {
        Ok(plugins) => plugins.iter().any(|plugin| plugin.plugin.name == name),
        Err(_) => true,
    };
    match others.any(may_have) {
        true => format!(" --scope {scope}"),
        false => String::new(),
    }
}

fn remedy(run: impl Into<String>, effect: impl Into<String>) -> Remedy {
    Remedy {
        run: run.into(),
        effect: effect.into(),
    }
}

/// Shows what stands at a place, for a person to judge.
fn look_at(path: &Path, effect: impl Into<String>) -> Remedy {
    remedy(format!("ls -lad {}", shell_quoted(path)), effect)
}

/// Opens a file to be mended by a person.
fn edit(path: &Path, effect: impl Into<String>) -> Remedy {
    let file = shell_quoted(path);
    remedy(format!("${{EDITOR:-vi}} {file}"), effect)
}

/// One remedy for each command, with all that it brings about.
fn merged(remedies: Vec<Remedy>) -> Vec<Remedy> {
    let mut merged: Vec<Remedy> = Vec::new();
    for remedy in remedies {
        match merged.iter_mut().find(|known| known.run == remedy.run) {
            None => merged.push(remedy),
            Some(known) if known.effect.contains(&remedy.effect) => {}
            Some(known) => {
                known.effect.push_str("; ");
                known.effect.push_str(&remedy.effect);
            }
        }
    }
    merged
}
