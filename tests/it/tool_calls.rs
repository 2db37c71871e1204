//! One call through the whole path: name, permission, schema, tool, and what the model is told.

use crate::sandbox::{Run, Sandbox};
use crate::strace;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vak::tools::{
    Cancel, FrozenSkill, FrozenSkills, LIVE_TOOLS, PermissionMode, ToolCall, ToolErrorKind,
    ToolOutcome, Toolbox, Workspace,
};

/// A workspace with a secret beside it.
struct Bench {
    dir: TempDir,
    toolbox: Toolbox,
}

impl Bench {
    fn new(mode: PermissionMode) -> Bench {
        Bench::with_skills(mode, FrozenSkills::default())
    }

    fn with_skills(mode: PermissionMode, skills: FrozenSkills) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::write(dir.path().join("secret"), "the secret\n").unwrap();
        let workspace = Workspace::open(&dir.path().join("work"), Vec::new()).unwrap();
        Bench {
            toolbox: Toolbox::new(workspace, mode, skills),
            dir,
        }
    }

    fn full() -> Bench {
        Bench::new(PermissionMode::FullAccess)
    }

    fn work(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).unwrap()
    }

    fn call(&self, name: &str, arguments: &Value) -> ToolOutcome {
        self.call_raw(name, &arguments.to_string())
    }

    fn call_raw(&self, name: &str, arguments: &str) -> ToolOutcome {
        let call = ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        self.toolbox.call(&call, &Cancel::new())
    }

    #[track_caller]
    fn ok(&self, name: &str, arguments: &Value) -> String {
        self.call(name, arguments).result.unwrap()
    }

    /// The error object that the model sees, with its kind held against the outcome's.
    #[track_caller]
    fn failure(&self, name: &str, arguments: &Value) -> Value {
        failure(&self.call(name, arguments))
    }
}

#[track_caller]
fn failure(outcome: &ToolOutcome) -> Value {
    let kind = outcome.error_kind().expect("the call should fail");
    let object: Value = serde_json::from_str(&outcome.for_model()).unwrap();
    assert_eq!(object["kind"], serde_json::to_value(kind).unwrap());
    object
}

#[test]
fn a_retired_name_is_led_to_the_live_tool_and_told_so() {
    let bench = Bench::full();
    for said in ["python_eval", "PYTHON_EVAL", "python-eval", " Python_Eval "] {
        let outcome = bench.call(said, &json!({"code": "print(6*7)"}));
        assert_eq!(outcome.error_kind(), Some(ToolErrorKind::Correctable));
        let expected = json!({
            "error": "missing_parameter",
            "kind": "correctable",
            "message": "missing required parameter: command",
            "called": said.trim(),
            "retired_in": "3.0.21",
            "tool": "bash",
            "hint": "`python_eval` was retired in 3.0.21; use `bash`: \
                     run Python with `python3` in a `bash` command",
            "parameter": "command",
            "schema": LIVE_TOOLS[0].schema(),
        });
        assert_eq!(failure(&outcome), expected, "{said}");
    }
    assert_eq!(
        bench.ok("bash", &json!({"command": "python3 -c 'print(6*7)'"})),
        "42\n"
    );
}

#[test]
fn invariant_29_a_redirected_call_that_works_still_says_that_the_name_is_retired() {
    let outcome = Bench::full().call("python_eval", &json!({"command": "echo 42"}));
    assert_eq!(
        outcome.for_model(),
        "note: `python_eval` was retired in 3.0.21; use `bash`: \
         run Python with `python3` in a `bash` command\n42\n"
    );
}

#[test]
fn an_alias_is_only_another_name() {
    let bench = Bench::full();
    assert_eq!(
        bench
            .call("Shell", &json!({"command": "echo 42"}))
            .for_model(),
        "42\n"
    );
    let told = bench.failure("read-file", &json!({}));
    assert_eq!(told["called"], "read-file");
    assert_eq!(told["tool"], "read");
    assert_eq!(told.get("hint"), None);
}

#[test]
fn an_unknown_name_gets_the_nearest_tools_of_the_session() {
    for mode in PermissionMode::ALL {
        let bench = Bench::new(mode);
        let all: Vec<&str> = bench.toolbox.offered().map(|tool| tool.name).collect();
        for (said, nearest) in [
            ("baash", "bash"),
            ("reed_file", "read"),
            ("pythn_eval", "bash"),
            ("wrte", "write"),
            ("quantum_teleport", ""),
            ("", ""),
            (&"x".repeat(200), ""),
        ] {
            let nearest = if all.contains(&nearest) {
                &vec![nearest]
            } else {
                &all
            };
            let said = &said[..said.len().min(128)];
            let told = bench.failure(said, &json!({}));
            assert_eq!(
                told,
                json!({
                    "error": "unknown_capability",
                    "kind": "correctable",
                    "message": format!("there is no tool `{said}`"),
                    "called": said,
                    "nearest": nearest,
                })
            );
        }
    }
}

