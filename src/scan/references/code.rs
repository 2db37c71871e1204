//! References in code blocks: calls, calls written as data, names between backticks, comments.

use std::ops::Range;

use super::super::markdown::Piece;
use super::super::names::Occurrence;
use super::super::place::lines;
use super::super::spans::{content, spans};
use super::super::{Reason, Site, call, note};
use super::{Reference, Scope, quoted};

/// The signs that begin a comment in the languages that code blocks hold.
const COMMENT_SIGNS: [&str; 7] = ["#", "//", "--", "/*", "*", ";", "<!--"];

/// What the occurrences in a code block are.
pub(in super::super) fn references(
    scope: Scope<'_>,
    source: &Range<usize>,
    info: &str,
    out: &mut Vec<Reference>,
) {
    let block = Block::new(scope, source, info);
    for line in lines(scope.text, source.clone()) {
        let found = scope.within(&line);
        if !found.is_empty() {
            block.line(&line, found, out);
        }
    }
}

/// What the lines of a code block are judged by.
struct Block<'s> {
    scope: Scope<'s>,
    /// The rows that the block defines itself.
    defined: Vec<usize>,
    is_diff: bool,
    /// Whether the fence says, or leaves open, that its content is prose.
    is_prose: bool,
}

impl<'s> Block<'s> {
    fn new(scope: Scope<'s>, source: &Range<usize>, info: &str) -> Block<'s> {
        let language = info.split([' ', ',', '{']).next().unwrap_or_default();
        Block {
            scope,
            defined: defined_rows(scope, source),
            is_diff: matches!(language, "diff" | "patch" | "udiff"),
            is_prose: matches!(
                language,
                "" | "text" | "txt" | "plain" | "plaintext" | "markdown" | "md" | "mdx" | "prompt"
            ),
        }
    }

    fn line(&self, line: &Range<usize>, found: &[Occurrence], out: &mut Vec<Reference>) {
        let text = self.scope.text;
        let ticked = spans(text, line.clone());
        let contents = ticked
            .iter()
            .map(|span| content(text, span))
            .collect::<Vec<_>>();
        let comment = comment_start(text, line);
        let first = out.len();
        for found in found {
            let next = ticked.partition_point(|span| span.end <= found.range.start);
            let content = ticked
                .get(next)
                .filter(|span| span.start < found.range.start)
                .map(|_| &contents[next]);
            out.push(Reference {
                row: found.row,
                range: found.range.clone(),
                site: Site::CodeBlock,
                reason: self.reason(content, found),
            });
        }
        let removed = self.is_diff && text[line.clone()].starts_with('-');
        if removed {
            for reference in &mut out[first..] {
                reference.reason = Reason::Struck;
            }
        } else if let Some(heard) = self.heard(line, comment) {
            let pieces = pieces(&heard, &ticked);
            let commented = out[first..]
                .iter()
                .position(|reference| reference.range.start >= heard.start);
            if let Some(commented) = commented {
                note::hear(self.scope, &pieces, &mut out[first + commented..]);
            }
        }
    }

    /// `content` is that of the span around the name, if it stands in one.
    fn reason(&self, content: Option<&Range<usize>>, found: &Occurrence) -> Reason {
        let text = self.scope.text;
        let quoted = content.map(|content| quoted(text, content, found, Reason::QuotedName));
        let marked = match quoted {
            Some(reason) if reason != Reason::CodeWord => reason,
            _ if call::is_called(text, &found.range) => Reason::BlockCall,
            _ if call::is_data_call(text, &found.range) => Reason::DataCall,
            _ => return Reason::CodeWord,
        };
        if self.defined.binary_search(&found.row).is_ok() {
            Reason::OwnDefinition
        } else if found.exact {
            marked
        } else {
            Reason::OtherCase
        }
    }

    /// The part of a line that speaks: its comment, or all of it where the block is prose.
    fn heard(&self, line: &Range<usize>, comment: Option<usize>) -> Option<Range<usize>> {
        match comment {
            Some(start) => Some(start..line.end),
            None if self.is_prose && reads_as_prose(&self.scope.text[line.clone()]) => {
                Some(line.clone())
            }
            None => None,
        }
    }
}

/// The rows that some line of the block defines.
fn defined_rows(scope: Scope<'_>, source: &Range<usize>) -> Vec<usize> {
    let mut rows = Vec::new();
    for line in lines(scope.text, source.clone()) {
        for found in scope.within(&line) {
            if found.exact && call::is_defined(scope.text, &line, &found.range) {
                rows.push(found.row);
            }
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Where the comment of a line begins, behind its sign.
fn comment_start(text: &str, line: &Range<usize>) -> Option<usize> {
    let source = &text[line.clone()];
    let indent = source.len() - source.trim_start().len();
    if let Some(sign) = COMMENT_SIGNS
        .iter()
        .find(|sign| source[indent..].starts_with(**sign))
    {
        return Some(line.start + indent + sign.len());
    }
    [" # ", " // ", "\t# ", "\t// ", " -- ", " /* "]
        .iter()
        .filter_map(|sign| {
            memchr::memmem::find(source.as_bytes(), sign.as_bytes()).map(|at| at + sign.len())
        })
        .min()
        .map(|at| line.start + at)
}

/// Whether a line looks like a sentence rather than like code: it begins like one, and several plain words
/// follow one another.
fn reads_as_prose(line: &str) -> bool {
    let words = line
        .split_whitespace()
        .filter(|word| {
            word.trim_end_matches([',', '.', ':', ';', '!', '?'])
                .chars()
                .all(char::is_alphabetic)
        })
        .count();
    let begins_sentence = line.trim_start().starts_with(char::is_uppercase);
    words >= 3 || words == 2 && begins_sentence
}

fn pieces(part: &Range<usize>, ticked: &[Range<usize>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = part.start;
    for span in ticked.iter().filter(|span| span.start >= part.start) {
        pieces.push(Piece::Text(at..span.start));
        pieces.push(Piece::Code(span.clone()));
        at = span.end;
    }
    pieces.push(Piece::Text(at..part.end));
    pieces
}
