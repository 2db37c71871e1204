//! Hostile input: names, paths, packages, links, records. Each is refused with its own error, and the whole
//! tree, with all that lies outside of the store, is afterwards what it was.

use crate::plugin::Home;
use crate::sandbox::Run;
use crate::tree::Tree;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use vak::disk::LockGuard;
use vak::plugin::{
    Depth, Inconsistency, InstallOptions, Packages, PluginError, PluginName, PluginStore,
    RemovalReason,
};
use vak::roots::Scope;

/// What nobody may use as a name: a way out, a way in, and what some file system takes for another name.
const BAD_NAMES: [&str; 24] = [
    "",
    ".",
    "..",
    "../../x",
    "/abs",
    "a/b",
    "a\\b",
    "..\\x",
    "%2e%2e",
    "demo%2f",
    "name.",
    "name ",
    " name",
    ".hidden",
    "-rf",
    "_x",
    "a:b",
    "a\u{0}b",
    "a\nb",
    "d\u{435}mo",
    "demo\u{200b}",
    "ｄemo",
    "naïve",
    "a*",
];

fn install(store: &PluginStore, guard: &LockGuard, package: &Path) -> Result<(), PluginError> {
    store
        .install(guard, package, InstallOptions::default())
        .map(drop)
}

fn remove(
    store: &PluginStore,
    guard: &LockGuard,
    name: &str,
    packages: Packages,
) -> Result<(), PluginError> {
    store
        .remove(guard, name, RemovalReason::Requested, packages)
        .map(drop)
}

/// A home with one enabled plugin, and a directory outside of it that nobody may touch.
fn home_with_outside() -> (Home, PathBuf) {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    home.sandbox
        .write("outside/precious/SKILL.md", "call `python_eval` now");
    let outside = home.sandbox.path().join("outside");
    (home, outside)
}

/// Edits the registry as somebody with an editor would.
fn edit_registry(home: &Home, edit: impl FnOnce(&mut Value)) {
    let mut registry = home.registry();
    edit(&mut registry);
    let path = home.sandbox.shared().join("plugins/registry.json");
    fs::write(path, serde_json::to_string_pretty(&registry).unwrap()).unwrap();
}

#[test]
fn a_bad_name_or_version_is_not_installed() {
    let long = "x".repeat(300);
    for bad in BAD_NAMES.into_iter().chain([long.as_str()]) {
        assert!(PluginName::parse(bad).is_err(), "{bad:?}");
        for manifest in [
            json!({"name": bad, "version": "1.0.0"}),
            json!({"name": "demo", "version": bad}),
        ] {
            let home = Home::new();
            home.sandbox
                .write("package/vak-plugin.json", manifest.to_string());
            let package = home.sandbox.path().join("package");
            let (store, guard) = home.locked();
            let before = home.sandbox.tree();
            let error = install(&store, &guard, &package).unwrap_err();
            assert!(matches!(error, PluginError::Package { .. }), "{error}");
            assert_eq!(home.sandbox.tree(), before);
        }
    }
    for good in ["a", "A-1", "x.y_z", "0", &"x".repeat(64)] {
        assert!(PluginName::parse(good).is_ok(), "{good}");
    }
}

#[test]
fn a_registered_bad_name_reaches_no_path_and_can_be_forgotten() {
    for bad in BAD_NAMES {
        let (home, outside) = home_with_outside();
        let demo = home.registry()["plugins"]["demo"].clone();
        edit_registry(&home, |registry| {
            registry["plugins"] = json!({"other": 1});
            registry["plugins"] = json!({bad: demo});
            registry["versions"] = json!({});
        });
        let before = home.sandbox.tree();
        let (store, guard) = home.locked();
        assert_eq!(store.list().unwrap().len(), 1, "{bad:?}");
        store.scan().unwrap();
        let error = remove(&store, &guard, bad, Packages::Move).unwrap_err();
        assert!(
            matches!(error, PluginError::Name { .. }),
            "{bad:?}: {error}"
        );
        assert_eq!(home.sandbox.tree(), before, "{bad:?}");
        let packages = Tree::read(&home.sandbox.shared().join("plugins/packages"));
        remove(&store, &guard, bad, Packages::Leave).unwrap();
        assert!(store.list().unwrap().is_empty());
        assert_eq!(
            Tree::read(&home.sandbox.shared().join("plugins/packages")),
            packages
        );
        assert!(outside.join("precious/SKILL.md").exists());
        // What was forgotten is not lost, but such a name does not come back as one.
        assert_eq!(store.quarantine().unwrap().len(), 1);
        let id = store.quarantine().unwrap().remove(0).id;
        assert!(store.restore(&guard, &id).is_err());
    }
}