/// A retired name used to be led to a tool that the session does not have.
#[test]
fn nobody_is_led_to_a_tool_that_the_session_does_not_have() {
    for (mode, said) in [
        (PermissionMode::ReadOnly, "write"),
        (PermissionMode::ReadOnly, "file_edit"),
        (PermissionMode::ReadOnly, "python_eval"),
        (PermissionMode::WorkspaceWrite, "react_preview"),
        (PermissionMode::WorkspaceWrite, "bash"),
    ] {
        let told = Bench::new(mode).failure(said, &json!({"code": "1"}));
        assert_eq!(told["error"], "not_permitted");
        let tool = told["tool"].as_str().unwrap();
        assert_eq!(
            told["hint"],
            format!(
                "this session has no `{tool}`: do without it, or say what you could not do; \
                 never make up its result"
            )
        );
        let retired_in = vak::tools::retired_tool(said).map(|row| row.retired_in);
        assert_eq!(told.get("retired_in").and_then(Value::as_str), retired_in);
    }
}

#[test]
fn each_mode_allows_what_it_says_and_tells_what_a_denied_call_needs() {
    let arguments = |tool: &str| match tool {
        "bash" => json!({"command": "true"}),
        "write" => json!({"path": "new", "content": ""}),
        "edit" => json!({"path": "there", "old_text": "a", "new_text": "b"}),
        "read" => json!({"path": "there"}),
        "skill" => json!({"name": "s"}),
        _ => json!({"pattern": "x"}),
    };
    for mode in PermissionMode::ALL {
        let skills = FrozenSkills {
            admitted: [(
                "s".to_owned(),
                FrozenSkill {
                    path: "/dev/null".into(),
                    text: String::new(),
                },
            )]
            .into(),
            ..FrozenSkills::default()
        };
        let bench = Bench::with_skills(mode, skills);
        bench.write("there", "a");
        let offered: Vec<&str> = bench.toolbox.offered().map(|tool| tool.name).collect();
        let allowed: Vec<&str> = LIVE_TOOLS
            .iter()
            .map(|tool| tool.name)
            .filter(|tool| {
                let outcome = bench.call(tool, &arguments(tool));
                outcome.error_kind() != Some(ToolErrorKind::Denied)
            })
            .collect();
        let expected: &[&str] = match mode {
            PermissionMode::ReadOnly => &["read", "glob", "grep", "skill"],
            PermissionMode::WorkspaceWrite => &["read", "write", "edit", "glob", "grep", "skill"],
            PermissionMode::FullAccess => {
                &["bash", "read", "write", "edit", "glob", "grep", "skill"]
            }
        };
        assert_eq!(allowed, expected, "{mode}");
        assert_eq!(offered, expected, "{mode}");
    }
    let told = Bench::new(PermissionMode::ReadOnly).failure("python_eval", &json!({"code": "1"}));
    assert_eq!(told["error"], "not_permitted");
    assert_eq!(
        told["message"],
        "`bash` needs permission mode `full-access`; this session runs in `read-only`"
    );
    assert_eq!(told["retired_in"], "3.0.21");
}

#[test]
fn arguments_are_held_against_the_schema() {
    let bench = Bench::full();
    for (arguments, error, message) in [
        (
            "{\"command\": \"ec",
            "malformed_arguments",
            "the arguments are not a JSON object: EOF while parsing a string at line 1 column 15",
        ),
        (
            "[\"ls\"]",
            "malformed_arguments",
            "the arguments are not a JSON object: they are another JSON value",
        ),
        (
            "",
            "missing_parameter",
            "missing required parameter: command",
        ),
        (
            "{\"command\": 7}",
            "invalid_parameter",
            "invalid parameter `command`: the value is not of type \"string\"",
        ),
        (
            "{\"command\": \"\"}",
            "invalid_parameter",
            "invalid parameter `command`: the value is shorter than 1 character",
        ),
        (
            "{\"command\": \"ls\", \"cwd\": \"/\"}",
            "invalid_parameter",
            "invalid parameter `cwd`: the tool has no such parameter",
        ),
        (
            "{\"command\": \"ls\", \"timeout_seconds\": 601}",
            "invalid_parameter",
            "invalid parameter `timeout_seconds`: the value is greater than the maximum of 600",
        ),
        (
            "{\"command\": \"a\\u0000b\"}",
            "invalid_parameter",
            "invalid parameter `command`: it contains a NUL character",
        ),
    ] {
        let told = failure(&bench.call_raw("bash", arguments));
        assert_eq!(told["error"], error, "{arguments}");
        assert_eq!(told["message"], message, "{arguments}");
        assert_eq!(told["schema"], *LIVE_TOOLS[0].schema(), "{arguments}");
    }
    let huge = json!({"command": "x".repeat(9 << 20)});
    let told = bench.failure("bash", &huge);
    assert_eq!(told["error"], "oversized_arguments");
    assert_eq!(told["kind"], "correctable");
}

