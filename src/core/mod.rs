//! What every session starts from: both configs, both stores, the skills, and a look for retired plugins.
//!
//! The look happens once, in every permission mode, and nothing it finds is fatal: a retired plugin, a broken
//! store or a broken config is a [`StartupWarning`], which goes to the process's hook and stays readable in
//! [`Core::warnings`]. Nothing here prints or writes.

mod policy;
#[cfg(feature = "agent")]
mod session;
mod warning;

pub use policy::Policy;
pub use warning::{RetiredReference, StartupWarning, set_warning_hook};

use crate::config::{self, Config};
use crate::plugin::cleanup;
use crate::plugin::{PluginStore, ScannedPlugin};
use crate::roots::{NoHome, Roots, Scope};
use crate::skills::{self, Catalogue};
use crate::tools::PermissionMode;
use crate::words::with_hints;
use std::path::{Path, PathBuf};

/// What a session starts from.
#[derive(Debug)]
pub struct Core {
    cwd: PathBuf,
    roots: Roots,
    policy: Policy,
    catalogue: Catalogue,
    warnings: Vec<StartupWarning>,
}

impl Core {
    /// Starts in a working directory, with the roots that the process's environment names. Warnings go to
    /// the hook that [`set_warning_hook`] has set.
    ///
    /// `trust_project_config` says whether a person trusts this workspace's config. One that is not trusted
    /// can make a session narrower, never wider.
    ///
    /// # Errors
    /// [`NoHome`] if there is no telling where the shared root is. Nothing else stops a start.
    pub fn new_with_trust(cwd: &Path, trust_project_config: bool) -> Result<Core, NoHome> {
        let roots = Roots::of_process(cwd)?;
        let trust = trust_project_config;
        Ok(Core::start(roots, cwd, trust, &mut warning::to_hook))
    }

    /// Starts with the given roots. Each warning is handed to `warn` as it arises.
    pub fn start(
        roots: Roots,
        cwd: &Path,
        trust_project_config: bool,
        warn: &mut dyn FnMut(&StartupWarning),
    ) -> Core {
        let mut warnings = Vec::new();
        let mut warn = |warning: StartupWarning| {
            warn(&warning);
            warnings.push(warning);
        };
        let configs = read_configs(&roots, &mut warn);
        let policy = Policy::of(&configs, trust_project_config, &mut warn);
        let plugins = scan_stores(&roots, &mut warn);
        let kept = kept(&configs);
        plugins
            .iter()
            .filter_map(StartupWarning::broken)
            .for_each(&mut warn);
        for plugin in plugins.iter().filter(|plugin| plugin.scan.is_retired()) {
            warn(StartupWarning::retired(plugin, &plugins, &kept));
        }
        let catalogue = skills::discover(&roots, offered_packages(plugins));
        Core {
            cwd: cwd.to_owned(),
            roots,
            policy,
            catalogue,
            warnings,
        }
    }

    /// The working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The roots.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// What the configs, taken together, say.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The skills that were found, as they were when the session started.
    pub fn skills(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What the operator was warned of, in order.
    pub fn warnings(&self) -> &[StartupWarning] {
        &self.warnings
    }
}

/// A config and whose it is.
struct OwnedConfig {
    scope: Scope,
    path: PathBuf,
    config: Config,
}

/// Both configs. One that can't be read says `read-only` and nothing else: it may have been there to narrow.
fn read_configs(roots: &Roots, warn: &mut impl FnMut(StartupWarning)) -> Vec<OwnedConfig> {
    let read = roots.iter().map(|(scope, root)| {
        let path = root.join(config::FILE_NAME);
        let config = Config::read(&path).unwrap_or_else(|error| {
            warn(StartupWarning::BrokenConfig {
                path: path.clone(),
                message: with_hints(&error),
            });
            Config {
                permission_mode: Some(PermissionMode::ReadOnly),
                ..Config::default()
            }
        });
        OwnedConfig {
            scope,
            path,
            config,
        }
    });
    read.collect()
}

/// The installed plugins of every store that can be read, those of the workspace first.
fn scan_stores(roots: &Roots, warn: &mut impl FnMut(StartupWarning)) -> Vec<ScannedPlugin> {
    let mut plugins = Vec::new();
    for store in PluginStore::open_all(roots).iter().rev() {
        match store.scan() {
            Ok(scanned) => plugins.extend(scanned),
            Err(error) => warn(StartupWarning::BrokenStore {
                root: store.root().to_owned(),
                message: with_hints(&error),
            }),
        }
    }
    plugins
}

fn kept(configs: &[OwnedConfig]) -> cleanup::Policy {
    let mut kept = cleanup::Policy::default();
    for OwnedConfig { scope, config, .. } in configs {
        kept.keep(*scope, config.keep_retired.iter().cloned());
    }
    kept
}

/// The packages whose skills the model may be offered.
fn offered_packages(plugins: Vec<ScannedPlugin>) -> impl Iterator<Item = (String, PathBuf)> {
    plugins
        .into_iter()
        .filter(|scanned| scanned.plugin.enabled)
        .filter_map(|scanned| Some((scanned.plugin.name, scanned.package?)))
}
