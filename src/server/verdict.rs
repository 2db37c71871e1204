//! What the scanner said of a package, remembered for as long as the package is what it was.
//!
//! A package is the same if its digest and everything in it that a scan looks at are: each file and
//! directory by device, inode, size, mode and the times of its last change. That costs a look at each, not
//! a read, and an edit is seen by the next scan. An edit in the same tick of the file system's clock as the
//! scan before it could hide, so a verdict is relied on only when what it is about had not changed for a
//! while before it was scanned.

use crate::plugin::InstalledPlugin;
use crate::scan::Scanner;
use crate::walk::{PackageScan, Role, scan_package};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The coarsest clock of a file system that is in use.
const TICK: Duration = Duration::from_secs(2);

/// The verdicts on the packages of all stores.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    known: Mutex<HashMap<Key, Arc<Verdict>>>,
}

/// A package as the registry has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    package: PathBuf,
    digest: String,
}

#[derive(Debug)]
struct Verdict {
    /// Everything that the scan depends on, as it was before the scan.
    watched: Vec<(PathBuf, Identity)>,
    scan: PackageScan,
}

/// What a path stands for, without its content. `None` if it stands for nothing.
type Identity = Option<FileIdentity>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Verdicts {
    /// What the scanner says of a plugin's package now.
    pub(super) fn scan(&self, plugin: &InstalledPlugin, package: &Path) -> PackageScan {
        let key = Key {
            package: package.to_owned(),
            digest: plugin.digest.clone(),
        };
        let known = self.lock().get(&key).map(Arc::clone);
        if let Some(known) = known.filter(|verdict| verdict.holds()) {
            return known.scan.clone();
        }
        let started = SystemTime::now();
        let watched = watch(package);
        let scan = scan_package(package, Scanner::shipped());
        if is_settled(&watched, started) {
            let scan = scan.clone();
            self.lock().insert(key, Arc::new(Verdict { watched, scan }));
        } else {
            self.lock().remove(&key);
        }
        scan
    }

    /// Forgets the packages that are not among these any more.
    pub(super) fn retain(&self, digests: &HashSet<&str>) {
        self.lock()
            .retain(|key, _| digests.contains(key.digest.as_str()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Verdict>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Verdict {
    fn holds(&self) -> bool {
        self.watched
            .iter()
            .all(|(path, identity)| identify(path) == *identity)
    }
}

/// Everything in a package that a scan of it looks at: its directories, and the files with a role. Where a
/// link gives a file a second place, any file may have a role, so all of them count, and what the link
/// leads to.
fn watch(package: &Path) -> Vec<(PathBuf, Identity)> {
    let mut watched = vec![(package.to_owned(), identify(package))];
    let mut others = Vec::new();
    let mut has_links = false;
    let mut open = vec![package.to_owned()];
    while let Some(directory) = open.pop() {
        // A directory that cannot be listed is unscanned; its own identity changes when that does.
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            let identity = identify(&path);
            let kind = entry.file_type();
            has_links |= kind.as_ref().is_ok_and(fs::FileType::is_symlink);
            if kind.is_ok_and(|kind| kind.is_dir()) {
                open.push(path.clone());
                watched.push((path, identity));
            } else if path.strip_prefix(package).is_ok_and(has_role) {
                watched.push((path, identity));
            } else {
                others.push((path, identity));
            }
        }
    }
    if has_links {
        watched.append(&mut others);
    }
    watched
}

fn has_role(path: &Path) -> bool {
    Role::of(path) != Role::Other
}

fn identify(path: &Path) -> Identity {
    fs::symlink_metadata(path)
        .ok()
        .map(|metadata| FileIdentity::of(&metadata))
}

impl FileIdentity {
    fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mode: metadata.mode(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Whether nothing of this had changed for a while when the scan started. The time of the last change to a
/// file's data or attributes is the one that nobody can set at will.
fn is_settled(watched: &[(PathBuf, Identity)], started: SystemTime) -> bool {
    let Some(limit) = started.checked_sub(TICK) else {
        return false;
    };
    let limit = limit.duration_since(UNIX_EPOCH).map_or((0, 0), |since| {
        (
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            i64::from(since.subsec_nanos()),
        )
    });
    watched
        .iter()
        .all(|(_, identity)| identity.is_none_or(|identity| identity.changed < limit))
}
