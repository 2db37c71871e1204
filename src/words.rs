//! Errors and numbers in words, the same way everywhere.

use std::error::Error;

/// The start of a line that says what to do about a fault.
const HINT: &str = "hint: ";

/// A message without its hints, and the hints without their `hint: `.
pub(crate) fn split_hints(message: &str) -> (String, Vec<&str>) {
    let mut hints = Vec::new();
    let mut text = Vec::new();
    for line in message.lines() {
        match line.strip_prefix(HINT) {
            Some(hint) => hints.push(hint),
            None => text.push(line),
        }
    }
    (text.join("\n"), hints)
}

/// An error with its causes, joined by `: `, and each hint of any of them on a line of its own at the end.
pub(crate) fn with_hints(error: &dyn Error) -> String {
    let mut texts = Vec::new();
    let mut hints = String::new();
    for message in messages(error) {
        let (text, its_hints) = split_hints(&message);
        texts.push(text);
        for hint in its_hints {
            hints.push('\n');
            hints.push_str(HINT);
            hints.push_str(hint);
        }
    }
    texts.join(": ") + &hints
}

/// The first line of what an error and each of its causes say, joined by `: `; no hints.
pub(crate) fn in_one_line(error: &dyn Error) -> String {
    let first_line = |message: String| message.lines().next().unwrap_or_default().to_owned();
    messages(error)
        .map(first_line)
        .collect::<Vec<_>>()
        .join(": ")
}

/// What an error says, then what each of its causes says.
fn messages(error: &dyn Error) -> impl Iterator<Item = String> {
    std::iter::successors(Some(error), |error| (**error).source()).map(ToString::to_string)
}

/// A number and a noun, in the singular where it is one.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
