//! Taking a plugin away and bringing it back. Both are decided by one write and then carried out step by
//! step; each step does nothing where it was done before.

use super::document::{REGISTRY, Registry};
use super::grants::{self, PutBack};
use super::install::refuse_unread;
use super::installed::InstalledPlugin;
use super::location::{self, LocationFault, PACKAGES};
use super::pending::{Operation, Pending};
use super::quarantine::QUARANTINE;
use super::raw::list_to_raw;
use super::record::{
    Moved, Quarantined, Record, RecordedFinding, RegistryPart, RemovalReason, findings,
};
use super::store::location_error;
use super::{PluginError, PluginName, PluginStore, Result, now_unix, parse_name};
use crate::disk::{self, Dir, DiskError, Kind, LockGuard};
use crate::roots::Scope;
use crate::scan::Scanner;
use crate::walk::scan_package;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What becomes of a removed plugin's packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packages {
    /// They go into the quarantine with it.
    Move,
    /// They stay where they are: for an entry whose path is refused.
    Leave,
}

/// A plugin that is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restoration {
    /// What was in quarantine.
    pub plugin: Quarantined,
    /// What became of its config entries.
    pub grants: Vec<PutBack>,
}

/// A registry that was read once, for one removal or for many.
pub(super) struct Inventory {
    registry: Registry,
    /// What is claimed, by the step below `packages/`: places overlap only where they share it.
    claims: BTreeMap<OsString, Vec<Claim>>,
}

/// A place inside `packages/` that belongs to a plugin.
struct Claim {
    plugin: String,
    place: PathBuf,
}

impl PluginStore {
    /// What [`PluginStore::remove`] would do, or why it would refuse. Reads only.
    pub fn plan_removal(
        &self,
        name: &str,
        reason: RemovalReason,
        packages: Packages,
    ) -> Result<Quarantined> {
        self.plan_removal_among(&self.inventory()?, name, reason, packages, &[])
    }

    /// As [`PluginStore::plan_removal`], of one plugin among others. The stores in `gone` are taken to have
    /// no plugin of that name any more.
    pub(super) fn plan_removal_among(
        &self,
        inventory: &Inventory,
        name: &str,
        reason: RemovalReason,
        packages: Packages,
        gone: &[Scope],
    ) -> Result<Quarantined> {
        self.draft(inventory, name, reason, packages, gone)
            .map(|record| record.about)
    }

    /// Takes a plugin away: its entry, its packages, and its entries in the configs that govern this store,
    /// unless another such store has a plugin of that name. All of it goes into the quarantine. A removal
    /// that a killed process has begun is finished first, and counts if it was this one.
    pub fn remove(
        &self,
        guard: &LockGuard,
        name: &str,
        reason: RemovalReason,
        packages: Packages,
    ) -> Result<Quarantined> {
        let mut settled = self.settle(guard)?;
        settled.check(name)?;
        if let Some(done) = settled.removed(name)
            && !self.has(name)?
        {
            return Ok(done);
        }
        let record = self.begin_removal(guard, &self.inventory()?, name, reason, packages)?;
        let done = carry_out(self, guard, &record);
        self.end_removal(guard, record, done)
    }

    /// Takes several plugins away as [`PluginStore::remove`] takes one, each wholly or not at all, and reads
    /// and writes the registry once for all of them. Says of each in turn how it went.
    pub(super) fn remove_all(
        &self,
        guard: &LockGuard,
        names: &[&str],
        reason: RemovalReason,
    ) -> Vec<Result<Quarantined>> {
        let looked = self
            .settle(guard)
            .and_then(|settled| Ok((settled, self.inventory()?)));
        let Ok((mut settled, mut inventory)) = looked else {
            // The same fault meets each of them.
            let remove = |name: &&str| self.remove(guard, name, reason, Packages::Move);
            return names.iter().map(remove).collect();
        };
        let mut begin = |name: &&str| {
            settled.check(name)?;
            let record = self.begin_removal(guard, &inventory, name, reason, Packages::Move)?;
            // As each would find it if they went one after the other.
            inventory.registry.plugins.remove(name);
            inventory.registry.versions.remove(name);
            Ok(record)
        };
        let begun: Vec<Result<Record>> = names.iter().map(&mut begin).collect();
        let records: Vec<&Record> = begun.iter().flatten().collect();
        let mut fault = take_out(self, guard, &records).err();
        let are_out = fault.is_none();
        let mut end = |record: Record| {
            let done = match fault.take() {
                None if are_out => take_away(self, guard, &record),
                // One of them is told; the others may go by themselves.
                Some(error) => Err(error),
                None => carry_out(self, guard, &record),
            };
            self.end_removal(guard, record, done)
        };
        begun.into_iter().map(|record| end(record?)).collect()
    }

