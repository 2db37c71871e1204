//! References in the frontmatter: tools lists, the description, other fields.

use std::ops::Range;

use super::super::frontmatter::{Field, Frontmatter};
use super::super::markdown::{Edge, Piece};
use super::super::names::Occurrence;
use super::super::place::lines;
use super::super::tools_list::{self, Listing};
use super::super::{Reason, Site, note};
use super::{Reference, Scope, quoted, raw};

/// What the occurrences in the frontmatter are.
pub(in super::super) fn references(
    scope: Scope<'_>,
    frontmatter: &Frontmatter<'_>,
    out: &mut Vec<Reference>,
) {
    for (index, field) in frontmatter.fields.iter().enumerate() {
        let start = if index == 0 {
            frontmatter.range.start
        } else {
            field.key_range.start
        };
        let end = frontmatter
            .fields
            .get(index + 1)
            .map_or(frontmatter.range.end, |next| next.key_range.start);
        if scope.within(&(start..end)).is_empty() {
            continue;
        }
        let outside = [start..field.range.start, field.range.end..end];
        for part in outside {
            prose(scope, &part, Site::Frontmatter, out);
        }
        match tools_list::listing(field) {
            Some(listing) => listed(scope, field, listing, out),
            None if field.key == "description" => {
                let scalar = field.scalar();
                let comments = [field.range.start..scalar.start, scalar.end..field.range.end];
                prose(scope, &scalar, Site::Description, out);
                for comment in comments {
                    prose(scope, &comment, Site::Frontmatter, out);
                }
            }
            None => prose(scope, &field.range, Site::Frontmatter, out),
        }
    }
}

/// A tools list: entries are declared, what stands in its comments and patterns is not.
fn listed(scope: Scope<'_>, field: &Field<'_>, listing: Listing, out: &mut Vec<Reference>) {
    let list = tools_list::read(scope.text, field);
    let mut entries = list.entries.iter().peekable();
    for line in lines(scope.text, field.range.clone()) {
        let first = out.len();
        for found in scope.within(&line) {
            while entries
                .next_if(|entry| entry.name.end < found.range.end)
                .is_some()
            {}
            let entry = entries.peek().filter(|entry| entry.name == found.range);
            out.push(Reference {
                row: found.row,
                range: found.range.clone(),
                site: if entry.is_some() {
                    Site::ToolsList
                } else {
                    Site::Frontmatter
                },
                reason: match entry {
                    Some(entry) if entry.denied || listing == Listing::Takes => Reason::Disallowed,
                    Some(_) => Reason::ListEntry,
                    None => Reason::OtherField,
                },
            });
        }
        let comment = out[first..]
            .iter()
            .all(|reference| reference.site == Site::Frontmatter);
        if comment && out.len() > first {
            note::hear(scope, &[Piece::Text(line)], &mut out[first..]);
        }
    }
}

/// Text of the frontmatter that is read as prose.
fn prose(scope: Scope<'_>, part: &Range<usize>, site: Site, out: &mut Vec<Reference>) {
    let judge = |content: Option<&Range<usize>>, found: &Occurrence| match content {
        _ if site == Site::Frontmatter => Reason::OtherField,
        Some(content) => quoted(scope.text, content, found, Reason::Span),
        None => Reason::BareWord,
    };
    raw(scope, part, site, text_lines, judge, out);
}

/// An empty line or a list item ends what stands before it.
fn text_lines(text: &str, part: Range<usize>, pieces: &mut Vec<Piece>) {
    for (index, line) in lines(text, part).enumerate() {
        if index > 0 {
            let source = text[line.clone()].trim_start();
            let begins = source.is_empty() || source.starts_with(['-', '*', '#']);
            pieces.push(if begins {
                Piece::Edge(Edge::Line)
            } else {
                Piece::Break
            });
        }
        pieces.push(Piece::Text(line));
    }
}
