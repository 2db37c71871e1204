//! What the registry records of an installed plugin.

use super::raw::RawObject;
use crate::roots::Scope;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// An installed plugin, as its registry entry describes it. Every field is data that somebody may have
/// edited: the fields this program acts on are typed, the ones it only shows are whatever JSON they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InstalledPlugin {
    /// Its name: the key of its entry.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// The digest of its package as it was installed, lower-case hex.
    #[serde(default)]
    pub digest: String,
    /// What it is for.
    #[serde(default)]
    pub description: Value,
    /// Under which terms.
    #[serde(default)]
    pub license: Value,
    /// By whom.
    #[serde(default)]
    pub publisher: Value,
    /// Which manifest it came with.
    #[serde(default)]
    pub format: Value,
    /// What it was installed from.
    #[serde(default)]
    pub source: Value,
    /// Names the installation in logs.
    #[serde(default)]
    pub trace_id: Value,
    /// Where its package is said to be. Never used before it was checked to lie inside the store.
    #[serde(default)]
    pub package_path: String,
    /// The scope it was installed for; absent in old entries.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Whether the model may be offered it.
    #[serde(default)]
    pub enabled: bool,
    /// When it was installed, in seconds since 1970.
    #[serde(default)]
    pub installed_at_unix: u64,
    /// What it offers.
    #[serde(default)]
    pub capabilities: Value,
    /// What was noticed at installation.
    #[serde(default)]
    pub warnings: Value,
}

impl InstalledPlugin {
    pub(super) fn read(name: &str, entry: &RawValue) -> serde_json::Result<InstalledPlugin> {
        if !entry.get().starts_with('{') {
            // A list would be taken for the fields in their order; this says what is wrong with it.
            RawObject::parse(entry.get())?;
        }
        let mut plugin: InstalledPlugin = serde_json::from_str(entry.get())?;
        name.clone_into(&mut plugin.name);
        Ok(plugin)
    }
}
