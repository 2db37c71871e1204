//! `vak doctor`: what it says of a home that is broken in every way, that it changes nothing, and what its
//! repairs mend.

use crate::sandbox::{Run, Sandbox, with_list_as_recorded};
use crate::tree::Tree;
use serde_json::Value;
use snapbox::{Assert, Data};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use vak::plugin::{Depth, Inconsistency, PluginStore};
use vak::roots::Scope;

const REPOSITORY: &str = env!("CARGO_MANIFEST_DIR");

fn install(sandbox: &Sandbox, name: &str, more: &[&str]) {
    let package = Path::new(REPOSITORY).join("examples/plugins").join(name);
    let mut args = vec!["plugins", "install", package.to_str().unwrap()];
    args.extend(more);
    sandbox.vak(&args).expect(0);
}

/// The installed package of a plugin that has one generation.
fn package(root: &Path, name: &str) -> PathBuf {
    let mut path = root.join("plugins/packages").join(name);
    for _ in 0..2 {
        path = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
    }
    path
}

/// A home in which everything is wrong that doctor has a check for.
fn broken() -> Sandbox {
    let sandbox = Sandbox::new();
    install(&sandbox, "python-sandbox", &["--allow-retired"]);
    install(
        &sandbox,
        "react-sandbox",
        &["--allow-retired", "--scope", "workspace"],
    );
    install(&sandbox, "sqlite-notebook", &["--scope", "workspace"]);
    let workspace = sandbox.workspace();
    // A removal that was decided and not begun.
    interrupt_removal(&sandbox, "react-sandbox");
    // A file that can't be scanned, in a package that is no longer what was installed.
    let skill = package(&workspace, "sqlite-notebook").join("skills/sqlite-notebook/SKILL.md");
    fs::remove_file(&skill).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &skill,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    // A skill of the user's own that calls a retired tool.
    sandbox.write(
        "home/.vak/skills/calc/SKILL.md",
        "---\nname: calc\ndescription: Work out sums.\n---\n\nCall `python_eval`.\n",
    );
    // What killed processes leave, and a directory that nobody knows.
    fs::create_dir(workspace.join("plugins/staging")).unwrap();
    fs::write(workspace.join("plugins/.vak-tmp.99.0"), "half").unwrap();
    fs::create_dir(workspace.join("plugins/packages/unknown")).unwrap();
    sandbox.write(
        "home/.vak/plugins/registry.json",
        "{\"schema\": 1, \"plugins\": {\n",
    );
    sandbox.write(
        "work/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"a\"\n",
    );
    sandbox
}

