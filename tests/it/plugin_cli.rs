//! `vak plugins`: each command's exit code, its report in both formats, and that a dry run writes nothing.

use crate::plugin::Home;
use crate::sandbox::Run;
use serde_json::{Value, json};
use std::fs;

const STALE: &str = "Then call `python_eval` with the code.";

impl Home {
    fn plugins(&self, args: &[&str]) -> Run {
        let mut all = vec!["plugins"];
        all.extend(args);
        self.sandbox.vak(&all)
    }

    /// Runs a command dry, then for real, and checks that the first wrote nothing, not even a lock file,
    /// and reported what the second did.
    #[track_caller]
    fn dry_then_real(&self, args: &[&str]) -> (Value, Value) {
        fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
            [args, more].concat()
        }
        let before = self.sandbox.tree();
        let dry = self
            .plugins(&with(args, &["--dry-run", "--format", "json"]))
            .expect(0)
            .json();
        assert_eq!(self.sandbox.tree(), before);
        self.plugins(&with(args, &["--dry-run"])).expect(0);
        assert_eq!(self.sandbox.tree(), before);
        let real = self
            .plugins(&with(args, &["--format", "json"]))
            .expect(0)
            .json();
        assert_eq!(
            (&dry["dry_run"], &real["dry_run"]),
            (&true.into(), &false.into())
        );
        assert_eq!((&dry["schema"], &real["schema"]), (&1.into(), &1.into()));
        (dry, real)
    }
}

impl Home {
    /// Runs a command that is refused, dry and for real: in the same words, and nothing changes.
    #[track_caller]
    fn refuse(&self, args: &[&str]) -> String {
        let before = self.sandbox.tree();
        let dry = self.plugins(&[args, &["--dry-run"]].concat()).expect(2);
        let real = self.plugins(args).expect(2);
        assert_eq!(dry.stderr, real.stderr);
        assert_eq!(self.sandbox.tree(), before);
        real.stderr
    }
}

fn path(path: &std::path::Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_whole_life_of_a_plugin_dry_and_real() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");

    let (dry, real) = home.dry_then_real(&["install", path(&package)]);
    for report in [&dry, &real] {
        assert_eq!(report["state"], "installed");
        assert_eq!(report["plugin"]["name"], "demo");
        assert_eq!(report["plugin"]["enabled"], false);
    }
    assert_eq!(dry["plugin"]["digest"], real["plugin"]["digest"]);

    let (dry, real) = home.dry_then_real(&["enable", "demo"]);
    assert_eq!(
        (&dry["changed"], &real["changed"]),
        (&true.into(), &true.into())
    );
    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"demo\"]\n",
    );
    let before = home.shared_tree();

    let (dry, real) = home.dry_then_real(&["remove", "demo"]);
    for report in [&dry, &real] {
        assert_eq!(report["removed"]["name"], "demo");
        assert_eq!(report["removed"]["reason"], "requested");
        assert_eq!(report["removed"]["grants"][0]["lines"][0], 2);
    }
    let id = real["removed"]["id"].as_str().unwrap();
    let listed = home
        .plugins(&["list", "--quarantine", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(listed["quarantine"][0]["id"], id);

    let (dry, real) = home.dry_then_real(&["restore", "demo"]);
    assert_eq!(dry["plugin"]["id"], real["plugin"]["id"]);
    assert_eq!(real["grants"][0]["outcome"]["state"], "exact");
    assert_eq!(dry["grants"], real["grants"]);
    let registry = ["plugins/registry.json"];
    assert_eq!(
        home.shared_tree().without(&registry),
        before.without(&registry)
    );

    let (dry, real) = home.dry_then_real(&["disable", "demo"]);
    assert_eq!(
        (&dry["changed"], &real["changed"]),
        (&true.into(), &true.into())
    );
    home.plugins(&["remove", "demo"]).expect(0);
    let (dry, real) = home.dry_then_real(&["purge", "--older-than", "0s"]);
    assert_eq!(dry["stores"][0]["purged"], real["stores"][0]["purged"]);
    assert_eq!(real["stores"][0]["purged"].as_array().unwrap().len(), 1);
    home.plugins(&["restore", "demo"]).expect(2);
}

/// An installation looks at the disk, not at the registry alone, and a dry run looks as closely.
#[test]
fn an_installation_heals_what_is_gone_and_says_what_is_in_its_way() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.install_enabled(&package);
    let sound = home.sandbox.tree();
    let registered = home.registry()["plugins"]["demo"].clone();
    let place = std::path::PathBuf::from(registered["package_path"].as_str().unwrap());
    let registry = home.sandbox.shared().join("plugins/registry.json");
    let skill = place.join("skills/work/SKILL.md");

    // Its package is gone.
    fs::remove_dir_all(home.sandbox.shared().join("plugins/packages")).unwrap();
    let (dry, real) = home.dry_then_real(&["install", path(&package)]);
    assert_eq!(
        (&dry["state"], &real["state"]),
        (&"mended".into(), &"mended".into())
    );
    assert_eq!(home.sandbox.tree(), sound);

    // It is not what was installed: what the hint says to type helps.
    fs::write(&skill, "edited").unwrap();
    let refused = home.refuse(&["install", path(&package)]);
    assert!(
        refused.contains("hint: take it away with `vak plugins remove demo`"),
        "{refused}"
    );
    home.plugins(&["remove", "demo"]).expect(0);
    home.plugins(&["install", path(&package)]).expect(0);

    // The registry was set aside: its packages are found again.
    fs::remove_file(&registry).unwrap();
    home.dry_then_real(&["install", path(&package)]);

    // And are refused where they are not this package, whatever they are.
    let damages: [fn(&std::path::Path); 2] = [
        |skill| fs::write(skill, "edited").unwrap(),
        |skill| {
            fs::remove_file(skill).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", skill).unwrap();
        },
    ];
    for damage in damages {
        let _ = fs::remove_file(&registry);
        damage(&skill);
        let refused = home.refuse(&["install", path(&package)]);
        assert!(refused.contains(path(&place)), "{refused}");
        assert!(!refused.contains("plugins remove"), "{refused}");
    }
    fs::remove_dir_all(&place).unwrap();
    home.plugins(&["install", path(&package)]).expect(0);
}

