//! The Markdown structure of a body: which bytes are running text, code spans, code blocks and HTML, and
//! which of them make up one sentence's neighbourhood (a paragraph, a list item's text, a table row).
//!
//! `pulldown-cmark` reads the Markdown; this module turns its events into [`Block`]s with source ranges.

use std::ops::Range;

use super::names::Occurrence;
use super::spans;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A part of a block's source, in order. Source between two pieces (a link's address, the markers of
/// emphasis) is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Running text.
    Text(Range<usize>),
    /// A code span with its backticks.
    Code(Range<usize>),
    /// An HTML tag inside running text.
    Tag(Range<usize>),
    /// A line end inside a paragraph.
    Break,
    /// A forced line end, or the border of two table cells.
    Edge(Edge),
    /// The beginning or the end of struck-out text.
    Strike { begins: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Line,
    Cell,
}

/// What a run of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Paragraph,
    Item,
    Heading,
    Row,
}

/// A block with text of its own.
pub(super) enum Block<'b> {
    Text {
        role: Role,
        pieces: &'b [Piece],
        leads: Leads<'b>,
        /// The header cells of the table that a row belongs to.
        header: &'b [Vec<Piece>],
    },
    /// A fenced or indented code block: all of its source, and the info string of a fence.
    Code {
        source: Range<usize>,
        info: &'b str,
        leads: Leads<'b>,
    },
    /// Raw HTML, or an HTML comment inside running text.
    Html(Range<usize>),
}

/// What stands above a block and may speak for it, the nearest first.
#[derive(Clone, Copy)]
pub(super) struct Leads<'b> {
    /// The text right before a code block, and the lines that lead the lists around a block.
    pub(super) lines: &'b [&'b [Piece]],
    /// The heading above it, and those around that but for the document's title.
    pub(super) headings: &'b [&'b [Piece]],
    /// The document's title, where it is not the heading above.
    pub(super) title: Option<&'b [Piece]>,
}

/// The extensions that skills are written in: GitHub's tables, footnotes, task lists and strike-out.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
}

/// Reads `text[from..]` as Markdown and hands every block that holds one of `places`, which are in order,
/// to `visit`, in the order of the source.
pub(super) fn blocks(
    text: &str,
    from: usize,
    places: &[Occurrence],
    visit: &mut dyn FnMut(&Block<'_>),
) {
    let mut reader = Reader::new(places, visit);
    for (event, range) in Parser::new_ext(&text[from..], options()).into_offset_iter() {
        reader.event(event, range.start + from..range.end + from, text);
    }
    reader.flush();
}

/// How much of the end of a leading line is kept, in bytes.
const LEAD_LENGTH: usize = 300;

/// How many leading lines and headings may speak for a block.
const MOST_LEADS: usize = 6;

/// A heading that is open for what follows it.
struct Section {
    level: HeadingLevel,
    pieces: Vec<Piece>,
}

struct Reader<'v> {
    visit: &'v mut dyn FnMut(&Block<'_>),
    places: &'v [Occurrence],
    pieces: Vec<Piece>,
    role: Role,
    sections: Vec<Section>,
    /// The text block that ended last, if nothing but a container's start came since.
    previous: Option<Vec<Piece>>,
    /// For every open list or table, the line that leads it.
    list_leads: Vec<Option<Vec<Piece>>>,
    header: Vec<Vec<Piece>>,
    in_header: bool,
    heading: Option<HeadingLevel>,
    in_code: bool,
}

