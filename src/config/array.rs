//! An array's layout: which bytes of it belong to an item, and where one more item would stand.
//!
//! Knows commas, comments and lines, not what the array is for. A comment is never part of an item.

use std::ops::Range;
use toml_edit::Array;

/// An array as it is written, from bracket to bracket.
pub(super) struct Layout<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    /// The item with this index.
    Item(usize),
    Comma,
    /// From `#` to the end of its line, without the line break.
    Comment,
    LineBreak,
    Close,
}

#[derive(Debug, Clone)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
    /// To be taken away.
    cut: bool,
}

impl<'a> Layout<'a> {
    /// The layout of an array in the text that it was parsed from; `None` where it can't be told.
    pub(super) fn read(text: &'a str, array: &Array) -> Option<Self> {
        let span = array.span()?;
        let mut layout = Layout {
            text,
            tokens: Vec::new(),
        };
        layout.push(Kind::Open, span.start, span.start + 1);
        let mut at = span.start + 1;
        for (index, item) in array.iter().enumerate() {
            let item = item.span()?;
            layout.read_gap(at..item.start)?;
            layout.push(Kind::Item(index), item.start, item.end);
            at = item.end;
        }
        let close = span.end.checked_sub(1)?;
        layout.read_gap(at..close)?;
        layout.push(Kind::Close, close, span.end);
        Some(layout)
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.tokens.push(Token {
            kind,
            start,
            end,
            cut: false,
        });
    }

    /// Reads what stands between two items; blanks leave no token.
    fn read_gap(&mut self, gap: Range<usize>) -> Option<()> {
        let mut at = gap.start;
        while at < gap.end {
            let rest = self.text.get(at..gap.end)?;
            let (kind, length) = match rest.as_bytes() {
                [b' ' | b'\t', ..] => (None, 1),
                [b'\n', ..] => (Some(Kind::LineBreak), 1),
                [b'\r', b'\n', ..] => (Some(Kind::LineBreak), 2),
                [b',', ..] => (Some(Kind::Comma), 1),
                [b'#', ..] => (Some(Kind::Comment), comment_length(rest)),
                _ => return None,
            };
            if let Some(kind) = kind {
                self.push(kind, at, at + length);
            }
            at += length;
        }
        Some(())
    }

    /// The comments, in order.
    pub(super) fn comments(&self) -> impl Iterator<Item = &str> {
        let comments = |token: &&Token| token.kind == Kind::Comment;
        let comments = self.tokens.iter().filter(comments);
        comments.map(|token| &self.text[token.start..token.end])
    }

    /// The bytes to take away so that the items with these indices are gone, in order.
    ///
    /// An item takes one comma with it: the one in front if that is on its line, else the one behind.
    /// A line on which nothing else is left goes whole; elsewhere the blanks on one side go along.
    /// Comments stay where they are, and so do all other lines.
    pub(super) fn cut(mut self, indices: &[usize]) -> Vec<Range<usize>> {
        for index in indices {
            self.mark(*index);
        }
        let mut spans = Vec::new();
        let mut line = 0;
        for at in 0..self.tokens.len() {
            if matches!(self.tokens[at].kind, Kind::LineBreak | Kind::Close) {
                self.cut_line(line..at, &mut spans);
                line = at + 1;
            }
        }
        spans
    }

    fn mark(&mut self, index: usize) {
        let is_item = |token: &Token| token.kind == Kind::Item(index);
        let Some(item) = self.tokens.iter().position(is_item) else {
            return;
        };
        self.tokens[item].cut = true;
        // What was cut for another item is no longer beside this one.
        let is_left = |&at: &usize| !self.tokens[at].cut && !is_space(self.tokens[at].kind);
        let is_comma = |at: &usize| self.tokens[*at].kind == Kind::Comma;
        let before = (0..item).rev().find(is_left).filter(is_comma);
        let behind = (item..self.tokens.len()).find(is_left).filter(is_comma);
        let on_line = |comma: &usize| {
            let between = &self.tokens[*comma..item];
            between.iter().all(|token| token.kind != Kind::LineBreak)
        };
        let chosen = before.filter(on_line).or(behind).or(before);
        if let Some(comma) = chosen {
            self.tokens[comma].cut = true;
        }
    }

