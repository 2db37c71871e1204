//! `cargo xtask copy`: the project's sources once more, with another list.
//!
//! This is the only way to build vak with a list that is not its own. An environment variable would be shorter,
//! and could one day slip another list into a real build; a copy cannot.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use ignore::WalkBuilder;

use crate::Status;
use crate::project::Project;

/// Copy the sources to an empty directory, to build vak there with another list.
///
/// What git ignores is left out. Build in the copy with `cargo build`; a `CARGO_TARGET_DIR` that the copies
/// share saves building the dependencies again.
#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// Where to: a directory that is empty or does not exist.
    directory: PathBuf,
    /// The list to put in the place of `retired_tools.toml`.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

/// Makes the copy.
pub(crate) fn run(copy: &Copy) -> Result<Status> {
    let project = Project::find()?;
    let list = copy
        .list
        .as_ref()
        .map(|list| fs::read(list).with_context(|| format!("failed to read `{}`", list.display())));
    let list = list.transpose()?;
    sources(&project, &copy.directory)?;
    if let Some(list) = list {
        replace_list(&copy.directory, &list)?;
    }
    Ok(Status::Clean)
}

/// Copies everything but what git ignores.
pub(crate) fn sources(project: &Project, to: &Path) -> Result<()> {
    let write = |path: &Path| format!("failed to write `{}`", path.display());
    fs::create_dir_all(to).with_context(|| write(to))?;
    if fs::read_dir(to)
        .with_context(|| write(to))?
        .next()
        .is_some()
    {
        bail!("`{}` is not empty", to.display());
    }
    let to = to.canonicalize().with_context(|| write(to))?;
    let walk = WalkBuilder::new(&project.root)
        .hidden(false)
        .parents(false)
        .require_git(false)
        .filter_entry({
            let to = to.clone();
            move |entry| entry.file_name() != ".git" && entry.path() != to
        })
        .build();
    for entry in walk {
        let entry = entry.context("failed to list the sources")?;
        let relative = entry.path().strip_prefix(&project.root)?;
        let target = to.join(relative);
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_dir()) {
            fs::create_dir_all(&target).with_context(|| write(&target))?;
        } else if kind.is_some_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), &target).with_context(|| write(&target))?;
        }
    }
    Ok(())
}

/// Puts another list into a copy.
pub(crate) fn replace_list(copy: &Path, list: &[u8]) -> Result<()> {
    let path = copy.join(registry::FILE);
    fs::write(&path, list).with_context(|| format!("failed to write `{}`", path.display()))
}
