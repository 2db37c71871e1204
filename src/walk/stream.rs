//! Scans what was asked for on several threads, and reports in an order that does not depend on them.

use super::content::{Content, Reader, RegularFile, open_named, open_regular};
use super::directory;
use super::order::{Key, News, Outcome, Queue};
use super::report::{FileReport, Unscanned, unreadable};
use super::role::Role;
use super::tree::{Directory, Start, Step, Target, or_dot, without_dot};
use crate::scan::Scanner;
use std::ffi::{CStr, CString};
use std::num::NonZeroUsize;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files of a directory that are one unit of work: the others can be taken by other threads.
const UNIT_FILES: usize = 64;
/// More threads than this are waiting for the disk or for each other.
const MOST_THREADS: usize = 16;

/// What a scan of several files has to say.
#[derive(Debug)]
pub enum Event {
    /// This many more files were read, or at least tried. Comes at least every moment, be it with 0.
    Progress(usize),
    /// A file in which something was found, or of which something was not scanned.
    Report(FileReport),
    /// A path that was asked for and could not be scanned at all.
    Failed(FileReport),
}

/// Scans everything that was asked for and tells `on_event`, on the calling thread and in an order that does
/// not depend on the others: targets as given, in each tree by path. Never fails: what could not be read is
/// an event. Memory grows with the largest directory, not with the number of files.
///
/// `threads` is how many files are scanned at once; `None` asks the machine.
pub fn scan_targets(
    targets: &[Target],
    scanner: &Scanner,
    threads: Option<NonZeroUsize>,
    mut on_event: impl FnMut(Event),
) {
    let threads = threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, |threads| threads.get().min(MOST_THREADS));
    let queue = Queue::new(targets.iter().map(Unit::Target));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&queue, scanner));
        }
        loop {
            let News {
                reports,
                files,
                is_last,
            } = queue.news();
            on_event(Event::Progress(files));
            reports.into_iter().for_each(&mut on_event);
            if is_last {
                return;
            }
        }
    });
}

/// A piece of a walk.
#[derive(Debug)]
enum Unit<'t> {
    /// Something that was asked for.
    Target(&'t Target),
    /// A directory in a tree.
    Directory {
        parent: Arc<Directory>,
        name: CString,
    },
    /// Some of the files of a directory, whose own key is `above`.
    Files {
        above: Key,
        directory: Arc<Directory>,
        files: Vec<File>,
    },
}

/// A file in a directory: its position in the listing, its name, what it is.
#[derive(Debug)]
struct File {
    position: usize,
    name: CString,
    role: Role,
}

fn work(queue: &Queue<Unit<'_>, Event>, scanner: &Scanner) {
    let mut reader = Reader::default();
    while let Some((mut turn, unit)) = queue.take() {
        let mut worker = Worker {
            scanner,
            reader: &mut reader,
            key: &turn.key,
            outcome: &mut turn.outcome,
        };
        worker.run(unit);
    }
}

/// A thread at one unit.
struct Worker<'w, 't> {
    scanner: &'w Scanner,
    reader: &'w mut Reader,
    key: &'w Key,
    outcome: &'w mut Outcome<Unit<'t>, Event>,
}

impl Worker<'_, '_> {
    fn run(&mut self, unit: Unit<'_>) {
        match unit {
            Unit::Target(Target::Path(path)) => self.start(path),
            Unit::Target(Target::Stdin(name)) => self.scan_stdin(name),
            Unit::Directory { parent, name } => match parent.enter(&name) {
                Ok(directory) => self.walk(directory),
                Err(why) => self.report(self.key.clone(), parent.unscanned(&name, why)),
            },
            Unit::Files {
                above,
                directory,
                files,
            } => self.scan_files(&above, &directory, files),
        }
    }

    fn start(&mut self, path: &Path) {
        match Start::find(path) {
            Ok(Start::Tree(directory)) => self.walk(directory),
            Ok(Start::File(open)) => self.scan_named(&open, without_dot(path)),
            Err(why) => self.fail(without_dot(path), why),
        }
    }

