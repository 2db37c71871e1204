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

/// The base has no list, but what had landed still counts.
#[test]
fn the_list_was_deleted_in_the_base_and_came_back_with_less() {
    for broken in [None, Some("[[retired]]\nname = 1\n")] {
        let project = Project::new();
        std::fs::remove_file(project.path(registry::FILE)).unwrap();
        let mut base = project.commit("lose the list");
        if let Some(list) = broken {
            project.write(registry::FILE, list);
            base = project.commit("a broken list");
        }
        project.write(registry::FILE, halves(LIST).0.to_owned() + halves(LIST).1);
        project.commit("find half of it");
        for ended in [
            project.check_event(&format!(r#"{{"before": "{base}"}}"#)),
            project.xtask(&["check", "--base", &base]),
            project.xtask(&["check"]),
        ] {
            assert_eq!(ended.code, 1, "{ended}");
            let found = "the row of `react_preview` was removed";
            assert!(ended.stderr.contains(found), "{ended}");
        }
        project.write(registry::FILE, LIST);
        let ended = project.xtask(&["check", "--base", &base]);
        assert!(!ended.stdout.contains("first landing"), "{ended}");
    }
}

/// The list stands in another place then, but it is the same list.
#[test]
fn a_row_is_lost_where_the_project_moves_within_its_repository() {
    for (list, code) in [
        (LIST.to_owned(), 0),
        (halves(LIST).0.to_owned() + halves(LIST).1, 1),
    ] {
        let project = Project::new();
        let before = project.git(&["rev-parse", "HEAD"]);
        std::fs::create_dir(project.path("vak")).unwrap();
        for file in ["Cargo.toml", "src", registry::FILE] {
            std::fs::rename(project.path(file), project.path(&format!("vak/{file}"))).unwrap();
        }
        project.write(&format!("vak/{}", registry::FILE), &list);
        for step in ["uncommitted", "committed", "later"] {
            for arguments in [&["check"][..], &["check", "--base", &before]] {
                let mut command = project.command(arguments);
                let ended = finish(command.current_dir(project.path("vak")));
                assert_eq!(ended.code, code, "{step} {arguments:?}: {ended}");
                assert!(!ended.stdout.contains("first landing"), "{ended}");
            }
            project.commit(step);
        }
    }
}

/// A file of the same name that stays where it is, as a test's, is not an earlier version of the list.
#[test]
fn another_file_of_the_lists_name_is_not_the_list() {
    let project = Project::without_git();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.write("tests/data/retired_tools.toml", row("data_tool"));
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    let first = project.commit("before the list");
    project.write(registry::FILE, LIST);
    project.commit("the list");
    for arguments in [&["check", "--base", &first][..], &["check"]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 0, "{ended}");
    }
}

/// Such a list cannot be built: the row that is one too many has to go, and may.
#[test]
fn a_row_that_landed_twice_is_taken_out() {
    for spare in ["foo_tool", "Foo-Tool"] {
        let project = Project::new();
        project.append("foo_tool");
        project.commit("retire foo_tool");
        project.append("Foo-Tool");
        let twice = project.commit("retire Foo-Tool");
        assert_eq!(project.xtask(&["check"]).code, 1);
        project.edit(|list| list.replace(&row(spare), ""));
        project.append("third_tool");
        for step in ["uncommitted", "committed"] {
            for arguments in [&["check"][..], &["check", "--base", &twice]] {
                let ended = project.xtask(arguments);
                assert_eq!(ended.code, 0, "{step} {arguments:?}: {ended}");
            }
            project.commit(step);
        }
        project.edit(|list| {
            list.replace("Foo-Tool", "gone_tool")
                .replace("foo_tool", "gone_tool")
        });
        let ended = project.xtask(&["check"]);
        assert_eq!(ended.code, 1, "the last of the name has to stay: {ended}");
    }
}

/// `main` had no list before, so that no earlier version misses it.
#[test]
fn a_merge_loses_the_whole_list() {
    let project = Project::without_git();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    let first = project.commit("before the list");
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.write(registry::FILE, LIST);
    project.commit("the list");
    project.git(&["checkout", "--quiet", "main"]);
    project.git(&["merge", "--no-ff", "--no-commit", "topic"]);
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    project.commit("merge topic");
    project.write(registry::FILE, halves(LIST).0.to_owned() + halves(LIST).1);
    project.commit("half of it");
    for arguments in [&["check"][..], &["check", "--base", &first]] {
        let ended = project.xtask(arguments);
        assert_eq!(ended.code, 1, "{ended}");
        let found = "the row of `react_preview` was lost in the merge";
        assert!(ended.stderr.contains(found), "{ended}");
    }
}

/// A branch merges `main` and alters a row of it on the way.
#[test]
fn a_row_of_main_is_altered_in_a_merge() {
    let topic = row("topic_tool");
    let (main, other) = (row("main_tool"), row("other_tool"));
    for (what, rows) in [
        (
            "`retired_in` and `replacement` of `main_tool` was changed in the merge",
            format!(
                "{topic}{}{other}",
                main.replace("3.1.0", "3.0.9")
                    .replace("\"read\"", "\"bash\"")
            ),
        ),
        (
            "the row of `main_tool` was moved in the merge",
            format!("{topic}{other}{main}"),
        ),
        (
            "the row of `main_tool` was lost in the merge",
            format!("{topic}{other}"),
        ),
        (
            "the row of `main_tool` was lost in the merge",
            format!("{topic}{}{other}", row("main_toll")),
        ),
        ("", format!("{topic}{main}{other}")),
        ("", format!("{main}{topic}{other}")),
        ("", format!("{main}{other}{topic}")),
    ] {
        let project = Project::new();
        project.git(&["checkout", "--quiet", "-b", "topic"]);
        project.append("topic_tool");
        project.commit("retire topic_tool");
        project.git(&["checkout", "--quiet", "main"]);
        project.append("main_tool");
        project.commit("retire main_tool");
        project.append("other_tool");
        let before = project.commit("retire other_tool");
        project.git(&["checkout", "--quiet", "topic"]);
        project.try_git(&["merge", "--no-commit", "main"]);
        project.write(registry::FILE, format!("{LIST}{rows}"));
        project.commit("merge main");
        let on_branch = project.xtask(&["check"]);
        project.git(&["checkout", "--quiet", "-B", "main"]);
        for ended in [
            on_branch,
            project.xtask(&["check"]),
            project.xtask(&["check", "--base", "topic~1"]),
        ] {
            assert_eq!(ended.code, i32::from(!what.is_empty()), "{what}: {ended}");
            assert!(ended.stderr.contains(what), "{what}: {ended}");
        }
        let pushed = project.check_event(&format!(r#"{{"before": "{before}"}}"#));
        assert_eq!(pushed.code, i32::from(!what.is_empty()), "{what}: {pushed}");
    }
}

/// The rows that a merged branch had before its list was broken still count.
#[test]
fn a_merge_loses_a_row_of_a_branch_whose_list_is_broken() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.append("topic_tool");
    project.commit("retire topic_tool");
    project.write(registry::FILE, "[[retired]]\nname = 1\n");
    project.commit("break the list");
    project.git(&["checkout", "--quiet", "main"]);
    project.append("main_tool");
    project.commit("retire main_tool");
    project.try_git(&["merge", "--no-commit", "topic"]);
    project.write(registry::FILE, format!("{LIST}{}", row("main_tool")));
    project.commit("merge topic");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    let found = "the row of `topic_tool` was lost in the merge";
    assert!(ended.stderr.contains(found), "{ended}");
}

/// Versions that only append are not read whole; the lines of their rows are right all the same.
#[test]
fn a_row_is_lost_after_many_were_appended() {
    let project = Project::new();
    for name in ["a_tool", "b_tool", "c_tool"] {
        project.append(name);
        project.commit(name);
    }
    project.edit(|list| format!("{list}hint = \"with a hint\"\n# and a comment\n"));
    project.commit("a hint for the last");
    project.append("d_tool");
    project.commit("d_tool");
    let lines = project.list();
    let line = 1 + lines
        .lines()
        .position(|line| line.contains("b_tool"))
        .unwrap();
    project.edit(|list| list.replace(&row("b_tool"), ""));
    project.commit("lose one");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    assert!(ended.stderr.contains("1 fault found"), "{ended}");
    let place = format!(":{}:{line}: {{ name = \"b_tool\"", registry::FILE);
    assert!(ended.stderr.contains(&place), "{ended}");
}

/// The commands that are printed are run to the letter; all rows must be there then, and the check must pass.
#[test]
fn the_commands_that_undo_a_fault_bring_every_row_back() {
    let main = row("main_tool");
    let topic = format!("{}hint = \"-x isn't there\"\n", row("topic_tool"));
    let broken: [fn(&str) -> String; 4] = [
        |list| list.replace(&row("main_tool"), ""),
        |list| list.replace("main_tool", "other_tool"),
        |list| list.replace("main_tool", "MAIN_TOOL"),
        |list| list.replace("3.0.21", "3.0.20"),
    ];
    for breaks in broken {
        for (committed, later) in [(false, false), (true, false), (true, true)] {
            let project = Project::new();
            project.append("main_tool");
            project.commit("retire main_tool");
            project.edit(|list| format!("{}{topic}", breaks(list)));
            let mut names = vec!["python_eval", "react_preview", "main_tool", "topic_tool"];
            if committed {
                project.commit("the deed");
            }
            if later {
                project.append("later_tool");
                names.push("later_tool");
            }
            let ended = project.xtask(&["check"]);
            assert_eq!(ended.code, 1, "{ended}");
            for hint in ended
                .stderr
                .lines()
                .filter_map(|line| line.strip_prefix("hint: "))
            {
                project.run_hint(hint);
            }
            let ended = project.xtask(&["check"]);
            assert_eq!(ended.code, 0, "{ended}");
            assert!(project.list().contains(&main), "{}", project.list());
            for name in names {
                let row = format!("name = \"{name}\"");
                assert!(project.list().contains(&row), "{name}: {}", project.list());
            }
        }
    }
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
