//! The registry's document, `plugins/registry.json`: read whole, edited in place, written whole.
//!
//! It refuses to guess. A file that is missing is an empty registry; a file that is there and does not read
//! as one is an error that names it, and stays as it is.

use super::installed::InstalledPlugin;
use super::raw::{RawObject, list_to_raw, to_raw};
use super::{PluginError, Result};
use crate::disk::{self, Dir, LockGuard};
use crate::words::plugin_command;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// The file, relative to the root.
pub(super) const REGISTRY: &str = "plugins/registry.json";

/// The schema that this program writes, and the newest it reads.
const SCHEMA: u64 = 1;

/// The longest registry, in bytes: room for 50,000 plugins.
const SIZE_LIMIT: u64 = 64 << 20;

/// What is wrong with a registry's text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryFault {
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It begins with a byte order mark, which JSON does not have.
    #[error("it begins with a byte order mark")]
    ByteOrderMark,
    /// It is not the JSON that it should be.
    #[error("{}", one_line(.0))]
    Json(#[from] serde_json::Error),
    /// It does not say which schema it has.
    #[error("it has no `schema` that is a positive number")]
    NoSchema,
    /// A plugin's entry is not one.
    #[error(
        "in the entry `{}`, lines counted from its start: {}",
        name.escape_debug(),
        one_line(source)
    )]
    Entry {
        /// The plugin.
        name: String,
        /// What is wrong in it.
        source: serde_json::Error,
    },
}

impl RegistryFault {
    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            RegistryFault::Entry { name, .. } => format!(
                "mend the entry, or take it out with `{}`",
                plugin_command("remove", name, " --forget")
            ),
            _ => "mend the file, or move it away to begin with an empty one".to_owned(),
        }
    }
}

/// The parser's words, which quote the file: a line of theirs must not look like one of vak's own.
fn one_line(error: &serde_json::Error) -> String {
    error.to_string().replace(char::is_control, " ")
}

/// A registry in memory.
#[derive(Debug)]
pub(super) struct Registry {
    root: PathBuf,
    top: RawObject,
    generation: u64,
    pub(super) plugins: RawObject,
    pub(super) versions: RawObject,
    audit: Vec<Box<RawValue>>,
}

impl Registry {
    /// Reads the registry of the store below a root; a missing one is empty. No link is followed to it.
    pub(super) fn load(root: &Path) -> Result<Registry> {
        let bytes = match Dir::open(root)? {
            Some(root) => root.read_below(Path::new(REGISTRY), SIZE_LIMIT)?,
            None => None,
        };
        match bytes {
            None => Ok(Registry::empty(root)),
            Some(bytes) => Registry::parse(root, &bytes),
        }
    }

    fn empty(root: &Path) -> Registry {
        Registry {
            root: root.to_owned(),
            top: RawObject::default(),
            generation: 0,
            plugins: RawObject::default(),
            versions: RawObject::default(),
            audit: Vec::new(),
        }
    }

    fn parse(root: &Path, bytes: &[u8]) -> Result<Registry> {
        let path = root.join(REGISTRY);
        let fault = |fault: RegistryFault| PluginError::Registry {
            path: path.clone(),
            fault,
        };
        let top = parse_top(bytes).map_err(fault)?;
        let schema: Option<u64> = top
            .get("schema")
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        match schema {
            None | Some(0) => Err(fault(RegistryFault::NoSchema)),
            Some(found) if found > SCHEMA => Err(PluginError::NewerSchema {
                path,
                found,
                known: SCHEMA,
            }),
            Some(_) => Registry::from_top(root, top).map_err(|error| {
                let placed = serde_json::from_slice::<Parts>(bytes).err();
                fault(RegistryFault::Json(placed.unwrap_or(error)))
            }),
        }
    }

    fn from_top(root: &Path, top: RawObject) -> serde_json::Result<Registry> {
        Ok(Registry {
            root: root.to_owned(),
            generation: part(&top, "generation")?,
            plugins: part(&top, "plugins")?,
            versions: part(&top, "versions")?,
            audit: part(&top, "audit")?,
            top,
        })
    }

    /// A plugin's entry as it is written.
    pub(super) fn entry(&self, name: &str) -> Option<&RawValue> {
        self.plugins.get(name)
    }

    /// A plugin's entry, read.
    pub(super) fn plugin(&self, name: &str) -> Result<Option<InstalledPlugin>> {
        self.entry(name)
            .map(|entry| self.read_entry(name, entry))
            .transpose()
    }

    /// Every plugin, by name.
    pub(super) fn installed(&self) -> Result<Vec<InstalledPlugin>> {
        let mut plugins = self
            .plugins
            .iter()
            .map(|(name, entry)| self.read_entry(name, entry))
            .collect::<Result<Vec<_>>>()?;
        plugins.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(plugins)
    }

