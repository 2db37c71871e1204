//! `vak self`: this program's own file.

use super::out::Out;
use super::{Status, sync};
use crate::mode::Mode;
use crate::update::{self, Request, Source, Updated};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use semver::Version;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Update this program, or go back to the one before
#[derive(Debug, Args)]
pub(crate) struct SelfArgs {
    #[command(subcommand)]
    command: SelfCommand,
}

#[derive(Debug, Subcommand)]
enum SelfCommand {
    Update(UpdateArgs),
    Rollback(RollbackArgs),
    ServicesSync(sync::SyncArgs),
}

/// Replace this program by another build, then let that one clean up
///
/// The new file is read whole, must have the promised SHA-256, must be a vak that runs here, and may not be
/// older than this one. The replacement is atomic, and the present program is kept beside it as
/// `vak.previous`. Then the new program runs its own `services-sync`, because only it knows which tools it
/// retired. If that fails the update stays and the exit code is 2; the same update, run again, replaces nothing
/// and runs it once more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    vak self update --from ./vak --sha256 \"$(cut -d' ' -f1 vak.sha256)\"\n  \
    vak self update --from ./download        # a directory with `vak` and `SHA256SUMS`")]
struct UpdateArgs {
    /// The new program; or a directory that holds it as `vak`, with a `SHA256SUMS` beside it
    #[arg(long, value_name = "FILE|DIR")]
    from: PathBuf,
    /// The SHA-256 that the file must have, as `sha256sum` prints it
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// Accept an older version than this one
    #[arg(long)]
    allow_downgrade: bool,
    /// Verify everything and replace nothing
    #[arg(long)]
    dry_run: bool,
}

/// Put the program that the last update replaced back in place
///
/// Moves `vak.previous` back over this program, which is gone then. What the newer program's clean-up took away stays in
/// quarantine: `vak plugins restore` brings it back.
#[derive(Debug, Args)]
struct RollbackArgs {
    /// Check that there is a program to go back to, and replace nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &SelfArgs, out: &mut Out) -> anyhow::Result<Status> {
    match &args.command {
        SelfCommand::Update(args) => update(args, out),
        SelfCommand::Rollback(args) => roll_back(args, out),
        SelfCommand::ServicesSync(args) => sync::run(args, out),
    }
}

fn update(args: &UpdateArgs, out: &mut Out) -> anyhow::Result<Status> {
    let mode = super::mode(args.dry_run);
    let request = Request {
        executable: this_program()?,
        current: this_version()?,
        source: source(args)?,
        allow_downgrade: args.allow_downgrade,
    };
    let updated = update::update(&request, mode).context("this vak was not replaced")?;
    let told = tell(out, &updated, mode);
    if mode.writes() {
        // Whether or not anybody can be told: the state on disk has to fit the program.
        sync_with(&updated.executable)?;
    }
    told.context("failed to write to stdout")?;
    Ok(Status::Clean)
}

fn tell(out: &mut Out, updated: &Updated, mode: Mode) -> io::Result<()> {
    let program = updated.executable.display();
    if !updated.replaces {
        writeln!(out, "`{program}` is vak {} already", updated.to)?;
        return out.flush();
    }
    let verb = if mode.writes() {
        "replaced"
    } else {
        "would replace"
    };
    let (from, to) = (&updated.from, &updated.to);
    writeln!(out, "{verb} `{program}`: vak {from} → {to}")?;
    if mode.writes() {
        writeln!(
            out,
            "the one before is kept as `{}`; `vak self rollback` puts it back",
            updated.previous.display()
        )?;
    }
    out.flush()
}

/// Has the new program bring the state on disk up to what it knows.
fn sync_with(program: &Path) -> anyhow::Result<()> {
    let hint = "hint: the update stays; run `vak services-sync` again once that is mended, or go back with `vak self rollback`";
    let status = Command::new(program)
        .arg("services-sync")
        .status()
        .with_context(|| {
            format!(
                "failed to run `{} services-sync`\n{hint}",
                program.display()
            )
        })?;
    anyhow::ensure!(
        status.success(),
        "the new vak's `services-sync` failed ({status})\n{hint}"
    );
    Ok(())
}

fn roll_back(args: &RollbackArgs, out: &mut Out) -> anyhow::Result<Status> {
    let mode = super::mode(args.dry_run);
    let program = this_program()?;
    let version = update::roll_back(&program, mode).context("this vak was not replaced")?;
    let verb = match mode {
        Mode::Write => "is",
        Mode::Check => "would be",
    };
    writeln!(out, "`{}` {verb} vak {version} again", program.display())?;
    Ok(Status::Clean)
}

fn source(args: &UpdateArgs) -> anyhow::Result<Source> {
    match (&args.sha256, args.from.is_dir()) {
        (None, true) => Ok(Source::Directory(args.from.clone())),
        (Some(sha256), false) => Ok(Source::File {
            path: args.from.clone(),
            sha256: sha256.clone(),
        }),
        (None, false) => anyhow::bail!(
            "a file needs its checksum\nhint: add `--sha256 HEX`, or name a directory that holds `vak` and `{}`",
            update::CHECKSUMS
        ),
        (Some(_), true) => anyhow::bail!(
            "`{}` is a directory, whose `{}` says what its files must be\nhint: name the file, or leave out `--sha256`",
            args.from.display(),
            update::CHECKSUMS
        ),
    }
}

/// The file of this program; a link to it that was used to start it stays a link.
fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .context("failed to find this program's own file")
}

fn this_version() -> anyhow::Result<Version> {
    Version::parse(env!("CARGO_PKG_VERSION")).context("failed to read this program's version")
}
