//! Whether the rows agree: with each other, with the package's version, with the live tools.

use std::collections::HashMap;

use semver::Version;

use crate::chain::{self, End};
use crate::fault::{Fault, FaultKind, Faults};
use crate::read::{Placed, Reading};
use crate::row::{LiveName, Row, fold};

/// What the rows have to agree with.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The package's own version: no row may be newer.
    pub package: &'a Version,
    /// Every name of a live tool, where they are known. The build script does not know them: there the
    /// compiler checks that each chain ends on a live tool, by an assertion in the rendered source.
    pub live: Option<&'a [LiveName]>,
}

/// A list without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    rows: Vec<Row>,
    ends: Vec<String>,
}

impl List {
    /// The rows, in the order of the list.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Every row with the tool at the end of its chain of replacements.
    pub fn resolved(&self) -> impl Iterator<Item = (&Row, &str)> {
        self.rows.iter().zip(self.ends.iter().map(String::as_str))
    }
}

/// Reads a list and checks it whole.
///
/// `path` is only for the messages.
///
/// # Errors
/// Every fault that was found, not only the first.
pub fn parse(path: &str, bytes: &[u8], rules: Rules<'_>) -> Result<List, Faults> {
    let Reading {
        text,
        rows,
        mut faults,
        ..
    } = Reading::of(bytes);
    let (ends, circles) = chain::follow(&rows);
    faults.extend(duplicates(&rows));
    faults.extend(rows.iter().filter_map(|row| too_new(row, rules.package)));
    faults.extend(circles.iter().map(|circle| circle_fault(&rows, circle)));
    let names = Names::new(&rows, rules.live);
    faults.extend(rows.iter().filter_map(|row| names.still_live(row)));
    for (at, end) in ends.iter().enumerate() {
        if *end == End::Outside(at) {
            faults.extend(names.not_a_live_tool(&rows[at]));
        }
    }
    if !faults.is_empty() {
        return Err(Faults::new(path, &text, faults));
    }
    let ends = ends
        .iter()
        .filter_map(|end| match end {
            End::Outside(last) => Some(rows[*last].row.replacement.clone()),
            End::Circle => None,
        })
        .collect();
    let rows = rows.into_iter().map(|placed| placed.row).collect();
    Ok(List { rows, ends })
}

/// Every row whose name an earlier row has.
fn duplicates(rows: &[Placed]) -> Vec<Fault> {
    let mut seen: HashMap<String, &Placed> = HashMap::new();
    let mut faults = Vec::new();
    for placed in rows {
        let Some(first) = seen.get(&fold(&placed.row.name)) else {
            seen.insert(fold(&placed.row.name), placed);
            continue;
        };
        let kind = FaultKind::Duplicate {
            name: placed.row.name.clone(),
            retired_in: first.row.retired_in.clone(),
            line: first.row.line,
        };
        let fault = Fault::new(kind, placed.name.clone());
        faults.push(fault.also(first.name.clone(), "retired here"));
    }
    faults
}

fn too_new(placed: &Placed, package: &Version) -> Option<Fault> {
    let retired_in = &placed.row.retired_in;
    // Build metadata has no rank in semver: `3.1.0+local` is not newer than `3.1.0`.
    retired_in.cmp_precedence(package).is_gt().then(|| {
        let kind = FaultKind::TooNew {
            name: placed.row.name.clone(),
            retired_in: retired_in.clone(),
            package: package.clone(),
        };
        Fault::new(kind, placed.retired_in.clone())
    })
}

/// The fault of a circle, placed on its earliest row and naming the others.
fn circle_fault(rows: &[Placed], circle: &[usize]) -> Fault {
    let name = |at: &usize| rows[*at].row.name.clone();
    let first = &rows[circle[0]];
    if circle.len() == 1 {
        let kind = FaultKind::SelfReplacement(name(&circle[0]));
        return Fault::new(kind, first.replacement.clone());
    }
    let names = circle.iter().chain(&circle[..1]).map(name).collect();
    let fault = Fault::new(FaultKind::Cycle(names), first.replacement.clone());
    circle[1..].iter().fold(fault, |fault, at| {
        let label = format!("line {}", rows[*at].row.line);
        fault.also(rows[*at].replacement.clone(), label)
    })
}

/// Every name that a replacement may mean, by its folded spelling.
struct Names<'a> {
    retired: HashMap<String, &'a str>,
    live: Option<HashMap<String, &'a LiveName>>,
}

impl<'a> Names<'a> {
    fn new(rows: &'a [Placed], live: Option<&'a [LiveName]>) -> Names<'a> {
        let retired = |placed: &'a Placed| (fold(&placed.row.name), placed.row.name.as_str());
        let by_name = |live: &'a [LiveName]| live.iter().map(|it| (fold(&it.name), it)).collect();
        Names {
            retired: rows.iter().map(retired).collect(),
            live: live.map(by_name),
        }
    }

    /// The fault of a row whose name the sources still give to a live tool.
    fn still_live(&self, placed: &Placed) -> Option<Fault> {
        let live = self.live.as_ref()?.get(&fold(&placed.row.name))?;
        let kind = FaultKind::StillLive {
            name: placed.row.name.clone(),
            tool: live.tool.clone(),
            place: live.place.clone(),
        };
        Some(Fault::new(kind, placed.name.clone()))
    }

    /// The fault of a row whose replacement is not in the list, unless it is a live tool.
    fn not_a_live_tool(&self, placed: &Placed) -> Option<Fault> {
        let name = placed.row.name.clone();
        let replacement = placed.row.replacement.clone();
        let folded = fold(&replacement);
        if folded == fold(&name) {
            let kind = FaultKind::SelfReplacement(name);
            return Some(Fault::new(kind, placed.replacement.clone()));
        }
        let kind = match self.live.as_ref().map(|live| live.get(&folded)) {
            Some(Some(live)) if live.name == replacement && live.tool == replacement => {
                return None;
            }
            Some(Some(live)) if live.tool == live.name => FaultKind::Misspelt {
                meant: live.tool.clone(),
                name,
                replacement,
            },
            Some(Some(live)) => FaultKind::AliasReplacement {
                name,
                alias: replacement,
                tool: live.tool.clone(),
            },
            found => match (self.retired.get(&folded), found) {
                (Some(meant), _) => FaultKind::Misspelt {
                    meant: (*meant).to_owned(),
                    name,
                    replacement,
                },
                (None, Some(_)) => FaultKind::DeadEnd {
                    name,
                    replacement,
                    live: self.live_tools(),
                },
                (None, None) => return None,
            },
        };
        Some(Fault::new(kind, placed.replacement.clone()))
    }

    /// The live tools' own names, sorted.
    fn live_tools(&self) -> Vec<String> {
        let live = self.live.iter().flat_map(HashMap::values);
        let mut tools: Vec<_> = live.map(|live| live.tool.clone()).collect();
        tools.sort();
        tools.dedup();
        tools
    }
}
