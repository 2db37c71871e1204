//! The documents that the API answers with.
//!
//! They are types of their own: a field of the library may be renamed, what clients read may not. Each
//! document of a success starts with `schema`, which changes when a client would misread it.

use crate::health;
use crate::plugin::{
    Grant, Outcome, PutBack, QuarantineEntry, Quarantined, RemovalReason, Restoration,
    ScannedPlugin,
};
use crate::roots::Scope;
use crate::scan::Grade;
use crate::tools;
use crate::walk::{FileFinding, FileReport};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use utoipa::ToSchema;

/// The schema of all documents.
pub(super) const SCHEMA: u32 = 1;

/// How many findings of a plugin are listed.
const FINDINGS_LIMIT: usize = 200;

/// A request that failed (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemDocument {
    /// What kind of problem it is: `urn:vak:problem:NAME`.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The kind in words.
    pub(super) title: String,
    /// The HTTP status.
    pub(super) status: u16,
    /// What went wrong here.
    pub(super) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Names this request in the server's log.
    pub(super) request_id: String,
}

/// The server answers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// The schema of this document.
    pub(super) schema: u32,
    /// Always `ok`: a server that is not does not answer.
    pub(super) status: &'static str,
    /// The version of vak.
    pub(super) version: &'static str,
}

/// The list of retired tools.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RetiredTools {
    /// The schema of this document.
    pub(super) schema: u32,
    /// The rows, oldest first.
    pub(super) tools: Vec<RetiredTool>,
}

/// A retired tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct RetiredTool {
    /// The name a model might still call.
    pub(super) name: &'static str,
    /// The version of vak that no longer had it.
    pub(super) retired_in: &'static str,
    /// The live tool to use instead.
    pub(super) replacement: &'static str,
    /// One line of advice.
    pub(super) hint: Option<&'static str>,
}

/// The retired plugins of all stores.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct RetiredPlugins {
    /// The schema of this document.
    pub(super) schema: u32,
    /// The stores, the shared one first.
    pub(super) stores: Vec<RetiredInStore>,
}

/// The retired plugins of one store.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct RetiredInStore {
    /// Whose store it is.
    pub(super) scope: ScopeName,
    /// Its root directory.
    pub(super) root: String,
    /// How many plugins it has, retired or not; 0 if it can't be looked at.
    pub(super) installed: usize,
    /// The plugins that tell the model to call a retired tool, by name.
    pub(super) plugins: Vec<RetiredPlugin>,
    /// Why it can't be looked at, if it can't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<StoreFault>,
}

/// Why a store can't be looked at.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct StoreFault {
    /// What went wrong.
    pub(super) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

/// An installed plugin that tells the model to call a retired tool.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct RetiredPlugin {
    /// Its name.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// The store it is installed in.
    pub(super) scope: ScopeName,
    /// The SHA-256 of its package when it was installed, in hex.
    pub(super) digest: String,
    /// Its package directory, as the registry has it.
    pub(super) package: String,
    /// Whether the model may be offered it. Its stale skills are rejected all the same.
    pub(super) enabled: bool,
    /// Whether `keep_retired` in a config tells the cleanup to leave it.
    pub(super) kept: bool,
    /// The retired tools that it tells the model to call.
    pub(super) tools: Vec<RetiredTool>,
    /// The references to retired tools in it, by file and line, the surest first where there are too many.
    pub(super) findings: Vec<Finding>,
    /// How many more there are than `findings` has room for.
    pub(super) findings_omitted: usize,
    /// The entries of `network_allow` that go with it.
    pub(super) network_allow: Vec<ConfigEntry>,
}

/// A reference to a retired tool.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct Finding {
    /// The retired tool.
    pub(super) tool: String,
    /// The file, relative to the package.
    pub(super) file: String,
    /// The line, counted from 1.
    pub(super) line: usize,
    /// The column, counted in characters from 1.
    pub(super) column: usize,
    /// How sure it is.
    pub(super) grade: GradeName,
    /// Why it has this grade.
    pub(super) reason: &'static str,
    /// The line's text, or the part of it around the name.
    pub(super) excerpt: String,
    /// Where the name stands in the excerpt, in bytes.
    pub(super) mark: Mark,
}

