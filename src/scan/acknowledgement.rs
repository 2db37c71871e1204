//! Rule 6: `<!-- vak: retired-ok NAME -->` comments.

use std::ops::Range;

use super::names::{Names, Occurrence};
use super::place::Places;

/// How far apart the parts of an acknowledgement may stand, in bytes.
const REACH: usize = 1024;

/// One acknowledgement.
struct Acknowledgement {
    line: usize,
    /// The bytes from behind `<!--` to before `-->`.
    range: Range<usize>,
    rows: Vec<usize>,
}

/// All acknowledgements of a text, in order.
pub(super) struct Acknowledgements {
    found: Vec<Acknowledgement>,
}

impl Acknowledgements {
    pub(super) fn read(text: &str, names: &Names) -> Acknowledgements {
        let mut places = Places::new(text);
        let found = memchr::memmem::find_iter(text.as_bytes(), b"retired-ok")
            .filter_map(|at| acknowledged(text, at))
            .map(|(range, listed)| Acknowledgement {
                line: places.of(range.start).line,
                range,
                rows: text[listed]
                    .split([' ', ',', '\t'])
                    .filter_map(|word| names.find(word.trim_matches(['`', '"', '\'']).as_bytes()))
                    .collect(),
            })
            .collect();
        Acknowledgements { found }
    }

    /// Whether an occurrence is a word of an acknowledgement itself.
    pub(super) fn hold(&self, occurrence: &Occurrence) -> bool {
        let next = self
            .found
            .partition_point(|found| found.range.end <= occurrence.range.start);
        self.found
            .get(next)
            .is_some_and(|found| found.range.start <= occurrence.range.start)
    }

    /// Whether a name on a line is acknowledged there or on the line before.
    pub(super) fn cover(&self, row: usize, line: usize) -> bool {
        let first = self.found.partition_point(|found| found.line + 1 < line);
        self.found[first..]
            .iter()
            .take_while(|found| found.line <= line)
            .any(|found| found.rows.contains(&row))
    }
}

/// The comment around `retired-ok` at `at`, and where its names stand.
fn acknowledged(text: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let before = &text[text.ceil_char_boundary(at.saturating_sub(REACH))..at];
    let opening = before
        .trim_end()
        .strip_suffix("vak:")?
        .trim_end()
        .strip_suffix("<!--")?;
    let start = at - before.len() + opening.len() + "<!--".len();
    let names = at + "retired-ok".len();
    let after = &text[names..text.floor_char_boundary((names + REACH).min(text.len()))];
    let length = after.find("-->")?;
    let listed = names..names + length;
    (after.starts_with(char::is_whitespace) && !after[..length].contains('\n'))
        .then_some((start..listed.end, listed))
}