    /// Lists a directory: its first files are scanned at once, everything else is for whoever comes next.
    fn walk(&mut self, directory: Directory) {
        let directory = Arc::new(directory);
        let (entries, error) = directory::entries(&directory.handle);
        if let Some(error) = error {
            self.report(self.key.clone(), directory.unlisted(unreadable(error)));
        }
        let mut files = Vec::new();
        for (position, entry) in entries.into_iter().enumerate() {
            let name = entry.name;
            match directory.step(&name, entry.file_type) {
                None => {}
                Some(Step::Scan(role)) => files.push(File {
                    position,
                    name,
                    role,
                }),
                Some(Step::Enter) => {
                    let parent = Arc::clone(&directory);
                    let unit = Unit::Directory { parent, name };
                    self.outcome.units.push((self.key.below(position), unit));
                }
                Some(Step::Follow) => self.follow(&directory, &name, position),
                Some(Step::Report(why)) => {
                    let report = directory.unscanned(&name, why);
                    self.report(self.key.below(position), report);
                }
            }
        }
        while files.len() > UNIT_FILES {
            let files = files.split_off(files.len() - UNIT_FILES);
            let key = self.key.below(files[0].position);
            let unit = Unit::Files {
                above: self.key.clone(),
                directory: Arc::clone(&directory),
                files,
            };
            self.outcome.units.push((key, unit));
        }
        self.scan_files(self.key, &directory, files);
    }

    fn scan_files(&mut self, above: &Key, directory: &Directory, files: Vec<File>) {
        self.outcome.files += files.len();
        for file in files {
            let opened = open_regular(directory.handle.as_fd(), &file.name);
            if let Some(report) = self.scan(opened, file.role, || directory.shown(&file.name)) {
                self.report(above.below(file.position), report);
            }
        }
    }

    fn follow(&mut self, directory: &Directory, name: &CStr, position: usize) {
        if let Some((role, file)) = directory.follow(name) {
            self.outcome.files += usize::from(file.is_ok());
            if let Some(report) = self.scan(file, role, || directory.shown(name)) {
                self.report(self.key.below(position), report);
            }
        }
    }

    fn scan_named(&mut self, open: &CStr, shown: PathBuf) {
        let role = Role::of_named(&shown);
        match open_named(open) {
            Ok(file) => {
                self.outcome.files += 1;
                if let Some(report) = self.scan(Ok(file), role, || shown) {
                    self.report(self.key.clone(), report);
                }
            }
            Err(why) => self.fail(shown, why),
        }
    }

    fn scan_stdin(&mut self, name: &Path) {
        let role = Role::of(name);
        match self.reader.read_stream(std::io::stdin().lock()) {
            Ok(content) => {
                self.outcome.files += 1;
                if let Some(report) = report(content, role, self.scanner, || name.to_owned()) {
                    self.report(self.key.clone(), report);
                }
            }
            Err(error) => self.fail(name.to_owned(), unreadable(error)),
        }
    }

    /// Scans a file; the path to show is made only where there is something to say.
    fn scan(
        &mut self,
        file: Result<RegularFile, Unscanned>,
        role: Role,
        path: impl FnOnce() -> PathBuf,
    ) -> Option<FileReport> {
        match file.and_then(|file| self.reader.read(&file)) {
            Ok(content) => report(content, role, self.scanner, path),
            Err(why) => Some(FileReport::unscanned(path(), role, why)),
        }
    }

    fn report(&mut self, key: Key, report: FileReport) {
        let weight = 1 + report.findings.len();
        let event = Event::Report(report);
        self.outcome.reports.push((key, event, weight));
    }

    fn fail(&mut self, path: PathBuf, why: Unscanned) {
        let report = FileReport::unscanned(or_dot(path), Role::Other, why);
        let event = Event::Failed(report);
        self.outcome.reports.push((self.key.clone(), event, 1));
    }
}

/// What there is to say of a file's content, if anything.
fn report(
    content: Content<'_>,
    role: Role,
    scanner: &Scanner,
    path: impl FnOnce() -> PathBuf,
) -> Option<FileReport> {
    let (findings, unscanned) = content.scan(role, scanner);
    let is_clean = findings.is_empty() && unscanned.is_empty();
    (!is_clean).then(|| FileReport {
        path: path(),
        role,
        findings,
        unscanned,
    })
}
