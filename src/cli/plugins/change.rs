//! The commands that change something. Each says what it did, or with `--dry-run` would do, in one report.

use super::super::out::Out;
use super::super::scan::excerpt::{shown_path, shown_text};
use super::super::{FAINT, Format, GOOD, STRONG, Status, WARN, write_json};
use super::{
    DisableArgs, EnableArgs, InstallArgs, PurgeArgs, RemoveArgs, Report, RestoreArgs, find_store,
    scope_option, stores,
};
use crate::config;
use crate::plugin::{
    Grant, InstallOptions, InstallState, Installation, Outcome, Packages, PluginStore, PutBack,
    QuarantineEntry, Quarantined, RemovalReason, Restoration, Unfinished,
};
use crate::roots::{Roots, Scope};
use crate::scan::Grade;
use crate::words::count;
use serde::Serialize;
use std::io::{self, Write as _};

/// A report as JSON: what was done, and whether it was.
#[derive(Serialize)]
struct Document<T> {
    schema: u32,
    dry_run: bool,
    store: Scope,
    #[serde(flatten)]
    done: T,
}

/// Clears away what killed processes left in these stores half-made and without meaning, so that a command
/// that then finds nothing to do leaves them tidy. What they have begun is the command's own to finish.
pub(super) fn tidy(stores: &[PluginStore]) -> anyhow::Result<()> {
    for store in stores {
        if store.unfinished()?.is_empty() {
            store.clear_leftovers()?;
        }
    }
    Ok(())
}

/// Runs a change under the lock, or with `--dry-run` its plan without one. Says, on stderr, which
/// interrupted changes were finished on the way.
fn perform<T>(
    store: &PluginStore,
    report: &Report,
    plan: impl FnOnce() -> crate::plugin::Result<T>,
    change: impl FnOnce(&crate::disk::LockGuard) -> crate::plugin::Result<T>,
) -> anyhow::Result<T> {
    if report.dry_run {
        return Ok(plan()?);
    }
    let guard = store.lock()?;
    let before = store.unfinished()?;
    let done = change(&guard)?;
    let after = store.unfinished()?;
    for finished in before.iter().filter(|it| !after.contains(it)) {
        say_finished(finished);
    }
    Ok(done)
}

fn say_finished(finished: &Unfinished) {
    let name = shown_text(&finished.plugin.name);
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(
        anstream::stderr(),
        "{FAINT}note:{FAINT:#} finished the change of `{name}` that a killed vak had begun"
    );
}

fn write_report<T: Serialize>(
    out: &mut Out,
    report: &Report,
    store: &PluginStore,
    done: T,
    human: impl FnOnce(&mut Out, &T) -> io::Result<()>,
) -> anyhow::Result<Status> {
    match report.format {
        Format::Json => write_json(
            out,
            &Document {
                schema: 1,
                dry_run: report.dry_run,
                store: store.scope(),
                done,
            },
        )?,
        Format::Human => {
            human(out, &done)?;
            if report.dry_run {
                writeln!(
                    out,
                    "{FAINT}nothing was changed: this was a dry run{FAINT:#}"
                )?;
            }
        }
    }
    Ok(Status::Clean)
}

/// `removed`, or `would be removed`.
fn verb(report: &Report, done: &str) -> String {
    if report.dry_run {
        format!("would be {done}")
    } else {
        done.to_owned()
    }
}

pub(super) fn install(args: &InstallArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let store = stores(roots, Some(args.scope)).remove(0);
    let options = InstallOptions {
        allow_retired: args.allow_retired,
        upgrade: args.upgrade,
        ..InstallOptions::default()
    };
    let done = perform(
        &store,
        &args.report,
        || store.plan_install(&args.path, options),
        |guard| store.install(guard, &args.path, options),
    )?;
    write_report(out, &args.report, &store, done, |out, done| {
        write_installation(out, &args.report, roots, &store, done)
    })
}

fn write_installation(
    out: &mut Out,
    report: &Report,
    roots: &Roots,
    store: &PluginStore,
    done: &Installation,
) -> io::Result<()> {
    let plugin = &done.plugin;
    let what = format!("{STRONG}{}{STRONG:#} {}", plugin.name, plugin.version);
    let scope = store.scope();
    let line = match &done.state {
        InstallState::Installed => format!(
            "{} in the {scope} store, disabled",
            verb(report, "installed")
        ),
        InstallState::Upgraded { from } => format!(
            "{} from {} in the {scope} store, disabled",
            verb(report, "upgraded"),
            shown_text(from)
        ),
        InstallState::Unchanged => format!("is installed in the {scope} store already"),
        InstallState::Mended => format!(
            "{} in the {scope} store, where its package was gone",
            verb(report, "put back")
        ),
    };
    writeln!(out, "{GOOD}✓{GOOD:#} {what} {line}")?;
    for file in &done.scan.files {
        for finding in file.findings.iter().filter(|it| it.grade > Grade::Mentions) {
            writeln!(
                out,
                "  {WARN}warning{WARN:#} {}:{}: `{}`: {}",
                shown_path(&file.path),
                finding.line,
                finding.name,
                finding.reason.explain()
            )?;
        }
    }
    if done.scan.is_retired() {
        writeln!(
            out,
            "  {WARN}warning{WARN:#} {}",
            taken_again(roots, scope, &plugin.name)
        )?;
    }
    if !plugin.enabled && !report.dry_run {
        let option = scope_option(roots, scope);
        let name = &plugin.name;
        writeln!(
            out,
            "{FAINT}next:{FAINT:#} vak plugins enable {name}{option}"
        )?;
    }
    Ok(())
}