/// `2.0` passed the schema and was then called no JSON object.
#[test]
fn an_integer_is_one_however_it_is_written() {
    let bench = Bench::full();
    bench.write("file", "one\ntwo\nthree\n");
    let mut seen = 0;
    for tool in LIVE_TOOLS {
        let properties = tool.schema()["properties"].as_object().unwrap();
        let required = match tool.name {
            "read" => r#""path": "file""#,
            "bash" => r#""command": "echo over""#,
            _ => r#""pattern": "two""#,
        };
        for (name, property) in properties {
            if property["type"] != "integer" {
                continue;
            }
            seen += 1;
            let call = |number: &str| {
                bench.call_raw(tool.name, &format!("{{{required}, \"{name}\": {number}}}"))
            };
            let two = call("2").result.unwrap();
            for number in ["2.0", "2e0", "0.2e1", "20E-1"] {
                assert_eq!(call(number).result.unwrap(), two, "{}: {number}", tool.name);
            }
            for number in [
                "2.5",
                "-1",
                "-1.0",
                "1e30",
                "-1e30",
                "18446744073709551616",
                "\"2\"",
            ] {
                let told = failure(&call(number));
                assert_eq!(
                    told["error"], "invalid_parameter",
                    "{}: {number}",
                    tool.name
                );
                assert_eq!(told["parameter"], **name, "{}: {number}", tool.name);
            }
        }
    }
    assert_eq!(seen, 4);
}

#[test]
fn every_schema_compiles_and_names_its_required_parameters() {
    let bench = Bench::full();
    for tool in LIVE_TOOLS {
        let schema = tool.schema();
        jsonschema::meta::validate(schema).unwrap();
        let required = schema["required"][0].as_str().unwrap();
        let told = bench.failure(tool.name, &json!({}));
        assert_eq!(
            told["message"],
            format!("missing required parameter: {required}")
        );
    }
}

#[test]
fn bash_tells_the_exit_code_and_both_streams_in_order() {
    let bench = Bench::full();
    for (command, shown) in [
        ("echo out; echo err >&2; echo out", "out\nerr\nout\n"),
        ("true", "[no output]"),
        ("exit 3", "[exit code 3]"),
        ("printf partial; exit 1", "partial\n[exit code 1]"),
        ("kill -9 $$", "[ended by signal 9]"),
        ("pwd -P | sed 's,.*/,,'", "work\n"),
        ("read -r line || echo no input", "no input\n"),
    ] {
        assert_eq!(bench.ok("bash", &json!({"command": command})), shown);
    }
}

#[test]
fn bash_sees_no_credentials() {
    let shown = Bench::full().ok("bash", &json!({"command": "env | sed 's/=.*//' | sort"}));
    let harmless = [
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL",
        "TERM", "TMPDIR", "TZ", "USER", "_",
    ];
    for name in shown.lines() {
        assert!(harmless.contains(&name), "{name} reached the command");
    }
    // The test's own process has more than that, so something was kept back.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
}

#[test]
fn bash_keeps_the_beginning_and_the_end_of_long_output() {
    let bench = Bench::full();
    let shown = bench.ok("bash", &json!({"command": "seq 1 100000"}));
    assert!(shown.starts_with("1\n2\n3\n"));
    assert!(shown.ends_with("\n99999\n100000\n"));
    // `seq 1 100000` writes 588,895 bytes.
    assert!(shown.contains(&format!("\n[{} bytes cut]\n", 588_895 - (32 << 10))));
    assert!(shown.len() < (32 << 10) + 100);
    // Characters that the cuts go through leave no debris.
    let shown = bench.ok("bash", &json!({"command": "yes ÄÖÜ€ | head -c 200000"}));
    assert!(!shown.contains('\u{fffd}'), "{shown:.100}");
}

/// The last of the output used to be dropped where reading it took longer than a tick.
#[test]
fn bash_tells_all_of_the_output_to_a_slow_reader() {
    if !strace::is_available() {
        return;
    }
    let sandbox = Sandbox::new();
    let half = 16 << 10;
    let zeros = |count: usize| "0".repeat(count);
    // Each writes what a pipe holds, and is over before it is read.
    for (command, shown) in [
        ("printf %030000d 0; echo END", zeros(30_000) + "END\n"),
        (
            "printf %060000d 0 >&2; echo END",
            format!(
                "{}\n[{} bytes cut]\n{}END\n",
                zeros(half),
                60_004 - 2 * half,
                zeros(half - 4)
            ),
        ),
        (
            "trap 'printf %020000d 0; echo END; exit' TERM; while :; do sleep 0.01; done",
            zeros(20_000) + "END\n",
        ),
    ] {
        let args = json!({"command": command, "timeout_seconds": 1}).to_string();
        let call = ["tools", "call", "bash", "--format", "json", "--args", &args];
        let call = [&call[..], &["--permission-mode", "full-access"]].concat();
        let slow = ["trace=read", "inject=read:delay_exit=25000"].map(str::to_owned);
        let log = sandbox.path().join("trace");
        let mut traced = strace::traced(&sandbox.command(&call), &log, &slow);
        let told = Run::from(traced.output().unwrap()).json()["told"].take();
        let output = told.get("output").unwrap_or(&told).as_str().unwrap();
        // The shell may say first that `sleep` was ended.
        assert!(
            output.ends_with(&shown),
            "{command}: {} bytes",
            output.len()
        );
    }
}