#[test]
fn retired_says_what_where_and_what_next_and_exits_with_1() {
    let home = Home::new();
    let clean = home.plugins(&["retired"]).expect(0);
    assert_eq!(clean.stdout, "No plugin calls a retired tool.\n");
    home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
    let run = home.plugins(&["retired"]).expect(1);
    for part in [
        "stale",
        "1.0.0",
        "skills/work/SKILL.md:6:12",
        "3.0.21",
        "`bash`",
        "vak setup seed",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let report = home
        .plugins(&["retired", "--format", "json"])
        .expect(1)
        .json();
    let plugin = &report["plugins"][0];
    assert_eq!(plugin["store"], "user");
    assert_eq!(plugin["kept"], false);
    assert_eq!(plugin["tools"][0]["name"], "python_eval");
    assert_eq!(plugin["files"][0]["findings"][0]["line"], 6);

    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nkeep_retired = [\"stale\"]\n",
    );
    let report = home
        .plugins(&["retired", "--format", "json"])
        .expect(1)
        .json();
    assert_eq!(report["plugins"][0]["kept"], true);
}

/// What can't be read may call anything: it is told, and the exit code is not that of a clean look.
#[test]
fn a_plugin_that_cannot_be_read_is_told_by_every_look_for_retired_ones() {
    use std::os::unix::fs::PermissionsExt as _;
    for (shut, more) in [
        ("skills/work/SKILL.md", None),
        ("", None),
        ("skills", Some(STALE)),
    ] {
        let home = Home::new();
        home.install_enabled(&home.package_saying("shut", "1.0.0", STALE));
        if let Some(text) = more {
            home.install_enabled(&home.package_saying("stale", "1.0.0", text));
        }
        let place = home.registry()["plugins"]["shut"]["package_path"]
            .as_str()
            .unwrap()
            .to_owned();
        let shut = std::path::Path::new(&place).join(shut);
        let chmod = |path: &std::path::Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        chmod(home.sandbox.path(), 0o755);
        chmod(&shut, 0o000);
        let run =
            |args: &[&str]| Run::from(as_nobody(home.sandbox.command(args)).output().unwrap());
        let human = run(&["plugins", "retired"]).expect(2);
        assert_eq!(
            human.stdout.contains("stale"),
            more.is_some(),
            "{}",
            human.stdout
        );
        assert!(
            !human.stdout.contains("No plugin calls"),
            "{}",
            human.stdout
        );
        assert!(human.stderr.contains("`shut`"), "{}", human.stderr);
        let json = run(&["plugins", "retired", "--format", "json"])
            .expect(2)
            .json();
        assert_eq!(
            json["plugins"].as_array().unwrap().len(),
            usize::from(more.is_some())
        );
        assert!(json["failed"][0].as_str().unwrap().contains("`shut`"));
        let doctor = run(&["doctor"]);
        assert!(
            !doctor.stdout.contains("✓ retired-plugins"),
            "{}",
            doctor.stdout
        );
        assert!(
            doctor.stdout.contains("shut 1.0.0 (user) can't be read"),
            "{}",
            doctor.stdout
        );
        chmod(&shut, 0o755);
    }
}

/// The command as another user where the tests run as root, for whom nothing is forbidden.
fn as_nobody(mut command: std::process::Command) -> std::process::Command {
    use std::os::unix::process::CommandExt as _;
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    command
}

#[test]
fn a_stale_package_is_refused_with_file_line_and_what_to_do() {
    let home = Home::new();
    let package = home.package_saying("stale", "1.0.0", STALE);
    let run = home.plugins(&["install", path(&package)]).expect(2);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("skills/work/SKILL.md:6"),
        "{}",
        run.stderr
    );
    let last = run.stderr.lines().last().unwrap();
    assert_eq!(last, "hint: name `bash` instead, or pass `--allow-retired`");
    let run = home
        .plugins(&["install", path(&package), "--allow-retired"])
        .expect(0);
    assert!(run.stdout.contains("disabled") && run.stdout.contains("keep_retired"));
}

