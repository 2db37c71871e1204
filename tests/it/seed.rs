//! `vak setup seed`: what it writes, what it leaves alone, and that a second run changes nothing.

use crate::sandbox::{Run, Sandbox};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use vak::scan::Scanner;
use vak::seed::starter;

const SKILL: &str = "skills/write-commit/SKILL.md";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What the report says of one starter file.
fn state(report: &Value, path: &str) -> String {
    let files = report["starter"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"] == path).unwrap();
    file["state"].as_str().unwrap().to_owned()
}

fn seed(sandbox: &Sandbox) -> Value {
    sandbox
        .vak(&["setup", "seed", "--format", "json"])
        .expect(0)
        .json()
}

/// The starter plugin that the tests take.
const PLUGIN: &str = "data-tools";

/// What the report says of it.
fn plugin_state(report: &Value) -> String {
    let plugins = report["starter_plugins"].as_array().unwrap();
    let plugin = plugins.iter().find(|plugin| plugin["name"] == PLUGIN);
    plugin.unwrap()["state"].as_str().unwrap().to_owned()
}

fn installed(sandbox: &Sandbox) -> Value {
    sandbox
        .vak(&["plugins", "inspect", PLUGIN, "--format", "json"])
        .expect(0)
        .json()
}

/// A seeded home in which that plugin is as an earlier vak shipped it: another version, installed, enabled
/// and remembered.
pub(crate) fn seed_as_an_earlier_vak(sandbox: &Sandbox) {
    seed(sandbox);
    for (path, bytes) in &starter::shipped_plugins()[PLUGIN] {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let text = text.replace("\"version\": \"1.0.0\"", "\"version\": \"0.9.0\"");
        sandbox.write(Path::new("packages").join(PLUGIN).join(path), text);
    }
    let commands: [&[&str]; 4] = [
        &["plugins", "remove", PLUGIN],
        &["plugins", "install", "../packages/data-tools"],
        &["plugins", "enable", PLUGIN],
        &["plugins", "purge", "--older-than", "0s"],
    ];
    for command in commands {
        sandbox.vak(command).expect(0);
    }
    let memory = sandbox.shared().join("seed.json");
    let mut remembered: Value = serde_json::from_slice(&fs::read(&memory).unwrap()).unwrap();
    remembered["plugins"][PLUGIN] = installed(sandbox)["plugin"]["digest"].clone();
    let text = serde_json::to_string_pretty(&remembered).unwrap() + "\n";
    fs::write(&memory, text).unwrap();
}

/// A starter plugin is brought up to date in one step: on or off as the user has it, and as often as not.
#[test]
fn an_earlier_vaks_plugin_is_updated() {
    for (switch, enabled) in [("enable", true), ("disable", false)] {
        let sandbox = Sandbox::new();
        seed_as_an_earlier_vak(&sandbox);
        sandbox.vak(&["plugins", switch, PLUGIN]).expect(0);
        assert_eq!(plugin_state(&seed(&sandbox)), "updated");
        let now = installed(&sandbox);
        assert_eq!(now["plugin"]["version"], "1.0.0");
        assert_eq!(now["plugin"]["enabled"], enabled);
        let before = sandbox.tree();
        assert_eq!(plugin_state(&seed(&sandbox)), "current");
        assert_eq!(sandbox.tree(), before);
    }
}

/// What counts is what is on disk, whatever version the registry says was installed there.
#[test]
fn a_starter_plugin_that_the_user_changed_is_left_alone() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("kept-edited", |package| {
            fs::write(package.join("vak-plugin.json"), "mine\n").unwrap();
        }),
        ("kept-edited", |package| {
            fs::write(package.join("notes.md"), "mine\n").unwrap();
        }),
        ("kept-edited", |package| {
            symlink("/dev/null", package.join("link")).unwrap();
        }),
        ("kept-linked", |package| {
            let elsewhere = package.ancestors().nth(7).unwrap().join("elsewhere");
            fs::rename(package, &elsewhere).unwrap();
            symlink(elsewhere, package).unwrap();
        }),
        ("kept-deleted", |package| {
            fs::remove_dir_all(package).unwrap();
        }),
    ];
    type Start = fn(&Sandbox);
    let starts: [Start; 2] = [seed_as_an_earlier_vak, |sandbox| {
        seed(sandbox);
    }];
    for start in starts {
        for (state, change) in changes {
            let sandbox = Sandbox::new();
            start(&sandbox);
            change(Path::new(installed(&sandbox)["package"].as_str().unwrap()));
            let before = sandbox.tree();
            assert_eq!(plugin_state(&seed(&sandbox)), state);
            assert_eq!(sandbox.tree(), before, "{state}");
        }
    }
}

/// Nothing is staged outside the store: no directory for temporary files is needed.
#[test]
fn seed_needs_no_directory_for_temporary_files() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["setup", "seed"]);
    command.env("TMPDIR", sandbox.path().join("missing"));
    Run::from(command.output().unwrap()).expect(0);
    assert_eq!(plugin_state(&seed(&sandbox)), "current");
}

