//! What a file becomes when retired names are taken out of its tools lists. Nothing is written here.

use super::content::Content;
use super::report::FileReport;
use crate::scan::{Scanner, fix};

/// A file's content with its tools lists cleared of retired names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedBytes {
    /// The whole content. Outside the lists no byte differs, whether it is UTF-8 or not.
    pub bytes: Vec<u8>,
    /// How many places were changed.
    pub edits: usize,
}

/// Clears the tools lists in a file's content of retired names; `None` if there is nothing to clear. Prose is
/// never changed.
pub fn fix_bytes(bytes: &[u8], scanner: &Scanner) -> Option<FixedBytes> {
    // The text has every byte at its place, so its edits are the file's.
    let (text, _) = Content::of(bytes).text();
    let edits = fix::edits(&text, scanner);
    if edits.is_empty() {
        return None;
    }
    let mut fixed = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in &edits {
        fixed.extend_from_slice(&bytes[at..edit.range.start]);
        fixed.extend_from_slice(edit.replacement.as_bytes());
        at = edit.range.end;
    }
    fixed.extend_from_slice(&bytes[at..]);
    Some(FixedBytes {
        bytes: fixed,
        edits: edits.len(),
    })
}

/// Scans a file again whose content is now these bytes.
pub fn scan_again(report: &FileReport, bytes: &[u8], scanner: &Scanner) -> FileReport {
    let (findings, unscanned) = Content::of(bytes).scan(report.role, scanner);
    FileReport {
        path: report.path.clone(),
        role: report.role,
        findings,
        unscanned,
    }
}
