//! Installing a package: surveyed, scanned, copied aside, verified, and only then part of the store.
//!
//! A package of the same name is taken in three ways. The same content again changes nothing, but where the
//! package was gone it is put back. Another version needs [`InstallOptions::upgrade`]; the earlier generation
//! stays in `packages/` and in the registry's `versions`, and the new one is disabled until somebody enables
//! it, as any new content is but vak's own ([`InstallOptions::enabled`]). The same version with other content
//! is refused: a version that means two things names nothing.

use super::document::Registry;
use super::location::{self, LocationFault, PACKAGES};
use super::manifest::{self, Manifest};
use super::package::{Survey, refused, survey};
use super::pending::{STAGING, Settled};
use super::{Format, InstalledPlugin, PackageFault, PluginError, PluginStore, Result, now_unix};
use crate::disk::{self, Dir, LockGuard};
use crate::scan::{Grade, Scanner};
use crate::tools::retired_tool;
use crate::walk::{PackageScan, Role, Unscanned, scan_package};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What an installation may do beyond the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstallOptions {
    /// Take a package that tells the model to call a retired tool.
    pub allow_retired: bool,
    /// Let another version take the place of the installed one.
    pub upgrade: bool,
    /// What the registry says it was installed from, if not the package's path.
    pub source: Option<&'static str>,
    /// Have it enabled from the start: for a package that the caller vouches for.
    pub enabled: bool,
}

/// What an installation changed, or would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum InstallState {
    /// The plugin is new.
    Installed,
    /// It took another version's place.
    Upgraded {
        /// The version that was installed.
        from: String,
    },
    /// The same content was installed already; nothing changed.
    Unchanged,
    /// The same content was registered already, but its package was gone; it is there again.
    Mended,
}

/// An installation that was made, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct Installation {
    /// The plugin, as the registry has it.
    pub plugin: InstalledPlugin,
    /// What changed.
    #[serde(flatten)]
    pub state: InstallState,
    /// What the scanner says of the package.
    pub scan: PackageScan,
}

struct Candidate {
    package: Survey,
    manifest: Manifest,
    scan: PackageScan,
    source: String,
}

impl PluginStore {
    /// What [`PluginStore::install`] would do, or why it would refuse. Reads only.
    pub fn plan_install(&self, package: &Path, options: InstallOptions) -> Result<Installation> {
        let candidate = read_candidate(package, options)?;
        self.judge(&self.load()?, candidate, options)
            .map(|(installation, _)| installation)
    }

    /// Installs a package from a directory.
    pub fn install(
        &self,
        guard: &LockGuard,
        package: &Path,
        options: InstallOptions,
    ) -> Result<Installation> {
        let settled = self.settle(guard)?;
        self.install_from(guard, settled, package, options)
    }

    /// Installs a package that is in memory: its files by path relative to it.
    pub fn install_files(
        &self,
        guard: &LockGuard,
        files: &[(&Path, &[u8])],
        options: InstallOptions,
    ) -> Result<Installation> {
        let settled = self.settle(guard)?;
        let aside = Path::new(STAGING).join("files");
        let installed = self
            .write_aside(guard, files, &aside)
            .and_then(|()| self.install_from(guard, settled, &self.root().join(&aside), options));
        // The first error is the one to tell; what stays is cleared before the next change.
        let cleared = self.clear_staging(guard);
        installed.and_then(|installation| cleared.map(|()| installation))
    }

    fn install_from(
        &self,
        guard: &LockGuard,
        mut settled: Settled,
        package: &Path,
        options: InstallOptions,
    ) -> Result<Installation> {
        let candidate = read_candidate(package, options)?;
        settled.check(candidate.manifest.name.as_str())?;
        let registry = self.load()?;
        let (installation, candidate) = self.judge(&registry, candidate, options)?;
        match installation.state {
            InstallState::Unchanged => {}
            InstallState::Mended => self.take_in(guard, &candidate)?,
            InstallState::Installed | InstallState::Upgraded { .. } => {
                self.take_in(guard, &candidate)?;
                self.enter(guard, registry, &installation)?;
            }
        }
        Ok(installation)
    }

    /// Compares a package with what is installed, in the registry and on disk.
    fn judge(
        &self,
        registry: &Registry,
        candidate: Candidate,
        options: InstallOptions,
    ) -> Result<(Installation, Candidate)> {
        let Manifest { name, version, .. } = &candidate.manifest;
        let (name, version) = (name.as_str(), version.as_str());
        if let Some(installed) = registry.same_name(name).filter(|key| *key != name) {
            return Err(PluginError::SameName {
                name: name.to_owned(),
                installed: installed.to_owned(),
            });
        }
        let installed = registry.plugin(name)?;
        let state = match &installed {
            None => InstallState::Installed,
            Some(old) if old.version != version && options.upgrade => InstallState::Upgraded {
                from: old.version.clone(),
            },
            Some(old) if old.version != version => {
                return Err(PluginError::OtherVersion {
                    name: name.to_owned(),
                    installed: old.version.clone(),
                    offered: version.to_owned(),
                });
            }
            Some(old) if old.digest == candidate.package.digest.as_str() => {
                self.judge_same(old, &candidate)?
            }
            Some(_) => {
                return Err(PluginError::OtherContent {
                    name: name.to_owned(),
                    version: version.to_owned(),
                });
            }
        };
        if state != InstallState::Unchanged {
            self.is_taken_in(&candidate)?;
        }
        let plugin = match (&state, installed) {
            (InstallState::Unchanged | InstallState::Mended, Some(old)) => old,
            _ => self.entry_for(&candidate, options.enabled),
        };
        let scan = candidate.scan.clone();
        Ok((
            Installation {
                plugin,
                state,
                scan,
            },
            candidate,
        ))
    }

