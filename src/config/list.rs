//! A list of names as it is written, from bracket to bracket: without some of its entries, and with one
//! again. Text in, text out; `None` where the text is no list or its layout can't be told.

use super::array::Layout;
use std::collections::BTreeSet;
use std::ops::Range;
use toml_edit::{Array, Document, Value};

/// A list without some of its entries.
pub(super) fn without(list: &str, goes: impl Fn(&str) -> bool) -> Option<String> {
    let mut left = String::with_capacity(list.len());
    let mut at = 0;
    for span in cut_spans(list, goes)? {
        left.push_str(&list[at..span.start]);
        at = span.end;
    }
    left.push_str(&list[at..]);
    Some(left)
}

/// The list `now` with `name` where it stood in the list `then`.
///
/// Entries that both have tell whether it is the same list: without what was put into it or taken out of it
/// meanwhile, it must read as `then` does without them.
pub(super) fn with_in_place(now: &str, then: &str, name: &str) -> Option<String> {
    let (names_now, names_then) = (names(now)?, names(then)?);
    if !names_then.contains(name) {
        return None;
    }
    let still_gone = |entry: &str| entry != name && !names_now.contains(entry);
    let wanted = without(then, still_gone)?;
    let is_new = |entry: &str| !names_then.contains(entry);
    let common = without(now, is_new)?;
    if common != without(&wanted, |entry| entry == name)? {
        return None;
    }
    let new = pieces(now, is_new)?;
    let back = pieces(&wanted, |entry| entry == name)?;
    Some(insert(&common, new.into_iter().chain(back).collect()))
}

/// The list with one more entry behind the last one.
pub(super) fn with_at_the_end(list: &str, name: &str) -> Option<String> {
    let entry = Value::from(name).to_string();
    let additions = read(list, |layout, _| layout.append(&entry))?;
    let pieces = additions.iter().map(|(at, text)| Piece {
        at: at - KEY.len(),
        text,
    });
    Some(insert(list, pieces.collect()))
}

/// Text to insert.
struct Piece<'a> {
    at: usize,
    text: &'a str,
}

/// What goes with some of a list's entries, and where it would have to be inserted again.
fn pieces(list: &str, goes: impl Fn(&str) -> bool) -> Option<Vec<Piece<'_>>> {
    let mut taken = 0;
    let pieces = cut_spans(list, goes)?.into_iter().map(|span| {
        let at = span.start - taken;
        taken += span.len();
        let text = &list[span];
        Piece { at, text }
    });
    Some(pieces.collect())
}

/// Inserts pieces; of two for one place, the one that is given first.
fn insert(list: &str, mut pieces: Vec<Piece<'_>>) -> String {
    pieces.sort_by_key(|piece| piece.at);
    let mut text = String::with_capacity(list.len());
    let mut taken = 0;
    for piece in pieces {
        text.push_str(&list[taken..piece.at]);
        text.push_str(piece.text);
        taken = piece.at;
    }
    text.push_str(&list[taken..]);
    text
}

fn names(list: &str) -> Option<BTreeSet<String>> {
    read(list, |_, array| {
        let names = array.iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    })
}

/// The bytes that go with some of a list's entries, in order.
fn cut_spans(list: &str, goes: impl Fn(&str) -> bool) -> Option<Vec<Range<usize>>> {
    let spans = read(list, |layout, array| {
        let is_name = |index: &usize| array.get(*index).and_then(Value::as_str).is_some_and(&goes);
        let indices: Vec<usize> = (0..array.len()).filter(is_name).collect();
        layout.cut(&indices)
    })?;
    let in_list = |span: Range<usize>| span.start - KEY.len()..span.end - KEY.len();
    Some(spans.into_iter().map(in_list).collect())
}

/// The parser keeps the places of what stands in a document, so the list becomes one.
const KEY: &str = "list=";

fn read<T>(list: &str, read: impl FnOnce(Layout<'_>, &Array) -> T) -> Option<T> {
    let text = [KEY, list].concat();
    let document = Document::parse(text.as_str()).ok()?;
    let array = document.get("list")?.as_array()?;
    Some(read(Layout::read(&text, array)?, array))
}
