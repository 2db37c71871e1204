//! A plugin's life in a store: installed, listed, enabled, taken away, brought back, purged.

use crate::sandbox::Sandbox;
use crate::tree::Tree;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vak::disk::LockGuard;
use vak::plugin::{
    Depth, Inconsistency, InstallOptions, InstallState, LocationFault, Packages, PluginError,
    PluginStore, RemovalReason,
};
use vak::roots::{Roots, Scope};

/// A sandbox with the store of its shared root.
pub(crate) struct Home {
    pub(crate) sandbox: Sandbox,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home {
            sandbox: Sandbox::new(),
        }
    }

    pub(crate) fn roots(&self) -> Roots {
        let home = self.sandbox.home();
        Roots::resolve(Some(home.as_os_str()), &home, &self.sandbox.work())
    }

    /// The stores, the shared one first.
    pub(crate) fn stores(&self) -> Vec<PluginStore> {
        PluginStore::open_all(&self.roots())
    }

    pub(crate) fn store(&self) -> PluginStore {
        self.stores().remove(0)
    }

    pub(crate) fn locked(&self) -> (PluginStore, LockGuard) {
        let store = self.store();
        let guard = store.lock().unwrap();
        (store, guard)
    }

    pub(crate) fn registry(&self) -> Value {
        let path = self.sandbox.shared().join("plugins/registry.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// A healthy package of one skill.
    pub(crate) fn package(&self, name: &str, version: &str) -> PathBuf {
        self.package_saying(name, version, "Use `bash` to run it.")
    }

    /// A package of one skill with this text.
    pub(crate) fn package_saying(&self, name: &str, version: &str, text: &str) -> PathBuf {
        let place = format!("packages/{name}-{version}");
        let manifest = json!({"name": name, "version": version, "description": "A test plugin"});
        self.sandbox
            .write(format!("{place}/vak-plugin.json"), manifest.to_string());
        let skill = format!("---\nname: work\ndescription: Does work\n---\n\n{text}\n");
        self.sandbox
            .write(format!("{place}/skills/work/SKILL.md"), skill);
        self.sandbox.path().join(place)
    }

    /// Installs a package, whatever it says, and enables it.
    pub(crate) fn install_enabled(&self, package: &Path) -> String {
        let (store, guard) = self.locked();
        let options = InstallOptions {
            allow_retired: true,
            ..InstallOptions::default()
        };
        let name = store.install(&guard, package, options).unwrap().plugin.name;
        store.enable(&guard, &name, true).unwrap();
        name
    }

    pub(crate) fn shared_tree(&self) -> Tree {
        Tree::read(&self.sandbox.shared())
    }
}

const STALE: &str = "Then call `python_eval` with the code.";

/// The registry without what every write changes.
fn timeless(mut registry: Value) -> Value {
    registry["generation"] = Value::Null;
    registry["audit"] = Value::Null;
    registry
}

#[test]
fn an_installed_plugin_is_recorded_whole_and_disabled() {
    let home = Home::new();
    let package = home.package("demo", "1.2.0");
    let (store, guard) = home.locked();
    let done = store
        .install(&guard, &package, InstallOptions::default())
        .unwrap();
    assert_eq!(done.state, InstallState::Installed);
    let registry = home.registry();
    assert_eq!(registry["schema"], 1);
    assert_eq!(registry["generation"], 1);
    let entry = &registry["plugins"]["demo"];
    let fields = [
        "name",
        "version",
        "digest",
        "description",
        "license",
        "publisher",
        "format",
        "source",
        "trace_id",
        "package_path",
        "scope",
        "enabled",
        "installed_at_unix",
        "capabilities",
        "warnings",
    ];
    for field in fields {
        assert!(entry.get(field).is_some(), "{field}");
    }
    assert_eq!(entry["enabled"], false);
    assert_eq!(entry["scope"], "user");
    assert_eq!(entry["capabilities"], json!(["skills"]));
    let digest = entry["digest"].as_str().unwrap();
    let place = home
        .sandbox
        .shared()
        .join("plugins/packages/demo/1.2.0")
        .join(digest);
    assert_eq!(entry["package_path"], json!(place));
    assert_eq!(Tree::read(&place), Tree::read(&package));
    assert_eq!(registry["audit"][0]["action"], "installed");
    assert_eq!(store.check(Depth::Contents).unwrap(), []);
}

#[test]
fn the_digest_is_what_its_documentation_says() {
    use sha2::Digest as _;
    const PATHS: [&str; 7] = [
        "skills-more/a",
        "skills.md",
        "skills/work-2/b",
        "skills/work/SKILL.md",
        "skills0/c",
        "skills_/d",
        "vak-plugin.json",
    ];
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    for path in PATHS {
        if !package.join(path).exists() {
            home.sandbox.write(package.join(path), path);
        }
    }
    let (store, _guard) = home.locked();
    let plan = store
        .plan_install(&package, InstallOptions::default())
        .unwrap();
    let mut hasher = sha2::Sha256::new();
    // In the order of the paths' bytes, which is not the order of a walk: `-` and `.` stand before `/`.
    for path in PATHS {
        let bytes = fs::read(package.join(path)).unwrap();
        hasher.update((path.len() as u64).to_le_bytes());
        hasher.update(path);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    let expected: String = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(plan.plugin.digest, expected);
}

#[test]
fn the_same_package_twice_changes_no_byte() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.install_enabled(&package);
    let before = home.shared_tree();
    let (store, guard) = home.locked();
    let again = store
        .install(&guard, &package, InstallOptions::default())
        .unwrap();
    assert_eq!(again.state, InstallState::Unchanged);
    assert!(again.plugin.enabled);
    assert_eq!(home.shared_tree(), before);
}

#[test]
fn other_content_under_a_name_is_refused_and_another_version_needs_to_be_asked_for() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let before = home.shared_tree();
    let (store, guard) = home.locked();

    let other = home.package_saying("demo", "1.0.0", "Other words.");
    let error = store
        .install(&guard, &other, InstallOptions::default())
        .unwrap_err();
    assert!(matches!(error, PluginError::OtherContent { .. }), "{error}");
    let newer = home.package("demo", "1.1.0");
    let error = store
        .install(&guard, &newer, InstallOptions::default())
        .unwrap_err();
    assert!(matches!(error, PluginError::OtherVersion { .. }), "{error}");
    assert_eq!(home.shared_tree(), before);

    let upgrade = InstallOptions {
        upgrade: true,
        ..InstallOptions::default()
    };
    let done = store.install(&guard, &newer, upgrade).unwrap();
    let from = "1.0.0".to_owned();
    assert_eq!(done.state, InstallState::Upgraded { from });
    assert!(!done.plugin.enabled);
    assert_eq!(store.check(Depth::Contents).unwrap(), []);
    let versions = home.registry()["versions"]["demo"].clone();
    assert_eq!(versions.as_array().unwrap().len(), 2);
    // Both generations go and come back together.
    let packages = home.sandbox.shared().join("plugins/packages");
    let both = Tree::read(&packages);
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert_eq!(Tree::read(&packages).paths(), Vec::<&Path>::new());
    store.restore(&guard, "demo").unwrap();
    assert_eq!(Tree::read(&packages), both);
}

