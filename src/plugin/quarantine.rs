//! The quarantine: what was taken away and can come back, until it is purged.

use super::grants;
use super::name::{PluginName, QuarantineId};
use super::pending::{RECORD_LIMIT, STAGING};
use super::record::{Quarantined, Record};
use super::{PluginError, PluginStore, Result, now_unix};
use crate::disk::{self, Dir, Entry, Kind, LockGuard};
use crate::words::in_one_line;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

pub(super) const QUARANTINE: &str = "plugins/quarantine";
pub(super) const RECORD_FILE: &str = "record.json";

/// What the audit list calls a deletion for good.
const PURGED: &str = "purged";

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
    /// Whether that is the system's word: it did not let the record be read.
    #[serde(skip)]
    pub unread: bool,
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
        let unread = entries.iter().find(|entry| entry.unread);
        if let Some(error) = unread.and_then(|entry| self.bad_record(entry)) {
            return Err(error);
        }
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
                purged.push(entry);
            }
        }
        if !purged.is_empty() {
            self.clear_staging(guard)?;
            disk::remove_empty_dir(guard, self.root(), Path::new(QUARANTINE))?;
        }
        Ok(purged)
    }

    /// Puts on the audit list what was moved aside to be deleted, and forgets its config entries, before it is
    /// deleted. A purge that is killed between the two is not recorded twice.
    pub(super) fn record_purges(&self, guard: &LockGuard) -> Result<()> {
        let purged = self.purged()?;
        let mut registry = match purged.is_empty() {
            true => return Ok(()),
            false => self.load()?,
        };
        let known: Vec<bool> = purged
            .iter()
            .map(|about| registry.has_event(PURGED, &about.id))
            .collect();
        for (about, known) in purged.iter().zip(&known) {
            grants::forget(self, guard, about)?;
            if !known {
                registry.record(&PurgeEvent {
                    at_unix: now_unix(),
                    action: PURGED,
                    plugin: &about.name,
                    quarantine: &about.id,
                })?;
            }
        }
        if known.contains(&false) {
            registry.save(guard)?;
        }
        Ok(())
    }

    /// What was moved aside and still has its record. A copy for an installation has none.
    fn purged(&self) -> Result<Vec<Quarantined>> {
        let mut purged = Vec::new();
        let Some(staging) = self.open_below(STAGING)? else {
            return Ok(purged);
        };
        for Entry { name, kind } in staging.entries()? {
            let id = name
                .to_str()
                .and_then(|name| QuarantineId::parse(name).ok());
            let (Some(id), Kind::Directory) = (id, kind) else {
                continue;
            };
            let Some(dir) = staging.child(&name)? else {
                continue;
            };
            match read_record(&dir, &id) {
                Ok(record) => purged.push(record.about),
                Err(PluginError::Record { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(purged)
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

    /// Whether the quarantine has a plugin by this id or name.
    pub fn has_quarantined(&self, id_or_name: &str) -> Result<bool> {
        match self.find_record(id_or_name) {
            Ok(_) => Ok(true),
            Err(PluginError::NotQuarantined { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The newest entry of a plugin. Where there is none, one with a bad record that is named after it is
    /// the error.
    pub(super) fn newest_of(&self, name: &str) -> Result<Option<QuarantineId>> {
        let entries = self.quarantine()?;
        let named = |entry: &&QuarantineEntry| {
            let plugin = entry.plugin.as_ref();
            plugin.is_some_and(|plugin| plugin.name == name)
        };
        if let Some(newest) = entries.iter().rev().find(named) {
            return check_id(&newest.id, self).map(Some);
        }
        let prefix = format!("{name}-");
        let bad = entries.iter().find_map(|entry| {
            let is_named_after = entry.id.starts_with(&prefix);
            is_named_after.then(|| self.bad_record(entry)).flatten()
        });
        bad.map_or(Ok(None), Err)
    }

    fn bad_record(&self, entry: &QuarantineEntry) -> Option<PluginError> {
        let why = entry.problem.clone()?;
        let path = self
            .root()
            .join(QUARANTINE)
            .join(&entry.id)
            .join(RECORD_FILE);
        Some(PluginError::Record { path, why })
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

    /// Puts a record into the quarantine.
    pub(super) fn write_record(&self, guard: &LockGuard, record: &Record) -> Result<()> {
        let entry = Path::new(QUARANTINE).join(&record.about.id);
        let path = entry.join(RECORD_FILE);
        let mut text =
            serde_json::to_string_pretty(record).map_err(|error| PluginError::Record {
                path: self.root().join(&path),
                why: error.to_string(),
            })?;
        text.push('\n');
        disk::create_dirs(guard, self.root(), &entry)?;
        Ok(disk::replace_below(
            guard,
            self.root(),
            &path,
            text.as_bytes(),
        )?)
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
    plugin: &'a str,
    quarantine: &'a str,
}

fn describe(name: &OsStr, dir: &Dir) -> Result<QuarantineEntry> {
    let text = name.to_string_lossy().into_owned();
    let record = match QuarantineId::parse(&text) {
        Ok(id) => read_record(dir, &id).map_err(|error| match error {
            PluginError::Record { why, .. } => (why, false),
            other => (in_one_line(&other), true),
        }),
        Err(fault) => Err((format!("its name is not one: {fault}"), false)),
    };
    let (plugin, problem, unread) = match record {
        Ok(record) => (Some(record.about), None, false),
        Err((why, unread)) => (None, Some(why), unread),
    };
    Ok(QuarantineEntry {
        id: text,
        bytes: bytes_below(dir, MAX_DEPTH)?,
        plugin,
        problem,
        unread,
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
