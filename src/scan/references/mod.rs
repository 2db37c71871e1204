//! Rules 1 to 4: what an occurrence of a name is at the place where it stands, before its sentence is heard.

pub(super) mod code;
pub(super) mod frontmatter;
pub(super) mod html;
pub(super) mod text;

use std::ops::Range;

use super::names::{Names, Occurrence};
use super::{Reason, Site, call};

/// What is found at one occurrence.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    pub(super) row: usize,
    pub(super) range: Range<usize>,
    pub(super) site: Site,
    pub(super) reason: Reason,
}

/// The occurrences of a text that lie in one part of it, and what they are judged with.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) text: &'s str,
    pub(super) names: &'s Names,
    /// All occurrences of the text, in order.
    pub(super) occurrences: &'s [Occurrence],
}

impl<'s> Scope<'s> {
    /// The occurrences that begin in a part of the text.
    pub(super) fn within(&self, part: &Range<usize>) -> &'s [Occurrence] {
        let first = self
            .occurrences
            .partition_point(|found| found.range.start < part.start);
        let rest = &self.occurrences[first..];
        &rest[..rest.partition_point(|found| found.range.start < part.end)]
    }
}

/// What a name inside backticks is: rule 1, or rule 4 where it is more than the name or a call.
/// `content` is the span's, which may hold many names.
fn quoted(text: &str, content: &Range<usize>, found: &Occurrence, as_name: Reason) -> Reason {
    let marked = if *content == found.range {
        Some(as_name)
    } else if content.start == found.range.start && begins_call(text, &found.range)
        || content.start != found.range.start && call::is_called(text, &found.range)
        || call::is_data_call(text, &found.range)
    {
        Some(Reason::SpanCall)
    } else {
        None
    };
    match marked {
        Some(_) if call::is_defined(text, content, &found.range) => Reason::OwnDefinition,
        Some(_) if !found.exact => Reason::OtherCase,
        Some(reason) => reason,
        None => Reason::CodeWord,
    }
}

/// At the start of a span the call form is looser: blanks may stand before its parenthesis.
fn begins_call(text: &str, name: &Range<usize>) -> bool {
    call::is_called(text, name)
        || text[name.end..]
            .trim_start_matches(' ')
            .starts_with(['(', '{'])
}