/// A clone may bring links in the place of vak's own files. Only a config may be one.
#[test]
fn a_link_in_the_place_of_a_file_of_a_root_is_refused_wherever_it_leads() {
    for file in ["plugins/registry.json", "seed.json"] {
        for target in [
            "precious.json",
            "nowhere.json",
            "home/.vak/plugins/registry.json",
        ] {
            let (home, _) = home_with_outside();
            home.sandbox
                .write("precious.json", "{\"schema\": 1, \"plugins\": {}}\n");
            let link = home.sandbox.workspace().join(file);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(home.sandbox.path().join(target), &link).unwrap();
            let package = home.package("new", "1.0.0");
            let package = package.to_str().unwrap();
            let before = home.sandbox.tree();
            let commands: &[&[&str]] = match file {
                "seed.json" => &[&["setup", "seed"]],
                _ => &[
                    &["plugins", "list", "--scope", "workspace"],
                    &[
                        "plugins",
                        "install",
                        package,
                        "--scope",
                        "workspace",
                        "--dry-run",
                    ],
                    &["plugins", "install", package, "--scope", "workspace"],
                    &[
                        "plugins",
                        "remove",
                        "demo",
                        "--forget",
                        "--scope",
                        "workspace",
                    ],
                ],
            };
            for args in commands {
                let mut command = home.sandbox.command(args);
                if file == "seed.json" {
                    command.env("VAK_HOME", home.sandbox.work());
                }
                let run = Run::from(command.output().unwrap()).expect(2);
                let named = format!("{}` is not a regular file", link.display());
                assert!(run.stderr.contains(&named), "{args:?}: {}", run.stderr);
                let after = home.sandbox.tree().without(&["work/.vak/.lock"]);
                assert_eq!(after, before, "{args:?}");
            }
            let report = home.sandbox.vak(&["doctor", "--format", "json"]).stdout;
            assert!(!report.contains("--forget"), "{report}");
        }
    }
}

#[test]
fn a_package_path_that_leads_out_is_refused_never_followed_and_never_deleted() {
    let (home, outside) = home_with_outside();
    let shared = home.sandbox.shared();
    let packages = shared.join("plugins/packages");
    symlink(&outside, packages.join("link")).unwrap();
    symlink("demo", packages.join("inner")).unwrap();
    let generation = PathBuf::from(
        home.registry()["plugins"]["demo"]["package_path"]
            .as_str()
            .unwrap(),
    );
    let inside = generation.strip_prefix(&packages).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let bad = [
        String::new(),
        "/".to_owned(),
        text(&outside),
        text(&outside.join("precious")),
        text(&packages),
        format!("{}/", packages.display()),
        format!("{}/.", packages.display()),
        text(&shared),
        text(&shared.join("plugins")),
        text(&packages.join("link")),
        text(&packages.join("link/precious")),
        text(
            &packages
                .join("inner")
                .join(inside.strip_prefix("demo").unwrap()),
        ),
        text(&packages.join("../../../outside")),
        format!("{}/../demo", packages.join("demo").display()),
        "../../outside/precious".to_owned(),
        "outside/precious".to_owned(),
        "packages".to_owned(),
        "packages/../../../outside".to_owned(),
        "./outside".to_owned(),
        "packages/link/precious".to_owned(),
        text(&generation.join("vak-plugin.json")),
        "file:///etc".to_owned(),
        "~".to_owned(),
    ];
    for path in bad {
        edit_registry(&home, |registry| {
            registry["plugins"]["demo"]["package_path"] = json!(path);
        });
        let before = home.sandbox.tree();
        let (store, guard) = home.locked();
        let scanned = store.scan().unwrap();
        assert!(scanned[0].fault.is_some(), "{path:?} was followed");
        assert!(scanned[0].scan.files.is_empty());
        assert!(store.retired_plugins().unwrap().is_empty(), "{path:?}");
        let error = remove(&store, &guard, "demo", Packages::Move).unwrap_err();
        assert!(
            matches!(error, PluginError::Location { .. }),
            "{path:?}: {error}"
        );
        assert!(error.to_string().contains("--forget"), "{error}");
        assert!(store.enable(&guard, "demo", true).is_err());
        assert!(store.inspect("demo").unwrap().problem.is_some());
        assert_eq!(home.sandbox.tree(), before, "{path:?}");
    }
    // Also where a list of versions says so.
    edit_registry(&home, |registry| {
        registry["plugins"]["demo"]["package_path"] = json!(text(&generation));
        registry["versions"]["demo"] =
            json!({"0.9.0": {"deep": [{"package_path": text(&outside)}]}});
    });
    let (store, guard) = home.locked();
    let before = home.sandbox.tree();
    let error = remove(&store, &guard, "demo", Packages::Move).unwrap_err();
    assert!(matches!(error, PluginError::Location { .. }), "{error}");
    assert_eq!(home.sandbox.tree(), before);
    remove(&store, &guard, "demo", Packages::Leave).unwrap();
    assert!(!store.has("demo").unwrap());
    assert!(generation.is_dir() && outside.join("precious").is_dir());
}

