//! Another list, built in a copy of the sources.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::project::{Ended, LIST, Project, finish, row};

#[test]
fn everything_but_what_git_ignores_is_copied() {
    let project = Project::new();
    project.write(".gitignore", "/target\n");
    project.write(".config/x", "hidden");
    project.write("target/x", "ignored");
    project.write("other.toml", format!("{LIST}{}", row("third_tool")));
    let there = TempDir::new().unwrap();
    let to = there.path().join("a/b");
    let ended = project.xtask(&["copy", to.to_str().unwrap(), "--list", "other.toml"]);
    assert_eq!(ended.code, 0, "{ended}");
    for (file, is_there) in [
        ("Cargo.toml", true),
        ("src/tools/mod.rs", true),
        (".config/x", true),
        ("target/x", false),
        (".git", false),
    ] {
        assert_eq!(to.join(file).exists(), is_there, "{file}");
    }
    let list = std::fs::read_to_string(to.join(registry::FILE)).unwrap();
    assert!(list.contains("third_tool"));
    assert_eq!(project.list(), LIST);

    let again = project.xtask(&["copy", to.to_str().unwrap()]);
    assert_eq!(again.code, 2, "{again}");
}

/// A copy of this very project, with another list.
fn copy_of_this_project(list: &str) -> TempDir {
    let there = TempDir::new().unwrap();
    let other = there.path().join("other.toml");
    std::fs::write(&other, list).unwrap();
    let copy = there.path().join("copy");
    let ended = finish(
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([Path::new("copy"), &copy, Path::new("--list"), &other]),
    );
    assert_eq!(ended.code, 0, "{ended}");
    there
}

/// Builds the library in the copy; what was built for the last copy is used again.
fn build(copy: &Path) -> Ended {
    finish(
        Command::new(env!("CARGO"))
            .args(["build", "--locked", "--lib", "--no-default-features"])
            .env(
                "CARGO_TARGET_DIR",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/copies"),
            )
            .env("NO_COLOR", "1")
            .env("CARGO_TERM_COLOR", "never")
            .current_dir(copy.join("copy")),
    )
}

fn check(copy: &Path) -> Ended {
    finish(
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("check")
            .env("NO_COLOR", "1")
            .env_remove("CI")
            .env_remove("GITHUB_EVENT_PATH")
            .current_dir(copy.join("copy")),
    )
}

/// What `text` holds between its first `error:` of the list and the next blank line at the left edge.
fn drawing(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("error: ") || line.contains("build command"))
        .take_while(|line| !line.is_empty() && !line.starts_with("warning:"))
        .collect()
}

/// One faulty list, one good one, one whose fault only the compiler can see: the build says what the check says.
#[test]
fn the_build_says_what_the_check_says() {
    let faulty = copy_of_this_project(&LIST.replacen("3.0.21", "3.0", 1));
    let (built, checked) = (build(faulty.path()), check(faulty.path()));
    assert_eq!((built.code, checked.code), (101, 1), "{built}{checked}");
    assert_eq!(
        drawing(&built.stderr),
        drawing(&checked.stderr),
        "{built}{checked}"
    );
    assert_eq!(drawing(&checked.stderr)[1], "--> retired_tools.toml:5:14");

    let good = copy_of_this_project(&format!("{LIST}{}", row("third_tool")));
    let built = build(good.path());
    assert_eq!(built.code, 0, "{built}");

    let dead_end = copy_of_this_project(&LIST.replacen("\"bash\"", "\"bsah\"", 1));
    let (built, checked) = (build(dead_end.path()), check(dead_end.path()));
    assert_eq!((built.code, checked.code), (101, 1), "{built}{checked}");
    let words = "retired_tools.toml:4: the replacements of `python_eval` end on `bsah`, which is not a live tool";
    assert!(built.stderr.contains(words), "{built}");
}
