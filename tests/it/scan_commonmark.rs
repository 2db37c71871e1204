//! The scanner against `pulldown-cmark`'s own reading: generated Markdown, and the oracle that the fuzz target
//! shares.

use proptest::prelude::*;
use vak::scan::Scanner;

#[path = "../../fuzz/oracle.rs"]
mod oracle;

const ROWS: [(&str, &str); 2] = [("python_eval", "bash"), ("web.search-x", "grep")];

/// What Markdown is made of, weighted towards what decides whether a backtick is a span's.
fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "`",
        "``",
        "```",
        "````",
        "~~~",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "    ",
        "\t",
        "> ",
        "- ",
        "* ",
        "1. ",
        "+ ",
        "#",
        "## ",
        "|",
        "|-|-|\n",
        "---\n",
        "===\n",
        "***\n",
        "[",
        "](",
        ")",
        "]: ",
        "![",
        "<",
        ">",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<div>\n",
        "</div>\n",
        "<a href=\"",
        "\"",
        "'",
        "\\",
        "\\`",
        "&amp;",
        "*",
        "**",
        "_",
        "~~",
        "[^1]",
        "[^1]: ",
        "- [ ] ",
        "http://x.y/",
        "é",
        "使用",
        "\u{feff}",
        "\0",
    ])
    .prop_map(str::to_owned);
    let named = prop::sample::select(vec![
        "python_eval",
        "`python_eval`",
        "PYTHON_EVAL",
        "`` python_eval ``",
        "`python_eval(1)`",
        "`python_eval {\"a\": 1}`",
        "web.search-x",
        "`web.search-x`",
        "my_python_eval",
        "python_eval.py",
        "word",
        "never ",
        "removed ",
        "call ",
        ". ",
    ])
    .prop_map(str::to_owned);
    prop_oneof![2 => fixed, 1 => named]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn spans_are_those_of_commonmark(parts in prop::collection::vec(fragment(), 0..24)) {
        let text = parts.concat();
        let scanner = Scanner::new(ROWS);
        prop_assert_eq!(oracle::disagreement(&scanner, &ROWS, &text), None, "in {:?}", text);
    }

    #[test]
    fn no_text_breaks_the_scanner(text in "\\PC{0,80}", before in fragment(), after in fragment()) {
        let text = format!("{before}{text}`python_eval`{after}{text}");
        let scanner = Scanner::new(ROWS);
        prop_assert_eq!(oracle::disagreement(&scanner, &ROWS, &text), None, "in {:?}", text);
    }
}

/// Wherever a letter or sign of several bytes stands, places are still counted in whole characters.
#[test]
fn no_character_breaks_the_scanner() {
    let scanner = Scanner::new(ROWS);
    let blocks = [
        0x80..0x0600,
        0x1e00..0x2c00,
        0x3000..0x3100,
        0xfe00..0xffff,
        0x1f300..0x1f700,
    ];
    let odd: Vec<char> = blocks
        .into_iter()
        .flatten()
        .filter_map(char::from_u32)
        .collect();
    for odd in odd.chunks(32) {
        let paragraph = |c: &char| {
            format!(
                "{c}`python_eval`{c}\n\nWait{c} a{c}s{c}`python_eval`'s {c}n't {c}’s {c}\n\n\
                 x {c} `python_eval` {c} bash{c}\n\n- `python_eval`{c} {c}removed{c}\n\n| {c} | {c}`python_eval`{c} |\n\n"
            )
        };
        let text: String = odd.iter().map(paragraph).collect();
        for finding in scanner.scan(&text) {
            assert!(text.get(finding.range.clone()).is_some(), "{odd:?}");
        }
        assert_eq!(
            oracle::disagreement(&scanner, &ROWS, &text),
            None,
            "{odd:?}"
        );
    }
}

#[test]
fn agrees_on_the_places_where_backticks_are_no_span() {
    let scanner = Scanner::new(ROWS);
    let texts = [
        "\\`python_eval\\`",
        "`` `python_eval` ``",
        "`a `` python_eval`",
        "[x](`python_eval`)",
        "[`python_eval`](x)",
        "[a`](`python_eval`)",
        "<a href=\"`python_eval`\">`",
        "`<a href=\"`python_eval`\">`",
        "<https://x.y/`python_eval`>",
        "    `python_eval`",
        "- a\n\n      `python_eval`",
        "```\n`python_eval`\n```",
        "~~~\n`python_eval`",
        "| a | b |\n|---|---|\n| `python_eval \\| x` | `python_eval` |",
        "a | b\n-|-\n`python_eval|` | `python_eval`",
        "> `python_eval`\n`python_eval`",
        "> ```\n> python_eval(\n`python_eval`",
        "# `python_eval` #",
        "`python_eval`\n===",
        "[a]: `python_eval`\n\n`python_eval`",
        "<div>\n`python_eval`\n\n`python_eval`",
        "<!-- `python_eval`\n\n`python_eval` -->",
        "*`python_eval`* **`python_eval`** ~~`python_eval`~~ _`python_eval`_",
        "text[^1]\n\n[^1]: `python_eval`",
        "- [ ] `python_eval`",
        "`python_eval",
        "python_eval`",
        "`python_eval`",
    ];
    for text in texts {
        assert_eq!(
            oracle::disagreement(&scanner, &ROWS, text),
            None,
            "in {text:?}"
        );
    }
}
