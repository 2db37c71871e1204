//! The edits of tools lists: each form, the bytes outside the entry untouched.

use vak::scan::{Scanner, fix};

const ROWS: [(&str, &str); 3] = [
    ("python_eval", "bash"),
    ("react_preview", "python_eval"),
    ("old_read", "read"),
];

/// `before` and `after` are the lines between the frontmatter's fences.
fn check(before: &str, after: &str) {
    let scanner = Scanner::new(ROWS);
    let text = |fields: &str| format!("---\nname: x\n{fields}---\nCall `python_eval`.\n");
    let source = text(before);
    let edits = fix::edits(&source, &scanner);
    let fixed = fix::apply(&source, &edits);
    assert_eq!(fixed, text(after), "from {before:?}");
    assert_eq!(
        fix::edits(&fixed, &scanner),
        [],
        "a second run finds nothing to do"
    );
}

#[test]
fn puts_the_live_replacement_where_the_list_lacks_it() {
    check(
        "tools: read, python_eval, write\n",
        "tools: read, bash, write\n",
    );
    check("tools: python_eval\n", "tools: bash\n");
    check("tools: [react_preview]\n", "tools: [bash]\n");
    check(
        "allowed-tools:\n  - \"react_preview\"\n",
        "allowed-tools:\n  - \"bash\"\n",
    );
    check(
        "allowedTools: ['Python_Eval(import *)', read]\n",
        "allowedTools: ['bash', read]\n",
    );
    check(
        "allowed_tools: python_eval(a b) read\n",
        "allowed_tools: bash read\n",
    );
    check(
        "tools:\n  python_eval: true\n  read: true\n",
        "tools:\n  bash: true\n  read: true\n",
    );
}

#[test]
fn takes_the_entry_out_where_the_list_holds_the_replacement() {
    check("tools: bash, python_eval, write\n", "tools: bash, write\n");
    check("tools: Bash,python_eval,write\n", "tools: Bash,write\n");
    check("tools: python_eval, bash\n", "tools: bash\n");
    check("tools: bash, python_eval\n", "tools: bash\n");
    check(
        "tools: bash python_eval(import *) write\n",
        "tools: bash write\n",
    );
    check("tools: [bash, \"python_eval\"]\n", "tools: [bash]\n");
    check("tools: [ 'python_eval' , bash ]\n", "tools: [ bash ]\n");
    check("tools: \"bash, python_eval\"\n", "tools: \"bash\"\n");
    check("tools: bash, python_eval # both\n", "tools: bash # both\n");
    check(
        "tools: old_read, python_eval, bash, read\n",
        "tools: bash, read\n",
    );
}

#[test]
fn several_names_become_one_replacement() {
    check("tools: python_eval, react_preview\n", "tools: bash\n");
    check(
        "tools: python_eval react_preview read\n",
        "tools: bash read\n",
    );
    check(
        "tools:\n- python_eval\n- react_preview\n- old_read\n",
        "tools:\n- bash\n- read\n",
    );
}

#[test]
fn takes_out_whole_lines() {
    check(
        "tools:\n  - bash\n  - python_eval\n  - write\n",
        "tools:\n  - bash\n  - write\n",
    );
    check(
        "tools:\n  - python_eval # sums\n  - bash\n",
        "tools:\n  - bash\n",
    );
    check("tools:\n- bash\n- python_eval\n", "tools:\n- bash\n");
    check(
        "tools: [\n  bash,\n  python_eval, # sums\n  write\n]\n",
        "tools: [\n  bash,\n  write\n]\n",
    );
    check(
        "tools:\n  bash: true\n  python_eval: true\n",
        "tools:\n  bash: true\n",
    );
}

/// What stays keeps its comment and its line.
#[test]
fn takes_out_an_entry_beside_others() {
    check(
        "tools: [bash, # keep this\n  python_eval ]\n",
        "tools: [bash, # keep this\n   ]\n",
    );
    check(
        "tools: [python_eval, # gone\n  bash]\n",
        "tools: [ # gone\n  bash]\n",
    );
    check(
        "tools:\n  - bash, python_eval\n  - write\n",
        "tools:\n  - bash\n  - write\n",
    );
    check("tools:\n  - python_eval, bash\n", "tools:\n  - bash\n");
    check(
        "tools: {bash: true, python_eval: true}\n",
        "tools: {bash: true}\n",
    );
    check(
        "tools: { python_eval: true, bash: true }\n",
        "tools: { bash: true }\n",
    );
    check(
        "tools:\n  - python_eval:\n      ask: true\n  - bash\n",
        "tools:\n  - bash\n",
    );
    check(
        "tools:\n  - python_eval:\n      ask: true\n  - read\n",
        "tools:\n  - bash:\n      ask: true\n  - read\n",
    );
}

/// What the list turns off is neither held nor put there a second time.
#[test]
fn leaves_an_entry_whose_replacement_is_turned_off() {
    for list in [
        "tools:\n  bash: false\n  python_eval: true\n",
        "tools: {Bash: deny, python_eval: allow}\n",
    ] {
        check(list, list);
    }
}

#[test]
fn leaves_everything_else_alone() {
    check(
        "tools: bash, lab/python_eval, my_python_eval\n",
        "tools: bash, lab/python_eval, my_python_eval\n",
    );
    check(
        "tools: bash # not python_eval\n",
        "tools: bash # not python_eval\n",
    );
    check(
        "disallowed-tools: python_eval\n",
        "disallowed-tools: python_eval\n",
    );
    check(
        "description: python_eval, `python_eval`\n",
        "description: python_eval, `python_eval`\n",
    );
    check(
        "tools: Bash(python_eval *)\n",
        "tools: Bash(python_eval *)\n",
    );
    check(
        "tools: bash, python_eval # <!-- vak: retired-ok python_eval -->\n",
        "tools: bash, python_eval # <!-- vak: retired-ok python_eval -->\n",
    );
}

/// Line ends and a byte order mark stay as they are.
#[test]
fn keeps_carriage_returns_and_the_mark() {
    let scanner = Scanner::new(ROWS);
    let text = "\u{feff}---\r\ntools:\r\n  - bash\r\n  - python_eval\r\n---\r\n";
    let edits = fix::edits(text, &scanner);
    assert_eq!(
        fix::apply(text, &edits),
        "\u{feff}---\r\ntools:\r\n  - bash\r\n---\r\n"
    );
}
