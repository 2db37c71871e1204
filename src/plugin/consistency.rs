//! Whether the registry and the packages on disk agree.

use super::location::{LocationFault, PACKAGES};
use super::package::{Digest, survey};
use super::removal::recorded_places;
use super::{InstalledPlugin, PluginError, PluginName, PluginStore, Result, lossy_path};
use crate::disk::{Dir, Kind, STRAY_PREFIX};
use crate::words::in_one_line;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Whether what the registry names is there, and what is there is named.
    Places,
    /// Also whether every package still is what was installed, which reads all of it.
    Contents,
}

/// A disagreement between the registry and the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Inconsistency {
    /// A plugin is registered under what is no name.
    BadName {
        /// What stands there.
        plugin: String,
    },
    /// A plugin's package path leads to no package of this store.
    Path {
        /// The plugin.
        plugin: String,
        /// The path, as recorded.
        path: String,
        /// What is wrong with it.
        fault: LocationFault,
    },
    /// A package is not what was installed.
    Digest {
        /// The plugin.
        plugin: String,
        /// The digest in the registry.
        recorded: String,
        /// The digest of the files.
        found: Digest,
    },
    /// A package has become one that could not be installed.
    Unacceptable {
        /// The plugin.
        plugin: String,
        /// What is wrong with it, in words.
        why: String,
    },
    /// A directory in `packages/` belongs to no registered plugin.
    Orphan {
        /// The directory.
        #[serde(serialize_with = "lossy_path")]
        path: PathBuf,
    },
    /// A temporary file or copy that a killed process left.
    Stray {
        /// It.
        #[serde(serialize_with = "lossy_path")]
        path: PathBuf,
    },
    /// A change that is under way cannot be finished: its pending file is not acceptable.
    Pending {
        /// What it is called.
        id: String,
        /// What is wrong with it, in words.
        why: String,
    },
    /// An entry of the quarantine cannot be restored.
    Record {
        /// The entry.
        id: String,
        /// What is wrong with its record, in words.
        why: String,
    },
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inconsistency::BadName { plugin } => write!(out, "{plugin:?} is not a plugin name"),
            Inconsistency::Path {
                plugin,
                path,
                fault,
            } => write!(
                out,
                "`{}`: its package path `{}` {fault}",
                plugin.escape_debug(),
                path.escape_debug()
            ),
            Inconsistency::Digest { plugin, .. } => write!(
                out,
                "`{}`: its package is not what was installed",
                plugin.escape_debug()
            ),
            Inconsistency::Unacceptable { plugin, why } => {
                write!(out, "`{}`: {why}", plugin.escape_debug())
            }
            Inconsistency::Orphan { path } => {
                write!(out, "`{}` belongs to no installed plugin", path.display())
            }
            Inconsistency::Stray { path } => write!(
                out,
                "`{}` was left by a process that was killed",
                path.display()
            ),
            Inconsistency::Pending { id, why } => {
                let id = id.escape_debug();
                write!(out, "`plugins/pending/{id}.json` is not acceptable: {why}")
            }
            Inconsistency::Record { id, why } => {
                let id = id.escape_debug();
                write!(out, "`{id}` in quarantine cannot be restored: {why}")
            }
        }
    }
}

impl PluginStore {
    /// Where the registry and the disk disagree. Reads only. What is under way is not here but in
    /// [`PluginStore::unfinished`].
    pub fn check(&self, depth: Depth) -> Result<Vec<Inconsistency>> {
        let root = self.open_root()?;
        let mut found = self.look_steadily(
            |plugins| {
                Ok(plugins
                    .par_iter()
                    .flat_map_iter(|plugin| self.check_plugin(root.as_ref(), plugin, depth))
                    .collect::<Vec<_>>())
            },
            |found| !found.is_empty(),
        )?;
        found.extend(self.orphans()?);
        found.extend(self.strays()?);
        let records = self.quarantine()?.into_iter();
        found.extend(records.filter_map(|entry| {
            let (id, why) = (entry.id, entry.problem?);
            Some(Inconsistency::Record { id, why })
        }));
        found.extend(self.bad_pending()?.into_iter().map(|(id, error)| {
            let why = match error {
                PluginError::Record { why, .. } => why,
                other => other.to_string(),
            };
            let id = id.to_string();
            Inconsistency::Pending { id, why }
        }));
        Ok(found)
    }

    fn check_plugin(
        &self,
        root: Option<&Dir>,
        plugin: &InstalledPlugin,
        depth: Depth,
    ) -> Vec<Inconsistency> {
        let name = || plugin.name.clone();
        let mut found = Vec::new();
        if PluginName::parse(&plugin.name).is_err() {
            found.push(Inconsistency::BadName { plugin: name() });
        }
        match self.locate_in(root, &plugin.package_path) {
            Err(fault) => found.push(Inconsistency::Path {
                plugin: name(),
                path: plugin.package_path.clone(),
                fault,
            }),
            Ok(_) if depth == Depth::Places => {}
            Ok(dir) => match survey(dir) {
                Ok(package) if package.digest.as_str() == plugin.digest => {}
                Ok(package) => found.push(Inconsistency::Digest {
                    plugin: name(),
                    recorded: plugin.digest.clone(),
                    found: package.digest,
                }),
                Err(PluginError::Package { fault, .. }) => {
                    found.push(Inconsistency::Unacceptable {
                        plugin: name(),
                        why: fault.to_string(),
                    });
                }
                Err(error) => found.push(Inconsistency::Path {
                    plugin: name(),
                    path: plugin.package_path.clone(),
                    fault: LocationFault::Unreadable(in_one_line(&error)),
                }),
            },
        }
        found
    }

    /// The directories in `packages/` that nothing in the registry names. What is pending is on its way.
    fn orphans(&self) -> Result<Vec<Inconsistency>> {
        let Some(packages) = self.open_below(PACKAGES)? else {
            return Ok(Vec::new());
        };
        let registry = self.load()?;
        let mut claimed: BTreeSet<PathBuf> = recorded_places(self, &registry);
        for pending in self.unfinished()? {
            claimed.insert(PathBuf::from(pending.plugin.name));
        }
        let names = packages.names()?.into_iter();
        Ok(names
            .filter(|name| !claimed.contains(Path::new(name)))
            .map(|name| Inconsistency::Orphan {
                path: packages.path().join(name),
            })
            .collect())
    }

    /// What killed processes left in `plugins/`; what another process is making right now looks the same.
    /// Reads only; [`PluginStore::settle`] clears it away.
    pub fn strays(&self) -> Result<Vec<Inconsistency>> {
        let mut strays = Vec::new();
        let Some(plugins) = self.open_below("plugins")? else {
            return Ok(strays);
        };
        for entry in plugins.entries()? {
            let name = entry.name.as_encoded_bytes();
            let is_file = matches!(entry.kind, Kind::File { .. });
            let is_temporary = is_file && name.starts_with(STRAY_PREFIX.as_bytes());
            let is_staging = entry.name == "staging" && entry.kind == Kind::Directory;
            if is_temporary || is_staging {
                let path = plugins.path().join(entry.name);
                strays.push(Inconsistency::Stray { path });
            }
        }
        Ok(strays)
    }
}
