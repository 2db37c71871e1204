//! The quarantine: what was taken away and can come back, until it is purged.

use super::grants;
use super::name::{PluginName, QuarantineId};
use super::pending::{RECORD_LIMIT, STAGING};
use super::record::{Quarantined, Record};
use super::{PluginError, PluginStore, Result, now_unix};
use crate::disk::{self, Dir, Kind, LockGuard};
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const QUARANTINE: &str = "plugins/quarantine";
pub(super) const RECORD_FILE: &str = "record.json";

/// Deeper than any package is, and shallow enough for one open handle a level.
const MAX_DEPTH: usize = 64;

/// An entry of the quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuarantineEntry {
    /// Its name.
    pub id: String,
    /// The bytes of its files.
    pub bytes: u64,
    /// The plugin; `None` if the record is missing or not acceptable.
    pub plugin: Option<Quarantined>,
    /// What is wrong with the record, in words.
    pub problem: Option<String>,
}

impl PluginStore {
    /// Everything in quarantine, oldest first. Reads only; an entry whose record is bad is listed as that.
    pub fn quarantine(&self) -> Result<Vec<QuarantineEntry>> {
        let Some(dir) = self.open_below(QUARANTINE)? else {
            return Ok(Vec::new());
        };
        let mut entries = Vec::new();
        for name in dir.names()? {
            // What is no directory was not put there by this program, and what is gone is gone.
            if dir.kind(&name)? == Some(Kind::Directory)
                && let Some(child) = dir.child(&name)?
            {
                entries.push(describe(&name, &child)?);
            }
        }
        let age = |entry: &QuarantineEntry| entry.plugin.as_ref().map(|one| one.removed_at_unix);
        entries.sort_by(|a, b| (age(a), &a.id).cmp(&(age(b), &b.id)));
        Ok(entries)
    }

    /// What [`PluginStore::purge`] would delete. Reads only.
    pub fn plan_purge(&self, older_than: Duration) -> Result<Vec<QuarantineEntry>> {
        let limit = now_unix().saturating_sub(older_than.as_secs());
        let mut entries = self.quarantine()?;
        // Of an entry without a record nobody knows how old it is.
        entries.retain(|entry| {
            let plugin = entry.plugin.as_ref();
            plugin.is_some_and(|plugin| plugin.removed_at_unix <= limit)
        });
        Ok(entries)
    }

    /// Deletes for good what has been in quarantine for at least so long, and says what that was.
    pub fn purge(&self, guard: &LockGuard, older_than: Duration) -> Result<Vec<QuarantineEntry>> {
        self.settle(guard)?;
        let entries = self.plan_purge(older_than)?;
        let mut purged = Vec::new();
        for entry in entries {
            let id = check_id(&entry.id, self)?;
            if !self.is_pending(&id)? {
                let from = Path::new(QUARANTINE).join(id.as_str());
                let aside = Path::new(STAGING).join(id.as_str());
                disk::move_dir(guard, self.root(), &from, &aside)?;
                if let Some(about) = &entry.plugin {
                    grants::forget(self, guard, about)?;
                }
                purged.push(entry);
            }
        }
        if !purged.is_empty() {
            self.record_purge(guard, &purged)?;
            self.clear_staging(guard)?;
            disk::remove_empty_dir(guard, self.root(), Path::new(QUARANTINE))?;
        }
        Ok(purged)
    }

    fn record_purge(&self, guard: &LockGuard, purged: &[QuarantineEntry]) -> Result<()> {
        let mut registry = self.load()?;
        for entry in purged {
            registry.record(&PurgeEvent {
                at_unix: now_unix(),
                action: "purged",
                plugin: entry.plugin.as_ref().map(|plugin| plugin.name.as_str()),
                quarantine: &entry.id,
            })?;
        }
        registry.save(guard)
    }

    /// The record of an id or, the newest one, of a plugin's name.
    pub(super) fn find_record(&self, id_or_name: &str) -> Result<Record> {
        if let Ok(id) = QuarantineId::parse(id_or_name)
            && let Some(record) = self.read_record(&id)?
        {
            return Ok(record);
        }
        let newest = match self.newest_of(id_or_name)? {
            Some(id) => self.read_record(&id)?,
            None => None,
        };
        newest.ok_or_else(|| self.not_quarantined(id_or_name))
    }

