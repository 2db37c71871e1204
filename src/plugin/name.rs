//! Names that become path steps: a plugin's, a version's, a quarantine entry's. Checked once, here, before
//! anything is joined to a path.

use serde::{Serialize, Serializer};
use std::fmt;

/// The longest name or version, in bytes.
pub const NAME_LIMIT: usize = 64;

/// A plugin's name: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, beginning with a letter or digit and
/// not ending with a dot. Two names that differ only in case mean the same directory on some file systems,
/// so a store accepts only one of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(String);

/// A plugin's version: as [`PluginName`], and `+` is allowed too. Not necessarily semver: imported
/// manifests say what they like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginVersion(String);

/// What names an entry of the quarantine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuarantineId(String);

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is longer than a name may be.
    #[error("it has {found} bytes, {limit} are allowed")]
    TooLong {
        /// Its length in bytes.
        found: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It begins with something else than an ASCII letter or digit.
    #[error("it begins with {found:?}, not with an ASCII letter or digit")]
    Start {
        /// The first character.
        found: char,
    },
    /// It ends with a dot, which some file systems drop.
    #[error("it ends with a dot")]
    End,
    /// A character in it is not allowed.
    #[error("{found:?} is not allowed in it")]
    Character {
        /// The first such character.
        found: char,
    },
}

impl PluginName {
    /// The name, if `text` is one.
    pub fn parse(text: &str) -> Result<PluginName, NameFault> {
        check(text, NAME_LIMIT, "-_.").map(|()| PluginName(text.to_owned()))
    }

    /// Stands for a registered name that is none, where something of that plugin needs a name.
    pub(super) fn placeholder() -> PluginName {
        PluginName("unnamed".to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PluginVersion {
    /// The version, if `text` is one.
    pub fn parse(text: &str) -> Result<PluginVersion, NameFault> {
        check(text, NAME_LIMIT, "-_.+").map(|()| PluginVersion(text.to_owned()))
    }

    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl QuarantineId {
    /// The id, if `text` can be one.
    pub fn parse(text: &str) -> Result<QuarantineId, NameFault> {
        // A name, a time and a number.
        check(text, NAME_LIMIT + 48, "-_.").map(|()| QuarantineId(text.to_owned()))
    }

    /// The id of a plugin taken away at a time (seconds since 1970), the `serial`-th in that second.
    pub(super) fn new(name: &PluginName, at_unix: u64, serial: u32) -> QuarantineId {
        QuarantineId(match serial {
            0 => format!("{}-{at_unix}", name.0),
            _ => format!("{}-{at_unix}-{serial}", name.0),
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &str, limit: usize, also_allowed: &str) -> Result<(), NameFault> {
    let found = text.chars().next().ok_or(NameFault::Empty)?;
    if text.len() > limit {
        let found = text.len();
        return Err(NameFault::TooLong { found, limit });
    }
    if !found.is_ascii_alphanumeric() {
        return Err(NameFault::Start { found });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || also_allowed.contains(c);
    if let Some(found) = text.chars().find(|c| !allowed(*c)) {
        return Err(NameFault::Character { found });
    }
    if text.ends_with('.') {
        return Err(NameFault::End);
    }
    Ok(())
}

macro_rules! shown_as_text {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    )*};
}

shown_as_text!(PluginName, PluginVersion, QuarantineId);
