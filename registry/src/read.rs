//! Text to rows: the form of the file and of each row, without asking whether the rows agree.

use std::ops::Range;

use semver::Version;
use toml_edit::{Document, Item, Table};

use crate::fault::{Fault, FaultKind, Faults};
use crate::layout::{self, LineStarts};
use crate::row::{MAX_NAME, Row, is_name_char};

/// A row and where its parts stand.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) row: Row,
    pub(crate) name: Range<usize>,
    pub(crate) retired_in: Range<usize>,
    pub(crate) replacement: Range<usize>,
}

/// What could be read of a text: every row that is whole, and every fault of form.
pub(crate) struct Reading {
    pub(crate) text: String,
    is_toml: bool,
    pub(crate) rows: Vec<Placed>,
    /// The names of the rows that are not whole.
    broken: Vec<String>,
    pub(crate) faults: Vec<Fault>,
}

/// Reads the rows of a list without asking whether they agree with each other or with the package.
/// This is how an older version of the list is read: what was valid then need not be valid now.
///
/// `path` is only for the messages.
///
/// # Errors
/// Every fault of form: encoding, TOML, unknown, missing, empty or ill-typed fields, names, versions.
pub fn read(path: &str, bytes: &[u8]) -> Result<Vec<Row>, Faults> {
    let reading = Reading::of(bytes);
    if reading.faults.is_empty() {
        Ok(reading.rows.into_iter().map(|placed| placed.row).collect())
    } else {
        Err(Faults::new(path, &reading.text, reading.faults))
    }
}

/// What can be told of a list in spite of its faults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvage {
    /// The rows that are whole.
    pub rows: Vec<Row>,
    /// The names of the rows that are there but not whole.
    pub broken: Vec<String>,
}

/// Reads what can be read of a list; `None` where it is not even TOML.
pub fn salvage(bytes: &[u8]) -> Option<Salvage> {
    let Reading {
        is_toml,
        rows,
        broken,
        ..
    } = Reading::of(bytes);
    let rows = rows.into_iter().map(|placed| placed.row).collect();
    is_toml.then_some(Salvage { rows, broken })
}

impl Reading {
    /// Reads as much of `bytes` as can be read.
    pub(crate) fn of(bytes: &[u8]) -> Reading {
        let (text, undecodable) = layout::decode(bytes);
        let mut reading = Reading {
            text: text.into_owned(),
            is_toml: false,
            rows: Vec::new(),
            broken: Vec::new(),
            faults: undecodable.into_iter().collect(),
        };
        if reading.faults.is_empty() {
            reading.faults = layout::conflicts(&reading.text);
        }
        if reading.faults.is_empty() {
            reading.faults = layout::blemishes(&reading.text);
            reading.read_toml();
        }
        reading
    }

