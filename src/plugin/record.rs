//! The quarantine's record of a plugin: all that is needed to bring it back, written before it is taken away.
//!
//! A record is data like everything on disk. It is read, then checked, and only then used: the places it
//! names must lie in `packages/`, below this store.

use super::grants::Grant;
use super::location::PACKAGES;
use super::name::{PluginName, QuarantineId};
use super::raw::RawObject;
use crate::roots::Scope;
use crate::scan::Grade;
use crate::walk::{PackageScan, Role};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::{Component, Path, PathBuf};

/// The schema that this program writes, and the only one it reads.
const SCHEMA: u32 = 1;

/// A record keeps this many findings; a hostile package may have millions.
const FINDINGS_LIMIT: usize = 50;

/// Why a plugin was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalReason {
    /// Somebody asked for it.
    Requested,
    /// It tells the model to call a retired tool.
    Retired,
}

/// A reference to a retired tool, as the audit list and the quarantine remember it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFinding {
    /// The retired tool.
    pub tool: String,
    /// The file, relative to the package.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted in characters from 1.
    pub column: usize,
    /// The line's text.
    pub excerpt: String,
}

/// A plugin in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// What names it there.
    pub id: String,
    /// The plugin.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The digest of its package, as the registry had it.
    pub digest: String,
    /// The store it was installed in.
    pub scope: Scope,
    /// Whether it was enabled; it is again when it is restored.
    pub enabled: bool,
    /// When it was taken away, in seconds since 1970.
    pub removed_at_unix: u64,
    /// Why.
    pub reason: RemovalReason,
    /// What told the model to call a retired tool, the first few.
    pub findings: Vec<RecordedFinding>,
    /// The config entries that went with it.
    pub grants: Vec<Grant>,
}

/// The record in `quarantine/<id>/record.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) schema: u32,
    pub(super) about: Quarantined,
    pub(super) registry: RegistryPart,
    pub(super) packages: Vec<Moved>,
}

/// What the registry had, to the byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RegistryPart {
    /// Its place among the plugins.
    pub(super) position: usize,
    pub(super) entry: Box<RawValue>,
    /// Its place among the versions, and what stood there.
    #[serde(default)]
    pub(super) versions: Option<(usize, Box<RawValue>)>,
}

/// A directory that is moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Where it was, relative to the root.
    pub(super) from: PathBuf,
    /// Its name in the quarantine entry.
    pub(super) to: String,
}

impl RegistryPart {
    pub(super) fn of(
        name: &str,
        plugins: &RawObject,
        versions: &RawObject,
    ) -> Option<RegistryPart> {
        Some(RegistryPart {
            position: plugins.position(name)?,
            entry: plugins.get(name)?.to_owned(),
            versions: versions
                .position(name)
                .zip(versions.get(name).map(ToOwned::to_owned)),
        })
    }
}

impl Record {
    pub(super) fn new(about: Quarantined, registry: RegistryPart, packages: Vec<Moved>) -> Record {
        Record {
            schema: SCHEMA,
            about,
            registry,
            packages,
        }
    }

    /// Reads a record and checks it against the id it goes by.
    pub(super) fn parse(bytes: &[u8], id: &QuarantineId) -> Result<Record, String> {
        let record: Record = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        record.check(id).map(|()| record)
    }

    pub(super) fn check(&self, id: &QuarantineId) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("it has schema {}, not {SCHEMA}", self.schema));
        }
        if self.about.id != id.as_str() {
            return Err(format!("it is the record of `{}`", self.about.id));
        }
        for moved in &self.packages {
            if !is_inside_packages(&moved.from) {
                let from = moved.from.display();
                return Err(format!("`{from}` is not inside `{PACKAGES}`"));
            }
            if PluginName::parse(&moved.to).is_err() {
                return Err(format!("{:?} is not a directory name", moved.to));
            }
        }
        Ok(())
    }
}

fn is_inside_packages(path: &Path) -> bool {
    let is_plain = path
        .components()
        .all(|step| matches!(step, Component::Normal(_)));
    is_plain && path.starts_with(PACKAGES) && path != Path::new(PACKAGES)
}

/// The findings for which a package is retired, the first few.
pub(super) fn findings(scan: &PackageScan) -> Vec<RecordedFinding> {
    scan.files
        .iter()
        .filter(|file| file.role == Role::Skill)
        .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)))
        .filter(|(_, finding)| finding.grade == Grade::Instructs)
        .take(FINDINGS_LIMIT)
        .map(|(file, finding)| RecordedFinding {
            tool: finding.name.clone(),
            file: file.path.to_string_lossy().into_owned(),
            line: finding.line,
            column: finding.column,
            excerpt: finding.excerpt.clone(),
        })
        .collect()
}
