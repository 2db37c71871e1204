//! The report as SARIF 2.1.0, written result by result. A grade is a rule; what was not scanned is a
//! notification of the run.

use super::super::out::Out;
use super::summary::Summary;
use super::{Entry, Level, Report, level, uri_path, wording};
use crate::scan::Grade;
use crate::walk::FileFinding;
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::Path;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The rules, strongest first: the grade, the rule's name, what it means.
const RULES: [(Grade, &str, &str); 4] = [
    (
        Grade::Instructs,
        "InstructsRetiredTool",
        "The text tells the model to call a tool that is retired.",
    ),
    (
        Grade::Declares,
        "DeclaresRetiredTool",
        "A tools list names a tool that is retired.",
    ),
    (
        Grade::Suspect,
        "SuspectRetiredTool",
        "The text probably refers to a tool that is retired.",
    ),
    (
        Grade::Mentions,
        "MentionsRetiredTool",
        "The text documents that a tool is retired.",
    ),
];

pub(super) struct Sarif {
    deny: Grade,
    has_result: bool,
    /// They stand behind the results, so they wait.
    notifications: Vec<Value>,
}

impl Sarif {
    pub(super) fn new(deny: Grade) -> Sarif {
        Sarif {
            deny,
            has_result: false,
            notifications: Vec::new(),
        }
    }

    fn driver(&self) -> Value {
        let rules = RULES.map(|(grade, name, text)| {
            json!({
                "id": rule_id(grade),
                "name": name,
                "shortDescription": {"text": text},
                "defaultConfiguration": {"level": self.level(grade)},
            })
        });
        json!({"name": "vak", "version": env!("CARGO_PKG_VERSION"), "rules": rules})
    }

    fn level(&self, grade: Grade) -> &'static str {
        match level(grade, self.deny) {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }

    fn result(&self, path: &Path, found: &FileFinding) -> Value {
        let snippet = &found.excerpt[found.mark.clone()];
        json!({
            "ruleId": rule_id(found.grade),
            "ruleIndex": RULES.iter().position(|(grade, ..)| *grade == found.grade),
            "level": self.level(found.grade),
            "message": {"text": wording::finding(found)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(path)},
                "region": {
                    "startLine": found.line,
                    "startColumn": found.column,
                    "endColumn": found.column + snippet.chars().count(),
                    "byteOffset": found.range.start,
                    "byteLength": found.range.len(),
                    "snippet": {"text": snippet},
                },
            }}],
            "properties": {
                "retiredTool": found.name,
                "site": found.site,
                "reason": found.reason,
            },
        })
    }
}

impl Sarif {
    fn notify(&mut self, path: &Path, level: &str, text: &str) {
        self.notifications.push(json!({
            "level": level,
            "message": {"text": text},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}],
        }));
    }
}

impl Report for Sarif {
    fn begin(&mut self, out: &mut Out) -> io::Result<()> {
        let schema = Value::from(SCHEMA);
        let driver = self.driver();
        write!(
            out,
            "{{\n\"$schema\": {schema},\n\"version\": \"2.1.0\",\n\"runs\": [{{\n\"tool\": {{\"driver\": {driver}}},\n\
             \"columnKind\": \"unicodeCodePoints\",\n\"results\": ["
        )
    }

    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let file = entry.file;
        for found in &file.findings {
            let comma = if self.has_result { "," } else { "" };
            self.has_result = true;
            write!(out, "{comma}\n{}", self.result(&file.path, found))?;
        }
        for why in &file.unscanned {
            let level = if why.hides_text() { "error" } else { "warning" };
            self.notify(&file.path, level, &why.to_string());
        }
        if let Some(why) = &entry.unfixed {
            self.notify(&file.path, "error", &wording::unfixed(why));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()> {
        let invocation = json!({
            "executionSuccessful": summary.is_complete(),
            "toolExecutionNotifications": self.notifications,
        });
        writeln!(out, "\n],\n\"invocations\": [{invocation}]\n}}]\n}}")
    }
}

fn rule_id(grade: Grade) -> String {
    format!("retired-tool/{}", wording::grade(grade))
}

fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    format!("{scheme}{}", uri_path(path))
}
