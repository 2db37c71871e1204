//! Many `vak` processes at once on one home: nothing is lost, nothing is seen half-done, nobody waits for ever.

use crate::crash::{HEALTHY, write_packages};
use crate::sandbox::Sandbox;
use crate::strace;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use vak::config::Config;
use vak::disk;

/// How many processes change plugins; with one that seeds and one that lists it is eight.
const OWNERS: usize = 6;
/// How often each installs, enables and removes.
const ROUNDS: usize = 4;

#[test]
fn eight_processes_lose_no_update() {
    let sandbox = Sandbox::in_memory();
    let names: Vec<String> = (0..OWNERS).map(|owner| format!("plugin-{owner}")).collect();
    for name in &names {
        write_package(&sandbox, name);
    }
    let entries: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let config = format!(
        "# shared by all\n[plugins]\nnetwork_allow = [\n  \"stays\",\n  {}\n]\n",
        entries.join(",\n  ")
    );
    let config_path = sandbox.write("home/.vak/config.toml", config);
    let done = AtomicBool::new(false);

    thread::scope(|scope| {
        let readers = [
            scope.spawn(|| repeat_until(&done, || seed(&sandbox))),
            scope.spawn(|| repeat_until(&done, || list(&sandbox, &names))),
            // A reader of the files themselves, which is quicker than any process.
            scope.spawn(|| repeat_until(&done, || read_files(&sandbox.shared()))),
        ];
        let owners: Vec<_> = names
            .iter()
            .map(|name| scope.spawn(|| own(&sandbox, name)))
            .collect();
        let owners: Vec<_> = owners
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0, "a reader came to read");
        }
        for owner in owners {
            owner.unwrap();
        }
    });

    // Each owner ended with its plugin installed and enabled, and took its entry out once.
    assert_eq!(installed(&sandbox), names.iter().cloned().collect());
    let config = Config::read(&config_path).unwrap();
    assert_eq!(config.network_allow, ["stays"]);
    let registry = fs::read(sandbox.shared().join("plugins/registry.json")).unwrap();
    let registry: serde_json::Value = serde_json::from_slice(&registry).unwrap();
    for name in &names {
        let count = |action: &str| count_audit(&registry, action, name);
        assert_eq!(count("installed"), ROUNDS + 1, "{registry:#}");
        assert_eq!(count("removed"), ROUNDS, "{registry:#}");
    }
    assert_eq!(strays(&sandbox.shared()), BTreeSet::new());
}

/// One owner's life: it installs, enables and takes away its plugin, again and again, and ends with it.
fn own(sandbox: &Sandbox, name: &str) {
    let package = format!("../packages/{name}");
    for _ in 0..ROUNDS {
        sandbox.vak(&["plugins", "install", &package]).expect(0);
        sandbox.vak(&["plugins", "enable", name]).expect(0);
        sandbox.vak(&["plugins", "remove", name]).expect(0);
    }
    sandbox.vak(&["plugins", "install", &package]).expect(0);
    sandbox.vak(&["plugins", "enable", name]).expect(0);
}

fn seed(sandbox: &Sandbox) {
    sandbox.vak(&["setup", "seed"]).expect(0);
}

fn list(sandbox: &Sandbox, names: &[String]) {
    for name in installed(sandbox) {
        assert!(names.contains(&name), "`{name}` was never installed");
    }
}

/// The owners' plugins that `vak plugins list` has; the starter plugins are nobody's.
fn installed(sandbox: &Sandbox) -> BTreeSet<String> {
    let listed = sandbox
        .vak(&["plugins", "list", "--format", "json"])
        .expect(0)
        .json();
    let plugins = listed["plugins"].as_array().unwrap();
    let names = plugins
        .iter()
        .map(|plugin| plugin["name"].as_str().unwrap());
    let is_owned = |name: &&str| name.starts_with("plugin-") || *name == "healthy";
    names.filter(is_owned).map(str::to_owned).collect()
}

fn read_files(root: &Path) {
    let registry = root.join("plugins/registry.json");
    if let Ok(bytes) = fs::read(&registry) {
        let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&bytes);
        assert!(parsed.is_ok(), "{}", String::from_utf8_lossy(&bytes));
    }
    let config = Config::read(&root.join("config.toml")).unwrap();
    assert!(config.network_allow.contains(&"stays".to_owned()));
}

