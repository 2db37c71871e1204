//! The commands that only look: `list`, `inspect`, `retired`.

use super::super::out::Out;
use super::super::scan::excerpt::{shown_path, shown_text};
use super::super::sync::failure;
use super::super::{BAD, FAINT, Format, GOOD, STRONG, Status, WARN, write_json};
use super::{InspectArgs, ListArgs, Look, RetiredArgs, find_store, scope_option, stores, table};
use crate::plugin::cleanup::Policy;
use crate::plugin::{
    Inspection, InstalledPlugin, QuarantineEntry, RecordedFinding, RemovalReason, ScannedPlugin,
};
use crate::roots::{Roots, Scope};
use crate::scan::Grade;
use crate::seed;
use crate::tools::{RetiredTool, canonical_tool_name};
use crate::words::{count, plugin_command, with_hints};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write as _};

pub(super) fn list(args: &ListArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    if args.quarantine {
        return list_quarantine(&args.look, roots, out);
    }
    let mut plugins = Vec::new();
    for store in stores(roots, args.look.scope) {
        let listed = store.list()?.into_iter();
        plugins.extend(listed.map(|plugin| Listed {
            store: store.scope(),
            plugin,
        }));
    }
    match args.look.format {
        Format::Json => write_json(out, &ListDocument { schema: 1, plugins })?,
        Format::Human if plugins.is_empty() => {
            writeln!(out, "No plugins are installed.")?;
            writeln!(out, "{FAINT}next:{FAINT:#} vak plugins install <DIRECTORY>")?;
        }
        Format::Human => write_list(out, &plugins)?,
    }
    Ok(Status::Clean)
}

#[derive(Serialize)]
struct ListDocument {
    schema: u32,
    plugins: Vec<Listed>,
}

/// A plugin and the store that has it.
#[derive(Serialize)]
struct Listed {
    store: Scope,
    #[serde(flatten)]
    plugin: InstalledPlugin,
}

fn write_list(out: &mut Out, plugins: &[Listed]) -> io::Result<()> {
    let rows: Vec<_> = plugins
        .iter()
        .map(|Listed { store, plugin }| {
            [
                plugin.name.clone(),
                plugin.version.clone(),
                store.to_string(),
                state(plugin.enabled).to_owned(),
                text(&plugin.description).to_owned(),
            ]
        })
        .collect();
    let head = ["NAME", "VERSION", "STORE", "STATE", "DESCRIPTION"];
    table::write(out, head, &rows)
}

fn state(enabled: bool) -> &'static str {
    if enabled { "enabled" } else { "disabled" }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list_quarantine(look: &Look, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let mut entries = Vec::new();
    for store in stores(roots, look.scope) {
        let listed = store.quarantine()?.into_iter();
        entries.extend(listed.map(|entry| ListedEntry {
            store: store.scope(),
            entry,
        }));
    }
    match look.format {
        Format::Json => write_json(
            out,
            &QuarantineDocument {
                schema: 1,
                quarantine: entries,
            },
        )?,
        Format::Human if entries.is_empty() => writeln!(out, "Nothing is in quarantine.")?,
        Format::Human => write_quarantine(out, &entries)?,
    }
    Ok(Status::Clean)
}

#[derive(Serialize)]
struct QuarantineDocument {
    schema: u32,
    quarantine: Vec<ListedEntry>,
}

/// A quarantine entry and the store that has it.
#[derive(Serialize)]
struct ListedEntry {
    store: Scope,
    #[serde(flatten)]
    entry: QuarantineEntry,
}

fn write_quarantine(out: &mut Out, entries: &[ListedEntry]) -> io::Result<()> {
    let rows: Vec<_> = entries.iter().map(quarantine_row).collect();
    let head = ["ID", "PLUGIN", "VERSION", "STORE", "SINCE", "SIZE", "WHY"];
    table::write(out, head, &rows)?;
    writeln!(out)?;
    writeln!(
        out,
        "{FAINT}bring one back:{FAINT:#} vak plugins restore <ID>"
    )?;
    writeln!(
        out,
        "{FAINT}delete for good:{FAINT:#} vak plugins purge --older-than 30d"
    )
}

