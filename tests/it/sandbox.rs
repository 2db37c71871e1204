//! A home and a working directory of a test's own, and the `vak` binary run in them.

use crate::tree::Tree;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// An empty home and an empty working directory, removed when the test ends.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// What a run of `vak` left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What doctor says of the list of retired tools as the recorded outputs have it. A retirement changes that line and
/// no other, so recorded outputs keep the line that they were recorded with.
const RECORDED_LIST: &str = "✓ retired-tools-list  2 rows, the newest in 3.0.21\n";

/// A text that `vak` printed, with doctor's line about the list as it was recorded, if it is true of the list today.
pub(crate) fn with_list_as_recorded(text: &str) -> String {
    let rows = vak::tools::retired_tools();
    let versions = rows.iter().map(|row| row.retired_in);
    let newest = versions.max_by_key(|version| semver::Version::parse(version).unwrap());
    let today = format!(
        "✓ retired-tools-list  {} rows, the newest in {}\n",
        rows.len(),
        newest.unwrap()
    );
    text.replace(&today, RECORDED_LIST)
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox::below(&std::env::temp_dir())
    }

    /// A sandbox in memory where the system has such a place: each `fsync` costs nothing there.
    pub(crate) fn in_memory() -> Sandbox {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Sandbox::below(memory)
        } else {
            Sandbox::new()
        }
    }

    fn below(parent: &Path) -> Sandbox {
        let dir = tempfile::Builder::new()
            .prefix("vak test ")
            .tempdir_in(parent)
            .unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        Sandbox { dir }
    }

    /// The directory that holds both: a place for packages and other inputs too.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What `VAK_HOME` is set to.
    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The working directory of each run.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The shared root.
    pub(crate) fn shared(&self) -> PathBuf {
        self.home().join(".vak")
    }

    /// The workspace root.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.work().join(".vak")
    }

    /// Writes a file below the sandbox, with the directories it needs.
    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary, not yet started, in this sandbox and without colour.
    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(args)
            .current_dir(self.work())
            .env("VAK_HOME", self.home())
            .env("HOME", self.path())
            .env_remove("CLICOLOR_FORCE")
            .env_remove("NO_COLOR");
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn vak<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Run {
        Run::from(self.command(args).output().unwrap())
    }

    /// Everything below the sandbox, as a value.
    pub(crate) fn tree(&self) -> Tree {
        Tree::read(self.path())
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().expect("vak was killed by a signal"),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Run {
    /// The run, provided it ended with this exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Run {
        assert_eq!(
            self.code, code,
            "exit code\n--- stdout\n{}--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Standard output, read as a JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{}", self.stdout))
    }
}

/// The binary under test: cargo's, or the one that `VAK_TEST_BINARY` names. That is for the long runs, which
/// are about the release binary and need no release build of the tests.
fn binary() -> PathBuf {
    let cargos = env!("CARGO_BIN_EXE_vak");
    std::env::var_os("VAK_TEST_BINARY").map_or_else(|| cargos.into(), PathBuf::from)
}
