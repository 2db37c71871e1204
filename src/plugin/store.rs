//! A store: its place, its lock, and what can be read of it.

use super::document::Registry;
use super::grants::{self, Grant};
use super::installed::InstalledPlugin;
use super::location::{self, LocationFault};
use super::name::QuarantineId;
use super::package::{Digest, Survey, survey};
use super::{PluginError, Result, lossy_path, parse_name};
use crate::disk::{self, Dir, DiskError, LockGuard};
use crate::roots::{Roots, Scope};
use crate::scan::{Grade, Scanner};
use crate::tools::{RetiredTool, retired_tool};
use crate::walk::{PackageScan, Role, scan_package};
use crate::words::in_one_line;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a store that changes while it is looked at is looked at, before what was seen is said as it is.
const LOOKS: usize = 4;

/// The plugins below one root. Holds no state of its own: every call reads what is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginStore {
    root: PathBuf,
    scope: Scope,
    /// The other stores that the same configs govern.
    neighbours: Vec<(Scope, PathBuf)>,
}

/// A plugin and what the scanner says of its package.
#[derive(Debug, Clone, Serialize)]
pub struct ScannedPlugin {
    /// The store it is installed in.
    pub scope: Scope,
    /// The plugin.
    pub plugin: InstalledPlugin,
    /// Why its package could not be looked at; the scan is empty then.
    pub fault: Option<LocationFault>,
    /// Where its package is, provided it is inside the store.
    #[serde(skip)]
    pub package: Option<PathBuf>,
    /// What is in its package.
    pub scan: PackageScan,
}

/// A plugin seen closely.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// The plugin and its scan.
    #[serde(flatten)]
    pub scanned: ScannedPlugin,
    /// Where its package is.
    #[serde(serialize_with = "lossy_if_any")]
    pub package: Option<PathBuf>,
    /// The files of the package, relative to it.
    pub files: Vec<PathBuf>,
    /// The digest of the package as it is now; `None` if it is not an acceptable one.
    pub digest: Option<Digest>,
    /// What is wrong with the package, in words.
    pub problem: Option<String>,
}

impl ScannedPlugin {
    /// The retired tools that it tells the model to call, in the order of their names.
    pub fn retired_tools(&self) -> Vec<&'static RetiredTool> {
        let skills = self
            .scan
            .files
            .iter()
            .filter(|file| file.role == Role::Skill);
        let names: BTreeSet<&str> = skills
            .flat_map(|file| &file.findings)
            .filter(|finding| finding.grade == Grade::Instructs)
            .map(|finding| finding.name.as_str())
            .collect();
        names.into_iter().filter_map(retired_tool).collect()
    }

    /// Whether something of its package was not there or not to be read.
    fn is_incomplete(&self) -> bool {
        self.fault.is_some() || self.unreadable().is_some()
    }

    /// The error for a package that the system did not let be read, as a whole or in part: it may tell the
    /// model anything.
    pub fn unreadable(&self) -> Option<PluginError> {
        match &self.fault {
            Some(LocationFault::Unreadable(why)) => Some(PluginError::Unreadable {
                name: self.plugin.name.clone(),
                why: why.clone(),
            }),
            _ => super::install::refuse_unread(&self.plugin.name, &self.scan).err(),
        }
    }
}