/// Leaves a removal behind as a process does that is killed right after it was decided: a pending file,
/// which has what the quarantine's record has.
fn interrupt_removal(sandbox: &Sandbox, name: &str) {
    let plugins = sandbox.workspace().join("plugins");
    let registry = fs::read(plugins.join("registry.json")).unwrap();
    sandbox.vak(&["plugins", "remove", name]).expect(0);
    let entry = fs::read_dir(plugins.join("quarantine"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let record = fs::read_to_string(entry.path().join("record.json")).unwrap();
    let id = entry.file_name().into_string().unwrap();
    sandbox.vak(&["plugins", "restore", name]).expect(0);
    fs::write(plugins.join("registry.json"), registry).unwrap();
    fs::create_dir_all(plugins.join("pending")).unwrap();
    // The record as it is, to the byte: the registry's entry is compared with it.
    let pending = format!("{{\"operation\": \"remove\", \"record\": {record}}}");
    fs::write(plugins.join(format!("pending/{id}.json")), pending).unwrap();
}

/// Both streams, with the sandbox's path taken out.
fn told(sandbox: &Sandbox, run: &Run) -> String {
    format!(
        "{}--- stderr\n{}--- exit code {}\n",
        with_list_as_recorded(&run.stdout),
        run.stderr,
        run.code
    )
    .replace(sandbox.path().to_str().unwrap(), "/ada")
}

#[test]
fn a_broken_home_is_understood_from_the_output_alone() {
    let sandbox = broken();
    let before = sandbox.tree();
    let run = sandbox.vak(&["doctor"]).expect(1);
    assert_eq!(sandbox.tree(), before, "a check changes nothing");
    let expected = Path::new(REPOSITORY).join("tests/it/doctor/broken-home");
    Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(told(&sandbox, &run), Data::read_from(&expected, None));
}

/// Typing what doctor says, in its order, ends with a home in order.
#[test]
fn a_repair_does_what_it_can_and_says_what_is_left() {
    let sandbox = broken();
    let run = sandbox.vak(&["doctor", "--repair"]).expect(2);
    assert!(run.stderr.contains("registry.json"), "{}", run.stderr);
    assert!(run.stderr.contains("config.toml:2:"), "{}", run.stderr);
    assert!(!sandbox.workspace().join("plugins/staging").exists());
    // What doctor said about the two files that only a person can mend.
    let registry = sandbox.shared().join("plugins/registry.json");
    fs::rename(&registry, registry.with_extension("broken")).unwrap();
    sandbox.write("work/.vak/config.toml", "[plugins]\nnetwork_allow = []\n");
    sandbox
        .vak(&["plugins", "remove", "sqlite-notebook"])
        .expect(0);
    sandbox.write(
        "home/.vak/skills/calc/SKILL.md",
        "---\nname: calc\ndescription: Work out sums.\n---\n\nCall `bash`.\n",
    );
    let run = sandbox.vak(&["doctor", "--repair"]).expect(0);
    assert!(!run.stdout.contains('✗'), "{}", run.stdout);
}

/// The documented schema describes what is printed, of an empty home and of a broken one.
#[test]
fn the_json_report_keeps_to_its_schema() {
    let schema = Path::new(REPOSITORY).join("docs/doctor.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let runs = [
        Sandbox::new().vak(&["doctor", "--format", "json"]),
        broken().vak(&["doctor", "--format", "json"]),
        broken().vak(&["doctor", "--format", "json", "--repair"]),
    ];
    for run in &runs {
        let report = run.json();
        let faults: Vec<String> = validator
            .iter_errors(&report)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{faults:?}\n{}", run.stdout);
    }
    assert_eq!(runs[0].json()["healthy"], true);
    assert_eq!(runs[1].json()["healthy"], false);
    // The same checks, whatever is wrong.
    let ids = |run: &Run| {
        let report = run.json();
        let checks = report["checks"].as_array().unwrap();
        let ids: Vec<String> = checks.iter().map(|check| check["id"].to_string()).collect();
        ids
    };
    assert_eq!(ids(&runs[0]), ids(&runs[1]));
}

#[test]
fn an_entry_that_names_nothing_is_a_warning_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\n  'gone',\n]\n",
    );
    let run = sandbox.vak(&["doctor"]).expect(0);
    assert!(run.stdout.contains("⚠ config-entries"), "{}", run.stdout);
    assert!(
        run.stdout.contains("config.toml:3  'gone',"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_held_lock_is_told_and_not_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.vak(&["setup", "seed"]).expect(0);
    let lock = fs::File::open(sandbox.shared().join(".lock")).unwrap();
    lock.lock().unwrap();
    let run = sandbox.vak(&["doctor"]).expect(0);
    assert!(run.stdout.contains("⚠ lock"), "{}", run.stdout);
}

#[test]
fn colour_is_for_terminals() {
    let sandbox = Sandbox::new();
    assert!(!sandbox.vak(&["doctor"]).stdout.contains('\u{1b}'));
    let mut forced = sandbox.command(&["doctor"]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(
        Run::from(forced.output().unwrap())
            .stdout
            .contains('\u{1b}')
    );
    forced.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    assert!(
        !Run::from(forced.output().unwrap())
            .stdout
            .contains('\u{1b}')
    );
}

/// What may not be read is said to be so, and the rest of the report stands.
#[test]
fn what_may_not_be_read_is_named() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become somebody without permission");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.vak(&["setup", "seed"]).expect(0);
    let opened = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(sandbox.path(), opened(0o755)).unwrap();
    fs::set_permissions(
        sandbox.shared().join("plugins/registry.json"),
        opened(0o600),
    )
    .unwrap();
    let before = sandbox.tree();
    let mut command = sandbox.command(&["doctor"]);
    let run = Run::from(command.uid(65534).gid(65534).output().unwrap()).expect(1);
    assert!(run.stdout.contains("✗ registry"), "{}", run.stdout);
    assert!(run.stdout.contains("denied"), "{}", run.stdout);
    // It may be sound: nothing is said to take it away.
    for harmful in ["run mv", "run vak plugins remove", "run ${EDITOR"] {
        assert!(!run.stdout.contains(harmful), "{}", run.stdout);
    }
    assert!(
        run.stdout.contains("✓ retired-tools-list"),
        "{}",
        run.stdout
    );
    assert_eq!(sandbox.tree(), before);
}

/// A name from a registry is one word of the command that doctor says to type, and the command works.
#[test]
fn what_to_type_about_a_name_is_safe_and_works() {
    let names = [
        "",
        "-rf",
        "--",
        "x; touch PWN #",
        "$(touch PWN)",
        "`touch PWN`",
        "it's",
        "a b",
        "*",
        "back\\slash",
        "naïve",
        "a\u{1b}[2Jb\u{7f}'",
        "x\ntouch PWN",
        "\u{202e}\u{200b}",
    ];
    for name in names {
        let sandbox = Sandbox::new();
        let registry =
            serde_json::json!({"schema": 1, "plugins": {name: {"package_path": "/nowhere"}}});
        sandbox.write("home/.vak/plugins/registry.json", registry.to_string());
        let before = fs::read_dir(sandbox.work()).unwrap().count();
        for run in remedies(&sandbox, "registry") {
            assert!(!run.chars().any(char::is_control), "{run:?}");
            type_in(&sandbox, &run);
        }
        let after = fs::read_dir(sandbox.work()).unwrap().count();
        assert_eq!(before, after, "{name:?}");
        let run = sandbox.vak(&["doctor"]).expect(0);
        assert!(
            run.stdout.contains("✓ registry"),
            "{name:?}\n{}",
            run.stdout
        );
    }
}

/// A store that is broken in one way.
struct Broken {
    sandbox: Sandbox,
}

impl Broken {
    /// A home where both stores have the sound plugin `sqlite-notebook`.
    fn new() -> Broken {
        let sandbox = Sandbox::new();
        install(&sandbox, "sqlite-notebook", &[]);
        install(&sandbox, "sqlite-notebook", &["--scope", "workspace"]);
        Broken { sandbox }
    }

    fn registry(&self) -> PathBuf {
        self.sandbox.workspace().join("plugins/registry.json")
    }

    /// Makes the workspace's package another than was installed.
    fn damage(&self) {
        let package = package(&self.sandbox.workspace(), "sqlite-notebook");
        fs::remove_file(package.join("vak-plugin.json")).unwrap();
    }

    /// Gives the workspace's registry an entry.
    fn enter(self, name: &str, entry: Value) -> Broken {
        let text = fs::read(self.registry()).unwrap();
        let mut registry: Value = serde_json::from_slice(&text).unwrap();
        registry["plugins"][name] = entry;
        fs::write(self.registry(), registry.to_string()).unwrap();
        self
    }
}

/// Typing what doctor says about the registry, whatever is wrong in it, puts it in order, and takes away
/// nothing but what is wrong.
#[test]
fn what_to_type_about_a_registry_mends_it_and_costs_nothing_sound() {
    let damaged = Broken::new();
    damaged.damage();
    let gone = Broken::new();
    let packages = gone.sandbox.workspace().join("plugins/packages");
    fs::remove_dir_all(packages.join("sqlite-notebook")).unwrap();
    let bad_name = |name| {
        let broken = Broken::new();
        let registry = fs::read(broken.registry()).unwrap();
        let registry: Value = serde_json::from_slice(&registry).unwrap();
        let entry = registry["plugins"]["sqlite-notebook"].clone();
        broken.enter(name, entry)
    };
    let bad_entry = |name| Broken::new().enter(name, serde_json::json!({"enabled": "yes"}));
    let unreadable_beside = Broken::new();
    unreadable_beside
        .sandbox
        .write("home/.vak/plugins/registry.json", "{");
    unreadable_beside.damage();
    for (what, broken) in [
        ("a damaged package", damaged),
        ("no package", gone),
        ("no name", bad_name("")),
        ("a name from below", bad_name("../../x")),
        ("an entry that is none", bad_entry("odd")),
        ("one that both have", bad_entry("sqlite-notebook")),
        ("one under no name", bad_entry("-x")),
        ("the other store is unreadable", unreadable_beside),
    ] {
        let sandbox = &broken.sandbox;
        let shared = Tree::read(&sandbox.shared());
        for run in remedies(sandbox, "registry") {
            assert!(!run.starts_with("mv "), "{what}: {run}");
            type_in(sandbox, &run);
        }
        let store = PluginStore::open(&sandbox.workspace(), Scope::Workspace);
        let left = store.check(Depth::Contents).unwrap();
        let is_harmless = |it: &Inconsistency| matches!(it, Inconsistency::Orphan { .. });
        assert!(left.iter().all(is_harmless), "{what}: {left:?}");
        let after = Tree::read(&sandbox.shared());
        assert_eq!(
            after.without(&[".lock"]),
            shared.without(&[".lock"]),
            "{what}"
        );
    }
}

/// What may be sound, or is a person's to judge, is shown; no command takes it away.
#[test]
fn what_to_type_about_what_only_a_person_can_judge_changes_nothing() {
    let record = Broken::new();
    fs::create_dir_all(record.sandbox.workspace().join("plugins/quarantine/junk-1")).unwrap();
    let pending = Broken::new();
    pending
        .sandbox
        .write("work/.vak/plugins/pending/junk-1.json", "{}");
    let linked = Broken::new();
    let registry = linked.registry();
    fs::rename(&registry, registry.with_extension("real")).unwrap();
    std::os::unix::fs::symlink("registry.real", &registry).unwrap();
    let unnameable = Broken::new().enter("a\0b", serde_json::json!({}));
    for broken in [record, pending, linked, unnameable] {
        let sandbox = &broken.sandbox;
        let before = sandbox.tree();
        let remedies = remedies(sandbox, "registry");
        assert!(!remedies.is_empty());
        for run in remedies {
            type_in(sandbox, &run);
        }
        assert_eq!(sandbox.tree(), before);
    }
}

/// A starter plugin has no source to install it from again.
#[test]
fn a_damaged_starter_plugin_comes_back_by_what_doctor_says() {
    let sandbox = Sandbox::new();
    sandbox.vak(&["setup", "seed"]).expect(0);
    let sound = package(&sandbox.shared(), "git-history");
    let files = Tree::read(&sound);
    fs::write(sound.join("README"), "mine").unwrap();
    let remedies = remedies(&sandbox, "registry");
    assert_eq!(remedies.len(), 2, "{remedies:?}");
    type_in(&sandbox, &remedies[0]);
    // What a person does in the editor.
    let memory = sandbox.shared().join("seed.json");
    assert!(remedies[1].contains("seed.json"), "{remedies:?}");
    let mut remembered: Value = serde_json::from_slice(&fs::read(&memory).unwrap()).unwrap();
    remembered["plugins"]
        .as_object_mut()
        .unwrap()
        .remove("git-history")
        .unwrap();
    fs::write(&memory, remembered.to_string()).unwrap();
    sandbox.vak(&["setup", "seed"]).expect(0);
    assert_eq!(Tree::read(&sound), files);
    sandbox
        .vak(&["plugins", "inspect", "git-history"])
        .expect(0);
}

/// A path that is not UTF-8 is shown as well as can be, and breaks no document off.
#[test]
fn every_report_is_whole_in_a_home_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    let place = |name: &[u8]| sandbox.path().join(std::ffi::OsStr::from_bytes(name));
    let (home, work) = (place(b"h\xff"), place(b"w\xfe"));
    for root in [home.join(".vak"), work.join(".vak/skills/calc")] {
        fs::create_dir_all(root).unwrap();
    }
    fs::write(
        home.join(".vak/config.toml"),
        "[plugins]\nnetwork_allow = ['gone', 'python-sandbox']\n",
    )
    .unwrap();
    fs::write(
        work.join(".vak/skills/calc/SKILL.md"),
        "Call `python_eval`.\n",
    )
    .unwrap();
    let package = Path::new(REPOSITORY).join("examples/plugins/python-sandbox");
    let install = [
        "plugins",
        "install",
        package.to_str().unwrap(),
        "--allow-retired",
    ];
    let commands = [
        &["doctor"][..],
        &["setup", "seed"],
        &install,
        &["doctor"],
        &["skills", "list"],
        &["plugins", "list"],
        &["plugins", "inspect", "python-sandbox"],
        &["plugins", "retired"],
        &["setup", "seed", "--dry-run"],
        &["doctor", "--repair"],
        &["plugins", "list", "--quarantine"],
        &["plugins", "restore", "python-sandbox"],
        &["plugins", "remove", "python-sandbox"],
        &["plugins", "purge", "--older-than", "0s"],
        &["services-sync"],
    ];
    for args in commands {
        for format in ["human", "json"] {
            if format == "human" && args[0] == "plugins" {
                continue;
            }
            let mut command = sandbox.command(args);
            command
                .args(["--format", format])
                .env("VAK_HOME", &home)
                .current_dir(&work);
            let run = Run::from(command.output().unwrap());
            assert_ne!(run.code, 2, "{args:?}: {}", run.stderr);
            if format == "json" {
                run.json();
            }
        }
    }
}

