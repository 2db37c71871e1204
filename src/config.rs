//! vak's `config.toml`: what this program reads of it, and one plugin's entry taken out or put back.
//!
//! The file is its owner's. Keys that this program does not know are no errors; a file that can't be
//! understood is an error with a place in it and is never replaced; a change touches the bytes of one
//! entry and no other.
//!
//! Two configs are in force in a workspace: the shared root's, everywhere, and the workspace root's, in
//! that workspace. A session there runs the plugins of both stores under both, so each config governs
//! both stores: an entry is needed as long as either store has a plugin of that name.

mod array;
mod list;
mod model;
mod network_allow;
mod text;

pub use model::ModelConfig;
pub use network_allow::{Cut, Pruned, Restored, prune, put_back};
pub use text::{Fault, Place, TextFault};

use crate::disk::{self, DiskError, LockGuard};
use crate::mode::Mode;
use crate::tools::PermissionMode;
use network_allow::{find_list, found, plugins_table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use text::ConfigText;
use toml_edit::Value;

/// The config's file name in its root.
pub const FILE_NAME: &str = "config.toml";

/// What a config says, as far as this program reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `[plugins] network_allow`: the plugins that may reach the network. An item that is not a string
    /// allows nothing.
    pub network_allow: Vec<String>,
    /// `[plugins] keep_retired`: the plugins that cleanup leaves although they are retired.
    pub keep_retired: Vec<String>,
    /// `permission_mode`, if it is set.
    pub permission_mode: Option<PermissionMode>,
    /// `[model]`: which model a session talks to.
    pub model: ModelConfig,
}

/// Why a config can't be used or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It can't be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is a link that leads nowhere.
    #[error("`{}` is a link that leads to no file\nhint: bring back the file it leads to, or delete the link if no config is wanted", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// Something is wrong in its text.
    #[error("`{}:{}:{}`: {fault}", path.display(), fault.place.line, fault.place.column)]
    Text {
        /// The file.
        path: PathBuf,
        /// What, and where.
        fault: Box<TextFault>,
    },
}

const MAX_BYTES: u64 = 4 << 20;

impl Config {
    /// Reads the config at `path`; a file that does not exist says nothing. A link that leads nowhere is an
    /// error.
    ///
    /// # Errors
    /// [`ConfigError`] if it can't be read, is not TOML, or holds another type than a key calls for.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        match read(path)? {
            Some(bytes) => Config::parse(&bytes).map_err(text_error(path)),
            None => Ok(Config::default()),
        }
    }

    /// What a config's bytes say.
    ///
    /// # Errors
    /// [`TextFault`] if they are not TOML, or hold another type than a key calls for.
    pub fn parse(bytes: &[u8]) -> Result<Config, TextFault> {
        let text = ConfigText::parse(bytes)?;
        let network_allow = find_list(&text)?.map_or_else(Vec::new, |list| {
            list.iter()
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect()
        });
        Ok(Config {
            network_allow,
            keep_retired: keep_retired(&text)?,
            permission_mode: permission_mode(&text)?,
            model: ModelConfig::read(&text)?,
        })
    }
}

/// What became of one plugin's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pruning {
    /// The config does not name the plugin.
    Absent,
    /// The entry stays: another store that the config governs has a plugin of that name.
    StillNeeded,
    /// It is gone, or would be.
    Pruned {
        /// The lines, counted from 1, that it stood on.
        lines: Vec<usize>,
        /// How to put it back.
        cut: Cut,
    },
}

/// What [`prune_plugins_network_allow`] would do to the config at `path`; `None` if it does not name the
/// plugin. Takes no lock and writes nothing.
///
/// # Errors
/// [`ConfigError`] if the config can't be read or understood.
pub fn plan_prune(path: &Path, name: &str) -> Result<Option<Pruned>, ConfigError> {
    match read(path)? {
        Some(bytes) => prune(&bytes, name).map_err(text_error(path)),
        None => Ok(None),
    }
}

