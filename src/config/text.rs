//! A config's text: the document in it, where in the file a byte stands, and what is wrong there.
//!
//! Refuses to guess: text that is not UTF-8 or not TOML is a fault with a place, never a default.

use crate::tools::PermissionMode;
use std::fmt;
use std::ops::Range;
use toml_edit::Document;

/// A place in a config, for a person to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted in characters from 1.
    pub column: usize,
    /// The line's text as it can be shown: no control characters, and a part of it if it is long.
    excerpt: String,
    /// How many characters of the excerpt stand before the place.
    indent: usize,
}

/// Something wrong in a config's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TextFault {
    /// Where.
    pub place: Place,
    /// What.
    pub fault: Fault,
}

/// What can be wrong in a config's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// Text that is not TOML: the parser's words.
    #[error("{0}")]
    Syntax(String),
    /// A key that this program reads holds something else than it should.
    #[error("`{key}` is {found}, not {wanted}")]
    WrongType {
        /// The key, dotted.
        key: &'static str,
        /// What it should hold.
        wanted: &'static str,
        /// What it holds.
        found: &'static str,
    },
    /// An unknown permission mode.
    #[error("unknown permission mode `{}`", .0.escape_debug())]
    UnknownMode(String),
    /// The entry can't be cut out or put in without changing something else.
    #[error("changing only `{name}` in this `network_allow` is not possible")]
    Layout {
        /// The plugin whose entry it is.
        name: String,
    },
    /// There is no list to put an entry back into.
    #[error("there is no `network_allow` list to put `{name}` back into")]
    NoList {
        /// The plugin whose entry it is.
        name: String,
    },
}

impl Fault {
    fn hint(&self) -> String {
        match self {
            Fault::NotUtf8 => "save the file as UTF-8".to_owned(),
            Fault::Syntax(_) => "mend this line; nothing was changed".to_owned(),
            Fault::WrongType { wanted, .. } => format!("make it {wanted}, or take the line out"),
            Fault::UnknownMode(_) => {
                let names = PermissionMode::ALL.map(|mode| format!("`{mode}`"));
                format!("the modes are {}", names.join(", "))
            }
            Fault::Layout { name } => format!("change the entry `{name}` by hand"),
            Fault::NoList { name } => {
                format!(
                    "if it should reach the network again, add `network_allow = [\"{name}\"]` below `[plugins]`"
                )
            }
        }
    }
}

impl fmt::Display for TextFault {
    /// The fault, its line with a mark below the place, and a `hint:` line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place {
            line,
            excerpt,
            indent,
            ..
        } = &self.place;
        let gutter = line.to_string().len();
        writeln!(f, "{}", self.fault)?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line} | {excerpt}")?;
        writeln!(f, "{:gutter$} | {:indent$}^", "", "")?;
        write!(f, "hint: {}", self.fault.hint())
    }
}

/// A config's text and the document in it. Byte offsets count from behind the byte order mark.
pub(super) struct ConfigText<'a> {
    /// The text without a byte order mark.
    pub(super) text: &'a str,
    /// The byte order mark, or nothing.
    pub(super) mark: &'a [u8],
    /// What the text says.
    pub(super) document: Document<&'a str>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> ConfigText<'a> {
    /// Reads a file's bytes.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, TextFault> {
        let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let mark = &bytes[..bytes.len() - body.len()];
        let text = std::str::from_utf8(body).map_err(|error| TextFault {
            place: place(body, error.valid_up_to()),
            fault: Fault::NotUtf8,
        })?;
        // The parser skips a byte order mark; a second one would shift every offset it tells.
        if body.starts_with(BYTE_ORDER_MARK) {
            let fault = Fault::Syntax("a second byte order mark".to_owned());
            let place = place(body, 0);
            return Err(TextFault { place, fault });
        }
        let document = Document::parse(text).map_err(|error| TextFault {
            place: place(body, error.span().map_or(0, |span| span.start)),
            fault: Fault::Syntax(error.message().replace('\n', ", ")),
        })?;
        Ok(ConfigText {
            text,
            mark,
            document,
        })
    }

    /// A fault at a span of the text; at the file's start where the parser keeps no span.
    pub(super) fn fault(&self, span: Option<Range<usize>>, fault: Fault) -> TextFault {
        TextFault {
            place: place(self.text.as_bytes(), span.map_or(0, |span| span.start)),
            fault,
        }
    }

    /// The line a byte of the text stands on, counted from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        line_of(self.text.as_bytes(), offset)
    }
}

fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text[..offset].iter().filter(|&&byte| byte == b'\n').count()
}

/// How much of a line is shown before and behind the place.
const EXCERPT_CHARS: usize = 80;

fn place(text: &[u8], offset: usize) -> Place {
    let offset = offset.min(text.len());
    let start = text[..offset]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1);
    let end = text[offset..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(text.len(), |newline| offset + newline);
    let before: Vec<char> = shown(&text[start..offset]);
    let behind = shown(text[offset..end].trim_ascii_end());
    let visible = &before[before.len().saturating_sub(EXCERPT_CHARS)..];
    Place {
        line: line_of(text, offset),
        column: before.len() + 1,
        excerpt: visible
            .iter()
            .chain(behind.iter().take(EXCERPT_CHARS))
            .collect(),
        indent: visible.len(),
    }
}

/// A file may hold what would steer a terminal; what is shown holds none of it.
fn shown(bytes: &[u8]) -> Vec<char> {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}
