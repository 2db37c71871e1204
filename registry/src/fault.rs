//! What can be wrong with the list, and how it is shown: the place, the line, what to do.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::layout::LineStarts;
use crate::row::MAX_NAME;

/// One thing that is wrong with the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FaultKind {
    /// A byte sequence that is not UTF-8.
    #[error("the list is not valid UTF-8")]
    NotUtf8,
    /// A byte-order mark before the first character.
    #[error("the list begins with a byte-order mark")]
    ByteOrderMark,
    /// A line that a merge left behind.
    #[error("the list holds an unresolved merge conflict")]
    ConflictMarker,
    /// One line ends unlike the first.
    #[error("line ends are mixed: this line ends in {here}, the first one in {first}")]
    MixedLineEnds {
        /// How this line ends.
        here: &'static str,
        /// How the first line ends.
        first: &'static str,
    },
    /// The text is not TOML; the parser's words.
    #[error("the list is not valid TOML: {0}")]
    Syntax(String),
    /// No row at all.
    #[error("the list holds no row")]
    Empty,
    /// A key beside `retired`.
    #[error("unknown key `{0}` outside of a row")]
    UnknownKey(String),
    /// `retired` is not an array of tables.
    #[error("`retired` must be written as `[[retired]]` tables, found {found}")]
    NotRows {
        /// The TOML type that was found.
        found: &'static str,
    },
    /// A field that no row has.
    #[error("unknown field `{0}`")]
    UnknownField(String),
    /// A field that every row has.
    #[error("the row has no `{0}`")]
    MissingField(&'static str),
    /// A field that is not a string.
    #[error("`{field}` must be a string, found {found}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The TOML type that was found.
        found: &'static str,
    },
    /// A field with nothing in it.
    #[error("`{0}` is empty")]
    EmptyField(&'static str),
    /// A hint that would not fit on one line.
    #[error("`hint` must be one line without control characters")]
    HintNotOneLine,
    /// A name that starts with something other than a letter.
    #[error("`{0}` is not a tool name: it must start with an ASCII letter")]
    NameStart(String),
    /// A name with a character that names do not have.
    #[error("`{name}` is not a tool name: it must not contain {}", shown(*.letter))]
    NameLetter {
        /// The name.
        name: String,
        /// The first character that is wrong.
        letter: char,
    },
    /// A name that is too long; its length in bytes.
    #[error("the name is {0} characters long, at most {MAX_NAME} are allowed")]
    NameLength(usize),
    /// `retired_in` is not a semantic version; why.
    #[error("`{version}` is not a semantic version: {reason}")]
    Version {
        /// What stands there.
        version: String,
        /// The parser's words.
        reason: String,
    },
    /// `retired_in` is newer than the package.
    #[error("`{name}` cannot have been retired in {retired_in}: the package is at {package}")]
    TooNew {
        /// The row's name.
        name: String,
        /// The row's version.
        retired_in: semver::Version,
        /// The package's version.
        package: semver::Version,
    },
    /// A name that another row has already.
    #[error("`{name}` is already retired, in {retired_in}")]
    Duplicate {
        /// The later row's name.
        name: String,
        /// When the earlier row says it was retired.
        retired_in: semver::Version,
        /// The earlier row's line.
        line: usize,
    },
    /// A row that is its own replacement.
    #[error("`{0}` is replaced by itself")]
    SelfReplacement(String),
    /// Rows that replace each other; the names in order, the first one again at the end.
    #[error("replacements run in a circle: {}", arrows(.0))]
    Cycle(Vec<String>),
    /// A replacement that is neither live nor retired.
    #[error(
        "`{name}` is replaced by `{replacement}`, which is neither a live tool nor a retired one"
    )]
    DeadEnd {
        /// The row's name.
        name: String,
        /// What it names as replacement.
        replacement: String,
        /// The live tools, sorted.
        live: Vec<String>,
    },
    /// A replacement that is right but for its spelling.
    #[error("`{name}` is replaced by `{replacement}`; the tool is spelt `{meant}`")]
    Misspelt {
        /// The row's name.
        name: String,
        /// What it names as replacement.
        replacement: String,
        /// The tool that was meant.
        meant: String,
    },
    /// A replacement that is only an alias.
    #[error("`{name}` is replaced by `{alias}`, which is only an alias of `{tool}`")]
    AliasReplacement {
        /// The row's name.
        name: String,
        /// What it names as replacement.
        alias: String,
        /// The live tool behind it.
        tool: String,
    },
    /// A retired name that the sources still give to a live tool.
    #[error("`{name}` is still a name of the live tool `{tool}`")]
    StillLive {
        /// The row's name.
        name: String,
        /// The live tool.
        tool: String,
        /// Where the sources say so.
        place: String,
    },
}

