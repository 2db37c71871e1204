//! Replacing this program by another build of itself, and taking that back.
//!
//! Nothing is put in place that was not read whole, found to have the promised SHA-256, and run once
//! (`--version`) beside where it will stand. The program that was replaced is kept beside it, and the same
//! update again leaves both as they are. What the new program has to do with the state on disk is its own
//! business: the caller runs it (`services-sync`), because only the new one knows which tools it retired.

use crate::disk::{self, DiskError, Executable, InMemory};
use crate::mode::Mode;
use crate::plugin::hex;
use semver::Version;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The file of checksums in a directory of builds.
pub const CHECKSUMS: &str = "SHA256SUMS";

/// A program of this size would be no vak.
const MAX_BYTES: u64 = 512 << 20;

/// How long a new program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the new program comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, and the SHA-256 in hex that its bytes must have.
    File {
        /// The file.
        path: PathBuf,
        /// 64 hex digits, in either case.
        sha256: String,
    },
    /// A directory with a program `vak` and a [`CHECKSUMS`] file that lists it.
    Directory(PathBuf),
}

/// Which program replaces which, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The program to replace: a regular file, not a link.
    pub executable: PathBuf,
    /// The version it has.
    pub current: Version,
    /// Where the new one comes from.
    pub source: Source,
    /// Whether the new one may be older.
    pub allow_downgrade: bool,
}

/// A replacement that was made, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updated {
    /// The program's path.
    pub executable: PathBuf,
    /// Where the one before it is kept.
    pub previous: PathBuf,
    /// Whether another program stood there. Where it was this one, nothing is replaced.
    pub replaces: bool,
    /// The version before.
    pub from: Version,
    /// The version now.
    pub to: Version,
    /// The SHA-256 of the new program, in lower-case hex.
    pub sha256: String,
}

/// Why a program was not replaced. The one in place works as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The checksum that was asked for is none.
    #[error("`{text}` is not a SHA-256\nhint: give the 64 hex digits that `sha256sum` prints")]
    NotAChecksum {
        /// What was given.
        text: String,
    },
    /// There is no such file.
    #[error("`{}` does not exist", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A directory's checksums don't name the program.
    #[error("`{}` lists no file named `vak`\nhint: it needs a line `<sha256>  vak`, as `sha256sum vak` prints it", path.display())]
    NotListed {
        /// The file of checksums.
        path: PathBuf,
    },
    /// The bytes are not the ones that were promised.
    #[error(
        "`{}` is not the promised file: its SHA-256 is {found}, not {wanted}\nhint: fetch it again; it may be truncated or altered",
        path.display()
    )]
    WrongChecksum {
        /// The file.
        path: PathBuf,
        /// The promised digest.
        wanted: String,
        /// The digest of what is there.
        found: String,
    },
    /// It could not be run.
    #[error("`{}` does not run on this machine\nhint: it must be a vak built for this system", path.display())]
    DoesNotRun {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It ran, but not like a vak.
    #[error("`{}` is not a vak: `--version` {how}", path.display())]
    NotVak {
        /// The file.
        path: PathBuf,
        /// What it did instead.
        how: String,
    },
    /// It is older than the program in place.
    #[error("`{}` is vak {found}, older than this {current}\nhint: add `--allow-downgrade` if that is what you want", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: Version,
        /// The version in place.
        current: Version,
    },
    /// There is nothing to go back to.
    #[error("`{}` does not exist, so there is nothing to go back to", path.display())]
    NoPrevious {
        /// Where it would be.
        path: PathBuf,
    },
}

/// Replaces the program; one that is these bytes already stays, and so does what is kept beside it. With
/// [`Mode::Check`] everything is verified, the new program is run once from memory, and nothing is written.
///
/// # Errors
/// [`UpdateError`]; the program in place is then the old one.
pub fn update(request: &Request, mode: Mode) -> Result<Updated, UpdateError> {
    let (path, wanted) = resolve(&request.source)?;
    let bytes =
        disk::read(&path, MAX_BYTES)?.ok_or_else(|| UpdateError::Missing { path: path.clone() })?;
    let sha256 = hex(&Sha256::digest(&bytes));
    if sha256 != wanted {
        return Err(UpdateError::WrongChecksum {
            path,
            wanted,
            found: sha256,
        });
    }
    let executable = Executable::open(&request.executable)?;
    let lock = mode.writes().then(|| executable.lock()).transpose()?;
    let replaces = !executable.is(&bytes)?;
    let to = if replaces {
        executable.check_replaceable()?;
        match lock {
            None => request.try_out(&InMemory::hold(&bytes, &path)?.path(), &path)?,
            Some(lock) => {
                let staged = lock.stage(&bytes)?;
                let version = request.try_out(&staged.path(), &path)?;
                staged.put_in_place()?;
                version
            }
        }
    } else {
        request.try_out(&executable.path(), &path)?
    };
    Ok(Updated {
        executable: executable.path(),
        previous: executable.previous_path(),
        replaces,
        from: request.current.clone(),
        to,
        sha256,
    })
}

