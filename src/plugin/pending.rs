//! Removals and restores under way: written down before they begin, deleted when they have ended, and
//! finished by whoever takes the lock next if their process did not.

use super::grants::{self, GRANTS, PutBack};
use super::name::QuarantineId;
use super::quarantine::QUARANTINE;
use super::record::{Quarantined, Record};
use super::removal::{self, Restoration};
use super::{PluginError, PluginStore, Result};
use crate::disk::{self, LockGuard};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub(super) const PENDING: &str = "plugins/pending";
pub(super) const STAGING: &str = "plugins/staging";

/// The longest pending file or record, in bytes: one holds a plugin's registry entry and findings.
pub(super) const RECORD_LIMIT: u64 = 16 << 20;

/// What is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A plugin goes into the quarantine.
    Remove,
    /// A plugin comes back from it.
    Restore,
}

/// A change that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// What is under way.
    pub operation: Operation,
    /// The plugin it is about.
    pub plugin: Quarantined,
}

/// What [`PluginStore::settle`] did.
#[derive(Debug, Default)]
pub struct Settled {
    /// Changes that are finished now.
    pub finished: Vec<Unfinished>,
    /// The restores among them, with what became of the config entries.
    pub restored: Vec<Restoration>,
    /// Changes that could not be finished, or not wholly, by the name of what is pending, and why.
    pub failed: Vec<(String, PluginError)>,
}

/// A pending file's content.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) operation: Operation,
    pub(super) record: Record,
}

impl PluginStore {
    /// The changes that have begun and not ended. Reads only. While another process is at work, what it is
    /// doing right now may be among them. A pending file that is not acceptable is [`PluginStore::check`]'s
    /// to report.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>> {
        let ids = self.pending_ids()?;
        // One that is gone by now has ended.
        let pending = ids.iter().filter_map(|id| self.read_pending(id).ok()?);
        Ok(pending.map(|pending| pending.describe()).collect())
    }

    /// The pending files that are not acceptable: what they are called, and why.
    pub(super) fn bad_pending(&self) -> Result<Vec<(QuarantineId, PluginError)>> {
        let ids = self.pending_ids()?.into_iter();
        Ok(ids
            .filter_map(|id| self.read_pending(&id).err().map(|error| (id, error)))
            .collect())
    }

    /// Finishes what a killed process has begun and clears away what it left half-copied. Everything that
    /// changes this store does this first. One change that cannot be finished does not stop the others.
    pub fn settle(&self, guard: &LockGuard) -> Result<Settled> {
        let mut settled = Settled::default();
        if self.open_root()?.is_none() {
            return Ok(settled);
        }
        self.clear_staging(guard)?;
        for id in self.pending_ids()? {
            match self.finish(guard, &id) {
                Ok(None) => {}
                Ok(Some((finished, put_back))) => settled.add(finished, put_back),
                Err(error) => settled.failed.push((id.to_string(), error)),
            }
        }
        self.clear_pending(guard)?;
        for emptied in [QUARANTINE, GRANTS] {
            disk::remove_empty_dir(guard, self.root(), Path::new(emptied))?;
        }
        Ok(settled)
    }

    /// Settles the store if there is something to clear away that is no unfinished change. The lock of one
    /// that is in order is not even asked for.
    pub fn clear_leftovers(&self) -> Result<()> {
        if self.has_leftovers()? {
            self.settle(&self.lock()?)?;
        }
        Ok(())
    }

    /// Whether there are half-made copies and files, or directories that a process did not come to remove.
    /// While another process is at work, what it needs just then looks the same.
    fn has_leftovers(&self) -> Result<bool> {
        let is_empty = |directory| -> Result<bool> {
            let names = self.open_below(directory)?.map(|dir| dir.names());
            Ok(names.transpose()?.is_some_and(|names| names.is_empty()))
        };
        let nothing_pending = || -> Result<bool> {
            Ok(self.open_below(PENDING)?.is_some() && self.pending_ids()?.is_empty())
        };
        Ok(!self.strays()?.is_empty()
            || nothing_pending()?
            || is_empty(QUARANTINE)?
            || is_empty(GRANTS)?)
    }

    fn finish(
        &self,
        guard: &LockGuard,
        id: &QuarantineId,
    ) -> Result<Option<(Unfinished, Vec<PutBack>)>> {
        let Some(pending) = self.read_pending(id)? else {
            return Ok(None);
        };
        let ended = match pending.operation {
            Operation::Remove => {
                removal::carry_out(self, guard, &pending.record).map(|()| Vec::new())
            }
            Operation::Restore => removal::bring_back(self, guard, &pending.record),
        };
        match ended {
            Ok(put_back) => Ok(Some((pending.describe(), put_back))),
            // It has ended, without a change.
            Err(error @ PluginError::NameTaken { .. }) => Err(error),
            Err(error) => Err(removal::unfinished(&pending.record, error)),
        }
    }

    /// Decides a change: from here on it will be finished.
    pub(super) fn begin(&self, guard: &LockGuard, pending: &Pending) -> Result<()> {
        let id = &pending.record.about.id;
        let path = pending_file(id);
        let mut text = serde_json::to_string_pretty(pending).map_err(|error| {
            let path = self.root().join(&path);
            let why = error.to_string();
            PluginError::Record { path, why }
        })?;
        text.push('\n');
        let written = disk::create_dirs(guard, self.root(), Path::new(PENDING))
            .and_then(|()| disk::replace_below(guard, self.root(), &path, text.as_bytes()));
        if written.is_err() {
            // Not begun: the error says why, and an empty directory left behind does no harm.
            let _ = self.end(guard, id);
        }
        Ok(written?)
    }

    /// Records that a change has ended.
    pub(super) fn end(&self, guard: &LockGuard, id: &str) -> Result<()> {
        disk::remove_file(guard, self.root(), &pending_file(id))?;
        disk::remove_empty_dir(guard, self.root(), Path::new(PENDING))?;
        Ok(())
    }

    pub(super) fn is_pending(&self, id: &QuarantineId) -> Result<bool> {
        let Some(dir) = self.open_below(PENDING)? else {
            return Ok(false);
        };
        Ok(dir.kind(OsStr::new(&format!("{id}.json")))?.is_some())
    }

    /// What is pending, in the order of its names. A file that cannot be one is not this program's.
    fn pending_ids(&self) -> Result<Vec<QuarantineId>> {
        let Some(dir) = self.open_below(PENDING)? else {
            return Ok(Vec::new());
        };
        let id = |name: &OsStr| QuarantineId::parse(name.to_str()?.strip_suffix(".json")?).ok();
        Ok(dir.names()?.iter().filter_map(|name| id(name)).collect())
    }

    fn read_pending(&self, id: &QuarantineId) -> Result<Option<Pending>> {
        let file = format!("{id}.json");
        let Some(dir) = self.open_below(PENDING)? else {
            return Ok(None);
        };
        let Some(bytes) = dir.read(OsStr::new(&file), RECORD_LIMIT)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice::<Pending>(&bytes)
            .map_err(|error| error.to_string())
            .and_then(|pending| pending.record.check(id).map(|()| pending));
        parsed.map(Some).map_err(|why| PluginError::Record {
            path: dir.path().join(file),
            why,
        })
    }

    /// Removes what a process left that was killed before it had begun a change.
    fn clear_pending(&self, guard: &LockGuard) -> Result<()> {
        if self.open_below(PENDING)?.is_some() {
            disk::sweep(guard, &self.root().join(PENDING))?;
            disk::remove_empty_dir(guard, self.root(), Path::new(PENDING))?;
        }
        Ok(())
    }

    /// Whatever is in there under the lock is of a process that is no more, or is being purged.
    pub(super) fn clear_staging(&self, guard: &LockGuard) -> Result<()> {
        self.record_purges(guard)?;
        if self.open_below("plugins")?.is_some() {
            disk::sweep(guard, &self.root().join("plugins"))?;
        }
        disk::remove_tree(guard, self.root(), Path::new(STAGING))?;
        Ok(())
    }
}

