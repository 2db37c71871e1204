//! References in running text: paragraphs, list items, headings, table rows.

use super::super::markdown::{Block, Piece};
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
        for found in scope.within(range) {
            let (site, reason) = match piece {
                Piece::Code(span) => (
                    Site::CodeSpan,
                    quoted(scope.text, span, found, Reason::Span),
                ),
                _ => (Site::Prose, Reason::BareWord),
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