impl FaultKind {
    /// What to do about it, in one line.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotUtf8 => "save the file as UTF-8".into(),
            Self::ByteOrderMark => "save the file as UTF-8 without a byte-order mark".into(),
            Self::ConflictMarker => {
                // Two new rows share lines, and git draws those outside of the markers: the sides are no whole rows.
                "take one side whole, `git checkout --ours retired_tools.toml`, then add with `cargo xtask retire` each row that only `git show :3:./retired_tools.toml` has".into()
            }
            Self::MixedLineEnds { .. } => {
                format!("`.gitattributes` pins the list to LF: `{LINE_ENDS_AGAIN}`")
            }
            Self::Syntax(_) => "`cargo xtask retire` writes a row for you".into(),
            Self::Empty => brought_back(crate::FILE),
            Self::UnknownKey(_) | Self::NotRows { .. } => {
                "the list is made of `[[retired]]` tables and nothing else".into()
            }
            Self::UnknownField(_) => {
                "a row has `name`, `retired_in`, `replacement` and, if it helps, `hint`".into()
            }
            Self::MissingField("retired_in") => {
                "add `retired_in = \"X.Y.Z\"`, the first version without the tool".into()
            }
            Self::MissingField("replacement") => {
                "add `replacement = \"…\"`, the live tool to call instead".into()
            }
            Self::MissingField(field) => format!("add `{field} = \"…\"`"),
            Self::WrongType { field, .. } => format!("write `{field} = \"…\"`, with quotes"),
            Self::EmptyField("hint") => "say what to do instead, or leave `hint` out".into(),
            Self::EmptyField(field) => format!("say what `{field}` is"),
            Self::HintNotOneLine => "write the hint as one line of text".into(),
            Self::NameStart(_) | Self::NameLetter { .. } | Self::NameLength(_) => format!(
                "a name is a letter and then letters, digits, `_`, `.` or `-`, {MAX_NAME} at most"
            ),
            Self::Version { .. } => "write it as `MAJOR.MINOR.PATCH`, such as `3.0.21`".into(),
            Self::TooNew { retired_in, .. } => format!(
                "raise `version` in `Cargo.toml` to {retired_in} first, or name the release that really dropped the tool"
            ),
            Self::Duplicate { line, .. } => format!(
                "`{}:{line}` has it already; a name is retired once, whatever its letter case and with `-` as `_`",
                crate::FILE
            ),
            Self::SelfReplacement(_) => "name the live tool to call instead".into(),
            Self::Cycle(_) => "let one of these rows be replaced by a live tool".into(),
            Self::DeadEnd { live, .. } if live.is_empty() => {
                "name a live tool, or a tool that is in the list".into()
            }
            Self::DeadEnd { live, .. } => format!("the live tools are {}", quoted(live)),
            Self::Misspelt { meant, .. } => format!("write `{meant}`"),
            Self::AliasReplacement { tool, .. } => format!("write `{tool}`"),
            Self::StillLive { place, .. } => format!(
                "take the name out of `{place}` first; a retired name is never a live one again"
            ),
        }
    }
}

/// The command that gives the list in the work tree the line ends that `.gitattributes` asks for, and loses no edit.
/// To stage it is not enough: git leaves a file alone that it takes to be what is staged.
pub const LINE_ENDS_AGAIN: &str = "git add --renormalize retired_tools.toml && rm retired_tools.toml && git checkout -- retired_tools.toml";

/// What to do where the list at `path` is gone.
fn brought_back(path: &str) -> String {
    format!(
        "the list only grows: where one is committed, `git checkout HEAD -- {path}` brings it back"
    )
}

