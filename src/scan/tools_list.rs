//! The entries of a tools list in a frontmatter: commas, blanks, flow and block lists, quotes, patterns.

use std::collections::HashMap;
use std::ops::Range;

use super::frontmatter::Field;
use super::place::lines;

/// The keys that list the tools a skill, command or agent asks for.
const TOOLS_KEYS: [&str; 4] = ["allowed-tools", "allowed_tools", "allowedTools", "tools"];

/// What a frontmatter field does with the tools it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    Allows,
    Takes,
}

/// How a tools list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `a, b` or `a b`, in one line or folded.
    Inline,
    /// `[a, b]`, `{a: true, b: false}`.
    Flow,
    /// `- a` lines.
    Block,
    /// `a: true` lines.
    Map,
}

/// One entry of a tools list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The name alone.
    pub(super) name: Range<usize>,
    /// The name with its pattern, without quotes.
    pub(super) call: Range<usize>,
    /// All of the entry: with its quotes, and with what it is a key of.
    pub(super) whole: Range<usize>,
    /// Whether the entry itself turns the tool off (`name: false`).
    pub(super) denied: bool,
}

/// A tools list's form and entries.
#[derive(Debug)]
pub(super) struct ToolsList {
    pub(super) form: Form,
    pub(super) entries: Vec<Entry>,
}

/// Whether a field lists tools, by its key.
pub(super) fn listing(field: &Field<'_>) -> Option<Listing> {
    if TOOLS_KEYS.contains(&field.key) {
        return Some(Listing::Allows);
    }
    let key = field.key.to_ascii_lowercase().replace(['-', '_'], "");
    let takes = ["disallowed", "denied", "forbidden", "excluded", "blocked"]
        .iter()
        .any(|verb| key.strip_prefix(verb) == Some("tools"));
    takes.then_some(Listing::Takes)
}

/// Reads a field's value as a tools list.
pub(super) fn read(text: &str, field: &Field<'_>) -> ToolsList {
    let value = field.content();
    let mut rows = lines(text, value.clone())
        .map(|line| uncommented(text, &line))
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>();
    let is_map = text[value.clone()].starts_with('{');
    if is_map || text[value].starts_with('[') {
        trim_brackets(text, &mut rows);
        let read_row = if is_map {
            flow_map_entries
        } else {
            inline_entries
        };
        return ToolsList {
            form: Form::Flow,
            entries: rows.iter().flat_map(|row| read_row(text, row)).collect(),
        };
    }
    if rows.iter().any(|row| is_item(&text[row.clone()])) {
        return ToolsList {
            form: Form::Block,
            entries: block_entries(text, &rows),
        };
    }
    if !rows.is_empty() && rows.iter().all(|row| map_entry(text, row).is_some()) {
        let entries = rows.iter().filter_map(|row| map_entry(text, row)).collect();
        return ToolsList {
            form: Form::Map,
            entries,
        };
    }
    let entries = rows
        .iter()
        .flat_map(|row| inline_entries(text, row))
        .collect();
    ToolsList {
        form: Form::Inline,
        entries,
    }
}

/// Takes the brackets of a flow list off its first and its last row.
fn trim_brackets(text: &str, rows: &mut [Range<usize>]) {
    if let Some(first) = rows.first_mut() {
        first.start += 1;
    }
    if let Some(last) = rows.last_mut()
        && let Some(length) = text[last.clone()].rfind([']', '}'])
    {
        last.end = last.start + length;
    }
}

/// A line without its YAML comment and outer blanks.
fn uncommented(text: &str, line: &Range<usize>) -> Range<usize> {
    let source = &text[line.clone()];
    let mut quote = None;
    let mut end = source.len();
    let mut previous = ' ';
    for (at, letter) in source.char_indices() {
        match (quote, letter) {
            (None, '#') if previous.is_whitespace() => {
                end = at;
                break;
            }
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        previous = letter;
    }
    trimmed(text, line.start..line.start + end)
}

fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let source = &text[part.clone()];
    let start = part.start + source.len() - source.trim_start().len();
    start..start + source.trim().len()
}

