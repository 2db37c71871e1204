//! Table rows: a row maps a name where another cell is its replacement, and its header says in which direction.

use super::super::Reason;
use super::super::markdown::{Piece, cells};
use super::super::references::Scope;
use super::after;
use super::lexicon::Classes;
use super::sentence::Sentence;
use super::tokens::{self, Kind, Token};

/// How many cells of a row are heard.
const MOST_CELLS: usize = 32;

/// What a column's header says of the tools below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Old,
    New,
    /// What to use where the row's tool fails: no replacement.
    Fallback,
    /// When the row's tool went.
    End,
    Plain,
}

/// A table row as rule 5 hears it.
pub(super) struct Row<'t> {
    cells: Vec<Vec<Token<'t>>>,
    columns: Vec<Column>,
}

impl<'t> Row<'t> {
    pub(super) fn read(scope: Scope<'t>, pieces: &[Piece], header: &[Vec<Piece>]) -> Row<'t> {
        Row {
            cells: cells(pieces)
                .iter()
                .take(MOST_CELLS)
                .map(|cell| tokens::read(scope, cell))
                .collect(),
            columns: header
                .iter()
                .take(MOST_CELLS)
                .map(|cell| column(&tokens::read(scope, cell)))
                .collect(),
        }
    }

    /// What the row says of the name in one of its cells.
    pub(super) fn hear(&self, sentence: &Sentence<'_, '_>) -> Option<Reason> {
        let range = &sentence.tokens[sentence.target].range;
        let own = self
            .cells
            .iter()
            .position(|cell| cell.iter().any(|token| token.range == *range))?;
        if self.column(own) == Column::Old {
            return Some(Reason::Mapped);
        }
        let others = || self.cells.iter().enumerate().filter(|(at, _)| *at != own);
        if is_alone(&self.cells[own]) {
            let mapped = others().any(|(at, cell)| {
                let right = own < at || self.column(at) == Column::New;
                is_replacement(sentence, cell)
                    && right
                    && !matches!(self.column(at), Column::Old | Column::Fallback)
            });
            if mapped && self.column(own) != Column::New {
                return Some(Reason::Mapped);
            }
        }
        // "Until", "Removed in": a version below says when the row's tool went.
        let ended = others()
            .any(|(at, cell)| self.column(at) == Column::End && cell.iter().any(Token::is_version));
        if ended {
            return Some(Reason::Gone);
        }
        others()
            .filter(|(at, _)| *at > own || self.cells[*at].len() <= 4)
            .find_map(|(_, cell)| after::status(sentence, cell))
    }

    fn column(&self, at: usize) -> Column {
        self.columns.get(at).copied().unwrap_or(Column::Plain)
    }
}

fn column(header: &[Token<'_>]) -> Column {
    if header
        .iter()
        .any(|token| token.is_any("fallback backup otherwise"))
    {
        return Column::Fallback;
    }
    let ends = |token: &Token<'_>| token.is_any("until till eol ended");
    let dates = header.last().is_some_and(|last| last.is_any("in since"));
    if header.iter().any(ends)
        || dates && header.iter().any(|token| token.has(Classes::GONE)) && header.len() == 2
    {
        return Column::End;
    }
    let old = header.iter().any(|token| {
        token.has(
            Classes::OLD
                .or(Classes::GONE)
                .or(Classes::FORMERLY)
                .or(Classes::AVOID),
        ) || token.is_any("not never instead from before was replaces wrong bad")
            || token.kind == Kind::Bad
    });
    let new = header.iter().any(|token| {
        token.is_any("new use replacement now to after replaced preferred current successor instead alternative today right good") || token.kind == Kind::Good
    });
    // "Use instead", "Replaced by" head new names, "Instead of" old ones.
    let of = header.last().is_some_and(|token| token.is("of"));
    let by = header
        .last()
        .is_some_and(|token| token.is_any("by with instead"));
    match (old, new) {
        (_, true) if by => Column::New,
        (true, _) if of => Column::Old,
        (true, false) => Column::Old,
        (true, true) => Column::Old,
        (false, true) => Column::New,
        (false, false) => Column::Plain,
    }
}

/// Whether a cell holds names and nothing that is done with them.
fn is_alone(cell: &[Token<'_>]) -> bool {
    cell.iter().all(|token| {
        token.is_code()
            || token.kind != Kind::Word
            || token.has(Classes::FILLER.or(Classes::NOUN))
            || token.is_any("and or")
    })
}

/// Whether a cell is the replacement: "`bash`", "use `bash`", "`bash` with `python3`".
fn is_replacement(sentence: &Sentence<'_, '_>, cell: &[Token<'_>]) -> bool {
    let first = cell.iter().find(|token| {
        !token.has(Classes::FILLER.or(Classes::ORDER).or(Classes::NOUN))
            && token.kind != Kind::Arrow
            && token.kind != Kind::Good
    });
    first.is_some_and(|token| sentence.is_replacement(token))
}
