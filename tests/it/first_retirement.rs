//! The whole way once, as an operator goes it: two stale plugins and a healthy one, in two stores, with a
//! config that allows them the network.

use crate::sandbox::Sandbox;
use crate::tree::Tree;
use std::fs;
use std::path::{Path, PathBuf};

const CONFIG: &str = r#"# who may reach the network
[plugins]
network_allow = [
    'sqlite-notebook',   # the healthy one
    # asked for by the data people
    "python-sandbox",
    "react-sandbox",
]

# the end, and no newline"#;

const PYTHON_ENTRY: &str = "    \"python-sandbox\",\n";
const REACT_ENTRY: &str = "    \"react-sandbox\",\n";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/plugins")
        .join(name)
}

/// A sandbox with the three example plugins installed.
fn stale() -> Sandbox {
    let sandbox = Sandbox::new();
    let install = |name: &str, more: &[&str]| {
        let package = example(name);
        let mut args = vec!["plugins", "install", package.to_str().unwrap()];
        args.extend(more);
        sandbox.vak(&args).expect(0);
    };
    install("sqlite-notebook", &[]);
    install("python-sandbox", &["--allow-retired"]);
    install(
        "react-sandbox",
        &["--allow-retired", "--scope", "workspace"],
    );
    sandbox.write("home/.vak/config.toml", CONFIG);
    sandbox
}

fn config(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.shared().join("config.toml")).unwrap()
}

fn packages(sandbox: &Sandbox) -> Tree {
    Tree::read(&sandbox.shared().join("plugins/packages"))
}

