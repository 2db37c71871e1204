//! What the tools of a session may change of vak's own state, and show of it, wherever it lies.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use vak::core::Core;
use vak::roots::Roots;
use vak::tools::{Cancel, PermissionMode, ToolCall, ToolOutcome};

/// A workspace, and a way for vak's state to lie in it.
struct Layout {
    sandbox: Sandbox,
    roots: Roots,
    cwd: PathBuf,
}

impl Layout {
    /// A workspace in which `arrange` has put what the home `vak_home` leads to.
    fn new(vak_home: &str, arrange: impl FnOnce(&Path)) -> Layout {
        let sandbox = Sandbox::new();
        let cwd = sandbox.work();
        arrange(&cwd);
        Layout {
            roots: Roots::resolve(Some(vak_home.as_ref()), sandbox.path(), &cwd),
            sandbox,
            cwd,
        }
    }

    fn call(&self, mode: PermissionMode, tool: &str, arguments: &Value) -> ToolOutcome {
        let core = Core::start(self.roots.clone(), &self.cwd, true, &mut |_| ());
        let call = ToolCall {
            id: "1".to_owned(),
            name: tool.to_owned(),
            arguments: arguments.to_string(),
        };
        core.toolbox(Some(mode))
            .unwrap()
            .call(&call, &Cancel::new())
    }

    #[track_caller]
    fn refused(&self, mode: PermissionMode, tool: &str, arguments: &Value) {
        let outcome = self.call(mode, tool, arguments);
        let told: Value = serde_json::from_str(&outcome.for_model()).unwrap();
        assert_eq!(told["error"], "own_state", "{tool} {arguments} {mode}");
        assert_eq!(told["kind"], "denied");
    }
}

fn make(directory: impl AsRef<Path>) {
    fs::create_dir_all(directory).unwrap();
}

/// A name, a home, what is there, and paths that lead to vak's own state.
type Case = (
    &'static str,
    &'static str,
    fn(&Path),
    &'static [&'static str],
);

/// Every way for vak's own state to lie in a workspace.
const CASES: [Case; 9] = [
    (
        "the workspace's own root",
        "../home",
        |work| make(work.join(".vak")),
        &[".vak/config.toml", ".VAK/new", ".vak"],
    ),
    (
        "the shared root",
        "vak-home",
        |work| make(work.join("vak-home/.vak")),
        &["vak-home/.vak/config.toml", "vak-home/.vak/plugins/new"],
    ),
    (
        "a shared root that is not there yet",
        "vak-home",
        |_| (),
        &["vak-home/.vak/config.toml", "vak-home/.VAK"],
    ),
    (
        "a home behind a link",
        "link",
        |work| {
            make(work.join("real/.vak"));
            symlink("real", work.join("link")).unwrap();
        },
        &["link/.vak/config.toml", "real/.vak/config.toml"],
    ),
    (
        "roots that are links",
        "vak-home",
        |work| {
            make(work.join("vak-home"));
            make(work.join("own"));
            make(work.join("shared"));
            symlink("own", work.join(".vak")).unwrap();
            symlink("../shared", work.join("vak-home/.vak")).unwrap();
            symlink("shared", work.join("innocent")).unwrap();
        },
        &[
            ".vak/config.toml",
            "own/config.toml",
            "own/skills/new/SKILL.md",
            "vak-home/.vak/config.toml",
            "shared/config.toml",
            "innocent/config.toml",
        ],
    ),
    (
        "roots that are links to nothing yet",
        "vak-home",
        |work| {
            make(work.join("vak-home"));
            symlink("own", work.join(".vak")).unwrap();
            symlink(work.join("shared"), work.join("vak-home/.vak")).unwrap();
        },
        &["own/config.toml", "shared/config.toml", ".vak/config.toml"],
    ),
    (
        "configs kept elsewhere",
        "vak-home",
        |work| {
            make(work.join(".vak"));
            make(work.join("vak-home/.vak"));
            make(work.join("dotfiles"));
            fs::write(work.join("dotfiles/vak.toml"), "").unwrap();
            symlink("../missing.toml", work.join(".vak/config.toml")).unwrap();
            let shared = work.join("vak-home/.vak/config.toml");
            symlink("../../dotfiles/vak.toml", shared).unwrap();
        },
        &["dotfiles/vak.toml", "missing.toml"],
    ),
    (
        "another workspace's root",
        "../home",
        |work| make(work.join("sub/.vak")),
        &["sub/.vak/config.toml", "sub/deep/.vak/new"],
    ),
    (
        "a path that goes astray first",
        "../home",
        |work| {
            make(work.join("x"));
            make(work.join(".vak"));
            symlink(".vak", work.join("innocent")).unwrap();
        },
        &["x/../.vak/config.toml", "innocent/config.toml"],
    ),
];

#[test]
fn workspace_write_can_not_raise_itself() {
    for (name, vak_home, arrange, paths) in CASES {
        let layout = Layout::new(vak_home, arrange);
        let before = layout.sandbox.tree();
        let mode = PermissionMode::WorkspaceWrite;
        for path in paths {
            let text = "permission_mode = \"full-access\"\n";
            layout.refused(mode, "write", &json!({"path": path, "content": text}));
            // Not even by its answers does an edit tell what is there.
            let edit = json!({"path": path, "old_text": "a", "new_text": "b"});
            layout.refused(mode, "edit", &edit);
        }
        assert!(layout.sandbox.tree() == before, "{name}");
        // What is nobody's state is as writable as ever.
        for path in ["free", "vak/config.toml", "a.vak/b"] {
            let write = json!({"path": path, "content": ""});
            let outcome = layout.call(mode, "write", &write);
            assert_eq!(outcome.error_kind(), None, "{name}: {path}");
        }
        let full = PermissionMode::FullAccess;
        let write = json!({"path": paths[0], "content": "# by a person's decision\n"});
        let outcome = layout.call(full, "write", &write);
        assert_eq!(outcome.error_kind(), None, "{name}: {}", paths[0]);
    }
}