    fn read_entry(&self, name: &str, entry: &RawValue) -> Result<InstalledPlugin> {
        InstalledPlugin::read(name, entry).map_err(|source| PluginError::Registry {
            path: self.root.join(REGISTRY),
            fault: RegistryFault::Entry {
                name: name.to_owned(),
                source,
            },
        })
    }

    /// The installed name that `name` is or would collide with where case does not count.
    pub(super) fn same_name(&self, name: &str) -> Option<&str> {
        self.plugins
            .keys()
            .find(|key| key.eq_ignore_ascii_case(name))
    }

    /// Appends to the audit list.
    pub(super) fn record(&mut self, event: &impl Serialize) -> Result<()> {
        let event = to_raw(event, 2).map_err(|source| self.json(source))?;
        self.audit.push(event);
        Ok(())
    }

    /// Whether the audit list has an event of this kind for something in quarantine.
    pub(super) fn has_event(&self, action: &str, id: &str) -> bool {
        #[derive(Deserialize)]
        struct Event<'a> {
            action: &'a str,
            quarantine: &'a str,
        }
        self.audit.iter().rev().any(|event| {
            serde_json::from_str(event.get())
                .is_ok_and(|event: Event<'_>| event.action == action && event.quarantine == id)
        })
    }

    /// Gives a plugin an entry made of `value`, at its place or as the last one.
    pub(super) fn set_entry(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        let entry = to_raw(value, 2).map_err(|source| self.json(source))?;
        self.plugins.set(name, entry);
        Ok(())
    }

    /// Gives one field of a plugin's entry a value and leaves the others as they are written.
    pub(super) fn set_field(
        &mut self,
        name: &str,
        field: &str,
        value: &impl Serialize,
    ) -> Result<()> {
        let Some(entry) = self.entry(name) else {
            return Ok(());
        };
        let edited = RawObject::parse(entry.get()).and_then(|mut entry| {
            entry.set(field, to_raw(value, 3)?);
            entry.to_raw(2)
        });
        let edited = edited.map_err(|source| self.json(source))?;
        self.plugins.set(name, edited);
        Ok(())
    }

    /// Adds a generation to a plugin's list of versions. A list of another program's shape is not
    /// this one's to extend and stays as it is.
    pub(super) fn add_version(&mut self, name: &str, generation: &impl Serialize) -> Result<()> {
        let known: Option<Vec<Box<RawValue>>> = match self.versions.get(name) {
            None => Some(Vec::new()),
            Some(raw) => serde_json::from_str(raw.get()).ok(),
        };
        let Some(mut list) = known else {
            return Ok(());
        };
        let raw = to_raw(generation, 3)
            .and_then(|raw| {
                list.push(raw);
                list_to_raw(&list, 2)
            })
            .map_err(|source| self.json(source))?;
        self.versions.set(name, raw);
        Ok(())
    }

    /// Writes it, as the next generation.
    pub(super) fn save(mut self, guard: &LockGuard) -> Result<()> {
        let text = self.render().map_err(|source| self.json(source))?;
        let path = Path::new(REGISTRY);
        Ok(disk::replace_below(
            guard,
            &self.root,
            path,
            text.as_bytes(),
        )?)
    }

    fn render(&mut self) -> serde_json::Result<String> {
        if self.top.get("schema").is_none() {
            self.top.set("schema", to_raw(&SCHEMA, 1)?);
        }
        self.top
            .set("generation", to_raw(&self.generation.saturating_add(1), 1)?);
        self.top.set("plugins", self.plugins.to_raw(1)?);
        self.top.set("versions", self.versions.to_raw(1)?);
        self.top.set("audit", list_to_raw(&self.audit, 1)?);
        Ok(format!("{}\n", self.top.to_raw(0)?.get()))
    }

    fn json(&self, source: serde_json::Error) -> PluginError {
        PluginError::Registry {
            path: self.root.join(REGISTRY),
            fault: RegistryFault::Json(source),
        }
    }
}

fn parse_top(bytes: &[u8]) -> std::result::Result<RawObject, RegistryFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| RegistryFault::NotUtf8)?;
    if text.starts_with('\u{feff}') {
        return Err(RegistryFault::ByteOrderMark);
    }
    Ok(RawObject::parse(text)?)
}

/// The parts of the document that are read, only to say where one of them is not what it should be:
/// the parts themselves are read from texts of their own, which begin at line 1.
#[derive(Deserialize)]
struct Parts {
    #[serde(default, rename = "generation")]
    _generation: u64,
    #[serde(default, rename = "plugins")]
    _plugins: RawObject,
    #[serde(default, rename = "versions")]
    _versions: RawObject,
    #[serde(default, rename = "audit")]
    _audit: Vec<IgnoredAny>,
}

/// A part of the document; a missing one is what an empty registry has.
fn part<T: Default + DeserializeOwned>(top: &RawObject, key: &str) -> serde_json::Result<T> {
    top.get(key)
        .map_or_else(|| Ok(T::default()), |raw| serde_json::from_str(raw.get()))
}