#[test]
fn an_empty_home_is_in_order_and_stays_empty() {
    let sandbox = Sandbox::new();
    let before = sandbox.tree();
    let run = sandbox.vak(&["doctor"]).expect(0);
    assert!(
        !run.stdout.contains('✗') && !run.stdout.contains('⚠'),
        "{}",
        run.stdout
    );
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn doctor_names_plugin_tool_file_line_and_what_to_run() {
    let sandbox = stale();
    let before = sandbox.tree();
    let told = sandbox.vak(&["doctor"]).expect(1).stdout;
    for part in [
        "✗ retired-plugins",
        "python-sandbox 1.4.2 (user)",
        "react-sandbox 0.9.0 (workspace)",
        "`python_eval` (retired in 3.0.21; use `bash`)",
        "skills/python-sandbox/SKILL.md:26:10",
        "skills/react-sandbox/SKILL.md:24:22",
        "run vak setup seed",
        "run vak plugins remove react-sandbox",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert!(!told.contains("sqlite-notebook"), "{told}");
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn setup_takes_away_what_is_stale_and_nothing_else() {
    let sandbox = stale();
    let healthy =
        |sandbox: &Sandbox| Tree::read(&sandbox.shared().join("plugins/packages/sqlite-notebook"));
    let before = healthy(&sandbox);
    let told = sandbox.vak(&["setup", "seed"]).expect(0).stdout;
    assert!(
        told.contains("vak plugins restore python-sandbox"),
        "{told}"
    );
    assert!(told.contains("vak plugins restore react-sandbox"), "{told}");
    assert_eq!(healthy(&sandbox), before);

    let listed = sandbox.vak(&["plugins", "list"]).expect(0).stdout;
    assert!(listed.contains("sqlite-notebook"), "{listed}");
    assert!(!listed.contains("sandbox"), "{listed}");
    let cut = CONFIG.replace(PYTHON_ENTRY, "").replace(REACT_ENTRY, "");
    assert_eq!(config(&sandbox), cut);
    sandbox.vak(&["doctor"]).expect(0);
}

#[test]
fn a_second_setup_changes_nothing_at_all() {
    let sandbox = stale();
    sandbox.vak(&["setup", "seed"]).expect(0);
    let before = sandbox.tree();
    sandbox.vak(&["setup", "seed"]).expect(0);
    let quiet = sandbox.vak(&["services-sync"]).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    sandbox.vak(&["doctor", "--repair"]).expect(0);
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn restore_brings_back_the_very_same_bytes() {
    let sandbox = stale();
    let before = packages(&sandbox);
    sandbox.vak(&["setup", "seed"]).expect(0);
    assert_ne!(
        packages(&sandbox).without(&["data-tools", "git-history"]),
        before
    );
    sandbox
        .vak(&["plugins", "restore", "python-sandbox"])
        .expect(0);
    let after = packages(&sandbox).without(&["data-tools", "git-history"]);
    assert_eq!(after, before);
    let kept = CONFIG.replace(REACT_ENTRY, "");
    assert_eq!(config(&sandbox), kept);
}

#[test]
fn every_dry_run_reports_and_writes_nothing() {
    let sandbox = stale();
    let before = sandbox.tree();
    for args in [
        &["setup", "seed", "--dry-run"][..],
        &["services-sync", "--dry-run"],
        &["plugins", "remove", "python-sandbox", "--dry-run"],
    ] {
        let run = sandbox.vak(args).expect(0);
        assert!(
            run.stdout.contains("python-sandbox"),
            "{args:?}\n{}",
            run.stdout
        );
        assert_eq!(sandbox.tree(), before, "{args:?}");
    }
    // The second look of a repair that was not made still fails.
    sandbox.vak(&["doctor", "--repair", "--dry-run"]).expect(1);
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn doctor_repairs_what_setup_would() {
    let sandbox = stale();
    let told = sandbox.vak(&["doctor", "--repair"]).expect(0).stdout;
    assert!(told.contains("Retired plugins: 2 taken away"), "{told}");
    assert!(told.contains("✓ retired-plugins"), "{told}");
}

#[test]
fn a_kept_plugin_stays_and_is_shown_as_kept() {
    let sandbox = stale();
    let keep = CONFIG.replace("[plugins]", "[plugins]\nkeep_retired = ['python-sandbox']");
    sandbox.write("home/.vak/config.toml", &keep);
    let told = sandbox.vak(&["setup", "seed"]).expect(0).stdout;
    assert!(told.contains("kept python-sandbox"), "{told}");
    assert!(told.contains("1 taken away"), "{told}");
    let report = sandbox.vak(&["doctor"]).expect(0).stdout;
    assert!(report.contains("⚠ retired-references"), "{report}");
    assert!(
        report.contains("kept, though it calls `python_eval`"),
        "{report}"
    );
}

/// A workspace may come from anywhere: its config keeps its own plugins and not the user's.
#[test]
fn a_workspace_does_not_speak_for_the_users_store() {
    let sandbox = stale();
    sandbox.write(
        "work/.vak/config.toml",
        "[plugins]\nkeep_retired = ['python-sandbox', 'react-sandbox']\n",
    );
    let told = sandbox.vak(&["setup", "seed"]).expect(0).stdout;
    assert!(told.contains("- python-sandbox"), "{told}");
    assert!(told.contains("kept react-sandbox"), "{told}");
}

/// The line of the report on the clean-up is true whatever became of it.
#[test]
fn the_report_says_what_was_not_taken_away() {
    let told = |sandbox: &Sandbox, code| {
        let line = |args: &[&str]| {
            let told = sandbox.vak(args).expect(code).stdout;
            let mut lines = told.lines();
            lines
                .find(|line| line.starts_with("Retired plugins"))
                .unwrap()
                .to_owned()
        };
        let dry = line(&["setup", "seed", "--dry-run"]);
        (dry, line(&["setup", "seed"]))
    };
    let says = |dry: &str, real: &str| {
        let line = |what| format!("Retired plugins: {what}");
        (line(dry), line(real))
    };
    assert_eq!(
        told(&Sandbox::new(), 0),
        says("none to take away", "none to take away")
    );
    assert_eq!(
        told(&stale(), 0),
        says("2 to be taken away", "2 taken away")
    );
    // Two entries with one package: neither can be taken away without the other's.
    let overlapping = |more: bool| {
        let sandbox = stale();
        let path = sandbox.shared().join("plugins/registry.json");
        let mut registry: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        registry["plugins"]["double"] = registry["plugins"]["python-sandbox"].clone();
        if !more {
            fs::remove_dir_all(sandbox.workspace().join("plugins")).unwrap();
        }
        fs::write(&path, registry.to_string()).unwrap();
        sandbox
    };
    assert_eq!(
        told(&overlapping(false), 2),
        says("0 to be taken away, 2 failed", "0 taken away, 2 failed")
    );
    assert_eq!(
        told(&overlapping(true), 2),
        says("1 to be taken away, 2 failed", "1 taken away, 2 failed")
    );
    let unread = stale();
    unread.write("home/.vak/config.toml", "[plugins\n");
    assert_eq!(told(&unread, 2), says("not looked at", "not looked at"));
}

/// A link to a file that is away (an unmounted disk, dotfiles not checked out) is no absent config.
#[test]
fn a_config_that_is_a_link_to_nothing_stops_the_clean_up_and_fails_doctor() {
    let sandbox = stale();
    let away = sandbox.path().join("dotfiles/vak.toml");
    let link = sandbox.shared().join("config.toml");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&away, &link).unwrap();
    let starter = ["data-tools", "git-history"];
    let before = packages(&sandbox);
    for command in [
        &["setup", "seed"][..],
        &["services-sync"],
        &["plugins", "remove", "python-sandbox"],
    ] {
        let run = sandbox.vak(command).expect(2);
        let told = "config.toml` is a link that leads to no file";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        assert_eq!(packages(&sandbox).without(&starter), before);
        assert_eq!(fs::read_link(&link).unwrap(), away);
        assert!(!away.exists());
    }
    let run = sandbox.vak(&["doctor"]).expect(1);
    assert!(run.stdout.contains("✗ config "), "{}", run.stdout);
}

/// Where the operator's word can't be read nothing is taken away: it might be meant to stay.
#[test]
fn a_broken_config_stops_the_clean_up_and_is_left_as_it_is() {
    let sandbox = stale();
    let broken = "[plugins\nnetwork_allow = ['python-sandbox']\n";
    sandbox.write("home/.vak/config.toml", broken);
    let before = packages(&sandbox);
    let run = sandbox.vak(&["setup", "seed"]).expect(2);
    assert!(run.stderr.contains("config.toml:1:"), "{}", run.stderr);
    assert_eq!(config(&sandbox), broken);
    let after = packages(&sandbox).without(&["data-tools", "git-history"]);
    assert_eq!(after, before);
}