impl<'v> Reader<'v> {
    fn new(places: &'v [Occurrence], visit: &'v mut dyn FnMut(&Block<'_>)) -> Reader<'v> {
        Reader {
            visit,
            places,
            pieces: Vec::new(),
            role: Role::Paragraph,
            sections: Vec::new(),
            previous: None,
            list_leads: Vec::new(),
            header: Vec::new(),
            in_header: false,
            heading: None,
            in_code: false,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>, text: &str) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(_) if self.in_code => {}
            Event::Text(_) => self.text(range),
            Event::Code(_) => self.pieces.push(Piece::Code(range)),
            Event::InlineHtml(_) if text[range.clone()].starts_with("<!--") => {
                self.show(&range, &Block::Html(range.clone()));
            }
            Event::InlineHtml(_) => self.pieces.push(Piece::Tag(range)),
            Event::SoftBreak => self.pieces.push(Piece::Break),
            Event::HardBreak => self.pieces.push(Piece::Edge(Edge::Line)),
            Event::Rule => {
                self.flush();
                self.previous = None;
            }
            // HTML blocks are taken whole at their start; the rest has no text of its own.
            _ => {}
        }
    }

    /// Text events that touch are one text: the parser splits at every sign that might have been markup.
    fn text(&mut self, range: Range<usize>) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Text(range)),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Strikethrough => self.pieces.push(Piece::Strike { begins: true }),
            Tag::TableCell => self.pieces.push(Piece::Edge(Edge::Cell)),
            tag if is_inline(tag) => {}
            tag => {
                self.flush();
                self.open(tag, range);
            }
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::List(_) | Tag::Table(_) => {
                let lead = self.previous.take();
                self.list_leads.push(lead);
            }
            Tag::Item => self.role = Role::Item,
            Tag::Heading { level, .. } => {
                self.heading = Some(*level);
                self.role = Role::Heading;
            }
            Tag::TableHead => {
                self.in_header = true;
                self.role = Role::Row;
            }
            Tag::TableRow => self.role = Role::Row,
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => "",
                };
                self.in_code = true;
                self.show_code(range, info);
            }
            Tag::HtmlBlock => self.show(&range, &Block::Html(range.clone())),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strikethrough => self.pieces.push(Piece::Strike { begins: false }),
            TagEnd::TableHead => {
                self.header = cells(&self.pieces);
                self.flush();
                self.in_header = false;
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                self.in_code = false;
                self.previous = None;
            }
            TagEnd::Item => {
                self.flush();
                self.role = Role::Paragraph;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = None;
            }
            TagEnd::List(_) | TagEnd::Table => {
                self.flush();
                self.list_leads.pop();
                self.header.clear();
                self.previous = None;
            }
            tag if is_inline_end(tag) => {}
            _ => self.flush(),
        }
    }

    /// The text gathered so far is one block.
    fn flush(&mut self) {
        if self.pieces.is_empty() {
            return;
        }
        let pieces = std::mem::take(&mut self.pieces);
        let role = std::mem::replace(&mut self.role, Role::Paragraph);
        if let Some(level) = self.heading {
            self.sections.retain(|section| section.level < level);
        }
        self.show_text(role, &pieces);
        let lead = ending(pieces);
        match self.heading {
            Some(level) => {
                self.sections.push(Section {
                    level,
                    pieces: lead,
                });
                self.previous = None;
            }
            None => self.previous = Some(lead),
        }
    }

    fn show_text(&mut self, role: Role, pieces: &[Piece]) {
        if !self.holds_place(&span(pieces)) {
            return;
        }
        let lines = lines(None, &self.list_leads);
        let (headings, title) = headings(&self.sections);
        let header = if self.in_header { &[] } else { &*self.header };
        (self.visit)(&Block::Text {
            role,
            pieces,
            leads: Leads {
                lines: &lines,
                headings: &headings,
                title,
            },
            header,
        });
    }

    fn show_code(&mut self, source: Range<usize>, info: &str) {
        if !self.holds_place(&source) {
            return;
        }
        let lines = lines(self.previous.as_ref(), &self.list_leads);
        let (headings, title) = headings(&self.sections);
        let leads = Leads {
            lines: &lines,
            headings: &headings,
            title,
        };
        (self.visit)(&Block::Code {
            source,
            info,
            leads,
        });
    }

    fn show(&mut self, source: &Range<usize>, block: &Block<'_>) {
        if self.holds_place(source) {
            (self.visit)(block);
        }
    }

    fn holds_place(&self, source: &Range<usize>) -> bool {
        let first = self
            .places
            .partition_point(|place| place.range.start < source.start);
        self.places
            .get(first)
            .is_some_and(|place| place.range.start < source.end)
    }
}

/// The lines that lead a block: the one right before it, then those of its lists.
fn lines<'l>(
    previous: Option<&'l Vec<Piece>>,
    list_leads: &'l [Option<Vec<Piece>>],
) -> Vec<&'l [Piece]> {
    let list_leads = list_leads.iter().rev().flatten();
    previous
        .into_iter()
        .chain(list_leads)
        .map(Vec::as_slice)
        .take(MOST_LEADS)
        .collect()
}

/// The headings above a block, and apart from them the document's title, unless that is the nearest.
fn headings(sections: &[Section]) -> (Vec<&[Piece]>, Option<&[Piece]>) {
    let is_title = |section: &&Section| section.level == HeadingLevel::H1;
    let title = sections
        .first()
        .filter(is_title)
        .filter(|_| sections.len() > 1);
    let headings = sections[usize::from(title.is_some())..].iter().rev();
    (
        headings
            .map(|section| section.pieces.as_slice())
            .take(MOST_LEADS)
            .collect(),
        title.map(|section| section.pieces.as_slice()),
    )
}

impl Piece {
    /// The source of a piece that has one.
    pub(super) fn range(&self) -> Option<&Range<usize>> {
        match self {
            Piece::Text(range) | Piece::Code(range) | Piece::Tag(range) => Some(range),
            Piece::Break | Piece::Edge(_) | Piece::Strike { .. } => None,
        }
    }

    /// What a code span holds.
    pub(super) fn content(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Piece::Code(span) => Some(spans::content(text, span)),
            _ => None,
        }
    }
}

/// The source from the first piece to the last.
pub(super) fn span(pieces: &[Piece]) -> Range<usize> {
    let start = pieces
        .iter()
        .find_map(Piece::range)
        .map_or(0, |range| range.start);
    let end = pieces
        .iter()
        .rev()
        .find_map(Piece::range)
        .map_or(0, |range| range.end);
    start..end
}

/// The last pieces of a text: of a long leading line only its end leads.
fn ending(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let end = span(&pieces).end;
    let first = pieces
        .iter()
        .rposition(|piece| {
            piece
                .range()
                .is_some_and(|range| range.end + LEAD_LENGTH < end)
        })
        .map_or(0, |last_far| last_far + 1);
    pieces.drain(..first);
    pieces
}

/// Splits a table row's pieces into its cells.
pub(super) fn cells(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut cells = Vec::new();
    for piece in pieces {
        if *piece == Piece::Edge(Edge::Cell) {
            cells.push(Vec::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(piece.clone());
        }
    }
    cells
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::Superscript
            | Tag::Subscript
    )
}

fn is_inline_end(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::TableCell
    )
}