    /// What is to be done where this very content is registered: nothing, unless its package is gone.
    fn judge_same(
        &self,
        installed: &InstalledPlugin,
        candidate: &Candidate,
    ) -> Result<InstallState> {
        let place = location::name_place(self.root(), &installed.package_path);
        match self.check_intact(installed) {
            Ok(()) => Ok(InstallState::Unchanged),
            Err(PluginError::Location {
                fault: LocationFault::Missing,
                ..
            }) if place == Ok(generation(candidate)) => Ok(InstallState::Mended),
            Err(error) => Err(error),
        }
    }

    fn entry_for(&self, candidate: &Candidate, enabled: bool) -> InstalledPlugin {
        let Candidate {
            package, manifest, ..
        } = candidate;
        let installed_at_unix = now_unix();
        let digest = package.digest.as_str();
        InstalledPlugin {
            name: manifest.name.to_string(),
            version: manifest.version.to_string(),
            digest: digest.to_owned(),
            description: json!(manifest.description),
            license: json!(manifest.license),
            publisher: json!(manifest.publisher),
            format: json!(manifest.format),
            source: json!(candidate.source),
            trace_id: json!(format!("install-{installed_at_unix}-{}", &digest[..12])),
            package_path: self.recorded_path(candidate),
            scope: Some(self.scope()),
            enabled,
            installed_at_unix,
            capabilities: json!(manifest.capabilities),
            warnings: json!(warnings(candidate)),
        }
    }

    /// The path that the registry records for a package: absolute, as it always was; relative to the root
    /// where that is not UTF-8, and JSON has no way to say it.
    fn recorded_path(&self, candidate: &Candidate) -> String {
        let place = generation(candidate);
        match self.root().join(&place).to_str() {
            Some(path) => path.to_owned(),
            None => place.to_string_lossy().into_owned(),
        }
    }

    /// Copies the package to its place: aside first, and only a verified copy is moved there.
    fn take_in(&self, guard: &LockGuard, candidate: &Candidate) -> Result<()> {
        let place = generation(candidate);
        if self.is_taken_in(candidate)? {
            return Ok(());
        }
        let aside = Path::new(STAGING).join("package");
        let copied = self
            .copy_aside(guard, &candidate.package, &aside)
            .and_then(|()| Ok(disk::move_dir(guard, self.root(), &aside, &place)?));
        // The first error is the one to tell; what stays is cleared before the next change.
        let cleared = self.clear_staging(guard);
        copied.and(cleared)
    }

    /// Whether the package is in its place, as an installation leaves it that was killed before its end.
    fn is_taken_in(&self, candidate: &Candidate) -> Result<bool> {
        let root = self.open_root()?;
        let place = root.map(|root| root.descend(&generation(candidate)));
        let Some(dir) = place.transpose()?.flatten() else {
            return Ok(false);
        };
        let path = dir.path().to_owned();
        match survey(dir) {
            Ok(found) if found.digest == candidate.package.digest => Ok(true),
            Ok(_) | Err(PluginError::Package { .. }) => Err(PluginError::PlaceTaken { path }),
            Err(error) => Err(error),
        }
    }

    fn write_aside(&self, guard: &LockGuard, files: &[(&Path, &[u8])], aside: &Path) -> Result<()> {
        for (path, bytes) in files {
            let path = aside.join(path);
            if let Some(parent) = path.parent() {
                disk::create_dirs(guard, self.root(), parent)?;
            }
            disk::replace_below(guard, self.root(), &path, bytes)?;
        }
        Ok(())
    }

    fn copy_aside(&self, guard: &LockGuard, package: &Survey, aside: &Path) -> Result<()> {
        disk::copy_files(guard, &package.dir, &package.files, self.root(), aside)?;
        let copy = self
            .open_root()?
            .map(|root| root.descend(aside))
            .transpose()?
            .flatten();
        let after = match copy {
            Some(dir) => survey(dir)?.digest,
            // A package always has a manifest; without a copy of it there is none.
            None => return Err(refused(package.dir.path(), PackageFault::NoManifest)),
        };
        if after == package.digest {
            return Ok(());
        }
        let before = package.digest.clone();
        let fault = PackageFault::Changed { before, after };
        Err(refused(package.dir.path(), fault))
    }

