//! The frontmatter of a skill, command or agent, as people write it.
//!
//! A line reader, not a YAML parser: it finds the top-level fields and their source ranges, and never
//! refuses a text. What strict YAML rejects (a plain description that holds `: `) reads as it was meant.

use std::borrow::Cow;
use std::ops::Range;

use super::place::{line_end, lines, next_line};

/// The block between the two `---` lines at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter<'a> {
    /// The bytes between the fence lines.
    pub range: Range<usize>,
    /// The first byte after the closing fence's line: where the body starts.
    pub body: usize,
    /// The top-level fields in the order they stand.
    pub fields: Vec<Field<'a>>,
}

/// One top-level `key: value` of a frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// The key, without quotes.
    pub key: &'a str,
    /// The bytes of the key.
    pub key_range: Range<usize>,
    /// The bytes from after the colon to the end of the value's last line, without that line's end.
    pub range: Range<usize>,
    /// The text that `range` is a part of.
    source: &'a str,
}

impl<'a> Frontmatter<'a> {
    /// Reads the frontmatter of a text, or `None` where there is none: the first line is not `---`, no
    /// line closes it, or its first line that says something is no field.
    pub fn read(text: &'a str) -> Option<Frontmatter<'a>> {
        let opening = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let opening_end = line_end(text, opening);
        if text[opening..opening_end].trim_end() != "---" {
            return None;
        }
        let start = next_line(text, opening_end);
        let closing = lines(text, start..text.len())
            .find(|line| matches!(text[line.clone()].trim_end(), "---" | "..."))?;
        let range = start..closing.start;
        if !opens_with_field(text, &range) {
            return None;
        }
        Some(Frontmatter {
            fields: fields(text, &range),
            body: next_line(text, closing.end),
            range,
        })
    }

    /// The first field with this key.
    pub fn field(&self, key: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The value of `name`, if there is one.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.field("name").map(Field::text)
    }

    /// The value of `description`, if there is one.
    pub fn description(&self) -> Option<Cow<'a, str>> {
        self.field("description").map(Field::text)
    }
}

impl<'a> Field<'a> {
    /// The value as text: quotes taken off, folded lines joined, escapes of double quotes resolved.
    pub fn text(&self) -> Cow<'a, str> {
        let raw = self.source[self.range.start..self.scalar().end].trim();
        let header = raw.lines().next().unwrap_or_default().trim_end();
        if let Some(fold) = block_scalar(header) {
            let start = line_end(
                self.source,
                self.range.start + leading_blanks(&self.source[self.range.clone()]),
            );
            return Cow::Owned(block_text(&self.source[start..self.range.end], fold));
        }
        let unquoted = match raw.as_bytes() {
            [b'"', .., b'"'] => {
                return Cow::Owned(double_quoted(&fold_plain(&raw[1..raw.len() - 1])));
            }
            [b'\'', .., b'\''] => {
                return Cow::Owned(fold_plain(&raw[1..raw.len() - 1]).replace("''", "'"));
            }
            _ => raw,
        };
        fold_plain(unquoted)
    }

    /// The content without the comment that ends a quoted or a plain value.
    pub(super) fn scalar(&self) -> Range<usize> {
        let content = self.content();
        let source = &self.source[content.clone()];
        // A block scalar's content begins behind its header and holds no comments.
        let blanks = leading_blanks(&self.source[self.range.clone()]);
        let is_block = content.start > self.range.start + blanks;
        let length = if is_block {
            source.len()
        } else {
            scalar_length(source)
        };
        content.start..content.start + length
    }

    /// Where the value's own text begins: behind the blanks, or behind a block scalar's header line.
    pub(super) fn content(&self) -> Range<usize> {
        let start = self.range.start + leading_blanks(&self.source[self.range.clone()]);
        let header_end = line_end(self.source, start).min(self.range.end);
        match block_scalar(self.source[start..header_end].trim_end()) {
            Some(_) => header_end..self.range.end,
            None => start..self.range.end,
        }
    }
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// Whether the first line that is neither blank nor a comment is a field.
fn opens_with_field(text: &str, range: &Range<usize>) -> bool {
    lines(text, range.clone())
        .map(|line| &text[line])
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .is_none_or(|line| key_of(line).is_some())
}