    /// Adds the spans of one line: its tokens without the token that ends it, a line break or the
    /// closing bracket, which is the token behind the range.
    fn cut_line(&self, line: Range<usize>, spans: &mut Vec<Range<usize>>) {
        let ends_array = self.tokens[line.end].kind == Kind::Close;
        let tokens = &self.tokens[line.clone()];
        if !ends_array && !tokens.is_empty() && tokens.iter().all(|token| token.cut) {
            // The opening bracket is never cut, so a line break stands in front.
            let start = self.tokens[line.start - 1].end;
            spans.push(start..self.tokens[line.end].end);
            return;
        }
        let mut at = line.start;
        while at < line.end {
            if self.tokens[at].cut {
                let run = at..self.run_end(at, line.end);
                spans.push(self.cut_run(run.clone(), line.start));
                at = run.end;
            } else {
                at += 1;
            }
        }
    }

    fn run_end(&self, start: usize, limit: usize) -> usize {
        let run = self.tokens[start..limit].iter();
        start + run.take_while(|token| token.cut).count()
    }

    /// The bytes of neighbouring tokens that go, and of the blanks beside them the side that served
    /// only them.
    fn cut_run(&self, run: Range<usize>, line_start: usize) -> Range<usize> {
        let (first, last) = (&self.tokens[run.start], &self.tokens[run.end - 1]);
        let (previous, next) = (&self.tokens[run.start - 1], &self.tokens[run.end]);
        let opens = run.start == line_start || previous.kind == Kind::Open;
        let closes = matches!(next.kind, Kind::Close | Kind::LineBreak | Kind::Comment);
        let bare_end = next.kind == Kind::LineBreak;
        let start = if closes && (!opens || bare_end) {
            previous.end
        } else {
            first.start
        };
        let end = if opens || !closes {
            next.start
        } else {
            last.end
        };
        start..end
    }

    /// What to write, and where, so that one more item follows the last: on its line, or on a new
    /// line like its own. In order.
    pub(super) fn append(&self, item: &str) -> Vec<(usize, String)> {
        let is_item = |token: &Token| matches!(token.kind, Kind::Item(_));
        let Some(last) = self.tokens.iter().rposition(is_item) else {
            return vec![(self.tokens[0].end, item.to_owned())];
        };
        let behind = &self.tokens[last + 1..];
        let comma_end = behind
            .iter()
            .find(|token| token.kind == Kind::Comma)
            .map(|comma| comma.end);
        let (front, last) = (&self.tokens[last - 1], &self.tokens[last]);
        let line_break = behind.iter().find(|token| token.kind == Kind::LineBreak);
        match (line_break, comma_end) {
            (Some(line_break), _) if front.kind == Kind::LineBreak => {
                // The line comes behind the comment that may follow the last item, so that the
                // comment stays with it.
                let indent = &self.text[front.end..last.start];
                let ending = &self.text[line_break.start..line_break.end];
                let comma = if comma_end.is_some() { "," } else { "" };
                let at = line_break.start.max(comma_end.unwrap_or(0));
                let line = (at, format!("{ending}{indent}{item}{comma}"));
                match comma_end {
                    Some(_) => vec![line],
                    None => vec![(last.end, ",".to_owned()), line],
                }
            }
            (_, Some(comma_end)) => vec![(comma_end, format!(" {item},"))],
            (_, None) => vec![(last.end, format!(", {item}"))],
        }
    }
}

fn is_space(kind: Kind) -> bool {
    matches!(kind, Kind::LineBreak | Kind::Comment)
}

fn comment_length(rest: &str) -> usize {
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    line.strip_suffix('\r').unwrap_or(line).len()
}