#[test]
fn bash_ends_the_whole_group_when_the_time_is_up() {
    let bench = Bench::full();
    let started = Instant::now();
    let command = "echo begun; (trap '' TERM; sleep 60; touch late) & sleep 60";
    let told = bench.failure("bash", &json!({"command": command, "timeout_seconds": 1}));
    assert_eq!(told["error"], "timed_out");
    assert_eq!(told["message"], "it was ended after 1 s");
    assert_eq!(told["output"], "begun\n");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn bash_leaves_nothing_running_in_the_background() {
    let bench = Bench::full();
    let started = Instant::now();
    let shown = bench.ok("bash", &json!({"command": "sleep 60 & echo $!"}));
    assert!(started.elapsed() < Duration::from_secs(20));
    let pid = shown.trim();
    let gone = || match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // Killed, and only not yet reaped by whoever inherited it.
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    while !gone() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(gone(), "{pid} still runs");
}

/// The processes that work in a directory or below it.
fn at_work_in(directory: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let places = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(directory)).count()
}

/// A command used to outlive a vak that was hung up, killed, or asked twice to stop.
#[test]
fn a_command_does_not_outlive_vak() {
    let command = "trap '' HUP INT QUIT TERM; (sleep 60; touch late) & touch begun; sleep 60; wait";
    let args = json!({"command": command}).to_string();
    let call = [
        "tools",
        "call",
        "bash",
        "--permission-mode",
        "full-access",
        "--args",
        &args,
    ];
    for signals in [
        &[Signal::HUP][..],
        &[Signal::QUIT],
        &[Signal::KILL],
        &[Signal::INT],
        &[Signal::INT, Signal::INT],
        &[Signal::TERM, Signal::INT],
        &[Signal::INT, Signal::KILL],
    ] {
        let sandbox = Sandbox::new();
        let work = sandbox.work().canonicalize().unwrap();
        let mut command = sandbox.command(&call);
        let mut vak = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let is_late = || started.elapsed() > Duration::from_secs(30);
        while !work.join("begun").exists() && !is_late() {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(at_work_in(&work) > 2);
        for signal in signals {
            let _ = kill_process(Pid::from_child(&vak), *signal);
            std::thread::sleep(Duration::from_millis(100));
        }
        vak.wait().unwrap();
        while at_work_in(&work) > 0 {
            assert!(!is_late(), "{signals:?}: something is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn nothing_is_left_of_a_call_whenever_vak_is_killed() {
    let sandbox = Sandbox::new();
    let work = sandbox.work().canonicalize().unwrap();
    let call = |command: &str| {
        let args = json!({"command": command}).to_string();
        sandbox.command(&[
            "tools",
            "call",
            "bash",
            "--permission-mode",
            "full-access",
            "--args",
            &args,
        ])
    };
    for delay in (0..60).step_by(3) {
        let mut vak = call("sleep 60 & sleep 60").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        vak.kill().unwrap();
        vak.wait().unwrap();
        let killed = Instant::now();
        while at_work_in(&work) > 0 {
            assert!(killed.elapsed() < Duration::from_secs(20), "{delay} ms");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    // Nor is anything left of one that came to its end.
    Run::from(call("echo over").output().unwrap()).expect(0);
    assert_eq!(at_work_in(&work), 0);
}

#[test]
fn a_cancelled_call_ends_soon_and_says_so() {
    let bench = Bench::full();
    let cancel = Cancel::new();
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        let call = ToolCall {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            arguments: json!({"command": "sleep 60"}).to_string(),
        };
        let outcome = bench.toolbox.call(&call, &cancel);
        assert_eq!(outcome.error_kind(), Some(ToolErrorKind::Cancelled));
    });
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    let secret = bench.dir.path().join("secret");
    symlink(&secret, bench.work().join("link")).unwrap();
    symlink("../secret", bench.work().join("relative")).unwrap();
    symlink("..", bench.work().join("up")).unwrap();
    let outside = [
        secret.to_str().unwrap(),
        "../secret",
        "a/../../secret",
        "link",
        "relative",
        "up/secret",
        "/etc/passwd",
    ];
    fs::create_dir(bench.work().join("a")).unwrap();
    for path in outside {
        for (tool, arguments) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": "gone"})),
            (
                "edit",
                json!({"path": path, "old_text": "the", "new_text": "no"}),
            ),
            ("glob", json!({"pattern": "*", "path": path})),
            ("grep", json!({"pattern": ".", "path": path})),
        ] {
            let told = bench.failure(tool, &arguments);
            assert_eq!(told["error"], "outside_workspace", "{tool} {path}");
            assert_eq!(told["kind"], "denied", "{tool} {path}");
        }
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "the secret\n");
    // A search that only passes a link does not follow it.
    assert_eq!(
        bench.ok("grep", &json!({"pattern": "secret"})),
        "[no line matches]\n"
    );
    assert_eq!(
        bench.ok("glob", &json!({"pattern": "**"})),
        "[no file matches]\n"
    );
}

#[test]
fn a_directory_that_turns_into_a_link_meanwhile_leads_nowhere() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    bench.write("place/secret", "harmless\n");
    let (place, link) = (bench.work().join("place"), bench.work().join("link"));
    symlink("..", &link).unwrap();
    let over = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // On a busy machine it takes more tries to meet the directory in its place.
        for turn in 0..100_000 {
            if turn >= 300 && !seen.is_empty() {
                break;
            }
            let path = json!({"path": "place/secret"});
            seen.extend(bench.call("read", &path).result);
            let text = json!({"path": "place/secret", "content": "harmless\n"});
            let _ = bench.call("write", &text);
        }
        over.store(true, Ordering::Relaxed);
    });
    seen.dedup();
    assert_eq!(seen, ["1\tharmless\n"]);
    let secret = fs::read_to_string(bench.dir.path().join("secret")).unwrap();
    assert_eq!(secret, "the secret\n");
}