/// What [`restore_plugins_network_allow`] would do to the config at `path`; `None` if the entry is there
/// already. Takes no lock and writes nothing.
///
/// # Errors
/// [`ConfigError`] if the config can't be read or understood, or has no list any more.
pub fn plan_put_back(path: &Path, cut: &Cut) -> Result<Option<Restored>, ConfigError> {
    let bytes = read(path)?.unwrap_or_default();
    put_back(&bytes, cut).map_err(text_error(path))
}

/// Takes the plugin `name` out of `[plugins] network_allow` of the config at `path`, which is read anew
/// under the lock, and changes no other byte of it (see [`prune`]). A linked config stays a link, and the
/// file keeps its mode.
///
/// `still_installed` are the names of the plugins that the stores which the config governs still have; see
/// the module's documentation for which those are. With [`Mode::Check`] nothing is written.
///
/// # Errors
/// [`ConfigError`] if the config can't be read, understood or written; it is then as it was.
pub fn prune_plugins_network_allow(
    guard: &LockGuard,
    path: &Path,
    name: &str,
    still_installed: &BTreeSet<String>,
    mode: Mode,
) -> Result<Pruning, ConfigError> {
    let Some(pruned) = plan_prune(path, name)? else {
        return Ok(Pruning::Absent);
    };
    if still_installed.contains(name) {
        return Ok(Pruning::StillNeeded);
    }
    if mode.writes() {
        disk::replace(guard, path, &pruned.bytes)?;
    }
    let Pruned { lines, cut, .. } = pruned;
    Ok(Pruning::Pruned { lines, cut })
}

/// Puts back into the config at `path`, which is read anew under the lock, what
/// [`prune_plugins_network_allow`] took out of it (see [`put_back`]). `None` if the entry is there already.
/// With [`Mode::Check`] nothing is written.
///
/// # Errors
/// [`ConfigError`] if the config can't be read, understood or written, or has no list any more; it is then
/// as it was.
pub fn restore_plugins_network_allow(
    guard: &LockGuard,
    path: &Path,
    cut: &Cut,
    mode: Mode,
) -> Result<Option<Restored>, ConfigError> {
    let restored = plan_put_back(path, cut)?;
    if let Some(restored) = &restored
        && mode.writes()
    {
        disk::replace(guard, path, &restored.bytes)?;
    }
    Ok(restored)
}

/// The bytes of a config; `None` if there is none. A link that leads nowhere is not that: what it led to
/// may hold the operator's word, which must not be lost with it.
fn read(path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    match disk::read(path, MAX_BYTES)? {
        None if path.is_symlink() => Err(ConfigError::Dangling {
            path: path.to_owned(),
        }),
        found => Ok(found),
    }
}

/// The operator's word: an item that can't be understood is an error, or cleanup would take away
/// what it was meant to keep.
fn keep_retired(config: &ConfigText<'_>) -> Result<Vec<String>, TextFault> {
    let item = plugins_table(config)?.and_then(|plugins| plugins.get("keep_retired"));
    let Some(item) = item else {
        return Ok(Vec::new());
    };
    let fault = |span, found| {
        let key = "plugins.keep_retired";
        let wanted = "an array of plugin names";
        config.fault(span, Fault::WrongType { key, wanted, found })
    };
    let Some(list) = item.as_array() else {
        return Err(fault(item.span(), found(item)));
    };
    list.iter()
        .map(|name| match name {
            Value::String(name) => Ok(name.value().clone()),
            _ => Err(fault(name.span(), "an array with other things in it")),
        })
        .collect()
}

fn permission_mode(config: &ConfigText<'_>) -> Result<Option<PermissionMode>, TextFault> {
    let Some(item) = config.document.get("permission_mode") else {
        return Ok(None);
    };
    let Some(name) = item.as_str() else {
        let fault = Fault::WrongType {
            key: "permission_mode",
            wanted: "the name of a mode",
            found: found(item),
        };
        return Err(config.fault(item.span(), fault));
    };
    match PermissionMode::from_name(name) {
        Some(mode) => Ok(Some(mode)),
        None => Err(config.fault(item.span(), Fault::UnknownMode(name.to_owned()))),
    }
}

fn text_error(path: &Path) -> impl FnOnce(TextFault) -> ConfigError {
    |fault| ConfigError::Text {
        path: path.to_owned(),
        fault: Box::new(fault),
    }
}