impl Settled {
    fn add(&mut self, finished: Unfinished, put_back: Vec<PutBack>) {
        let left_out = put_back
            .iter()
            .filter_map(|it| grants::left_out(&finished.plugin, it));
        let id = &finished.plugin.id;
        self.failed
            .extend(left_out.map(|error| (id.clone(), error)));
        if finished.operation == Operation::Restore {
            self.restored.push(Restoration {
                plugin: finished.plugin.clone(),
                grants: put_back,
            });
        }
        self.finished.push(finished);
    }

    /// The removal of this plugin that was finished, if it was.
    pub(super) fn removed(self, wanted: &str) -> Option<Quarantined> {
        let mut finished = self.finished.into_iter();
        finished
            .find(|done| done.operation == Operation::Remove && is_meant(&done.plugin, wanted))
            .map(|done| done.plugin)
    }

    /// The restore of this plugin that was finished, if it was.
    pub(super) fn restored(self, wanted: &str) -> Option<Restoration> {
        let mut restored = self.restored.into_iter();
        restored.find(|done| is_meant(&done.plugin, wanted))
    }

    /// The error of a change of this plugin that has begun and could not be finished: no other may begin.
    pub(super) fn check(&mut self, name: &str) -> Result<()> {
        let is_of_it = |(_, error): &(String, PluginError)| matches!(error, PluginError::Unfinished { name: of, .. } if of.eq_ignore_ascii_case(name));
        match self.failed.iter().position(is_of_it) {
            Some(at) => Err(self.failed.swap_remove(at).1),
            None => Ok(()),
        }
    }
}

impl Pending {
    fn describe(&self) -> Unfinished {
        Unfinished {
            operation: self.operation,
            plugin: self.record.about.clone(),
        }
    }
}

fn is_meant(plugin: &Quarantined, id_or_name: &str) -> bool {
    plugin.name == id_or_name || plugin.id == id_or_name
}

fn pending_file(id: &str) -> PathBuf {
    Path::new(PENDING).join(format!("{id}.json"))
}
