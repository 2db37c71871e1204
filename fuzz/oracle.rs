//! What the scanner must agree on with `pulldown-cmark`, for the property test and the fuzz target alike.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use vak::scan::{Finding, Frontmatter, Grade, Reason, Scanner, Site, fix};

/// The first disagreement between the scanner and the parser, or between the scanner and itself.
pub(crate) fn disagreement(scanner: &Scanner, rows: &[(&str, &str)], text: &str) -> Option<String> {
    let findings = scanner.scan(text);
    malformed(&findings, text)
        .or_else(|| spans(&findings, rows, text))
        .or_else(|| unfixed(scanner, text))
}

/// A finding is in order, is the name it says, and lies on the line it says.
fn malformed(findings: &[Finding<'_>], text: &str) -> Option<String> {
    let mut end = 0;
    for finding in findings {
        let found = &text[finding.range.clone()];
        let is_well_formed = finding.range.start >= end
            && found.eq_ignore_ascii_case(finding.name)
            && finding.excerpt.contains(found)
            && finding.grade == finding.reason.grade()
            && (found == finding.name || finding.grade != Grade::Instructs)
            && finding.line == line_of(text, finding.range.start)
            && column_of(finding, text) == finding.column;
        if !is_well_formed {
            return Some(format!("malformed: {finding:?}"));
        }
        end = finding.range.end;
    }
    None
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let ends = before.matches('\n').count() + before.matches('\r').count()
        - before.matches("\r\n").count();
    // The offset may lie between a carriage return and its line feed only if it is no name's.
    ends + 1
}

fn column_of(finding: &Finding<'_>, text: &str) -> usize {
    let before = &text[..finding.range.start];
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line = &before[start..];
    line.chars().count() + 1 - usize::from(start == 0 && line.starts_with('\u{feff}'))
}

/// Every code span of the parser that is exactly a name, or begins with it as a call, is found at its place; and
/// nothing is called a code span's that lies in none.
fn spans(findings: &[Finding<'_>], rows: &[(&str, &str)], text: &str) -> Option<String> {
    let body = Frontmatter::read(text).map_or(
        usize::from(text.starts_with('\u{feff}')) * 3,
        |frontmatter| frontmatter.body,
    );
    let spans = code_spans(text, body);
    for (source, content) in &spans {
        for (name, _) in rows {
            let Some(rest) = content.trim().strip_prefix(name) else {
                continue;
            };
            if !(rest.is_empty() || rest.starts_with('(') || rest.starts_with(" {\"")) {
                continue;
            }
            let found = findings.iter().any(|finding| {
                finding.name == *name
                    && source.contains(&finding.range.start)
                    && finding.site == Site::CodeSpan
            });
            if !found && !is_acknowledgement(text, source) {
                return Some(format!("missed the span {source:?} of `{name}`"));
            }
        }
    }
    findings
        .iter()
        .filter(|finding| {
            finding.site == Site::CodeSpan
                || finding.reason == Reason::Span && finding.site != Site::Description
        })
        .find(|finding| {
            !spans
                .iter()
                .any(|(source, _)| source.contains(&finding.range.start))
        })
        .map(|finding| format!("no span here: {finding:?}"))
}

/// A name inside an acknowledgement is no reference.
fn is_acknowledgement(text: &str, source: &Range<usize>) -> bool {
    text[..source.start].contains("retired-ok")
}

/// The code spans of the body: their source with the backticks, and their content.
fn code_spans(text: &str, body: usize) -> Vec<(Range<usize>, String)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let mut in_block = false;
    let mut spans = Vec::new();
    for (event, range) in Parser::new_ext(&text[body..], options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Code(content) if !in_block => {
                spans.push((range.start + body..range.end + body, content.into_string()));
            }
            _ => {}
        }
    }
    spans
}

/// The edits of tools lists apply, and leave nothing to edit.
fn unfixed(scanner: &Scanner, text: &str) -> Option<String> {
    let edits = fix::edits(text, scanner);
    let in_order = edits
        .windows(2)
        .all(|pair| pair[0].range.end <= pair[1].range.start);
    if !in_order {
        return Some(format!("edits overlap: {edits:?}"));
    }
    let fixed = fix::apply(text, &edits);
    let again = fix::edits(&fixed, scanner);
    (!again.is_empty()).then(|| format!("edits left over: {again:?} in {fixed:?}"))
}