#[test]
fn links_inside_the_workspace_are_followed() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    bench.write("real/file", "one\n");
    symlink("real", bench.work().join("link")).unwrap();
    symlink(
        bench.work().canonicalize().unwrap().join("real/file"),
        bench.work().join("absolute"),
    )
    .unwrap();
    assert_eq!(bench.ok("read", &json!({"path": "link/file"})), "1\tone\n");
    assert_eq!(bench.ok("read", &json!({"path": "absolute"})), "1\tone\n");
    bench.ok("write", &json!({"path": "absolute", "content": "two\n"}));
    assert_eq!(bench.text("real/file"), "two\n");
    assert!(bench.work().join("absolute").is_symlink());
    let full = bench.work().canonicalize().unwrap().join("real/file");
    assert_eq!(bench.ok("read", &json!({"path": full})), "1\ttwo\n");
}

#[test]
fn what_is_no_text_file_is_not_read() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    bench.write("binary", b"\xff\xfe\x00");
    bench.write("huge", vec![b'x'; (4 << 20) + 1]);
    fs::create_dir(bench.work().join("dir")).unwrap();
    let fifo = bench.work().join("fifo");
    rustix::fs::mkfifoat(CWD, &fifo, Mode::RUSR).unwrap();
    for (path, error) in [
        ("binary", "wrong_type"),
        ("dir", "wrong_type"),
        ("fifo", "wrong_type"),
        ("huge", "file_too_large"),
        ("missing", "not_found"),
        ("missing/file", "not_found"),
        ("nul\0", "invalid_parameter"),
    ] {
        let told = bench.failure("read", &json!({"path": path}));
        assert_eq!(told["error"], error, "{path:?}");
        assert_eq!(told["kind"], "correctable", "{path:?}");
    }
}

/// What another path would mend used to end the turn as hopeless.
#[test]
fn a_path_that_the_system_refuses_is_for_the_model_to_mend() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    bench.write("file", "text\n");
    symlink("b", bench.work().join("a")).unwrap();
    symlink("a", bench.work().join("b")).unwrap();
    symlink("nothing", bench.work().join("dangling")).unwrap();
    let long = "x".repeat(300);
    let longer = "x/".repeat(3_000);
    for path in [
        "a",
        "a/below",
        "file/below",
        "dangling/below",
        &long,
        &longer,
    ] {
        for (tool, arguments) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": ""})),
            (
                "edit",
                json!({"path": path, "old_text": "a", "new_text": "b"}),
            ),
            ("glob", json!({"pattern": "*", "path": path})),
            ("grep", json!({"pattern": "a", "path": path})),
        ] {
            let told = bench.failure(tool, &arguments);
            assert_eq!(told["kind"], "correctable", "{tool} {path:.20}: {told}");
        }
    }
}

#[test]
fn a_command_is_as_long_as_the_system_takes() {
    let bench = Bench::full();
    let limit = (128 << 10) - 1;
    let of_size = |bytes: usize, filler: &str| {
        let filler = filler.repeat((bytes - 2) / filler.len());
        let command = format!(": {filler}");
        json!({"command": format!("{command}{}", " ".repeat(bytes - command.len()))})
    };
    for filler in ["x", "é", "€"] {
        assert_eq!(bench.ok("bash", &of_size(limit, filler)), "[no output]");
        let told = bench.failure("bash", &of_size(limit + 1, filler));
        assert_eq!(told["error"], "invalid_parameter");
        assert_eq!(told["kind"], "correctable");
        assert_eq!(told["parameter"], "command");
    }
}