    fn begin_removal(
        &self,
        guard: &LockGuard,
        inventory: &Inventory,
        name: &str,
        reason: RemovalReason,
        packages: Packages,
    ) -> Result<Record> {
        let record = self.draft(inventory, name, reason, packages, &[])?;
        grants::check_reach(self, guard, &record.about)?;
        let pending = Pending {
            operation: Operation::Remove,
            record,
        };
        self.begin(guard, &pending)?;
        Ok(pending.record)
    }

    fn end_removal(
        &self,
        guard: &LockGuard,
        record: Record,
        done: Result<()>,
    ) -> Result<Quarantined> {
        match done {
            Ok(()) => Ok(record.about),
            Err(error) => Err(self.give_up_or_leave(guard, &record, error)),
        }
    }

    /// What [`PluginStore::restore`] would bring back, or why it would refuse. Reads only.
    pub fn plan_restore(&self, id_or_name: &str) -> Result<Restoration> {
        let record = self.find_record(id_or_name)?;
        self.check_free(&record)?;
        let grants = grants::plan_put_back(self, &record.about)?;
        let plugin = record.about;
        Ok(Restoration { plugin, grants })
    }

    /// Brings a plugin back from the quarantine, by its id or, the newest one, by its name: packages,
    /// registry entry and config entries.
    pub fn restore(&self, guard: &LockGuard, id_or_name: &str) -> Result<Restoration> {
        let mut settled = self.settle(guard)?;
        settled.check(id_or_name)?;
        if let Some(done) = settled.restored(id_or_name) {
            return Ok(done);
        }
        let record = self.find_record(id_or_name)?;
        self.check_free(&record)?;
        grants::plan_put_back(self, &record.about)?;
        grants::check_reach(self, guard, &record.about)?;
        let pending = Pending {
            operation: Operation::Restore,
            record,
        };
        self.begin(guard, &pending)?;
        let grants = bring_back(self, guard, &pending.record)
            .map_err(|error| unfinished(&pending.record, error))?;
        let plugin = pending.record.about;
        Ok(Restoration { plugin, grants })
    }

    /// All that a removal is going to do.
    fn draft(
        &self,
        inventory: &Inventory,
        name: &str,
        reason: RemovalReason,
        packages: Packages,
        gone: &[Scope],
    ) -> Result<Record> {
        let registry = &inventory.registry;
        let Some(part) = RegistryPart::of(name, &registry.plugins, &registry.versions) else {
            return Err(self.not_installed(name));
        };
        let (plugin, moved) = match packages {
            Packages::Move => {
                let plugin = self.installed(registry, name)?;
                let moved = self.generations(inventory, &plugin)?;
                (plugin, moved)
            }
            // The entry may be anything; it is kept as it is.
            Packages::Leave => (
                InstalledPlugin::read(name, &part.entry).unwrap_or_else(|_| nameless(name)),
                Vec::new(),
            ),
        };
        let removed_at_unix = now_unix();
        let about = Quarantined {
            id: self.free_id(name, removed_at_unix)?.to_string(),
            name: plugin.name.clone(),
            version: plugin.version.clone(),
            digest: plugin.digest.clone(),
            scope: self.scope(),
            enabled: plugin.enabled,
            removed_at_unix,
            reason,
            findings: self.findings(&plugin, reason)?,
            grants: grants::plan(self, name, gone)?,
        };
        Ok(Record::new(about, part, moved))
    }

