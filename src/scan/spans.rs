//! Backtick spans in text that is no Markdown: frontmatter values, code blocks, HTML.
//!
//! The pairing rule is CommonMark's: a run of backticks closes with the next run of equal length.

use std::ops::Range;

/// The spans of a part of a text, each with its backticks, in order and in linear time.
pub(super) fn spans(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let runs = backtick_runs(text, part);
    // From the back, so that every run knows the next one of its length.
    let mut next_of_length = std::collections::HashMap::new();
    let mut closers = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        closers[index] = next_of_length.insert(run.len(), index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        match closers[index] {
            Some(closer) => {
                spans.push(runs[index].start..runs[closer].end);
                index = closer + 1;
            }
            None => index += 1,
        }
    }
    spans
}

fn backtick_runs(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let base = part.start;
    for at in memchr::memchr_iter(b'`', &text.as_bytes()[part]) {
        match runs.last_mut() {
            Some(run) if run.end == base + at => run.end += 1,
            _ => runs.push(base + at..base + at + 1),
        }
    }
    runs
}

/// A span without its backticks and the blanks beside them.
pub(super) fn content(text: &str, span: &Range<usize>) -> Range<usize> {
    let source = &text[span.clone()];
    let ticks = source.len() - source.trim_start_matches('`').len();
    let inner = span.start + ticks..span.end.saturating_sub(ticks).max(span.start + ticks);
    let raw = &text[inner.clone()];
    let start = inner.start + raw.len() - raw.trim_start().len();
    start..start + raw.trim().len()
}