/// A part of an excerpt.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct Mark {
    /// The first byte.
    pub(super) start: usize,
    /// The byte after the last.
    pub(super) end: usize,
}

/// A plugin's entry in a config's `[plugins] network_allow`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct ConfigEntry {
    /// The config.
    pub(super) config: String,
    /// The lines, counted from 1, that it stands on.
    pub(super) lines: Vec<usize>,
}

/// Whose store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Scope)]
pub(super) enum ScopeName {
    /// The shared store: every workspace of this user.
    User,
    /// The store of the workspace that the server was started in.
    Workspace,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Grade)]
pub(super) enum GradeName {
    /// The text documents that the tool is gone.
    Mentions,
    /// Probably a reference.
    Suspect,
    /// A tools list names it.
    Declares,
    /// The text tells the model to call it.
    Instructs,
}

/// What a removal did.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Removal {
    /// The schema of this document.
    pub(super) schema: u32,
    /// The plugins that are in quarantine now.
    pub(super) removed: Vec<QuarantinedPlugin>,
    /// The plugins that `keep_retired` in a config keeps.
    pub(super) kept: Vec<PluginRef>,
    /// The plugins that could not be removed, and the stores that could not be looked at.
    pub(super) failed: Vec<FailedPlugin>,
}

/// A plugin by name and store.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PluginRef {
    /// Its name.
    pub(super) name: String,
    /// Its store.
    pub(super) scope: ScopeName,
}

/// A plugin that could not be removed, or a store that could not be looked at.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailedPlugin {
    /// The plugin's name; absent where it is about the whole store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// The store.
    pub(super) scope: ScopeName,
    /// Why.
    pub(super) problem: ProblemDocument,
}

/// What is in quarantine.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Quarantine {
    /// The schema of this document.
    pub(super) schema: u32,
    /// What can be restored, newest first.
    pub(super) plugins: Vec<QuarantinedPlugin>,
    /// Entries whose record is missing or damaged.
    pub(super) damaged: Vec<DamagedEntry>,
}

/// A plugin in quarantine.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct QuarantinedPlugin {
    /// What names it there.
    pub(super) id: String,
    /// The plugin.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// The store it was installed in.
    pub(super) scope: ScopeName,
    /// Whether it was enabled; restored, it is again.
    pub(super) enabled: bool,
    /// When it was taken away, in seconds since 1970.
    pub(super) removed_at_unix: u64,
    /// Whether it was taken away because it is retired, not because somebody asked for it by name.
    pub(super) retired: bool,
    /// The retired tools that it told the model to call.
    pub(super) tools: Vec<String>,
    /// The config entries that went with it.
    pub(super) network_allow: Vec<ConfigEntry>,
}

/// An entry of the quarantine that does not say what it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DamagedEntry {
    /// Its name.
    pub(super) id: String,
    /// Its store.
    pub(super) scope: ScopeName,
}

/// What a restore did.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Restored {
    /// The schema of this document.
    pub(super) schema: u32,
    /// The plugin that is back.
    pub(super) plugin: QuarantinedPlugin,
    /// What became of its config entries.
    pub(super) network_allow: Vec<RestoredEntry>,
}

/// A config entry of a restored plugin.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RestoredEntry {
    /// The config.
    pub(super) config: String,
    /// Whether it is in the config again.
    pub(super) present: bool,
    /// Why it is not, where it is not.
    pub(super) reason: Option<String>,
}

impl From<Scope> for ScopeName {
    fn from(scope: Scope) -> ScopeName {
        match scope {
            Scope::User => ScopeName::User,
            Scope::Workspace => ScopeName::Workspace,
        }
    }
}

impl ScopeName {
    /// The name as it is in documents and queries.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ScopeName::User => "user",
            ScopeName::Workspace => "workspace",
        }
    }
}