    /// The newest entry of a plugin.
    pub(super) fn newest_of(&self, name: &str) -> Result<Option<QuarantineId>> {
        let entries = self.quarantine()?;
        let named = |entry: &&QuarantineEntry| {
            let plugin = entry.plugin.as_ref();
            plugin.is_some_and(|plugin| plugin.name == name)
        };
        let newest = entries.iter().rev().find(named);
        newest.map(|entry| check_id(&entry.id, self)).transpose()
    }

    fn read_record(&self, id: &QuarantineId) -> Result<Option<Record>> {
        let Some(dir) = self.open_below(&format!("{QUARANTINE}/{id}"))? else {
            return Ok(None);
        };
        read_record(&dir, id).map(Some)
    }

    /// An id that nothing in quarantine or pending has.
    pub(super) fn free_id(&self, name: &str, at_unix: u64) -> Result<QuarantineId> {
        let quarantine = self.open_below(QUARANTINE)?;
        let name = PluginName::parse(name).unwrap_or_else(|_| PluginName::placeholder());
        let mut serial = 0;
        loop {
            let id = QuarantineId::new(&name, at_unix, serial);
            let is_taken = match &quarantine {
                Some(dir) => dir.kind(OsStr::new(id.as_str()))?.is_some(),
                None => false,
            };
            if !is_taken && !self.is_pending(&id)? {
                return Ok(id);
            }
            serial += 1;
        }
    }

    /// Puts a record into the quarantine. Returns the entry's place, relative to the root.
    pub(super) fn write_record(&self, guard: &LockGuard, record: &Record) -> Result<PathBuf> {
        let entry = Path::new(QUARANTINE).join(&record.about.id);
        let path = entry.join(RECORD_FILE);
        let mut text =
            serde_json::to_string_pretty(record).map_err(|error| PluginError::Record {
                path: self.root().join(&path),
                why: error.to_string(),
            })?;
        text.push('\n');
        disk::create_dirs(guard, self.root(), &entry)?;
        disk::replace_below(guard, self.root(), &path, text.as_bytes())?;
        Ok(entry)
    }

    fn not_quarantined(&self, id: &str) -> PluginError {
        PluginError::NotQuarantined {
            id: id.to_owned(),
            scope: self.scope(),
        }
    }
}

#[derive(Serialize)]
struct PurgeEvent<'a> {
    at_unix: u64,
    action: &'static str,
    plugin: Option<&'a str>,
    quarantine: &'a str,
}

fn describe(name: &OsStr, dir: &Dir) -> Result<QuarantineEntry> {
    let text = name.to_string_lossy().into_owned();
    let record = match QuarantineId::parse(&text) {
        Ok(id) => read_record(dir, &id).map_err(|error| match error {
            PluginError::Record { why, .. } => why,
            other => other.to_string(),
        }),
        Err(fault) => Err(format!("its name is not one: {fault}")),
    };
    let (plugin, problem) = match record {
        Ok(record) => (Some(record.about), None),
        Err(why) => (None, Some(why)),
    };
    Ok(QuarantineEntry {
        id: text,
        bytes: bytes_below(dir, MAX_DEPTH)?,
        plugin,
        problem,
    })
}

fn read_record(dir: &Dir, id: &QuarantineId) -> Result<Record> {
    let path = dir.path().join(RECORD_FILE);
    let parsed = match dir.read(OsStr::new(RECORD_FILE), RECORD_LIMIT)? {
        Some(bytes) => Record::parse(&bytes, id),
        None => Err("there is none".to_owned()),
    };
    parsed.map_err(|why| PluginError::Record { path, why })
}

fn check_id(text: &str, store: &PluginStore) -> Result<QuarantineId> {
    QuarantineId::parse(text).map_err(|_| store.not_quarantined(text))
}

/// The bytes of the files below a directory, down to a depth.
fn bytes_below(dir: &Dir, depth: usize) -> Result<u64> {
    let mut bytes = 0_u64;
    for entry in dir.entries()? {
        bytes = bytes.saturating_add(match entry.kind {
            Kind::File { size, .. } => size,
            Kind::Directory if depth > 0 => match dir.child(&entry.name)? {
                Some(child) => bytes_below(&child, depth - 1)?,
                None => 0,
            },
            Kind::Directory | Kind::Link | Kind::Special => 0,
        });
    }
    Ok(bytes)
}
