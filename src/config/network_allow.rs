//! One plugin's entry in `[plugins] network_allow`: cut out of a config's bytes, and put back.
//!
//! Pure: bytes in, bytes out. `toml_edit` tells where things stand but never writes: its output moves
//! comments and changes line ends. Nothing is returned that was not proven first: both texts are parsed,
//! their values differ by exactly that entry, and undoing the change gives the bytes of before.

use super::array::Layout;
use super::text::{ConfigText, Fault, TextFault};
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

/// What was cut out, so that it can be put back exactly where it was.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cut {
    /// The plugin whose entry it is.
    pub name: String,
    /// SHA-256, in lower-case hex, of the list as it was left, from bracket to bracket.
    pub list_sha256: String,
    /// What was taken away, in order.
    pub pieces: Vec<Piece>,
}

/// Bytes that stood together.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Piece {
    /// Where they stood in the whole list: bytes from its opening bracket.
    pub at: usize,
    /// The text.
    pub text: String,
}

/// A config without the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The lines, counted from 1, that the entry stood on.
    pub lines: Vec<usize>,
    /// How to put the entry back.
    pub cut: Cut,
}

/// A config with the entry again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Whether the entry is where it was; it became the last one if the list has changed since.
    pub exact: bool,
}

/// Takes every entry `name` out of `[plugins] network_allow`; `None` where there is none.
///
/// With an entry go its comma, the blanks that served only it, and its line if nothing else is on it.
/// A comment always stays: one behind an entry that had a line to itself keeps that line. Items that are
/// not strings stay too.
///
/// # Errors
/// [`TextFault`] if the text is not TOML, `plugins` not a table or `network_allow` not an array, and
/// where the layout can't be told well enough to prove that nothing else changes.
pub fn prune(bytes: &[u8], name: &str) -> Result<Option<Pruned>, TextFault> {
    let before = ConfigText::parse(bytes)?;
    let Some(list) = find_list(&before)? else {
        return Ok(None);
    };
    let indices: Vec<usize> = (0..list.len())
        .filter(|&index| is_entry(list.get(index), name))
        .collect();
    if indices.is_empty() {
        return Ok(None);
    }
    let spans = list.span().zip(Layout::read(before.text, list));
    let Some((whole, layout)) = spans else {
        return Err(layout_fault(&before, list.span(), name));
    };
    let pruned = Pruned {
        lines: lines(&before, list, &indices),
        ..cut_out(&before, whole.clone(), &layout.cut(&indices), name)
    };
    if is_proven_cut(&before, &pruned) {
        Ok(Some(pruned))
    } else {
        Err(layout_fault(&before, Some(whole), name))
    }
}

/// Puts back what [`prune`] took out: exactly where it was if the list reads as it was left (the rest
/// of the file may have changed), else behind the last entry. `None` where the entry is there already.
///
/// # Errors
/// [`TextFault`] as for [`prune`], and if there is no list any more.
pub fn put_back(bytes: &[u8], cut: &Cut) -> Result<Option<Restored>, TextFault> {
    let before = ConfigText::parse(bytes)?;
    let no_list = || Fault::NoList {
        name: cut.name.clone(),
    };
    let list = find_list(&before)?.ok_or_else(|| before.fault(None, no_list()))?;
    if list.iter().any(|item| is_entry(Some(item), &cut.name)) {
        return Ok(None);
    }
    let whole = list.span();
    let exact = whole
        .clone()
        .and_then(|whole| put_in_place(&before, whole, cut));
    let restored = exact.or_else(|| put_last(&before, list, &cut.name));
    match restored {
        Some(restored) if is_proven_addition(&before, &restored.bytes, &cut.name) => {
            Ok(Some(restored))
        }
        _ => Err(layout_fault(&before, whole, &cut.name)),
    }
}