/// What the operator must do to keep a plugin that is retired.
fn taken_again(roots: &Roots, scope: Scope, name: &str) -> String {
    let root = match (&roots.workspace, scope) {
        (Some(workspace), Scope::Workspace) => workspace,
        _ => &roots.shared,
    };
    let config = shown_path(&root.join(config::FILE_NAME));
    let name = shown_text(name);
    format!(
        "it tells the model to call a retired tool: the next `vak setup seed` takes it away. To keep it, write `keep_retired = [\"{name}\"]` below `[plugins]` in {config}"
    )
}

/// What switching a plugin on or off did.
#[derive(Serialize)]
struct Switch<'a> {
    plugin: &'a str,
    enabled: bool,
    changed: bool,
}

pub(super) fn enable(args: &EnableArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let name = args.name.as_str();
    let store = find_store(roots, args.scope, name, |store| store.has(name))?;
    let changed = perform(
        &store,
        &args.report,
        || Ok(!store.check_enable(name, args.allow_retired)?.enabled),
        |guard| store.enable(guard, name, args.allow_retired),
    )?;
    write_switch(out, &args.report, &store, name, true, changed)
}

pub(super) fn disable(args: &DisableArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let name = args.name.as_str();
    let store = find_store(roots, args.scope, name, |store| store.has(name))?;
    let changed = perform(
        &store,
        &args.report,
        || Ok(store.get(name)?.enabled),
        |guard| store.disable(guard, name),
    )?;
    write_switch(out, &args.report, &store, name, false, changed)
}

fn write_switch(
    out: &mut Out,
    report: &Report,
    store: &PluginStore,
    plugin: &str,
    enabled: bool,
    changed: bool,
) -> anyhow::Result<Status> {
    let state = if enabled { "enabled" } else { "disabled" };
    let done = Switch {
        plugin,
        enabled,
        changed,
    };
    write_report(out, report, store, done, |out, done| {
        let line = if done.changed {
            verb(report, state)
        } else {
            format!("is {state} already")
        };
        let (plugin, scope) = (shown_text(plugin), store.scope());
        writeln!(
            out,
            "{GOOD}✓{GOOD:#} {STRONG}{plugin}{STRONG:#} {line} in the {scope} store"
        )
    })
}

/// A plugin that went into quarantine.
#[derive(Serialize)]
struct Removed {
    removed: Quarantined,
}

pub(super) fn remove(args: &RemoveArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let name = args.name.as_str();
    let packages = if args.forget {
        Packages::Leave
    } else {
        Packages::Move
    };
    let reason = RemovalReason::Requested;
    let store = find_store(roots, args.scope, name, |store| {
        Ok(store.has(name)? || store.unfinished()?.iter().any(|it| it.plugin.name == name))
    })?;
    let removed = perform(
        &store,
        &args.report,
        || store.plan_removal(name, reason, packages),
        |guard| store.remove(guard, name, reason, packages),
    )?;
    write_report(
        out,
        &args.report,
        &store,
        Removed { removed },
        |out, done| write_removal(out, &args.report, roots, &done.removed),
    )
}

fn write_removal(
    out: &mut Out,
    report: &Report,
    roots: &Roots,
    removed: &Quarantined,
) -> io::Result<()> {
    writeln!(
        out,
        "{GOOD}✓{GOOD:#} {STRONG}{}{STRONG:#} {} {} from the {} store, into quarantine",
        shown_text(&removed.name),
        shown_text(&removed.version),
        verb(report, "taken"),
        removed.scope
    )?;
    for grant in &removed.grants {
        let entry = place(grant);
        writeln!(out, "  its entry in `network_allow` with it: {entry}")?;
    }
    if !report.dry_run {
        let option = scope_option(roots, removed.scope);
        let id = &removed.id;
        writeln!(
            out,
            "{FAINT}bring it back:{FAINT:#} vak plugins restore {id}{option}"
        )?;
    }
    Ok(())
}

fn place(grant: &Grant) -> String {
    let line = grant.lines.first().copied().unwrap_or(1);
    format!("{}:{line}", shown_path(&grant.config))
}

