//! Where a finding says it is: site, reason, line and column; hook matchers; the frontmatter reader.

use vak::scan::{Finding, Frontmatter, Reason, Scanner, Site};

const ROWS: [(&str, &str); 2] = [("python_eval", "bash"), ("react_preview", "bash")];

/// `want` holds line, column, site and reason of every finding.
fn check(text: &str, want: &[(usize, usize, Site, Reason)]) {
    let scanner = Scanner::new(ROWS);
    let findings = scanner.scan(text);
    let got = findings.iter().map(place).collect::<Vec<_>>();
    assert_eq!(got, want, "in {text:?}");
    for finding in &findings {
        assert!(text[finding.range.clone()].eq_ignore_ascii_case(finding.name));
        assert!(finding.excerpt.contains(&text[finding.range.clone()]));
    }
}

fn place(finding: &Finding<'_>) -> (usize, usize, Site, Reason) {
    (finding.line, finding.column, finding.site, finding.reason)
}

#[test]
fn lines_and_columns_are_an_editors() {
    check("`python_eval`", &[(1, 2, Site::CodeSpan, Reason::Span)]);
    check(
        "\u{feff}`python_eval`",
        &[(1, 2, Site::CodeSpan, Reason::Span)],
    );
    check(
        "é ü 使 `python_eval`",
        &[(1, 8, Site::CodeSpan, Reason::Span)],
    );
    check(
        "a\r\nb\r`python_eval`\n",
        &[(3, 2, Site::CodeSpan, Reason::Span)],
    );
    check(
        "a `python_eval`\r\n\r\npython_eval `react_preview`",
        &[
            (1, 4, Site::CodeSpan, Reason::Span),
            (3, 1, Site::Prose, Reason::BareWord),
            (3, 14, Site::CodeSpan, Reason::Span),
        ],
    );
}

#[test]
fn every_form_of_a_tools_list_is_read() {
    let scanner = Scanner::new(ROWS);
    let reasons = |list: &str| {
        let text = format!("---\nname: x\ntools:{list}\n---\n");
        let findings = scanner.scan(&text);
        findings
            .iter()
            .map(|found| found.reason)
            .collect::<Vec<_>>()
    };
    for list in [
        " python_eval",
        " read, python_eval",
        " \"read, python_eval\"",
        " read python_eval(a, (b)) write",
        " ((read python_eval",
        " [read, 'python_eval']",
        " [\n  read, # one\n  python_eval\n]",
        " {python_eval: true}",
        " {read: true, \"python_eval\": allow }",
        " {\n  read: false,\n  python_eval: true,\n}",
        "\n  python_eval: true",
        "\n  - python_eval",
        "\n- \"python_eval(*)\"",
        "\n  - read, python_eval",
        "\n  - 'read, python_eval'",
        "\n  - python_eval:\n      ask: true\n  - read",
        "\n  - \"python_eval\":\n    - a",
    ] {
        assert_eq!(reasons(list), [Reason::ListEntry], "{list:?}");
    }
    for list in [" {python_eval: false}", "\n  python_eval: deny"] {
        assert_eq!(reasons(list), [Reason::Disallowed], "{list:?}");
    }
    for list in [
        " bash(python_eval)",
        " read # python_eval",
        " {read: {python_eval: true}}",
        "\n  - read:\n    - python_eval",
        "\n  - note: read, python_eval",
    ] {
        assert_eq!(reasons(list), [Reason::OtherField], "{list:?}");
    }
}

/// A comment is no part of the description.
#[test]
fn comments_of_the_frontmatter_are_no_values() {
    let scanner = Scanner::new(ROWS);
    let site_of = |value: &str| {
        let text = format!("---\nname: x\ndescription: {value}\n---\n");
        let findings = scanner.scan(&text);
        assert_eq!(findings.len(), 1, "in {text:?}");
        (findings[0].site, findings[0].reason)
    };
    for comment in [
        "Sums. # Run `python_eval`.",
        "Sums.\n# description: `python_eval`.",
        "\"Sums.\" # `python_eval`",
        "'It''s' # `python_eval`",
        "It's # `python_eval`.",
        "# `python_eval`\n  Sums.",
        "| # `python_eval`\n  Sums.",
    ] {
        let got = site_of(comment);
        assert_eq!(got, (Site::Frontmatter, Reason::OtherField), "{comment:?}");
    }
    for value in [
        "Sums#1 `python_eval`.",
        "\"Sums \\\" # `python_eval`.\"",
        "'Sums '' # `python_eval`.'",
        "|\n  # Run `python_eval`.",
        ">-\n  Sums.\n  # `python_eval`",
    ] {
        let got = site_of(value);
        assert_eq!(got, (Site::Description, Reason::Span), "{value:?}");
    }
}