#[test]
fn a_name_that_differs_only_in_case_is_refused() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let (store, guard) = home.locked();
    let package = home.package("Demo", "1.0.0");
    let error = store
        .install(&guard, &package, InstallOptions::default())
        .unwrap_err();
    assert!(matches!(error, PluginError::SameName { .. }), "{error}");
}

#[test]
fn a_package_that_instructs_a_retired_tool_is_refused_with_file_and_line() {
    let home = Home::new();
    let package = home.package_saying("demo", "1.0.0", STALE);
    let before = home.sandbox.tree();
    let error = home
        .store()
        .plan_install(&package, InstallOptions::default())
        .unwrap_err();
    assert_eq!(home.sandbox.tree(), before);
    let PluginError::InstructsRetired {
        tool, file, line, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((tool.as_str(), *line), ("python_eval", 6));
    assert_eq!(*file, package.join("skills/work/SKILL.md"));
    assert!(error.to_string().contains("--allow-retired"));

    let allowed = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    let (store, guard) = home.locked();
    let done = store.install(&guard, &package, allowed).unwrap();
    assert!(!done.plugin.enabled);
    // Enabling it needs the same word.
    assert!(matches!(
        store.enable(&guard, "demo", false),
        Err(PluginError::InstructsRetired { .. })
    ));
    assert!(store.enable(&guard, "demo", true).unwrap());
}

#[test]
fn enabling_and_disabling_change_one_field_and_nothing_the_second_time() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    let (store, guard) = home.locked();
    store
        .install(&guard, &package, InstallOptions::default())
        .unwrap();
    let mut expected = timeless(home.registry());
    for enabled in [true, false] {
        let switch = || match enabled {
            true => store.enable(&guard, "demo", false).unwrap(),
            false => store.disable(&guard, "demo").unwrap(),
        };
        assert!(switch());
        expected["plugins"]["demo"]["enabled"] = json!(enabled);
        assert_eq!(timeless(home.registry()), expected);
        let before = home.shared_tree();
        assert!(!switch());
        assert_eq!(home.shared_tree(), before);
    }
}

