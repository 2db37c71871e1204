//! Lists of any size for measuring: names and hints of a real list's length, some rows in chains.

use std::fmt::Write;

/// The sizes at which build time and look-ups are measured.
pub const SIZES: [usize; 4] = [2, 100, 1_000, 10_000];

const VERBS: [&str; 10] = [
    "run", "open", "list", "create", "delete", "send", "read", "sync", "find", "publish",
];
const OBJECTS: [&str; 10] = [
    "notebook", "preview", "sandbox", "table", "issue", "image", "query", "page", "cell", "branch",
];

/// The name of the sample row `at`. No two are alike.
pub fn name(at: usize) -> String {
    let verb = VERBS[at % VERBS.len()];
    let object = OBJECTS[at / VERBS.len() % OBJECTS.len()];
    match at / (VERBS.len() * OBJECTS.len()) {
        0 => format!("{verb}_{object}"),
        round => format!("{verb}_{object}_{round}"),
    }
}

/// A valid list of `rows` rows whose chains all end on `bash`, `read`, `write` or `edit`.
pub fn list(rows: usize) -> String {
    let mut text = String::from("# A sample of what the list may grow to.\n");
    for at in 0..rows {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", row(at));
    }
    text
}

/// The source of the plainest look-up there is, for comparison: one `match` on the folded names.
pub fn flat_match(rows: usize) -> String {
    let mut text =
        String::from("fn flat(name: &str) -> Option<&'static str> {\n    match name {\n");
    for at in 0..rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        {:?} => Some({:?}),", name(at), live(at));
    }
    text.push_str("        _ => None,\n    }\n}\n");
    text
}

/// The live tool that the sample row `at` leads to.
pub fn live(at: usize) -> &'static str {
    // The row before a tenth one has the same tool at the end of its chain.
    let at = if at % 10 == 9 { at - 1 } else { at };
    ["bash", "read", "write", "edit"][at % 10 % 4]
}

/// One row, as the list holds it. Every tenth is replaced by the retired tool before it.
fn row(at: usize) -> String {
    let replacement = match at % 10 {
        9 => name(at - 1),
        _ => live(at).to_owned(),
    };
    format!(
        "[[retired]]\nname = \"{}\"\nretired_in = \"3.0.{}\"\nreplacement = \"{replacement}\"\n\
         hint = \"call `{replacement}` and pass what this tool took as its first argument\"\n",
        name(at),
        at % 22,
    )
}
