//! The edits that take retired names out of tools lists. Prose is never edited.

use std::collections::HashSet;
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
/// of the chain; every other retired entry is taken out with its separator. Acknowledged entries stay, and those whose
/// replacement the list turns off. All
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
    let folded = |entry: &Entry| text[entry.name.clone()].to_ascii_lowercase();
    let entries = || list.entries.iter().zip(retired);
    let mut held: HashSet<String> = entries()
        .filter(|(_, retired)| retired.is_none())
        .map(|(entry, _)| folded(entry))
        .collect();
    // Of an entry whose replacement the list turns off, only the author can say what it becomes.
    let denied: HashSet<String> = entries()
        .filter(|(entry, _)| entry.denied)
        .map(|(entry, _)| folded(entry))
        .collect();
    let mut run: Option<Range<usize>> = None;
    for (index, (entry, live)) in entries().enumerate() {
        let live = live.filter(|live| !denied.contains(&live.to_ascii_lowercase()));
        if let Some(live) = live
            && !held.insert(live.to_ascii_lowercase())
        {
            run = Some(run.map_or(index, |run| run.start)..index + 1);
            continue;
        }
        edits.extend(run.take().map(|run| removal(text, list, &run)));
        edits.extend(live.map(|live| Edit {
            range: entry.call.clone(),
            replacement: live.to_owned(),
        }));
    }
    edits.extend(run.map(|run| removal(text, list, &run)));
}

/// Takes out entries that stand side by side: their lines where they have them to themselves, else the entries
/// with the separator that joins them to what stays on their line.
fn removal(text: &str, list: &ToolsList, run: &Range<usize>) -> Edit {
    let entries = &list.entries;
    let whole = entries[run.start].whole.start..entries[run.end - 1].whole.end;
    let before = run
        .start
        .checked_sub(1)
        .map(|at| entries[at].whole.end)
        .filter(|end| is_one_line(&text[*end..whole.start]));
    let after = entries
        .get(run.end)
        .map(|next| next.whole.start)
        .filter(|start| is_one_line(&text[whole.end..*start]));
    let range = match (before, after) {
        (_, Some(next)) => whole.start..next,
        (Some(previous), None) => previous..whole.end,
        (None, None) => match own_lines(text, list, &whole) {
            Some(lines) => lines,
            None => whole.start..whole.end + separator_length(&text[whole.end..]),
        },
    };
    Edit {
        range,
        replacement: String::new(),
    }
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r'])
}

/// The length of the comma a text begins with, behind blanks.
fn separator_length(text: &str) -> usize {
    let rest = text.trim_start_matches([' ', '\t']);
    match rest.strip_prefix(',') {
        Some(rest) => text.len() - rest.len(),
        None => 0,
    }
}

/// The lines of entries that no other stands on, if nothing but their marks, separators and comments does.
fn own_lines(text: &str, list: &ToolsList, whole: &Range<usize>) -> Option<Range<usize>> {
    let start = text[..whole.start]
        .rfind(['\n', '\r'])
        .map_or(0, |at| at + 1);
    let end = line_end(text, whole.end);
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
    (marked && ends).then(|| start..next_line(text, end))
}