fn quarantine_row(listed: &ListedEntry) -> [String; 7] {
    let ListedEntry { store, entry } = listed;
    let size = format!("{} B", entry.bytes);
    let Some(plugin) = &entry.plugin else {
        let why = entry.problem.clone().unwrap_or_default();
        let why = format!("cannot be restored: {why}");
        let unknown = || "?".to_owned();
        let store = store.to_string();
        return [
            entry.id.clone(),
            unknown(),
            unknown(),
            store,
            unknown(),
            size,
            why,
        ];
    };
    [
        entry.id.clone(),
        plugin.name.clone(),
        plugin.version.clone(),
        store.to_string(),
        age(plugin.removed_at_unix),
        size,
        why(plugin.reason, &plugin.findings),
    ]
}

fn why(reason: RemovalReason, findings: &[RecordedFinding]) -> String {
    match (reason, findings.first()) {
        (RemovalReason::Requested, _) => "removed by request".to_owned(),
        (RemovalReason::Retired, Some(first)) => format!("calls `{}`", first.tool),
        (RemovalReason::Retired, None) => "calls a retired tool".to_owned(),
    }
}

/// How long ago, in the largest unit that says something.
pub(super) fn age(at_unix: u64) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let seconds = now.saturating_sub(at_unix);
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let largest = units.into_iter().find(|(length, _)| seconds >= *length);
    match largest {
        Some((length, unit)) => {
            let number = usize::try_from(seconds / length).unwrap_or(usize::MAX);
            format!("{} ago", count(number, unit))
        }
        None => "just now".to_owned(),
    }
}

pub(super) fn inspect(args: &InspectArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let store = find_store(roots, args.look.scope, &args.name, |store| {
        store.has(&args.name)
    })?;
    let inspection = store.inspect(&args.name)?;
    match args.look.format {
        Format::Json => write_json(
            out,
            &InspectDocument {
                schema: 1,
                inspection: &inspection,
            },
        )?,
        Format::Human => write_inspection(out, roots, &inspection)?,
    }
    let is_sound = inspection.problem.is_none() && !inspection.scanned.scan.is_retired();
    Ok(if is_sound {
        Status::Clean
    } else {
        Status::Findings
    })
}

#[derive(Serialize)]
struct InspectDocument<'a> {
    schema: u32,
    #[serde(flatten)]
    inspection: &'a Inspection,
}

fn write_inspection(out: &mut Out, roots: &Roots, inspection: &Inspection) -> io::Result<()> {
    let plugin = &inspection.scanned.plugin;
    writeln!(
        out,
        "{STRONG}{}{STRONG:#} {} ({} store, {})",
        shown_text(&plugin.name),
        shown_text(&plugin.version),
        inspection.scanned.scope,
        state(plugin.enabled)
    )?;
    let package = inspection.package.as_deref().map(shown_path);
    let capabilities = plugin.capabilities.as_array().map(|list| {
        let names: Vec<_> = list.iter().map(text).collect();
        names.join(", ")
    });
    let fields = [
        ("description", Some(text(&plugin.description).to_owned())),
        ("publisher", Some(text(&plugin.publisher).to_owned())),
        ("license", Some(text(&plugin.license).to_owned())),
        ("format", Some(text(&plugin.format).to_owned())),
        ("offers", capabilities),
        ("source", Some(text(&plugin.source).to_owned())),
        ("installed", Some(age(plugin.installed_at_unix))),
        ("package", package),
        ("digest", Some(plugin.digest.clone())),
        ("files", Some(inspection.files.len().to_string())),
    ];
    for (label, value) in fields {
        let value = value.filter(|value| !value.is_empty());
        if let Some(value) = value {
            writeln!(out, "  {FAINT}{label:<12}{FAINT:#}{}", shown_text(&value))?;
        }
    }
    match &inspection.problem {
        None => writeln!(out, "  {GOOD}✓{GOOD:#} the package is what was installed")?,
        Some(problem) => writeln!(out, "  {BAD}✗{BAD:#} {}", shown_text(problem))?,
    }
    write_places(out, &inspection.scanned, Grade::Mentions)?;
    if !plugin.enabled {
        let option = scope_option(roots, inspection.scanned.scope);
        let enable = plugin_command("enable", &plugin.name, option);
        writeln!(out, "{FAINT}next:{FAINT:#} {enable}")?;
    }
    Ok(())
}

