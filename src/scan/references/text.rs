//! References in running text: paragraphs, list items, headings, table rows.

use super::super::markdown::Block;
use super::super::note::Hearer;
use super::super::{Reason, Site};
use super::{Reference, Scope, quoted};

/// What the occurrences in a block of running text are.
pub(in super::super) fn references(
    scope: Scope<'_>,
    block: &Block<'_>,
    hearer: &mut Hearer<'_>,
    out: &mut Vec<Reference>,
) {
    let Block::Text { pieces, .. } = block else {
        return;
    };
    let first = out.len();
    for piece in *pieces {
        let Some(range) = piece.range() else { continue };
        let found = scope.within(range);
        if found.is_empty() {
            continue;
        }
        let content = piece.content(scope.text);
        for found in found {
            let (site, reason) = match &content {
                Some(content) => (
                    Site::CodeSpan,
                    quoted(scope.text, content, found, Reason::Span),
                ),
                None => (Site::Prose, Reason::BareWord),
            };
            out.push(Reference {
                row: found.row,
                range: found.range.clone(),
                site,
                reason,
            });
        }
    }
    hearer.hear_block(block, &mut out[first..]);
}