#[test]
fn the_first_run_writes_every_starter_file_and_the_second_changes_nothing() {
    let sandbox = Sandbox::new();
    let first = seed(&sandbox);
    for (path, bytes) in starter::shipped() {
        assert_eq!(fs::read(sandbox.shared().join(path)).unwrap(), bytes);
        assert_eq!(state(&first, path.to_str().unwrap()), "written");
    }
    assert!(!sandbox.workspace().exists(), "nothing belongs there yet");
    let before = sandbox.tree();
    let second = seed(&sandbox);
    assert_eq!(state(&second, SKILL), "current");
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn what_the_user_edited_or_deleted_stays_that_way() {
    let sandbox = Sandbox::new();
    seed(&sandbox);
    fs::write(sandbox.shared().join(SKILL), "mine\n").unwrap();
    let deleted = "skills/review-change/SKILL.md";
    fs::remove_file(sandbox.shared().join(deleted)).unwrap();
    let before = sandbox.tree();
    let report = seed(&sandbox);
    assert_eq!(state(&report, SKILL), "kept-edited");
    assert_eq!(state(&report, deleted), "kept-deleted");
    assert_eq!(sandbox.tree(), before);
    let told = sandbox.vak(&["setup", "seed"]).expect(0).stdout;
    assert!(told.contains(&format!("edited {SKILL}")), "{told}");
    assert!(told.contains(&format!("deleted {deleted}")), "{told}");
}

/// A file that is still as an earlier vak wrote it is brought up to date.
#[test]
fn an_earlier_vaks_file_is_updated() {
    let sandbox = Sandbox::new();
    seed(&sandbox);
    let now = sandbox.tree();
    let earlier = b"as vak 3.0.0 shipped it\n";
    fs::write(sandbox.shared().join(SKILL), earlier).unwrap();
    let memory = sandbox.shared().join("seed.json");
    let mut remembered: Value = serde_json::from_slice(&fs::read(&memory).unwrap()).unwrap();
    remembered["files"][SKILL] = json!(sha256(earlier));
    fs::write(
        &memory,
        serde_json::to_string_pretty(&remembered).unwrap() + "\n",
    )
    .unwrap();
    let report = seed(&sandbox);
    assert_eq!(state(&report, SKILL), "updated");
    assert_eq!(sandbox.tree(), now);
}

/// A seed that was killed before it remembered what it wrote takes its own files for its own.
#[test]
fn files_that_are_as_shipped_are_recognised_without_a_memory() {
    let sandbox = Sandbox::new();
    seed(&sandbox);
    let whole = sandbox.tree();
    fs::remove_file(sandbox.shared().join("seed.json")).unwrap();
    fs::remove_file(sandbox.shared().join(SKILL)).unwrap();
    seed(&sandbox);
    assert_eq!(sandbox.tree(), whole);
}

#[test]
fn a_file_of_the_users_own_under_a_starter_name_is_left_alone() {
    let sandbox = Sandbox::new();
    let mine = sandbox.write(format!("home/.vak/{SKILL}"), "my own skill\n");
    let report = seed(&sandbox);
    assert_eq!(state(&report, SKILL), "kept-edited");
    assert_eq!(fs::read_to_string(mine).unwrap(), "my own skill\n");
}

#[test]
fn a_dry_run_reports_the_same_and_writes_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.tree();
    let dry = sandbox
        .vak(&["setup", "seed", "--dry-run", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(sandbox.tree(), before);
    assert_eq!(dry["dry_run"], json!(true));
    assert_eq!(dry["starter"], seed(&sandbox)["starter"]);
}

/// Nothing is written through a link: not into a directory that a user keeps elsewhere, not over a file.
#[test]
fn what_is_linked_is_the_users() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.path().join("dotfiles");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(sandbox.shared()).unwrap();
    symlink(&elsewhere, sandbox.shared().join("skills")).unwrap();
    let report = seed(&sandbox);
    assert_eq!(state(&report, SKILL), "kept-linked");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    let sandbox = Sandbox::new();
    let mine = sandbox.write("dotfiles/commit.md", "mine\n");
    fs::create_dir_all(sandbox.shared().join(SKILL).parent().unwrap()).unwrap();
    symlink(&mine, sandbox.shared().join(SKILL)).unwrap();
    let report = seed(&sandbox);
    assert_eq!(state(&report, SKILL), "kept-linked");
    assert_eq!(state(&report, "skills/review-change/SKILL.md"), "written");
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine\n");
}

/// Whatever stands in the way is named, everything else is done, and nothing is lost.
#[test]
fn a_broken_memory_is_named_and_kept() {
    for (text, said) in [
        ("{", "does not say what vak shipped"),
        ("", "does not say what vak shipped"),
        (r#"{"schema": 2, "files": {}}"#, "has schema 2"),
        ("\u{0}\u{1}", "does not say what vak shipped"),
    ] {
        let sandbox = Sandbox::new();
        let memory = sandbox.write("home/.vak/seed.json", text);
        let before = sandbox.tree();
        let run = sandbox.vak(&["setup", "seed"]).expect(2);
        assert!(run.stderr.contains(said), "{text:?}: {}", run.stderr);
        assert!(run.stderr.contains("seed.json"), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
        assert_eq!(fs::read_to_string(memory).unwrap(), text);
        assert_eq!(sandbox.tree(), before);
    }
}

/// What vak ships never needs the cure it sells: no starter file refers to a retired tool at any grade.
#[test]
fn no_starter_file_refers_to_a_retired_tool() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("starter");
    let mut seen = 0;
    let mut open = vec![repository];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            seen += 1;
            let text = fs::read_to_string(&path).unwrap();
            let found = Scanner::shipped().scan(&text);
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
    assert!(seen >= starter::shipped().len());
}
