//! `.ci/run` and the pre-commit hook of `CONTRIBUTING.md`, in projects of the tests' own. Their cargo writes down what it
//! is asked for, and runs the chores alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::project::{Ended, LIST, Project, finish};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run");

const CARGO: &str = r#"#!/bin/sh
echo "$*" >>.git/asked
case "$1" in
xtask) shift; exec "$XTASK" "$@" ;;
run) exit 1 ;;
esac
"#;

/// `CONTRIBUTING.md`, which has one block of commands with the hook in it.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../CONTRIBUTING.md");

/// Writes a program into the project.
fn program(project: &Project, path: &str, text: &str) {
    project.write(path, text);
    project.chmod(path, 0o755);
}

/// A process in the project, with the tests' own cargo.
fn with_cargo(project: &Project, of: &str) -> Command {
    program(project, ".git/bin/cargo", CARGO);
    let path = std::env::var("PATH").unwrap();
    let mut command = project.in_project(of);
    command
        .env(
            "PATH",
            format!("{}:{path}", project.path(".git/bin").display()),
        )
        .env("XTASK", env!("CARGO_BIN_EXE_xtask"));
    command
}

/// Runs `.ci/run` and returns how it ended and what its cargo was asked for.
fn ci(project: &Project, event: Option<&str>, arguments: &[&str]) -> (Ended, Vec<String>) {
    program(project, ".ci/run", &fs::read_to_string(SCRIPT).unwrap());
    program(project, "scripts/check-api", "#!/bin/sh\n");
    for tool in ["strace", "chromedriver", "python3"] {
        program(project, &format!(".git/bin/{tool}"), "#!/bin/sh\n");
    }
    let mut command = with_cargo(project, "bash");
    command.arg(".ci/run").args(arguments);
    if let Some(event) = event {
        project.write(".git/event.json", event);
        command
            .env("CI", "true")
            .env("GITHUB_EVENT_PATH", project.path(".git/event.json"));
    }
    let ended = finish(&mut command);
    let asked = fs::read_to_string(project.path(".git/asked")).unwrap_or_default();
    (ended, asked.lines().map(str::to_owned).collect())
}

#[test]
fn the_list_is_checked_before_anything_is_built_with_it() {
    let project = Project::new();
    project.edit(|list| list.replace("\nretired_in", "\nreplaced_in"));
    let (ended, asked) = ci(&project, None, &[]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended.stderr.contains("unknown field `replaced_in`"),
        "{ended}"
    );
    assert_eq!(asked, ["xtask check"]);
}

#[test]
fn the_arguments_are_the_checks() {
    let project = Project::new();
    let (ended, asked) = ci(&project, None, &["--base", "main"]);
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(asked[0], "xtask check --base main");
    assert!(asked.len() > 5, "and all else: {asked:?}");
    assert!(ended.stdout.contains("(`--base main`)"), "{ended}");
}

/// After a forced push no clone has the commit that it replaced.
#[test]
fn what_a_forced_push_replaced_is_fetched() {
    let origin = Project::new();
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    origin.append("foo_tool");
    let replaced = origin.commit("retire foo_tool");
    origin.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    origin.write("README.md", "forced");
    origin.commit("something else");
    let event = format!("{{\n  \"before\": \"{replaced}\"\n}}");

    let clone = origin.clone_with(&[]);
    assert_ne!(clone.try_git(&["cat-file", "-e", &replaced]).code, 0);
    let (ended, _) = ci(&clone, Some(&event), &[]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended.stderr.contains("the row of `foo_tool` was removed"),
        "{ended}"
    );
    assert_eq!(clone.list(), LIST);
}

