//! What a workspace is or brings along, and what becomes of the user's plugins and config in it: nothing is
//! written out of it, it stops nothing but itself, and what was begun in one is finished in another.

use crate::plugin::Home;
use crate::sandbox::Run;
use crate::tree::Tree;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use vak::plugin::{Operation, Outcome, Packages, PluginError, PluginStore, RemovalReason};
use vak::roots::{Roots, Scope};

const STALE: &str = "Then call `python_eval` with the code.";
const ALLOW: &str = "[plugins]\nnetwork_allow = [\"trusted\", \"demo\"]\n";
const CUT: &str = "[plugins]\nnetwork_allow = [\"trusted\"]\n";

/// The user whom other users' files are shut to.
const NOBODY: u32 = 65_534;

impl Home {
    /// The stores as a process in another directory sees them.
    fn stores_in(&self, directory: &str) -> Vec<PluginStore> {
        let directory = self.sandbox.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        let home = self.sandbox.home();
        PluginStore::open_all(&Roots::resolve(Some(home.as_os_str()), &home, &directory))
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.sandbox.path().join(path)).unwrap()
    }

    /// Runs the binary as somebody for whom modes count.
    fn as_nobody(&self, args: &[&str]) -> Run {
        use std::os::unix::process::CommandExt as _;
        let mut command = self.sandbox.command(args);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Run::from(command.output().unwrap())
    }

    /// Gives the sandbox to that user.
    fn give_to_nobody(&self) {
        fs::set_permissions(self.sandbox.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if is_root() {
            let mut chown = Command::new("chown");
            chown.args(["-R", &format!("{NOBODY}:{NOBODY}")]);
            assert!(chown.arg(self.sandbox.path()).status().unwrap().success());
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// All that a workspace can bring along to have an entry put into whatever its config leads to.
fn write_hostile_restore(home: &Home) {
    let root = home.sandbox.workspace();
    let grant = json!({"config": root.join("config.toml"), "lines": [2]});
    let record = json!({
        "schema": 1,
        "about": {
            "id": "demo-1", "name": "demo", "version": "1", "digest": "", "scope": "workspace",
            "enabled": true, "removed_at_unix": 1, "reason": "requested", "findings": [],
            "grants": [grant],
        },
        "registry": {"position": 0, "entry": {"name": "demo", "version": "1", "package_path": "x"}},
        "packages": [],
    });
    let remembered = json!({
        "schema": 1, "store": root, "cut": {"name": "demo", "list": "[\"trusted\", \"demo\"]"},
    });
    home.sandbox.write(
        "work/.vak/plugins/quarantine/demo-1/record.json",
        record.to_string(),
    );
    home.sandbox.write(
        "work/.vak/plugins/pending/demo-1.json",
        json!({"operation": "restore", "record": record}).to_string(),
    );
    home.sandbox.write(
        "work/.vak/plugins/grants/demo-1.workspace.json",
        remembered.to_string(),
    );
}

/// Makes the workspace's config a link and says which file holds the text that it leads to.
fn link_config(home: &Home, link: &str) -> PathBuf {
    let target = home.sandbox.workspace().join(link);
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    symlink(link, home.sandbox.workspace().join("config.toml")).unwrap();
    target
}

/// A workspace's config that leads out of it is nobody's to write through: not with what the workspace says
/// was begun, and not when a plugin goes or comes.
#[test]
fn nothing_is_written_through_a_workspaces_config_that_leads_out_of_it() {
    for link in [
        "../../home/.vak/config.toml",
        "../../outside/config.toml",
        "../inner",
    ] {
        let home = Home::new();
        fs::create_dir_all(home.sandbox.workspace()).unwrap();
        let outside = home.sandbox.write("outside/config.toml", CUT);
        home.sandbox.write("home/.vak/config.toml", CUT);
        if link == "../inner" {
            symlink(&outside, home.sandbox.work().join("inner")).unwrap();
        }
        link_config(&home, link);
        write_hostile_restore(&home);
        home.sandbox.vak(&["services-sync"]);
        assert_eq!(home.text("home/.vak/config.toml"), CUT, "{link}");
        assert_eq!(home.text("outside/config.toml"), CUT, "{link}");

        // Nor is anything taken out of a file outside, whichever store the plugin is in.
        fs::remove_dir_all(home.sandbox.workspace().join("plugins")).unwrap();
        fs::write(&outside, ALLOW).unwrap();
        let package = home.package("demo", "1.0.0");
        let package = package.to_str().unwrap();
        for scope in ["user", "workspace"] {
            let run = |args: &[&str]| {
                home.sandbox
                    .vak(&[&["plugins"], args, &["--scope", scope]].concat())
                    .expect(0)
            };
            run(&["install", package]);
            run(&["remove", "demo"]);
            run(&["restore", "demo"]);
            run(&["remove", "demo"]);
            assert_eq!(home.text("outside/config.toml"), ALLOW, "{link}");
        }
    }
}

#[test]
fn a_workspaces_config_that_is_a_link_within_it_is_pruned_and_stays_a_link() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    fs::create_dir_all(home.sandbox.workspace()).unwrap();
    let file = link_config(&home, "../settings/vak.toml");
    fs::write(&file, ALLOW).unwrap();
    let (store, guard) = home.locked();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), CUT);
    assert!(home.sandbox.workspace().join("config.toml").is_symlink());
    store.restore(&guard, "demo").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), ALLOW);
}

