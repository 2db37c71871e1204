//! What stands right around a name in code: a call, a call written as data, a definition.

use std::ops::Range;

use super::names::is_word_byte;

/// How far around a name its line is looked at, in bytes: keeps a very long line cheap.
const REACH: usize = 160;

/// The keys under which tool calls written as data name the tool.
const TOOL_KEYS: [&str; 5] = ["tool", "name", "tool_name", "toolname", "function"];

/// The words that bring a name into scope when they stand before it.
const DEFINING_WORDS: [&str; 14] = [
    "def", "function", "fn", "func", "fun", "sub", "class", "const", "let", "var", "alias",
    "import", "proc", "macro",
];

/// Whether the name is called: `name(` or `name {"…`.
pub(super) fn is_called(text: &str, name: &Range<usize>) -> bool {
    let after = &text[name.end..];
    after.starts_with('(') || takes_object(after)
}

/// Whether a JSON object follows as the call's arguments.
fn takes_object(after: &str) -> bool {
    after
        .trim_start_matches([' ', '\t'])
        .strip_prefix('{')
        .is_some_and(|inside| inside.trim_start().starts_with(['"', '\'', '}']))
}

/// Whether the name is the value of a key that names a tool: `"tool": "name"`, `<invoke name="name">`.
pub(super) fn is_data_call(text: &str, name: &Range<usize>) -> bool {
    let quoted = |quote: char| {
        let before = text[..name.start].strip_suffix(quote)?;
        text[name.end..].starts_with(quote).then_some(before)
    };
    let Some(before) = quoted('"').or_else(|| quoted('\'')) else {
        return false;
    };
    let Some(key) = before.trim_end().strip_suffix([':', '=']) else {
        return false;
    };
    let key = last_word(key.trim_end().trim_end_matches(['"', '\'']));
    TOOL_KEYS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(key))
}

/// Whether the line around the name defines or imports it.
pub(super) fn is_defined(text: &str, line: &Range<usize>, name: &Range<usize>) -> bool {
    let before = &text
        [text.ceil_char_boundary(line.start.max(name.start.saturating_sub(REACH)))..name.start];
    let after = &text[name.end
        ..text
            .floor_char_boundary(line.end.min(name.end + REACH))
            .max(name.end)];
    if before.ends_with([' ', '\t']) && DEFINING_WORDS.contains(&last_word(before.trim_end())) {
        return true;
    }
    is_assigned(before, after) || is_shell_function(before, after) || is_imported(before)
}

/// `name = …` at the start of a line, but not `name == …`.
fn is_assigned(before: &str, after: &str) -> bool {
    let after = after.trim_start();
    before.trim().is_empty()
        && (after.starts_with(":=")
            || after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
}

/// `name() {` at the start of a line.
fn is_shell_function(before: &str, after: &str) -> bool {
    before.trim().is_empty()
        && after
            .strip_prefix("()")
            .is_some_and(|rest| rest.trim() == "{" || rest.trim_start().starts_with("{ "))
}

/// `from … import a, name`, `import { name } from …`.
fn is_imported(before: &str) -> bool {
    let start = before.trim_start();
    start.starts_with("from ") && start.contains(" import ")
        || (start.starts_with("import ") || start.starts_with("import{")) && start.contains('{')
}

/// The identifier that a text ends with.
fn last_word(text: &str) -> &str {
    let length = text
        .bytes()
        .rev()
        .take_while(|byte| is_word_byte(*byte))
        .count();
    &text[text.len() - length..]
}
