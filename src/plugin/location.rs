//! From the path that the registry records for a package to a place inside the store, or to a refusal.

use crate::disk::{Dir, DiskError};
use crate::words::in_one_line;
use serde::Serialize;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The packages' directory, relative to the root.
pub(super) const PACKAGES: &str = "plugins/packages";

/// Why a recorded package path leads to no package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocationFault {
    /// It is not inside the store's `packages/`.
    Outside,
    /// It is the store's `packages/` itself.
    AllPackages,
    /// A step of it is a link, or a file.
    NotADirectory,
    /// Nothing is there.
    Missing,
    /// It cannot be looked at: the disk's words.
    Unreadable(String),
}

impl fmt::Display for LocationFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LocationFault::Outside => "is not inside this store's `packages`",
            LocationFault::AllPackages => "is the directory of all packages",
            LocationFault::NotADirectory => "leads through a link or a file",
            LocationFault::Missing => "does not exist",
            LocationFault::Unreadable(why) => return write!(out, "cannot be looked at: {why}"),
        })
    }
}

/// The place that a recorded path names, relative to the root. By its spelling alone, as far as that goes:
/// whether the place is there, and is a directory, is [`open`]'s to say.
pub(super) fn name_place(root: &Path, recorded: &str) -> Result<PathBuf, LocationFault> {
    let recorded = Path::new(recorded);
    if recorded
        .components()
        .any(|step| step == Component::ParentDir)
    {
        return Err(LocationFault::Outside);
    }
    let inside = if recorded.is_absolute() {
        below_packages(root, recorded)
    } else {
        // Never relative to the working directory: to the store, which knows its packages by two names.
        [PACKAGES, "packages"]
            .into_iter()
            .find_map(|packages| recorded.strip_prefix(packages).ok())
            .map(Path::to_owned)
    };
    match inside {
        None => Err(LocationFault::Outside),
        Some(inside) if inside.as_os_str().is_empty() => Err(LocationFault::AllPackages),
        Some(inside) => Ok(Path::new(PACKAGES).join(inside)),
    }
}

fn below_packages(root: &Path, recorded: &Path) -> Option<PathBuf> {
    let packages = root.join(PACKAGES);
    if let Ok(inside) = recorded.strip_prefix(&packages) {
        return Some(inside.to_owned());
    }
    // The root may be recorded by another path that leads to it.
    let packages = packages.canonicalize().ok()?;
    let real = recorded
        .ancestors()
        .find(|ancestor| ancestor.canonicalize().is_ok_and(|real| real == packages))?;
    recorded.strip_prefix(real).ok().map(Path::to_owned)
}

/// Opens the place, provided real directories lead to it.
pub(super) fn open(root: &Dir, place: &Path) -> Result<Dir, LocationFault> {
    match root.descend(place) {
        Ok(Some(dir)) => Ok(dir),
        Ok(None) => Err(LocationFault::Missing),
        Err(DiskError::NotADirectory { .. } | DiskError::NotPlain { .. }) => {
            Err(LocationFault::NotADirectory)
        }
        Err(error) => Err(LocationFault::Unreadable(in_one_line(&error))),
    }
}
