//! The matchers of a `hooks.json`: each value of a `matcher` key is a pattern of tool names.

use std::ops::Range;

/// The values of all `matcher` keys, without their quotes, in order. Broken JSON gives what can be read.
pub(super) fn matchers(json: &str) -> Vec<Range<usize>> {
    let mut matchers = Vec::new();
    let mut is_value = false;
    let mut at = 0;
    while let Some(string) = next_string(json, at) {
        at = string.end + 1;
        let is_key = json[at.min(json.len())..].trim_start().starts_with(':');
        if is_value && !is_key {
            matchers.push(string.clone());
        }
        is_value = is_key && &json[string] == "matcher" && follows_string(json, at);
    }
    matchers
}

/// Whether the value behind a key's closing quote is a string.
fn follows_string(json: &str, key_end: usize) -> bool {
    json[key_end..]
        .trim_start()
        .strip_prefix(':')
        .is_some_and(|value| value.trim_start().starts_with('"'))
}

/// The next string at or after `from`, without its quotes.
fn next_string(json: &str, from: usize) -> Option<Range<usize>> {
    let bytes = json.as_bytes();
    let start = from + memchr::memchr(b'"', bytes.get(from..)?)? + 1;
    let mut at = start;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(start..at);
        }
        at += 2;
    }
}
