//! Cleanup: a plan that only reads, and its execution, which leaves all of a plugin or nothing of it.

use crate::plugin::Home;
use crate::tree::Tree;
use std::fs;
use std::path::Path;
use vak::plugin::cleanup::{self, Policy, Summary};
use vak::plugin::{
    Depth, InstallOptions, Outcome, Packages, PluginError, PluginStore, RemovalReason,
};
use vak::roots::Scope;

const STALE: &str = "Then call `python_eval` with the code.";

fn clean(stores: &[PluginStore], policy: &Policy) -> Summary {
    let guard = cleanup::lock(stores).unwrap();
    cleanup::apply(stores, &guard, policy, None).unwrap()
}

fn names(summary: &Summary) -> Vec<&str> {
    summary
        .removed
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

/// A home with a healthy and two stale plugins, one of them in the workspace's store, and both configs.
fn stale_home() -> Home {
    let home = Home::new();
    home.install_enabled(&home.package("healthy", "1.0.0"));
    home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
    let local = home.package_saying("local", "1.0.0", STALE);
    let allowed = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    let workspace = &home.stores()[1];
    workspace
        .install(&workspace.lock().unwrap(), &local, allowed)
        .unwrap();
    let config =
        "[plugins]\nnetwork_allow = [\n  \"healthy\",\n  \"stale\", # why\n  \"local\",\n]\n";
    home.sandbox.write("home/.vak/config.toml", config);
    home.sandbox.write("work/.vak/config.toml", config);
    home
}

#[test]
fn both_stores_and_both_configs_are_cleaned_and_a_second_run_changes_no_byte() {
    let home = stale_home();
    let stores = home.stores();
    let summary = clean(&stores, &Policy::default());
    assert_eq!(names(&summary), ["stale", "local"]);
    assert!(summary.failed.is_empty() && summary.kept.is_empty());
    let left: Vec<_> = stores[0]
        .list()
        .unwrap()
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(left, ["healthy"]);
    assert!(stores[1].list().unwrap().is_empty());
    for root in [home.sandbox.shared(), home.sandbox.workspace()] {
        let config = fs::read_to_string(root.join("config.toml")).unwrap();
        assert_eq!(
            config,
            "[plugins]\nnetwork_allow = [\n  \"healthy\",\n  # why\n]\n"
        );
    }
    let event = home.registry()["audit"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(event["action"], "removed");
    assert_eq!(event["reason"], "retired");
    assert_eq!(event["findings"][0]["tool"], "python_eval");
    assert_eq!(event["findings"][0]["file"], "skills/work/SKILL.md");
    assert_eq!(event["findings"][0]["line"], 6);

    let before = home.sandbox.tree();
    assert!(!cleanup::plan(&stores, &Policy::default()).changes());
    let again = clean(&stores, &Policy::default());
    assert!(again.removed.is_empty() && again.failed.is_empty());
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn what_cleanup_took_comes_back_with_its_config_entry() {
    let home = stale_home();
    let registry = [
        "home/.vak/plugins/registry.json",
        "home/.vak/.lock",
        "work/.vak/.lock",
    ];
    let before = home.sandbox.tree().without(&registry);
    let stores = home.stores();
    let summary = clean(&stores[..1], &Policy::default());
    assert_eq!(names(&summary), ["stale"]);
    let guard = stores[0].lock().unwrap();
    stores[0].restore(&guard, "stale").unwrap();
    assert_eq!(home.sandbox.tree().without(&registry), before);
    assert_eq!(stores[0].retired_plugins().unwrap().len(), 1);
}

#[test]
fn a_workspaces_plugin_comes_back_with_its_entries_in_both_configs() {
    let home = stale_home();
    let cut = [
        "home/.vak/.lock",
        "work/.vak/.lock",
        "work/.vak/plugins/registry.json",
    ];
    let before = home.sandbox.tree().without(&cut);
    let workspace = &home.stores()[1];
    let guard = workspace.lock().unwrap();
    let removed = workspace
        .remove(&guard, "local", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert_eq!(removed.grants.len(), 2);
    let restored = workspace.restore(&guard, &removed.id).unwrap();
    let outcomes: Vec<_> = restored.grants.iter().map(|it| &it.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Exact, &Outcome::Exact]);
    assert_eq!(home.sandbox.tree().without(&cut), before);
    // A purge forgets what it could have put back.
    workspace
        .remove(&guard, "local", RemovalReason::Requested, Packages::Move)
        .unwrap();
    let remembered = home.sandbox.shared().join("plugins/grants");
    assert_eq!(fs::read_dir(&remembered).unwrap().count(), 1);
    workspace.purge(&guard, std::time::Duration::ZERO).unwrap();
    assert!(!remembered.exists());
}

#[test]
fn a_plan_reads_only_and_its_digest_tells_whether_anything_changed() {
    let home = stale_home();
    let stores = home.stores();
    let policy = Policy::default();
    let before = home.sandbox.tree();
    let plan = cleanup::plan(&stores, &policy);
    assert_eq!(home.sandbox.tree(), before);
    assert!(plan.changes());
    let found: Vec<_> = plan
        .stale
        .iter()
        .map(|it| (it.scope, it.name.as_str(), it.grants.len()))
        .collect();
    assert_eq!(
        found,
        [(Scope::User, "stale", 2), (Scope::Workspace, "local", 2)]
    );
    assert_eq!(cleanup::plan(&stores, &policy).digest, plan.digest);

    home.install_enabled(&home.package_saying("more", "1.0.0", STALE));
    let guard = cleanup::lock(&stores).unwrap();
    let before = home.sandbox.tree();
    let error = cleanup::apply(&stores, &guard, &policy, Some(&plan.digest)).unwrap_err();
    assert!(matches!(error, PluginError::PlanChanged));
    assert_eq!(home.sandbox.tree(), before);
    let now = cleanup::plan(&stores, &policy).digest;
    let summary = cleanup::apply(&stores, &guard, &policy, Some(&now)).unwrap();
    assert_eq!(names(&summary), ["more", "stale", "local"]);
}

#[test]
fn what_the_operator_keeps_stays_and_a_workspace_speaks_for_itself_alone() {
    let home = stale_home();
    let stores = home.stores();
    let mut policy = Policy::default();
    policy.keep(Scope::Workspace, ["stale".to_owned(), "local".to_owned()]);
    let summary = clean(&stores, &policy);
    assert_eq!(names(&summary), ["stale"]);
    assert_eq!(summary.kept.len(), 1);
    assert_eq!(summary.kept[0].name, "local");

    let home = stale_home();
    let mut policy = Policy::default();
    policy.keep(Scope::User, ["stale".to_owned(), "local".to_owned()]);
    let before = home.sandbox.tree();
    let summary = clean(&home.stores(), &policy);
    assert!(summary.removed.is_empty());
    assert_eq!(summary.kept.len(), 2);
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn one_plugin_that_fails_does_not_stop_the_others_and_loses_nothing() {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.install_enabled(&home.package_saying(name, "1.0.0", STALE));
    }
    // The second one's path claims the third one's package.
    let path = home.sandbox.shared().join("plugins/registry.json");
    let mut registry = home.registry();
    let third = registry["plugins"]["c"]["package_path"].clone();
    registry["plugins"]["b"]["package_path"] = third;
    fs::write(&path, registry.to_string()).unwrap();
    let stores = home.stores();
    let summary = clean(&stores, &Policy::default());
    assert_eq!(names(&summary), ["a"]);
    let failed: Vec<_> = summary
        .failed
        .iter()
        .map(|failure| failure.plugin.as_deref().unwrap())
        .collect();
    assert_eq!(failed, ["b", "c"]);
    assert!(stores[0].has("b").unwrap() && stores[0].has("c").unwrap());
    assert!(home.sandbox.shared().join("plugins/packages/c").is_dir());
}

#[test]
fn a_config_that_cannot_be_pruned_keeps_the_whole_plugin() {
    let home = Home::new();
    home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"stale\"\n",
    );
    let before = home.sandbox.tree();
    let stores = home.stores();
    let plan = cleanup::plan(&stores, &Policy::default());
    assert!(
        plan.stale[0]
            .obstacle
            .as_ref()
            .unwrap()
            .contains("config.toml")
    );
    let summary = clean(&stores, &Policy::default());
    assert!(summary.removed.is_empty());
    assert_eq!(summary.failed.len(), 1);
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn a_store_that_cannot_be_read_does_not_stop_the_other() {
    let home = stale_home();
    home.sandbox
        .write("work/.vak/plugins/registry.json", "{ not json");
    let stores = home.stores();
    let before = Tree::read(&home.sandbox.workspace());
    let summary = clean(&stores, &Policy::default());
    assert_eq!(names(&summary), ["stale"]);
    assert_eq!(summary.failed.len(), 1);
    assert_eq!(summary.failed[0].scope, Scope::Workspace);
    // Whether that store still has a plugin of the name is not known, so its config entry stays.
    assert_eq!(Tree::read(&home.sandbox.workspace()), before);
}

#[test]
fn an_entry_that_the_other_store_still_needs_stays() {
    let home = stale_home();
    let (store, guard) = home.locked();
    let workspace = &home.stores()[1];
    let healthy = home.package_saying("stale", "2.0.0", "Use `bash`.");
    workspace
        .install(&guard, &healthy, InstallOptions::default())
        .unwrap();
    let config = fs::read(home.sandbox.shared().join("config.toml")).unwrap();
    let removed = store
        .remove(&guard, "stale", RemovalReason::Retired, Packages::Move)
        .unwrap();
    assert!(removed.grants.is_empty());
    for root in [home.sandbox.shared(), home.sandbox.workspace()] {
        assert_eq!(fs::read(root.join("config.toml")).unwrap(), config);
    }
}

/// The file that says that an operation on a quarantine entry is under way.
fn pending(entry: &Path, operation: &str) -> String {
    let record = fs::read_to_string(entry.join("record.json")).unwrap();
    format!("{{\"operation\": \"{operation}\", \"record\": {record}}}")
}

/// What a process that was killed in the middle of a removal leaves, made by taking steps back.
#[test]
fn a_removal_that_was_interrupted_is_seen_and_finished_by_the_next_command() {
    let home = stale_home();
    let shared = home.sandbox.shared();
    let registry = shared.join("plugins/registry.json");
    let (before_registry, before_config) = (
        fs::read(&registry).unwrap(),
        fs::read(shared.join("config.toml")).unwrap(),
    );
    let (store, guard) = home.locked();
    let removed = store
        .remove(&guard, "stale", RemovalReason::Retired, Packages::Move)
        .unwrap();
    let undisturbed = Tree::read(&shared);
    let entry = shared.join("plugins/quarantine").join(&removed.id);
    let pending = pending(&entry, "remove");

    // Killed after the decision, after the registry, after the move, after the config.
    for steps_done in 0..4 {
        let place = format!("home/.vak/plugins/pending/{}.json", removed.id);
        home.sandbox.write(place, &pending);
        if steps_done < 1 {
            fs::write(&registry, &before_registry).unwrap();
        }
        if steps_done < 2 {
            fs::rename(
                entry.join("package-0"),
                shared.join("plugins/packages/stale"),
            )
            .unwrap();
        }
        if steps_done < 3 {
            fs::write(shared.join("config.toml"), &before_config).unwrap();
            fs::write(home.sandbox.workspace().join("config.toml"), &before_config).unwrap();
        }
        let unfinished = store.unfinished().unwrap();
        assert_eq!(unfinished.len(), 1);
        assert_eq!(unfinished[0].plugin.name, "stale");
        assert!(store.check(Depth::Places).unwrap().is_empty());
        assert!(cleanup::plan(&home.stores(), &Policy::default()).changes());
        // The same command again is a success.
        let again = store
            .remove(&guard, "stale", RemovalReason::Retired, Packages::Move)
            .unwrap();
        assert_eq!(again, removed);
        let times = ["plugins/registry.json"];
        assert_eq!(
            Tree::read(&shared).without(&times),
            undisturbed.clone().without(&times)
        );
        assert!(!store.has("stale").unwrap());
    }
    assert!(!shared.join(Path::new("plugins/pending")).exists());
}

#[test]
fn what_a_killed_process_left_half_made_is_seen_and_cleared_away() {
    let home = Home::new();
    home.install_enabled(&home.package("healthy", "1.0.0"));
    let before = home.sandbox.tree();
    let stray = format!("{}77.0", vak::disk::STRAY_PREFIX);
    for place in [
        format!("home/.vak/plugins/{stray}"),
        "home/.vak/plugins/staging/package/skills/half".to_owned(),
        format!("home/.vak/plugins/pending/{stray}"),
    ] {
        home.sandbox.write(place, "half");
    }
    let (store, guard) = home.locked();
    assert_eq!(store.check(Depth::Places).unwrap().len(), 2);
    store.settle(&guard).unwrap();
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn a_restore_that_was_interrupted_is_finished_by_the_next_command() {
    let home = stale_home();
    let shared = home.sandbox.shared();
    let before = Tree::read(&shared);
    let (store, guard) = home.locked();
    let removed = store
        .remove(&guard, "stale", RemovalReason::Retired, Packages::Move)
        .unwrap();
    let entry = shared.join("plugins/quarantine").join(&removed.id);
    let pending = pending(&entry, "restore");
    let place = format!("home/.vak/plugins/pending/{}.json", removed.id);
    home.sandbox.write(place, &pending);
    // Killed after the packages were moved back.
    fs::rename(
        entry.join("package-0"),
        shared.join("plugins/packages/stale"),
    )
    .unwrap();
    // Any command that changes the store finishes it.
    assert!(!store.enable(&guard, "healthy", false).unwrap());
    let times = ["plugins/registry.json"];
    assert_eq!(Tree::read(&shared).without(&times), before.without(&times));
    assert!(store.has("stale").unwrap());
    assert!(store.unfinished().unwrap().is_empty());
}
