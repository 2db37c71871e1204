//! References in raw HTML and in HTML comments.

use std::ops::Range;

use super::super::markdown::Piece;
use super::super::names::Occurrence;
use super::super::{Reason, Site, note};
use super::{Reference, Scope, pieces, quoted, raw};

/// What the occurrences in an HTML block, or in a comment inside running text, are.
pub(in super::super) fn references(
    scope: Scope<'_>,
    html: &Range<usize>,
    out: &mut Vec<Reference>,
) {
    let mut at = html.start;
    while at < html.end {
        let comment = memchr::memmem::find(&scope.text.as_bytes()[at..html.end], b"<!--")
            .map_or(html.end, |start| at + start);
        marked_up(scope, &(at..comment), out);
        let end = memchr::memmem::find(&scope.text.as_bytes()[comment..html.end], b"-->")
            .map_or(html.end, |length| comment + length + 3);
        commented(scope, &(comment..end), out);
        at = end;
    }
}

/// Everything in a comment is a suspicion at most.
fn commented(scope: Scope<'_>, comment: &Range<usize>, out: &mut Vec<Reference>) {
    let found = scope.within(comment);
    if found.is_empty() {
        return;
    }
    let first = out.len();
    out.extend(found.iter().map(|found| Reference {
        row: found.row,
        range: found.range.clone(),
        site: Site::HtmlComment,
        reason: Reason::Commented,
    }));
    let inner = (comment.start + "<!--".len()).min(comment.end)..comment.end;
    let pieces = pieces(scope.text, &inner, tags);
    note::hear(scope, &pieces, &mut out[first..]);
}

/// Text between tags; a name between backticks counts as in running text.
fn marked_up(scope: Scope<'_>, part: &Range<usize>, out: &mut Vec<Reference>) {
    let judge = |content: Option<&Range<usize>>, found: &Occurrence| match content {
        Some(content) => quoted(scope.text, content, found, Reason::QuotedName),
        None => Reason::BareWord,
    };
    raw(scope, part, Site::Prose, tags, judge, out);
}

/// Splits text into tags and what lies between them.
fn tags(text: &str, part: Range<usize>, pieces: &mut Vec<Piece>) {
    let mut at = part.start;
    while at < part.end {
        let source = &text[at..part.end];
        let end = match source.find('<') {
            Some(0) => source.find('>').map_or(part.end, |length| at + length + 1),
            Some(length) => at + length,
            None => part.end,
        };
        pieces.push(if source.starts_with('<') {
            Piece::Tag(at..end)
        } else {
            Piece::Text(at..end)
        });
        at = end;
    }
}
