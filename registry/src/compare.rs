//! What a version of the list did to the rows of an earlier one. The list may grow; nothing else.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::row::{Row, fold};

/// A field of a row that is fixed once the row has landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// `retired_in`
    RetiredIn,
    /// `replacement`
    Replacement,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::RetiredIn => "retired_in",
            Field::Replacement => "replacement",
        })
    }
}

/// One way in which a row was not left as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// The row is gone.
    Removed {
        /// The row as it was.
        base: Row,
    },
    /// The row has another name.
    Renamed {
        /// The row as it was.
        base: Row,
        /// The row as it is.
        now: Row,
    },
    /// The row says something else.
    Changed {
        /// The row as it was.
        base: Row,
        /// The row as it is.
        now: Row,
        /// The fields that differ, never empty.
        fields: Vec<Field>,
    },
    /// The row stands before a row that it used to follow, or after one that it used to precede.
    Moved {
        /// The row as it was.
        base: Row,
        /// The row as it is.
        now: Row,
    },
}

impl Violation {
    /// The row as it was.
    pub fn base(&self) -> &Row {
        match self {
            Violation::Removed { base }
            | Violation::Renamed { base, .. }
            | Violation::Changed { base, .. }
            | Violation::Moved { base, .. } => base,
        }
    }

    /// The row as it is, if it is there.
    pub fn now(&self) -> Option<&Row> {
        match self {
            Violation::Removed { .. } => None,
            Violation::Renamed { now, .. }
            | Violation::Changed { now, .. }
            | Violation::Moved { now, .. } => Some(now),
        }
    }
}

/// Says what happened, in one phrase.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.base().name;
        match self {
            Violation::Removed { .. } => write!(f, "the row of `{name}` was removed"),
            Violation::Renamed { now, .. } => {
                write!(f, "the row of `{name}` was renamed to `{}`", now.name)
            }
            Violation::Changed { fields, .. } => {
                let fields: Vec<_> = fields.iter().map(|field| format!("`{field}`")).collect();
                write!(f, "{} of `{name}` was changed", fields.join(" and "))
            }
            Violation::Moved { .. } => write!(f, "the row of `{name}` was moved"),
        }
    }
}

/// What happened between two versions of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What must not have happened, in the order of the base.
    pub violations: Vec<Violation>,
    /// How many rows of the base are there by their names.
    pub kept: usize,
    /// The rows that were added.
    pub added: Vec<Row>,
    /// The rows whose hint was reworded, as they are now.
    pub reworded: Vec<Row>,
}

/// Compares the rows of an earlier version, `base`, with those of a later one.
///
/// New rows may stand anywhere between the old ones: two branches that both appended merge in either order.
pub fn compare(base: &[Row], now: &[Row]) -> Comparison {
    let base_names: HashSet<&str> = base.iter().map(|row| row.name.as_str()).collect();
    let by_name: HashMap<&str, usize> = now
        .iter()
        .enumerate()
        .rev()
        .map(|(at, row)| (row.name.as_str(), at))
        .collect();
    let added: Vec<&Row> = now
        .iter()
        .filter(|row| !base_names.contains(row.name.as_str()))
        .collect();
    let kept: Vec<Option<usize>> = base
        .iter()
        .map(|row| by_name.get(row.name.as_str()).copied())
        .collect();
    let positions: Vec<usize> = kept.iter().flatten().copied().collect();
    let in_order: HashSet<usize> = longest_rising(&positions).into_iter().collect();
    let twice = Twice::of(base, now, &kept);

    let mut renamed = HashSet::new();
    let mut comparison = Comparison {
        kept: positions.len(),
        ..Comparison::default()
    };
    for (place, (row, at)) in base.iter().zip(kept).enumerate() {
        let Some(at) = at else {
            if twice.is_spare(row) {
                continue;
            }
            // Another row has its place where the next row is still the next, or where nothing was added at all.
            let is_in_place = now.len() == base.len()
                || match (base.get(place + 1), now.get(place + 1)) {
                    (Some(before), Some(after)) => before.name == after.name,
                    _ => false,
                };
            let instead = now.get(place).filter(|other| {
                is_in_place
                    && !base_names.contains(other.name.as_str())
                    && says_the_same(row, other)
            });
            let base = row.clone();
            comparison.violations.push(match instead {
                Some(other) => {
                    renamed.insert(other.name.as_str());
                    let now = other.clone();
                    Violation::Renamed { base, now }
                }
                None => Violation::Removed { base },
            });
            continue;
        };
        let after = &now[at];
        if !twice.is_spare(row) {
            comparison.violations.extend(changed(row, after));
        }
        if !in_order.contains(&at) {
            let (base, now) = (row.clone(), after.clone());
            comparison.violations.push(Violation::Moved { base, now });
        }
        if row.hint != after.hint {
            comparison.reworded.push(after.clone());
        }
    }
    comparison.added = added
        .into_iter()
        .filter(|row| !renamed.contains(row.name.as_str()))
        .cloned()
        .collect();
    comparison
}

/// The names that the earlier version has twice, of which one row is left as it was: the others may go.
struct Twice(HashSet<String>);

impl Twice {
    fn of(base: &[Row], now: &[Row], kept: &[Option<usize>]) -> Twice {
        let mut seen = HashSet::new();
        let twice: HashSet<String> = base
            .iter()
            .map(|row| fold(&row.name))
            .filter(|name| !seen.insert(name.clone()))
            .collect();
        let is_left = |(row, at): &(&Row, &Option<usize>)| {
            at.is_some_and(|at| changed(row, &now[at]).is_none())
        };
        let left = base.iter().zip(kept).filter(is_left);
        let left = left.map(|(row, _)| fold(&row.name));
        Twice(left.filter(|name| twice.contains(name)).collect())
    }

    fn is_spare(&self, row: &Row) -> bool {
        self.0.contains(&fold(&row.name))
    }
}

/// Whether two rows differ in the name at most.
fn says_the_same(row: &Row, other: &Row) -> bool {
    other.retired_in == row.retired_in
        && other.replacement == row.replacement
        && other.hint == row.hint
}

fn changed(row: &Row, after: &Row) -> Option<Violation> {
    let differs = [
        (Field::RetiredIn, row.retired_in != after.retired_in),
        (Field::Replacement, row.replacement != after.replacement),
    ];
    let fields: Vec<Field> = differs
        .into_iter()
        .filter_map(|(field, differs)| differs.then_some(field))
        .collect();
    (!fields.is_empty()).then(|| Violation::Changed {
        base: row.clone(),
        now: after.clone(),
        fields,
    })
}

/// The longest subsequence of `values` that rises: the rows that need not have moved.
fn longest_rising(values: &[usize]) -> Vec<usize> {
    // `tails[n]` is the place of the smallest value that ends a rising run of length n + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; values.len()];
    for (at, value) in values.iter().enumerate() {
        let length = tails.partition_point(|tail| values[*tail] < *value);
        previous[at] = length.checked_sub(1).map(|shorter| tails[shorter]);
        tails.truncate(length.max(tails.len()));
        match tails.get_mut(length) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut run: Vec<usize> = std::iter::successors(tails.last().copied(), |at| previous[*at])
        .map(|at| values[at])
        .collect();
    run.reverse();
    run
}