fn fields<'a>(text: &'a str, range: &Range<usize>) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = Vec::new();
    for line in lines(text, range.clone()) {
        let source = &text[line.clone()];
        if let Some((key, colon)) = key_of(source) {
            let key_range = line.start + key.start..line.start + key.end;
            fields.push(Field {
                key: &text[key_range.clone()],
                key_range,
                range: line.start + colon + 1..line.end,
                source: text,
            });
        } else if let Some(field) = fields.last_mut() {
            // Blank lines, deeper lines, list items and what YAML would refuse all belong to the field above.
            if !source.trim().is_empty() {
                field.range.end = line.end;
            }
        }
    }
    fields
}

/// The key that a line at the margin begins with, and its colon; both relative to the line.
fn key_of(line: &str) -> Option<(Range<usize>, usize)> {
    let quote = line.starts_with(['"', '\'']);
    let start = usize::from(quote);
    let length = line[start..]
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')))?;
    let end = start + length;
    let mut colon = end + usize::from(quote);
    colon += leading_blanks(line.get(colon..)?);
    let after = line.get(colon..)?.strip_prefix(':')?;
    (length > 0 && (after.is_empty() || after.starts_with([' ', '\t'])))
        .then_some((start..end, colon))
}

/// How a block scalar joins its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Folded,
    Literal,
}

fn block_scalar(header: &str) -> Option<Fold> {
    let header = header
        .split_once(" #")
        .map_or(header, |(before, _)| before)
        .trim_end();
    let fold = match header.chars().next()? {
        '>' => Fold::Folded,
        '|' => Fold::Literal,
        _ => return None,
    };
    header[1..]
        .chars()
        .all(|sign| matches!(sign, '+' | '-' | '1'..='9'))
        .then_some(fold)
}

fn block_text(body: &str, fold: Fold) -> String {
    match fold {
        Fold::Folded => fold_plain(body.trim()).into_owned(),
        Fold::Literal => {
            let lines = || body.lines().skip_while(|line| line.trim().is_empty());
            let indent = lines().next().map_or(0, leading_blanks);
            let text = lines()
                .map(|line| line.get(indent..).unwrap_or_else(|| line.trim_start()))
                .collect::<Vec<_>>();
            text.join("\n").trim_end().to_owned()
        }
    }
}

/// Joins the lines of a flow scalar: one blank for a line end, a line end for an empty line.
fn fold_plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for line in lines(text, 0..text.len()).map(|line| text[line].trim()) {
        if line.is_empty() {
            folded.push('\n');
        } else {
            if !folded.is_empty() && !folded.ends_with('\n') {
                folded.push(' ');
            }
            folded.push_str(line);
        }
    }
    Cow::Owned(folded)
}

fn double_quoted(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(letter) = chars.next() {
        match (letter, letter == '\\') {
            (_, false) => plain.push(letter),
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(escaped) => plain.push(escaped),
                None => plain.push('\\'),
            },
        }
    }
    plain
}

/// The length of a quoted or plain value up to a comment: a `#` behind a blank or a line's end, outside quotes.
fn scalar_length(source: &str) -> usize {
    let quoted = quoted_length(source).unwrap_or(0);
    memchr::memchr_iter(b'#', &source.as_bytes()[quoted..])
        .map(|at| quoted + at)
        .find(|at| {
            source[..*at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
        })
        .unwrap_or(source.len())
}

/// The length of a value in quotes, with them.
fn quoted_length(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let quote = bytes.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let mut at = 1;
    loop {
        // Within double quotes a backslash escapes, within single ones a second quote.
        match (quote, &bytes[at.min(bytes.len())..]) {
            (_, []) => return None,
            (b'"', [b'\\', ..]) | (b'\'', [b'\'', b'\'', ..]) => at += 2,
            (quote, [byte, ..]) if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}
