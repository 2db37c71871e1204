//! The scanner's grades: one table of whole files per case file, `want` is the strongest finding's grade.

use serde::Deserialize;
use vak::scan::{Finding, Grade, Reason, Scanner};

/// The list that the cases are written against.
const ROWS: [(&str, &str); 2] = [("python_eval", "bash"), ("react_preview", "bash")];

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    name: String,
    want: String,
    text: String,
}

fn check_cases(file: &str) {
    let scanner = Scanner::new(ROWS);
    let cases: Cases = toml_edit::de::from_str(file).unwrap();
    let wrong = cases
        .case
        .iter()
        .filter_map(|case| {
            let findings = scanner.scan(&case.text);
            let strongest = strongest(&findings, &case.name);
            let got = strongest.map_or("none", |finding| grade_id(finding.grade));
            (got != case.want).then(|| {
                let reason = strongest.map_or("", |finding| finding.reason.id());
                format!(
                    "{}: want {}, got {got} ({reason})\n{}",
                    case.id, case.want, case.text
                )
            })
        })
        .collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} of {} wrong\n\n{}",
        wrong.len(),
        cases.case.len(),
        wrong.join("\n")
    );
}

fn strongest<'f>(findings: &'f [Finding<'_>], name: &str) -> Option<&'f Finding<'f>> {
    findings
        .iter()
        .filter(|finding| finding.name == name)
        .max_by_key(|finding| finding.grade)
}

fn grade_id(grade: Grade) -> &'static str {
    match grade {
        Grade::Instructs => "instructs",
        Grade::Declares => "declares",
        Grade::Suspect => "suspect",
        Grade::Mentions => "mentions",
    }
}

#[test]
fn grades_the_worked_cases() {
    check_cases(include_str!("cases/mentions.toml"));
}

#[test]
fn hears_what_a_clause_says_of_a_name() {
    check_cases(include_str!("cases/clauses.toml"));
}

/// The page that explains the verdicts names every reason, with its grade, and `serde` writes the same identifiers.
#[test]
fn every_reason_is_documented() {
    let page = include_str!("../../docs/scanner.md");
    for reason in Reason::ALL {
        let id = reason.id();
        let row = match reason.grade() {
            Grade::Mentions => format!("\n| `{id}` | "),
            grade => format!("\n| `{id}` | `{}` | ", grade_id(grade)),
        };
        assert!(page.contains(&row), "{id} has no row in docs/scanner.md");
        assert_eq!(serde_json::to_value(reason).unwrap(), id);
        assert!(!reason.explain().ends_with('.'));
    }
}

#[test]
fn knows_where_a_name_stands() {
    check_cases(include_str!("cases/sites.toml"));
}