#[test]
fn a_package_that_changed_since_is_not_enabled() {
    let home = Home::new();
    let (store, guard) = home.locked();
    let done = store
        .install(
            &guard,
            &home.package("demo", "1.0.0"),
            InstallOptions::default(),
        )
        .unwrap();
    fs::write(Path::new(&done.plugin.package_path).join("more.md"), "x").unwrap();
    let error = store.enable(&guard, "demo", false).unwrap_err();
    assert!(matches!(error, PluginError::Digest { .. }), "{error}");
    assert!(matches!(
        store.check(Depth::Contents).unwrap().as_slice(),
        [Inconsistency::Digest { plugin, .. }] if plugin == "demo"
    ));
    assert!(store.inspect("demo").unwrap().problem.is_some());
}

#[test]
fn what_is_removed_comes_back_to_the_byte() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    let script = package.join("bin/run");
    fs::create_dir(script.parent().unwrap()).unwrap();
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    home.install_enabled(&home.package("alpha", "1.0.0"));
    home.install_enabled(&package);
    home.install_enabled(&home.package("omega", "1.0.0"));
    let config = "[plugins]\n# who may\nnetwork_allow = [\"alpha\", \"demo\", 'omega'] # these\n";
    home.sandbox.write("home/.vak/config.toml", config);
    let registry_before = timeless(home.registry());
    let before = home.shared_tree();

    let (store, guard) = home.locked();
    let removed = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert!(!store.has("demo").unwrap());
    let packages = home.sandbox.shared().join("plugins/packages");
    assert!(!packages.join("demo").exists());
    let pruned = fs::read_to_string(home.sandbox.shared().join("config.toml")).unwrap();
    assert_eq!(pruned, config.replace("\"demo\", ", ""));
    assert_eq!(store.quarantine().unwrap().len(), 1);
    assert_eq!(store.check(Depth::Contents).unwrap(), []);
    let audit = home.registry()["audit"].clone();
    assert_eq!(
        audit.as_array().unwrap().last().unwrap()["action"],
        "removed"
    );

    store.restore(&guard, &removed.id).unwrap();
    assert_eq!(timeless(home.registry()), registry_before);
    let order: Vec<_> = home.registry()["plugins"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(order, ["alpha", "demo", "omega"]);
    let registry = ["plugins/registry.json"];
    assert_eq!(
        home.shared_tree().without(&registry),
        before.without(&registry)
    );
}

#[test]
fn a_plugin_whose_package_is_gone_can_be_removed_and_restored() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    fs::remove_dir_all(home.sandbox.shared().join("plugins/packages/demo")).unwrap();
    let (store, guard) = home.locked();
    assert!(matches!(
        store.check(Depth::Places).unwrap().as_slice(),
        [Inconsistency::Path {
            fault: LocationFault::Missing,
            ..
        }]
    ));
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert!(!store.has("demo").unwrap());
    store.restore(&guard, "demo").unwrap();
    assert!(store.has("demo").unwrap());
}

#[test]
fn removing_one_plugin_does_not_depend_on_the_others_packages() {
    let home = Home::new();
    for name in ["demo", "gone", "file", "link"] {
        home.install_enabled(&home.package(name, "1.0.0"));
    }
    let packages = home.sandbox.shared().join("plugins/packages");
    for name in ["gone", "file", "link"] {
        fs::remove_dir_all(packages.join(name)).unwrap();
    }
    fs::write(packages.join("file"), "x").unwrap();
    std::os::unix::fs::symlink("/", packages.join("link")).unwrap();
    let (store, guard) = home.locked();
    let others = || Tree::read(&packages).without(&["demo"]);
    let before = others();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert_eq!(others(), before);
    store.restore(&guard, "demo").unwrap();
    assert_eq!(others(), before);
}

#[test]
fn a_plugin_is_not_restored_over_another_of_its_name() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.install_enabled(&package);
    let (store, guard) = home.locked();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    home_install(&store, &guard, &package);
    let before = home.shared_tree();
    let error = store.restore(&guard, "demo").unwrap_err();
    assert!(matches!(error, PluginError::NameTaken { .. }), "{error}");
    assert_eq!(home.shared_tree(), before);
}

fn home_install(store: &PluginStore, guard: &LockGuard, package: &Path) {
    store
        .install(guard, package, InstallOptions::default())
        .unwrap();
}

