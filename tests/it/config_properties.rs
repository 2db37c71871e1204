//! What pruning promises, over generated configs: every layout of the list, among everything else
//! that a config may hold.

use proptest::prelude::*;
use proptest::sample::select;
use vak::config::{Cut, prune, put_back};

/// The plugin whose entry is pruned.
const NAME: &str = "web-search";

/// Spellings of its entry.
const SPELLINGS: [&str; 6] = [
    "\"web-search\"",
    "'web-search'",
    "\"web\\u002dsearch\"",
    "\"\"\"web-search\"\"\"",
    "'''\nweb-search'''",
    "\"\"\"\\\n   web-\\\n   search\"\"\"",
];

/// Items that stay.
const OTHERS: [&str; 10] = [
    "\"other\"",
    "'a, # b ]'",
    "\"web-search2\"",
    "\"Web-Search\"",
    "\"\"\"\n, # no comment\n\"web-search\", \"\"\"",
    "17",
    "[ 'web-search', # nested\n ]",
    "{ network_allow = ['web-search'] }",
    "\"日本\"",
    "-0.0",
];

/// What may stand between two tokens of the list.
fn gap() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "",
        "",
        " ",
        "\t",
        "  ",
        "\n",
        "\n  ",
        " \n",
        "# c\n",
        " # \"web-search\", ]\n",
        "\n\n",
    ]);
    proptest::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

/// The blanks, breaks and comments of a tidy list: one line, or a line for each item.
fn tidy_gap(multi_line: bool) -> &'static str {
    if multi_line { "\n    " } else { " " }
}

#[derive(Debug, Clone)]
struct List {
    text: String,
    entries: usize,
}

fn item() -> impl Strategy<Value = &'static str> {
    prop_oneof![select(SPELLINGS.to_vec()), select(OTHERS.to_vec())]
}

fn list() -> impl Strategy<Value = List> {
    let items = proptest::collection::vec((item(), gap(), gap()), 0..5);
    let tidy = prop_oneof![
        2 => Just(None),
        1 => any::<bool>().prop_map(Some),
    ];
    (items, gap(), any::<bool>(), tidy).prop_map(|(items, last_gap, trailing_comma, tidy)| {
        let mut text = "[".to_owned();
        for (index, (item, before, behind)) in items.iter().enumerate() {
            let is_last = index + 1 == items.len();
            let (before, behind) = match tidy {
                Some(multi_line) => (tidy_gap(multi_line), ""),
                None => (before.as_str(), behind.as_str()),
            };
            text.extend([before, item, behind]);
            if !is_last || trailing_comma {
                text.push(',');
            }
        }
        text.push_str(&last_gap);
        text.push(']');
        let is_entry = |item: &&str| SPELLINGS.contains(item);
        let entries = items.iter().filter(|(item, ..)| is_entry(item)).count();
        List { text, entries }
    })
}

#[derive(Debug, Clone)]
struct File {
    text: String,
    /// What stands before the list, and behind it.
    front: String,
    behind: String,
    entries: usize,
}

/// A whole config around a list.
fn file() -> impl Strategy<Value = File> {
    let before = select(vec![
        "",
        "# network_allow = [\"web-search\"]\n",
        "permission_mode = \"read-only\"\n\n",
        "note = '''\n[plugins]\nnetwork_allow = ['web-search']\n'''\n",
    ]);
    let frame = select(vec![
        ("[plugins]\nnetwork_allow = ", ""),
        (
            "[plugins.web-search]\nurl = 'x'\n[ plugins ] # c\nkeep_retired = ['web-search']\nnetwork_allow=",
            " # c",
        ),
        ("plugins.network_allow = ", "\nplugins.'keep_retired' = []"),
        (
            "\"plugins\" = { a = 1, network_allow = ",
            ", keep_retired = [] }",
        ),
        ("plugins = { 'network_allow' = ", " }"),
    ]);
    let behind = select(vec![
        "",
        "\n",
        "\n[other]\nnetwork_allow = [\"web-search\"]\n",
        "\n\n[[mcp]]\na = 1.5\n[[mcp]]\nb = 2024-01-01\n# end",
    ]);
    (before, frame, behind, list(), any::<bool>(), any::<bool>()).prop_map(
        |(before, frame, behind, list, crlf, mark)| {
            let in_style = |text: String| match crlf {
                true => text.replace('\n', "\r\n"),
                false => text,
            };
            let mark = if mark { "\u{feff}" } else { "" };
            let front = in_style([mark, before, frame.0].concat());
            let behind = in_style([frame.1, behind].concat());
            File {
                text: [front.as_str(), &in_style(list.text), &behind].concat(),
                front,
                behind,
                entries: list.entries,
            }
        },
    )
}

