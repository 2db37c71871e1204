//! `cargo xtask retire`: adds a row to the list, or says why it cannot be true.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use registry::{Rules, fold};
use same_file::Handle;
use similar::TextDiff;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::project::Project;
use crate::sources::{self, Sources};
use crate::{Status, mentions, paint, print, say};

/// How many places of a group are shown.
const SHOWN_PLACES: usize = 20;

/// What the names of new lists begin with that are not in their place yet. Git ignores them.
pub(crate) const UNFINISHED: &str = ".retired_tools.";

/// Add a tool to the list of retired tools.
///
/// The row is true for ever once it has landed, so it is checked first: nothing is written unless the whole list
/// would be valid with it.
#[derive(Debug, Args)]
pub(crate) struct Retire {
    /// The exact name a model might still call.
    tool: String,
    /// The first version of the package without the tool.
    version: String,
    /// The live tool to call instead.
    replacement: String,
    /// One line for the model and the operator: what to do instead.
    #[arg(long, value_name = "TEXT")]
    hint: Option<String>,
    /// Print the change and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Adds the row and says what is left to do.
pub(crate) fn run(retire: &Retire) -> Result<Status> {
    let project = Project::find()?;
    let sources = sources::read(&project)?;
    let path = place_of_list(&project)?;
    // The guard is held until the new list is in place, so that of two runs the second sees the first's row.
    let _guard = lock(&path)?;
    let before = fs::read(&path).with_context(|| format!("failed to read `{}`", registry::FILE))?;
    let before = readable(before)?;
    let after = append(&before, retire)?;
    let line = validate(&project, &sources, &after)
        .ok_or_else(|| anyhow!("`{}` was not retired; the list is as it was", retire.tool))?;
    if retire.dry_run {
        print(&diff(&before, &after))?;
        return Ok(Status::Clean);
    }
    replace(&path, &after)?;
    // The row is in the list, so nothing from here on makes this a failure.
    if let Err(error) = print(&left_to_do(&project, retire, line)) {
        say(&format!("warning: {error:#}"));
    }
    Ok(Status::Clean)
}

/// Where the list really is: a link to it is not what is written to.
fn place_of_list(project: &Project) -> Result<PathBuf> {
    project.list_path().canonicalize().or_else(|error| {
        say(&(registry::draw_unreadable(registry::FILE, &error, paint()) + "\n"));
        bail!("there is no list to add a row to")
    })
}

/// The text of the list as it is. That it has the form of a list is all that is asked of it: where the retired
/// tool is the replacement of another row, it takes the new row to make the list valid again.
fn readable(list: Vec<u8>) -> Result<String> {
    if let Err(faults) = registry::read(registry::FILE, &list) {
        say(&(faults.draw(paint()) + "\n"));
        bail!("the list has faults; mend them first");
    }
    String::from_utf8(list).context("the list is not UTF-8")
}

/// The line of the last row of a valid list. What is wrong with any other is said.
fn validate(project: &Project, sources: &Sources, list: &str) -> Option<usize> {
    let rules = Rules {
        package: &project.package,
        live: Some(&sources.live),
    };
    match registry::parse(registry::FILE, list.as_bytes(), rules) {
        Ok(list) => list.rows().last().map(|row| row.line),
        Err(faults) => {
            say(&(faults.draw(paint()) + "\n"));
            None
        }
    }
}

/// The list with the row at its end and every other byte as it was.
fn append(before: &str, retire: &Retire) -> Result<String> {
    let mut row = Table::new();
    row.insert("name", value(&retire.tool));
    row.insert("retired_in", value(&retire.version));
    row.insert("replacement", value(&retire.replacement));
    if let Some(hint) = &retire.hint {
        row.insert("hint", value(hint));
    }
    let mut document: DocumentMut = before.parse().context("failed to parse the list")?;
    match document.get_mut("retired") {
        Some(Item::ArrayOfTables(rows)) => rows.push(row),
        _ => bail!("the list has no `[[retired]]` table to add another to"),
    }
    let mut after = document.to_string();
    if before.contains("\r\n") {
        // The edit writes LF alone; a list whose lines end in CRLF keeps them.
        after = after.replace('\n', "\r\n");
    }
    if !is_one_insertion(before, &after) {
        bail!(
            "adding the row would change other bytes of the list\n\
             hint: add the row with an editor and run `cargo xtask check`"
        );
    }
    Ok(after)
}

/// Whether `after` is `before` with something put in at one place.
fn is_one_insertion(before: &str, after: &str) -> bool {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let pairs = before.iter().zip(after);
    let head = pairs.take_while(|(one, other)| one == other).count();
    after.ends_with(&before[head..])
}

/// Waits for the list to be this process's alone to write. The list itself carries the lock. Whoever held it
/// before has put another file in its place, so the lock counts only if the path still leads to the locked file.
fn lock(path: &Path) -> Result<File> {
    let failed = || format!("failed to lock `{}`", registry::FILE);
    loop {
        let file = File::open(path).with_context(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say("waiting for another `cargo xtask retire`");
                file.lock().with_context(failed)?;
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
        }
        let locked = Handle::from_file(file.try_clone().with_context(failed)?);
        if locked.with_context(failed)? == Handle::from_path(path).with_context(failed)? {
            return Ok(file);
        }
    }
}

/// Puts `text` in the place of the file at `path`, whole or not at all.
fn replace(path: &Path, text: &str) -> Result<()> {
    let write = || -> io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .suffix(".tmp")
            .tempfile_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file()
            .set_permissions(fs::metadata(path)?.permissions())?;
        file.as_file().sync_all()?;
        let directory = File::open(directory)?;
        file.persist(path)?;
        // The list is replaced, whatever becomes of the wish that a power cut leave it so.
        let _ = directory.sync_all();
        Ok(())
    };
    write().with_context(|| format!("failed to write `{}`", registry::FILE))
}

fn diff(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff()
        .header(registry::FILE, registry::FILE)
        .to_string()
}

/// What was done, and what a person still has to do.
fn left_to_do(project: &Project, retire: &Retire, line: usize) -> String {
    let Retire {
        tool,
        version,
        replacement,
        ..
    } = retire;
    let mut text = format!(
        "retired `{tool}` in {version}, replaced by `{replacement}`: {}:{line}\n\nleft to do:\n",
        registry::FILE
    );
    let groups = mentions::find(project, &fold(tool));
    if groups.is_empty() {
        text.push_str("- nothing else in the repository names it\n");
    }
    for (group, places) in groups {
        text.push_str(&format!("- {}\n", group.chore()));
        for place in places.iter().take(SHOWN_PLACES) {
            text.push_str(&format!("    {place}\n"));
        }
        if places.len() > SHOWN_PLACES {
            let more = places.len() - SHOWN_PLACES;
            text.push_str(&format!("    … and {more} more: git grep -nwi {tool}\n"));
        }
    }
    text.push_str(
        "- say it in `CHANGELOG.md`\n- run `cargo xtask check` and `cargo test`, then commit\n",
    );
    text
}
