//! `vak services-sync`, and the report it shares with `vak setup seed`.

use super::out::Out;
use super::scan::excerpt::{shown_path, shown_text};
use super::{BAD, FAINT, Format, GOOD, STRONG, Status, WARN, mode, roots, write_json};
use crate::mode::Mode;
use crate::plugin::RecordedFinding;
use crate::seed::starter::StarterState;
use crate::seed::{SeedReport, Taken, seed_shared_capabilities};
use crate::tools;
use crate::words::{count, plugin_command};
use clap::Args;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Bring the state on disk up to what this vak knows: for updates and service managers
///
/// Does what `vak setup seed` does: starter skills, then the clean-up of plugins that call a retired tool. It asks nothing, is
/// safe to run at every start, and says nothing when there was nothing to do.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// How much a person wants to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// The whole report.
    Full,
    /// Only what was changed and what failed.
    Changes,
}

pub(crate) fn run(args: &SyncArgs, out: &mut Out) -> anyhow::Result<Status> {
    reconcile(mode(args.dry_run), args.format, Verbosity::Changes, out)
}

/// Seeds and cleans up, and reports it.
pub(crate) fn reconcile(
    mode: Mode,
    format: Format,
    verbosity: Verbosity,
    out: &mut Out,
) -> anyhow::Result<Status> {
    let report = seed_shared_capabilities(&roots()?, mode);
    match format {
        Format::Json => write_json(out, &report)?,
        Format::Human if verbosity == Verbosity::Changes && !report.changes() => {}
        Format::Human => write_human(out, &report)?,
    }
    if report.failed.is_empty() {
        return Ok(Status::Clean);
    }
    out.flush()?;
    Err(failure(&report.failed))
}

/// What failed, as one error.
pub(crate) fn failure(failed: &[String]) -> anyhow::Error {
    match failed {
        [one] => anyhow::anyhow!("{one}"),
        several => anyhow::anyhow!(
            "{} could not be done:\n{}",
            count(several.len(), "thing"),
            several.join("\n")
        ),
    }
}

pub(crate) fn write_human(out: &mut Out, report: &SeedReport) -> std::io::Result<()> {
    write_starter(out, report)?;
    write_cleanup(out, report)?;
    if report.dry_run {
        writeln!(
            out,
            "{FAINT}nothing was changed: this was a dry run{FAINT:#}"
        )?;
    }
    Ok(())
}

fn write_starter(out: &mut Out, report: &SeedReport) -> std::io::Result<()> {
    let skills = report.starter.iter();
    let skills = skills.map(|file| (file.state, shown_path(&file.path)));
    let plugins = report.starter_plugins.iter();
    let plugins = plugins.map(|plugin| (plugin.state, format!("plugin {}", plugin.name)));
    let things: Vec<_> = skills.chain(plugins).collect();
    let summary = summary(&things, report.dry_run);
    if summary.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{STRONG}Starter skills and plugins{STRONG:#} in {}: {summary}",
        shown_path(&report.shared_root),
    )?;
    for (state, name) in &things {
        let (style, mark) = match state {
            StarterState::Current => continue,
            StarterState::Written => (GOOD, "+"),
            StarterState::Updated => (GOOD, "~"),
            StarterState::KeptEdited => (WARN, "edited"),
            StarterState::KeptDeleted => (WARN, "deleted"),
            StarterState::KeptLinked => (WARN, "linked"),
        };
        writeln!(out, "  {style}{mark}{style:#} {name}")?;
    }
    Ok(())
}

