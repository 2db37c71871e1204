//! What the stores look like now, and the document that says so.

use super::problem::Problem;
use super::verdict::Verdicts;
use super::wire::{
    ConfigEntry, Finding, GradeName, RetiredInStore, RetiredPlugin, RetiredPlugins, RetiredTool,
    SCHEMA, ScopeName, text,
};
use crate::config::{self, Config};
use crate::plugin::cleanup::Policy;
use crate::plugin::{PluginStore, ScannedPlugin};
use crate::roots::Roots;
use crate::scan::Grade;
use crate::tools;
use axum::body::Bytes;
use axum::http::HeaderValue;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// The retired plugins of all stores at one moment.
#[derive(Debug)]
pub(super) struct View {
    /// The document that the API answers with.
    pub(super) retired: RetiredPlugins,
    /// The same as JSON.
    pub(super) json: Bytes,
    /// Names this state: another state has another tag.
    pub(super) etag: HeaderValue,
    /// How many findings there are of each grade, in retired plugins and others, weakest grade first.
    pub(super) findings: [(GradeName, usize); 4],
    /// Why a store could not be looked at.
    pub(super) faults: Vec<(ScopeName, Problem)>,
    /// How long the look took.
    pub(super) took: Duration,
}

/// Looks at the stores, and remembers what makes the next look cheap.
#[derive(Debug)]
pub(super) struct Views {
    stores: Vec<PluginStore>,
    verdicts: Verdicts,
}

impl Views {
    pub(super) fn new(roots: &Roots) -> Views {
        Views {
            stores: PluginStore::open_all(roots),
            verdicts: Verdicts::default(),
        }
    }

    pub(super) fn stores(&self) -> &[PluginStore] {
        &self.stores
    }

    /// Looks at the stores, in the calling thread. One that can't be looked at hides no other.
    pub(super) fn look(&self) -> Result<View, Problem> {
        let started = Instant::now();
        let scanned = self.scan();
        let configs = self.read_configs()?;
        let policy = policy(&self.stores, &configs);
        let mut faults = Vec::new();
        let stores = self
            .stores
            .iter()
            .zip(&scanned)
            .map(|(store, plugins)| match plugins {
                Ok(plugins) => describe(store, plugins, &configs, &policy),
                Err(problem) => {
                    faults.push((store.scope().into(), problem.clone()));
                    Ok(unreadable(store, problem))
                }
            })
            .collect::<Result<_, Problem>>()?;
        let retired = RetiredPlugins {
            schema: SCHEMA,
            stores,
        };
        View::new(retired, count(&scanned), faults, started)
    }

    fn scan(&self) -> Vec<Result<Vec<ScannedPlugin>, Problem>> {
        let scan = |store: &PluginStore| {
            store
                .scan_with(|plugin, package| self.verdicts.scan(plugin, package))
                .map_err(Problem::from)
        };
        let scanned: Vec<_> = self.stores.iter().map(scan).collect();
        let digests: HashSet<&str> = scanned
            .iter()
            .flatten()
            .flatten()
            .map(|one| one.plugin.digest.as_str())
            .collect();
        self.verdicts.retain(&digests);
        scanned
    }

    fn read_configs(&self) -> Result<Vec<Config>, Problem> {
        let paths = self
            .stores
            .iter()
            .map(|store| store.root().join(config::FILE_NAME));
        Ok(paths
            .map(|path| Config::read(&path))
            .collect::<Result<_, _>>()?)
    }
}

impl View {
    fn new(
        retired: RetiredPlugins,
        findings: [(GradeName, usize); 4],
        faults: Vec<(ScopeName, Problem)>,
        started: Instant,
    ) -> Result<View, Problem> {
        let json = serde_json::to_vec(&retired)
            .map_err(|_| Problem::internal("a document did not become JSON"))?;
        let digest = Sha256::digest(&json);
        let tag: String = digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let etag = HeaderValue::from_str(&format!("\"{tag}\""))
            .map_err(|_| Problem::internal("a digest did not become a header"))?;
        Ok(View {
            retired,
            json: json.into(),
            etag,
            findings,
            faults,
            took: started.elapsed(),
        })
    }

    /// Every retired plugin, kept ones too.
    pub(super) fn plugins(&self) -> impl Iterator<Item = &RetiredPlugin> {
        self.retired.stores.iter().flat_map(|store| &store.plugins)
    }
}

fn describe(
    store: &PluginStore,
    scanned: &[ScannedPlugin],
    configs: &[Config],
    policy: &Policy,
) -> Result<RetiredInStore, Problem> {
    let retired = scanned.iter().filter(|one| one.scan.is_retired());
    Ok(RetiredInStore {
        scope: store.scope().into(),
        root: text(store.root()),
        installed: scanned.len(),
        plugins: retired
            .map(|one| describe_plugin(store, one, configs, policy))
            .collect::<Result<_, Problem>>()?,
        fault: None,
    })
}

fn unreadable(store: &PluginStore, problem: &Problem) -> RetiredInStore {
    RetiredInStore {
        scope: store.scope().into(),
        root: text(store.root()),
        installed: 0,
        plugins: Vec::new(),
        fault: Some(problem.of_store()),
    }
}

fn describe_plugin(
    store: &PluginStore,
    scanned: &ScannedPlugin,
    configs: &[Config],
    policy: &Policy,
) -> Result<RetiredPlugin, Problem> {
    let plugin = &scanned.plugin;
    let (findings, findings_omitted) = Finding::first(scanned);
    let is_listed = |config: &Config| config.network_allow.contains(&plugin.name);
    // Finding the lines takes a closer look at the configs; most plugins are in none.
    let network_allow = if configs.iter().any(is_listed) {
        store
            .grants(&plugin.name)?
            .iter()
            .map(ConfigEntry::from)
            .collect()
    } else {
        Vec::new()
    };
    Ok(RetiredPlugin {
        name: plugin.name.clone(),
        version: plugin.version.clone(),
        scope: store.scope().into(),
        digest: plugin.digest.clone(),
        package: plugin.package_path.clone(),
        enabled: plugin.enabled,
        kept: policy.keeps(store.scope(), &plugin.name),
        tools: instructed_tools(scanned),
        findings,
        findings_omitted,
        network_allow,
    })
}

/// What the configs keep. A store's config is read at its place in the list of stores.
fn policy(stores: &[PluginStore], configs: &[Config]) -> Policy {
    let mut policy = Policy::default();
    for (store, config) in stores.iter().zip(configs) {
        policy.keep(store.scope(), config.keep_retired.iter().cloned());
    }
    policy
}

/// The tools that a plugin tells the model to call, by name.
fn instructed_tools(scanned: &ScannedPlugin) -> Vec<RetiredTool> {
    let files = scanned.scan.files.iter();
    let named: BTreeSet<&str> = files
        .flat_map(|file| &file.findings)
        .filter(|finding| finding.grade == Grade::Instructs)
        .map(|finding| finding.name.as_str())
        .collect();
    named
        .into_iter()
        .filter_map(tools::retired_tool)
        .map(RetiredTool::from)
        .collect()
}

fn count(scanned: &[Result<Vec<ScannedPlugin>, Problem>]) -> [(GradeName, usize); 4] {
    GradeName::ALL.map(|grade| {
        let files = scanned
            .iter()
            .flatten()
            .flatten()
            .flat_map(|one| &one.scan.files);
        let of_grade =
            |finding: &&crate::walk::FileFinding| GradeName::from(finding.grade) == grade;
        (
            grade,
            files
                .flat_map(|file| &file.findings)
                .filter(of_grade)
                .count(),
        )
    })
}