    /// What the package tells the model of retired tools. A package that can't be read can be taken away
    /// all the same, but not for what is in it.
    fn findings(
        &self,
        plugin: &InstalledPlugin,
        reason: RemovalReason,
    ) -> Result<Vec<RecordedFinding>> {
        let for_content = reason == RemovalReason::Retired;
        match self.locate(plugin) {
            Ok(dir) => {
                let scan = scan_package(dir.path(), Scanner::shipped());
                if for_content {
                    refuse_unread(&plugin.name, &scan)?;
                }
                Ok(findings(&scan))
            }
            Err(fault) if for_content => Err(location_error(plugin, fault)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The directories that hold a plugin's generations and nothing of another plugin's: its own below
    /// `packages/`, and what its entries name elsewhere in there.
    fn generations(&self, inventory: &Inventory, plugin: &InstalledPlugin) -> Result<Vec<Moved>> {
        let name = parse_name(&plugin.name)?;
        let own = Path::new(PACKAGES).join(name.as_str());
        let mut places = Vec::new();
        let Some(root) = self.open_root()? else {
            return Ok(Vec::new());
        };
        if self.has_own_directory(&root, &name)? {
            places.push(own.clone());
        }
        for recorded in recorded_paths(&inventory.registry, plugin) {
            let refused = |fault| location_error(&at_path(plugin, &recorded), fault);
            let place = location::name_place(self.root(), &recorded).map_err(refused)?;
            match location::open(&root, &place) {
                Err(LocationFault::Missing) => {}
                Err(fault) => return Err(refused(fault)),
                Ok(_) if places.iter().any(|known| place.starts_with(known)) => {}
                Ok(_) => places.push(place),
            }
        }
        self.check_unshared(inventory, plugin, &places)?;
        let moved = places.into_iter().enumerate();
        Ok(moved
            .map(|(at, from)| Moved {
                from,
                to: format!("package-{at}"),
            })
            .collect())
    }

    fn has_own_directory(&self, root: &Dir, name: &PluginName) -> Result<bool> {
        let Some(packages) = root.descend(Path::new(PACKAGES))? else {
            return Ok(false);
        };
        match packages.kind(OsStr::new(name.as_str()))? {
            None => Ok(false),
            Some(Kind::Directory) => Ok(true),
            Some(_) => Err(DiskError::NotADirectory {
                path: packages.path().join(name.as_str()),
            }
            .into()),
        }
    }

    /// The registry as it is now, with what each plugin claims.
    pub(super) fn inventory(&self) -> Result<Inventory> {
        let registry = self.load()?;
        let mut claims: BTreeMap<OsString, Vec<Claim>> = BTreeMap::new();
        for (name, entry) in registry.plugins.iter() {
            // What is no name is no directory's either.
            let own = PluginName::parse(name).ok();
            let own = own.map(|name| Path::new(PACKAGES).join(name.as_str()));
            // An entry that does not read as a plugin claims no more than its name does.
            let recorded = InstalledPlugin::read(name, entry)
                .ok()
                .and_then(|plugin| location::name_place(self.root(), &plugin.package_path).ok());
            for place in own.into_iter().chain(recorded) {
                claims.entry(step(&place)).or_default().push(Claim {
                    plugin: name.to_owned(),
                    place,
                });
            }
        }
        Ok(Inventory { registry, claims })
    }

    /// Refuses to move what another plugin's entry lays claim to.
    fn check_unshared(
        &self,
        inventory: &Inventory,
        plugin: &InstalledPlugin,
        places: &[PathBuf],
    ) -> Result<()> {
        for path in places {
            let claims = inventory.claims.get(&step(path));
            let overlaps = |claim: &&Claim| {
                let Claim {
                    plugin: other,
                    place,
                } = claim;
                let is_shared = path.starts_with(place) || place.starts_with(path);
                is_shared && *other != plugin.name
            };
            if let Some(claim) = claims.into_iter().flatten().find(overlaps) {
                return Err(PluginError::SharedPackage {
                    name: plugin.name.clone(),
                    other: claim.plugin.clone(),
                    path: self.root().join(path),
                });
            }
        }
        Ok(())
    }

    /// Refuses to restore into a place that is taken.
    fn check_free(&self, record: &Record) -> Result<()> {
        let about = &record.about;
        let name = parse_name(&about.name)?;
        let registry = self.load()?;
        if let Some(installed) = registry.same_name(name.as_str()) {
            return Err(name_taken(record, installed));
        }
        versions(self, record, &registry)?;
        let Some(root) = self.open_root()? else {
            return Ok(());
        };
        for moved in &record.packages {
            // A step that is missing leaves the place free; one that is a link is refused here already.
            if root.descend(&moved.from)?.is_some() {
                let path = self.root().join(&moved.from);
                return Err(DiskError::Exists { path }.into());
            }
        }
        Ok(())
    }

    /// After a failed removal: takes it back if the registry does not know of it yet, so that nothing has
    /// changed. Otherwise it stays pending and is finished later.
    fn give_up_or_leave(
        &self,
        guard: &LockGuard,
        record: &Record,
        error: PluginError,
    ) -> PluginError {
        let id = &record.about.id;
        let untouched = self
            .load()
            .is_ok_and(|registry| Entry::of(record, &registry) == Entry::Same);
        let given_up = untouched
            && self.end(guard, id).is_ok()
            && disk::remove_tree(guard, self.root(), &Path::new(QUARANTINE).join(id)).is_ok();
        if given_up {
            let quarantine = Path::new(QUARANTINE);
            // Left empty by this removal alone; it does no harm there.
            let _ = disk::remove_empty_dir(guard, self.root(), quarantine);
            error
        } else {
            unfinished(record, error)
        }
    }
}

/// Removes as the record says, from wherever an earlier attempt ended.
pub(super) fn carry_out(store: &PluginStore, guard: &LockGuard, record: &Record) -> Result<()> {
    match Entry::of(record, &store.load()?) {
        // What is there is not what was to be removed, and needs its packages and its config entries.
        Entry::Another => return store.end(guard, &record.about.id),
        Entry::Gone => store.write_record(guard, record)?,
        Entry::Same => take_out(store, guard, &[record])?,
    }
    take_away(store, guard, record)
}

/// The first steps of removals, as one: the records, and the registry without the plugins.
fn take_out(store: &PluginStore, guard: &LockGuard, records: &[&Record]) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let mut registry = store.load()?;
    for record in records {
        store.write_record(guard, record)?;
        registry.plugins.remove(&record.about.name);
        registry.versions.remove(&record.about.name);
        registry.record(&Event::new("removed", &record.about))?;
    }
    registry.save(guard)
}

/// The steps after that.
fn take_away(store: &PluginStore, guard: &LockGuard, record: &Record) -> Result<()> {
    let entry = Path::new(QUARANTINE).join(&record.about.id);
    for moved in &record.packages {
        if is_there(store, &moved.from)? {
            disk::move_dir(guard, store.root(), &moved.from, &entry.join(&moved.to))?;
        }
    }
    grants::prune(store, guard, &record.about)?;
    store.end(guard, &record.about.id)
}

/// Restores as the record says, from wherever an earlier attempt ended.
pub(super) fn bring_back(
    store: &PluginStore,
    guard: &LockGuard,
    record: &Record,
) -> Result<Vec<PutBack>> {
    let mut registry = store.load()?;
    let state = Entry::of(record, &registry);
    if state == Entry::Another {
        store.end(guard, &record.about.id)?;
        return Err(name_taken(record, &record.about.name));
    }
    let entry = Path::new(QUARANTINE).join(&record.about.id);
    for moved in &record.packages {
        let place = entry.join(&moved.to);
        if is_there(store, &place)? {
            disk::move_dir(guard, store.root(), &place, &moved.from)?;
        }
    }
    if state == Entry::Gone {
        let name = &record.about.name;
        let part = &record.registry;
        registry
            .plugins
            .insert(part.position, name, part.entry.clone());
        if let Some((position, versions)) = versions(store, record, &registry)? {
            registry.versions.insert(position, name, versions);
        }
        registry.record(&Event::new("restored", &record.about))?;
        registry.save(guard)?;
    }
    let put_back = grants::put_back(store, guard, &record.about)?;
    disk::remove_tree(guard, store.root(), &entry)?;
    disk::remove_empty_dir(guard, store.root(), Path::new(QUARANTINE))?;
    store.end(guard, &record.about.id)?;
    Ok(put_back)
}

/// What the audit list says of a removal or a restore.
#[derive(Serialize)]
struct Event<'a> {
    at_unix: u64,
    action: &'static str,
    plugin: &'a str,
    version: &'a str,
    digest: &'a str,
    reason: RemovalReason,
    quarantine: &'a str,
    findings: &'a [RecordedFinding],
}

impl<'a> Event<'a> {
    fn new(action: &'static str, about: &'a Quarantined) -> Event<'a> {
        Event {
            at_unix: now_unix(),
            action,
            plugin: &about.name,
            version: &about.version,
            digest: &about.digest,
            reason: about.reason,
            quarantine: &about.id,
            findings: &about.findings,
        }
    }
}

