//! Scans what was asked for on several threads, and reports in the order of the walk.
//!
//! The threads take turns at the walk: each takes the next few files from it and scans them while another
//! one takes the next. What they found is put back in order here. How far they may run ahead is bounded,
//! so that memory does not grow with the number of files.

use super::content::{Content, Reader, RegularFile, open_named, open_regular, special, type_of};
use super::directory;
use super::report::{FileReport, SpecialFile, Unscanned, unreadable};
use super::role::Role;
use super::tree::{Directory, Job, Root, Target, Walk, is_entered, is_scanned};
use crate::scan::Scanner;
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::num::NonZeroUsize;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};

/// The most files a thread takes at a time.
const BATCH_FILES: usize = 64;
/// The most directories they come from: each is held open.
const BATCH_DIRECTORIES: usize = 8;
/// How many batches a thread may be ahead of the report.
const BATCHES_AHEAD: usize = 4;
/// More threads than this wait for the walk rather than scan.
const MOST_THREADS: usize = 8;

/// What a scan of several files has to say, in the order of the walk.
#[derive(Debug)]
pub enum Event {
    /// This many more files were read, or at least tried.
    Progress(usize),
    /// A file in which something was found, or of which something was not scanned.
    Report(FileReport),
    /// A path that was asked for and could not be scanned at all.
    Failed(FileReport),
}

/// Scans everything that was asked for and tells `on_event`, in an order that does not depend on the
/// threads: targets as given, in each tree by path. Never fails: what could not be read is an event.
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
    let queue = Queue::new(targets, threads * BATCHES_AHEAD);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let queue = &queue;
            scope.spawn(move || work(queue, scanner, &sender));
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for Done { number, events } in receiver {
            waiting.insert(number, events);
            while let Some(events) = waiting.remove(&next) {
                events.into_iter().for_each(&mut on_event);
                next += 1;
                queue.reported();
            }
        }
    });
}

/// The walk, and how far it has run ahead of the report.
struct Queue<'t> {
    state: Mutex<State<'t>>,
    moved: Condvar,
    ahead_limit: usize,
}

struct State<'t> {
    walk: std::iter::Fuse<Walk<'t>>,
    taken: usize,
    reported: usize,
}

impl<'t> Queue<'t> {
    fn new(targets: &'t [Target], ahead_limit: usize) -> Queue<'t> {
        Queue {
            state: Mutex::new(State {
                walk: Walk::new(targets).fuse(),
                taken: 0,
                reported: 0,
            }),
            moved: Condvar::new(),
            ahead_limit,
        }
    }

    /// The next few jobs and their number in the sequence; `None` at the end of the walk.
    fn take(&self, jobs: &mut Vec<Job>) -> Option<usize> {
        let mut state = self.lock();
        while state.taken - state.reported >= self.ahead_limit {
            state = self
                .moved
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        fill(&mut state.walk, jobs);
        if jobs.is_empty() {
            return None;
        }
        state.taken += 1;
        Some(state.taken - 1)
    }

    fn reported(&self) {
        self.lock().reported += 1;
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'t>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fill(walk: &mut impl Iterator<Item = Job>, jobs: &mut Vec<Job>) {
    let mut directories = 0;
    let mut last: Option<Arc<Directory>> = None;
    while jobs.len() < BATCH_FILES && directories < BATCH_DIRECTORIES {
        let Some(job) = walk.next() else { return };
        if let Job::File { directory, .. } | Job::Link { directory, .. } = &job
            && !last
                .as_ref()
                .is_some_and(|last| Arc::ptr_eq(last, directory))
        {
            last = Some(Arc::clone(directory));
            directories += 1;
        }
        jobs.push(job);
    }
}

/// What became of one batch.
struct Done {
    number: usize,
    events: Vec<Event>,
}

/// A batch at work. It is sent when it goes out of scope: also when the scan of a file panics, so that
/// nobody waits for it for ever.
struct Delivery<'c> {
    number: usize,
    events: Vec<Event>,
    channel: &'c mpsc::Sender<Done>,
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        let done = Done {
            number: self.number,
            events: std::mem::take(&mut self.events),
        };
        // The receiver outlives the threads.
        let _ = self.channel.send(done);
    }
}

fn work(queue: &Queue<'_>, scanner: &Scanner, channel: &mpsc::Sender<Done>) {
    let mut worker = Worker {
        scanner,
        reader: Reader::default(),
    };
    let mut jobs = Vec::with_capacity(BATCH_FILES);
    while let Some(number) = queue.take(&mut jobs) {
        let mut delivery = Delivery {
            number,
            events: vec![Event::Progress(
                jobs.iter().filter(|job| job.is_file()).count(),
            )],
            channel,
        };
        for job in jobs.drain(..) {
            delivery.events.extend(worker.run(job));
        }
    }
}

/// What one thread scans with.
struct Worker<'s> {
    scanner: &'s Scanner,
    reader: Reader,
}