#[test]
fn read_shows_numbered_lines_and_how_to_go_on() {
    let bench = Bench::new(PermissionMode::ReadOnly);
    bench.write("file", "one\r\ntwo\nthree");
    bench.write("empty", "");
    bench.write("wide", "é".repeat(1_001));
    for (arguments, shown) in [
        (json!({"path": "file"}), "1\tone\n2\ttwo\n3\tthree\n"),
        (json!({"path": "./file", "offset": 3}), "3\tthree\n"),
        (
            json!({"path": "file", "offset": 2, "limit": 1}),
            "2\ttwo\n[1 of 3 lines left; go on with `offset` 3]\n",
        ),
        (json!({"path": "empty"}), "[the file is empty]"),
        (
            json!({"path": "wide"}),
            &format!("1\t{} [2 bytes cut]\n", "é".repeat(1_000)),
        ),
    ] {
        assert_eq!(bench.ok("read", &arguments), shown, "{arguments}");
    }
    let told = bench.failure("read", &json!({"path": "file", "offset": 4}));
    assert_eq!(
        told["message"],
        "invalid parameter `offset`: the file has 3 lines"
    );
}

#[test]
fn write_makes_directories_and_keeps_a_files_mode() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    assert_eq!(
        bench.ok("write", &json!({"path": "a/b/new", "content": "text\n"})),
        "created `a/b/new` (5 bytes)"
    );
    assert_eq!(bench.text("a/b/new"), "text\n");
    let script = bench.work().join("script");
    bench.write("script", "old");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(
        bench.ok("write", &json!({"path": "script", "content": "new"})),
        "replaced `script` (3 bytes)"
    );
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    // Nothing is left beside the files.
    assert_eq!(
        bench.ok("glob", &json!({"pattern": "**"})),
        "a/b/new\nscript\n"
    );
    for path in ["a", "a/b/new/below", "missing/../up"] {
        bench.failure("write", &json!({"path": path, "content": ""}));
    }
    assert_eq!(
        bench.ok("glob", &json!({"pattern": "**"})),
        "a/b/new\nscript\n"
    );
}

#[test]
fn edit_replaces_one_place_or_every_one() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    bench.write("file", "a b a\r\nnext\r\n");
    let edit = |old: &str, new: &str| json!({"path": "file", "old_text": old, "new_text": new});
    let told = bench.failure("edit", &edit("c", "d"));
    assert_eq!(told["error"], "text_not_found");
    let told = bench.failure("edit", &edit("a", "d"));
    assert_eq!(told["message"], "`file` contains `old_text` 2 times");
    assert_eq!(
        bench.ok("edit", &edit("b", "B")),
        "edited `file` once (1 replaced)"
    );
    // A model reads lines, not their ends.
    bench.ok("edit", &edit("a\nnext\n", "a\nafter\n"));
    assert_eq!(bench.text("file"), "a B a\r\nafter\r\n");
    let mut all = edit("a", "x");
    all["replace_all"] = json!(true);
    assert_eq!(
        bench.ok("edit", &all),
        "edited `file` everywhere (3 replaced)"
    );
    assert_eq!(bench.text("file"), "x B x\r\nxfter\r\n");
}

/// A line added by an edit of a piece of one line used to end with a bare LF.
#[test]
fn an_edit_keeps_to_a_files_line_ends() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let edited = |text: &str, old: &str, new: &str| {
        bench.write("file", text);
        let edit = json!({"path": "file", "old_text": old, "new_text": new, "replace_all": true});
        bench.ok("edit", &edit);
        bench.text("file")
    };
    let text = "one\ntwo\none";
    for (old, new) in [
        ("one", "1"),
        ("one", "one\nmore"),
        ("two", "\n"),
        ("two\n", ""),
        ("two\n", "2\nand\n"),
        ("\ntwo", "\n2\n"),
        ("e\nt", "\n\n"),
        ("\n", "\n\n"),
        ("\n", " "),
    ] {
        let expected = edited(text, old, new);
        assert_eq!(expected, text.replace(old, new));
        for old in [old.to_owned(), crlf(old)] {
            for new in [new.to_owned(), crlf(new)] {
                let changed = edited(&crlf(text), &old, &new);
                assert_eq!(changed, crlf(&expected), "{old:?} {new:?}");
            }
        }
    }
    // In a file that has both, the text that is replaced decides.
    let mixed = "one\r\ntwo\nthree\r\n";
    assert_eq!(edited(mixed, "one\ntwo", "1\n2"), "1\r\n2\nthree\r\n");
}