/// The lock check is about whether a change can be made, so it is compared with one.
#[test]
fn the_lock_check_passes_exactly_where_a_change_can_be_made() {
    let cases = [
        ("home/.vak/.lock", 0o644, true),
        ("home/.vak/.lock", 0o444, true),
        ("home/.vak/.lock", 0o000, false),
        ("home/.vak", 0o555, false),
        ("home/.vak/plugins", 0o555, false),
        ("home/.vak/plugins/registry.json", 0o444, false),
    ];
    for (place, mode, works) in cases {
        let sandbox = Sandbox::new();
        install(&sandbox, "sqlite-notebook", &[]);
        give_to_nobody(sandbox.path());
        let opened = |mode| fs::Permissions::from_mode(mode);
        fs::set_permissions(sandbox.path().join(place), opened(mode)).unwrap();
        let report = as_nobody(&sandbox, &["doctor", "--format", "json"]).json();
        let lock = check(&report, "lock");
        assert_eq!(lock["verdict"] == "pass", works, "{place} {mode:o}: {lock}");
        assert_eq!(lock["remedies"].as_array().unwrap().is_empty(), works);
        let change = as_nobody(&sandbox, &["setup", "seed"]);
        assert_eq!(
            change.code == 0,
            works,
            "{place} {mode:o}: {}",
            change.stderr
        );
        fs::set_permissions(sandbox.path().join(place), opened(0o755)).unwrap();
    }
    // Before there is a root, what is to hold it counts.
    let sandbox = Sandbox::new();
    give_to_nobody(sandbox.path());
    fs::set_permissions(sandbox.home(), fs::Permissions::from_mode(0o555)).unwrap();
    let report = as_nobody(&sandbox, &["doctor", "--format", "json"]).json();
    assert_eq!(check(&report, "lock")["verdict"], "fail");
    as_nobody(&sandbox, &["setup", "seed"]).expect(2);
}

