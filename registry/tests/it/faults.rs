//! Every fault, as it is shown.

use std::fmt::Write as _;

use registry::{LiveName, Rules, parse};

fn live_tools() -> Vec<LiveName> {
    let live = |name: &str, tool: &str, line: u8| LiveName {
        name: name.into(),
        tool: tool.into(),
        place: format!("src/tools/{tool}.rs:{line}"),
    };
    vec![
        live("bash", "bash", 6),
        live("shell", "bash", 7),
        live("read", "read", 6),
    ]
}

/// How the faults of a list are shown, or `valid`.
fn faults(bytes: &[u8], live: Option<&[LiveName]>) -> String {
    let package = "3.1.0".parse().unwrap();
    let rules = Rules {
        package: &package,
        live,
    };
    match parse(registry::FILE, bytes, rules) {
        Ok(list) => format!("valid: {} rows", list.rows().len()),
        Err(faults) => faults.to_string(),
    }
}

/// Compares the faults of each list with the snapshot of this name.
fn check(name: &str, lists: &[&[u8]]) {
    let mut shown = String::new();
    for list in lists {
        let faults = faults(list, Some(&live_tools()));
        assert!(!faults.starts_with("valid"), "{}", list.escape_ascii());
        // A snapshot is text: what of the list is not, stands escaped.
        writeln!(shown, "=== {}\n{faults}\n", list.escape_ascii()).unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

/// A whole row, with `fields` in place of the ones it names.
fn row(name: &str, retired_in: &str, replacement: &str) -> String {
    format!(
        "[[retired]]\nname = \"{name}\"\nretired_in = \"{retired_in}\"\nreplacement = \"{replacement}\"\n"
    )
}

fn check_rows(name: &str, lists: &[String]) {
    let lists: Vec<&[u8]> = lists.iter().map(String::as_bytes).collect();
    check(name, &lists);
}

#[test]
fn a_whole_list_is_valid() {
    let text = [
        row("a", "3.1.0", "bash"),
        row("A.b-c_9", "0.0.1-rc.1", "read"),
        row("c", "3.1.0+local", "a"),
        row("d", "3.0.0", "c"),
        row(&"x".repeat(64), "3.1.0", "A.b-c_9"),
    ]
    .concat();
    assert_eq!(
        faults(text.as_bytes(), Some(&live_tools())),
        "valid: 5 rows"
    );
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(
        faults(crlf.as_bytes(), Some(&live_tools())),
        "valid: 5 rows"
    );
    assert_eq!(faults(text.as_bytes(), None), "valid: 5 rows");
}

#[test]
fn encoding() {
    let good = row("a", "3.1.0", "bash");
    let bom = format!("\u{feff}{good}");
    check(
        "encoding",
        &[
            b"[[retired]]\nname = \"caf\xe9\"\n",
            b"\xff\xfe[\0[\0",
            bom.as_bytes(),
            format!("\u{feff}{}", row("a b", "3.1.0", "bash")).as_bytes(),
        ],
    );
}

#[test]
fn line_ends() {
    let good = row("a", "3.1.0", "bash");
    check_rows(
        "line_ends",
        &[
            good.replacen('\n', "\r\n", 1),
            good.replacen("\nretired_in", "\r\nretired_in", 1),
            good.replace('\n', "\r"),
        ],
    );
}

#[test]
fn conflict_markers() {
    let (ours, theirs) = (row("a", "3.1.0", "bash"), row("b", "3.1.0", "bash"));
    check_rows(
        "conflict_markers",
        &[
            format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> topic\n"),
            format!("{ours}||||||| 1a2b3c4\n{theirs}"),
        ],
    );
}

#[test]
fn empty() {
    check_rows(
        "empty",
        &[
            String::new(),
            "# nothing but a comment\n".into(),
            " \n\n".into(),
        ],
    );
}

#[test]
fn syntax() {
    check_rows(
        "syntax",
        &[
            "[[retired]\nname = \"a\"\n".into(),
            "[[retired]]\nname = a\n".into(),
            "[[retired]]\nname = \"a\n".into(),
            "[[retired]]\nname = \"a\"\nname = \"b\"\n".into(),
            "[[retired]]\nname = \"a\" retired_in = \"3.1.0\"\n".into(),
        ],
    );
}

#[test]
fn shape() {
    check_rows(
        "shape",
        &[
            "[retired]\nname = \"a\"\n".into(),
            "retired = [{ name = \"a\" }]\n".into(),
            "retired = \"a\"\n".into(),
            format!(
                "version = 1\n{}\n[[retierd]]\nname = \"b\"\n",
                row("a", "3.1.0", "bash")
            ),
        ],
    );
}

#[test]
fn fields() {
    let good = row("a", "3.1.0", "bash");
    check_rows(
        "fields",
        &[
            "[[retired]]\n".into(),
            format!("{good}reason = \"x\"\nHint = \"x\"\n"),
            "[[retired]]\nname = 1\nretired_in = 3.1\nreplacement = [\"bash\"]\nhint = true\n".into(),
            "[[retired]]\nname = { x = 1 }\nretired_in = 2025-01-01\nreplacement.x = 1\n[[retired.hint]]\n".into(),
            "[[retired]]\nname = \"\"\nretired_in = \" \"\nreplacement = \"\"\nhint = \"\\t\"\n".into(),
            format!("{good}hint = \"two\\nlines\"\n"),
            format!("{good}hint = \"a bell \\u0007\"\n"),
            format!("{good}hint = \"two\\u2028lines\"\n"),
            format!("{good}hint = \"backwards \\u202e\"\n"),
        ],
    );
}

#[test]
fn names() {
    let names = [
        "_a",
        "9a",
        "-a",
        "é",
        "a b",
        "a/b",
        "a`",
        "pythоn",
        "a\u{200b}",
        " a",
    ];
    let mut lists: Vec<String> = names.map(|name| row(name, "3.1.0", "bash")).into();
    lists.push(row(&"x".repeat(65), "3.1.0", "bash"));
    check_rows("names", &lists);
}

#[test]
fn versions() {
    let versions = [
        "3",
        "3.1",
        "v3.1.0",
        "3.1.0.0",
        "03.1.0",
        "3.1.x",
        "3.1.1",
        "3.2.0-rc.1",
        "4.0.0",
    ];
    let lists: Vec<String> = versions.map(|version| row("a", version, "bash")).into();
    check_rows("versions", &lists);
}

#[test]
fn duplicates() {
    let first = row("a_tool", "3.0.0", "bash");
    check_rows(
        "duplicates",
        &[
            format!("{first}{}", row("a_tool", "3.1.0", "read")),
            format!(
                "{first}{}{}",
                row("A-Tool", "3.1.0", "read"),
                row("a-tool", "3.1.0", "read")
            ),
        ],
    );
}

#[test]
fn replacements() {
    let rows = |pairs: &[(&str, &str)]| -> String {
        pairs
            .iter()
            .map(|(name, to)| row(name, "3.1.0", to))
            .collect()
    };
    check_rows(
        "replacements",
        &[
            rows(&[("a", "a")]),
            rows(&[("a", "A")]),
            rows(&[("a", "b"), ("b", "a")]),
            rows(&[
                ("in", "c"),
                ("c", "b"),
                ("b", "d"),
                ("d", "c"),
                ("x", "y"),
                ("y", "x"),
            ]),
            rows(&[("a", "b"), ("b", "gone")]),
            rows(&[
                ("a", "Bash"),
                ("b", "shell"),
                ("c", "A"),
                ("d", "no such tool"),
            ]),
            rows(&[("a-b", "bash"), ("c", "a_b")]),
        ],
    );
}

#[test]
fn retired_and_live() {
    check_rows(
        "retired_and_live",
        &[row("read", "3.1.0", "bash"), row("SHELL", "3.1.0", "read")],
    );
}

#[test]
fn all_in_one_run() {
    let text = [
        row("a b", "3.1", "bash"),
        row("c", "9.0.0", "d"),
        row("d", "3.1.0", "c"),
        row("D", "3.1.0", "nothing"),
        "[[retired]]\nname = \"e\"\ncolour = \"red\"\n".into(),
    ];
    check_rows("all_in_one_run", &[text.concat()]);
}

/// The build script does not know the live tools: what only they can show is left to the compiler.
#[test]
fn without_the_live_tools() {
    let text = [
        row("a", "3.1.0", "no_such_tool"),
        row("read", "3.1.0", "bash"),
    ]
    .concat();
    assert_eq!(faults(text.as_bytes(), None), "valid: 2 rows");
    let text = [row("a", "3.1.0", "b"), row("b", "3.1.0", "a")].concat();
    assert!(faults(text.as_bytes(), None).contains("replacements run in a circle"));
}

/// Whatever stands in the file, reading it neither panics nor takes long.
#[test]
fn a_list_cut_or_garbled_anywhere_is_read_to_an_end() {
    let good = format!(
        "# é\n{}{}hint = '''x'''\n",
        row("a", "3.1.0", "b"),
        row("b", "3.0.0", "bash")
    );
    for at in 0..good.len() {
        let (head, tail) = good.as_bytes().split_at(at);
        for middle in [
            b"".as_slice(),
            b"\0",
            b"\xc3",
            b"\"",
            b"\n[[",
            b"\r",
            b"'''",
            b"=",
        ] {
            faults(&[head, middle].concat(), Some(&live_tools()));
            faults(&[head, middle, tail].concat(), Some(&live_tools()));
        }
    }
}

#[test]
fn ten_thousand_rows_and_ten_thousand_faults() {
    let good = registry::sample::list(10_000);
    let package = "3.1.0".parse().unwrap();
    let rules = Rules {
        package: &package,
        live: None,
    };
    assert_eq!(
        parse("", good.as_bytes(), rules).unwrap().rows().len(),
        10_000
    );
    // Faults of one place; and of two, with ten thousand rows between them.
    for bad in [good.replace("3.0.", "9.0."), good.repeat(2)] {
        let faults = parse("list.toml", bad.as_bytes(), rules).unwrap_err();
        assert_eq!(faults.count(), 10_000);
        let shown = faults.to_string();
        assert_eq!(shown.matches(" --> list.toml:").count(), 10_000);
    }
}