/// How many things are in which state, in words.
fn summary(things: &[(StarterState, String)], dry_run: bool) -> String {
    let would = if dry_run { "to be " } else { "" };
    let parts = [
        (StarterState::Written, format!("{would}written")),
        (StarterState::Updated, format!("{would}updated")),
        (StarterState::Current, "up to date".to_owned()),
        (StarterState::KeptEdited, "kept as you edited it".to_owned()),
        (
            StarterState::KeptDeleted,
            "left out as you deleted it".to_owned(),
        ),
        (
            StarterState::KeptLinked,
            "left to you as it is linked".to_owned(),
        ),
    ];
    let parts = parts.into_iter().filter_map(|(state, words)| {
        let number = things.iter().filter(|thing| thing.0 == state).count();
        (number > 0).then(|| format!("{number} {words}"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn write_cleanup(out: &mut Out, report: &SeedReport) -> std::io::Result<()> {
    let cleanup = &report.cleanup;
    let verb = if report.dry_run {
        "to be taken away"
    } else {
        "taken away"
    };
    let taken = match (cleanup.taken.len(), cleanup.failed) {
        (_, None) => "not looked at".to_owned(),
        (0, Some(0)) => "none to take away".to_owned(),
        (number, Some(0)) => format!("{number} {verb}"),
        (number, Some(failed)) => format!("{number} {verb}, {failed} failed"),
    };
    writeln!(out, "{STRONG}Retired plugins{STRONG:#}: {taken}")?;
    for plugin in &cleanup.taken {
        let namesakes = cleanup.taken.iter().filter(|it| it.name == plugin.name);
        write_taken(out, plugin, namesakes.count() > 1)?;
    }
    for kept in &cleanup.kept {
        writeln!(
            out,
            "  {WARN}kept{WARN:#} {} {} ({}): `keep_retired` in the config names it; its stale skills stay away from the model",
            shown_text(&kept.name),
            shown_text(&kept.version),
            kept.scope
        )?;
    }
    for unfinished in &cleanup.finished {
        writeln!(
            out,
            "  {GOOD}finished{GOOD:#} what an interrupted vak had begun with {} ({})",
            shown_text(&unfinished.plugin.name),
            unfinished.plugin.scope
        )?;
    }
    Ok(())
}

fn write_taken(out: &mut Out, plugin: &Taken, in_both_stores: bool) -> std::io::Result<()> {
    let verb = if plugin.quarantine.is_some() {
        "-"
    } else {
        "would take away"
    };
    writeln!(
        out,
        "  {BAD}{verb}{BAD:#} {STRONG}{}{STRONG:#} {} ({})",
        shown_text(&plugin.name),
        shown_text(&plugin.version),
        plugin.scope
    )?;
    for line in called_tools(&plugin.findings) {
        writeln!(out, "      {}", shown_text(&line))?;
    }
    for grant in &plugin.grants {
        writeln!(
            out,
            "      its entry in `network_allow` {} with it: {}:{}",
            if plugin.quarantine.is_some() {
                "went"
            } else {
                "would go"
            },
            shown_path(&grant.config),
            grant.lines.first().copied().unwrap_or(1)
        )?;
    }
    if plugin.quarantine.is_some() {
        let option = match in_both_stores {
            true => format!(" --scope {}", plugin.scope),
            false => String::new(),
        };
        writeln!(
            out,
            "      bring it back: {}",
            plugin_command("restore", &plugin.name, &option)
        )?;
    }
    Ok(())
}

/// One line for each retired tool that a plugin calls: where first, how often more, since when, and what instead.
fn called_tools(findings: &[RecordedFinding]) -> Vec<String> {
    let tools: BTreeSet<&str> = findings
        .iter()
        .map(|finding| finding.tool.as_str())
        .collect();
    tools
        .into_iter()
        .filter_map(|tool| {
            let mut places = findings.iter().filter(|finding| finding.tool == tool);
            let first = places.next()?;
            let more = match places.count() {
                0 => String::new(),
                number => format!(" and {} more", count(number, "line")),
            };
            let since = tools::retired_tool(tool)
                .map(|row| format!(", retired in {}", row.retired_in))
                .unwrap_or_default();
            Some(format!(
                "calls `{tool}`{since} (use `{}`): {}:{}:{}{more}",
                tools::canonical_tool_name(tool),
                first.file,
                first.line,
                first.column
            ))
        })
        .collect()
}
