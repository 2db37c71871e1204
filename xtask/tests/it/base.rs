//! Which version the check compares with, and what may not mislead it.

use crate::project::{LIST, Project, finish, row, snapshot};

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
    let last = project.git(&["rev-parse", "HEAD"]);
    project.append("other_tool");
    project.commit("retire other_tool");
    let ended = project.check_event(&format!(r#"{{"before": "{last}"}}"#));
    assert_eq!(ended.code, 0, "what is older has landed: {ended}");
    snapshot("push_event", &ended);
}

/// What lands one by one is what the history will show for ever.
#[test]
fn a_push_is_checked_commit_by_commit() {
    let (project, _) = dropped();
    let first = project.git(&["rev-parse", "HEAD~2"]);
    for arguments in [
        project.check_event(&format!(r#"{{"before": "{first}"}}"#)),
        project.check_event(&format!(r#"{{"merge_group": {{"base_sha": "{first}"}}}}"#)),
        project.check_event(&pull_request(&first, "HEAD")),
        project.xtask(&["check", "--base", &first]),
        project.xtask(&["check"]),
    ] {
        assert_eq!(arguments.code, 1, "{arguments}");
        let found = "the row of `third_tool` was removed";
        assert!(arguments.stderr.contains(found), "{arguments}");
        assert!(arguments.stderr.contains("1 fault found"), "{arguments}");
    }
}

/// The event of a pull request.
fn pull_request(base: &str, head: &str) -> String {
    format!(r#"{{"pull_request": {{"base": {{"sha": "{base}"}}, "head": {{"sha": "{head}"}}}}}}"#)
}

/// `topic` with a row of its own, of which `main` knows nothing yet, and a row more on `main`.
fn topic_and_main() -> Project {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    project.commit("retire main_tool");
    project
}

/// Merges a branch into the one that is checked out, with these rows.
fn merge(project: &Project, branch: &str, rows: &str) -> String {
    project.try_git(&["merge", "--no-ff", "--no-commit", branch]);
    project.write(registry::FILE, format!("{LIST}{rows}"));
    project.commit("merge")
}

/// CI checks a trial merge out; what the branch did is on the second parent's side.
#[test]
fn a_pull_request_is_checked_commit_by_commit() {
    let both = row("main_tool") + &row("topic_tool");
    for (with_main, loses) in [(false, false), (true, false), (false, true), (true, true)] {
        let project = topic_and_main();
        project.git(&["checkout", "--quiet", "topic"]);
        let mut rows = row("topic_tool");
        if with_main {
            merge(&project, "main", &both);
            rows = both.clone();
        }
        if loses {
            project.edit(|list| list.replace("react_preview", "react_viewer"));
            project.commit("lose a row");
            project.write(registry::FILE, format!("{LIST}{rows}"));
            project.commit("find it again");
        }
        let head = project.git(&["rev-parse", "topic"]);
        let base = project.git(&["rev-parse", "main"]);
        let expected = i32::from(loses);
        let ended = project.check_event(&pull_request(&base, &head));
        assert_eq!(ended.code, expected, "the branch itself: {ended}");
        project.git(&["checkout", "--quiet", "main"]);
        merge(&project, "topic", &both);
        let ended = project.check_event(&pull_request(&base, &head));
        assert_eq!(ended.code, expected, "a trial merge: {ended}");
        let what = "the row of `react_preview` was renamed to `react_viewer`";
        assert_eq!(ended.stderr.contains(what), loses, "{ended}");
        // Another branch landed meanwhile: the trial merge is of a later `main` than the event names.
        let first = project.git(&["rev-parse", "main~2"]);
        let ended = project.check_event(&pull_request(&first, &head));
        assert_eq!(ended.code, expected, "a later base: {ended}");
        let ended = project.check_event(&format!(r#"{{"merge_group": {{"base_sha": "{base}"}}}}"#));
        assert_eq!(ended.code, 0, "a queue lands the merge alone: {ended}");
        let ended = project.check_event(&format!(r#"{{"before": "{base}"}}"#));
        assert_eq!(ended.code, 0, "and so did a push: {ended}");
    }
}

/// `main` was merged into a branch and then set to it, so that its own commits are on the second parent's side.
#[test]
fn a_push_of_a_branch_that_merged_main_is_not_blamed_for_what_it_had_not_seen() {
    let project = topic_and_main();
    let before = project.git(&["rev-parse", "main"]);
    project.git(&["checkout", "--quiet", "topic"]);
    merge(&project, "main", &(row("topic_tool") + &row("main_tool")));
    project.git(&["checkout", "--quiet", "-B", "main"]);
    for ended in [
        project.check_event(&format!(r#"{{"before": "{before}"}}"#)),
        project.xtask(&["check", "--base", &before]),
        project.xtask(&["check"]),
    ] {
        assert_eq!(ended.code, 0, "{ended}");
    }
}

/// A row that has not landed may be corrected in the commit that brings it, as a hook with `--base` sees it.
#[test]
fn a_row_that_has_not_landed_can_be_corrected_by_amending() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("third_toll");
    project.commit("retire third_toll");
    project.edit(|list| list.replace("third_toll", "third_tool"));
    let ended = project.xtask(&["check", "--base", "main"]);
    assert_eq!(ended.code, 0, "before: {ended}");
    project.git(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    let ended = project.xtask(&["check", "--base", "main"]);
    assert_eq!(ended.code, 0, "after: {ended}");
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

/// That the base has no list does not mean that it is the first.
#[test]
fn a_base_without_the_list_in_a_shallow_clone_says_what_to_fetch() {
    let project = Project::new();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.commit("lose the list");
    let clone = project.shallow_clone();
    clone.write(
        registry::FILE,
        LIST.replace("react_preview", "react_viewer"),
    );
    let ended = clone.xtask(&["check", "--base", "HEAD"]);
    assert_eq!(ended.code, 2, "{ended}");
    let fetch = "hint: git fetch --unshallow --no-tags origin";
    assert!(ended.stderr.contains(fetch), "{ended}");
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
        .env("GIT_PREFIX", "src/")
        .env("GIT_LITERAL_PATHSPECS", "1");
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
    for option in [
        "--no-pager",
        "--literal-pathspecs",
        "--glob-pathspecs",
        "--noglob-pathspecs",
        "--icase-pathspecs",
        "--no-optional-locks",
    ] {
        let ended = project.try_git(&[option, "commit", "--quiet", "-a", "-m", "a row less"]);
        assert_eq!(ended.code, 1, "{option}: {ended}");
        assert!(
            ended.stderr.contains("the row of `third_tool` was removed"),
            "{option}: {ended}"
        );
    }
}

/// Where git cannot tell, the check must not pass.
#[test]
fn a_damaged_repository_is_an_error() {
    for (damaged, base) in [
        ("HEAD", None),
        ("HEAD^{tree}", None),
        ("HEAD~1^{tree}", None),
        ("HEAD~1^{tree}", Some("HEAD~1")),
        ("HEAD~1:retired_tools.toml", None),
        ("HEAD~1:retired_tools.toml", Some("HEAD~1")),
    ] {
        let (project, _) = dropped();
        let object = project.git(&["rev-parse", damaged]);
        let (directory, file) = object.split_at(2);
        std::fs::remove_file(project.path(&format!(".git/objects/{directory}/{file}"))).unwrap();
        let mut arguments = vec!["check"];
        arguments.extend(base.map(|base| ["--base", base]).into_iter().flatten());
        for ci in ["", "true"] {
            let ended = finish(project.command(&arguments).env("CI", ci));
            assert_eq!(ended.code, 2, "{damaged} {base:?}: {ended}");
            assert!(ended.stdout.is_empty(), "{ended}");
        }
    }
}

/// A clone that fetches what it lacks when it is asked for, and cannot.
#[test]
fn a_partial_clone_without_its_origin_is_an_error() {
    let (project, _) = dropped();
    project.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = project.clone_with(&["--filter=tree:0"]);
    let ended = clone.xtask(&["check"]);
    assert_eq!(ended.code, 1, "it fetches what it needs: {ended}");
    let clone = project.clone_with(&["--filter=tree:0"]);
    drop(project);
    for arguments in [&["check"][..], &["check", "--base", "HEAD~1"]] {
        let ended = clone.xtask(arguments);
        assert_eq!(ended.code, 2, "{ended}");
    }
}

#[test]
fn ci_needs_a_commit() {
    let project = Project::without_git();
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
    let ended = finish(project.command(&["check"]).env("CI", "true"));
    assert_eq!(ended.code, 2, "{ended}");
}

/// With `log.showSignature` git prints what it thinks of each signature among the commits of its log.
#[test]
fn signed_commits_do_not_mislead() {
    let project = Project::new();
    let gpg = "#!/bin/sh
case \"$*\" in
*--verify*) echo '[GNUPG:] GOODSIG 0 A Maintainer'; echo 'gpg: Good signature' >&2 ;;
*)
    cat >/dev/null
    echo '[GNUPG:] SIG_CREATED ' >&2
    printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n' ;;
esac
";
    project.write(".git/gpg", gpg);
    make_executable(&project.path(".git/gpg"));
    let program = project.path(".git/gpg").display().to_string();
    for (key, value) in [
        ("gpg.program", program.as_str()),
        ("commit.gpgSign", "true"),
        ("log.showSignature", "true"),
    ] {
        project.git(&["config", key, value]);
    }
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    project.commit("retire main_tool");
    merge(&project, "topic", &(row("main_tool") + &row("topic_tool")));
    assert!(project.git(&["log"]).contains("Good signature"));
    for arguments in [&["check"][..], &["check", "--base", "HEAD~1"]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 0, "{ended}");
    }
}

/// What the hint says is run to the letter until there is none, and then the check has its base.
#[test]
fn what_a_missing_base_says_to_fetch_is_enough() {
    let origin = topic_and_main();
    for depth in [&["--depth=1"][..], &["--single-branch"]] {
        for asked in ["main", "origin/main"] {
            let options = [depth, &["--branch=topic"]].concat();
            let clone = origin.clone_with(&options);
            let ended = clone.xtask(&["check", "--base", asked]);
            assert_eq!(ended.code, 2, "{ended}");
            let hints: Vec<&str> = ended
                .stderr
                .lines()
                .filter_map(|line| line.strip_prefix("hint: "))
                .collect();
            let fetch: Vec<&str> = hints[0].split(' ').collect();
            assert_eq!(fetch[0], "git", "{ended}");
            clone.git(&fetch[1..]);
            let check = match hints.get(1) {
                Some(again) => again.strip_prefix("cargo xtask ").unwrap(),
                None => "check --base origin/main",
            };
            let ended = clone.xtask(&check.split(' ').collect::<Vec<_>>());
            assert_eq!(ended.code, 0, "{depth:?} {asked}: {ended}");
        }
    }
}

#[test]
fn what_cannot_be_fetched_has_no_fetch_hint() {
    let clone = Project::new().clone_with(&[]);
    for asked in ["", "../ff", "^HEAD", "no such", "HEAD~9", "a..b"] {
        let ended = clone.xtask(&["check", "--base", asked]);
        assert_eq!(ended.code, 2, "{ended}");
        assert!(!ended.stderr.contains("git fetch"), "{ended}");
        assert!(ended.stderr.contains("hint: name a commit"), "{ended}");
    }
}

/// A replaced commit (`git replace`) shows another history than the one that was pushed.
#[test]
fn replaced_commits_do_not_mislead() {
    let (project, before) = dropped();
    project.git(&["replace", &before, "HEAD"]);
    let ended = project.xtask(&["check", "--base", &before]);
    assert_eq!(ended.code, 1, "{ended}");
}

/// An older way to the same: the last commit is said to have no parent.
#[test]
fn grafted_commits_do_not_mislead() {
    let (project, before) = dropped();
    let last = project.git(&["rev-parse", "HEAD"]);
    let expected = project.xtask(&["check"]);
    project.write(".git/info/grafts", last);
    for arguments in [&["check"][..], &["check", "--base", &before]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 1, "{ended}");
    }
    assert_eq!(project.xtask(&["check"]).stderr, expected.stderr);
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