fn repeat_until(done: &AtomicBool, action: impl Fn()) -> usize {
    let mut times = 0;
    while !done.load(Ordering::Relaxed) {
        action();
        times += 1;
    }
    times
}

fn count_audit(registry: &serde_json::Value, action: &str, name: &str) -> usize {
    let audit = registry["audit"].as_array().unwrap();
    let is_it = |entry: &&serde_json::Value| entry["action"] == action && entry["plugin"] == name;
    audit.iter().filter(is_it).count()
}

/// Whatever a finished run should have cleared away.
fn strays(root: &Path) -> BTreeSet<String> {
    let unfinished = ["plugins/staging", "plugins/pending", "plugins", ""];
    let mut strays = BTreeSet::new();
    for directory in unfinished {
        let Ok(entries) = fs::read_dir(root.join(directory)) else {
            continue;
        };
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if directory.contains('/') || name.starts_with(disk::STRAY_PREFIX) {
                strays.insert(format!("{directory}/{name}"));
            }
        }
    }
    strays
}

fn write_package(sandbox: &Sandbox, name: &str) {
    let manifest =
        format!("{{\"name\": \"{name}\", \"version\": \"1.0.0\", \"description\": \"A plugin.\"}}");
    sandbox.write(format!("packages/{name}/vak-plugin.json"), manifest);
    sandbox.write(
        format!("packages/{name}/skills/a/SKILL.md"),
        format!("---\nname: {name}\ndescription: A skill.\n---\nCall `bash`.\n"),
    );
}

/// The lock is held all the time: a reader that waited for it would fail with a time-out.
#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let sandbox = Sandbox::in_memory();
    write_packages(&sandbox);
    sandbox.vak(&["plugins", "install", HEALTHY]).expect(0);
    let roots = [sandbox.shared(), sandbox.workspace()];
    let guard = disk::lock_all(&[&roots[0], &roots[1]]).unwrap();
    let readers: [&[&str]; 4] = [
        &["plugins", "list"],
        &["plugins", "retired"],
        &["plugins", "inspect", "healthy"],
        &["doctor"],
    ];
    for command in readers {
        let run = sandbox.vak(command);
        assert_ne!(run.code, 2, "{command:?}\n{}", run.stderr);
        assert!(!run.stderr.contains("lock"), "{command:?}\n{}", run.stderr);
    }
    drop(guard);
}

/// A process is stopped in the middle of a change, then killed; the next one takes over at once.
#[test]
fn a_killed_holder_does_not_block_the_next() {
    if !strace::is_available() {
        return;
    }
    let sandbox = Sandbox::in_memory();
    write_packages(&sandbox);
    sandbox.vak(&["plugins", "install", HEALTHY]).expect(0);
    let log = sandbox.path().join("trace");
    let stop = [
        "trace=fsync".to_owned(),
        "inject=fsync:signal=STOP:when=1".to_owned(),
    ];
    let mut tracer = strace::traced(
        &sandbox.command(&["plugins", "remove", "healthy"]),
        &log,
        &stop,
    )
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    let holder = stopped_process(&log);

    // It holds the lock, and no reader minds.
    let held = disk::lock_within(&[&sandbox.shared()], Duration::ZERO);
    assert!(
        matches!(held, Err(disk::DiskError::LockTimeout { .. })),
        "{held:?}"
    );
    assert!(installed(&sandbox).contains("healthy"));

    kill_process(holder, Signal::KILL).unwrap();
    tracer.wait().unwrap();
    disk::lock_within(&[&sandbox.shared()], Duration::ZERO).unwrap();
    sandbox.vak(&["plugins", "enable", "healthy"]).expect(0);
}

/// Waits until a traced process has stopped; the trace says which.
fn stopped_process(log: &Path) -> Pid {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        let trace = fs::read_to_string(log).unwrap_or_default();
        let stopped = trace
            .lines()
            .find(|line| line.contains("stopped by SIGSTOP"));
        if let Some(pid) = stopped.and_then(|line| line.split_whitespace().next()) {
            return Pid::from_raw(pid.parse().unwrap()).unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the traced process did not stop");
}