#[test]
fn a_package_path_may_be_relative_to_the_store_or_go_by_another_name_of_the_root() {
    let (home, _outside) = home_with_outside();
    let shared = home.sandbox.shared();
    let alias = home.sandbox.path().join("alias");
    symlink(&shared, &alias).unwrap();
    let entry = home.registry()["plugins"]["demo"].clone();
    let generation = PathBuf::from(entry["package_path"].as_str().unwrap());
    let relative = generation.strip_prefix(&shared).unwrap();
    for path in [
        relative.to_owned(),
        relative.strip_prefix("plugins").unwrap().to_owned(),
        alias.join(relative),
    ] {
        edit_registry(&home, |registry| {
            registry["plugins"]["demo"]["package_path"] = json!(path);
        });
        let (store, guard) = home.locked();
        assert_eq!(store.scan().unwrap()[0].fault, None, "{path:?}");
        let id = store
            .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
            .unwrap()
            .id;
        assert!(!generation.exists());
        store.restore(&guard, &id).unwrap();
        assert!(generation.is_dir());
    }
}

/// What is no name claims no directory.
#[test]
fn a_bad_name_in_the_registry_keeps_no_other_plugin_where_it_is() {
    for bad in BAD_NAMES {
        let (home, _outside) = home_with_outside();
        edit_registry(&home, |registry| registry["plugins"][bad] = json!({}));
        let (store, guard) = home.locked();
        remove(&store, &guard, "demo", Packages::Move).unwrap();
        store.restore(&guard, "demo").unwrap();
    }
}

#[test]
fn another_plugins_package_is_not_taken_along() {
    let (home, _outside) = home_with_outside();
    home.install_enabled(&home.package("other", "1.0.0"));
    let other = home.registry()["plugins"]["other"]["package_path"].clone();
    let demo = home.registry()["plugins"]["demo"]["package_path"].clone();
    for (name, path) in [("demo", other), ("other", demo)] {
        let (home, _) = home_with_outside();
        home.install_enabled(&home.package("other", "1.0.0"));
        // The paths of this home, not of the first.
        let tail: PathBuf = Path::new(path.as_str().unwrap())
            .iter()
            .rev()
            .take(3)
            .collect();
        let tail: PathBuf = tail.iter().rev().collect();
        let path = home.sandbox.shared().join("plugins/packages").join(tail);
        edit_registry(&home, |registry| {
            registry["plugins"][name]["package_path"] = json!(path);
        });
        let before = home.sandbox.tree();
        let (store, guard) = home.locked();
        for name in ["demo", "other"] {
            let error = remove(&store, &guard, name, Packages::Move).unwrap_err();
            assert!(
                matches!(error, PluginError::SharedPackage { .. }),
                "{error}"
            );
        }
        assert_eq!(home.sandbox.tree(), before);
    }
}

/// Makes a package, spoils it, and checks that it is refused with these words and nothing is changed.
#[track_caller]
fn check_package(spoil: impl FnOnce(&Path), words: &[&str]) {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.sandbox.write("outside/file", "precious");
    let (store, guard) = home.locked();
    spoil(&package);
    let before = home.shared_tree();
    let error = install(&store, &guard, &package).unwrap_err();
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    assert!(matches!(error, PluginError::Package { .. }), "{error:?}");
    assert_eq!(home.shared_tree(), before);
    // A scan of it ends, too.
    store
        .plan_install(&package, InstallOptions::default())
        .unwrap_err();
}