/// What a config says.
fn values(text: &str) -> serde_json::Value {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    toml_edit::de::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The same without the entry.
fn without_entry(mut values: serde_json::Value) -> serde_json::Value {
    if let Some(list) = values["plugins"]["network_allow"].as_array_mut() {
        list.retain(|item| item != NAME);
    }
    values
}

/// The same with each of the list's entries once, in no order.
fn sorted(mut values: serde_json::Value) -> serde_json::Value {
    if let Some(list) = values["plugins"]["network_allow"].as_array_mut() {
        list.sort_by_key(serde_json::Value::to_string);
        list.dedup();
    }
    values
}

/// How many lines look untidy: nothing but blanks, or blanks at their end.
fn untidy(text: &str) -> usize {
    let is_untidy = |line: &&str| line.trim().is_empty() || line.ends_with([' ', '\t']);
    text.lines().filter(is_untidy).count()
}

/// A text without the entry's spellings, blanks, breaks and commas.
fn bare(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    // The longer ones, which contain the plain ones, come first.
    for spelling in SPELLINGS.into_iter().rev() {
        text = text.replace(spelling, "");
    }
    text.replace([' ', '\t', '\n', ','], "")
}

/// Whether a text is another one with parts taken out.
fn is_part_of(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|c| rest.any(|other| other == c))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pruning_takes_the_entry_and_nothing_else(file in file()) {
        let pruned = prune(file.text.as_bytes(), NAME).unwrap();
        prop_assert_eq!(pruned.is_some(), file.entries > 0);
        let Some(pruned) = pruned else { return Ok(()) };
        let after = String::from_utf8(pruned.bytes.clone()).unwrap();

        prop_assert_eq!(values(&after), without_entry(values(&file.text)));
        prop_assert!(is_part_of(&after, &file.text), "something was added:\n{}", after);
        prop_assert_eq!(bare(&after), bare(&file.text), "more than the entry is gone:\n{}", after);
        prop_assert!(after.starts_with(&file.front) && after.ends_with(&file.behind), "{}", after);
        prop_assert!(untidy(&after) <= untidy(&file.text), "{}", after);
        prop_assert_eq!(prune(&pruned.bytes, NAME), Ok(None), "pruning twice");

        let restored = put_back(&pruned.bytes, &pruned.cut).unwrap().unwrap();
        prop_assert_eq!(String::from_utf8(restored.bytes).unwrap(), file.text);
        prop_assert!(restored.exact);
    }

    #[test]
    fn entries_come_back_in_any_order(file in file()) {
        const OTHER: &str = "other";
        let Some(first) = prune(file.text.as_bytes(), NAME).unwrap() else { return Ok(()) };
        let Some(second) = prune(&first.bytes, OTHER).unwrap() else { return Ok(()) };
        for cuts in [[&first.cut, &second.cut], [&second.cut, &first.cut]] {
            let mut bytes = second.bytes.clone();
            for cut in cuts {
                bytes = put_back(&bytes, cut).unwrap().unwrap().bytes;
            }
            let after = String::from_utf8(bytes).unwrap();
            prop_assert!(after.starts_with(&file.front) && after.ends_with(&file.behind), "{}", after);
            prop_assert_eq!(after.matches('#').count(), file.text.matches('#').count(), "{}", after);
            prop_assert_eq!(sorted(values(&after)), sorted(values(&file.text)));
            if cuts[0].name == OTHER {
                prop_assert_eq!(after, file.text.clone(), "last out, first in");
            }
        }
    }

    #[test]
    fn putting_an_entry_behind_the_last_changes_nothing_else(file in file()) {
        let cut = Cut { name: "new \"one\"".to_owned(), list: String::new() };
        let restored = put_back(file.text.as_bytes(), &cut).unwrap().unwrap();
        let after = String::from_utf8(restored.bytes).unwrap();

        let mut expected = values(&file.text);
        expected["plugins"]["network_allow"].as_array_mut().unwrap().push(cut.name.clone().into());
        prop_assert_eq!(values(&after), expected);
        prop_assert!(untidy(&after) <= untidy(&file.text), "{}", after);

        // What is pruned again leaves the list as it was, but for a comma.
        let pruned = prune(after.as_bytes(), &cut.name).unwrap().unwrap();
        prop_assert_eq!(values(&file.text), values(std::str::from_utf8(&pruned.bytes).unwrap()));
    }
}
