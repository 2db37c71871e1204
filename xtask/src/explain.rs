//! A violation in words: the row as it was and as it is, where the list has gone, the commands that undo it.

use ignore::WalkBuilder;
use registry::{Row, Violation};

use crate::history::{Done, Origin, Step, short};
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

/// The commands that undo a step; what it rightly added is added again.
pub(crate) fn undo(step: &Step, head: Option<&str>) -> Vec<String> {
    let file = registry::FILE;
    let added = match &step.done {
        Done::Compared(comparison) => comparison.added.as_slice(),
        Done::Gone(_) => &[],
    };
    let mut commands = vec![match &step.from {
        Origin::Commit(from) => format!("git checkout {} -- {file}", short(&from.commit)),
        from => format!("cp {} {file}", from.place(None)),
    }];
    commands.extend(added.iter().map(retire_again));
    match &step.to {
        Origin::Commit(to) if Some(to.commit.as_str()) == head => {
            commands.push(format!("git commit --amend --no-edit {file}"));
            commands
        }
        Origin::Commit(to) => mend_commit(&to.commit).into(),
        Origin::File(_) | Origin::WorkTree => commands,
    }
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
    let hint = hint.as_ref().map_or_else(String::new, |hint| {
        format!(" --hint '{}'", hint.replace('\'', r"'\''"))
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
