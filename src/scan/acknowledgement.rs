//! Rule 6: `<!-- vak: retired-ok NAME -->` comments.

use std::ops::Range;

use super::names::{Names, Occurrence};
use super::place::Places;

/// How far apart the parts of an acknowledgement may stand, in bytes.
const REACH: usize = 1024;

/// All acknowledgements of a text.
pub(super) struct Acknowledgements {
    /// The bytes from behind `<!--` to before `-->` of each, in order.
    comments: Vec<Range<usize>>,
    /// The lines they stand on with the rows they name, sorted.
    rows: Vec<(usize, usize)>,
}

impl Acknowledgements {
    pub(super) fn read(text: &str, names: &Names) -> Acknowledgements {
        let mut places = Places::new(text);
        let (mut comments, mut rows) = (Vec::new(), Vec::new());
        let found = memchr::memmem::find_iter(text.as_bytes(), b"retired-ok");
        for (comment, listed) in found.filter_map(|at| acknowledged(text, at)) {
            let line = places.of(comment.start).line;
            comments.push(comment);
            let words = text[listed].split([' ', ',', '\t']);
            let named =
                words.filter_map(|word| names.find(word.trim_matches(['`', '"', '\'']).as_bytes()));
            rows.extend(named.map(|row| (line, row)));
        }
        rows.sort_unstable();
        Acknowledgements { comments, rows }
    }

    /// Whether an occurrence is a word of an acknowledgement itself.
    pub(super) fn hold(&self, occurrence: &Occurrence) -> bool {
        let start = occurrence.range.start;
        let next = self
            .comments
            .partition_point(|comment| comment.end <= start);
        self.comments
            .get(next)
            .is_some_and(|comment| comment.start <= start)
    }

    /// Whether a name on a line is acknowledged there or on the line before.
    pub(super) fn cover(&self, row: usize, line: usize) -> bool {
        [line - 1, line]
            .iter()
            .any(|line| self.rows.binary_search(&(*line, row)).is_ok())
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
