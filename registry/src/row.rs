//! A row of the list, and what a name is.

use std::fmt;

use semver::Version;

/// The longest name a row may have, in bytes. A name is a letter and then letters, digits, `_`, `.` or `-`, all ASCII.
pub const MAX_NAME: usize = 64;

/// One retired tool, as the list records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The exact name a model might still call.
    pub name: String,
    /// The version of the package that no longer had the tool.
    pub retired_in: Version,
    /// A live tool, or another retired one.
    pub replacement: String,
    /// One line for the model and the operator.
    pub hint: Option<String>,
    /// The line of the list that holds the name, counted from 1.
    pub line: usize,
}

/// Writes the row as a TOML inline table, the shortest form in which a person can compare two rows.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        write!(
            f,
            "{{ name = {}, retired_in = {}, replacement = {}",
            quoted(&self.name),
            quoted(&self.retired_in.to_string()),
            quoted(&self.replacement),
        )?;
        if let Some(hint) = &self.hint {
            write!(f, ", hint = {}", quoted(hint))?;
        }
        f.write_str(" }")
    }
}

/// A name that the sources give to a live tool: its own, or one of its aliases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveName {
    /// The name as the sources spell it.
    pub name: String,
    /// The live tool it stands for; the same as `name` unless it is an alias.
    pub tool: String,
    /// Where the sources say so, as `file:line`.
    pub place: String,
}

/// The spelling under which two names are one: lower-cased (ASCII), `-` as `_`.
pub fn fold(name: &str) -> String {
    name.chars()
        .map(|letter| match letter {
            '-' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// Whether a name may hold `letter` after its first character.
pub(crate) fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}
