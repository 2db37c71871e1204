//! `vak doctor`: the health report, and the repairs that are mechanical and safe.

use super::out::Out;
use super::scan::excerpt::{lay_out, shown_text};
use super::sync::write_human as write_repairs;
use super::{BAD, FAINT, Format, GOOD, STRONG, Status, WARN, roots, write_json};
use crate::health::{self, Check, Item, Report, Verdict};
use crate::seed::{SeedReport, seed_shared_capabilities};
use crate::words::count;
use anstyle::Style;
use clap::Args;
use serde::Serialize;
use std::io::{self, Write as _};
use unicode_width::UnicodeWidthStr as _;

/// Check everything that can be stale, and say what to run about it
///
/// Each line is a check: ✓ in order, ⚠ deserves a look, ✗ failed. Without `--repair` it changes nothing at all. The exit code is 1
/// if a check failed; warnings alone leave it 0.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak doctor\n  \
    vak doctor --repair\n  \
    vak doctor --format json | jq '.checks[] | select(.verdict == \"fail\")'")]
pub(crate) struct DoctorArgs {
    /// Do the repairs that are mechanical and safe, then check again
    ///
    /// That is what `vak setup seed` does: finish what was interrupted, write the starter skills, take retired plugins away
    /// (reversibly). The exit code is that of the second look, or 2 if a repair failed.
    #[arg(long)]
    repair: bool,
    /// With `--repair`: say what would be repaired, and change nothing
    #[arg(long, requires = "repair")]
    dry_run: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// As much of a stale line as tells a person which one it is.
const TEXT_WIDTH: usize = 72;

/// What `--format json` prints.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a Report,
    healthy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<&'a SeedReport>,
}

pub(crate) fn run(args: &DoctorArgs, out: &mut Out) -> anyhow::Result<Status> {
    let roots = roots()?;
    let repair = args
        .repair
        .then(|| seed_shared_capabilities(&roots, super::mode(args.dry_run)));
    let report = health::examine(&roots);
    match args.format {
        Format::Json => write_json(
            out,
            &Document {
                report: &report,
                healthy: report.is_healthy(),
                repair: repair.as_ref(),
            },
        )?,
        Format::Human => {
            if let Some(repair) = &repair {
                write_repairs(out, repair)?;
                writeln!(out)?;
            }
            write_human(out, &report)?;
        }
    }
    if let Some(repair) = repair.filter(|repair| !repair.failed.is_empty()) {
        out.flush()?;
        return Err(super::sync::failure(&repair.failed));
    }
    Ok(if report.is_healthy() {
        Status::Clean
    } else {
        Status::Findings
    })
}

fn write_human(out: &mut Out, report: &Report) -> io::Result<()> {
    let width = report
        .checks
        .iter()
        .map(|check| check.id.len())
        .max()
        .unwrap_or(0);
    for check in &report.checks {
        let (style, mark) = appearance(check.verdict);
        writeln!(
            out,
            "{style}{mark}{style:#} {STRONG}{:width$}{STRONG:#}  {}",
            check.id,
            shown_text(&check.summary)
        )?;
        write_details(out, check)?;
    }
    writeln!(out)?;
    let failed = report.count(Verdict::Fail);
    let warned = report.count(Verdict::Warn);
    let warnings = count(warned, "warning");
    if failed > 0 {
        writeln!(
            out,
            "{BAD}{} failed{BAD:#}, {warnings}",
            count(failed, "check")
        )
    } else if warned > 0 {
        writeln!(out, "{WARN}nothing failed{WARN:#}, {warnings}")
    } else {
        writeln!(out, "{GOOD}all in order{GOOD:#}")
    }
}

fn write_details(out: &mut Out, check: &Check) -> io::Result<()> {
    for item in &check.items {
        write_item(out, item)?;
    }
    let width = check
        .remedies
        .iter()
        .map(|remedy| remedy.run.width())
        .max()
        .unwrap_or(0)
        .min(48);
    for remedy in &check.remedies {
        let (run, effect) = (shown_text(&remedy.run), shown_text(&remedy.effect));
        writeln!(
            out,
            "    {FAINT}run{FAINT:#} {run:width$}  {FAINT}{effect}{FAINT:#}"
        )?;
    }
    Ok(())
}

fn write_item(out: &mut Out, item: &Item) -> io::Result<()> {
    let mut lines = item.found.lines();
    writeln!(
        out,
        "    {STRONG}{}{STRONG:#}: {}",
        shown_text(&item.subject),
        shown_text(lines.next().unwrap_or_default())
    )?;
    for line in lines {
        writeln!(out, "      {}", shown_text(line))?;
    }
    for place in &item.places {
        let mut at = place.file.display().to_string();
        for number in [place.line, place.column]
            .into_iter()
            .take_while(|number| *number > 0)
        {
            at.push_str(&format!(":{number}"));
        }
        let text = lay_out(&place.text, &place.mark, TEXT_WIDTH).text;
        let text = text.trim();
        writeln!(out, "      {}  {FAINT}{text}{FAINT:#}", shown_text(&at))?;
    }
    Ok(())
}

fn appearance(verdict: Verdict) -> (Style, char) {
    match verdict {
        Verdict::Pass => (GOOD, '✓'),
        Verdict::Warn => (WARN, '⚠'),
        Verdict::Fail => (BAD, '✗'),
    }
}
