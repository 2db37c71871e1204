//! A violation in words: the row as it was and as it is, where the list has gone, the commands that undo it.

use std::collections::HashSet;

use ignore::WalkBuilder;
use registry::{Row, Violation, fold};

use crate::history::{Origin, Step, short};
use crate::project::Project;

/// The row as it was and as it is.
pub(crate) fn sides(step: &Step, violation: &Violation, bytes: Option<&[u8]>) -> [String; 2] {
    let base = violation.base();
    let now = match violation.now() {
        Some(row) => format!("{}: {row}", step.to.place(Some(row.line))),
        None => match commented_out(step, base, bytes) {
            Some(line) => format!("{}: only in a comment", step.to.place(Some(line))),
            None => format!("{}: no such row", step.to.place(None)),
        },
    };
    [
        format!("  base: {}: {base}", step.from.place(Some(base.line))),
        format!("   now: {now}"),
    ]
}

/// The line of the work tree's list that has the row's name in a comment.
fn commented_out(step: &Step, row: &Row, bytes: Option<&[u8]>) -> Option<usize> {
    let text = std::str::from_utf8(bytes?).ok()?;
    let is_it = |line: &str| {
        let comment = line.trim_start().strip_prefix('#');
        comment.is_some_and(|comment| comment.contains(&row.name) && comment.contains('='))
    };
    let line = text.lines().position(is_it)? + 1;
    (step.to == Origin::WorkTree).then_some(line)
}

/// The commands that undo a step; the rows that are new by now are added again.
pub(crate) fn undo(step: &Step, head: Option<&str>) -> Vec<String> {
    if let Origin::Commit(to) = &step.to
        && Some(to.commit.as_str()) != head
    {
        return mend_commit(&to.commit).into();
    }
    let mut commands = vec![match &step.from {
        Origin::Commit(from) => format!(
            "git checkout {} -- :/{}  # comments and hints edited since go as well",
            short(&from.commit),
            from.path
        ),
        from => format!("cp {} {}", from.place(None), registry::FILE),
    }];
    let renamed: Vec<&Row> = step
        .violations()
        .iter()
        .filter_map(|violation| match violation {
            Violation::Renamed { now, .. } => Some(now),
            _ => None,
        })
        .collect();
    let gone: HashSet<String> = step
        .violations()
        .iter()
        .map(|violation| fold(&violation.base().name))
        .collect();
    for row in &step.newer {
        // A row in another letter case is no other tool.
        if gone.contains(&fold(&row.name)) {
            continue;
        }
        let is_name = renamed.iter().any(|renamed| renamed.name == row.name);
        let remark = if is_name {
            "  # if that is another tool"
        } else {
            ""
        };
        commands.push(retire_again(row) + remark);
    }
    if let Origin::Commit(to) = &step.to {
        commands.push(format!("git commit --amend --no-edit :/{}", to.path));
    }
    commands
}

/// What to do about a commit that is not the last.
pub(crate) fn mend_commit(commit: &str) -> [String; 2] {
    let commit = short(commit);
    [
        format!("git rebase --rebase-merges --interactive {commit}^  # and mend that commit"),
        format!(
            "cargo xtask check --base {commit}  # instead, where that commit is published and the rows are back"
        ),
    ]
}

/// The command that adds a row.
pub(crate) fn retire_again(row: &Row) -> String {
    let Row {
        name,
        retired_in,
        replacement,
        hint,
        ..
    } = row;
    // With `=`, because a hint may begin like an option.
    let hint = hint.as_ref().map_or_else(String::new, |hint| {
        let between = if hint.starts_with('-') { '=' } else { ' ' };
        format!(" --hint{between}'{}'", hint.replace('\'', r"'\''"))
    });
    format!("cargo xtask retire {name} {retired_in} {replacement}{hint}")
}

/// Where the list has gone, if it only moved.
pub(crate) fn whereabouts(project: &Project, step: &Step) -> String {
    if step.to != Origin::WorkTree {
        return format!("no such file in {}", step.to.place(None));
    }
    let moved = WalkBuilder::new(&project.root)
        .hidden(false)
        .build()
        .filter_map(Result::ok)
        .map(ignore::DirEntry::into_path)
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .find(|path| {
            let rows = std::fs::read(path).map(|bytes| registry::read("", &bytes));
            matches!(rows, Ok(Ok(rows)) if !rows.is_empty())
        });
    match moved {
        Some(path) => format!("it moved to {}", project.shown(&path)),
        None => "no such file".to_owned(),
    }
}
