//! Text in, findings out: which places of a text call a retired tool, and how surely.
//!
//! Pure: no I/O, no failure, nothing allocated for clean text. A finding borrows from the text.
//!
//! `names` finds where a name stands; only where one does is the text read: `frontmatter` and
//! `markdown` say what the bytes around it are, `references` applies rules 1 to 4 there, `note` rule 5,
//! `acknowledgement` rule 6.

mod acknowledgement;
mod call;
pub mod fix;
mod frontmatter;
mod hooks;
mod markdown;
mod names;
mod note;
mod place;
mod reason;
mod references;
mod spans;
mod tools_list;

use std::ops::Range;

pub use frontmatter::{Field, Frontmatter};
pub use reason::Reason;

use acknowledgement::Acknowledgements;
use markdown::Block;
use names::{Names, Occurrence};
use note::Hearer;
use place::Places;
use references::{Reference, Scope};

/// How sure a finding is, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum Grade {
    /// The text documents that the tool is gone, forbids it, or maps it to its replacement.
    Mentions,
    /// Probably a reference, not provably: the bare word, another letter case.
    Suspect,
    /// A tools list names it.
    Declares,
    /// The text tells the model to call it.
    Instructs,
}

/// Where in a text a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum Site {
    /// The frontmatter's `description`.
    Description,
    /// A tools list of the frontmatter.
    ToolsList,
    /// Anywhere else in the frontmatter.
    Frontmatter,
    /// An inline code span of the body.
    CodeSpan,
    /// A fenced or indented code block.
    CodeBlock,
    /// Running text.
    Prose,
    /// An HTML comment.
    HtmlComment,
    /// A matcher in `hooks.json`.
    HookMatcher,
}

/// One reference to a retired tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Finding<'a> {
    /// The retired tool, spelt as in the list.
    pub name: &'a str,
    /// How sure it is.
    pub grade: Grade,
    /// Where it stands.
    pub site: Site,
    /// Why it has this grade.
    pub reason: Reason,
    /// The line, counted from 1 as an editor does.
    pub line: usize,
    /// The column of the name's first character, counted in characters from 1.
    pub column: usize,
    /// The bytes of the text that are the name.
    pub range: Range<usize>,
    /// The line it stands on, without its line end.
    pub excerpt: &'a str,
}

/// A set of retired names, made ready to be looked for.
#[derive(Debug)]
pub struct Scanner {
    names: Names,
}

impl Scanner {
    /// The scanner for the compiled-in list.
    pub fn shipped() -> &'static Scanner {
        static SHIPPED: std::sync::LazyLock<Scanner> = std::sync::LazyLock::new(|| {
            Scanner::new(
                crate::tools::retired_tools()
                    .iter()
                    .map(|row| (row.name, row.replacement)),
            )
        });
        &SHIPPED
    }

    /// A scanner for `(name, replacement)` pairs of the caller's own. Names are looked for in any letter
    /// case; of two that differ in nothing else the first counts.
    pub fn new<N: Into<String>, R: Into<String>>(
        rows: impl IntoIterator<Item = (N, R)>,
    ) -> Scanner {
        Scanner {
            names: Names::new(
                rows.into_iter()
                    .map(|(name, replacement)| (name.into(), replacement.into()))
                    .collect(),
            ),
        }
    }

    /// The findings in a Markdown text, in the order they stand in it. Allocates nothing where there are none
    /// of the names in the text; linear in the text's length.
    pub fn scan<'a>(&'a self, text: &'a str) -> Vec<Finding<'a>> {
        let Some(first) = self.names.next(text, 0) else {
            return Vec::new();
        };
        let acknowledgements = Acknowledgements::read(text, &self.names);
        let mut occurrences = self.occurrences(text, first);
        occurrences.retain(|found| !acknowledgements.hold(found));
        let scope = Scope {
            text,
            names: &self.names,
            occurrences: &occurrences,
        };
        let mut findings = self.place(text, references(scope));
        for finding in &mut findings {
            let row = self.names.find(finding.name.as_bytes());
            if row.is_some_and(|row| acknowledgements.cover(row, finding.line)) {
                finding.reason = Reason::Acknowledged;
                finding.grade = finding.reason.grade();
            }
        }
        findings
    }

    /// The findings in the matchers of a `hooks.json`. What is no JSON is read as far as it goes.
    pub fn scan_hooks<'a>(&'a self, json: &'a str) -> Vec<Finding<'a>> {
        let Some(first) = self.names.next(json, 0) else {
            return Vec::new();
        };
        let occurrences = self.occurrences(json, first);
        let scope = Scope {
            text: json,
            names: &self.names,
            occurrences: &occurrences,
        };
        let matched = hooks::matchers(json)
            .into_iter()
            .flat_map(|matcher| scope.within(&matcher))
            .map(|found| Reference {
                row: found.row,
                range: found.range.clone(),
                site: Site::HookMatcher,
                reason: if found.exact {
                    Reason::HookMatcher
                } else {
                    Reason::OtherCase
                },
            });
        self.place(json, matched.collect())
    }

    /// The live tool that a retired name's chain of replacements ends on, as far as this scanner's rows tell.
    pub fn live_replacement(&self, name: &str) -> Option<&str> {
        let row = self.names.find(name.as_bytes())?;
        self.names.row(row).replacements.last().map(String::as_str)
    }

    fn occurrences(&self, text: &str, first: Occurrence) -> Vec<Occurrence> {
        let next = |found: &Occurrence| self.names.next(text, found.range.end);
        std::iter::successors(Some(first), next).collect()
    }

    /// References become findings: in order, with line and column.
    fn place<'a>(&'a self, text: &'a str, mut references: Vec<Reference>) -> Vec<Finding<'a>> {
        references.sort_by_key(|reference| reference.range.start);
        let mut places = Places::new(text);
        references
            .into_iter()
            .map(|reference| {
                let place = places.of(reference.range.start);
                Finding {
                    name: &self.names.row(reference.row).name,
                    grade: reference.reason.grade(),
                    site: reference.site,
                    reason: reference.reason,
                    line: place.line,
                    column: place.column,
                    range: reference.range,
                    excerpt: place.excerpt,
                }
            })
            .collect()
    }
}

/// What the occurrences in a text are, rules 1 to 5.
fn references(scope: Scope<'_>) -> Vec<Reference> {
    let mut out = Vec::new();
    let frontmatter = Frontmatter::read(scope.text);
    let body = match &frontmatter {
        Some(frontmatter) => {
            references::frontmatter::references(scope, frontmatter, &mut out);
            frontmatter.body
        }
        None if scope.text.starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
        None => 0,
    };
    let mut hearer = Hearer::new(scope);
    markdown::blocks(
        scope.text,
        body,
        scope.occurrences,
        &mut |block| match block {
            Block::Text { .. } => {
                references::text::references(scope, block, &mut hearer, &mut out);
            }
            Block::Code {
                source,
                info,
                leads,
            } => {
                let first = out.len();
                references::code::references(scope, source, info, &mut out);
                hearer.hear_code(source, *leads, &mut out[first..]);
            }
            Block::Html(html) => references::html::references(scope, html, &mut out),
        },
    );
    out
}
