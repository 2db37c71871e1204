//! A row is added whole or not at all.

use crate::project::{Ended, LIST, Project, finish, snapshot};

/// Runs `retire`, which must refuse and leave the list as it was.
fn check_refused(name: &str, arguments: &[&str]) -> Ended {
    let project = Project::new();
    let ended = project.xtask(&[&["retire"], arguments].concat());
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(project.list(), LIST);
    snapshot(name, &ended);
    ended
}

#[test]
fn one_place_of_the_list_changes() {
    let project = Project::new();
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("retired", &ended);
    let row =
        "\n[[retired]]\nname = \"foo_tool\"\nretired_in = \"3.1.0\"\nreplacement = \"bash\"\n";
    assert_eq!(project.list(), format!("{LIST}{row}"));
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        format!(" M {}", registry::FILE)
    );
    assert_eq!(project.xtask(&["check"]).code, 0);

    let again = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(again.code, 2);
    assert_eq!(project.list(), format!("{LIST}{row}"));
    snapshot("retired_again", &again);
}

#[test]
fn every_other_byte_of_an_odd_list_stays() {
    let row = "[[retired]]\nname = \"foo_tool\"\nretired_in = \"3.1.0\"\nreplacement = \"bash\"\nhint = \"say \\\\\\\"no\\\\\\\"\"\n";
    for list in [
        LIST.replace('\n', "\r\n"),
        LIST.trim_end().to_owned(),
        format!("{LIST}\n\n# the end\n"),
        format!("{LIST}# the end"),
        LIST.replace(" = ", "   =\t")
            .replace("\"bash\"", "'bash'  # for good"),
        format!("\n\n{LIST}\n\n\n"),
    ] {
        let project = Project::new();
        project.write(registry::FILE, &list);
        let hint = r#"say \"no\""#;
        let arguments = ["retire", "foo_tool", "3.1.0", "bash", "--hint", hint];
        let ended = project.xtask(&arguments);
        assert_eq!(ended.code, 0, "{list:?}: {ended}");
        let after = project.list();
        let head = list
            .bytes()
            .zip(after.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let tail = &list[head..];
        assert!(after.ends_with(tail), "{list:?} became {after:?}");
        let rows = registry::read("", after.as_bytes()).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2].hint.as_deref(), Some(hint), "{row}");
        assert_eq!(list.contains("\r\n"), after.contains("\r\n"));
        assert!(
            !list.contains("\r\n") || after.matches('\n').count() == after.matches("\r\n").count()
        );
    }
}

#[test]
fn a_dry_run_prints_the_change_and_writes_nothing() {
    let project = Project::new();
    let ended = project.xtask(&[
        "retire",
        "foo_tool",
        "3.1.0",
        "bash",
        "--hint",
        "use it",
        "--dry-run",
    ]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("dry_run", &ended);
    assert_eq!(project.list(), LIST);
}

#[test]
fn it_says_where_the_name_still_stands() {
    let project = Project::new();
    project.write("starter/skills/foo/SKILL.md", "Call `foo_tool`.\n");
    project.write(
        "docs/tools.md",
        "one\ntwo: FOO-TOOL, foo_tools, my_foo_tool\n",
    );
    project.write("src/run.rs", "fn foo_tool() {}\n");
    project.write("examples/a/SKILL.md", "`foo_tool(1)`\n");
    project.write("target/x.md", "foo_tool\n");
    project.write(".gitignore", "/target\n");
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("where_it_stands", &ended);
}

#[test]
fn of_many_places_the_first_are_shown() {
    let project = Project::new();
    project.write("docs/tools.md", "foo_tool\n".repeat(33));
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert!(
        ended
            .stdout
            .contains("docs/tools.md:20: foo_tool\n    … and 13 more: git grep -nwi foo_tool\n"),
        "{ended}"
    );
}

/// Once the row is in the list the tool is retired, whatever becomes of the rest.
#[cfg(unix)]
#[test]
fn what_goes_wrong_after_the_row_is_written_is_no_failure() {
    let project = Project::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = finish(
        project
            .command(&["retire", "foo_tool", "3.1.0", "bash"])
            .stdout(writer),
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended}");
    assert!(project.list().contains("foo_tool"));

    project.write("docs/a.md", "other_tool");
    project.write("docs/b.md", "other_tool");
    project.chmod("docs/a.md", 0o000);
    let ended = project.xtask_as_nobody(&["retire", "other_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 0, "{ended}");
    let warning =
        "warning: not looked at for the name: docs/a.md: Permission denied (os error 13)\n";
    assert_eq!(ended.stderr, warning);
    assert!(
        ended.stdout.contains("    docs/b.md:1: other_tool\n"),
        "{ended}"
    );
    assert!(project.list().contains("other_tool"));
}

/// What a run that was killed leaves, or another one is about to put in place, is no place to mend.
#[test]
fn a_list_that_is_not_in_place_is_not_looked_at() {
    let project = Project::new();
    project.write(".retired_tools.x1.tmp", "name = \"foo_tool\"\n");
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 0, "{ended}");
    snapshot("retired", &ended);
}

#[test]
fn without_a_list_it_says_so_as_the_check_does() {
    let project = Project::without_git();
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 2, "{ended}");
    snapshot("refused_no_list", &ended);
}

#[cfg(unix)]
#[test]
fn a_list_that_is_kept_elsewhere_stays_there() {
    let project = Project::new();
    project.write("kept/list.toml", LIST);
    std::fs::remove_file(project.path(registry::FILE)).unwrap();
    std::os::unix::fs::symlink("kept/list.toml", project.path(registry::FILE)).unwrap();
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 0, "{ended}");
    assert!(project.path(registry::FILE).is_symlink());
    let kept = std::fs::read_to_string(project.path("kept/list.toml")).unwrap();
    assert!(
        kept.starts_with(LIST) && kept.contains("foo_tool"),
        "{kept}"
    );
}