#[test]
fn removing_what_is_not_installed_says_how_to_bring_it_back() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let (store, guard) = home.locked();
    let remove = || store.remove(&guard, "demo", RemovalReason::Requested, Packages::Move);
    let id = remove().unwrap().id;
    let before = home.shared_tree();
    let error = remove().unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&format!("vak plugins restore {id}")),
        "{error}"
    );
    assert_eq!(home.shared_tree(), before);
}

#[test]
fn purging_deletes_only_what_is_old_enough() {
    let home = Home::new();
    for name in ["old", "new"] {
        home.install_enabled(&home.package(name, "1.0.0"));
    }
    let (store, guard) = home.locked();
    for name in ["old", "new"] {
        store
            .remove(&guard, name, RemovalReason::Requested, Packages::Move)
            .unwrap();
    }
    let id = store.plan_restore("old").unwrap().plugin.id;
    let record = home
        .sandbox
        .shared()
        .join(format!("plugins/quarantine/{id}/record.json"));
    let mut aged: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    aged["about"]["removed_at_unix"] = json!(1_000);
    fs::write(&record, aged.to_string()).unwrap();

    let day = Duration::from_secs(24 * 60 * 60);
    let before = home.shared_tree();
    assert_eq!(store.plan_purge(day).unwrap().len(), 1);
    assert_eq!(home.shared_tree(), before);
    let purged = store.purge(&guard, day).unwrap();
    assert_eq!(purged.len(), 1);
    assert_eq!(purged[0].id, id);
    assert!(purged[0].bytes > 0);
    assert_eq!(store.quarantine().unwrap().len(), 1);
    assert_eq!(store.purge(&guard, Duration::ZERO).unwrap().len(), 1);
    let paths = home.shared_tree();
    assert!(
        !paths
            .paths()
            .iter()
            .any(|path| path.starts_with("plugins/quarantine"))
    );
}

#[test]
fn a_home_whose_path_is_not_utf_8_is_a_home_like_any_other() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9/.vak");
    let root = home.sandbox.path().join(name);
    let store = PluginStore::open(&root, Scope::User);
    let guard = store.lock().unwrap();
    home_install(&store, &guard, &package);
    store.enable(&guard, "demo", false).unwrap();
    fs::write(
        root.join("config.toml"),
        "[plugins]\nnetwork_allow = [\"demo\"]\n",
    )
    .unwrap();
    let registry = ["plugins/registry.json"];
    let before = Tree::read(&root).without(&registry);
    let removed = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert_eq!(removed.grants.len(), 1);
    store.restore(&guard, "demo").unwrap();
    assert!(store.inspect("demo").unwrap().problem.is_none());
    serde_json::to_string(&store.inspect("demo").unwrap()).unwrap();
    assert_eq!(store.check(Depth::Contents).unwrap(), []);
    assert_eq!(Tree::read(&root).without(&registry), before);
}

#[test]
fn looking_never_changes_anything() {
    let home = Home::new();
    // Not even where there is nothing yet.
    let empty = home.sandbox.tree();
    let look = |home: &Home| {
        for store in home.stores() {
            store.list().unwrap();
            store.scan().unwrap();
            store.retired_plugins().unwrap();
            store.check(Depth::Contents).unwrap();
            store.quarantine().unwrap();
            store.unfinished().unwrap();
            store.plan_purge(Duration::ZERO).unwrap();
            let _ = store.inspect("demo");
            let _ = store.plan_removal("demo", RemovalReason::Requested, Packages::Move);
            let _ = store.plan_restore("gone");
        }
    };
    look(&home);
    assert_eq!(home.sandbox.tree(), empty);
    home.install_enabled(&home.package_saying("demo", "1.0.0", STALE));
    home.install_enabled(&home.package("gone", "1.0.0"));
    let (store, guard) = home.locked();
    store
        .remove(&guard, "gone", RemovalReason::Requested, Packages::Move)
        .unwrap();
    drop(guard);
    let before = home.sandbox.tree();
    look(&home);
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn a_retired_plugin_is_found_with_its_file_and_line() {
    let home = Home::new();
    home.install_enabled(&home.package("healthy", "1.0.0"));
    home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
    let retired = home.store().retired_plugins().unwrap();
    assert_eq!(retired.len(), 1);
    assert_eq!(retired[0].plugin.name, "stale");
    assert_eq!(retired[0].scope, Scope::User);
    let file = &retired[0].scan.files[0];
    assert_eq!(file.path, Path::new("skills/work/SKILL.md"));
    assert_eq!(file.findings[0].line, 6);
}