/// An edit used to make the new text, however long, before it looked at its size.
#[test]
fn an_edit_that_would_make_a_file_too_large_is_refused_before_it_is_made() {
    let bench = Bench::new(PermissionMode::WorkspaceWrite);
    let limit = 4 << 20;
    let edit = |old: &str, new: &str| json!({"path": "file", "old_text": old, "new_text": new, "replace_all": true});
    for (text, old, new, size) in [
        // More than this machine's memory.
        (
            "a".repeat(limit),
            "a",
            "b".repeat(1_000_000),
            1_000_000 * limit,
        ),
        ("a".repeat(limit), "a", "bb".to_owned(), 2 * limit),
        ("a".repeat(limit - 1) + "b", "b", "bb".to_owned(), limit + 1),
    ] {
        bench.write("file", &text);
        let told = bench.failure("edit", &edit(old, &new));
        assert_eq!(told["error"], "file_too_large");
        assert_eq!(told["kind"], "correctable");
        assert_eq!(
            told["message"],
            format!("`file` would be {size} bytes; at most {limit} can be written at once")
        );
        assert_eq!(told.get("hint"), None);
        assert!(bench.text("file") == text);
    }
    // Up to the limit, and from a size that only the old text had.
    for (text, old, new) in [
        ("a".repeat(limit - 1) + "b", "b", "c"),
        ("a".repeat(limit), "a", ""),
    ] {
        bench.write("file", &text);
        bench.ok("edit", &edit(old, new));
    }
    let write = json!({"path": "file", "content": "a".repeat(limit + 1)});
    let told = bench.failure("write", &write);
    assert_eq!(told["error"], "file_too_large");
    assert_eq!(told.get("hint"), None);
}

#[test]
fn glob_and_grep_find_in_order_and_leave_out_what_is_ignored() {
    let bench = Bench::new(PermissionMode::ReadOnly);
    bench.write(".gitignore", "target\n");
    bench.write("target/out.rs", "needle\n");
    bench.write(".git/config", "needle\n");
    bench.write("src/b.rs", "before\nneedle one\nafter\n");
    bench.write("src/deep/a.rs", "NEEDLE two\n");
    for (arguments, shown) in [
        (json!({"pattern": "*.rs"}), "src/b.rs\nsrc/deep/a.rs\n"),
        (json!({"pattern": "src/*.rs"}), "src/b.rs\n"),
        (
            json!({"pattern": "a.*", "path": "src/deep"}),
            "src/deep/a.rs\n",
        ),
        (json!({"pattern": "*.md"}), "[no file matches]\n"),
    ] {
        assert_eq!(bench.ok("glob", &arguments), shown, "{arguments}");
    }
    for (arguments, shown) in [
        (json!({"pattern": "needle"}), "src/b.rs:2:needle one\n"),
        (
            json!({"pattern": "^needle", "ignore_case": true, "glob": "*.rs"}),
            "src/b.rs:2:needle one\nsrc/deep/a.rs:1:NEEDLE two\n",
        ),
        (
            json!({"pattern": "needle", "context": 1, "path": "src/b.rs"}),
            "src/b.rs-1-before\nsrc/b.rs:2:needle one\nsrc/b.rs-3-after\n",
        ),
        (json!({"pattern": "haystack"}), "[no line matches]\n"),
    ] {
        assert_eq!(bench.ok("grep", &arguments), shown, "{arguments}");
    }
    assert_eq!(
        bench.failure("grep", &json!({"pattern": "("}))["error"],
        "invalid_parameter"
    );
    assert_eq!(
        bench.failure("glob", &json!({"pattern": "[a"}))["error"],
        "invalid_parameter"
    );
    bench.write("many", "line\n".repeat(500));
    let shown = bench.ok("grep", &json!({"pattern": "line", "path": "many"}));
    assert_eq!(shown.lines().count(), 201);
    assert!(shown.ends_with("[300 more lines match]\n"));
    bench.write("wide", format!("{}\n", "line".repeat(200)).repeat(190));
    let shown = bench.ok("grep", &json!({"pattern": "line", "path": "wide"}));
    assert!(shown.len() < 70_000);
    assert!(shown.contains(" [300 bytes cut]\n"));
    assert!(shown.ends_with(" more lines match]\n"));
}