/// The list, if the config has one.
pub(super) fn find_list<'a>(config: &'a ConfigText<'_>) -> Result<Option<&'a Array>, TextFault> {
    let Some(plugins) = plugins_table(config)? else {
        return Ok(None);
    };
    let Some(item) = plugins.get(NETWORK_ALLOW) else {
        return Ok(None);
    };
    let fault = || Fault::WrongType {
        key: "plugins.network_allow",
        wanted: "an array of plugin names",
        found: found(item),
    };
    let list = item.as_array();
    list.map(Some)
        .ok_or_else(|| config.fault(item.span(), fault()))
}

/// `[plugins]`, however it is written, if the config has it.
pub(super) fn plugins_table<'a>(
    config: &'a ConfigText<'_>,
) -> Result<Option<&'a dyn TableLike>, TextFault> {
    let Some(item) = config.document.get(PLUGINS) else {
        return Ok(None);
    };
    let fault = || Fault::WrongType {
        key: "plugins",
        wanted: "a table",
        found: found(item),
    };
    let table = item.as_table_like();
    table
        .map(Some)
        .ok_or_else(|| config.fault(item.span(), fault()))
}

/// What an item is, in words.
pub(super) fn found(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Table(_) | Item::Value(Value::InlineTable(_)) => "a table",
        Item::ArrayOfTables(_) => "an array of tables",
        Item::Value(Value::String(_)) => "a string",
        Item::Value(Value::Integer(_)) => "an integer",
        Item::Value(Value::Float(_)) => "a float",
        Item::Value(Value::Boolean(_)) => "a boolean",
        Item::Value(Value::Datetime(_)) => "a date",
        Item::Value(Value::Array(_)) => "an array",
    }
}

const PLUGINS: &str = "plugins";
const NETWORK_ALLOW: &str = "network_allow";

fn is_entry(item: Option<&Value>, name: &str) -> bool {
    item.and_then(Value::as_str) == Some(name)
}

fn layout_fault(config: &ConfigText<'_>, at: Option<Range<usize>>, name: &str) -> TextFault {
    let name = name.to_owned();
    config.fault(at, Fault::Layout { name })
}

fn lines(config: &ConfigText<'_>, list: &Array, indices: &[usize]) -> Vec<usize> {
    let spans = indices
        .iter()
        .filter_map(|&index| list.get(index).and_then(Value::span));
    let mut lines: Vec<usize> = spans.map(|span| config.line(span.start)).collect();
    lines.dedup();
    lines
}

/// The file without these spans of its list.
fn cut_out(
    before: &ConfigText<'_>,
    whole: Range<usize>,
    spans: &[Range<usize>],
    name: &str,
) -> Pruned {
    let text = before.text;
    let mut list = String::with_capacity(whole.len());
    let mut pieces: Vec<Piece> = Vec::with_capacity(spans.len());
    let mut at = whole.start;
    for span in spans {
        list.push_str(&text[at..span.start]);
        pieces.push(Piece {
            at: span.start - whole.start,
            text: text[span.clone()].to_owned(),
        });
        at = span.end;
    }
    list.push_str(&text[at..whole.end]);
    Pruned {
        bytes: with_list(before, whole, &list),
        lines: Vec::new(),
        cut: Cut {
            name: name.to_owned(),
            list_sha256: sha256(&list),
            pieces,
        },
    }
}

/// The file with this text for its list.
fn with_list(config: &ConfigText<'_>, whole: Range<usize>, list: &str) -> Vec<u8> {
    let (front, behind) = (&config.text[..whole.start], &config.text[whole.end..]);
    [
        config.mark,
        front.as_bytes(),
        list.as_bytes(),
        behind.as_bytes(),
    ]
    .concat()
}