/// A home whose user has a plugin, which both configs name.
fn home_with_entries() -> Home {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    home.sandbox.write("home/.vak/config.toml", ALLOW);
    home.sandbox.write("work/.vak/config.toml", ALLOW);
    home
}

#[test]
fn what_was_taken_out_of_a_workspaces_config_comes_back_from_anywhere() {
    let home = home_with_entries();
    fs::create_dir(home.sandbox.workspace().join("plugins")).unwrap();
    let before = home.sandbox.tree();
    let registry = [
        "home/.vak/plugins/registry.json",
        "work/.vak/.lock",
        "other",
    ];
    let (store, guard) = home.locked();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    drop(guard);
    let elsewhere = home.stores_in("other").remove(0);
    let planned = elsewhere.plan_restore("demo").unwrap();
    let guard = elsewhere.lock().unwrap();
    let restored = elsewhere.restore(&guard, "demo").unwrap();
    assert_eq!(planned, restored);
    assert_eq!(
        home.sandbox.tree().without(&registry),
        before.without(&registry)
    );

    // A workspace that has become odd is left as it is, and told of.
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    drop(guard);
    home.sandbox.write("work/.vak/config.toml", "[plugins");
    let guard = elsewhere.lock().unwrap();
    let restored = elsewhere.restore(&guard, "demo").unwrap();
    let [shared, workspace] = &restored.grants[..] else {
        panic!("{restored:?}");
    };
    assert_eq!(shared.outcome, Outcome::Exact);
    assert!(matches!(&workspace.outcome, Outcome::LeftOut(why) if why.contains("config.toml:1")));
    assert_eq!(home.text("work/.vak/config.toml"), "[plugins");

    // One that is gone has nothing to come back to.
    home.sandbox.write("work/.vak/config.toml", ALLOW);
    drop(guard);
    let (store, guard) = home.locked();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    drop(guard);
    fs::remove_dir_all(home.sandbox.work()).unwrap();
    let guard = elsewhere.lock().unwrap();
    elsewhere.restore(&guard, "demo").unwrap();
    assert!(!home.sandbox.work().exists());
}

/// A record that names another workspace's config is heard in the user's own store alone.
#[test]
fn a_workspaces_record_changes_no_other_workspace() {
    let home = Home::new();
    home.sandbox.write("other/.vak/config.toml", ALLOW);
    let root = home.sandbox.workspace();
    write_hostile_restore(&home);
    let pending = root.join("plugins/pending/demo-1.json");
    let config = home.sandbox.path().join("other/.vak/config.toml");
    for operation in ["remove", "restore"] {
        let text = fs::read_to_string(&pending).unwrap();
        let mut said: serde_json::Value = serde_json::from_str(&text).unwrap();
        said["operation"] = json!(operation);
        said["record"]["about"]["grants"][0]["config"] = json!(config);
        fs::write(&pending, said.to_string()).unwrap();
        let workspace = home.stores().remove(1);
        let settled = workspace.settle(&workspace.lock().unwrap()).unwrap();
        let told = settled.failed[0].1.to_string();
        assert!(!told.is_empty() && settled.failed.len() == 1, "{told}");
        assert_eq!(fs::read_to_string(&config).unwrap(), ALLOW);
    }
}

