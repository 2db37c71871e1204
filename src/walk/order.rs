//! The order of a walk, and who does what of it next.
//!
//! Every unit of work has a key, its place in the order; what a unit leads to has keys that begin with the
//! unit's own. Threads always take the earliest unit there is, whatever directory it is in, and hand in
//! what they found by key. Everything before the earliest unit that is not yet done is complete, so it can
//! be reported. That keeps three things small: what waits to be reported, what waits to be done, and how
//! many directories are open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many findings may wait for an earlier unit, or to be reported, before the threads wait too.
const MOST_WAITING: usize = 4096;
/// How often whoever reports is told of progress when there is nothing to report.
const PULSE: Duration = Duration::from_millis(100);

/// A place in the order of a walk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<u32>);

impl Key {
    /// The place of the thing that was asked for at this position.
    pub(crate) fn top(position: usize) -> Key {
        Key(vec![u32::try_from(position).unwrap_or(u32::MAX)])
    }

    /// A place below this one.
    pub(crate) fn below(&self, position: usize) -> Key {
        let mut key = Vec::with_capacity(self.0.len() + 1);
        key.extend_from_slice(&self.0);
        key.push(u32::try_from(position).unwrap_or(u32::MAX));
        Key(key)
    }
}

/// What a unit of work came to.
#[derive(Debug)]
pub(crate) struct Outcome<U, R> {
    /// What is to be reported, each with how heavy it is to keep.
    pub(crate) reports: Vec<(Key, R, usize)>,
    /// What is to be done next.
    pub(crate) units: Vec<(Key, U)>,
    /// How many files were looked at.
    pub(crate) files: usize,
}

impl<U, R> Default for Outcome<U, R> {
    fn default() -> Outcome<U, R> {
        Outcome {
            reports: Vec::new(),
            units: Vec::new(),
            files: 0,
        }
    }
}

/// The units and reports of a walk under way.
#[derive(Debug)]
pub(crate) struct Queue<U, R> {
    state: Mutex<State<U, R>>,
    /// There may be a unit to take, or none will come any more.
    work: Condvar,
    /// There is something to tell, or the walk is over.
    news: Condvar,
}

#[derive(Debug)]
struct State<U, R> {
    pending: BTreeMap<Key, U>,
    taken: BTreeSet<Key>,
    /// Reports that an earlier unit may still come before.
    waiting: BTreeMap<Key, (R, usize)>,
    waiting_weight: usize,
    /// Reports whose turn it is, in order.
    ready: Vec<R>,
    ready_weight: usize,
    files: usize,
    idle_threads: usize,
}

/// What can be told at a moment.
#[derive(Debug)]
pub(crate) struct News<R> {
    /// In order.
    pub(crate) reports: Vec<R>,
    /// How many more files were looked at.
    pub(crate) files: usize,
    /// Whether nothing more will come.
    pub(crate) is_last: bool,
}

/// A unit that a thread has taken. What came of it is handed in when it goes out of scope: also when the
/// thread panics, so that nobody waits for this unit for ever.
#[derive(Debug)]
pub(crate) struct Turn<'q, U, R> {
    queue: &'q Queue<U, R>,
    pub(crate) key: Key,
    pub(crate) outcome: Outcome<U, R>,
}

impl<U, R> Drop for Turn<'_, U, R> {
    fn drop(&mut self) {
        let outcome = std::mem::take(&mut self.outcome);
        self.queue.complete(&self.key, outcome);
    }
}

impl<U, R> Queue<U, R> {
    pub(crate) fn new(units: impl IntoIterator<Item = U>) -> Queue<U, R> {
        let keyed = units.into_iter().enumerate();
        Queue {
            state: Mutex::new(State {
                pending: keyed.map(|(at, unit)| (Key::top(at), unit)).collect(),
                taken: BTreeSet::new(),
                waiting: BTreeMap::new(),
                waiting_weight: 0,
                ready: Vec::new(),
                ready_weight: 0,
                files: 0,
                idle_threads: 0,
            }),
            work: Condvar::new(),
            news: Condvar::new(),
        }
    }

    /// Takes the earliest unit, waiting for one if need be; `None` when the walk is over.
    pub(crate) fn take(&self) -> Option<(Turn<'_, U, R>, U)> {
        let mut state = self.lock();
        loop {
            if state.may_take()
                && let Some((key, unit)) = state.pending.pop_first()
            {
                state.taken.insert(key.clone());
                drop(state);
                let outcome = Outcome::default();
                let turn = Turn {
                    queue: self,
                    key,
                    outcome,
                };
                return Some((turn, unit));
            }
            if state.is_over() {
                return None;
            }
            state.idle_threads += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle_threads -= 1;
        }
    }

    fn complete(&self, key: &Key, outcome: Outcome<U, R>) {
        let mut state = self.lock();
        state.complete(key, outcome);
        let has_news = !state.ready.is_empty() || state.is_over();
        let is_wanted = state.idle_threads > 0;
        drop(state);
        // A notification costs a system call, whether somebody waits or not.
        if has_news {
            self.news.notify_one();
        }
        if is_wanted {
            self.work.notify_all();
        }
    }

    /// Waits until there is something to tell, but no longer than a moment.
    pub(crate) fn news(&self) -> News<R> {
        let mut state = self.lock();
        if state.ready.is_empty() && !state.is_over() {
            let waited = self.news.wait_timeout(state, PULSE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let news = News {
            reports: std::mem::take(&mut state.ready),
            files: std::mem::take(&mut state.files),
            is_last: state.is_over(),
        };
        state.ready_weight = 0;
        if state.idle_threads > 0 {
            self.work.notify_all();
        }
        news
    }

    fn lock(&self) -> MutexGuard<'_, State<U, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<U, R> State<U, R> {
    /// Whether another unit may be taken. While none is, the next one is the one that all reports wait for.
    fn may_take(&self) -> bool {
        self.ready_weight < MOST_WAITING
            && (self.waiting_weight < MOST_WAITING || self.taken.is_empty())
    }

    fn is_over(&self) -> bool {
        self.pending.is_empty() && self.taken.is_empty()
    }

    fn complete(&mut self, key: &Key, outcome: Outcome<U, R>) {
        self.taken.remove(key);
        self.files += outcome.files;
        self.pending.extend(outcome.units);
        for (key, report, weight) in outcome.reports {
            self.waiting_weight += weight;
            self.waiting.insert(key, (report, weight));
        }
        while let Some((report, weight)) = self.next_due() {
            self.waiting_weight -= weight;
            self.ready_weight += weight;
            self.ready.push(report);
        }
    }

    /// Takes out the first waiting report, if no unit can come before it any more.
    fn next_due(&mut self) -> Option<(R, usize)> {
        let earliest = [self.pending.keys().next(), self.taken.first()]
            .into_iter()
            .flatten()
            .min();
        let first = self.waiting.first_entry()?;
        let is_due = earliest.is_none_or(|unit| first.key() < unit);
        is_due.then(|| first.remove())
    }
}
