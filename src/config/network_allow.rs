//! One plugin's entry in `[plugins] network_allow`: cut out of a config's bytes, and put back.
//!
//! Pure: bytes in, bytes out. `toml_edit` tells where things stand but never writes: its output moves
//! comments and changes line ends. Nothing is returned that was not proven first: both texts are parsed,
//! their values differ by exactly that entry, and every comment is still there. What stands in front of
//! the list and behind it is copied.

use super::array::Layout;
use super::list;
use super::text::{ConfigText, Fault, TextFault};
use std::ops::Range;
use toml_edit::{Array, Item, TableLike, Value};

/// What a cut leaves for putting the entry back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cut {
    /// The plugin whose entry it is.
    pub name: String,
    /// The list as it was written before, from bracket to bracket.
    pub list: String,
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
    /// Whether the entry is where it was; if the list was rewritten since, it became the last one.
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
    let refused = || layout_fault(&before, list.span(), name);
    let whole = list.span().ok_or_else(refused)?;
    let written = &before.text[whole.clone()];
    let left = list::without(written, |entry| entry == name).ok_or_else(refused)?;
    let pruned = Pruned {
        bytes: with_list(&before, whole, &left),
        lines: lines(&before, list, &indices),
        cut: Cut {
            name: name.to_owned(),
            list: written.to_owned(),
        },
    };
    if !differ_by_entry(bytes, &pruned.bytes, name) {
        return Err(refused());
    }
    Ok(Some(pruned))
}

/// Puts back what [`prune`] took out: exactly where it was, in whatever order entries are put back, as
/// long as the rest of the list reads as it did; else behind the last entry. `None` where the entry is
/// there already.
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
    let refused = || layout_fault(&before, list.span(), &cut.name);
    let whole = list.span().ok_or_else(refused)?;
    let now = &before.text[whole.clone()];
    let in_place = list::with_in_place(now, &cut.list, &cut.name).map(|list| (list, true));
    let at_the_end = list::with_at_the_end(now, &cut.name).map(|list| (list, false));
    let candidates = in_place.into_iter().chain(at_the_end);
    let restored = candidates
        .map(|(list, exact)| Restored {
            bytes: with_list(&before, whole.clone(), &list),
            exact,
        })
        .find(|restored| differ_by_entry(&restored.bytes, bytes, &cut.name));
    restored.map(Some).ok_or_else(refused)
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

/// Whether the first config says what the second says and, besides, `name` in its list, with the same
/// comments in both lists.
fn differ_by_entry(with: &[u8], without: &[u8], name: &str) -> bool {
    let (Ok(with), Ok(without)) = (ConfigText::parse(with), ConfigText::parse(without)) else {
        return false;
    };
    let (Ok(Some(longer)), Ok(Some(shorter))) = (find_list(&with), find_list(&without)) else {
        return false;
    };
    let same_comments = Layout::read(with.text, longer)
        .zip(Layout::read(without.text, shorter))
        .is_some_and(|(longer, shorter)| longer.comments().eq(shorter.comments()));
    same_comments
        && longer.iter().any(|item| is_entry(Some(item), name))
        && same_items(&values_without(&with, name), without.document.as_item())
}

/// What a config says, but for the entry.
fn values_without(config: &ConfigText<'_>, name: &str) -> Item {
    let mut document = config.document.clone().into_mut();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// No text that `prune` makes fails its proof, so what the proof refuses is shown here.
    #[test]
    fn the_proof_refuses_every_other_difference() {
        const WITH: &str = "a = -0.0\nb = [nan, 1]\n[[c]]\nd = 1\n[[c]]\n[plugins]\nk = { e = 1, f = 'g' }\nnetwork_allow = ['x', 2, # c\n]";
        let without = WITH.replace("'x', ", "");
        let check = |with: &str, without: &str, proven: bool| {
            let differ = differ_by_entry(with.as_bytes(), without.as_bytes(), "x");
            assert_eq!(differ, proven, "{without}");
        };
        check(WITH, &without, true);
        check(&WITH.replace("['x'", "['x', 'x'"), &without, true);
        check(WITH, &without.replace("-0.0", "-0.00"), true);
        check(WITH, WITH, false);
        check(&without, &without, false);
        check(&WITH.replace("'x'", "'y'"), &without, false);
        let changes = [
            ("-0.0", "0.0"),
            ("nan", "1.0"),
            ("[nan, 1]", "[1, nan]"),
            ("[nan, 1]", "[nan]"),
            ("[nan, 1]", "{}"),
            ("d = 1", "d = '1'"),
            ("d = 1", "d = 2"),
            ("[[c]]\nd", "[c]\nd"),
            ("\n[[c]]\n[p", "\n[p"),
            ("e = 1, f = 'g'", "f = 'g', e = 1"),
            ("e = 1, f = 'g'", "e = 1"),
            ("'g'", "'h'"),
            ("2,", "2, 2,"),
            ("2,", ""),
            ("# c", ""),
            ("# c", "# d"),
            ("network_allow", "network_deny"),
            ("]", ""),
        ];
        for (from, to) in changes {
            assert!(without.contains(from), "{from}");
            check(WITH, &without.replace(from, to), false);
        }
    }
}