fn is_item(row: &str) -> bool {
    row.strip_prefix('-')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// `- name`, `- "name(pattern *)"`, `- a, b`, and `- name:` with a map below, whose rows are the entry's.
fn block_entries(text: &str, rows: &[Range<usize>]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Where the rows of the last entry's map must begin behind.
    let mut map = None;
    for row in rows {
        let indent = row.start - text[..row.start].trim_end_matches([' ', '\t']).len();
        if let (Some(above), Some(entry)) = (map, entries.last_mut())
            && indent > above
        {
            entry.whole.end = row.end;
            continue;
        }
        map = None;
        if !is_item(&text[row.clone()]) {
            continue;
        }
        let item = trimmed(text, row.start + 1..row.end);
        let source = &text[item.clone()];
        if let Some(key) = source.strip_suffix(':') {
            entries.extend(entry(text, item.start..item.start + key.len()));
            map = Some(indent);
        } else if source.contains(',') && !source.contains(": ") {
            entries.extend(inline_entries(text, &item));
        } else {
            entries.extend(entry(text, item));
        }
    }
    entries
}

/// `name: true`, `name: false`.
fn map_entry(text: &str, row: &Range<usize>) -> Option<Entry> {
    let (key, value) = text[row.clone()].split_once(": ")?;
    let denied = matches!(value.trim(), "false" | "deny" | "off" | "no");
    let allowed = matches!(value.trim(), "true" | "allow" | "ask" | "on" | "yes");
    let mut entry = entry(text, row.start..row.start + key.trim_end().len())?;
    entry.whole.end = row.end;
    entry.denied = denied;
    (denied || allowed).then_some(entry)
}

/// The entries of a row of `{name: true, other: false}`.
fn flow_map_entries(text: &str, row: &Range<usize>) -> Vec<Entry> {
    let mut start = row.start;
    text[row.clone()]
        .split(',')
        .filter_map(|part| {
            let part = start..start + part.len();
            start = part.end + 1;
            map_entry(text, &trimmed(text, part))
        })
        .collect()
}

/// Entries between commas and blanks; parentheses and quotes hold theirs together.
fn inline_entries(text: &str, part: &Range<usize>) -> Vec<Entry> {
    let bytes = &text.as_bytes()[..part.end];
    let closers = closers(text, part);
    let mut entries = Vec::new();
    // An outer quote around the whole list (`"read, write"`) is no entry's.
    let mut at = part.start;
    while at < part.end {
        if is_separator(bytes[at]) {
            at += 1;
            continue;
        }
        let end = entry_end(text, at, part.end, &closers);
        let raw = &text[at..end];
        let quoted_list = raw.len() > 1
            && raw.starts_with(['"', '\''])
            && raw[1..].contains([',', ' '])
            && !raw.contains('(');
        if quoted_list {
            entries.extend(inline_entries(
                text,
                &(at + 1..end - usize::from(raw.ends_with(['"', '\'']))),
            ));
        } else {
            entries.extend(entry(text, at..end));
        }
        at = end.max(at + 1);
    }
    entries
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b' ' | b'\t' | b'\n' | b'\r')
}

/// Where the entry that begins at `start` ends.
fn entry_end(text: &str, start: usize, limit: usize, closers: &HashMap<usize, usize>) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[start];
    if matches!(quote, b'"' | b'\'')
        && let Some(length) = memchr::memchr(quote, &bytes[start + 1..limit])
    {
        return start + length + 2;
    }
    let mut at = start;
    while at < limit && !is_separator(bytes[at]) {
        // A parenthesis that nothing closes is an ordinary sign.
        at = closers.get(&at).map_or(at, |closer| *closer) + 1;
    }
    at
}

/// The parentheses of a part of a line that something closes, each with what closes it.
fn closers(text: &str, part: &Range<usize>) -> HashMap<usize, usize> {
    let (mut open, mut closers) = (Vec::new(), HashMap::new());
    for at in memchr::memchr2_iter(b'(', b')', &text.as_bytes()[part.clone()]) {
        let at = part.start + at;
        if text.as_bytes()[at] == b'(' {
            open.push(at);
        } else if let Some(opening) = open.pop() {
            closers.insert(opening, at);
        }
    }
    closers
}

/// An entry's name: without quotes, up to a pattern.
fn entry(text: &str, whole: Range<usize>) -> Option<Entry> {
    let raw = &text[whole.clone()];
    let quote = raw.starts_with(['"', '\'']);
    let start = whole.start + usize::from(quote);
    let length = text[start..whole.end]
        .find(|letter: char| {
            letter == '(' || letter == '"' || letter == '\'' || letter.is_whitespace()
        })
        .unwrap_or(whole.end - start);
    let closes = quote && raw.len() > 1 && raw.ends_with(['"', '\'']);
    (length > 0).then_some(Entry {
        name: start..start + length,
        call: start..whole.end - usize::from(closes),
        whole,
        denied: false,
    })
}