/// The places in a package that name a retired tool, from a grade up, and what was not scanned.
fn write_places(out: &mut Out, scanned: &ScannedPlugin, weakest: Grade) -> io::Result<()> {
    for file in &scanned.scan.files {
        let path = shown_path(&file.path);
        for finding in file.findings.iter().filter(|it| it.grade >= weakest) {
            let style = match finding.grade {
                Grade::Instructs => BAD,
                Grade::Declares | Grade::Suspect => WARN,
                Grade::Mentions => FAINT,
            };
            writeln!(
                out,
                "  {style}{path}:{}:{}{style:#} `{}`: {}",
                finding.line,
                finding.column,
                finding.name,
                finding.reason.explain()
            )?;
            writeln!(
                out,
                "      {FAINT}{}{FAINT:#}",
                shown_text(finding.excerpt.trim())
            )?;
        }
        for unscanned in &file.unscanned {
            writeln!(
                out,
                "  {WARN}{path}{WARN:#} {}",
                shown_text(&unscanned.to_string())
            )?;
        }
    }
    Ok(())
}

pub(super) fn retired(args: &RetiredArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let policy = seed::policy(roots)?;
    let mut scanned = Vec::new();
    for store in stores(roots, args.look.scope) {
        scanned.extend(store.scan()?);
    }
    let (retired, others): (Vec<_>, Vec<_>) = scanned.iter().partition(|it| it.scan.is_retired());
    let plugins: Vec<_> = retired.iter().map(|it| Retired::of(it, &policy)).collect();
    // What can't be read may tell the model anything.
    let failed: Vec<String> = others
        .iter()
        .filter(|it| !policy.keeps(it.scope, &it.plugin.name))
        .filter_map(|it| Some(with_hints(&it.unreadable()?)))
        .collect();
    let status = if plugins.is_empty() {
        Status::Clean
    } else {
        Status::Findings
    };
    match args.look.format {
        Format::Json => write_json(
            out,
            &RetiredDocument {
                schema: 1,
                plugins,
                failed: &failed,
            },
        )?,
        Format::Human if !plugins.is_empty() => write_retired(out, &plugins)?,
        Format::Human if failed.is_empty() => writeln!(out, "No plugin calls a retired tool.")?,
        Format::Human => writeln!(out, "No plugin that can be read calls a retired tool.")?,
    }
    if failed.is_empty() {
        return Ok(status);
    }
    out.flush()?;
    Err(failure(&failed))
}

#[derive(Serialize)]
struct RetiredDocument<'a> {
    schema: u32,
    plugins: Vec<Retired<'a>>,
    /// What could not be read, in words.
    failed: &'a [String],
}

/// A retired plugin: what is known of it, of the tools it calls, and where it does.
#[derive(Serialize)]
struct Retired<'a> {
    store: Scope,
    name: &'a str,
    version: &'a str,
    enabled: bool,
    kept: bool,
    tools: Vec<&'static RetiredTool>,
    files: &'a [crate::walk::FileReport],
    #[serde(skip)]
    scanned: &'a ScannedPlugin,
}

impl<'a> Retired<'a> {
    fn of(scanned: &'a ScannedPlugin, policy: &Policy) -> Retired<'a> {
        Retired {
            store: scanned.scope,
            name: &scanned.plugin.name,
            version: &scanned.plugin.version,
            enabled: scanned.plugin.enabled,
            kept: policy.keeps(scanned.scope, &scanned.plugin.name),
            tools: scanned.retired_tools(),
            files: &scanned.scan.files,
            scanned,
        }
    }
}

fn write_retired(out: &mut Out, plugins: &[Retired<'_>]) -> io::Result<()> {
    for plugin in plugins {
        writeln!(
            out,
            "{STRONG}{}{STRONG:#} {} ({} store, {}{})",
            shown_text(plugin.name),
            shown_text(plugin.version),
            plugin.store,
            state(plugin.enabled),
            if plugin.kept { ", kept" } else { "" }
        )?;
        write_places(out, plugin.scanned, Grade::Instructs)?;
        for tool in &plugin.tools {
            let hint = tool
                .hint
                .map(|hint| format!(": {hint}"))
                .unwrap_or_default();
            writeln!(
                out,
                "  {FAINT}`{}` was retired in {}; use `{}`{hint}{FAINT:#}",
                tool.name,
                tool.retired_in,
                canonical_tool_name(tool.name)
            )?;
        }
    }
    writeln!(out)?;
    let taken = plugins.iter().filter(|plugin| !plugin.kept).count();
    if taken > 0 {
        writeln!(
            out,
            "{FAINT}next:{FAINT:#} `vak setup seed` takes {} into quarantine",
            count(taken, "plugin")
        )?;
    }
    if taken < plugins.len() {
        writeln!(out, "{FAINT}kept by `keep_retired` in a config{FAINT:#}")?;
    }
    Ok(())
}
