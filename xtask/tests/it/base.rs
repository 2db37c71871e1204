//! Which version the check compares with, and what may not mislead it.

use crate::project::{LIST, Project, finish, snapshot};

/// A history in which the last commit dropped a row, and the hash of the commit that had it.
fn dropped() -> (Project, String) {
    let project = Project::new();
    project.append("third_tool");
    let before = project.commit("retire third_tool");
    project.write(registry::FILE, LIST);
    project.commit("drop it");
    (project, before)
}

#[test]
fn a_ci_event_names_the_base() {
    let (project, before) = dropped();
    for event in [
        format!(r#"{{"merge_group": {{"base_sha": "{before}"}}}}"#),
        format!(r#"{{"pull_request": {{"base": {{"sha": "{before}"}}}}}}"#),
        format!(r#"{{"before": "{before}"}}"#),
    ] {
        let ended = project.check_event(&event);
        assert_eq!(ended.code, 1, "{event}: {ended}");
        assert!(
            ended.stderr.contains("the row of `third_tool` was removed"),
            "{ended}"
        );
    }
    // The same events pass where the base is older than the row, although the history would not.
    let first = project.git(&["rev-parse", "HEAD~2"]);
    let ended = project.check_event(&format!(r#"{{"before": "{first}"}}"#));
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("push_event", &ended);
}

#[test]
fn an_event_without_a_base_leaves_it_to_the_history() {
    let (project, _) = dropped();
    let zeros = "0".repeat(40);
    for event in ["{}".to_owned(), format!(r#"{{"before": "{zeros}"}}"#)] {
        let ended = project.check_event(&event);
        assert_eq!(ended.code, 1, "{event}: {ended}");
    }
}

#[test]
fn what_was_asked_for_comes_before_the_event() {
    let (project, before) = dropped();
    let event = project.path("event.json");
    std::fs::write(&event, format!(r#"{{"before": "{before}"}}"#)).unwrap();
    let mut command = project.command(&["check", "--base", "HEAD"]);
    let ended = finish(command.env("CI", "true").env("GITHUB_EVENT_PATH", event));
    assert_eq!(ended.code, 0, "{ended}");
}

#[test]
fn an_event_that_cannot_be_read_or_names_no_commit_here_is_an_error() {
    let project = Project::new();
    let ended = project.check_event("{");
    assert_eq!(ended.code, 2, "{ended}");
    let ended = project.check_event(&format!(r#"{{"before": "{}"}}"#, "1".repeat(40)));
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("event_base_missing", &ended);
}

/// A forced push must not lose what had landed, although the two histories parted before it.
#[test]
fn a_forced_push_is_compared_with_what_it_replaced() {
    let project = Project::new();
    project.append("landed_tool");
    let landed = project.commit("retire landed_tool");
    project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    project.append("other_tool");
    project.commit("retire other_tool");
    let ended = project.check_event(&format!(r#"{{"before": "{landed}"}}"#));
    assert_eq!(ended.code, 1, "{ended}");
}

#[test]
fn a_stale_branch_is_compared_with_the_merge_base() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    let main = project.commit("retire main_tool");
    project.git(&["checkout", "--quiet", "topic"]);
    let ended = project.xtask(&["check", "--base", "main"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("stale_branch", &ended);
    let ended = project.check_event(&format!(
        r#"{{"pull_request": {{"base": {{"sha": "{main}"}}}}}}"#
    ));
    assert_eq!(ended.code, 0, "{ended}");
}

#[test]
fn histories_with_nothing_in_common_are_an_error() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "--orphan", "other"]);
    project.commit("unrelated");
    let ended = project.xtask(&["check", "--base", "main"]);
    assert_eq!(ended.code, 2, "{ended}");
}

#[test]
fn a_file_can_be_the_base() {
    let project = Project::new();
    project.write("old.toml", LIST);
    project.append("third_tool");
    let ended = project.xtask(&["check", "--base", "old.toml"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("base_file", &ended);
    project.edit(|list| list.replace("react_preview", "react_viewer"));
    let ended = project.xtask(&["check", "--base", "old.toml"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("base_file_renamed", &ended);
}

#[test]
fn a_base_that_cannot_be_read_is_an_error() {
    let project = Project::new();
    project.write("old.toml", "[[retired]]\nname = 1\n");
    let ended = project.xtask(&["check", "--base", "old.toml"]);
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("base_unreadable", &ended);
}

/// A broken list that has landed must not keep its repair from landing, nor let a row slip away.
#[test]
fn a_base_whose_list_is_broken_is_compared_with_the_version_before_it() {
    let project = Project::new();
    project.append("third_tool");
    project.commit("retire third_tool");
    let repaired = project.list();
    project.write(registry::FILE, "[[retired]]\nname = 1\n");
    let broken = project.commit("break the list");
    project.write(registry::FILE, repaired);
    let ended = project.xtask(&["check", "--base", &broken]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("base_broken", &ended);
    project.write(registry::FILE, LIST);
    let ended = project.xtask(&["check", "--base", &broken]);
    assert_eq!(ended.code, 1, "{ended}");
}

#[test]
fn a_list_in_the_history_that_cannot_be_read_is_passed_over() {
    let (project, _) = dropped();
    project.write(registry::FILE, "[[retired]]\nname = 1\n");
    project.commit("break the list");
    project.write(registry::FILE, LIST);
    project.commit("mend it");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "the dropped row still counts: {ended}");
    assert!(
        ended
            .stderr
            .contains("cannot be read; the version before it counts"),
        "{ended}"
    );
}

#[test]
fn a_shallow_clone_in_ci_says_what_to_fetch() {
    let (project, before) = dropped();
    let clone = project.shallow_clone();
    let ended = finish(clone.command(&["check"]).env("CI", "true"));
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("shallow_in_ci", &ended);
    let ended = clone.check_event(&format!(r#"{{"before": "{before}"}}"#));
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("shallow_in_ci_with_event", &ended);
    // What it says to do is enough.
    clone.git(&["fetch", "--unshallow", "--no-tags", "--quiet", "origin"]);
    let ended = clone.check_event(&format!(r#"{{"before": "{before}"}}"#));
    assert_eq!(ended.code, 1, "{ended}");
}

#[test]
fn a_shallow_clone_elsewhere_is_a_warning_and_the_rest_is_checked() {
    let clone = Project::new().shallow_clone_of_two();
    let ended = clone.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("shallow_elsewhere", &ended);
    clone.edit(|list| list.replace("react_preview", "react_viewer"));
    let ended = clone.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
}

#[test]
fn without_a_repository_the_rest_is_checked() {
    let project = Project::without_git();
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("without_git", &ended);
    let ended = finish(project.command(&["check"]).env("CI", "true"));
    assert_eq!(ended.code, 2, "{ended}");
    project.edit(|list| list.replace("\"bash\"", "\"bsah\""));
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
}

/// What git sets for a hook leads to the repository of the hook; the check is about the project's own.
#[test]
fn the_variables_of_a_hook_do_not_mislead() {
    let (project, _) = dropped();
    let other = Project::new();
    let mut command = project.command(&["check"]);
    command
        .env("GIT_DIR", other.path(".git"))
        .env("GIT_WORK_TREE", other.path(""))
        .env("GIT_INDEX_FILE", other.path(".git/index"))
        .env("GIT_PREFIX", "src/");
    let misled = finish(&mut command);
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    assert_eq!(misled.to_string(), ended.to_string());
}

/// The documented hook line, in a real hook, with the variables that git sets for one.
#[test]
fn a_pre_commit_hook_refuses_the_commit() {
    let project = Project::new();
    let hook = format!("#!/bin/sh\nexec '{}' check\n", env!("CARGO_BIN_EXE_xtask"));
    project.write(".git/hooks/pre-commit", hook);
    make_executable(&project.path(".git/hooks/pre-commit"));
    project.append("third_tool");
    project.commit("a row more");
    project.write(registry::FILE, LIST);
    let ended = project.try_git(&["commit", "--quiet", "--all", "--message", "a row less"]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(
        ended.stderr.contains("the row of `third_tool` was removed"),
        "{ended}"
    );
}

/// A replaced commit (`git replace`) shows another history than the one that was pushed.
#[test]
fn replaced_commits_do_not_mislead() {
    let (project, before) = dropped();
    project.git(&["replace", &before, "HEAD"]);
    let ended = project.xtask(&["check", "--base", &before]);
    assert_eq!(ended.code, 1, "{ended}");
}

#[test]
fn it_runs_in_any_directory_of_the_project_and_of_a_larger_repository() {
    let project = Project::new();
    let mut command = project.command(&["check"]);
    assert_eq!(
        finish(command.current_dir(project.path("src/tools"))).code,
        0
    );

    let outer = Project::without_git();
    std::fs::remove_file(outer.path("Cargo.toml")).unwrap();
    for file in ["Cargo.toml", "src/tools/mod.rs", registry::FILE] {
        let text = std::fs::read(project.path(file)).unwrap();
        outer.write(&format!("inner/{file}"), text);
    }
    outer.git(&["init", "--quiet"]);
    outer.commit("all");
    let list = LIST.replace("react_preview", "react_viewer");
    outer.write(&format!("inner/{}", registry::FILE), list);
    let mut command = outer.command(&["check"]);
    let ended = finish(command.current_dir(outer.path("inner/src")));
    assert_eq!(ended.code, 1, "{ended}");
}

#[cfg(unix)]
fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Project {
    /// A shallow clone of this project after another commit.
    fn shallow_clone_of_two(self) -> Project {
        self.commit("a second commit");
        self.shallow_clone()
    }
}