#[test]
fn links_of_every_kind_are_refused() {
    for (name, target) in [
        ("inside", "vak-plugin.json"),
        ("outside", "../../outside/file"),
        ("ancestor", ".."),
        ("itself", "itself"),
        ("broken", "nowhere"),
        ("directory", "skills"),
        ("absolute", "/etc/passwd"),
    ] {
        let shown = format!("skills/{name}");
        check_package(
            |package| symlink(target, package.join("skills").join(name)).unwrap(),
            &["symbolic link", &shown],
        );
    }
    check_package(
        |package| {
            fs::remove_file(package.join("vak-plugin.json")).unwrap();
            symlink("../../outside/file", package.join("vak-plugin.json")).unwrap();
        },
        &["symbolic link", "vak-plugin.json"],
    );
}

#[test]
fn hard_links_and_special_files_are_refused() {
    check_package(
        |package| {
            let outside = package.join("../../outside/file");
            fs::hard_link(outside, package.join("data")).unwrap();
        },
        &["hard link", "data"],
    );
    check_package(
        |package| make_special(&package.join("pipe"), &["p"]),
        &["FIFO", "pipe"],
    );
    check_package(
        |package| {
            // Its socket outlives the listener.
            drop(std::os::unix::net::UnixListener::bind(package.join("sock")).unwrap());
        },
        &["socket", "sock"],
    );
    // Only root may make a device.
    let probe = tempfile::tempdir().unwrap();
    let device = probe.path().join("null");
    let made = std::process::Command::new("mknod")
        .arg(&device)
        .args(["c", "1", "3"])
        .output();
    if made.is_ok_and(|made| made.status.success()) {
        check_package(
            |package| make_special(&package.join("null"), &["c", "1", "3"]),
            &["device", "null"],
        );
    }
}

fn make_special(path: &Path, kind: &[&str]) {
    let status = std::process::Command::new("mknod")
        .arg(path)
        .args(kind)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn what_is_too_large_is_refused_without_being_read() {
    let start = std::time::Instant::now();
    check_package(
        |package| {
            let file = fs::File::create(package.join("sparse.bin")).unwrap();
            file.set_len(10 << 30).unwrap();
        },
        &["sparse.bin", "67108864", "10737418"],
    );
    assert!(start.elapsed().as_secs() < 20, "the file was read");
    check_package(
        |package| {
            for number in 0..3 {
                let name = format!("part-{number}");
                fs::File::create(package.join(name))
                    .unwrap()
                    .set_len(30 << 20)
                    .unwrap();
            }
        },
        &["part-2", "67108864"],
    );
}

#[test]
fn what_is_too_deep_or_too_many_is_refused() {
    check_package(
        |package| {
            let deep: PathBuf = std::iter::repeat_n("d", 100).collect();
            fs::create_dir_all(package.join(deep)).unwrap();
        },
        &["17 levels", "16"],
    );
    check_package(
        |package| {
            for number in 0..4_100 {
                fs::create_dir(package.join(format!("skills/{number}"))).unwrap();
            }
        },
        &["4096 directories", "skills/"],
    );
}

#[test]
fn the_limits_themselves_are_allowed_and_one_file_more_is_not() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    let deep: PathBuf = std::iter::repeat_n("d", 16).collect();
    fs::create_dir_all(package.join(&deep)).unwrap();
    fs::write(package.join(deep).join("file"), "x").unwrap();
    // Two files are in the package, one was just added.
    for number in 3..4096 {
        fs::File::create(package.join(format!("skills/{number}.md"))).unwrap();
    }
    let store = home.store();
    let plan = || store.plan_install(&package, InstallOptions::default());
    plan().unwrap();
    fs::File::create(package.join("one-more")).unwrap();
    let error = plan().unwrap_err().to_string();
    assert!(error.contains("more than 4096 files"), "{error}");
}

#[test]
fn file_names_that_mean_something_else_elsewhere_are_refused() {
    for (name, words) in [
        (&b"caf\xe9.md"[..], "UTF-8"),
        (b"..\\..\\evil", "backslash"),
        (b"new\nline", "control character"),
        (b"esc\x1b[2J", "control character"),
    ] {
        check_package(
            |package| fs::write(package.join(OsStr::from_bytes(name)), "x").unwrap(),
            &[words],
        );
    }
}

