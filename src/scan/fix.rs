//! The edits that take retired names out of tools lists. Prose is never edited.

use std::ops::Range;

use super::frontmatter::Frontmatter;
use super::place::{line_end, next_line};
use super::tools_list::{self, Entry, Form, Listing, ToolsList};
use super::{Reason, Scanner};

/// One change of a text: the bytes to take out, and what to put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the text that go.
    pub range: Range<usize>,
    /// What comes in their place; empty where an entry is taken out.
    pub replacement: String,
}

/// The edits that clear a text's tools lists of retired names, in order and without overlap.
///
/// The first entry whose replacement the list does not hold yet becomes that replacement, the live tool at the end
/// of the chain; every other retired entry is taken out with its separator. Acknowledged entries stay. All
/// bytes outside the edits are as they were.
pub fn edits(text: &str, scanner: &Scanner) -> Vec<Edit> {
    let findings = scanner.scan(text);
    let mut declared = findings
        .iter()
        .filter(|finding| finding.reason == Reason::ListEntry)
        .peekable();
    let Some(frontmatter) = declared.peek().and_then(|_| Frontmatter::read(text)) else {
        return Vec::new();
    };
    let mut edits = Vec::new();
    for field in &frontmatter.fields {
        if tools_list::listing(field) != Some(Listing::Allows) {
            continue;
        }
        let list = tools_list::read(text, field);
        let mut retired = vec![None; list.entries.len()];
        for (entry, retired) in list.entries.iter().zip(&mut retired) {
            while declared
                .next_if(|found| found.range.start < entry.name.start)
                .is_some()
            {}
            *retired = declared
                .next_if(|found| found.range == entry.name)
                .and_then(|found| scanner.live_replacement(found.name));
        }
        list_edits(text, &list, &retired, &mut edits);
    }
    edits
}

/// Applies edits that are in order and do not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut fixed = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        fixed.push_str(&text[at..edit.range.start]);
        fixed.push_str(&edit.replacement);
        at = edit.range.end;
    }
    fixed.push_str(&text[at..]);
    fixed
}

/// `retired` holds the live replacement of every entry that is retired.
fn list_edits(text: &str, list: &ToolsList, retired: &[Option<&str>], edits: &mut Vec<Edit>) {
    let mut held: Vec<&str> = list
        .entries
        .iter()
        .zip(retired)
        .filter(|(_, retired)| retired.is_none())
        .map(|(entry, _)| &text[entry.name.clone()])
        .collect();
    let mut run: Option<Range<usize>> = None;
    for (index, (entry, live)) in list.entries.iter().zip(retired).enumerate() {
        let goes = live.is_some_and(|live| held.iter().any(|name| name.eq_ignore_ascii_case(live)));
        if goes {
            run = Some(run.map_or(index, |run| run.start)..index + 1);
            continue;
        }
        edits.extend(run.take().map(|run| removal(text, list, &run)));
        if let Some(live) = live {
            held.push(live);
            edits.push(Edit {
                range: entry.name.start..unquoted_end(text, entry),
                replacement: (*live).to_owned(),
            });
        }
    }
    edits.extend(run.map(|run| removal(text, list, &run)));
}

/// The end of an entry's name and pattern, before its closing quote.
fn unquoted_end(text: &str, entry: &Entry) -> usize {
    let is_quoted = entry.name.start > entry.whole.start;
    let closes = text[..entry.whole.end].ends_with(['"', '\'']);
    entry.whole.end - usize::from(is_quoted && closes)
}

/// Takes out entries that stand side by side: their lines where they have them to themselves, else the entries
/// with the separator that joins them to what stays.
fn removal(text: &str, list: &ToolsList, run: &Range<usize>) -> Edit {
    let entries = &list.entries;
    let whole = entries[run.start].whole.start..entries[run.end - 1].whole.end;
    let range = match (own_lines(text, list, run, &whole), entries.get(run.end)) {
        (Some(lines), _) => lines,
        (None, Some(next)) => whole.start..next.whole.start,
        (None, None) if run.start > 0 => entries[run.start - 1].whole.end..whole.end,
        (None, None) => whole,
    };
    Edit {
        range,
        replacement: String::new(),
    }
}

/// The lines of a run of entries, if nothing but their marks, separators and comments stands on them.
fn own_lines(
    text: &str,
    list: &ToolsList,
    run: &Range<usize>,
    whole: &Range<usize>,
) -> Option<Range<usize>> {
    let start = text[..whole.start]
        .rfind(['\n', '\r'])
        .map_or(0, |at| at + 1);
    let end = line_end(text, whole.end);
    let own = |other: Option<&Entry>| {
        other.is_none_or(|entry| !(start..end).contains(&entry.whole.start))
    };
    let alone = own(run.start.checked_sub(1).and_then(|at| list.entries.get(at)))
        && own(list.entries.get(run.end));
    let before = text[start..whole.start].trim_start();
    let marked = match list.form {
        Form::Block => before.trim_end() == "-",
        Form::Map | Form::Flow | Form::Inline => before.is_empty(),
    };
    let after = text[whole.end..end].trim_start_matches([',', ' ', '\t', '"', '\'']);
    let ends = match list.form {
        Form::Map | Form::Block => true,
        Form::Flow | Form::Inline => after.is_empty() || after.starts_with('#'),
    };
    (alone && marked && ends).then(|| start..next_line(text, end))
}
