//! Table rows: a row maps a name where another cell is its replacement, and its header says in which direction.

use std::ops::Range;

use super::super::Reason;
use super::super::markdown::{Piece, cells, span};
use super::super::references::Scope;
use super::after;
use super::lexicon::Classes;
use super::sentence::Sentence;
use super::tokens::{self, Kind, Token};

/// How many cells of a row are heard.
const MOST_CELLS: usize = 32;

/// How many words of a cell the names in other cells hear.
const MOST_WORDS: usize = 24;

/// What a column's header says of the tools below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Old,
    New,
    /// What to use where the row's tool fails: no replacement.
    Fallback,
    /// When the row's tool went.
    End,
    /// Whether the tool is there: "Status", "vak 3.1", or no header.
    Status,
    Plain,
}

/// What the header of the table that is read says of its columns.
#[derive(Default)]
pub(super) struct Header {
    /// Where its first text begins.
    start: Option<usize>,
    columns: Vec<Column>,
}

impl Header {
    /// Reads another header, or gives what was read of this one.
    pub(super) fn read(&mut self, scope: Scope<'_>, cells: &[Vec<Piece>]) -> &[Column] {
        let cells = &cells[..cells.len().min(MOST_CELLS)];
        let start = cells
            .iter()
            .flatten()
            .find_map(Piece::range)
            .map(|range| range.start);
        if start != self.start {
            self.start = start;
            let headers = cells.iter().map(|cell| tokens::read(scope, cell));
            let headers = headers.collect::<Vec<_>>();
            self.columns = headers.iter().map(|header| column(header)).collect();
            // "Previous tool", "Next tool": steps, none of them gone.
            let is_sequence = headers.iter().flatten().any(|token| token.is("next"));
            for column in self.columns.iter_mut().filter(|_| is_sequence) {
                if *column == Column::Old {
                    *column = Column::Plain;
                }
            }
        }
        &self.columns
    }
}

/// A table row as rule 5 hears it.
pub(super) struct Row<'r, 't> {
    cells: Vec<Cell<'t>>,
    columns: &'r [Column],
}

struct Cell<'t> {
    range: Range<usize>,
    /// Whether it holds names and nothing that is done with them.
    is_alone: bool,
    /// What other cells' names hear of it.
    words: Vec<Token<'t>>,
}

impl<'t> Cell<'t> {
    fn read(scope: Scope<'t>, pieces: &[Piece]) -> Cell<'t> {
        let mut words = tokens::read(scope, pieces);
        let is_alone = is_alone(&words);
        words.truncate(MOST_WORDS);
        Cell {
            range: span(pieces),
            is_alone,
            words,
        }
    }
}

impl<'r, 't> Row<'r, 't> {
    pub(super) fn read(scope: Scope<'t>, pieces: &[Piece], columns: &'r [Column]) -> Row<'r, 't> {
        Row {
            cells: cells(pieces)
                .iter()
                .take(MOST_CELLS)
                .map(|cell| Cell::read(scope, cell))
                .collect(),
            columns,
        }
    }

    /// What the row says of the name in one of its cells.
    pub(super) fn hear(&self, sentence: &Sentence<'_, '_>) -> Option<Reason> {
        let start = sentence.tokens[sentence.target].range.start;
        let own = self
            .cells
            .iter()
            .position(|cell| cell.range.contains(&start))?;
        if self.column(own) == Column::Old {
            return Some(Reason::Mapped);
        }
        let others = || self.cells.iter().enumerate().filter(|(at, _)| *at != own);
        if self.cells[own].is_alone {
            let mapped = others().any(|(at, cell)| {
                let right = own < at || self.column(at) == Column::New;
                is_replacement(sentence, &cell.words)
                    && right
                    && !matches!(self.column(at), Column::Old | Column::Fallback)
            });
            if mapped && self.column(own) != Column::New {
                return Some(Reason::Mapped);
            }
        }
        // "Until", "Removed in": a version below says when the row's tool went.
        let ended = others().any(|(at, cell)| {
            self.column(at) == Column::End && cell.words.iter().any(Token::is_version)
        });
        if ended {
            return Some(Reason::Gone);
        }
        others()
            .filter(|(at, cell)| *at > own || self.cells[own].is_alone && cell.words.len() <= 4)
            .find_map(|(at, cell)| match cell.words.first()?.kind {
                Kind::Bad if self.column(at) == Column::Status => Some(Reason::Forbidden),
                Kind::Bad => None,
                _ => after::status(sentence, &cell.words),
            })
    }