#[test]
fn a_manifest_that_is_none_is_refused() {
    let manifest = |text: String, words: &[&str]| {
        check_package(
            |package| fs::write(package.join("vak-plugin.json"), text).unwrap(),
            &[&["vak-plugin.json"], words].concat(),
        );
    };
    manifest(
        format!(
            "{{\"name\": \"demo\", \"x\": \"{}\"}}",
            "y".repeat(50 << 20)
        ),
        &["1048576"],
    );
    manifest(
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        &[],
    );
    manifest(
        format!(
            "{{\"name\": \"demo\", \"x\": {}1{}}}",
            "[".repeat(50_000),
            "]".repeat(50_000)
        ),
        &["recursion limit"],
    );
    manifest("[]".to_owned(), &["invalid type"]);
    manifest(String::new(), &["EOF"]);
    manifest("{}".to_owned(), &["no `name`"]);
    manifest("{\"name\": 7}".to_owned(), &["`name` is not a string"]);
    manifest(
        "{\"name\": \"demo\", \"version\": [1]}".to_owned(),
        &["`version` is not a string"],
    );
    check_package(
        |package| fs::write(package.join("vak-plugin.json"), b"{\"name\": \"\xff\"}").unwrap(),
        &["UTF-8"],
    );
    check_package(
        |package| fs::remove_file(package.join("vak-plugin.json")).unwrap(),
        &["no manifest"],
    );
}

#[test]
fn what_is_no_directory_is_not_installed() {
    let home = Home::new();
    let (store, guard) = home.locked();
    let file = home.sandbox.write("file", "x");
    make_special(&home.sandbox.path().join("pipe"), &["p"]);
    for path in [
        file,
        home.sandbox.path().join("missing"),
        home.sandbox.path().join("pipe"),
    ] {
        assert!(install(&store, &guard, &path).is_err(), "{path:?}");
    }
}

/// Puts a link to `outside` in the place of a directory of the store and checks that no command goes there.
#[track_caller]
fn check_linked_directory(relative: &str) {
    let (home, outside) = home_with_outside();
    home.install_enabled(&home.package("gone", "1.0.0"));
    let (store, guard) = home.locked();
    remove(&store, &guard, "gone", Packages::Move).unwrap();
    let place = home.sandbox.shared().join(relative);
    if place.exists() {
        // The same content, so that only the link makes the difference.
        fs::rename(&place, outside.join("moved")).unwrap();
        symlink(outside.join("moved"), &place).unwrap();
    } else {
        symlink(&outside, &place).unwrap();
    }
    let before = Tree::read(&outside);
    let _ = remove(&store, &guard, "demo", Packages::Move);
    assert_eq!(
        Tree::read(&outside),
        before,
        "remove went through {relative}"
    );
    let _ = store.restore(&guard, "gone");
    assert_eq!(
        Tree::read(&outside),
        before,
        "restore went through {relative}"
    );
    let _ = install(&store, &guard, &home.package("new", "1.0.0"));
    assert_eq!(
        Tree::read(&outside),
        before,
        "install went through {relative}"
    );
    let _ = store.purge(&guard, std::time::Duration::ZERO);
    assert_eq!(
        Tree::read(&outside),
        before,
        "purge went through {relative}"
    );
    let _ = store.settle(&guard);
    assert_eq!(
        Tree::read(&outside),
        before,
        "settle went through {relative}"
    );
}

#[test]
fn no_directory_of_the_store_may_be_a_link() {
    for relative in [
        "plugins",
        "plugins/packages",
        "plugins/packages/demo",
        "plugins/packages/demo/1.0.0",
        "plugins/quarantine",
        "plugins/pending",
        "plugins/staging",
        "plugins/packages/new",
    ] {
        check_linked_directory(relative);
    }
}

#[test]
fn swapping_a_directory_for_a_link_while_it_is_removed_wins_nothing() {
    let (home, outside) = home_with_outside();
    let before = Tree::read(&outside);
    let packages = home.sandbox.shared().join("plugins/packages");
    let done = AtomicBool::new(false);
    symlink(&outside, packages.join("trap")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let swap = |name: &str| {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    packages.join("trap"),
                    rustix::fs::CWD,
                    packages.join(name),
                    flags,
                );
            };
            while !done.load(Ordering::Relaxed) {
                swap("demo");
                swap("demo/1.0.0");
            }
        });
        for _ in 0..150 {
            let (store, guard) = home.locked();
            // Whether it is refused or goes through depends on the moment; where it goes does not.
            let _ = remove(&store, &guard, "demo", Packages::Move);
            let _ = store.restore(&guard, "demo");
            let _ = store.settle(&guard);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(Tree::read(&outside), before);
    let (store, guard) = home.locked();
    let _ = store.purge(&guard, std::time::Duration::ZERO);
    assert_eq!(Tree::read(&outside), before);
}