#[test]
fn a_retired_tool_can_be_the_replacement() {
    let project = Project::new();
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "python_eval"]);
    assert_eq!(ended.code, 0, "{ended}");
}

/// A tool that other rows name as their replacement is retired in its turn: with its definition gone those rows lead
/// nowhere until it is in the list itself.
#[test]
fn the_replacement_of_other_rows_can_be_retired() {
    let project = Project::new();
    let tools = std::fs::read_to_string(project.path("src/tools/mod.rs")).unwrap();
    project.write("src/tools/mod.rs", tools.replace("\"bash\"", "\"run\""));
    assert_eq!(project.xtask(&["check"]).code, 1, "two rows lead nowhere");
    let ended = project.xtask(&["retire", "bash", "3.1.0", "run"]);
    assert_eq!(ended.code, 0, "{ended}");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 0, "{ended}");
}

#[test]
fn an_unknown_replacement_is_refused() {
    check_refused("refused_replacement", &["foo_tool", "3.1.0", "frobnicate"]);
}

#[test]
fn an_alias_and_a_misspelt_replacement_are_refused() {
    check_refused("refused_alias_replacement", &["foo_tool", "3.1.0", "shell"]);
    check_refused(
        "refused_misspelt_replacement",
        &["foo_tool", "3.1.0", "Bash"],
    );
    check_refused(
        "refused_misspelt_retired",
        &["foo_tool", "3.1.0", "Python-Eval"],
    );
}

#[test]
fn a_live_tool_and_an_alias_are_refused() {
    check_refused("refused_live", &["read", "3.1.0", "bash"]);
    check_refused("refused_alias", &["Sandbox_Exec", "3.1.0", "read"]);
}

#[test]
fn a_retired_name_is_refused_in_any_spelling() {
    check_refused("refused_retired", &["Python-Eval", "3.1.0", "bash"]);
}

#[test]
fn a_version_newer_than_the_packages_is_refused() {
    check_refused("refused_version", &["foo_tool", "3.2.0", "bash"]);
}

#[test]
fn a_bad_name_version_or_hint_is_refused_and_every_fault_said() {
    check_refused(
        "refused_form",
        &["foo tool", "3.1", "bash", "--hint", "two\nlines"],
    );
    check_refused("refused_long_name", &[&"x".repeat(65), "3.1.0", "bash"]);
    check_refused("refused_empty", &["", "", "", "--hint", ""]);
}

#[test]
fn a_faulty_list_is_not_added_to() {
    let project = Project::new();
    project.edit(|list| list.replace("3.0.21", "3.0"));
    let before = project.list();
    let ended = project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]);
    assert_eq!(ended.code, 2, "{ended}");
    assert_eq!(project.list(), before);
    snapshot("refused_faulty_list", &ended);
}

#[test]
fn runs_at_once_lose_no_row() {
    let project = Project::new();
    let names: Vec<String> = (0..12).map(|number| format!("tool_{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let project = &project;
            scope.spawn(move || {
                let ended = project.xtask(&["retire", name, "3.1.0", "bash"]);
                assert_eq!(ended.code, 0, "{ended}");
            });
        }
    });
    let rows = registry::read("", project.list().as_bytes()).unwrap();
    let mut added: Vec<_> = rows.iter().skip(2).map(|row| row.name.clone()).collect();
    added.sort();
    let mut names = names;
    names.sort();
    assert_eq!(added, names);
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        format!(" M {}", registry::FILE)
    );
}

#[cfg(unix)]
#[test]
fn the_lists_mode_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.chmod(registry::FILE, 0o640);
    assert_eq!(
        project.xtask(&["retire", "foo_tool", "3.1.0", "bash"]).code,
        0
    );
    let mode = std::fs::metadata(project.path(registry::FILE))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
}