/// Makes everything below a path another user's, where the tests run as root, for whom nothing is forbidden.
fn give_to_nobody(path: &Path) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    std::os::unix::fs::lchown(path, Some(65_534), Some(65_534)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_to_nobody(&entry.unwrap().path());
        }
    }
}

fn as_nobody(sandbox: &Sandbox, args: &[&str]) -> Run {
    use std::os::unix::process::CommandExt as _;
    let mut command = sandbox.command(args);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    Run::from(command.output().unwrap())
}

/// A check of a report, by its name.
fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    let mut checks = report["checks"].as_array().unwrap().iter();
    checks.find(|it| it["id"] == id).unwrap()
}

/// What doctor says to type about a check.
fn remedies(sandbox: &Sandbox, id: &str) -> Vec<String> {
    let report = sandbox.vak(&["doctor", "--format", "json"]).json();
    let remedies = check(&report, id)["remedies"].as_array().unwrap().iter();
    remedies
        .map(|remedy| remedy["run"].as_str().unwrap().to_owned())
        .collect()
}

/// Types a command into a shell that knows `vak`.
#[track_caller]
fn type_in(sandbox: &Sandbox, line: &str) -> Run {
    let vak = sandbox.command::<&str>(&[]);
    let mut shell = std::process::Command::new("bash");
    shell
        .args(["-c", &format!("vak() {{ \"$VAK\" \"$@\"; }}; {line}")])
        .env("VAK", vak.get_program())
        .env("EDITOR", "true")
        .current_dir(sandbox.work());
    for (key, value) in vak.get_envs() {
        match value {
            Some(value) => shell.env(key, value),
            None => shell.env_remove(key),
        };
    }
    Run::from(shell.output().unwrap()).expect(0)
}