impl Worker<'_> {
    fn run(&mut self, job: Job) -> Option<Event> {
        match job {
            Job::File {
                directory,
                name,
                role,
            } => {
                let file = open_regular(directory.handle.as_fd(), &name);
                self.scan(file, role, || directory.shown(&name))
                    .map(Event::Report)
            }
            Job::Link { directory, name } => self.scan_link(&directory, &name).map(Event::Report),
            Job::Named { open, shown } => {
                let role = Role::of(&shown);
                match open_named(&open) {
                    Ok(file) => self.scan(Ok(file), role, || shown).map(Event::Report),
                    Err(why) => Some(Event::Failed(FileReport::unscanned(shown, role, why))),
                }
            }
            Job::Stdin(name) => self.scan_stdin(name),
            Job::Skipped(report) => Some(Event::Report(report)),
            Job::Failed(report) => Some(Event::Failed(report)),
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

    fn scan_stdin(&mut self, name: PathBuf) -> Option<Event> {
        let role = Role::of(&name);
        match self.reader.read_stream(std::io::stdin().lock()) {
            Ok(content) => report(content, role, self.scanner, || name).map(Event::Report),
            Err(error) => {
                let report = FileReport::unscanned(name, role, unreadable(error));
                Some(Event::Failed(report))
            }
        }
    }

    fn scan_link(&mut self, directory: &Directory, name: &CString) -> Option<FileReport> {
        let inside = directory.inside(name);
        let role = Role::of(&inside);
        let wanted = is_scanned(name.to_bytes(), role);
        match linked_file(&directory.root, &inside) {
            Ok(Some(file)) if wanted => self.scan(Ok(file), role, || directory.shown(name)),
            Err(why) if wanted || leads_to_directory(&why) => {
                Some(FileReport::unscanned(directory.shown(name), role, why))
            }
            _ => None,
        }
    }
}

/// The file a link leads to, if the walk does not meet it under its own name. Whatever else is inside is
/// met on the way, so nothing is scanned twice for a link, and no cycle is entered.
fn linked_file(root: &Root, link: &Path) -> Result<Option<RegularFile>, Unscanned> {
    let target = directory::follow(&root.real, link)?;
    let (parent, name) = directory::open_parent_beneath(&root.handle, &target)?;
    let file_type = type_of(parent.as_fd(), &name).map_err(unreadable)?;
    let is_directory = file_type == FileType::Directory;
    let directories = if is_directory {
        Some(&*target)
    } else {
        target.parent()
    };
    let is_entered =
        directories.is_none_or(|path| path.iter().all(|name| is_entered(name.as_bytes())));
    let is_met = is_directory || is_scanned(name.to_bytes(), Role::of(&target));
    match special(file_type) {
        _ if is_entered && is_met => Ok(None),
        None => open_regular(parent.as_fd(), &name).map(Some),
        Some(SpecialFile::Directory) => Err(Unscanned::LinkOutside {
            target: root.real.join(target),
            directory: true,
        }),
        Some(kind) => Err(Unscanned::Special { kind }),
    }
}

fn leads_to_directory(why: &Unscanned) -> bool {
    matches!(why, Unscanned::LinkOutside { directory, .. } if *directory)
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
