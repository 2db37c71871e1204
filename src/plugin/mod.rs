//! Plugins: what is installed in a store, how it comes in, and how it goes without being lost.
//!
//! A store lies below a root:
//!
//! ```text
//! plugins/registry.json                      what is installed; the one truth about that
//! plugins/packages/<name>/<version>/<sha256> the packages' generations
//! plugins/quarantine/<id>/                   what was taken away: `record.json` and the packages
//! plugins/grants/<id>.<scope>.json           what was cut out of this root's config, to be put back
//! plugins/pending/<id>.json                  a removal or restore that has begun and not ended
//! plugins/staging/                           copies and deletions under way
//! ```
//!
//! The last two exist only while something is under way, or was when its process was killed.
//!
//! # How a change survives being killed
//!
//! Every change is made under the lock, and one rename decides it.
//!
//! - **Install** copies into `staging/`, verifies the copy, renames it into `packages/` and then replaces the
//!   registry, which decides. Killed before, it leaves at most a complete, unreferenced package, which the
//!   same install takes up again.
//! - **Remove** writes all it is going to do into `pending/<id>.json`, which decides. Then it puts the
//!   record into the quarantine, takes the plugin out of the registry, moves the packages, takes its entry
//!   out of the configs and deletes the pending file. Every step does nothing where it was done before, so
//!   whoever takes the lock next finishes what is pending by the same code ([`PluginStore::settle`]), in
//!   whatever directory: the file names the configs.
//! - **Restore** decides in the same way and goes the other way round: packages, registry, configs, and last
//!   the quarantine's entry.
//! - **Purge** renames the entry into `staging/`, which decides, and deletes it there.
//!
//! Readers take no lock. They see the registry of before or after; a package that is gone by the time it is
//! read is looked up in the registry once more before anything is said about it.
//!
//! # What it refuses
//!
//! Names are checked before they become paths. What the registry, a record or a pending file says about
//! paths is data: a path that does not lead, by real directories, to a place inside this store's
//! `packages/` is neither followed nor changed. A store that a workspace brings along cannot put a plugin's
//! entry into the user's config, except one that was taken out of it for that workspace; not by a link in the
//! place of its own config either.
//!
//! A change that would stop half-way is refused before it begins: where a config that names the plugin cannot
//! be understood, written or locked. What a workspace has there keeps nothing else from the user's store.

pub mod cleanup;
mod consistency;
mod document;
mod grants;
mod install;
mod installed;
mod location;
mod manifest;
mod name;
mod package;
mod pending;
mod quarantine;
mod raw;
mod record;
mod removal;
mod store;

pub use consistency::{Depth, Inconsistency};
pub use document::RegistryFault;
pub use grants::{Grant, Outcome, PutBack};
pub use install::{InstallOptions, InstallState, Installation};
pub use installed::InstalledPlugin;
pub use location::LocationFault;
pub use manifest::{Format, MANIFEST_LIMIT};
pub use name::{NAME_LIMIT, NameFault, PluginName, PluginVersion, QuarantineId};
pub(crate) use package::hex;
pub use package::{BYTE_LIMIT, DEPTH_LIMIT, Digest, FILE_LIMIT, PackageFault};
pub use pending::{Operation, Settled, Unfinished};
pub use quarantine::QuarantineEntry;
pub use record::{Quarantined, RecordedFinding, RemovalReason};
pub use removal::{Packages, Restoration};
pub use store::{Inspection, PluginStore, ScannedPlugin};

use crate::config::ConfigError;
use crate::disk::DiskError;
use crate::roots::Scope;
use crate::walk::lossy_path;
use crate::words::plugin_command;
use std::path::PathBuf;