/// Where it cannot be fetched the check says so, and a branch that is new replaced nothing.
#[test]
fn what_cannot_be_fetched_is_for_the_check_to_say() {
    let clone = Project::new().clone_with(&[]);
    let (ended, asked) = ci(
        &clone,
        Some(&format!(r#"{{"before":"{}"}}"#, "1".repeat(40))),
        &[],
    );
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains("is not in this clone"), "{ended}");
    assert_eq!(asked, ["xtask check"]);

    let (ended, _) = ci(
        &clone,
        Some(&format!(r#"{{"before":"{}"}}"#, "0".repeat(40))),
        &[],
    );
    assert_eq!(ended.code, 0, "{ended}");
    assert!(!ended.stderr.contains("fatal"), "{ended}");
}

#[test]
fn what_cannot_be_installed_is_named() {
    let project = Project::new();
    project.write(".ci/run", fs::read(SCRIPT).unwrap());
    let path = std::env::var("PATH").unwrap();
    let find = |tool: &str| {
        let mut places = path.split(':').map(|place| Path::new(place).join(tool));
        places.find(|place| place.exists()).unwrap()
    };
    fs::create_dir(project.path(".git/bin")).unwrap();
    for tool in ["bash", "git", "dirname", "id", "env"] {
        let link = project.path(&format!(".git/bin/{tool}"));
        std::os::unix::fs::symlink(find(tool), link).unwrap();
    }
    let mut command = project.in_project(find("bash"));
    let ended = finish(command.arg(".ci/run").env("PATH", project.path(".git/bin")));
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended
            .stdout
            .ends_with("in Debian's names: strace chromium chromium-driver python3 python3-venv\n"),
        "{ended}"
    );
}

/// Runs the commands that `CONTRIBUTING.md` has for the hook, and returns what they say.
fn install_hook(project: &Project) -> String {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let mut blocks = document.split("```sh\n").skip(1);
    let block = blocks.find(|block| block.contains("pre-commit")).unwrap();
    let (commands, _) = block.split_once("```").unwrap();
    let ended = finish(project.in_project("sh").args(["-c", commands]));
    assert_eq!(ended.code, 0, "{ended}");
    ended.stdout
}

#[test]
fn the_hook_refuses_what_has_landed_to_be_changed_and_nothing_else() {
    let clone = Project::new().clone_with(&[]);
    fs::create_dir_all(clone.path(".git/hooks")).unwrap();
    assert_eq!(install_hook(&clone), "");
    let commit = |options: &[&str]| {
        let git = ["commit", "--quiet", "--all", "--message=x"];
        finish(with_cargo(&clone, "git").args(git).args(options))
    };
    clone.append("foo_toll");
    assert_eq!(commit(&[]).code, 0);
    clone.edit(|list| list.replace("foo_toll", "foo_tool"));
    let ended = commit(&["--amend"]);
    assert_eq!(ended.code, 0, "a slip: {ended}");
    clone.edit(|list| list.replace("python_eval", "python_evil"));
    let ended = commit(&["--amend"]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended.stderr.contains("was renamed to `python_evil`"),
        "{ended}"
    );
}

/// A hook that is there, and a directory of hooks for many repositories, are their owner's.
#[test]
fn somebody_elses_hook_is_left_alone() {
    let project = Project::new();
    program(&project, ".git/hooks/pre-commit", "#!/bin/sh\n");
    let told = install_hook(&project);
    assert!(told.contains(".git/hooks/pre-commit is not"), "{told}");
    assert!(
        told.contains("`cargo xtask check --base origin/main`"),
        "{told}"
    );
    let hook = fs::read_to_string(project.path(".git/hooks/pre-commit")).unwrap();
    assert_eq!(hook, "#!/bin/sh\n");

    let project = Project::new();
    fs::create_dir(project.path("shared")).unwrap();
    let shared = project.path("shared").display().to_string();
    project.git(&["config", "--global", "core.hooksPath", &shared]);
    assert!(install_hook(&project).contains("/shared/pre-commit is not"));
    assert_eq!(fs::read_dir(project.path("shared")).unwrap().count(), 0);
}
