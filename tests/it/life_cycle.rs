//! The whole life of a retirement, with two real builds of vak: the one under test, and a copy of its sources
//! one release later, in which the live tool `glob` has become `list_files`.

use crate::sandbox::{Run, Sandbox};
use crate::tree::Tree;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CONFIG: &str = "[plugins]\nnetwork_allow = [\n    \"file-finder\", # looks up licences\n]\n";

const SKILL: &str = "---
name: file-finder
description: Find files in the workspace by their names.
---

# Find files

Call `glob` with a pattern such as `**/*.rs`, then `read` what it finds.
";

/// The version of the build under test.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The next release's.
fn next_version() -> String {
    let mut version = semver::Version::parse(VERSION).unwrap();
    version.minor += 1;
    version.to_string()
}

/// The sources of the next release: one row more, and everything that named the tool brought up to date.
fn next_release(directory: &Path) {
    xtask(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["copy", directory.to_str().unwrap()],
    );
    edit(
        &directory.join("Cargo.toml"),
        &format!("version = \"{VERSION}\""),
        &format!("version = \"{}\"", next_version()),
    );
    // Its binary gets a name of its own, so that it does not take the place of the one under test.
    edit(
        &directory.join("Cargo.toml"),
        "name = \"vak\"\npath",
        "name = \"vak-next\"\npath",
    );
    edit(
        &directory.join("Cargo.toml"),
        "default-run = \"vak\"",
        "default-run = \"vak-next\"",
    );
    edit(
        &directory.join("src/tools/glob.rs"),
        "name: \"glob\"",
        "name: \"list_files\"",
    );
    for skill in ["explore-codebase", "summarize-documents"] {
        let path = directory
            .join("starter/skills")
            .join(skill)
            .join("SKILL.md");
        edit(&path, "`glob`", "`list_files`");
    }
    xtask(
        directory,
        &[
            "retire",
            "glob",
            &next_version(),
            "list_files",
            "--hint",
            "the arguments are the same",
        ],
    );
}

fn xtask(project: &Path, args: &[&str]) {
    let mut cargo = cargo(project);
    cargo
        .args(["run", "--quiet", "--offline", "--package", "xtask", "--"])
        .args(args);
    run(&mut cargo);
}

/// Cargo in another copy of the project, sharing what is built of the dependencies.
fn cargo(project: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target_directory());
    // Set for this test by the cargo that runs it; they describe this package, not that one.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

fn target_directory() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_vak"));
    binary.ancestors().nth(2).unwrap().to_owned()
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[track_caller]
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{} has no `{from}`", path.display());
    fs::write(path, text.replace(from, to)).unwrap();
}

fn build(project: &Path) -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_vak")).parent().unwrap();
    let mut cargo = cargo(project);
    cargo.args(["build", "--quiet", "--offline", "--bin", "vak-next"]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    run(&mut cargo);
    profile.join("vak-next")
}

/// What of a home must be as it was: everything but the registry's record of what happened, and the
/// starter skills, which are the binary's to renew.
fn lasting(sandbox: &Sandbox) -> Tree {
    sandbox.tree().without(&[
        "download",
        "home/.vak/plugins/registry.json",
        "home/.vak/seed.json",
        "home/.vak/skills",
    ])
}

fn entry(sandbox: &Sandbox) -> Value {
    let path = sandbox.shared().join("plugins/registry.json");
    let registry: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    registry["plugins"]["file-finder"].clone()
}

#[test]
fn a_tool_is_retired_by_an_update_and_all_of_it_can_be_undone() {
    let sources = tempfile::tempdir().unwrap();
    next_release(&sources.path().join("next"));
    let next = build(&sources.path().join("next"));
    let next_version = next_version();

    let sandbox = Sandbox::new();
    let program = sandbox.path().join("bin/vak");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_vak"), &program).unwrap();
    let vak = |args: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(args)
            .current_dir(sandbox.work())
            .env("VAK_HOME", sandbox.home())
            .env("HOME", sandbox.path());
        Run::from(command.output().unwrap())
    };

    // A home of the first vak, with a plugin that is healthy to it.
    vak(&["setup", "seed"]).expect(0);
    sandbox.write(
        "plugin/vak-plugin.json",
        r#"{"name": "file-finder", "version": "1.0.0"}"#,
    );
    let plugin = sandbox.write("plugin/skills/file-finder/SKILL.md", SKILL);
    let package = plugin.ancestors().nth(3).unwrap().to_str().unwrap();
    vak(&["plugins", "install", package]).expect(0);
    vak(&["plugins", "enable", "file-finder"]).expect(0);
    sandbox.write("home/.vak/config.toml", CONFIG);
    let doctor = vak(&["doctor"]).expect(0);
    assert!(!doctor.stdout.contains('⚠'), "{}", doctor.stdout);
    assert!(vak(&["skills", "prompt"]).stdout.contains("file-finder"));
    let before = lasting(&sandbox);
    let entry_before = entry(&sandbox);

    // The update. The new binary alone knows that `glob` is gone, and cleans up.
    let offered = sandbox.write("download/vak", fs::read(next).unwrap());
    let digest = Sha256::digest(fs::read(&offered).unwrap());
    let sum: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    sandbox.write("download/SHA256SUMS", format!("{sum}  vak\n"));
    let download = offered.parent().unwrap().to_str().unwrap();
    let update = vak(&["self", "update", "--from", download]).expect(0);
    assert!(
        update
            .stdout
            .contains(&format!("vak {VERSION} → {next_version}")),
        "{}",
        update.stdout
    );
    assert!(
        update
            .stdout
            .contains(&format!("calls `glob`, retired in {next_version}")),
        "{}",
        update.stdout
    );
    let version = vak(&["--version"]).expect(0).stdout;
    assert!(
        version.starts_with(&format!("vak {next_version} ")),
        "{version}"
    );
    assert_eq!(entry(&sandbox), Value::Null);
    let config = fs::read_to_string(sandbox.shared().join("config.toml")).unwrap();
    assert!(!config.contains("\"file-finder\""), "{config}");
    assert!(config.contains("# looks up licences"), "{config}");
    assert!(!vak(&["skills", "prompt"]).stdout.contains("file-finder"));
    let doctor = vak(&["doctor"]).expect(0);
    assert!(!doctor.stdout.contains('⚠'), "{}", doctor.stdout);
    let resolved = vak(&["tools", "resolve", "glob"]).expect(0).stdout;
    assert!(resolved.contains("list_files"), "{resolved}");

    // And back.
    vak(&["plugins", "restore", "file-finder"]).expect(0);
    assert_eq!(entry(&sandbox), entry_before);
    vak(&["self", "rollback"]).expect(0);
    assert_eq!(lasting(&sandbox), before);
    vak(&["doctor"]).expect(0);
    // The starter skills that the newer vak brought are the older one's to renew.
    vak(&["services-sync"]).expect(0);
    assert_eq!(lasting(&sandbox), before);
    assert!(vak(&["skills", "prompt"]).stdout.contains("file-finder"));
}