/// Tampers with the record of a quarantined plugin and checks that it is not restored.
#[track_caller]
fn check_record(tamper: impl FnOnce(&mut Value)) {
    let (home, _outside) = home_with_outside();
    let (store, guard) = home.locked();
    let id = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap()
        .id;
    let path = home
        .sandbox
        .shared()
        .join(format!("plugins/quarantine/{id}/record.json"));
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    tamper(&mut record);
    fs::write(&path, record.to_string()).unwrap();
    let before = home.sandbox.tree();
    store.restore(&guard, &id).unwrap_err();
    assert_eq!(home.sandbox.tree(), before);
    // Nor is it lost sight of, or deleted as old.
    assert_eq!(store.quarantine().unwrap().len(), 1);
    store
        .purge(&guard, std::time::Duration::from_secs(60))
        .unwrap();
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn a_record_that_was_tampered_with_is_refused() {
    for from in [
        "/etc",
        "..",
        "../../outside",
        "plugins/packages",
        "plugins/packages/../../x",
        "skills/x",
        "",
    ] {
        check_record(|record| record["packages"][0]["from"] = json!(from));
    }
    for to in ["..", ".", "", "a/b", "/etc", "../../packages"] {
        check_record(|record| record["packages"][0]["to"] = json!(to));
    }
    for name in ["..", "a/b", ""] {
        check_record(|record| record["about"]["name"] = json!(name));
    }
    check_record(|record| record["about"]["id"] = json!("other"));
    check_record(|record| record["schema"] = json!(2));
    check_record(|record| *record = json!([]));
}

#[test]
fn a_pending_file_that_was_tampered_with_is_refused_and_stops_nothing_else() {
    let (home, outside) = home_with_outside();
    let (store, guard) = home.locked();
    let id = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap()
        .id;
    let record = home
        .sandbox
        .shared()
        .join(format!("plugins/quarantine/{id}/record.json"));
    let mut record: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    record["packages"][0]["from"] = json!("../../outside");
    let pending = json!({"operation": "restore", "record": record});
    home.sandbox.write(
        format!("home/.vak/plugins/pending/{id}.json"),
        pending.to_string(),
    );
    home.sandbox
        .write("home/.vak/plugins/pending/junk.json", "{");
    let before = Tree::read(&outside);
    let settled = store.settle(&guard).unwrap();
    assert_eq!((settled.finished.len(), settled.failed.len()), (0, 2));
    assert!(store.unfinished().unwrap().is_empty());
    let bad = store.check(Depth::Places).unwrap();
    let bad = bad
        .iter()
        .filter(|it| matches!(it, Inconsistency::Pending { .. }));
    assert_eq!(bad.count(), 2);
    install(&store, &guard, &home.package("new", "1.0.0")).unwrap();
    assert_eq!(Tree::read(&outside), before);
    assert!(store.has("new").unwrap());
}

/// A workspace may come from anywhere, its quarantine too.
#[test]
fn a_workspaces_quarantine_puts_nothing_into_the_users_config() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"demo\"]\n",
    );
    let (store, guard) = home.locked();
    let id = store
        .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
        .unwrap()
        .id;
    // The user's own quarantine entry, carried over into a workspace.
    let entry = home.sandbox.shared().join("plugins/quarantine").join(&id);
    let there = home.sandbox.workspace().join("plugins/quarantine");
    fs::create_dir_all(&there).unwrap();
    fs::rename(entry, there.join(&id)).unwrap();
    let workspace = &home.stores()[1];
    assert_eq!(workspace.scope(), Scope::Workspace);
    drop(guard);
    let config = fs::read(home.sandbox.shared().join("config.toml")).unwrap();
    let guard = workspace.lock().unwrap();
    workspace.restore(&guard, &id).unwrap();
    assert!(workspace.has("demo").unwrap());
    assert_eq!(
        fs::read(home.sandbox.shared().join("config.toml")).unwrap(),
        config
    );
}