#[test]
fn a_workspace_inside_the_state_is_state() {
    let mut layout = Layout::new("../home", |_| ());
    layout.cwd = layout.sandbox.shared().join("skills/mine");
    make(&layout.cwd);
    for path in ["SKILL.md", "new/file"] {
        let write = json!({"path": path, "content": ""});
        layout.refused(PermissionMode::WorkspaceWrite, "write", &write);
        let outcome = layout.call(PermissionMode::FullAccess, "write", &write);
        assert_eq!(outcome.error_kind(), None, "{path}");
    }
}

#[test]
fn no_search_shows_vaks_own_state_and_only_full_access_reads_it() {
    for (name, vak_home, arrange, paths) in CASES {
        let layout = Layout::new(vak_home, arrange);
        fs::write(layout.cwd.join("free"), "needle\n").unwrap();
        // What can be there is there.
        let is_written = |path: &&&str| {
            let path = layout.cwd.join(path);
            make(path.parent().unwrap_or(&path));
            !path.is_dir() && fs::write(path, "# needle\n").is_ok()
        };
        let there: Vec<&&str> = paths.iter().filter(is_written).collect();
        assert!(!there.is_empty(), "{name}");
        for mode in PermissionMode::ALL {
            let find = |tool, pattern| {
                let outcome = layout.call(mode, tool, &json!({"pattern": pattern}));
                outcome.result.unwrap()
            };
            assert_eq!(find("glob", "**"), "free\n", "{name}");
            assert_eq!(find("grep", "needle"), "free:1:needle\n", "{name}");
            for path in &there {
                let directory = Path::new(path).parent().unwrap();
                let calls = [
                    ("read", json!({"path": path})),
                    ("grep", json!({"pattern": "needle", "path": path})),
                    ("glob", json!({"pattern": "*", "path": directory})),
                ];
                // The directory of a config that is kept elsewhere is nobody's state.
                let calls = calls.iter().take(if path.contains("vak/") { 3 } else { 2 });
                for (tool, arguments) in calls {
                    if mode < PermissionMode::FullAccess {
                        layout.refused(mode, tool, arguments);
                    } else {
                        let shown = layout.call(mode, tool, arguments).result.unwrap();
                        assert!(
                            shown.contains("needle") || *tool == "glob",
                            "{name}: {shown}"
                        );
                    }
                }
            }
        }
    }
}

/// `skill` refused a rejected skill, and `glob`, `grep` and `read` handed it out.
#[test]
fn what_was_not_admitted_is_not_found_by_another_tool() {
    let layout = Layout::new("vak-home", |_| ());
    let skill = |name: &str, text: &str| {
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{text}\n")
    };
    let stale = skill("stale", "Call `python_eval` with the code.");
    for (path, text) in [
        (".vak/skills/stale/SKILL.md", &stale),
        (".vak/skills/stale/more.md", &stale),
        ("vak-home/.vak/plugins/quarantine/1/SKILL.md", &stale),
        ("vak-home/.vak/server.token", &"python_eval".to_owned()),
        (".vak/skills/good/SKILL.md", &skill("good", "See more.md.")),
        (".vak/skills/good/more.md", &"more\n".to_owned()),
        (".vak/skills/good/inner/SKILL.md", &stale),
    ] {
        let path = layout.cwd.join(path);
        make(path.parent().unwrap());
        fs::write(path, text).unwrap();
    }
    for mode in [PermissionMode::ReadOnly, PermissionMode::WorkspaceWrite] {
        let call = |tool, arguments| layout.call(mode, tool, &arguments).result;
        assert!(call("skill", json!({"name": "good"})).is_ok());
        assert!(call("skill", json!({"name": "stale"})).is_err());
        for (tool, pattern, shown) in [
            ("glob", "*.md", "[no file matches]\n"),
            ("glob", "*.token", "[no file matches]\n"),
            ("grep", "python_eval", "[no line matches]\n"),
        ] {
            let found = call(tool, json!({"pattern": pattern})).unwrap();
            assert_eq!(found, shown);
        }
        // The files beside an admitted skill's text are what it may send the model to.
        let more = call("read", json!({"path": ".vak/skills/good/more.md"})).unwrap();
        assert_eq!(more, "1\tmore\n");
        for path in [
            ".vak/skills/stale/SKILL.md",
            ".vak/skills/stale/more.md",
            "vak-home/.vak/plugins/quarantine/1/SKILL.md",
            "vak-home/.vak/server.token",
            ".vak/skills/good/SKILL.md",
            ".vak/skills/good/inner/SKILL.md",
        ] {
            layout.refused(mode, "read", &json!({"path": path}));
        }
    }
    let read = json!({"path": ".vak/skills/stale/SKILL.md"});
    let outcome = layout.call(PermissionMode::ReadOnly, "read", &read);
    let told: Value = serde_json::from_str(&outcome.for_model()).unwrap();
    assert_eq!(
        told["message"],
        "`.vak/skills/stale/SKILL.md` is vak's own state, which only `full-access` may read or change"
    );
    assert_eq!(
        told["hint"],
        "a skill is loaded with the `skill` tool; the rest is a person's to look after"
    );
}