    fn read_toml(&mut self) {
        let text = self.text.clone();
        match Document::parse(text.as_str()) {
            Ok(document) => {
                self.is_toml = true;
                self.read_document(document.as_table());
            }
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                let message = error.message().replace('\n', ", ");
                self.faults
                    .push(Fault::new(FaultKind::Syntax(message), span));
            }
        }
    }

    fn read_document(&mut self, document: &Table) {
        let starts = LineStarts::of(&self.text);
        for (key, item) in document {
            match (key, item) {
                ("retired", Item::ArrayOfTables(rows)) => {
                    rows.iter().for_each(|row| self.read_row(row, &starts));
                }
                ("retired", other) => {
                    let found = type_name(other);
                    self.fault(FaultKind::NotRows { found }, key_span(document, key));
                }
                _ => self.fault(FaultKind::UnknownKey(key.into()), key_span(document, key)),
            }
        }
        if document.is_empty() {
            self.fault(FaultKind::Empty, 0..0);
        }
    }

    fn read_row(&mut self, row: &Table, starts: &LineStarts) {
        let header = row.span().unwrap_or(0..0);
        for (key, _) in row {
            if !["name", "retired_in", "replacement", "hint"].contains(&key) {
                self.fault(FaultKind::UnknownField(key.into()), key_span(row, key));
            }
        }
        let name = self.required(row, "name", &header);
        let version = self.required(row, "retired_in", &header);
        let replacement = self.required(row, "replacement", &header);
        let hint = self.string(row, "hint");
        if let Some((_, span)) = hint
            .as_ref()
            .filter(|(hint, _)| hint.contains(breaks_a_line))
        {
            self.fault(FaultKind::HintNotOneLine, span.clone());
        }
        let name = name.filter(|(name, span)| self.check_name(name, span));
        let version = version.and_then(|(version, span)| self.version(&version, span));
        let (Some(name), Some(version), Some(replacement)) = (name, version, replacement) else {
            let name = row.get("name").and_then(Item::as_str);
            self.broken.extend(name.map(str::to_owned));
            return;
        };
        self.rows.push(Placed {
            row: Row {
                name: name.0,
                retired_in: version.0,
                replacement: replacement.0,
                hint: hint.map(|(hint, _)| hint),
                line: starts.line(name.1.start),
            },
            name: name.1,
            retired_in: version.1,
            replacement: replacement.1,
        });
    }

    /// The string of a field that every row has.
    fn required(
        &mut self,
        row: &Table,
        field: &'static str,
        header: &Range<usize>,
    ) -> Option<(String, Range<usize>)> {
        if !row.contains_key(field) {
            self.fault(FaultKind::MissingField(field), header.clone());
        }
        self.string(row, field)
    }

    /// The string of a field, if the row has it and it is one.
    fn string(&mut self, row: &Table, field: &'static str) -> Option<(String, Range<usize>)> {
        let item = row.get(field)?;
        let span = item.span().unwrap_or_else(|| key_span(row, field));
        let Some(value) = item.as_str() else {
            let found = type_name(item);
            self.fault(FaultKind::WrongType { field, found }, span);
            return None;
        };
        if value.trim().is_empty() {
            self.fault(FaultKind::EmptyField(field), span);
            return None;
        }
        Some((value.to_owned(), span))
    }

    fn check_name(&mut self, name: &str, span: &Range<usize>) -> bool {
        let kind = if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            FaultKind::NameStart(name.into())
        } else if let Some(letter) = name.chars().find(|letter| !is_name_char(*letter)) {
            let name = name.into();
            FaultKind::NameLetter { name, letter }
        } else if name.len() > MAX_NAME {
            FaultKind::NameLength(name.len())
        } else {
            return true;
        };
        self.fault(kind, span.clone());
        false
    }

    fn version(&mut self, version: &str, span: Range<usize>) -> Option<(Version, Range<usize>)> {
        match Version::parse(version) {
            Ok(parsed) => Some((parsed, span)),
            Err(error) => {
                let (version, reason) = (version.to_owned(), error.to_string());
                self.fault(FaultKind::Version { version, reason }, span);
                None
            }
        }
    }

    fn fault(&mut self, kind: FaultKind, span: Range<usize>) {
        self.faults.push(Fault::new(kind, span));
    }
}

/// Whether a character ends a line, or changes in which order the others of its line are shown.
fn breaks_a_line(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Where a key stands in its table.
fn key_span(table: &Table, key: &str) -> Range<usize> {
    table
        .key(key)
        .and_then(toml_edit::Key::span)
        .or_else(|| table.get(key).and_then(Item::span))
        .unwrap_or(0..0)
}

/// What TOML calls the type of an item, with its article.
fn type_name(item: &Item) -> &'static str {
    match item.type_name() {
        "array" => "an array",
        "array of tables" => "an array of tables",
        "inline table" => "an inline table",
        "integer" => "an integer",
        "float" => "a float",
        "boolean" => "a boolean",
        "datetime" => "a date",
        "string" => "a string",
        "table" => "a table",
        _ => "nothing",
    }
}