/// A character in quotes; one that may look like another has its code point beside it.
fn shown(letter: char) -> String {
    if letter.is_ascii() {
        format!("{letter:?}")
    } else {
        format!("{letter:?} (U+{:04X})", u32::from(letter))
    }
}

/// `` `a` → `b` → `a` ``.
fn arrows(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" → ")
}

/// `` `a`, `b` ``.
fn quoted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A fault and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What is wrong.
    pub(crate) kind: FaultKind,
    /// The bytes that are wrong.
    pub(crate) span: Range<usize>,
    /// Other places that belong to it, each with a word on why.
    pub(crate) also: Vec<(Range<usize>, String)>,
}

impl Fault {
    /// A fault at one place.
    pub(crate) fn new(kind: FaultKind, span: Range<usize>) -> Fault {
        Fault {
            kind,
            span,
            also: Vec::new(),
        }
    }

    /// The same fault, with another place that belongs to it.
    pub(crate) fn also(mut self, span: Range<usize>, label: impl Into<String>) -> Fault {
        self.also.push((span, label.into()));
        self
    }
}

/// Whether a drawing may hold colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text alone.
    Plain,
    /// Text with ANSI colours.
    Colour,
}

impl Paint {
    fn renderer(self) -> Renderer {
        match self {
            Paint::Plain => Renderer::plain(),
            Paint::Colour => Renderer::styled(),
        }
    }
}

/// Says that the list could not be read at all, in the way in which faults are shown.
pub fn draw_unreadable(path: &str, error: &std::io::Error, paint: Paint) -> String {
    let hint = Level::HELP.with_name("hint").message(brought_back(path));
    let title = Level::ERROR.primary_title(format!("failed to read `{path}`: {error}"));
    paint.renderer().render(&[title.element(hint)])
}

/// Every fault of one text, in the order of their places. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    path: String,
    text: String,
    faults: Vec<Fault>,
}

impl std::error::Error for Faults {}

/// Draws the faults without colour.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.draw(Paint::Plain))
    }
}

impl Faults {
    /// The faults of `text`, which came from `path`.
    pub(crate) fn new(path: &str, text: &str, mut faults: Vec<Fault>) -> Faults {
        faults.sort_by_key(|fault| fault.span.start);
        Faults {
            path: path.to_owned(),
            text: text.to_owned(),
            faults,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.faults.len()
    }

    /// Draws every fault: message, `path:line:column`, the line with the place marked, and a hint.
    pub fn draw(&self, paint: Paint) -> String {
        let renderer = paint.renderer();
        let starts = LineStarts::of(&self.text);
        let drawings: Vec<_> = self
            .faults
            .iter()
            .map(|fault| self.draw_one(&renderer, &starts, fault))
            .collect();
        drawings.join("\n\n")
    }

    /// Draws one fault. Each of its places is a snippet with that place's lines alone: the renderer reads all that it
    /// is given, and the whole list may lie between two places.
    fn draw_one(&self, renderer: &Renderer, starts: &LineStarts, fault: &Fault) -> String {
        let place = |kind: AnnotationKind, span: &Range<usize>, label: Option<&str>| {
            let lines = self.lines_of(span);
            let local = span.start - lines.start..span.end - lines.start;
            Snippet::source(self.text[lines.clone()].to_owned())
                .path(self.path.clone())
                .line_start(starts.line(lines.start))
                .annotation(kind.span(local).label(label.map(str::to_owned)))
        };
        let also = fault.also.iter();
        let hint = Level::HELP.with_name("hint").message(fault.kind.hint());
        let drawing = Level::ERROR
            .primary_title(fault.kind.to_string())
            .element(place(AnnotationKind::Primary, &fault.span, None))
            .elements(also.map(|(span, label)| place(AnnotationKind::Context, span, Some(label))))
            .element(hint);
        renderer.render(&[drawing])
    }

    /// The whole lines that a place stands in.
    fn lines_of(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[span.end..]
            .find('\n')
            .map_or(self.text.len(), |at| span.end + at + 1);
        start..end
    }
}
