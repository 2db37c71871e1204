//! What the scanner never does: allocate on clean text, break on odd text, take more than linear time.

use vak::scan::Scanner;

const ROWS: [(&str, &str); 2] = [("python_eval", "bash"), ("react_preview", "bash")];

#[test]
fn clean_text_costs_no_allocation() {
    let text = "---\nname: x\ndescription: Runs `python3` in python_evaluate.\ntools: [read, bash]\n---\n\
                # Steps\n\n- Use `my_python_eval` and `scripts/python_eval.py`.\n\n```\nreact_previewer()\n```\n";
    let scanner = Scanner::new(ROWS);
    let used = allocation_counter::measure(|| assert!(scanner.scan(text).is_empty()));
    assert_eq!(used.count_total, 0, "{used:?}");
    let used = allocation_counter::measure(|| assert!(scanner.scan_hooks(text).is_empty()));
    assert_eq!(used.count_total, 0, "{used:?}");
}

/// The work is counted in allocated bytes, which do not depend on the machine's load: twice the text may cost
/// little more than twice as much.
#[test]
fn odd_text_costs_no_more_than_its_length() {
    let scanner = Scanner::new(ROWS);
    let parts = [
        "`",
        "``a`",
        "```\n",
        ">",
        "> > a\n",
        "|",
        "|a|\n|-|\n",
        "[",
        "![",
        "](",
        "<!--",
        "<a ",
        "- ",
        "-\n",
        "*a _b ",
        "never ",
        "python_eval ",
        "`python_eval` ",
        "`python_eval`, ",
        "- `python_eval`\n",
        "| `python_eval` ",
        "python_eval(",
        "<!-- vak: retired-ok python_eval -->",
    ];
    for part in parts {
        let cost = |bytes: usize| {
            let text = format!(
                "`python_eval` {}\n\n`python_eval`",
                part.repeat(bytes / part.len())
            );
            allocation_counter::measure(|| assert!(!scanner.scan(&text).is_empty())).bytes_total
        };
        let (once, twice) = (cost(1 << 14), cost(1 << 15));
        assert!(twice <= once * 3, "{part:?}: {once} bytes, then {twice}");
    }
}

/// Signs and letters of several bytes beside a name, at a sentence's end and in a possessive.
#[test]
fn signs_of_every_width_are_read() {
    let signs = [
        ".", "!", "?", "…", "—", "–", "→", "❌", "✅", "。", "、", "：", "’", "”", "’s", "'s", "&",
        "+", "é", "İ", "K", "使", "\u{301}", "\u{200b}", "\u{feff}", "🚫",
    ];
    let scanner = Scanner::new([("python_eval", "bash"), ("s", "bash")]);
    for sign in signs {
        for other in signs {
            for text in [
                format!("`python_eval`{sign}{other} python_eval{sign} {other}"),
                format!("{sign}{other}`s`{sign}{other} é{sign}s{other}"),
            ] {
                assert!(!scanner.scan(&text).is_empty(), "{text:?}");
            }
        }
    }
}

#[test]
fn names_of_every_form_are_found() {
    let names = [
        "x",
        "ab",
        "abc",
        "web.search-x",
        "A_b",
        "a23456789012345678901234567890123456789012345678901234567890123",
    ];
    for name in names {
        let scanner = Scanner::new([(name, "bash")]);
        for text in [
            format!("`{name}`"),
            format!("Use `{name}`."),
            format!("{} `{name}`\n", "word ".repeat(40)),
        ] {
            let findings = scanner.scan(&text);
            assert_eq!(findings.len(), 1, "{name} in {text:?}");
            assert_eq!(&text[findings[0].range.clone()], name);
        }
    }
}

#[test]
fn every_name_of_a_large_list_is_found_at_every_offset() {
    let names = (0..2000)
        .map(|number| format!("tool_{number}_{}", "x".repeat(number % 17)))
        .collect::<Vec<_>>();
    let scanner = Scanner::new(names.iter().map(|name| (name.as_str(), "bash")));
    for (offset, name) in names.iter().enumerate() {
        let text = format!("{}`{name}`", " ".repeat(offset % 31));
        assert_eq!(scanner.scan(&text).len(), 1, "{text:?}");
    }
}

#[test]
fn a_list_without_names_finds_nothing() {
    let scanner = Scanner::new(Vec::<(String, String)>::new());
    assert!(scanner.scan("`python_eval`").is_empty());
    assert!(Scanner::new([("", "bash")]).scan("`` ` ` ``").is_empty());
}