impl GradeName {
    /// Every grade, weakest first.
    pub(super) const ALL: [GradeName; 4] = [
        GradeName::Mentions,
        GradeName::Suspect,
        GradeName::Declares,
        GradeName::Instructs,
    ];

    /// The name as it is in documents.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            GradeName::Mentions => "mentions",
            GradeName::Suspect => "suspect",
            GradeName::Declares => "declares",
            GradeName::Instructs => "instructs",
        }
    }
}

impl From<Grade> for GradeName {
    fn from(grade: Grade) -> GradeName {
        match grade {
            Grade::Mentions => GradeName::Mentions,
            Grade::Suspect => GradeName::Suspect,
            Grade::Declares => GradeName::Declares,
            Grade::Instructs => GradeName::Instructs,
        }
    }
}

impl From<&'static tools::RetiredTool> for RetiredTool {
    fn from(row: &'static tools::RetiredTool) -> RetiredTool {
        RetiredTool {
            name: row.name,
            retired_in: row.retired_in,
            // Where the row names another retired tool, the chain has an end.
            replacement: tools::canonical_tool_name(row.name),
            hint: row.hint,
        }
    }
}

impl RetiredTools {
    /// The compiled-in list.
    pub(super) fn shipped() -> RetiredTools {
        RetiredTools {
            schema: SCHEMA,
            tools: tools::retired_tools()
                .iter()
                .map(RetiredTool::from)
                .collect(),
        }
    }
}

impl Finding {
    fn of(file: &FileReport, finding: &FileFinding) -> Finding {
        Finding {
            tool: finding.name.clone(),
            file: text(&file.path),
            line: finding.line,
            column: finding.column,
            grade: finding.grade.into(),
            reason: finding.reason.explain(),
            excerpt: finding.excerpt.clone(),
            mark: Mark {
                start: finding.mark.start,
                end: finding.mark.end,
            },
        }
    }

    /// The findings of a package by file and line, and how many are left out. A hostile package may have
    /// millions; those that tell the model to call the tool are the last to go.
    pub(super) fn first(scanned: &ScannedPlugin) -> (Vec<Finding>, usize) {
        let files = scanned.scan.files.iter();
        let mut found: Vec<(&FileReport, &FileFinding)> = files
            .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)))
            .collect();
        let omitted = found.len().saturating_sub(FINDINGS_LIMIT);
        if omitted > 0 {
            found.sort_by_key(|(_, finding)| Reverse(finding.grade));
            found.truncate(FINDINGS_LIMIT);
            found.sort_by(|(a, x), (b, y)| (&a.path, x.range.start).cmp(&(&b.path, y.range.start)));
        }
        let kept = found.into_iter();
        let findings = kept.map(|(file, finding)| Finding::of(file, finding));
        (findings.collect(), omitted)
    }
}

/// A path as JSON can say it.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The health report.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Doctor {
    /// The schema of this document.
    pub(super) schema: u32,
    /// Whether no check failed; warnings are no failure.
    pub(super) healthy: bool,
    /// Every check, always all of them and in the same order.
    pub(super) checks: Vec<CheckResult>,
}

/// One check and how it came out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Check)]
pub(super) struct CheckResult {
    /// A stable name.
    pub(super) id: String,
    /// How it came out.
    pub(super) verdict: VerdictName,
    /// The outcome in a phrase.
    pub(super) summary: String,
    /// What was found.
    pub(super) items: Vec<CheckItem>,
    /// What to do on the machine, in order.
    pub(super) remedies: Vec<Remedy>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Verdict)]
pub(super) enum VerdictName {
    /// In order.
    Pass,
    /// Deserves a look; nothing is broken.
    Warn,
    /// Wrong.
    Fail,
}

/// Something a check found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CheckItem {
    /// What it is about.
    pub(super) subject: String,
    /// What was found.
    pub(super) found: String,
    /// Where.
    pub(super) places: Vec<Place>,
}