/// What the registry has under the name of the plugin that a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Gone,
    Same,
    /// It can only have been put there by another program since, and is not touched.
    Another,
}

impl Entry {
    fn of(record: &Record, registry: &Registry) -> Entry {
        match registry.entry(&record.about.name) {
            None => Entry::Gone,
            Some(entry) if entry.get() == record.registry.entry.get() => Entry::Same,
            Some(_) => Entry::Another,
        }
    }
}

/// What the registry is to say of a restored plugin's versions: what the record says and, behind it, what
/// another program has put there since.
fn versions(
    store: &PluginStore,
    record: &Record,
    registry: &Registry,
) -> Result<Option<(usize, Box<RawValue>)>> {
    let name = &record.about.name;
    let (Some((position, recorded)), Some(found)) =
        (&record.registry.versions, registry.versions.get(name))
    else {
        return Ok(record.registry.versions.clone());
    };
    let list = |raw: &RawValue| serde_json::from_str::<Vec<Box<RawValue>>>(raw.get()).ok();
    let merged = list(recorded)
        .zip(list(found))
        .and_then(|(mut all, found)| {
            let known: BTreeSet<String> = all.iter().map(|raw| raw.get().to_owned()).collect();
            all.extend(found.into_iter().filter(|raw| !known.contains(raw.get())));
            list_to_raw(&all, 2).ok()
        });
    match merged {
        Some(merged) => Ok(Some((*position, merged))),
        None => Err(PluginError::Record {
            path: store.root().join(REGISTRY),
            why: format!("it has versions of `{name}` that are no list"),
        }),
    }
}

