//! Rules 1 to 4: what an occurrence of a name is at the place where it stands, before its sentence is heard.

pub(super) mod code;
pub(super) mod frontmatter;
pub(super) mod html;
pub(super) mod text;

use std::ops::Range;

use super::markdown::Piece;
use super::names::{Names, Occurrence};
use super::{Reason, Site, call, note, spans};

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

/// Makes pieces of text that stands between backtick spans.
type Between = fn(&str, Range<usize>, &mut Vec<Piece>);

/// What the occurrences in a part that is no Markdown are, and what is said of them there. `judge` is given the
/// content of the backtick span that an occurrence stands in, if it stands in one.
fn raw(
    scope: Scope<'_>,
    part: &Range<usize>,
    site: Site,
    between: Between,
    judge: impl Fn(Option<&Range<usize>>, &Occurrence) -> Reason,
    out: &mut Vec<Reference>,
) {
    if scope.within(part).is_empty() {
        return;
    }
    let first = out.len();
    let pieces = pieces(scope.text, part, between);
    for piece in &pieces {
        let Some(range) = piece.range() else { continue };
        let content = piece.content(scope.text);
        out.extend(scope.within(range).iter().map(|found| Reference {
            row: found.row,
            range: found.range.clone(),
            site,
            reason: judge(content.as_ref(), found),
        }));
    }
    note::hear(scope, &pieces, &mut out[first..]);
}

/// Splits a part into backtick spans and the pieces of what stands between them.
fn pieces(text: &str, part: &Range<usize>, between: Between) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = part.start;
    for span in spans::spans(text, part.clone()) {
        between(text, at..span.start, &mut pieces);
        at = span.end;
        pieces.push(Piece::Code(span));
    }
    between(text, at..part.end, &mut pieces);
    pieces
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