/// A place in a file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Place {
    /// The file; a plugin's are relative to its package.
    pub(super) file: String,
    /// The line, counted from 1; 0 for the file as a whole.
    pub(super) line: usize,
    /// The column, counted in characters from 1; 0 for the line as a whole.
    pub(super) column: usize,
    /// What stands or what is wrong there.
    pub(super) text: String,
}

/// A command, and what it would bring about.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Remedy {
    /// What to type.
    pub(super) run: String,
    /// What that does.
    pub(super) effect: String,
}

impl From<health::Report> for Doctor {
    fn from(report: health::Report) -> Doctor {
        Doctor {
            schema: SCHEMA,
            healthy: report.is_healthy(),
            checks: report.checks.into_iter().map(CheckResult::from).collect(),
        }
    }
}

impl From<health::Check> for CheckResult {
    fn from(check: health::Check) -> CheckResult {
        let items = check.items.into_iter().map(|item| CheckItem {
            subject: item.subject,
            found: item.found,
            places: item.places.into_iter().map(Place::from).collect(),
        });
        let remedies = check.remedies.into_iter().map(|remedy| Remedy {
            run: remedy.run,
            effect: remedy.effect,
        });
        CheckResult {
            id: check.id.to_owned(),
            verdict: match check.verdict {
                health::Verdict::Pass => VerdictName::Pass,
                health::Verdict::Warn => VerdictName::Warn,
                health::Verdict::Fail => VerdictName::Fail,
            },
            summary: check.summary,
            items: items.collect(),
            remedies: remedies.collect(),
        }
    }
}

impl From<health::Place> for Place {
    fn from(place: health::Place) -> Place {
        Place {
            file: text(&place.file),
            line: place.line,
            column: place.column,
            text: place.text,
        }
    }
}

impl From<&Grant> for ConfigEntry {
    fn from(grant: &Grant) -> ConfigEntry {
        ConfigEntry {
            config: text(&grant.config),
            lines: grant.lines.clone(),
        }
    }
}

impl From<Quarantined> for QuarantinedPlugin {
    fn from(plugin: Quarantined) -> QuarantinedPlugin {
        let tools: BTreeSet<String> = plugin.findings.into_iter().map(|one| one.tool).collect();
        QuarantinedPlugin {
            id: plugin.id,
            name: plugin.name,
            version: plugin.version,
            scope: plugin.scope.into(),
            enabled: plugin.enabled,
            removed_at_unix: plugin.removed_at_unix,
            retired: plugin.reason == RemovalReason::Retired,
            tools: tools.into_iter().collect(),
            network_allow: plugin.grants.iter().map(ConfigEntry::from).collect(),
        }
    }
}

impl Quarantine {
    /// The document for the entries of all stores.
    pub(super) fn of(entries: impl Iterator<Item = (Scope, QuarantineEntry)>) -> Quarantine {
        let mut quarantine = Quarantine {
            schema: SCHEMA,
            plugins: Vec::new(),
            damaged: Vec::new(),
        };
        for (scope, entry) in entries {
            match entry.plugin {
                Some(plugin) => quarantine.plugins.push(plugin.into()),
                None => quarantine.damaged.push(DamagedEntry {
                    id: entry.id,
                    scope: scope.into(),
                }),
            }
        }
        let newest_first = |plugin: &QuarantinedPlugin| Reverse(plugin.removed_at_unix);
        quarantine.plugins.sort_by_key(newest_first);
        quarantine
    }
}

impl From<Restoration> for Restored {
    fn from(restoration: Restoration) -> Restored {
        Restored {
            schema: SCHEMA,
            plugin: restoration.plugin.into(),
            network_allow: restoration
                .grants
                .into_iter()
                .map(RestoredEntry::from)
                .collect(),
        }
    }
}

impl From<PutBack> for RestoredEntry {
    fn from(entry: PutBack) -> RestoredEntry {
        let (present, reason) = match entry.outcome {
            Outcome::Exact | Outcome::Last | Outcome::AlreadyThere => (true, None),
            Outcome::LeftOut(reason) => (false, Some(reason)),
        };
        RestoredEntry {
            config: text(&entry.config),
            present,
            reason,
        }
    }
}