/// Why something about plugins could not be done. Nothing was changed, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A config refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A text is no plugin name.
    #[error("{given:?} is not a plugin name: {fault}")]
    Name {
        /// The text.
        given: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// The registry does not read as one.
    #[error(
        "`{}` is not a plugin registry: {fault}\nhint: nothing was changed; {}",
        path.display(),
        fault.advice()
    )]
    Registry {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        fault: RegistryFault,
    },
    /// The registry was written by a later program.
    #[error(
        "`{}` has schema {found}; this vak knows schemas up to {known}\nhint: nothing was changed; use the newer vak that wrote it",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The newest schema that is understood.
        known: u64,
    },
    /// No plugin of that name is installed.
    #[error("no plugin `{name}` is installed in the {scope} store{}", restorable.as_ref().map(|id| format!("\nhint: it was taken away; bring it back with `vak plugins restore {id}`")).unwrap_or_default())]
    NotInstalled {
        /// The name.
        name: String,
        /// The store.
        scope: Scope,
        /// A quarantined plugin of that name.
        restorable: Option<QuarantineId>,
    },
    /// The path that the registry has for a plugin's package is not acceptable.
    #[error(
        "the registry's `package_path` of `{}` is refused: `{}` {fault}\nhint: `{}` takes the entry out of the registry and touches no package",
        name.escape_debug(), path.escape_debug(), plugin_command("remove", name, " --forget")
    )]
    Location {
        /// The plugin.
        name: String,
        /// The path, as recorded.
        path: String,
        /// What is wrong with it.
        fault: LocationFault,
    },
    /// A plugin's package, or a part of it, can't be read, so that nobody knows what it tells the model.
    #[error("the package of `{}` cannot be read: {why}", name.escape_debug())]
    Unreadable {
        /// The plugin.
        name: String,
        /// The system's words, and where.
        why: String,
    },
    /// Another plugin's package lies where this one's would be moved from.
    #[error("the packages of `{}` and `{}` overlap (`{}`)\nhint: `{}` takes the entry out of the registry and touches no package", name.escape_debug(), other.escape_debug(), path.display(), plugin_command("remove", name, " --forget"))]
    SharedPackage {
        /// The plugin.
        name: String,
        /// The other plugin.
        other: String,
        /// Where they overlap.
        path: PathBuf,
    },
    /// A directory is not an acceptable package.
    #[error("`{}` is refused as a plugin package: {fault}", package.display())]
    Package {
        /// The directory.
        package: PathBuf,
        /// What is wrong with it.
        fault: PackageFault,
    },
    /// There is no directory to install from.
    #[error("there is no directory `{}`\nhint: a plugin is installed from a directory with a manifest or a `SKILL.md`", path.display())]
    NoPackage {
        /// The path.
        path: PathBuf,
    },
    /// A package tells the model to call a retired tool.
    #[error("`{name}` tells the model to call a retired tool, `{tool}`: `{}:{line}`\nhint: name `{replacement}` instead, or pass `--allow-retired`", file.display())]
    InstructsRetired {
        /// The plugin.
        name: String,
        /// The retired tool.
        tool: String,
        /// What the list names instead.
        replacement: String,
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The same version of the plugin is installed, with other content.
    #[error(
        "`{name}` {version} is installed with other content\nhint: give the new package another version, or take the installed one away first: `vak plugins remove {name}`"
    )]
    OtherContent {
        /// The plugin.
        name: String,
        /// The version.
        version: String,
    },
    /// Another version of the plugin is installed.
    #[error(
        "`{name}` {installed} is installed, and this package is {offered}\nhint: pass `--upgrade` to have {offered} take its place"
    )]
    OtherVersion {
        /// The plugin.
        name: String,
        /// The installed version.
        installed: String,
        /// The package's version.
        offered: String,
    },
    /// A plugin is installed whose name differs only in case.
    #[error(
        "`{installed}` is installed, whose name differs from `{name}` only in letter case\nhint: take it away first: `vak plugins remove {installed}`"
    )]
    SameName {
        /// The name.
        name: String,
        /// The installed plugin.
        installed: String,
    },
    /// A package is not what it was when it was installed.
    #[error(
        "the package of `{}` is not what was installed: its digest is {found}, recorded is {}\nhint: take it away with `{}` and install it again",
        name.escape_debug(), recorded.escape_debug(), plugin_command("remove", name, "")
    )]
    Digest {
        /// The plugin.
        name: String,
        /// The digest in the registry.
        recorded: String,
        /// The digest of the files.
        found: Digest,
    },
    /// Something else stands where a package would be put, and belongs to no installed plugin.
    #[error("`{}` holds something else than this package\nhint: nothing was changed; no installed plugin uses it: look at it, move it away, and install again", path.display())]
    PlaceTaken {
        /// The place.
        path: PathBuf,
    },
    /// The quarantine has no such entry.
    #[error(
        "the quarantine of the {scope} store has nothing called `{id}`\nhint: `vak plugins list --quarantine` shows what it has"
    )]
    NotQuarantined {
        /// What was asked for.
        id: String,
        /// The store.
        scope: Scope,
    },
    /// A plugin cannot be restored under a name that is in use.
    #[error(
        "`{id}` cannot be restored: `{installed}` is installed\nhint: take that away first: `vak plugins remove {installed}`"
    )]
    NameTaken {
        /// The quarantine entry.
        id: String,
        /// The installed plugin.
        installed: String,
    },
    /// A record or a pending file does not read as one, or says something that is not acceptable.
    #[error("`{}` is not acceptable: {why}\nhint: nothing was changed; the packages beside it are intact", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A plugin's config entry stays as it is; all else was done.
    #[error("the entry of `{name}` in `network_allow` was left as it is in `{}`: {why}", config.display())]
    Entry {
        /// The plugin.
        name: String,
        /// The config.
        config: PathBuf,
        /// Why.
        why: String,
    },
    /// A change could not be brought to its end. It is recorded as unfinished and goes on with the next
    /// command that changes the store.
    #[error(
        "`{}`: the change has begun and could not be finished\nhint: once the cause is mended, any command that changes the store finishes it, for instance `vak doctor --repair`",
        name.escape_debug()
    )]
    Unfinished {
        /// The plugin.
        name: String,
        /// What stopped it.
        source: Box<PluginError>,
    },
    /// The stores changed since the plan was made.
    #[error("the plugins have changed since the plan was made")]
    PlanChanged,
}

/// The result of this module's functions.
pub type Result<T> = std::result::Result<T, PluginError>;

/// Seconds since 1970.
fn now_unix() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn parse_name(given: &str) -> Result<PluginName> {
    PluginName::parse(given).map_err(|fault| PluginError::Name {
        given: given.to_owned(),
        fault,
    })
}