/// Each kind of oddity, and whether what is in the workspace itself can still be looked at.
type Oddity = (&'static str, fn(&Path), bool);

const ODDITIES: [Oddity; 9] = [
    (
        "plugins is a link",
        |root| symlink("/tmp", root.join("plugins")).unwrap(),
        false,
    ),
    (
        "plugins is a file",
        |root| fs::write(root.join("plugins"), "").unwrap(),
        false,
    ),
    (
        "a stray is a directory",
        |root| fs::create_dir(root.join(".vak-tmp.1")).unwrap(),
        true,
    ),
    (
        "a stray is a link",
        |root| symlink("/", root.join(".vak-tmp.1")).unwrap(),
        true,
    ),
    (
        "the lock is a FIFO",
        |root| make_fifo(&root.join(".lock")),
        true,
    ),
    (
        "the lock is a directory",
        |root| fs::create_dir(root.join(".lock")).unwrap(),
        true,
    ),
    (
        "the lock is a link",
        |root| symlink("/dev/null", root.join(".lock")).unwrap(),
        true,
    ),
    (
        "the config is not TOML",
        |root| fs::write(root.join("config.toml"), "[plugins").unwrap(),
        false,
    ),
    (
        "the config has an unknown mode",
        |root| fs::write(root.join("config.toml"), "permission_mode = \"turbo\"\n").unwrap(),
        false,
    ),
];

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn an_odd_workspace_stops_no_change_of_the_users_store() {
    for (what, make, is_in_order) in ODDITIES {
        let home = Home::new();
        let stale = home.package_saying("stale", "1.0.0", STALE);
        let demo = home.package("demo", "1.0.0");
        let plugins = |args: &[&str]| {
            let run = home
                .sandbox
                .vak(&[&["plugins"], args, &["--scope", "user"]].concat());
            assert_eq!(run.code, 0, "{what}: {args:?}: {}", run.stderr);
        };
        plugins(&["install", stale.to_str().unwrap(), "--allow-retired"]);
        home.sandbox.write(
            "home/.vak/config.toml",
            "[plugins]\nnetwork_allow = [\"demo\"]\n",
        );
        home.sandbox.vak(&["setup", "seed", "--dry-run"]).expect(0);
        fs::create_dir(home.sandbox.workspace()).unwrap();
        make(&home.sandbox.workspace());
        let workspace = Tree::read(&home.sandbox.workspace());

        plugins(&["install", demo.to_str().unwrap()]);
        plugins(&["enable", "demo"]);
        plugins(&["disable", "demo"]);
        plugins(&["remove", "demo"]);
        plugins(&["restore", "demo"]);
        plugins(&["remove", "demo"]);
        plugins(&["purge", "--older-than", "0s"]);
        let run = home.sandbox.vak(&["services-sync"]);
        assert_eq!(
            run.code,
            if is_in_order { 0 } else { 2 },
            "{what}: {}",
            run.stderr
        );
        assert!(
            !home.store().has("stale").unwrap(),
            "{what}: {}",
            run.stderr
        );
        let left = Tree::read(&home.sandbox.workspace()).without(&[".lock"]);
        assert!(left == workspace.without(&[".lock"]), "{what}");
    }
}

#[test]
fn a_workspace_that_may_not_be_written_stops_only_what_would_change_it() {
    let home = Home::new();
    let stale = home.package_saying("stale", "1.0.0", STALE);
    home.install_enabled(&stale);
    home.install_enabled(&home.package("demo", "1.0.0"));
    home.sandbox.write("work/.vak/config.toml", ALLOW);
    home.give_to_nobody();
    chmod(&home.sandbox.workspace(), 0o555);
    let run = home.as_nobody(&["services-sync"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!home.store().has("stale").unwrap());
    // Its config names this one, which therefore stays as a whole.
    let before = home.sandbox.tree();
    for args in [&["--dry-run"][..], &[]] {
        let run = home.as_nobody(&[&["plugins", "remove", "demo"], args].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("Permission denied"), "{}", run.stderr);
        assert!(run.stderr.contains("config.toml"), "{}", run.stderr);
        assert_eq!(home.sandbox.tree(), before);
    }
    chmod(&home.sandbox.workspace(), 0o755);
}

/// As where a package manager owns the user's config.
#[test]
fn a_config_that_may_not_be_written_keeps_each_plugin_as_it_is() {
    for way in ["file", "directory"] {
        let home = Home::new();
        home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
        let config = home.sandbox.write(
            "store/config.toml",
            "[plugins]\nnetwork_allow = [\"stale\"]\n",
        );
        symlink(&config, home.sandbox.shared().join("config.toml")).unwrap();
        home.sandbox.vak(&["setup", "seed"]).expect(0);
        let restored = ["plugins", "restore", "stale", "--scope", "user"];
        let shut = |is_shut: bool| {
            let mode = |open, shut| if is_shut { shut } else { open };
            match way {
                "file" => chmod(&config, mode(0o644, 0o444)),
                _ => chmod(config.parent().unwrap(), mode(0o755, 0o555)),
            }
        };
        home.give_to_nobody();
        let refused = |args: &[&str]| {
            let before = home.sandbox.tree();
            let run = home.as_nobody(args);
            assert_eq!(run.code, 2, "{way}: {args:?}: {}", run.stderr);
            assert!(run.stderr.contains("Permission denied"), "{}", run.stderr);
            assert_eq!(home.sandbox.tree(), before, "{way}: {args:?}");
        };
        shut(true);
        refused(&[&restored[..], &["--dry-run"]].concat());
        refused(&restored);
        shut(false);
        home.as_nobody(&restored).expect(0);
        shut(true);
        for args in [
            &["setup", "seed", "--dry-run"][..],
            &["setup", "seed"],
            &["services-sync"],
            &["plugins", "remove", "stale", "--dry-run"],
            &["plugins", "remove", "stale"],
        ] {
            refused(args);
        }
        shut(false);
        home.as_nobody(&["services-sync"]).expect(0);
        assert!(!home.store().has("stale").unwrap());
        assert_eq!(
            fs::read_to_string(&config).unwrap(),
            "[plugins]\nnetwork_allow = []\n"
        );
    }
}

#[test]
fn a_plugin_in_both_stores_goes_from_both_as_the_dry_run_says() {
    let home = Home::new();
    let stale = home.package_saying("stale", "1.0.0", STALE);
    for scope in ["user", "workspace"] {
        let place = stale.to_str().unwrap();
        let args = [
            "plugins",
            "install",
            place,
            "--allow-retired",
            "--scope",
            scope,
        ];
        home.sandbox.vak(&args).expect(0);
    }
    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"stale\"]\n",
    );
    let seed = |args: &[&str]| {
        let run = home.sandbox.vak(&[&["setup", "seed"], args].concat());
        run.expect(0)
    };
    let told = |args: &[&str]| {
        let mut taken =
            seed(&[args, &["--format", "json"]].concat()).json()["cleanup"]["taken"].clone();
        for plugin in taken.as_array_mut().unwrap() {
            plugin["quarantine"] = json!(null);
        }
        taken
    };
    let planned = told(&["--dry-run"]);
    assert_eq!(planned[1]["grants"][0]["lines"], json!([2]));
    assert_eq!(told(&[]), planned);
    let restore = |scope| ["plugins", "restore", "stale", "--scope", scope];
    for scope in ["workspace", "user"] {
        home.sandbox.vak(&restore(scope)).expect(0);
    }
    // What it prints brings each back.
    let said = seed(&[]).stdout;
    let commands: Vec<Vec<_>> = said
        .lines()
        .filter_map(|line| line.trim().strip_prefix("bring it back: vak "))
        .map(|command| command.split(' ').collect())
        .collect();
    assert_eq!(commands.len(), 2, "{said}");
    for command in commands {
        home.sandbox.vak(&command).expect(0);
    }
    assert_eq!(
        home.text("home/.vak/config.toml"),
        "[plugins]\nnetwork_allow = [\"stale\"]\n"
    );
}

/// A broken config stops a restore before it begins, as it stops a removal: nothing of it is lost.
#[test]
fn a_restore_waits_for_a_config_that_cannot_be_used() {
    for broken in [
        "[plugins]\nnetwork_allow = [",
        "plugins = 1\n",
        "[plugins]\nnetwork_allow = \"demo\"\n",
        "\u{0}",
    ] {
        let home = home_with_entries();
        let (store, guard) = home.locked();
        store
            .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
            .unwrap();
        home.sandbox.write("home/.vak/config.toml", broken);
        let before = home.sandbox.tree();
        let error = store.plan_restore("demo").unwrap_err();
        assert!(matches!(error, PluginError::Config(_)), "{error}");
        assert_eq!(
            store.restore(&guard, "demo").unwrap_err().to_string(),
            error.to_string()
        );
        assert_eq!(home.sandbox.tree(), before);
        home.sandbox.write("home/.vak/config.toml", CUT);
        let restored = store.restore(&guard, "demo").unwrap();
        let is_exact = restored
            .grants
            .iter()
            .all(|it| it.outcome == Outcome::Exact);
        assert!(is_exact, "{restored:?}");
        assert_eq!(home.text("home/.vak/config.toml"), ALLOW);
    }
    // Where its owner has taken the list away there is nothing to wait for.
    let home = home_with_entries();
    let (store, guard) = home.locked();
    store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap();
    home.sandbox.write("home/.vak/config.toml", "");
    let planned = store.plan_restore("demo").unwrap();
    let restored = store.restore(&guard, "demo").unwrap();
    assert!(matches!(&restored.grants[0].outcome, Outcome::LeftOut(_)));
    assert_eq!(planned, restored);
}

/// A removal or a restore that another program has overtaken is over; nothing of the other plugin is touched.
#[test]
fn a_change_is_over_once_the_registry_has_another_plugin_of_that_name() {
    for operation in [Operation::Remove, Operation::Restore] {
        let home = home_with_entries();
        let (store, guard) = home.locked();
        let id = store
            .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
            .unwrap()
            .id;
        drop(guard);
        home.install_enabled(&home.package("demo", "2.0.0"));
        let record = home.text(&format!("home/.vak/plugins/quarantine/{id}/record.json"));
        home.sandbox.write("home/.vak/config.toml", ALLOW);
        let before = home.sandbox.tree();
        let operation = serde_json::to_string(&operation).unwrap();
        home.sandbox.write(
            format!("home/.vak/plugins/pending/{id}.json"),
            format!("{{\"operation\": {operation}, \"record\": {record}}}"),
        );
        let (store, guard) = home.locked();
        let settled = store.settle(&guard).unwrap();
        assert_eq!(settled.finished.len() + settled.failed.len(), 1);
        assert_eq!(home.sandbox.tree(), before, "{operation}");
        store
            .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
            .unwrap();
    }
}

/// Installed beside what is pending, neither would be what the other takes it for.
#[test]
fn a_plugin_is_not_installed_while_its_removal_cannot_be_finished() {
    let home = home_with_entries();
    let (store, guard) = home.locked();
    let id = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap()
        .id;
    let record = home.text(&format!("home/.vak/plugins/quarantine/{id}/record.json"));
    home.sandbox.write(
        format!("home/.vak/plugins/pending/{id}.json"),
        format!("{{\"operation\": \"remove\", \"record\": {record}}}"),
    );
    home.sandbox.write("home/.vak/config.toml", "[plugins");
    drop(guard);
    let package = home.package("demo", "2.0.0");
    let install = ["plugins", "install", package.to_str().unwrap()];
    let before = home.sandbox.tree();
    let run = home.sandbox.vak(&install).expect(2);
    assert!(
        run.stderr.contains("could not be finished"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("config.toml:1"), "{}", run.stderr);
    assert_eq!(home.sandbox.tree(), before);
    home.sandbox.write("home/.vak/config.toml", ALLOW);
    home.sandbox.vak(&install).expect(0);
    assert_eq!(home.text("home/.vak/config.toml"), CUT);
    assert_eq!(
        home.stores()[0].get("demo").unwrap().scope,
        Some(Scope::User)
    );
}