#[test]
fn sites_are_told_apart() {
    check(
        "---\nname: python_eval\ndescription: Runs `python_eval`.\ntools: [read, python_eval]\n---\n\
         <!-- python_eval -->\n\n```\npython_eval(1)\n```\n",
        &[
            (2, 7, Site::Frontmatter, Reason::OtherField),
            (3, 20, Site::Description, Reason::Span),
            (4, 15, Site::ToolsList, Reason::ListEntry),
            (6, 6, Site::HtmlComment, Reason::Commented),
            (9, 1, Site::CodeBlock, Reason::BlockCall),
        ],
    );
}

#[test]
fn hook_matchers_are_read() {
    let scanner = Scanner::new(ROWS);
    let check = |json: &str, want: &[(usize, usize, Site, Reason)]| {
        let findings = scanner.scan_hooks(json);
        assert_eq!(
            findings.iter().map(place).collect::<Vec<_>>(),
            want,
            "in {json}"
        );
    };
    let hook = |reason| [(1, 39, Site::HookMatcher, reason)];
    check(
        r#"{"hooks": {"PreToolUse": [{"matcher":"python_eval|write", "hooks": []}]}}"#,
        &hook(Reason::HookMatcher),
    );
    check(
        r#"{"hooks": {"PreToolUse": [{"matcher":"Python_Eval", "hooks": []}]}}"#,
        &hook(Reason::OtherCase),
    );
    check(
        r#"{"hooks": {"PreToolUse": [{"matcher" :
           "^(read|react_preview)$"}]}}"#,
        &[(2, 20, Site::HookMatcher, Reason::HookMatcher)],
    );
    check(r#"{"matcher": "my_python_eval|lab/python_eval"}"#, &[]);
    check(r#"{"command": "python_eval", "matcher": "read"}"#, &[]);
    check(r#"{"matcher": ["python_eval"]}"#, &[]);
    check(r#"{"x": "a \" b", "matcher": "python_eval"#, &[]);
}

#[test]
fn the_frontmatter_is_read_as_it_was_meant() {
    let check = |text: &str, name: Option<&str>, description: Option<&str>| {
        let frontmatter = Frontmatter::read(text).unwrap();
        assert_eq!(frontmatter.name().as_deref(), name, "in {text:?}");
        assert_eq!(
            frontmatter.description().as_deref(),
            description,
            "in {text:?}"
        );
    };
    check(
        "---\nname: a\ndescription: b c\n---\n",
        Some("a"),
        Some("b c"),
    );
    check(
        "---\r\nname: 'a'\r\ndescription: \"b: \\\"c\\\"\"\r\n---\r\n",
        Some("a"),
        Some("b: \"c\""),
    );
    check(
        "---\ndescription: work: numbers: `x`\n---\n",
        None,
        Some("work: numbers: `x`"),
    );
    check(
        "---\ndescription: >\n  one\n  two\n\n  three\n---\n",
        None,
        Some("one two\nthree"),
    );
    check(
        "---\ndescription: >-\n  one\nname: x\n---\n",
        Some("x"),
        Some("one"),
    );
    check(
        "---\ndescription: |\n  one\n    two\n---\n",
        None,
        Some("one\n  two"),
    );
    check("---\ndescription: one\n  two\n---\n", None, Some("one two"));
    check("---\ndescription: 'it''s'\n---\n", None, Some("it's"));
    check("---\nname: a # not b\n---\n", Some("a"), None);
    check("---\nname: \"a # b\" # not c\n---\n", Some("a # b"), None);
    check("---\nname: a\n# not b\n---\n", Some("a"), None);
    check("---\nname:\n  a # not b\n---\n", Some("a"), None);
    check("---\n\"name\": a\n---\n", Some("a"), None);
    check("---\nname:\n---\n", Some(""), None);
    check("\u{feff}---\nname: a\n---\n", Some("a"), None);
}

#[test]
fn what_is_no_frontmatter_is_body() {
    for text in [
        "",
        "---",
        "---\n",
        "---\nname: a\n",
        "\n---\nname: a\n---\n",
        "---\n# A\n\ntext\n---\n",
        " ---\nname: a\n---\n",
    ] {
        assert_eq!(Frontmatter::read(text), None, "in {text:?}");
    }
}
