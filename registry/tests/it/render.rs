//! The generated source.

use registry::{List, Rules, parse, render, sample};

fn list(text: &str) -> List {
    let package = "3.1.0".parse().unwrap();
    let rules = Rules {
        package: &package,
        live: None,
    };
    parse(registry::FILE, text.as_bytes(), rules).unwrap()
}

const TEXT: &str = r#"
[[retired]]
name = "Old-Tool"
retired_in = "3.0.0"
replacement = "newer.tool"
hint = 'say "no" to \ and é'

[[retired]]
name = "newer.tool"
retired_in = "3.1.0"
replacement = "bash"

[[retired]]
name = "peek"
retired_in = "3.1.0"
replacement = "a-b"

[[retired]]
name = "poke"
retired_in = "3.1.0"
replacement = "a.b"
"#;

#[test]
fn the_source_is_readable() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("source", render(&list(TEXT))));
}

#[test]
fn the_same_list_gives_the_same_bytes_whatever_its_layout() {
    let compact = TEXT.replace("\n\n", "\n").replace(" = ", "=");
    assert_eq!(
        strip_lines(&render(&list(TEXT))),
        strip_lines(&render(&list(&compact)))
    );
    assert_eq!(render(&list(TEXT)), render(&list(TEXT)));
    let large = sample::list(1_000);
    assert_eq!(render(&list(&large)), render(&list(&large)));
}

/// The source without the lines of the list that it names in messages.
fn strip_lines(source: &str) -> String {
    source
        .lines()
        .filter(|line| !line.starts_with("const LIVE_"))
        .collect()
}

#[test]
fn every_sample_name_is_there_once_and_a_chain_ends_on_a_live_tool() {
    let list = list(&sample::list(10_000));
    for (at, (row, end)) in list.resolved().enumerate() {
        assert_eq!(row.name, sample::name(at));
        assert!(
            ["bash", "read", "write", "edit"].contains(&end),
            "{row} → {end}"
        );
    }
}