#[test]
fn restoring_a_stale_plugin_tells_how_to_keep_it() {
    let home = Home::new();
    home.install_enabled(&home.package_saying("stale", "1.0.0", STALE));
    home.sandbox.vak(&["setup", "seed"]).expect(0);
    home.plugins(&["list", "--format", "json"]).expect(0);
    let run = home.plugins(&["restore", "stale"]).expect(0);
    assert!(
        run.stderr.contains("keep_retired = [\"stale\"]"),
        "{}",
        run.stderr
    );
    home.sandbox.vak(&["setup", "seed"]).expect(0);
    let run = home.plugins(&["inspect", "stale"]).expect(2);
    assert!(
        run.stderr.contains("vak plugins restore stale-"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_name_in_both_stores_has_to_be_told_apart() {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.plugins(&["install", path(&package)]).expect(0);
    home.plugins(&["install", path(&package), "--scope", "workspace"])
        .expect(0);
    for command in ["inspect", "enable", "disable", "remove"] {
        let before = home.sandbox.tree();
        let run = home.plugins(&[command, "demo"]).expect(2);
        assert!(
            run.stderr.contains("--scope workspace"),
            "{command}: {}",
            run.stderr
        );
        assert_eq!(home.sandbox.tree(), before);
    }
    let run = home.plugins(&["list"]).expect(0);
    let rows: Vec<_> = run
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().nth(2).unwrap())
        .collect();
    assert_eq!(rows, ["user", "workspace"]);
    home.plugins(&["remove", "demo", "--scope", "workspace"])
        .expect(0);
    home.plugins(&["remove", "demo"]).expect(0);
}

#[test]
fn looking_creates_nothing_not_even_a_lock() {
    let home = Home::new();
    let before = home.sandbox.tree();
    for args in [
        &["list"][..],
        &["list", "--quarantine"],
        &["retired"],
        &["purge", "--older-than", "0s"],
    ] {
        home.plugins(args).expect(0);
    }
    home.plugins(&["inspect", "demo"]).expect(2);
    home.plugins(&["remove", "demo"]).expect(2);
    assert_eq!(home.sandbox.tree(), before);
}

/// What a terminal obeys or hides, in every way there is.
const HOSTILE: &str = "x\nhint: forged\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}5m\u{202e}\u{200b}\u{7f}\r";

/// A home whose workspace, as a clone may, brings a store in which every text is hostile.
fn home_with_hostile_texts() -> Home {
    let home = Home::new();
    let stale = home.package_saying("stale", "1.0.0", STALE);
    fs::rename(
        stale.join("skills/work"),
        stale.join(format!("skills/{HOSTILE}")),
    )
    .unwrap();
    let more = ["--scope", "workspace", "--allow-retired"];
    // No such package can be installed; the registry of a clone says what it likes.
    let healthy = home.package("stale", "0.9.0");
    home.plugins(&[&["install", path(&healthy)][..], &more].concat())
        .expect(0);
    let plugins = home.sandbox.workspace().join("plugins");
    let mut registry: Value =
        serde_json::from_slice(&fs::read(plugins.join("registry.json")).unwrap()).unwrap();
    let place = registry["plugins"]["stale"]["package_path"]
        .as_str()
        .unwrap()
        .to_owned();
    fs::remove_dir_all(&place).unwrap();
    fs::rename(&stale, &place).unwrap();
    for field in [
        "version",
        "description",
        "publisher",
        "license",
        "format",
        "source",
        "digest",
    ] {
        registry["plugins"]["stale"][field] = HOSTILE.into();
    }
    let mut nameless = registry["plugins"]["stale"].clone();
    nameless["package_path"] = HOSTILE.into();
    registry["plugins"][HOSTILE] = nameless;
    fs::write(plugins.join("registry.json"), registry.to_string()).unwrap();
    let gone = json!(HOSTILE).to_string().replace('\u{7f}', "\\u007f");
    let config = format!("[plugins]\nnetwork_allow = [{gone}]\n");
    home.sandbox.write("work/.vak/config.toml", config);
    fs::create_dir_all(plugins.join("quarantine").join(HOSTILE)).unwrap();
    home
}

/// The text without the styles that vak itself prints: `ESC [`, numbers, `m`.
fn unstyled(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let after = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match after.strip_prefix('m') {
            Some(after) => plain.push_str(after),
            None => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// In colour, as on a terminal: without it every escape is dropped, whoever wrote it.
#[test]
fn no_text_of_a_store_can_command_the_terminal() {
    let mut looks = vec![
        vec!["doctor"],
        vec!["doctor", "--repair", "--dry-run"],
        vec!["setup", "seed", "--dry-run"],
        vec!["skills", "list"],
        vec!["scan", ".vak"],
        vec!["plugins", "list"],
        vec!["plugins", "list", "--quarantine"],
        vec!["plugins", "retired"],
    ];
    let mut changes = Vec::new();
    for name in ["stale", HOSTILE] {
        looks.push(vec!["plugins", "inspect", name]);
        for command in ["enable", "disable", "remove"] {
            looks.push(vec!["plugins", command, name, "--dry-run"]);
            changes.push(vec!["plugins", command, name]);
        }
    }
    changes.push(vec!["plugins", "remove", HOSTILE, "--forget"]);
    changes.push(vec!["plugins", "list", "--quarantine"]);
    changes.push(vec!["plugins", "restore", HOSTILE]);
    changes.push(vec!["plugins", "purge", "--older-than", "0s"]);
    for commands in [looks, changes, vec![vec!["setup", "seed"]]] {
        let home = home_with_hostile_texts();
        for args in commands {
            let mut command = home.sandbox.command(&args);
            let run = Run::from(command.env("CLICOLOR_FORCE", "1").output().unwrap());
            let said = unstyled(&format!("{}{}", run.stdout, run.stderr));
            let is_obeyed = |c: &char| c.is_control() && *c != '\n';
            let is_hidden = |c: &char| "\u{202e}\u{200b}".contains(*c);
            let bad = said.chars().find(|c| is_obeyed(c) || is_hidden(c));
            assert_eq!(bad, None, "{args:?}\n{}", said.escape_debug());
            let is_forged = |line: &str| line.trim().starts_with("hint: forged");
            assert!(!said.lines().any(is_forged), "{args:?}\n{said}");
        }
    }
}

#[test]
fn a_name_that_is_none_can_only_be_forgotten_and_is_kept_in_quarantine() {
    let home = Home::new();
    let registry = "{\"schema\": 1, \"plugins\": {\"a\\u001b[2Jb\": {}}}";
    home.sandbox
        .write("home/.vak/plugins/registry.json", registry);
    home.plugins(&["remove", "a\u{1b}[2Jb"]).expect(2);
    home.plugins(&["remove", "a\u{1b}[2Jb", "--forget"])
        .expect(0);
    assert_eq!(
        home.plugins(&["list"]).stdout.lines().next(),
        Some("No plugins are installed.")
    );
    assert_eq!(home.store().quarantine().unwrap().len(), 1);
}

#[test]
fn a_waiting_command_says_so_and_a_reader_does_not_wait() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let (_store, guard) = home.locked();
    let run = home.plugins(&["list"]).expect(0);
    assert_eq!(run.stderr, "");
    let mut waiting = home
        .sandbox
        .command(&["plugins", "disable", "demo"])
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The hint arrives while the lock is held; only then is it given up.
    use std::io::BufRead as _;
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(waiting.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("waiting for another vak, which holds `"),
        "{line}"
    );
    drop(guard);
    assert!(waiting.wait().unwrap().success());
    assert!(!home.store().get("demo").unwrap().enabled);
}

/// A write that breaks off in the middle (as on a full disk): the old file, an error, nothing beside it.
#[test]
fn a_write_that_cannot_be_finished_changes_nothing() {
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let before = home.shared_tree();
    let vak = env!("CARGO_BIN_EXE_vak");
    for command in ["plugins remove demo", "plugins disable demo"] {
        // No file may grow beyond 512 bytes, and the signal that would say so is ignored.
        let script = format!("trap '' XFSZ; ulimit -f 1; exec '{vak}' {command}");
        let output = home
            .sandbox
            .command::<&str>(&[])
            .get_envs()
            .fold(
                &mut std::process::Command::new("sh"),
                |sh, (key, value)| match value {
                    Some(value) => sh.env(key, value),
                    None => sh.env_remove(key),
                },
            )
            .current_dir(home.sandbox.work())
            .args(["-c", &script])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {stderr}");
        assert!(stderr.contains("failed to write"), "{command}: {stderr}");
        assert_eq!(home.shared_tree(), before, "{command}");
    }
}

/// Runs as another user where the tests run as root, for whom nothing is forbidden.
#[test]
fn a_directory_that_may_not_be_written_is_a_clear_error_and_nothing_changes() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let home = Home::new();
    home.install_enabled(&home.package("demo", "1.0.0"));
    let chmod = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let plugins = home.sandbox.shared().join("plugins");
    let is_root = fs::metadata(&plugins).unwrap().uid() == 0;
    // Everything may be read, the lock may be taken, but nothing in `plugins` may be changed.
    chmod(home.sandbox.path(), 0o755);
    chmod(&home.sandbox.shared().join(".lock"), 0o666);
    chmod(&plugins, 0o555);
    let before = home.sandbox.tree();
    for command in [["remove", "demo"], ["disable", "demo"]] {
        let mut run = home.sandbox.command(&["plugins", command[0], command[1]]);
        if is_root {
            run.uid(NOBODY).gid(NOBODY);
        }
        let run = Run::from(run.output().unwrap());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("Permission denied"), "{}", run.stderr);
        assert!(run.stderr.contains("plugins"), "{}", run.stderr);
        assert_eq!(home.sandbox.tree(), before);
    }
    chmod(&plugins, 0o755);
}

#[test]
fn an_age_is_a_number_and_a_unit() {
    let home = Home::new();
    for age in ["30d", "0s", "12h", "2w", "5m"] {
        home.plugins(&["purge", "--older-than", age]).expect(0);
    }
    for age in [
        "",
        "d",
        "30",
        "-1d",
        "1.5d",
        "1y",
        "99999999999999999999d",
        "18446744073709551615w",
    ] {
        home.plugins(&["purge", "--older-than", age]).expect(2);
    }
}
