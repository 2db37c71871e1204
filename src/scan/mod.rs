//! Text in, findings out: which places of a text call a retired tool, and how surely.
//!
//! Pure: no I/O, no failure, nothing allocated for clean text. A finding borrows from the text.

use std::ops::Range;

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

/// Why a finding has its grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum Reason {
    /// An inline code span that is exactly the name.
    Span,
}

impl Reason {
    /// The reason as a short phrase for people.
    pub fn explain(self) -> &'static str {
        match self {
            Reason::Span => "named in a code span, as a tool to call",
        }
    }
}

/// One reference to a retired tool.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    names: Vec<(String, String)>,
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

    /// A scanner for `(name, replacement)` pairs of the caller's own.
    pub fn new<N: Into<String>, R: Into<String>>(
        rows: impl IntoIterator<Item = (N, R)>,
    ) -> Scanner {
        Scanner {
            names: rows
                .into_iter()
                .map(|(name, replacement)| (name.into(), replacement.into()))
                .collect(),
        }
    }

    /// The findings in a Markdown text, in the order they stand in it.
    pub fn scan<'a>(&'a self, text: &'a str) -> Vec<Finding<'a>> {
        let mut findings = Vec::new();
        let mut offset = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            for (name, _) in &self.names {
                let quoted = format!("`{name}`");
                for (at, _) in line.match_indices(&quoted) {
                    findings.push(Finding {
                        name,
                        grade: Grade::Instructs,
                        site: Site::CodeSpan,
                        reason: Reason::Span,
                        line: index + 1,
                        column: line[..=at].chars().count() + 1,
                        range: offset + at + 1..offset + at + 1 + name.len(),
                        excerpt: line.trim_end_matches(['\r', '\n']),
                    });
                }
            }
            offset += line.len();
        }
        findings.sort_by_key(|finding| finding.range.start);
        findings
    }

    /// The findings in the matchers of a `hooks.json`.
    pub fn scan_hooks<'a>(&'a self, _json: &'a str) -> Vec<Finding<'a>> {
        Vec::new()
    }
}
