//! A small project in a git repository of its own, and the chores run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The list that every project starts with.
pub(crate) const LIST: &str = r#"# The tools that are gone.

[[retired]]
name = "python_eval"
retired_in = "3.0.21"
replacement = "bash"
hint = "run Python with `python3`"

[[retired]]
name = "react_preview"
retired_in = "3.0.21"
replacement = "bash"
"#;

const MANIFEST: &str = "[workspace]\n\n[package]\nname = \"vak\"\nversion = \"3.1.0\"\n";

const TOOLS: &str = r#"//! The live tools.

pub const BASH: LiveTool = LiveTool {
    name: "bash",
    aliases: &["shell", "sandbox-exec"],
    summary: "Run a command",
};

pub const READ: LiveTool = LiveTool {
    name: "read",
    aliases: &[],
    summary: "Read a file",
};
"#;

/// A row to add to a list.
pub(crate) fn row(name: &str) -> String {
    format!("\n[[retired]]\nname = \"{name}\"\nretired_in = \"3.1.0\"\nreplacement = \"read\"\n")
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Shows the whole of it, for snapshots.
impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ended {
            code,
            stdout,
            stderr,
        } = self;
        write!(f, "exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}

/// A project in a directory that is deleted at the end.
pub(crate) struct Project {
    directory: TempDir,
    home: TempDir,
}

impl Project {
    /// A project outside of any repository.
    pub(crate) fn without_git() -> Project {
        let project = Project {
            directory: TempDir::new().unwrap(),
            home: TempDir::new().unwrap(),
        };
        project.write("Cargo.toml", MANIFEST);
        project.write("src/tools/mod.rs", TOOLS);
        project.write(registry::FILE, LIST);
        project
    }

    /// A project whose first commit, on `main`, has the list with two rows.
    pub(crate) fn new() -> Project {
        let project = Project::without_git();
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.commit("first");
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn list(&self) -> String {
        fs::read_to_string(self.path(registry::FILE)).unwrap()
    }

    /// Changes the list's text; the change must be one.
    pub(crate) fn edit(&self, change: impl Fn(&str) -> String) {
        let before = self.list();
        let after = change(&before);
        assert_ne!(before, after, "the edit changes nothing");
        self.write(registry::FILE, after);
    }

    /// Adds a row at the end of the list.
    pub(crate) fn append(&self, name: &str) {
        self.edit(|list| format!("{list}{}", row(name)));
    }

    /// Commits everything and returns the commit's hash.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git, which must succeed, and returns what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let ended = self.try_git(arguments);
        assert_eq!(ended.code, 0, "git {arguments:?}: {}", ended.stderr);
        ended.stdout.trim_end().to_owned()
    }

    /// Runs git.
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Ended {
        finish(self.in_project("git").args(arguments))
    }

    /// Runs a line in a shell, as a person would type it.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Ended {
        finish(self.in_project("sh").args(["-c", line]))
    }

    /// `cargo xtask`, ready to run in the project with no word of CI in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.in_project(env!("CARGO_BIN_EXE_xtask"));
        command.args(arguments);
        command
    }

    /// Runs `cargo xtask`.
    pub(crate) fn xtask(&self, arguments: &[&str]) -> Ended {
        finish(&mut self.command(arguments))
    }

    /// Runs `cargo xtask` as somebody whom modes hold back: root becomes another user, to whom the project is open.
    #[cfg(unix)]
    pub(crate) fn xtask_as_nobody(&self, arguments: &[&str]) -> Ended {
        use std::os::unix::fs::MetadataExt as _;
        use std::os::unix::process::CommandExt as _;
        // The build directory may be closed to others. A process of its own copies: were the copy open for writing
        // here, another test's child could hold it and nobody could run it.
        let program = self.home.path().join("xtask");
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_xtask"))
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        let mut command = self.in_project(program);
        if fs::metadata(self.home.path()).unwrap().uid() == 0 {
            for path in [self.home.path(), self.directory.path()] {
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                fs::set_permissions(path, open).unwrap();
            }
            command.uid(65_534).gid(65_534);
        }
        finish(command.args(arguments))
    }

    /// Sets the mode of a file.
    #[cfg(unix)]
    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(self.path(path), mode).unwrap();
    }

    /// Runs `cargo xtask check` as CI would, for an event with this JSON.
    pub(crate) fn check_event(&self, event: &str) -> Ended {
        let path = self.home.path().join("event.json");
        fs::write(&path, event).unwrap();
        finish(
            self.command(&["check"])
                .env("CI", "true")
                .env("GITHUB_EVENT_PATH", path),
        )
    }

    /// Runs a command that the check printed, in a shell, in a subdirectory.
    pub(crate) fn run_hint(&self, hint: &str) {
        let chores = format!("'{}'", env!("CARGO_BIN_EXE_xtask"));
        let hint = hint.replace("cargo xtask", &chores);
        let mut shell = self.in_project("sh");
        shell.args(["-c", &hint]).current_dir(self.path("src"));
        let ended = finish(&mut shell);
        assert_eq!(ended.code, 0, "{hint}: {ended}");
    }

    /// The same project, as a clone that has the last commit alone.
    pub(crate) fn shallow_clone(&self) -> Project {
        self.clone_with(&["--depth=1"])
    }

    /// The same project, as a clone made with these options.
    pub(crate) fn clone_with(&self, options: &[&str]) -> Project {
        let clone = Project {
            directory: TempDir::new().unwrap(),
            home: TempDir::new().unwrap(),
        };
        let origin = format!("file://{}", self.directory.path().display());
        let arguments = [&["clone", "--quiet"], options, &[&origin, "."]].concat();
        clone.git(&arguments);
        clone
    }

    /// A process in the project whose git knows nothing of this machine's settings.
    pub(crate) fn in_project(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("GIT_") {
                command.env_remove(variable);
            }
        }
        command
            .current_dir(self.directory.path())
            .env_remove("CI")
            .env_remove("GITHUB_EVENT_PATH")
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A Maintainer")
            .env("GIT_AUTHOR_EMAIL", "maintainer@example.com")
            .env("GIT_COMMITTER_NAME", "A Maintainer")
            .env("GIT_COMMITTER_EMAIL", "maintainer@example.com")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }
}

/// Runs a process to its end.
pub(crate) fn finish(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Compares with the snapshot of this name; hashes and the machine's paths are left out of it.
#[track_caller]
pub(crate) fn snapshot(name: &str, ended: &Ended) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{40}\b", "<full hash>");
    settings.add_filter(r"\b[0-9a-f]{12}\b", "<hash>");
    settings.add_filter(r"(/[\w.-]+)*/\.tmp\w+", "<project>");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, ended));
}