pub(super) fn restore(args: &RestoreArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let id = args.id.as_str();
    let store = find_store(roots, args.scope, id, |store| {
        let is_wanted = |it: &Unfinished| it.plugin.id == id || it.plugin.name == id;
        Ok(store.unfinished()?.iter().any(is_wanted) || store.has_quarantined(id)?)
    })?;
    let done = perform(
        &store,
        &args.report,
        || store.plan_restore(id),
        |guard| store.restore(guard, id),
    )?;
    let is_retired = !done.plugin.findings.is_empty();
    let (scope, name) = (done.plugin.scope, done.plugin.name.clone());
    let status = write_report(out, &args.report, &store, done, |out, done| {
        write_restoration(out, &args.report, done)
    })?;
    if is_retired {
        out.flush()?;
        let text = taken_again(roots, scope, &name);
        writeln!(anstream::stderr(), "{WARN}warning{WARN:#}: {text}")?;
    }
    Ok(status)
}

fn write_restoration(out: &mut Out, report: &Report, done: &Restoration) -> io::Result<()> {
    let plugin = &done.plugin;
    writeln!(
        out,
        "{GOOD}✓{GOOD:#} {STRONG}{}{STRONG:#} {} {} to the {} store, {}",
        shown_text(&plugin.name),
        shown_text(&plugin.version),
        verb(report, "restored"),
        plugin.scope,
        if plugin.enabled {
            "enabled"
        } else {
            "disabled"
        }
    )?;
    for put_back in &done.grants {
        writeln!(out, "  {}", put_back_in_words(report, put_back))?;
    }
    Ok(())
}

fn put_back_in_words(report: &Report, put_back: &PutBack) -> String {
    let config = shown_path(&put_back.config);
    let entry = "its entry in `network_allow`";
    let (stands, is, was) = match report.dry_run {
        true => ("would stand", "would be", "would not be"),
        false => ("stands", "is", "was not"),
    };
    match &put_back.outcome {
        Outcome::Exact => format!("{entry} {stands} where it stood: {config}"),
        Outcome::Last => {
            format!("{entry} {is} the last one now, for the list has changed: {config}")
        }
        Outcome::AlreadyThere => format!("{entry} is there: {config}"),
        Outcome::LeftOut(why) => format!(
            "{WARN}{entry} {was} put back{WARN:#} into {config}: {}",
            shown_text(why)
        ),
    }
}

/// What was deleted for good.
#[derive(Serialize)]
struct Purged {
    purged: Vec<QuarantineEntry>,
}

pub(super) fn purge(args: &PurgeArgs, roots: &Roots, out: &mut Out) -> anyhow::Result<Status> {
    let mut documents = Vec::new();
    for store in stores(roots, args.scope) {
        // A store that is not there has nothing to purge, and is not created for it.
        let is_due = !store.plan_purge(args.older_than)?.is_empty();
        let purged = match is_due {
            false => Vec::new(),
            true => perform(
                &store,
                &args.report,
                || store.plan_purge(args.older_than),
                |guard| store.purge(guard, args.older_than),
            )?,
        };
        documents.push((store, purged));
    }
    match args.report.format {
        Format::Json => write_json(out, &purge_document(&args.report, documents))?,
        Format::Human => write_purge(out, &args.report, &documents)?,
    }
    Ok(Status::Clean)
}

#[derive(Serialize)]
struct PurgeDocument {
    schema: u32,
    dry_run: bool,
    stores: Vec<PurgedStore>,
}

#[derive(Serialize)]
struct PurgedStore {
    store: Scope,
    #[serde(flatten)]
    purged: Purged,
}

fn purge_document(
    report: &Report,
    purged: Vec<(PluginStore, Vec<QuarantineEntry>)>,
) -> PurgeDocument {
    let stores = purged.into_iter().map(|(store, purged)| PurgedStore {
        store: store.scope(),
        purged: Purged { purged },
    });
    PurgeDocument {
        schema: 1,
        dry_run: report.dry_run,
        stores: stores.collect(),
    }
}

fn write_purge(
    out: &mut Out,
    report: &Report,
    purged: &[(PluginStore, Vec<QuarantineEntry>)],
) -> io::Result<()> {
    let mut bytes = 0;
    let mut number = 0;
    for (store, entries) in purged {
        for entry in entries {
            bytes += entry.bytes;
            number += 1;
            let (id, scope) = (shown_text(&entry.id), store.scope());
            writeln!(out, "  {} {id} ({scope} store)", verb(report, "deleted"))?;
        }
    }
    let what = count(number, "plugin");
    writeln!(
        out,
        "{what} {}, {bytes} bytes",
        verb(report, "deleted for good")
    )?;
    if report.dry_run {
        writeln!(
            out,
            "{FAINT}nothing was changed: this was a dry run{FAINT:#}"
        )?;
    }
    Ok(())
}
