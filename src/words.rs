//! Errors, numbers and commands in words, the same way everywhere.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

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

/// A command about a plugin, to be typed. The name is what a registry says, and may be no name at all;
/// `options` begin with a blank or are empty.
pub(crate) fn plugin_command(verb: &str, name: &str, options: &str) -> String {
    let quoted = shell_quoted(name);
    match name.starts_with('-') {
        true => format!("vak plugins {verb}{options} -- {quoted}"),
        false => format!("vak plugins {verb} {quoted}{options}"),
    }
}

/// A text or a path as one word for a shell, with nothing in it that a terminal would obey or hide.
pub(crate) fn shell_quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:".contains(c);
    let is_shown = |c: char| c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        Ok(text) if text.chars().all(is_shown) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => escaped(bytes),
    }
}

/// A word for a shell that spells out every byte that may not be shown.
fn escaped(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    for byte in bytes {
        match byte {
            b'\'' | b'\\' => word.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => word.push(char::from(*byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(word, "\\{byte:03o}");
            }
        }
    }
    word.push('\'');
    word
}