/// Below a `path`, the ignore files above it used to be left unread.
#[test]
fn a_search_below_a_path_finds_what_the_whole_search_finds_there() {
    let bench = Bench::new(PermissionMode::ReadOnly);
    bench.write(
        ".gitignore",
        "target/\n*.log\n/sub/only-here\ndeep/rooted\n",
    );
    bench.write(".ignore", "*.tmp\n");
    bench.write("sub/.gitignore", "!keep.log\nlocal\n");
    for directory in [
        "",
        "sub/",
        "sub/deep/",
        "sub/target/",
        "target/",
        "other/deep/",
    ] {
        for file in [
            "a.rs",
            "a.log",
            "keep.log",
            "a.tmp",
            "local",
            "only-here",
            "rooted",
        ] {
            bench.write(&format!("{directory}{file}"), "needle\n");
        }
    }
    let glob = |path: &str| bench.ok("glob", &json!({"pattern": "**", "path": path}));
    let grep = |path: &str| bench.ok("grep", &json!({"pattern": "needle", "path": path}));
    let (all_files, all_lines) = (glob("."), grep("."));
    assert!(all_files.contains("sub/keep.log\n") && !all_files.contains("sub/a.log\n"));
    for path in [
        "sub",
        "sub/deep",
        "other",
        "other/deep",
        "sub/../sub",
        "sub/a.rs",
    ] {
        let place = path.rsplit("../").next().unwrap();
        let of = |all: &str| -> String {
            let below = |line: &&str| {
                line.strip_prefix(place)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            all.split_inclusive('\n').filter(below).collect()
        };
        assert_eq!(glob(path), of(&all_files), "{path}");
        assert_eq!(grep(path), of(&all_lines), "{path}");
    }
    // What is ignored is shown to a call that asks for it.
    assert!(glob("target").contains("target/a.rs\n"));
    assert!(glob("sub/target").contains("sub/target/a.rs\n"));
    assert_eq!(grep("sub/a.log"), "sub/a.log:1:needle\n");
}

/// What stood behind a NUL, and what could not be opened, used to vanish.
#[test]
fn a_search_counts_what_it_leaves_out() {
    let bench = Bench::new(PermissionMode::ReadOnly);
    let grep = |path: &str| bench.ok("grep", &json!({"pattern": "needle", "path": path}));
    bench.write("binary/early", b"\0 needle");
    assert_eq!(
        grep("binary"),
        "[no line matches]\n[1 file searched only up to the first NUL]\n"
    );
    let late = ["needle\n", &"text\n".repeat(70_000), "\0\nneedle\n"].concat();
    bench.write("binary/late", late);
    assert_eq!(
        grep("binary"),
        "binary/late:1:needle\n[2 files searched only up to the first NUL]\n"
    );
    bench.write("large/readable", "needle\n");
    for name in ["one", "two"] {
        let huge = fs::File::create(bench.work().join("large").join(name)).unwrap();
        huge.set_len((64 << 20) + 1).unwrap();
    }
    assert_eq!(
        grep("large"),
        "large/readable:1:needle\n[2 files too large or not readable]\n"
    );
    // A path that is too long for the system can't be walked.
    let name = "x".repeat(255);
    let mut directory = fs::File::open(bench.work()).unwrap();
    for _ in 0..20 {
        mkdirat(&directory, &name, Mode::RWXU).unwrap();
        directory = openat(&directory, &name, OFlags::RDONLY, Mode::empty())
            .unwrap()
            .into();
    }
    for (tool, none) in [
        ("glob", "[no file matches]\n"),
        ("grep", "[no line matches]\n"),
    ] {
        let shown = bench.ok(tool, &json!({"pattern": "needle", "path": name}));
        assert_eq!(shown, format!("{none}[1 place not readable]\n"));
    }
}

#[test]
fn a_file_that_turns_into_something_else_meanwhile_is_not_searched() {
    let bench = Bench::new(PermissionMode::ReadOnly);
    let secret = bench.dir.path().join("secret");
    let (file, other) = (bench.work().join("file"), bench.work().join("other"));
    let over = AtomicBool::new(false);
    let put_fifo = || rustix::fs::mkfifoat(CWD, &other, Mode::RUSR).unwrap();
    let put_link = || symlink(&secret, &other).unwrap();
    for put in [&put_fifo as &dyn Fn(), &put_link] {
        fs::write(&file, "harmless\n").unwrap();
        let _ = fs::remove_file(&other);
        put();
        over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &file, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for _ in 0..300 {
                let shown = bench.ok("grep", &json!({"pattern": "e"}));
                assert!(!shown.contains("the secret"), "{shown}");
            }
            over.store(true, Ordering::Relaxed);
        });
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_skill_is_given_as_it_was_admitted_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("SKILL.md");
    fs::write(&path, "the text").unwrap();
    let skills = FrozenSkills {
        admitted: [(
            "good".to_owned(),
            FrozenSkill {
                path: path.clone(),
                text: "the text".to_owned(),
            },
        )]
        .into(),
        rejected: [(
            "stale".to_owned(),
            "it tells the model to call a retired tool".to_owned(),
        )]
        .into(),
    };
    let bench = Bench::with_skills(PermissionMode::ReadOnly, skills);
    assert_eq!(bench.ok("skill", &json!({"name": "good"})), "the text");
    let told = bench.failure("skill", &json!({"name": "stale"}));
    assert_eq!(told["error"], "skill_not_admitted");
    assert_eq!(told["kind"], "not_admitted");
    let told = bench.failure("skill", &json!({"name": "none"}));
    assert_eq!(told["error"], "unknown_skill");
    assert_eq!(told["skills"], json!(["good"]));
    fs::write(&path, "other text").unwrap();
    let told = bench.failure("skill", &json!({"name": "good"}));
    assert_eq!(told["error"], "skill_changed");
    assert_eq!(told["kind"], "correctable");
    fs::remove_file(&path).unwrap();
    let told = bench.failure("skill", &json!({"name": "good"}));
    assert_eq!(told["error"], "skill_changed");
}