/// The file with the pieces back where they were; `None` where the list is not as it was left.
fn put_in_place(config: &ConfigText<'_>, whole: Range<usize>, cut: &Cut) -> Option<Restored> {
    let left = &config.text[whole.clone()];
    if sha256(left) != cut.list_sha256 {
        return None;
    }
    let mut list = String::new();
    let mut taken: usize = 0;
    for piece in &cut.pieces {
        // What the record says is data: an offset that fits nothing is no offset.
        let until = taken.checked_add(piece.at.checked_sub(list.len())?)?;
        list.push_str(left.get(taken..until)?);
        list.push_str(&piece.text);
        taken = until;
    }
    list.push_str(left.get(taken..)?);
    let bytes = with_list(config, whole, &list);
    Some(Restored { bytes, exact: true })
}

/// The file with the entry behind the last one.
fn put_last(config: &ConfigText<'_>, list: &Array, name: &str) -> Option<Restored> {
    let whole = list.span()?;
    let entry = Value::from(name).to_string();
    let mut text = String::new();
    let mut taken = whole.start;
    for (at, addition) in Layout::read(config.text, list)?.append(&entry) {
        text.push_str(&config.text[taken..at]);
        text.push_str(&addition);
        taken = at;
    }
    text.push_str(&config.text[taken..whole.end]);
    let bytes = with_list(config, whole, &text);
    let exact = false;
    Some(Restored { bytes, exact })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether the cut is undone by its own record, and the values differ by the entry alone.
fn is_proven_cut(before: &ConfigText<'_>, pruned: &Pruned) -> bool {
    let Ok(after) = ConfigText::parse(&pruned.bytes) else {
        return false;
    };
    let list = find_list(&after).ok().flatten().and_then(Array::span);
    let undone = list.and_then(|whole| put_in_place(&after, whole, &pruned.cut));
    let original = [before.mark, before.text.as_bytes()].concat();
    undone.is_some_and(|undone| undone.bytes == original)
        && same_items(&without(before, &pruned.cut.name), after.document.as_item())
}

/// Whether the values differ by the entry alone.
fn is_proven_addition(before: &ConfigText<'_>, bytes: &[u8], name: &str) -> bool {
    let Ok(after) = ConfigText::parse(bytes) else {
        return false;
    };
    let list = find_list(&after).ok().flatten();
    let there = list.is_some_and(|list| list.iter().any(|item| is_entry(Some(item), name)));
    there && same_items(before.document.as_item(), &without(&after, name))
}

/// What the config says, without the entry.
fn without(config: &ConfigText<'_>, name: &str) -> Item {
    let mut document: DocumentMut = config.document.clone().into_mut();
    let plugins = document.get_mut(PLUGINS).and_then(Item::as_table_like_mut);
    let list = plugins
        .and_then(|plugins| plugins.get_mut(NETWORK_ALLOW))
        .and_then(Item::as_array_mut);
    if let Some(list) = list {
        list.retain(|item| !is_entry(Some(item), name));
    }
    document.as_item().clone()
}

/// Whether two items say the same, in the same order, however they are written.
fn same_items(a: &Item, b: &Item) -> bool {
    if let (Some(a), Some(b)) = (a.as_table_like(), b.as_table_like()) {
        return a.len() == b.len()
            && a.iter()
                .zip(b.iter())
                .all(|((a_key, a), (b_key, b))| a_key == b_key && same_items(a, b));
    }
    match (a, b) {
        (Item::Value(a), Item::Value(b)) => same_values(a, b),
        (Item::ArrayOfTables(a), Item::ArrayOfTables(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| same_items(&Item::Table(a.clone()), &Item::Table(b.clone())))
        }
        _ => false,
    }
}

fn same_values(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        // `nan` differs from itself, and `-0.0` is not `0.0` to its reader.
        (Value::Float(a), Value::Float(b)) => a.value().to_bits() == b.value().to_bits(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        (Value::Datetime(a), Value::Datetime(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_values(a, b))
        }
        (Value::InlineTable(a), Value::InlineTable(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|((a_key, a), (b_key, b))| a_key == b_key && same_values(a, b))
        }
        _ => false,
    }
}
