//! The check fails for each way to break the list, and for none of the ways to keep it.

use crate::project::{LIST, Project, finish, row, snapshot};

/// Breaks the list in the work tree: the check must fail at once, after the commit (by the history), and with
/// the earlier commit as base; and it must say the same every time but for the place.
fn check_fails(name: &str, deed: impl Fn(&Project)) {
    let project = Project::new();
    let first = project.git(&["rev-parse", "HEAD"]);
    deed(&project);

    let uncommitted = project.xtask(&["check"]);
    assert_eq!(uncommitted.code, 1, "{uncommitted}");
    snapshot(name, &uncommitted);

    project.commit("the deed");
    let committed = project.xtask(&["check"]);
    assert_eq!(committed.code, 1, "by the history: {committed}");

    let with_base = project.xtask(&["check", "--base", &first]);
    assert_eq!(with_base.code, 1, "with a base: {with_base}");
    assert_eq!(with_base.stderr, uncommitted.stderr);

    let pushed = project.check_event(&format!(r#"{{"before": "{first}"}}"#));
    assert_eq!(pushed.code, 1, "by a push: {pushed}");
}

/// Changes the project in a way that keeps every row.
fn check_passes(name: &str, deed: impl Fn(&Project)) {
    let project = Project::new();
    let first = project.git(&["rev-parse", "HEAD"]);
    deed(&project);
    let uncommitted = project.xtask(&["check"]);
    assert_eq!(uncommitted.code, 0, "{uncommitted}");
    snapshot(name, &uncommitted);

    project.commit("the deed");
    for arguments in [&["check"][..], &["check", "--base", &first]] {
        let committed = project.xtask(arguments);
        assert_eq!(committed.code, 0, "{arguments:?}: {committed}");
    }
}

/// The two rows of the list, apart.
fn halves(list: &str) -> (&str, &str, &str) {
    let first = list.find("[[retired]]").unwrap();
    let second = list.rfind("[[retired]]").unwrap();
    (&list[..first], &list[first..second], &list[second..])
}

#[test]
fn a_row_is_deleted() {
    check_fails("row_deleted", |project| {
        project.edit(|list| {
            let (head, _, second) = halves(list);
            format!("{head}{second}")
        });
    });
}

#[test]
fn a_row_is_deleted_where_another_is_added() {
    check_fails("row_deleted_and_added", |project| {
        project.edit(|list| {
            let (head, first, _) = halves(list);
            format!(
                "{head}{first}{}hint = \"it's gone\"\n",
                row("other_tool").trim_start()
            )
        });
    });
}

/// As with an editor that takes the row's own lines and leaves its header.
#[test]
fn a_row_is_deleted_but_for_its_header() {
    check_fails("row_deleted_but_header", |project| {
        project.edit(|list| {
            let (head, _, second) = halves(list);
            format!("{head}[[retired]]\n\n{second}")
        });
    });
}

/// A row that is there with a fault is not reported as removed as well.
#[test]
fn a_row_is_damaged() {
    check_fails("row_damaged", |project| {
        project.edit(|list| list.replacen("3.0.21", "3.0", 1));
    });
}

#[test]
fn a_row_is_renamed() {
    check_fails("row_renamed", |project| {
        project.edit(|list| list.replace("react_preview", "react_viewer"));
    });
}

#[test]
fn a_row_is_renamed_in_its_letter_case_alone() {
    check_fails("row_renamed_case", |project| {
        project.edit(|list| list.replace("react_preview", "React_Preview"));
    });
}

#[test]
fn a_rows_replacement_is_changed() {
    check_fails("row_replaced", |project| {
        project.edit(|list| list.replacen("\"bash\"", "\"read\"", 1));
    });
}

#[test]
fn a_rows_version_is_edited() {
    check_fails("version_edited", |project| {
        project.edit(|list| list.replacen("3.0.21", "3.0.22", 1));
    });
}

#[test]
fn rows_are_swapped() {
    check_fails("rows_swapped", |project| {
        project.edit(|list| {
            let (head, first, second) = halves(list);
            format!("{head}{second}\n{first}")
        });
    });
}

#[test]
fn a_row_is_commented_out() {
    check_fails("row_commented_out", |project| {
        project.edit(|list| {
            let (head, first, second) = halves(list);
            let first: String = first
                .trim_end()
                .lines()
                .map(|line| format!("# {line}\n"))
                .collect();
            format!("{head}{first}\n{second}")
        });
    });
}

#[test]
fn the_list_is_deleted() {
    check_fails("list_deleted", |project| {
        std::fs::remove_file(project.path(registry::FILE)).unwrap();
    });
}

#[test]
fn the_list_is_moved() {
    check_fails("list_moved", |project| {
        std::fs::create_dir(project.path("data")).unwrap();
        std::fs::rename(
            project.path(registry::FILE),
            project.path("data/retired.toml"),
        )
        .unwrap();
    });
}

#[test]
fn the_base_is_missing() {
    let project = Project::new();
    let ended = project.xtask(&["check", "--base", "no-such-branch"]);
    assert_eq!(ended.code, 2);
    snapshot("base_missing", &ended);
}

/// `main` and `topic` each with a row of their own, and a merge of `topic` into `main` under way.
fn merge_under_way() -> Project {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    project.commit("retire main_tool");
    let merge = project.try_git(&["merge", "--no-edit", "topic"]);
    assert_eq!(merge.code, 1, "two appended rows conflict: {merge}");
    project
}

/// Git puts the markers inside of one row where two branches each retired a tool in the same release.
#[cfg(unix)]
#[test]
fn a_conflict_is_resolved_by_what_the_check_says() {
    let project = merge_under_way();
    let rows = project.list();
    let first = rows.find("<<<<<<<").unwrap();
    assert!(
        rows[..first].trim_end().ends_with("[[retired]]"),
        "the sides are no whole rows: {rows}"
    );
    let ended = project.xtask(&["check"]);
    let command = format!("git checkout --ours {}", registry::FILE);
    assert!(ended.stderr.contains(&format!("`{command}`")), "{ended}");
    assert_eq!(project.shell(&command).code, 0);
    let command = format!("git show :3:./{}", registry::FILE);
    assert!(ended.stderr.contains(&format!("`{command}`")), "{ended}");
    assert!(project.shell(&command).stdout.contains("\"topic_tool\""));
    let ended = project.xtask(&["retire", "topic_tool", "3.1.0", "read"]);
    assert_eq!(ended.code, 0, "{ended}");
    project.commit("merge topic");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
}

#[test]
fn a_conflict_is_left_in_the_list() {
    let project = merge_under_way();
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1);
    snapshot("conflict", &ended);
}

#[test]
fn a_merge_loses_the_row_of_the_branch_it_is_on() {
    let project = merge_under_way();
    project.write(registry::FILE, format!("{LIST}{}", row("topic_tool")));
    project.commit("merge");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("merge_lost_own_row", &ended);
}

#[test]
fn a_merge_loses_the_row_of_the_branch_it_merges() {
    let project = merge_under_way();
    let before = project.git(&["rev-parse", "HEAD"]);
    project.write(registry::FILE, format!("{LIST}{}", row("main_tool")));
    project.commit("merge");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("merge_lost_merged_row", &ended);
    let pushed = project.check_event(&format!(r#"{{"before": "{before}"}}"#));
    assert_eq!(pushed.code, 1, "{pushed}");
    assert_eq!(pushed.stderr, ended.stderr);
}

#[test]
fn a_branch_loses_a_row_of_main_in_a_merge() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    project.commit("retire main_tool");
    project.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(project.try_git(&["merge", "--no-edit", "main"]).code, 1);
    project.write(registry::FILE, format!("{LIST}{}", row("topic_tool")));
    project.commit("merge main");
    for arguments in [&["check", "--base", "main"][..], &["check"]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 1, "{ended}");
    }
}

#[test]
fn two_branches_both_append_and_are_merged() {
    for rows in [["main_tool", "topic_tool"], ["topic_tool", "main_tool"]] {
        let project = merge_under_way();
        let before = project.git(&["rev-parse", "HEAD"]);
        project.write(
            registry::FILE,
            format!("{LIST}{}{}", row(rows[0]), row(rows[1])),
        );
        project.commit("merge");
        let ended = project.xtask(&["check"]);
        assert_eq!(ended.code, 0, "{ended}");
        let pushed = project.check_event(&format!(r#"{{"before": "{before}"}}"#));
        assert_eq!(pushed.code, 0, "{pushed}");
    }
}

#[test]
fn a_row_was_deleted_and_added_again_in_the_history() {
    let project = Project::new();
    project.edit(|list| {
        let (head, first, _) = halves(list);
        format!("{head}{}\n", first.trim_end())
    });
    project.commit("lose a row");
    project.write(registry::FILE, LIST);
    project.commit("find it again");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("deleted_and_added_again", &ended);
}

#[test]
fn the_list_was_deleted_and_came_back_with_less() {
    let project = Project::new();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.commit("lose the list");
    project.write(registry::FILE, halves(LIST).0.to_owned() + halves(LIST).1);
    project.commit("find half of it");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("list_came_back_with_less", &ended);
}

#[test]
fn every_violation_is_reported_in_one_run() {
    let project = Project::new();
    project.append("third_tool");
    let first = project.commit("a third row");
    project.edit(|list| {
        list.replace("python_eval", "python_evil")
            .replacen("3.0.21", "3.0.20", 1)
            .replace(
                "name = \"react_preview\"",
                "name = \"react_preview\"\nhint = \"new\"",
            )
            .replacen("replacement = \"read\"", "replacement = \"bash\"", 1)
            + &row("fourth_tool")
    });
    let ended = project.xtask(&["check", "--base", &first]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("every_violation", &ended);
}

#[test]
fn a_row_is_appended() {
    check_passes("row_appended", |project| project.append("third_tool"));
}

#[test]
fn a_hint_is_reworded_added_and_taken_away() {
    check_passes("hint_reworded", |project| {
        project.edit(|list| list.replace("run Python", "call Python"));
    });
    check_passes("hint_taken_away", |project| {
        project.edit(|list| list.replace("hint = \"run Python with `python3`\"\n", ""));
    });
    check_passes("hint_added", |project| {
        project.edit(|list| format!("{list}hint = \"open it in a browser\"\n"));
    });
}

#[test]
fn comments_and_formatting_change() {
    check_passes("formatting_changed", |project| {
        project.edit(|list| {
            let list = list
                .replace(" = ", "=")
                .replace("\"bash\"", "'bash' # for good");
            let list = list.replace("The tools that are gone.", "Gone.");
            list.replace("\nretired_in", "\n\n   retired_in")
        });
    });
}

#[test]
fn the_checkout_has_crlf_line_ends() {
    let project = Project::new();
    project.write(registry::FILE, LIST.replace('\n', "\r\n"));
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("crlf_checkout", &ended);
}

/// What the warning says, and what the fault of mixed line ends says, is typed, and helps.
#[cfg(unix)]
#[test]
fn line_ends_are_mended_by_what_the_check_says() {
    for crlf in [
        |list: String| list.replace('\n', "\r\n"),
        |list: String| list.replacen('\n', "\r\n", 1),
    ] {
        let project = Project::new();
        project.write(
            ".gitattributes",
            format!("/{} text eol=lf\n", registry::FILE),
        );
        project.commit("pin the line ends");
        let list = format!("{LIST}{}", row("foo_tool"));
        project.write(registry::FILE, crlf(list.clone()));
        let ended = project.xtask(&["check"]);
        let hint = ended
            .stderr
            .lines()
            .find(|line| line.contains("renormalize"))
            .unwrap();
        let command = &hint[hint.find("git add").unwrap()..];
        let ended = project.shell(command.trim_end_matches('`'));
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(project.list(), list);
        let ended = project.xtask(&["check"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended}");
    }
}

#[test]
fn the_first_landing_passes_and_says_so() {
    let project = Project::without_git();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    let unborn = project.xtask(&["check"]);
    assert_eq!(unborn.code, 2, "there is no list yet: {unborn}");
    snapshot("no_list_yet", &unborn);
    let first = project.commit("before the list");
    project.write(registry::FILE, LIST);
    for arguments in [&["check", "--base", &first][..], &["check"]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 0, "{ended}");
        assert!(
            ended.stdout.contains("this is its first landing"),
            "{ended}"
        );
    }
}

/// A directory stands for whatever cannot be read: the tests may run as a user who can read every file.
#[test]
fn a_list_that_cannot_be_read_is_an_error() {
    let project = Project::new();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    std::fs::create_dir(project.path(registry::FILE)).unwrap();
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("list_unreadable", &ended);
    assert_eq!(
        project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]).code,
        2
    );
}

#[test]
fn the_check_changes_nothing() {
    let project = Project::new();
    project.append("third_tool");
    let before = project.git(&["status", "--porcelain", "--ignored"]);
    let list = project.list();
    finish(&mut project.command(&["check"]));
    assert_eq!(project.git(&["status", "--porcelain", "--ignored"]), before);
    assert_eq!(project.list(), list);
}