    fn enter(
        &self,
        guard: &LockGuard,
        mut registry: Registry,
        installation: &Installation,
    ) -> Result<()> {
        let plugin = &installation.plugin;
        registry.set_entry(&plugin.name, plugin)?;
        registry.add_version(
            &plugin.name,
            &Generation {
                version: &plugin.version,
                digest: &plugin.digest,
                package_path: &plugin.package_path,
                installed_at_unix: plugin.installed_at_unix,
            },
        )?;
        registry.record(&InstallEvent {
            at_unix: plugin.installed_at_unix,
            action: match installation.state {
                InstallState::Upgraded { .. } => "upgraded",
                _ => "installed",
            },
            plugin: &plugin.name,
            version: &plugin.version,
            digest: &plugin.digest,
            trace_id: &plugin.trace_id,
        })?;
        registry.save(guard)
    }
}

/// An entry of a plugin's list of versions.
#[derive(Serialize)]
struct Generation<'a> {
    version: &'a str,
    digest: &'a str,
    package_path: &'a str,
    installed_at_unix: u64,
}

#[derive(Serialize)]
struct InstallEvent<'a> {
    at_unix: u64,
    action: &'static str,
    plugin: &'a str,
    version: &'a str,
    digest: &'a str,
    trace_id: &'a serde_json::Value,
}

fn read_candidate(path: &Path, options: InstallOptions) -> Result<Candidate> {
    let Some(dir) = Dir::open(path)? else {
        return Err(PluginError::NoPackage {
            path: path.to_owned(),
        });
    };
    let package = survey(dir)?;
    let manifest = manifest::read(&package)?;
    let scan = scan_package(path, Scanner::shipped());
    refuse_unread(manifest.name.as_str(), &scan)?;
    if !options.allow_retired {
        refuse_retired(manifest.name.as_str(), path, &scan)?;
    }
    Ok(Candidate {
        package,
        manifest,
        scan,
        source: options.source.map_or_else(|| real(path), str::to_owned),
    })
}

fn real(path: &Path) -> String {
    let real = path.canonicalize();
    real.as_deref()
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// The error for a package of which the system did not let the scanner read everything.
pub(super) fn refuse_unread(name: &str, scan: &PackageScan) -> Result<()> {
    let unread = scan.files.iter().find_map(|file| {
        let words = file.unscanned.iter().find_map(|unscanned| match unscanned {
            Unscanned::Unreadable { error } => Some(error),
            _ => None,
        });
        Some((file, words?))
    });
    match unread {
        None => Ok(()),
        Some((file, words)) => {
            let path = file.path.to_string_lossy();
            Err(PluginError::Unreadable {
                name: name.to_owned(),
                why: format!("`{}`: {words}", path.escape_debug()),
            })
        }
    }
}

/// The error for a package that tells the model to call a retired tool.
pub(super) fn refuse_retired(name: &str, package: &Path, scan: &PackageScan) -> Result<()> {
    let first = scan
        .files
        .iter()
        .filter(|file| file.role == Role::Skill)
        .find_map(|file| {
            let mut findings = file.findings.iter();
            Some((
                file,
                findings.find(|finding| finding.grade == Grade::Instructs)?,
            ))
        });
    let Some((file, finding)) = first else {
        return Ok(());
    };
    let replacement = retired_tool(&finding.name).map_or("another tool", |row| row.replacement);
    Err(PluginError::InstructsRetired {
        name: name.to_owned(),
        tool: finding.name.clone(),
        replacement: replacement.to_owned(),
        file: package.join(&file.path),
        line: finding.line,
    })
}

/// Where a package's generation is, relative to the root.
fn generation(candidate: &Candidate) -> PathBuf {
    Path::new(PACKAGES)
        .join(candidate.manifest.name.as_str())
        .join(candidate.manifest.version.as_str())
        .join(candidate.package.digest.as_str())
}

/// What the registry remembers as noticed at installation.
fn warnings(candidate: &Candidate) -> Vec<String> {
    let findings = candidate.scan.files.iter().flat_map(|file| {
        let shown = file.path.display().to_string();
        let found = file
            .findings
            .iter()
            .filter(|finding| finding.grade > Grade::Mentions)
            .map(|finding| {
                format!(
                    ":{}: `{}`, {}",
                    finding.line,
                    finding.name,
                    finding.reason.explain()
                )
            })
            .collect::<Vec<_>>();
        let unscanned = file.unscanned.iter().map(|why| format!(": {why}"));
        found
            .into_iter()
            .chain(unscanned)
            .map(move |text| format!("{shown}{text}"))
            .collect::<Vec<_>>()
    });
    let mut warnings = candidate.manifest.warnings.clone();
    // Enough to know what is up; `vak plugins inspect` tells all of it.
    warnings.extend(findings.take(20));
    if candidate.manifest.format == Format::Skill {
        warnings.push("the package is a bare skill without a manifest".to_owned());
    }
    warnings
}
