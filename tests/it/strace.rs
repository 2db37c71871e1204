//! `vak` under `strace`: which system calls a run makes in its sandbox, and the same run with one of them
//! made to fail or to kill it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// The calls that change the disk, and those that open what is about to be changed or read.
pub(crate) const CHANGES: &[&str] = &[
    "openat",
    "write",
    "pwrite64",
    "copy_file_range",
    "sendfile",
    "ftruncate",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlinkat",
    "fchmod",
    "fchmodat",
    "flock",
];

/// The calls that a disk whose sectors go bad can fail, besides those that change it.
pub(crate) const READS: &[&str] = &["read", "getdents64"];

/// The calls that can find the disk full.
pub(crate) const FILLS: &[&str] = &[
    "openat",
    "write",
    "copy_file_range",
    "fsync",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
];

/// One call of a run: the `nth` of its name, counted from 1 as `strace` counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) nth: usize,
    /// The call as it was made, for messages.
    pub(crate) text: String,
}

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed before the call does anything.
    Kill,
    /// The call does nothing and fails with this error.
    Error(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Kill => "kill",
            Fault::Error(errno) => errno,
        })
    }
}

/// How a disturbed run ended.
pub(crate) struct Disturbed {
    pub(crate) output: Output,
    /// Whether the fault happened at all.
    pub(crate) fired: bool,
}

impl Disturbed {
    pub(crate) fn was_killed(&self) -> bool {
        self.output.status.signal() == Some(9)
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

/// Whether `strace` is there. Where it must be, in CI, its absence is a failure; elsewhere it is said aloud.
pub(crate) fn is_available() -> bool {
    let works = Command::new("strace").arg("-V").output().is_ok();
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(
        works || !in_ci,
        "strace is missing, and CI is set: install it (apt-get install strace)"
    );
    if !works {
        // Not `eprintln!`, which a passing test does not show.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: strace is missing; install it to run the crash tests"
        );
    }
    works
}

/// The calls with these names that a command's first thread makes on files below `sandbox`, in order. Runs
/// the command. What other threads do, and when, differs from run to run; a fault at the `nth` call meets
/// each thread that comes so far.
pub(crate) fn calls(command: &Command, sandbox: &Path, names: &[&str]) -> Vec<Call> {
    let (output, trace) = run(command, &[format!("trace={}", names.join(","))]);
    assert!(output.status.success(), "{output:?}");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    let parsed: Vec<_> = trace.lines().filter_map(parse).collect();
    let first = parsed.first().map(|(thread, ..)| *thread);
    for (_, name, text) in parsed.iter().filter(|(thread, ..)| Some(*thread) == first) {
        let nth = counts.entry(name).or_default();
        *nth += 1;
        if is_below(text, sandbox) {
            calls.push(Call {
                name: (*name).to_owned(),
                nth: *nth,
                text: (*text).to_owned(),
            });
        }
    }
    calls
}

/// Runs a command with a fault at one of its calls.
pub(crate) fn disturb(command: &Command, call: &Call, fault: Fault) -> Disturbed {
    let what = match fault {
        Fault::Kill => "signal=KILL".to_owned(),
        Fault::Error(errno) => format!("error={errno}"),
    };
    let Call { name, nth, .. } = call;
    let options = [
        format!("trace={name}"),
        format!("inject={name}:{what}:when={nth}"),
    ];
    let (output, trace) = run(command, &options);
    let fired = match fault {
        Fault::Kill => trace.contains("+++ killed by SIGKILL +++"),
        Fault::Error(_) => trace.contains("(INJECTED)"),
    };
    Disturbed { output, fired }
}

/// The command as a child of `strace`, in the same place and with the same environment.
pub(crate) fn traced(command: &Command, log: &Path, options: &[String]) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-s", "256", "-o"]).arg(log);
    for option in options {
        traced.arg("-e").arg(option);
    }
    traced
        .arg("--")
        .arg(command.get_program())
        .args(command.get_args());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(key, value),
            None => traced.env_remove(key),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        traced.current_dir(directory);
    }
    traced
}

fn run(command: &Command, options: &[String]) -> (Output, String) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = traced(command, log.path(), options).output().unwrap();
    let trace = std::fs::read(log.path()).unwrap();
    (output, String::from_utf8_lossy(&trace).into_owned())
}

/// A line of a trace: the thread, the call's name, and the call.
fn parse(line: &str) -> Option<(&str, &str, &str)> {
    let (thread, text) = line.split_once(char::is_whitespace)?;
    let text = text.trim_start();
    let (name, _) = text.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((thread, name, text))
}

/// Whether a call is about something in the sandbox: by an open file's path, or by an absolute one.
fn is_below(text: &str, sandbox: &Path) -> bool {
    let sandbox = sandbox.to_str().unwrap();
    match text.split('"').nth(1) {
        Some(path) if path.starts_with('/') => path.starts_with(sandbox),
        _ => text.contains(&format!("<{sandbox}")),
    }
}
