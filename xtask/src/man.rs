//! `cargo xtask man`: vak's manual pages, as files.
//!
//! The pages are vak's own (`vak manual`), so this runs it; it does not depend on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::Status;
use crate::project::Project;

/// Write vak's manual pages, one for each command
///
/// `man -l DIRECTORY/vak-doctor.1` shows one; a package installs them below `share/man/man1`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to; made if it does not exist
    #[arg(default_value = "target/man")]
    directory: PathBuf,
}

pub(crate) fn run(man: &Man) -> Result<Status> {
    let project = Project::find()?;
    let write = |path: &Path| format!("failed to write `{}`", path.display());
    fs::create_dir_all(&man.directory).with_context(|| write(&man.directory))?;
    let list = vak(&project, &["--list"])?;
    let list = String::from_utf8_lossy(&list).into_owned();
    let commands = std::iter::once("").chain(list.lines());
    let mut pages = 0;
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let page = vak(&project, &words)?;
        let name = ["vak"]
            .iter()
            .chain(&words)
            .copied()
            .collect::<Vec<_>>()
            .join("-");
        let path = man.directory.join(name).with_extension("1");
        fs::write(&path, page).with_context(|| write(&path))?;
        pages += 1;
    }
    crate::say(&format!(
        "wrote {pages} pages to `{}`",
        man.directory.display()
    ));
    Ok(Status::Clean)
}

/// What `vak manual` prints.
fn vak(project: &Project, args: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--package", "vak", "--", "manual"])
        .args(args)
        .current_dir(&project.root)
        .output()
        .context("failed to run cargo")?;
    ensure!(
        output.status.success(),
        "`vak manual {}` failed\n{}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}
