//! From byte offsets to lines, columns and the line's text, as an editor counts them.

use std::ops::Range;

/// Where an offset lies.
pub(super) struct Place<'t> {
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// The whole line without its end.
    pub(super) excerpt: &'t str,
}

/// Answers for offsets that never decrease, reading the text once.
pub(super) struct Places<'t> {
    text: &'t str,
    line: usize,
    /// The current line without its end.
    span: Range<usize>,
    /// How far the current line's characters are counted, and how many they are.
    counted: usize,
    characters: usize,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t str) -> Places<'t> {
        // A byte order mark is no character of the first line.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Places {
            text,
            line: 1,
            span: start..line_end(text, start),
            counted: start,
            characters: 0,
        }
    }

    pub(super) fn of(&mut self, offset: usize) -> Place<'t> {
        while offset > self.span.end && self.span.end < self.text.len() {
            let start = next_line(self.text, self.span.end);
            if start > offset {
                break;
            }
            self.line += 1;
            self.span = start..line_end(self.text, start);
            self.counted = start;
            self.characters = 0;
        }
        let offset = offset.max(self.counted);
        self.characters += self.text[self.counted..offset].chars().count();
        self.counted = offset;
        Place {
            line: self.line,
            column: self.characters + 1,
            excerpt: &self.text[self.span.clone()],
        }
    }
}

/// The end of the line that holds `from`, before its line end. A lone carriage return ends a line too.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

/// The start of the line after the one that ends at `end`; the text's length if there is none.
pub(super) fn next_line(text: &str, end: usize) -> usize {
    let rest = &text.as_bytes()[end..];
    match rest {
        [b'\r', b'\n', ..] => end + 2,
        [b'\r' | b'\n', ..] => end + 1,
        _ => end,
    }
}

/// The lines of a part of a text, each as its range without the line end.
pub(super) fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = part.start;
    std::iter::from_fn(move || {
        if start >= part.end {
            return None;
        }
        let end = line_end(&text[..part.end], start);
        let line = start..end;
        start = next_line(text, end).max(end + usize::from(end == part.end));
        Some(line)
    })
}
