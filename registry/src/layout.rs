//! What is looked at before TOML: encoding, byte-order mark, line ends, conflict markers.

use std::borrow::Cow;
use std::ops::Range;

use crate::fault::{Fault, FaultKind};

/// Where each line of a text starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    /// The line starts of `text`.
    pub(crate) fn of(text: &str) -> LineStarts {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        LineStarts(std::iter::once(0).chain(after_breaks).collect())
    }

    /// The line that holds the byte `at`, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}

/// The byte-order mark, as a character.
const BOM: char = '\u{feff}';

/// The text of a file, or why it is not text. Where it is not, the text is what can be shown of it.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<Fault>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => {
            let at = error.valid_up_to();
            let fault = Fault::new(
                FaultKind::NotUtf8,
                at..at + char::REPLACEMENT_CHARACTER.len_utf8(),
            );
            (String::from_utf8_lossy(bytes), Some(fault))
        }
    }
}

/// The faults that make it pointless to read on: conflict markers, which come in threes.
pub(crate) fn conflicts(text: &str) -> Vec<Fault> {
    lines(text)
        .filter(|(_, line)| is_conflict_marker(line))
        .map(|(span, _)| Fault::new(FaultKind::ConflictMarker, span))
        .collect()
}

/// The faults that leave the text readable: a byte-order mark, mixed line ends.
pub(crate) fn blemishes(text: &str) -> Vec<Fault> {
    let bom = text
        .starts_with(BOM)
        .then(|| Fault::new(FaultKind::ByteOrderMark, 0..BOM.len_utf8()));
    bom.into_iter().chain(mixed_line_ends(text)).collect()
}

/// The first line that ends unlike the first one.
fn mixed_line_ends(text: &str) -> Option<Fault> {
    let mut ended = text
        .split_inclusive('\n')
        .scan(0, |start, line| {
            let span = *start..*start + line.len();
            *start = span.end;
            Some((span, line))
        })
        .filter(|(_, line)| line.ends_with('\n'))
        .map(|(span, line)| (span, if line.ends_with("\r\n") { "CRLF" } else { "LF" }));
    let (_, first) = ended.next()?;
    let (span, here) = ended.find(|(_, here)| *here != first)?;
    let break_len = here.len() / 2;
    Some(Fault::new(
        FaultKind::MixedLineEnds { here, first },
        span.start..span.end - break_len,
    ))
}

/// Whether git wrote this line to separate the sides of a conflict.
fn is_conflict_marker(line: &str) -> bool {
    let marker = |sign: &str| {
        line.strip_prefix(sign)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
        .into_iter()
        .any(marker)
}

/// Every line without its line end, and its place.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let content = line.trim_end_matches(['\r', '\n']);
        let span = start..start + content.len();
        start += line.len();
        (span, content)
    })
}