    fn column(&self, at: usize) -> Column {
        self.columns.get(at).copied().unwrap_or(Column::Status)
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
    if is_status(header) {
        return Column::Status;
    }
    if !is_of_tools(header) {
        return Column::Plain;
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
    let new = header
        .iter()
        .any(|token| token.is_any(NEW) || token.kind == Kind::Good);
    // "Use instead", "Replaced by" head new names, "Instead of" old ones.
    let by = header
        .last()
        .is_some_and(|token| token.is_any("by with instead"));
    match (old, new) {
        (_, true) if by => Column::New,
        // "Removed by" heads what removes.
        (true, false) if by => Column::Plain,
        (true, _) => Column::Old,
        (false, true) => Column::New,
        (false, false) => Column::Plain,
    }
}

/// What heads a column of new names.
const NEW: &str = "new use replacement now to after replaced preferred current successor instead alternative today \
                   right good";

/// "Status", "Available?", "vak 3.1": ❌ below it says that the tool is not there.
fn is_status(header: &[Token<'_>]) -> bool {
    let said = "status available availability supported allowed permitted works working exists there present usable callable ok vak";
    let known = Classes::FILLER
        .or(Classes::NOUN)
        .or(Classes::ADVERB)
        .or(Classes::AUX)
        .or(Classes::CLOSER);
    header.iter().all(|token| {
        token.is_any(said) || token.has(known) || token.is_version() || token.kind != Kind::Word
    }) && (header.is_empty()
        || header
            .iter()
            .any(|token| token.is_any(said) || token.is_version()))
        && !header
            .iter()
            .any(|token| token.is_any("before after since from"))
}

/// Whether a header speaks of tools and nothing else: "Old name", "Removed in 3.0", but not "Removed rows" or
/// "Tools without network".
fn is_of_tools(header: &[Token<'_>]) -> bool {
    let known = Classes::FILLER
        .or(Classes::NOUN)
        .or(Classes::ADVERB)
        .or(Classes::AUX)
        .or(Classes::CALL)
        .or(Classes::CLOSER)
        .or(Classes::OLD)
        .or(Classes::GONE)
        .or(Classes::REPLACE)
        .or(Classes::FORMERLY)
        .or(Classes::AVOID)
        .or(Classes::ENDING)
        .or(Classes::BAD);
    // Other words may stand between: "Old sandbox tool".
    let describes =
        |token: &Token<'_>| token.has(Classes::OLD.or(Classes::GONE).or(Classes::FORMERLY));
    let first = header.iter().position(describes).unwrap_or(header.len());
    let last = header
        .iter()
        .rposition(|token| token.has(Classes::NOUN))
        .unwrap_or(0);
    // "Before writing" heads what is done then.
    let dates_step = header
        .windows(2)
        .any(|pair| pair[0].is_any("before after") && pair[1].has(Classes::CALL));
    !dates_step && header.iter().enumerate().all(|(at, token)| {
        token.kind != Kind::Word
            || token.has(known)
            || token.is_any(NEW)
            || token.is_any("not never instead what from before was replaces wrong bad vak version v we you do of")
            || token.is_version()
            || token.word.starts_with(|letter: char| letter.is_ascii_digit())
            || (first..last).contains(&at)
    })
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