impl PluginStore {
    /// The store below a root, which need not exist. Configs that govern several stores are known only
    /// to [`PluginStore::open_all`].
    pub fn open(root: &Path, scope: Scope) -> PluginStore {
        PluginStore {
            root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()),
            scope,
            neighbours: Vec::new(),
        }
    }

    /// The stores of all roots, the shared one first, each knowing of the others.
    pub fn open_all(roots: &Roots) -> Vec<PluginStore> {
        let mut stores: Vec<_> = roots
            .iter()
            .map(|(scope, root)| PluginStore::open(root, scope))
            .collect();
        let places: Vec<_> = stores
            .iter()
            .map(|store| (store.scope, store.root.clone()))
            .collect();
        for store in &mut stores {
            let others = places.iter().filter(|(scope, _)| *scope != store.scope);
            store.neighbours = others.cloned().collect();
        }
        stores
    }

    /// The root it lies below.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whose plugins it has.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The config entries that would go with a plugin of this store. Reads only.
    pub fn grants(&self, name: &str) -> Result<Vec<Grant>> {
        grants::plan(self, name, &[])
    }

    /// Takes the lock that changes to this store need: of its own root, which is created if it is missing,
    /// and of those other roots that exist, because their configs may name its plugins. One that can't be
    /// locked stops only what would change it.
    pub fn lock(&self) -> Result<LockGuard> {
        let roots: Vec<_> = self
            .governed_roots()
            .map(|(_, root)| root)
            .filter(|root| *root == self.root || root.is_dir())
            .collect();
        match lock_what_can_be(&roots)? {
            guard if guard.covers(&self.root) => Ok(guard),
            _ => Ok(disk::lock(&self.root)?),
        }
    }

    /// Its own root, and those of the stores that the same configs govern.
    pub(super) fn governed_roots(&self) -> impl Iterator<Item = (Scope, &Path)> {
        let others = self.neighbours.iter();
        let others = others.map(|(scope, root)| (*scope, root.as_path()));
        std::iter::once((self.scope, self.root.as_path())).chain(others)
    }

    /// Every installed plugin, by name.
    pub fn list(&self) -> Result<Vec<InstalledPlugin>> {
        self.load()?.installed()
    }

    /// One plugin's entry.
    pub fn get(&self, name: &str) -> Result<InstalledPlugin> {
        self.installed(&self.load()?, name)
    }

    /// Whether a plugin of this name is installed.
    pub fn has(&self, name: &str) -> Result<bool> {
        Ok(self.load()?.entry(name).is_some())
    }

    /// Every installed plugin with what the scanner says of its package, by name. Reads only.
    pub fn scan(&self) -> Result<Vec<ScannedPlugin>> {
        self.scan_with(|_, package| scan_package(package, Scanner::shipped()))
    }

    /// As [`PluginStore::scan`], for a caller that remembers what a scan of a package said: `scan` gets each
    /// plugin and its package directory, from several threads.
    pub fn scan_with(
        &self,
        scan: impl Fn(&InstalledPlugin, &Path) -> PackageScan + Sync,
    ) -> Result<Vec<ScannedPlugin>> {
        self.look_steadily(
            |plugins| self.scan_once(plugins, &scan),
            |scanned| scanned.iter().any(ScannedPlugin::is_incomplete),
        )
    }

    /// Looks at what the registry names, without a lock. Where something `is_missing` it may just have been
    /// taken away or replaced: then, if the registry says so, it is looked at anew.
    pub(super) fn look_steadily<T>(
        &self,
        look: impl Fn(&[InstalledPlugin]) -> Result<T>,
        is_missing: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let mut plugins = self.list()?;
        for _ in 1..LOOKS {
            let seen = look(&plugins)?;
            if !is_missing(&seen) {
                return Ok(seen);
            }
            let now = self.list()?;
            if now == plugins {
                return Ok(seen);
            }
            plugins = now;
        }
        look(&plugins)
    }

    /// The plugins that tell the model to call a retired tool, with what was found, by name. Reads only. Of a
    /// plugin that can't be read nobody knows: those are among [`PluginStore::scan`]'s, each with its
    /// [`ScannedPlugin::unreadable`].
    pub fn retired_plugins(&self) -> Result<Vec<ScannedPlugin>> {
        let mut scanned = self.scan()?;
        scanned.retain(|plugin| plugin.scan.is_retired());
        Ok(scanned)
    }

    fn scan_once(
        &self,
        plugins: &[InstalledPlugin],
        scan: &(impl Fn(&InstalledPlugin, &Path) -> PackageScan + Sync),
    ) -> Result<Vec<ScannedPlugin>> {
        let root = self.open_root()?;
        Ok(plugins
            .par_iter()
            .map(|plugin| self.scan_one(root.as_ref(), plugin, scan))
            .collect())
    }

    fn scan_one(
        &self,
        root: Option<&Dir>,
        plugin: &InstalledPlugin,
        scan: impl Fn(&InstalledPlugin, &Path) -> PackageScan,
    ) -> ScannedPlugin {
        let located = self.locate_in(root, &plugin.package_path);
        let package = located.as_ref().ok().map(|dir| dir.path().to_owned());
        let (fault, scan) = match located {
            Ok(dir) => (None, scan(plugin, dir.path())),
            Err(fault) => (Some(fault), PackageScan::default()),
        };
        ScannedPlugin {
            scope: self.scope,
            plugin: plugin.clone(),
            fault,
            package,
            scan,
        }
    }

    /// One plugin: its entry, its scan, its files and their digest. Reads only.
    pub fn inspect(&self, name: &str) -> Result<Inspection> {
        let plugin = self.installed(&self.load()?, name)?;
        let root = self.open_root()?;
        let scanned = self.scan_one(root.as_ref(), &plugin, |_, package| {
            scan_package(package, Scanner::shipped())
        });
        let located = self.locate_in(root.as_ref(), &plugin.package_path);
        let (package, surveyed) = match located {
            Ok(dir) => (Some(dir.path().to_owned()), survey(dir)),
            Err(fault) => (None, Err(location_error(&plugin, fault))),
        };
        let (files, digest, problem) = match surveyed {
            Ok(survey) => {
                let problem = differs(&plugin, &survey.digest);
                (survey.files, Some(survey.digest), problem)
            }
            Err(error) => (Vec::new(), None, Some(error)),
        };
        Ok(Inspection {
            scanned,
            package,
            files,
            digest,
            problem: problem.map(|error| first_line(&error)),
        })
    }

    /// Lets the model be offered a plugin, provided its package is what was installed and, unless that is
    /// allowed, tells it to call no retired tool. Says whether anything changed.
    pub fn enable(&self, guard: &LockGuard, name: &str, allow_retired: bool) -> Result<bool> {
        let plugin = self.check_enable(name, allow_retired)?;
        self.switch(guard, &plugin, true)
    }

    /// All that [`PluginStore::enable`] refuses, without a change.
    pub fn check_enable(&self, name: &str, allow_retired: bool) -> Result<InstalledPlugin> {
        let plugin = self.installed(&self.load()?, name)?;
        let package = self.survey_intact(&plugin)?;
        if !allow_retired {
            let scan = scan_package(package.dir.path(), Scanner::shipped());
            super::install::refuse_unread(name, &scan)?;
            super::install::refuse_retired(name, package.dir.path(), &scan)?;
        }
        Ok(plugin)
    }

    /// The error for a plugin whose package is not what was installed.
    pub fn check_intact(&self, plugin: &InstalledPlugin) -> Result<()> {
        self.survey_intact(plugin).map(drop)
    }

    fn survey_intact(&self, plugin: &InstalledPlugin) -> Result<Survey> {
        let dir = self
            .locate(plugin)
            .map_err(|fault| location_error(plugin, fault))?;
        let package = survey(dir)?;
        match differs(plugin, &package.digest) {
            Some(error) => Err(error),
            None => Ok(package),
        }
    }

    /// Keeps a plugin from the model. Says whether anything changed.
    pub fn disable(&self, guard: &LockGuard, name: &str) -> Result<bool> {
        let plugin = self.installed(&self.load()?, name)?;
        self.switch(guard, &plugin, false)
    }

    fn switch(&self, guard: &LockGuard, plugin: &InstalledPlugin, enabled: bool) -> Result<bool> {
        self.settle(guard)?;
        let mut registry = self.load()?;
        if self.installed(&registry, &plugin.name)?.enabled == enabled {
            return Ok(false);
        }
        registry.set_field(&plugin.name, "enabled", &enabled)?;
        registry.record(&SwitchEvent {
            at_unix: super::now_unix(),
            action: if enabled { "enabled" } else { "disabled" },
            plugin: &plugin.name,
            version: &plugin.version,
        })?;
        registry.save(guard)?;
        Ok(true)
    }

    /// Whether another store that the same configs govern has a plugin of this name, or may have it.
    /// The stores in `gone` are taken to have none.
    pub(super) fn neighbour_has(&self, name: &str, gone: &[Scope]) -> Result<bool> {
        for (scope, root) in &self.neighbours {
            if !gone.contains(scope) && PluginStore::open(root, *scope).may_have(name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this store has a plugin of this name. One in a shape that tells nothing, or that is not this
    /// user's to read, may have it; where the disk fails, another try may tell.
    pub(super) fn may_have(&self, name: &str) -> Result<bool> {
        match self.has(name) {
            Err(PluginError::Disk(error)) if error.io_kind().is_some_and(is_passing) => {
                Err(error.into())
            }
            told => Ok(told.unwrap_or(true)),
        }
    }

    pub(super) fn load(&self) -> Result<Registry> {
        Registry::load(&self.root)
    }

    pub(super) fn installed(&self, registry: &Registry, name: &str) -> Result<InstalledPlugin> {
        match registry.plugin(name)? {
            Some(plugin) => Ok(plugin),
            None => Err(self.not_installed(name)),
        }
    }

    pub(super) fn not_installed(&self, name: &str) -> PluginError {
        // Only a hint: a quarantine that cannot be read has nothing to offer here.
        let newest = self.newest_of(name).ok().flatten();
        let error = |restorable: Option<QuarantineId>| PluginError::NotInstalled {
            name: name.to_owned(),
            scope: self.scope,
            restorable,
        };
        match parse_name(name) {
            Ok(_) => error(newest),
            Err(bad_name) => bad_name,
        }
    }

    pub(super) fn open_root(&self) -> Result<Option<Dir>> {
        Ok(Dir::open(&self.root)?)
    }

    /// Opens a directory of the store; `None` if there is none. No link is followed on the way.
    pub(super) fn open_below(&self, relative: &str) -> Result<Option<Dir>> {
        match self.open_root()? {
            Some(root) => Ok(root.descend(Path::new(relative))?),
            None => Ok(None),
        }
    }

    pub(super) fn locate_in(
        &self,
        root: Option<&Dir>,
        recorded: &str,
    ) -> std::result::Result<Dir, LocationFault> {
        let place = location::name_place(&self.root, recorded)?;
        location::open(root.ok_or(LocationFault::Missing)?, &place)
    }

    /// Where a plugin's package is, provided it is inside this store.
    pub(super) fn locate(
        &self,
        plugin: &InstalledPlugin,
    ) -> std::result::Result<Dir, LocationFault> {
        let unreadable = |error| LocationFault::Unreadable(in_one_line(&error));
        let root = self.open_root().map_err(unreadable)?;
        self.locate_in(root.as_ref(), &plugin.package_path)
    }
}

/// Locks several roots as one, but for those that can't be locked, whatever stands in the lock's place there.
/// Another process's lock is waited for. An error if none can be locked.
pub(super) fn lock_what_can_be(roots: &[&Path]) -> Result<LockGuard> {
    let error = match disk::lock_all(roots) {
        Err(error) if !is_held(&error) && roots.len() > 1 => error,
        locked => return Ok(locked?),
    };
    let can_be = |root: &&Path| match disk::lock_within(&[root], Duration::ZERO) {
        Ok(_) => true,
        Err(error) => is_held(&error),
    };
    let roots: Vec<_> = roots.iter().copied().filter(can_be).collect();
    match roots.is_empty() {
        true => Err(error.into()),
        false => Ok(disk::lock_all(&roots)?),
    }
}

fn is_held(error: &DiskError) -> bool {
    matches!(error, DiskError::LockTimeout { .. })
}

fn lossy_if_any<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match path {
        Some(path) => lossy_path(path, serializer),
        None => serializer.serialize_none(),
    }
}

#[derive(Serialize)]
struct SwitchEvent<'a> {
    at_unix: u64,
    action: &'static str,
    plugin: &'a str,
    version: &'a str,
}

pub(super) fn location_error(plugin: &InstalledPlugin, fault: LocationFault) -> PluginError {
    let name = plugin.name.clone();
    match fault {
        LocationFault::Unreadable(why) => PluginError::Unreadable { name, why },
        fault => PluginError::Location {
            name,
            path: plugin.package_path.clone(),
            fault,
        },
    }
}

fn differs(plugin: &InstalledPlugin, found: &Digest) -> Option<PluginError> {
    (plugin.digest != found.as_str()).then(|| PluginError::Digest {
        name: plugin.name.clone(),
        recorded: plugin.digest.clone(),
        found: found.clone(),
    })
}

fn first_line(error: &PluginError) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Whether a reason to have read nothing may be gone another time.
fn is_passing(kind: ErrorKind) -> bool {
    kind != ErrorKind::PermissionDenied
}
