//! `vak` killed, or refused by the disk, at the system calls with which it changes its home.
//!
//! Each scenario is run once undisturbed. Then, for call after call of that run and each time from the same
//! start, it is run with a fault at that call; then the same command is run again, and everything must be as
//! if nothing had happened. `VAK_CRASH_POINTS=all` tries every call, as `scripts/crash-matrix` does; else a
//! sample is tried that holds each kind of call.

use crate::sandbox::{Run, Sandbox};
use crate::strace::{self, CHANGES, Call, Disturbed, FILLS, Fault, READS};
use crate::tree::Tree;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use vak::config::Config;

/// A command, and what leads to where it starts.
struct Scenario {
    name: &'static str,
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    /// Whether the command is meant to delete package files for good.
    deletes: bool,
    /// Whether what it leaves is first looked after in another directory, as a service does.
    elsewhere: bool,
    /// Whether it takes several plugins away. How often it writes the registry depends then on where it was
    /// interrupted, and their order on which of them met an error: only kills are tried.
    several: bool,
}

#[test]
fn seed_into_an_empty_home() {
    check(&Scenario {
        name: "setup seed (empty home)",
        before: &[],
        command: &["setup", "seed"],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn seed_that_clears_a_retired_plugin() {
    check(&Scenario {
        name: "setup seed (with a retired plugin)",
        before: &[
            &["setup", "seed"],
            &["plugins", "install", HEALTHY],
            &["plugins", "install", STALE, "--allow-retired"],
        ],
        command: &["setup", "seed"],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn seed_that_clears_several_retired_plugins() {
    check(&Scenario {
        name: "setup seed (with several retired plugins)",
        before: &[
            &["setup", "seed"],
            &["plugins", "install", STALE, "--allow-retired"],
            &["plugins", "install", STALE_TOO, "--allow-retired"],
        ],
        command: &["setup", "seed"],
        deletes: false,
        elsewhere: false,
        several: true,
    });
}

#[test]
fn seed_that_updates_a_starter_plugin() {
    let scenario = Scenario {
        name: "setup seed (with an earlier starter plugin)",
        before: &[],
        command: &["setup", "seed"],
        deletes: false,
        elsewhere: false,
        several: false,
    };
    check_from(&scenario, crate::seed::seed_as_an_earlier_vak);
}

#[test]
fn install() {
    check(&Scenario {
        name: "plugins install",
        before: &[&["plugins", "install", STALE, "--allow-retired"]],
        command: &["plugins", "install", HEALTHY],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn enable() {
    check(&Scenario {
        name: "plugins enable",
        before: &[&["plugins", "install", HEALTHY]],
        command: &["plugins", "enable", "healthy"],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn remove() {
    check(&Scenario {
        name: "plugins remove",
        before: &[&["plugins", "install", HEALTHY]],
        command: &["plugins", "remove", "healthy"],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn restore() {
    check(&Scenario {
        name: "plugins restore",
        before: &[
            &["plugins", "install", HEALTHY],
            &["plugins", "remove", "healthy"],
        ],
        command: &["plugins", "restore", "healthy"],
        deletes: false,
        elsewhere: false,
        several: false,
    });
}

#[test]
fn remove_finished_elsewhere() {
    check(&Scenario {
        name: "plugins remove (finished elsewhere)",
        before: &[&["setup", "seed"], &["plugins", "install", HEALTHY]],
        command: &["plugins", "remove", "healthy"],
        deletes: false,
        elsewhere: true,
        several: false,
    });
}

#[test]
fn restore_finished_elsewhere() {
    check(&Scenario {
        name: "plugins restore (finished elsewhere)",
        before: &[
            &["setup", "seed"],
            &["plugins", "install", HEALTHY],
            &["plugins", "remove", "healthy"],
        ],
        command: &["plugins", "restore", "healthy"],
        deletes: false,
        elsewhere: true,
        several: false,
    });
}

#[test]
fn purge() {
    check(&Scenario {
        name: "plugins purge",
        before: &[
            &["plugins", "install", HEALTHY],
            &["plugins", "remove", "healthy"],
        ],
        command: &["plugins", "purge", "--older-than", "0s"],
        deletes: true,
        elsewhere: false,
        several: false,
    });
}

/// A package to install, seen from the working directory.
pub(crate) const HEALTHY: &str = "../packages/healthy";
/// Two that instruct a retired tool.
const STALE: &str = "../packages/stale";
const STALE_TOO: &str = "../packages/stale-too";

const CONFIG: &str =
    "[plugins]\nnetwork_allow = [\n  \"stale\", # of stale\n  \"healthy\", # of healthy\n]\n";

#[track_caller]
fn check(scenario: &Scenario) {
    check_from(scenario, |_| {});
}

/// Runs a scenario with every fault, and says how many calls were disturbed and how many runs survived it.
/// What its own commands can't bring about, `arrange` does.
#[track_caller]
#[expect(
    clippy::print_stdout,
    reason = "the counts, which the crash matrix adds up"
)]
fn check_from(scenario: &Scenario, arrange: fn(&Sandbox)) {
    if !strace::is_available() {
        return;
    }
    let stage = Stage::set(scenario, arrange);
    let failing = [CHANGES, READS].concat();
    let mut failures = Vec::new();
    for (fault, names) in [
        (Fault::Kill, CHANGES),
        (Fault::Error("ENOSPC"), FILLS),
        (Fault::Error("EIO"), &failing),
    ] {
        if scenario.several && fault != Fault::Kill {
            continue;
        }
        let calls = stage.calls(names);
        for kind in KINDS {
            let is_met = calls.iter().any(|call| kind.contains(&call.name.as_str()));
            assert!(is_met, "{}: no call of {kind:?} to disturb", scenario.name);
        }
        let chosen = choose(&calls);
        let failed: Vec<String> = chosen
            .iter()
            .filter_map(|call| stage.check(call, fault).err())
            .collect();
        println!(
            "{}: {fault} at {} of {} calls, survived {} ({})",
            scenario.name,
            chosen.len(),
            calls.len(),
            chosen.len() - failed.len(),
            kinds(&chosen),
        );
        failures.extend(failed);
    }
    let shown = failures.len().min(3);
    assert!(
        failures.is_empty(),
        "{} runs did not survive; the first {shown}:\n\n{}",
        failures.len(),
        failures[..shown].join("\n\n")
    );
}

/// Where a scenario is played, again and again from the same start.
struct Stage<'a> {
    scenario: &'a Scenario,
    sandbox: Sandbox,
    /// A copy of the sandbox as it is before the command.
    start: TempDir,
    before: Tree,
    after: Tree,
}

impl<'a> Stage<'a> {
    fn set(scenario: &'a Scenario, arrange: fn(&Sandbox)) -> Stage<'a> {
        let sandbox = Sandbox::in_memory();
        write_packages(&sandbox);
        if scenario.elsewhere {
            sandbox.write("work/.vak/config.toml", CONFIG);
        }
        for command in scenario.before {
            sandbox.vak(command).expect(0);
        }
        arrange(&sandbox);
        let start = tempfile::tempdir_in(sandbox.path().parent().unwrap()).unwrap();
        copy_into(sandbox.path(), start.path());
        let before = scenario.normal(sandbox.tree());
        sandbox.vak(scenario.command).expect(0);
        let after = scenario.normal(sandbox.tree());
        assert_ne!(before, after, "the command changes something");
        Stage {
            scenario,
            sandbox,
            start,
            before,
            after,
        }
    }

    fn reset(&self) {
        for entry in std::fs::read_dir(self.sandbox.path()).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        copy_into(self.start.path(), self.sandbox.path());
    }

    fn command(&self) -> Command {
        self.sandbox.command(self.scenario.command)
    }

    /// The calls that the command makes in the sandbox.
    fn calls(&self, names: &[&str]) -> Vec<Call> {
        self.reset();
        let command = self.command();
        strace::calls(&command, self.sandbox.path(), names)
    }

    /// Disturbs the command at a call, looks at what is left, and runs it again. An error says what is not
    /// as it should be.
    fn check(&self, call: &Call, fault: Fault) -> Result<(), String> {
        self.reset();
        let command = self.command();
        let disturbed = strace::disturb(&command, call, fault);
        let place = |what: String| {
            format!(
                "{}: {fault} at {} #{}: {}\n{what}\n--- disturbed run: {}\n{}",
                self.scenario.name,
                call.name,
                call.nth,
                call.text,
                disturbed.output.status,
                disturbed.stderr(),
            )
        };
        ensure(disturbed.fired, || "the fault did not happen".to_owned())
            .and_then(|()| self.check_end(&disturbed, fault))
            .and_then(|()| self.check_left())
            .and_then(|()| self.check_elsewhere())
            .and_then(|()| self.check_again())
            .map_err(place)
    }

    /// A killed run was killed; one that met an error says so, or did all the same what it was to do.
    fn check_end(&self, disturbed: &Disturbed, fault: Fault) -> Result<(), String> {
        let Fault::Error(errno) = fault else {
            return ensure(disturbed.was_killed(), || "it was not killed".to_owned());
        };
        match disturbed.output.status.code() {
            Some(0) => self.check_tree("it succeeded, and"),
            Some(2) => ensure(disturbed.stderr().contains(system_words(errno)), || {
                "the system's reason is not told".to_owned()
            }),
            _ => Err("it ended in neither way".to_owned()),
        }
    }

    /// Each file is whole, nothing is lost, and a reader finds its way.
    fn check_left(&self) -> Result<(), String> {
        let left = self.sandbox.tree();
        let (old, new) = (self.before.files(), self.after.files());
        for (path, bytes) in self.scenario.normal(left.clone()).files() {
            let is_in = |files: &BTreeMap<_, _>| files.get(path) == Some(&bytes);
            ensure(
                is_in(&old) || is_in(&new) || is_unfinished(path) || is_whole_book(path, bytes),
                || {
                    let text = String::from_utf8_lossy(bytes);
                    format!("`{}` is neither old nor new:\n{text}", path.display())
                },
            )?;
        }
        let kept: BTreeSet<&[u8]> = left.files().into_values().collect();
        for (path, bytes) in old {
            ensure(
                self.scenario.deletes || !is_content(path) || kept.contains(bytes),
                || format!("`{}` is lost", path.display()),
            )?;
        }
        let reader = self.sandbox.vak(&["plugins", "list", "--format", "json"]);
        ensure(reader.code == 0, || {
            format!("a reader fails: {}", reader.stderr)
        })
    }

    /// Looked after in another directory, it has happened wholly or not at all.
    fn check_elsewhere(&self) -> Result<(), String> {
        if !self.scenario.elsewhere {
            return Ok(());
        }
        let mut command = self.sandbox.command(&["services-sync"]);
        command.current_dir(self.sandbox.path().join("packages"));
        let run = Run::from(command.output().unwrap());
        ensure(run.code == 0, || format!("elsewhere: {}", run.stderr))?;
        let end = self.scenario.normal(self.sandbox.tree());
        ensure(end == self.before || end == self.after, || {
            let differences = self.after.differences(&end);
            format!("elsewhere it ends between (- expected, + got):\n{differences}")
        })
    }

    /// Run again, it ends where an undisturbed run does.
    fn check_again(&self) -> Result<(), String> {
        let again = self.sandbox.vak(self.scenario.command);
        let how = format!("exit code {}\n{}", again.code, again.stderr);
        ensure(again.code != 1, || {
            format!("run again, it finds fault: {how}")
        })?;
        self.check_tree("run again, it").map_err(|what| what + &how)
    }

    fn check_tree(&self, who: &str) -> Result<(), String> {
        let end = self.scenario.normal(self.sandbox.tree());
        ensure(end == self.after, || {
            let differences = self.after.differences(&end);
            format!("{who} ends elsewhere (- expected, + got):\n{differences}")
        })
    }
}

impl Scenario {
    /// The tree without what differs between any two runs: times in seconds, which are in names as well.
    fn normal(&self, tree: Tree) -> Tree {
        let tree = tree.rewritten(&mask_times);
        match self.several {
            true => tree.rewritten(&mask_generation),
            false => tree,
        }
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Packages to install, and a config that knows two of them.
pub(crate) fn write_packages(sandbox: &Sandbox) {
    let manifest = |name: &str| {
        format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\", \"description\": \"A plugin.\"}}")
    };
    let skill = |body: &str| format!("---\nname: skill\ndescription: A skill.\n---\n{body}\n");
    sandbox.write("packages/healthy/vak-plugin.json", manifest("healthy"));
    sandbox.write(
        "packages/healthy/skills/a/SKILL.md",
        skill("Call `bash` and be happy."),
    );
    sandbox.write("packages/healthy/scripts/run.sh", "#!/bin/sh\n");
    for name in ["stale", "stale-too"] {
        sandbox.write(format!("packages/{name}/vak-plugin.json"), manifest(name));
        sandbox.write(
            format!("packages/{name}/skills/b/SKILL.md"),
            skill("Call `python_eval(code)` with the code."),
        );
    }
    sandbox.write("home/.vak/config.toml", CONFIG);
}

/// What every scenario does, by any of these calls. A program that came to use another would not be tested.
const KINDS: [&[&str]; 4] = [
    &["openat"],
    &["write", "pwrite64"],
    &["fsync", "fdatasync"],
    &["rename", "renameat", "renameat2"],
];

/// How many calls of one name are tried where not all are.
const SAMPLE: usize = 6;

/// The calls to disturb: all, or of each name some that are spread over the run, the first and the last
/// among them.
fn choose(calls: &[Call]) -> Vec<Call> {
    if std::env::var_os("VAK_CRASH_POINTS").is_some_and(|value| value == "all") {
        return calls.to_vec();
    }
    let mut by_name: BTreeMap<&str, Vec<&Call>> = BTreeMap::new();
    for call in calls {
        by_name.entry(&call.name).or_default().push(call);
    }
    let sample = |calls: Vec<&Call>| -> Vec<Call> {
        let last = calls.len() - 1;
        let indices: BTreeSet<usize> = (0..SAMPLE).map(|step| last * step / (SAMPLE - 1)).collect();
        indices
            .into_iter()
            .map(|index| calls[index].clone())
            .collect()
    };
    by_name.into_values().flat_map(sample).collect()
}

/// How many calls of each name, for the summary.
fn kinds(calls: &[Call]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for call in calls {
        *counts.entry(&call.name).or_default() += 1;
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    words.join(", ")
}

fn system_words(errno: &str) -> &'static str {
    match errno {
        "ENOSPC" => "No space left on device",
        "EIO" => "Input/output error",
        other => panic!("no words for {other}"),
    }
}

/// The text without the number of the registry's writes.
fn mask_generation(text: &str) -> String {
    let is_generation = |line: &&str| line.trim_start().starts_with("\"generation\": ");
    text.split_inclusive('\n')
        .filter(|line| !is_generation(line))
        .collect()
}

fn mask_times(text: &str) -> String {
    const DIGITS: usize = 10;
    let mut masked = String::with_capacity(text.len());
    for run in text.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = run.trim_end_matches(|c: char| !c.is_ascii_digit());
        if digits.len() == DIGITS {
            // A number in place of a number, so that JSON stays JSON.
            masked.push_str("1000000000");
            masked.push_str(&run[DIGITS..]);
        } else {
            masked.push_str(run);
        }
    }
    masked
}

/// Whether a path is where a run keeps what it has not finished.
fn is_unfinished(path: &Path) -> bool {
    let path = path.to_string_lossy();
    [
        "plugins/staging/",
        "plugins/pending/",
        vak::disk::STRAY_PREFIX,
    ]
    .iter()
    .any(|part| path.contains(part))
}

/// Whether a file is one that vak keeps its books in, and reads as one. A run may write it more than once,
/// so it need be neither what it was before nor what it is in the end.
fn is_whole_book(path: &Path, bytes: &[u8]) -> bool {
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    match path.ends_with("config.toml") {
        true => Config::parse(bytes).is_ok(),
        false => {
            is_json && !is_content(path) && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
        }
    }
}

/// Whether a file belongs to a package, and not to the store's own books.
fn is_content(path: &Path) -> bool {
    let path = path.to_string_lossy();
    let in_store = ["plugins/packages/", "plugins/quarantine/"];
    in_store.iter().any(|part| path.contains(part)) && !path.ends_with("/record.json")
}

fn copy_into(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}
