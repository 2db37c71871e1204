//! A package: the files in it that can call a tool, through the links inside it, each once.

use super::content::{Identity, Reader, open_regular, special, type_of};
use super::directory::{self, DEPTH_LIMIT};
use super::report::{FileReport, PackageScan, Unscanned, unreadable};
use super::role::{Place, Role};
use crate::scan::Scanner;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Scans the files of a package that can call a tool: every `SKILL.md`, `commands/**/*.md`,
/// `agents/**/*.md`, and the matchers in `hooks.json`.
///
/// Links inside the package are followed, and what they lead to is scanned once in each role it has;
/// links that leave it are reported and not followed. Paths in the result are relative to the package
/// (`.` is the package itself). Never fails: what could not be read is in the report.
pub fn scan_package(package: &Path, scanner: &Scanner) -> PackageScan {
    let mut files = match Walk::start(package, scanner) {
        Ok(walk) => walk.run(),
        Err(why) => vec![FileReport::unscanned(".".into(), Role::Other, why)],
    };
    files.sort_by(|a, b| a.path.cmp(&b.path));
    PackageScan { files }
}

struct Walk<'s> {
    scanner: &'s Scanner,
    reader: Reader,
    /// The package, absolute and free of links.
    root: PathBuf,
    root_handle: OwnedFd,
    directories: Vec<Location>,
    /// Links wait until everything that is really there has been seen, so that a file is reported by its
    /// own path rather than by a link's. The real path of each, by the path it is reached by.
    links: BTreeMap<PathBuf, PathBuf>,
    entered: HashSet<(Identity, Place)>,
    scanned: HashSet<(Identity, Role)>,
    files: Vec<FileReport>,
}

/// What a name in an open directory stands for.
struct Location {
    parent: Rc<OwnedFd>,
    name: CString,
    /// The path it is reached by, relative to the package.
    shown: PathBuf,
    /// The path it really has, relative to the package: another one below a link.
    real: PathBuf,
}

impl<'s> Walk<'s> {
    fn start(package: &Path, scanner: &'s Scanner) -> Result<Walk<'s>, Unscanned> {
        let root = package.canonicalize().map_err(|error| unreadable(&error))?;
        let root_handle = directory::open_root(&root).map_err(unreadable)?;
        Ok(Walk {
            scanner,
            reader: Reader::default(),
            root,
            root_handle,
            directories: Vec::new(),
            links: BTreeMap::new(),
            entered: HashSet::new(),
            scanned: HashSet::new(),
            files: Vec::new(),
        })
    }

    fn run(mut self) -> Vec<FileReport> {
        self.go_to(PathBuf::new(), PathBuf::new());
        loop {
            if let Some(directory) = self.directories.pop() {
                self.enter(&directory);
            } else if let Some((shown, link)) = self.links.pop_first() {
                match directory::follow(&self.root, &link) {
                    Ok(real) => self.go_to(shown, real),
                    Err(why) => self.skip(shown, why),
                }
            } else {
                return self.files;
            }
        }
    }

    /// Visits what stands at `real`, reached by the path `shown`.
    fn go_to(&mut self, shown: PathBuf, real: PathBuf) {
        let found =
            directory::open_parent_beneath(&self.root_handle, &real).and_then(|(parent, name)| {
                match type_of(parent.as_fd(), &name) {
                    Ok(file_type) => Ok((parent, name, file_type)),
                    Err(error) => Err(unreadable(error)),
                }
            });
        match found {
            Ok((parent, name, file_type)) => {
                let location = Location {
                    parent: Rc::new(parent),
                    name,
                    shown,
                    real,
                };
                self.visit(location, file_type);
            }
            Err(why) => self.skip(shown, why),
        }
    }

    /// Does with a name what its type asks for.
    fn visit(&mut self, at: Location, file_type: FileType) {
        match file_type {
            FileType::Directory => self.directories.push(at),
            FileType::Symlink => {
                self.links.insert(at.shown, at.real);
            }
            _ if Role::of(&at.shown) == Role::Other => {}
            other => match special(other) {
                Some(kind) => self.skip(at.shown, Unscanned::Special { kind }),
                None => self.scan(at),
            },
        }
    }

    /// Lists a directory, unless it was listed in the same place before: this is what ends a cycle.
    fn enter(&mut self, at: &Location) {
        if at.shown.components().count() > DEPTH_LIMIT {
            let limit = DEPTH_LIMIT;
            return self.skip(at.shown.clone(), Unscanned::TooDeep { limit });
        }
        let handle = match self.open_once(at) {
            Ok(Some(handle)) => Rc::new(handle),
            Ok(None) => return,
            Err(error) => return self.skip(at.shown.clone(), unreadable(error)),
        };
        let (entries, error) = directory::entries(&handle);
        if let Some(error) = error {
            self.skip(at.shown.clone(), unreadable(error));
        }
        for entry in entries {
            let location = Location {
                shown: at.shown.join(entry.os_name()),
                real: at.real.join(entry.os_name()),
                parent: Rc::clone(&handle),
                name: entry.name,
            };
            self.visit(location, entry.file_type);
        }
    }

    fn open_once(&mut self, at: &Location) -> Result<Option<OwnedFd>, Errno> {
        let handle = directory::open(at.parent.as_fd(), &at.name)?;
        let stat = rustix::fs::fstat(&handle)?;
        let identity = (stat.st_dev, stat.st_ino);
        let is_new = self.entered.insert((identity, Place::of(&at.shown)));
        Ok(is_new.then_some(handle))
    }

    fn scan(&mut self, at: Location) {
        let role = Role::of(&at.shown);
        let read = open_regular(at.parent.as_fd(), &at.name).and_then(|file| {
            let is_new = self.scanned.insert((file.identity, role));
            is_new.then(|| self.reader.read(&file)).transpose()
        });
        match read {
            Ok(None) => {}
            Ok(Some(content)) => {
                let (findings, unscanned) = content.scan(role, self.scanner);
                if !(findings.is_empty() && unscanned.is_empty()) {
                    self.files.push(FileReport {
                        path: at.shown,
                        role,
                        findings,
                        unscanned,
                    });
                }
            }
            Err(why) => self.skip(at.shown, why),
        }
    }

    fn skip(&mut self, path: PathBuf, why: Unscanned) {
        let role = Role::of(&path);
        self.files.push(FileReport::unscanned(path, role, why));
    }
}
