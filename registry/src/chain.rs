//! Replacements followed to their end: each row's live tool, or the circle it runs in.

use std::collections::HashMap;

use crate::read::Placed;

/// Where a row's chain of replacements ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// On a name that is not in the list.
    Outside(usize),
    /// Nowhere: the chain runs into a circle.
    Circle,
}

/// Where each row's chain ends, and every circle once, as the rows on it from the earliest on.
pub(crate) fn follow(rows: &[Placed]) -> (Vec<End>, Vec<Vec<usize>>) {
    let index: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .rev()
        .map(|(at, placed)| (placed.row.name.as_str(), at))
        .collect();
    let next: Vec<Option<usize>> = rows
        .iter()
        .map(|placed| index.get(placed.row.replacement.as_str()).copied())
        .collect();
    let mut ends: Vec<Option<End>> = vec![None; rows.len()];
    let mut circles = Vec::new();
    for start in 0..rows.len() {
        let mut path = Vec::new();
        let mut on_path = HashMap::new();
        let mut at = start;
        let end = loop {
            if let Some(known) = &ends[at] {
                break known.clone();
            }
            if let Some(from) = on_path.insert(at, path.len()) {
                circles.push(from_earliest(&path[from..]));
                break End::Circle;
            }
            path.push(at);
            match next[at] {
                Some(following) => at = following,
                None => break End::Outside(at),
            }
        };
        for passed in path {
            ends[passed] = Some(end.clone());
        }
    }
    (ends.into_iter().flatten().collect(), circles)
}

/// The same circle, begun at its earliest row.
fn from_earliest(circle: &[usize]) -> Vec<usize> {
    let earliest = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or(0);
    let mut turned = circle.to_vec();
    turned.rotate_left(earliest);
    turned
}