fn name_taken(record: &Record, installed: &str) -> PluginError {
    PluginError::NameTaken {
        id: record.about.id.clone(),
        installed: installed.to_owned(),
    }
}

/// The step of a place that stands below `packages/`.
fn step(place: &Path) -> OsString {
    let mut steps = place.strip_prefix(PACKAGES).unwrap_or(place).iter();
    steps.next().unwrap_or_default().to_owned()
}

fn is_there(store: &PluginStore, place: &Path) -> Result<bool> {
    match store.open_root()? {
        Some(root) => Ok(root.descend(place)?.is_some()),
        None => Ok(false),
    }
}

pub(super) fn unfinished(record: &Record, error: PluginError) -> PluginError {
    PluginError::Unfinished {
        name: record.about.name.clone(),
        source: Box::new(error),
    }
}

/// The paths that the registry has for a plugin's generations: its entry's, and whatever its versions,
/// in whatever shape, call `package_path`.
fn recorded_paths(registry: &Registry, plugin: &InstalledPlugin) -> Vec<String> {
    let mut paths = vec![plugin.package_path.clone()];
    let versions = registry.versions.get(&plugin.name);
    if let Some(versions) = versions.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
        collect_paths(&versions, &mut paths);
    }
    paths.sort();
    paths.dedup();
    paths
}

/// The names in `packages/` that some recorded path begins with, or that an installed plugin has.
pub(super) fn recorded_places(store: &PluginStore, registry: &Registry) -> BTreeSet<PathBuf> {
    let mut paths = Vec::new();
    for (_, raw) in registry.plugins.iter().chain(registry.versions.iter()) {
        if let Ok(value) = serde_json::from_str(raw.get()) {
            collect_paths(&value, &mut paths);
        }
    }
    let recorded = paths.iter().filter_map(|path| {
        let place = location::name_place(store.root(), path).ok()?;
        let inside = place.strip_prefix(PACKAGES).ok()?;
        inside.iter().next().map(PathBuf::from)
    });
    let named = registry.plugins.keys().map(PathBuf::from);
    recorded.chain(named).collect()
}

fn collect_paths(value: &Value, paths: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, paths)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(path) if key == "package_path" => paths.push(path.clone()),
                    other => collect_paths(other, paths),
                }
            }
        }
        _ => {}
    }
}

fn at_path(plugin: &InstalledPlugin, path: &str) -> InstalledPlugin {
    InstalledPlugin {
        package_path: path.to_owned(),
        ..plugin.clone()
    }
}

/// Stands for an entry that does not read as a plugin.
fn nameless(name: &str) -> InstalledPlugin {
    InstalledPlugin {
        name: name.to_owned(),
        ..InstalledPlugin::default()
    }
}
