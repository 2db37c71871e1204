//! JSON that is edited without being understood: an object whose values stay the text they were.
//!
//! A later program's fields, numbers beyond this one's range and the order of keys survive a rewrite because
//! nothing of them is ever converted. A key that stands twice is refused: whichever is taken, the other
//! would be lost.

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// An object: keys in their order, values as written.
#[derive(Debug, Clone, Default)]
pub(super) struct RawObject {
    entries: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    pub(super) fn parse(text: &str) -> serde_json::Result<RawObject> {
        serde_json::from_str(text)
    }

    pub(super) fn get(&self, key: &str) -> Option<&RawValue> {
        self.position(key).map(|at| &*self.entries[at].1)
    }

    pub(super) fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|(name, _)| name == key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), &**value))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// Gives a key a value, in its place or as the last one.
    pub(super) fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.position(key) {
            Some(at) => self.entries[at].1 = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Puts a new key before the one that is `at`-th now, or last. A key that is there gets the value in its
    /// place.
    pub(super) fn insert(&mut self, at: usize, key: &str, value: Box<RawValue>) {
        if self.position(key).is_some() {
            return self.set(key, value);
        }
        let at = at.min(self.entries.len());
        self.entries.insert(at, (key.to_owned(), value));
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.position(key)?;
        Some(self.entries.remove(at).1)
    }

    /// The object as text, one key a line, for a place `depth` levels down.
    pub(super) fn to_raw(&self, depth: usize) -> serde_json::Result<Box<RawValue>> {
        if self.entries.is_empty() {
            return RawValue::from_string("{}".to_owned());
        }
        let mut lines = Vec::with_capacity(self.entries.len());
        for (key, value) in &self.entries {
            lines.push(format!("{}: {}", serde_json::to_string(key)?, value.get()));
        }
        block("{", &lines, "}", depth)
    }
}

/// A list of such values as text, one a line, for a place `depth` levels down.
pub(super) fn list_to_raw(
    values: &[Box<RawValue>],
    depth: usize,
) -> serde_json::Result<Box<RawValue>> {
    if values.is_empty() {
        return RawValue::from_string("[]".to_owned());
    }
    let lines: Vec<_> = values.iter().map(|value| value.get().to_owned()).collect();
    block("[", &lines, "]", depth)
}

/// A new value as indented text, for a place `depth` levels down.
pub(super) fn to_raw(value: &impl Serialize, depth: usize) -> serde_json::Result<Box<RawValue>> {
    let text = serde_json::to_string_pretty(value)?;
    // A line break can only stand between tokens: strings have theirs escaped.
    RawValue::from_string(text.replace('\n', &format!("\n{}", indent(depth))))
}

fn block(
    open: &str,
    lines: &[String],
    close: &str,
    depth: usize,
) -> serde_json::Result<Box<RawValue>> {
    let (outer, inner) = (indent(depth), indent(depth + 1));
    let body = lines.join(&format!(",\n{inner}"));
    RawValue::from_string(format!("{open}\n{inner}{body}\n{outer}{close}"))
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawObject, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = RawObject;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawObject, M::Error> {
        let mut object = RawObject::default();
        let mut seen = HashSet::new();
        while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if !seen.insert(key.clone()) {
                return Err(M::Error::custom(format_args!(
                    "the key `{key}` stands twice"
                )));
            }
            object.entries.push((key, value));
        }
        Ok(object)
    }
}
