//! What the scanner never does: allocate on clean text, break on odd text, take more than linear time.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
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

/// What is repeated: every sign that opens, closes or repeats something, words that rule 5 hears, and names.
const PARTS: [&str; 47] = [
    "`",
    "``a`",
    "(",
    "( ",
    "()",
    "[",
    "![",
    "](",
    "<",
    "<!--",
    "<a ",
    "</",
    "{",
    "\"",
    "\"a ",
    "'",
    "*a _b ",
    "~~",
    "~~a~~ ",
    "\\",
    "&#x",
    "|",
    "|a",
    ": ",
    "- ",
    "-",
    "> ",
    ">",
    "#",
    " ",
    "  \n",
    "```\n",
    "|a|\n|-|\n",
    "a, ",
    "…",
    "never ",
    "the tool ",
    "it is ",
    "→ ",
    "python_eval ",
    "python_eval(",
    "python_eval {",
    "使python_eval",
    "`python_eval` ",
    "`python_eval`, ",
    "~~`python_eval`~~ ",
    "<!-- vak: retired-ok python_eval -->",
];

/// Where it is repeated: the text before, and the text after.
const CONTEXTS: [(&str, &str); 22] = [
    ("`python_eval` ", "\n\n`python_eval`"),
    ("", "`python_eval`"),
    ("---\nname: a\ntools: python_eval ", "\n---\n"),
    ("---\nname: a\ntools: [python_eval, ", "]\n---\n"),
    ("---\nname: a\ntools:\n  - python_eval ", "\n---\n"),
    ("---\nname: a\ndescription: python_eval ", "\n---\n"),
    ("---\nname: a\ndescription: |\n  `python_eval` ", "\n---\n"),
    ("---\nname: a\nother: ", " python_eval\n---\n"),
    ("| a | b |\n|---|---|\n| `python_eval` ", " | b |\n"),
    ("| a | b |\n|---|---|\n| `python_eval` | ", " |\n"),
    ("| Old | ", " |\n|---|---|\n| `python_eval` | `bash` |\n"),
    ("a `python_eval ", "` python_eval"),
    ("```\n`python_eval` ", "\n```\n"),
    ("```\n# python_eval( ", "\n```\n"),
    ("> `python_eval` ", "\n> `python_eval`"),
    ("[`python_eval` ", "](a) `python_eval`"),
    ("[a](", ") `python_eval`"),
    ("<div>\n`python_eval` ", "\n</div>\n"),
    ("<!-- `python_eval` ", " -->"),
    ("- `python_eval` ", "\n- `python_eval`"),
    ("# Removed: ", "\n\n- `python_eval`\n"),
    ("<!-- vak: retired-ok ", " --> `python_eval`"),
];

#[test]
fn what_is_repeated_anywhere_takes_linear_time() {
    let scanner = Scanner::new(ROWS);
    for (before, after) in CONTEXTS {
        for part in PARTS {
            check_linear(&scanner, 1 << 12, |bytes| {
                format!("{before}{}{after}", part.repeat(bytes / part.len()))
            });
        }
    }
}

/// Much of one thing in one place, and many of another in the next, with what stands before, between and behind
/// them.
const PAIRS: [(&str, &str, &str, &str, &str); 11] = [
    ("`", " ", "", "python_eval ", "`"),
    ("```rust\n`", " ", "", "python_eval ", "`\n```\n"),
    ("```rust\n", "python_eval( ", "", ACK, "\n```\n"),
    ("", ACK, "", "`python_eval` ", ""),
    (
        "| a | b |\n|-|-|\n| ",
        "tool ",
        " | ",
        "`python_eval` ",
        " |\n",
    ),
    (
        "| a | b |\n|-|-|\n| ",
        "`python_eval` ",
        " | ",
        "it is ",
        " |\n",
    ),
    (
        "| a | b |\n|-|-|\n| ",
        "`python_eval` ",
        " | ",
        "`python_eval` it ",
        " |\n",
    ),
    ("| ", "word ", " |\n|-|\n", "| `python_eval` |\n", ""),
    ("# ", "word ", "\n\n", "- `python_eval`\n", ""),
    ("", "word ", ":\n\n", "- `python_eval`\n", ""),
    ("- ", "word ", ":\n", "  - `python_eval`\n", ""),
];

const ACK: &str = "<!-- vak: retired-ok python_eval -->";

#[test]
fn what_is_said_of_many_names_is_not_looked_for_in_all_the_rest() {
    let scanner = Scanner::new(ROWS);
    for (before, much, between, many, after) in PAIRS {
        for bytes in [1 << 10, 1 << 14] {
            check_linear(&scanner, 2 * bytes, |bytes| {
                let half = bytes / 2;
                let (much, many) = (
                    much.repeat(half / much.len()),
                    many.repeat(half / many.len()),
                );
                format!("{before}{much}{between}{many}{after}")
            });
        }
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

/// What this thread has computed so far; what else the machine does takes no part in it.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// Checks that four times the text costs about four times the work, and not sixteen times. The measure is the
/// thread's own time; one that a busy machine has spoilt is taken again.
fn check_linear(scanner: &Scanner, bytes: usize, text: impl Fn(usize) -> String) {
    let cost = |bytes: usize| {
        let text = text(bytes);
        let start = computed();
        std::hint::black_box(scanner.scan(&text));
        computed() - start
    };
    let is_linear = || {
        let (once, four) = (cost(bytes), cost(4 * bytes));
        four < 9 * once + Duration::from_millis(5)
    };
    assert!((0..5).any(|_| is_linear()), "{:?}…", &text(64));
}
