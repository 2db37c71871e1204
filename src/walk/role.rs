//! What a file is to the package it stands in, told from its path alone.

use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What a file is to its package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A `SKILL.md`: the only role that can flag a plugin.
    Skill,
    /// A Markdown file below `commands/`.
    Command,
    /// A Markdown file below `agents/`.
    Agent,
    /// A `hooks.json`.
    Hooks,
    /// Any other file.
    Other,
}

impl Role {
    /// What the file at `path`, relative to its package, is.
    pub(crate) fn of(path: &Path) -> Role {
        let place = path.parent().map_or(Place::Open, Place::of);
        place.role(path.file_name().map_or(b"", OsStr::as_bytes))
    }

    /// What a file that was asked for itself is. As with a directory, what stands above it has no say.
    pub(crate) fn of_named(path: &Path) -> Role {
        path.file_name()
            .map_or(Role::Other, |name| Role::of(Path::new(name)))
    }
}

/// As much of a directory's path as decides what its files are.
///
/// The outermost directory called `skills`, `commands` or `agents` decides: `skills/agents/SKILL.md` is
/// a skill that is called "agents", and `commands/skill.md` a command that is called "skill".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Below none of the three.
    Open,
    /// Below `skills/`.
    Skills,
    /// Below `commands/`.
    Commands,
    /// Below `agents/`.
    Agents,
}

impl Place {
    /// The place of a directory, by its path relative to the package.
    pub(crate) fn of(directory: &Path) -> Place {
        directory
            .iter()
            .fold(Place::Open, |place, name| place.enter(name.as_bytes()))
    }

    /// The place of the directory `name` in this one.
    pub(crate) fn enter(self, name: &[u8]) -> Place {
        match (self, name) {
            (Place::Open, b"skills") => Place::Skills,
            (Place::Open, b"commands") => Place::Commands,
            (Place::Open, b"agents") => Place::Agents,
            (place, _) => place,
        }
    }

    /// What a file called `name` is in this place.
    pub(crate) fn role(self, name: &[u8]) -> Role {
        match self {
            Place::Commands if has_extension(name, b"md") => Role::Command,
            Place::Agents if has_extension(name, b"md") => Role::Agent,
            _ if name.eq_ignore_ascii_case(b"SKILL.md") => Role::Skill,
            _ if name.eq_ignore_ascii_case(b"hooks.json") => Role::Hooks,
            _ => Role::Other,
        }
    }
}

/// Whether a file of this name is Markdown.
pub(crate) fn is_markdown(name: &[u8]) -> bool {
    [b"md".as_slice(), b"mdc", b"markdown"]
        .iter()
        .any(|extension| has_extension(name, extension))
}

/// Whether a file name has this extension, in any letter case.
fn has_extension(name: &[u8], extension: &[u8]) -> bool {
    name.len()
        .checked_sub(extension.len() + 1)
        .is_some_and(|dot| name[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(extension))
}