impl Request {
    /// Runs a program for its version, which has to be one that may take the present one's place. `called` is
    /// what the program is called in messages.
    fn try_out(&self, program: &Path, called: &Path) -> Result<Version, UpdateError> {
        let found = version_of(program, called)?;
        if found < self.current && !self.allow_downgrade {
            return Err(UpdateError::Older {
                path: called.to_owned(),
                found,
                current: self.current.clone(),
            });
        }
        Ok(found)
    }
}

/// Puts the kept program back, provided it still runs, and returns its version.
///
/// # Errors
/// [`UpdateError`]; the program in place is then the present one.
pub fn roll_back(executable: &Path, mode: Mode) -> Result<Version, UpdateError> {
    let executable = Executable::open(executable)?;
    let lock = mode.writes().then(|| executable.lock()).transpose()?;
    let previous = executable.previous_path();
    if !previous.exists() {
        return Err(UpdateError::NoPrevious { path: previous });
    }
    executable.check_replaceable()?;
    let version = version_of(&previous, &previous)?;
    if let Some(lock) = lock {
        lock.restore_previous()?;
    }
    Ok(version)
}

/// The file to read, and the digest it must have.
fn resolve(source: &Source) -> Result<(PathBuf, String), UpdateError> {
    match source {
        Source::File { path, sha256 } => Ok((path.clone(), parse_checksum(sha256)?)),
        Source::Directory(directory) => {
            let sums = directory.join(CHECKSUMS);
            let bytes = disk::read(&sums, 1 << 20)?
                .ok_or_else(|| UpdateError::Missing { path: sums.clone() })?;
            let text = String::from_utf8_lossy(&bytes);
            let listed = text.lines().find_map(|line| {
                let (sum, name) = line.split_once(char::is_whitespace)?;
                let name = name.trim_start().trim_start_matches('*');
                (name == "vak" || name == "./vak").then_some(sum)
            });
            match listed {
                Some(sum) => Ok((directory.join("vak"), parse_checksum(sum)?)),
                None => Err(UpdateError::NotListed { path: sums }),
            }
        }
    }
}

fn parse_checksum(text: &str) -> Result<String, UpdateError> {
    let sum = text.trim().to_ascii_lowercase();
    if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(sum)
    } else {
        Err(UpdateError::NotAChecksum {
            text: text.to_owned(),
        })
    }
}

/// Runs a program's `--version` and reads it. `called` is what the program is called in messages.
fn version_of(program: &Path, called: &Path) -> Result<Version, UpdateError> {
    let does_not_run = |source| UpdateError::DoesNotRun {
        path: called.to_owned(),
        source,
    };
    let not_vak = |how: String| UpdateError::NotVak {
        path: called.to_owned(),
        how,
    };
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(does_not_run)?;
    let status = wait(&mut child)
        .map_err(does_not_run)?
        .ok_or_else(|| not_vak(format!("did not end within {} s", PATIENCE.as_secs())))?;
    if !status.success() {
        return Err(not_vak(format!("ended with {}", ending(status))));
    }
    let said = child.stdout.take().map(said).unwrap_or_default();
    let mut words = said.split_whitespace();
    match (words.next(), words.next().map(Version::parse)) {
        (Some("vak"), Some(Ok(version))) => Ok(version),
        _ => Err(not_vak(format!(
            "printed `{}`",
            said.lines().next().unwrap_or_default()
        ))),
    }
}

/// Waits for a child, and ends it where its time is up.
fn wait(child: &mut std::process::Child) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a program that has ended left in its pipe. A version fits into any pipe's buffer; more than that is
/// not read, and what it left running, which may hold the pipe open, is not waited for.
fn said(stdout: ChildStdout) -> String {
    let mut bytes = Vec::new();
    if rustix::io::ioctl_fionbio(&stdout, true).is_ok() {
        // An error tells that there is no more for now.
        let _ = stdout.take(1024).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "a signal".to_owned(),
    }
}
