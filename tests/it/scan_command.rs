//! `vak scan`: what people and programs see. The cases that a file can hold are files, in `scan_command/`:
//! `command`, the arguments, one line a run; `tree/`, what they work on; `output`, all that came of it.
//! `SNAPSHOTS=overwrite cargo test --test it scan_command::` writes the outputs anew.

use crate::sandbox::{Run, Sandbox};
use snapbox::{Assert, Data};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[test]
fn cases() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scan_command");
    let mut names: Vec<_> = fs::read_dir(&cases)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    let failures: Vec<String> = names
        .iter()
        .filter_map(|case| {
            let expected = Data::read_from(&case.join("output"), None);
            assert
                .try_eq(Some(&case.display()), run_case(case).into(), expected)
                .err()
        })
        .map(|error| error.to_string())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// All that comes of a case's commands: exit codes, both streams, and each file that is not as before.
fn run_case(case: &Path) -> String {
    let sandbox = Sandbox::new();
    copy(&case.join("tree"), &sandbox.work());
    let mut output = String::new();
    for line in fs::read_to_string(case.join("command")).unwrap().lines() {
        let before = files(&sandbox.work());
        let args: Vec<&str> = line.split(' ').collect();
        let run = sandbox.vak(&args);
        write!(output, "$ vak {line}\n{}", run.stdout).unwrap();
        if !run.stderr.is_empty() {
            write!(output, "--- stderr\n{}", run.stderr).unwrap();
        }
        writeln!(output, "--- exit code {}", run.code).unwrap();
        for (path, text) in files(&sandbox.work()) {
            if !before.contains(&(path.clone(), text.clone())) {
                write!(output, "--- now {}\n{text}", path.display()).unwrap();
            }
        }
    }
    output
}

fn copy(from: &Path, to: &Path) {
    for (path, text) in files(from) {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The text files below a directory, by relative path.
fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path.strip_prefix(root).unwrap().to_owned(), text));
            }
        }
    }
    files.sort();
    files
}

const CALL: &str = "Call `python_eval` now.\n";

/// A sandbox whose working directory holds these files.
fn work(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, text) in files {
        sandbox.write(Path::new("work").join(path), text);
    }
    sandbox
}

fn sarif_schema() -> jsonschema::Validator {
    let schema = include_str!("fixtures/sarif-2.1.0.schema.json");
    // Its pattern for languages has a bracket too many, which only lenient readers take.
    let schema = schema.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap()
}

#[test]
fn sarif_follows_its_schema() {
    let sandbox = work(&[
        ("skills/a b/SKILL.md", CALL),
        ("skills/c:d/é.md", CALL),
        ("plain.md", "Nothing here.\n"),
    ]);
    sandbox.write("work/latin.md", b"caf\xe9 `python_eval`\n");
    let name = OsString::from_vec(b"work/\xff.md".to_vec());
    sandbox.write(name, CALL);
    symlink("/nowhere", sandbox.work().join("gone.md")).unwrap();
    let schema = sarif_schema();
    let absolute = sandbox.work().join("plain.md");
    let absolute = absolute.to_str().unwrap();
    for args in [
        &["scan", ".", "--format", "sarif", "--min-grade", "mentions"][..],
        &["scan", ".", "missing.md", "--format", "sarif"],
        &["scan", absolute, "--format", "sarif"],
    ] {
        let document = sandbox.vak(args).json();
        let errors: Vec<String> = schema
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
    }
    let document = sandbox.vak(&["scan", ".", "--format", "sarif"]).json();
    let uris: Vec<&str> = document["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        .map(|uri| uri.as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "latin.md",
            "skills/a%20b/SKILL.md",
            "skills/c%3Ad/%C3%A9.md",
            "%FF.md"
        ]
    );
    let invalid = serde_json::json!({"version": "2.1.0", "runs": [{}]});
    assert!(
        !schema.is_valid(&invalid),
        "the schema refuses what is wrong"
    );
}

#[test]
fn the_order_does_not_depend_on_the_threads() {
    let sandbox = Sandbox::new();
    for number in 0..400 {
        let lines = "Filler.\n".repeat(number * 37 % 500);
        let path = format!("work/{}/{}/n{number}.md", number % 7, number % 31);
        sandbox.write(path, format!("{lines}{CALL}"));
    }
    let outputs: Vec<Run> = ["1", "2", "3", "8"]
        .iter()
        .map(|threads| sandbox.vak(&["scan", ".", "-j", threads]).expect(1))
        .collect();
    for output in &outputs {
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    let lines = sandbox.vak(&["scan", ".", "--format", "ndjson"]).stdout;
    let paths: Vec<PathBuf> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["type"] == "finding")
        .map(|line| PathBuf::from(line["path"].as_str().unwrap()))
        .collect();
    assert_eq!(paths.len(), 400);
    assert!(paths.is_sorted());
}

#[test]
fn a_reader_that_closes_the_pipe_changes_neither_messages_nor_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.write("work/SKILL.md", CALL.repeat(20_000));
    let mut child = sandbox
        .command(&["scan", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first.starts_with(b"SKILL.md:1:7: instructs"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn colour_is_for_terminals_and_no_color_is_honoured() {
    let sandbox = work(&[("SKILL.md", CALL)]);
    let is_coloured = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&["scan", "."]);
        command.envs(variables.iter().copied());
        command.output().unwrap().stdout.contains(&0x1b)
    };
    assert!(!is_coloured(&[]));
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_hostile_file_cannot_reach_the_terminal() {
    let sandbox = Sandbox::new();
    let name = OsString::from_vec(b"work/a\x1b]0;x\x07\n\xc2\x9b.md".to_vec());
    sandbox.write(
        name,
        "\u{1b}[2J\u{9b}2J\u{202e} `python_eval` \u{1b}]52;c;x\u{7}\r\n",
    );
    let output = sandbox
        .command(&["scan", "."])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_control() && c != '\n' || c == '\u{202e}') {
        // Only the colours of the report itself may be left.
        let own = rest[at..].strip_prefix("\u{1b}[").expect("a colour");
        let end = own.find('m').expect("a colour");
        assert!(own[..end].bytes().all(|b| b.is_ascii_digit() || b == b';'));
        rest = &own[end..];
    }
    assert_eq!(text.lines().count(), 6, "{text}");
}

#[test]
fn any_name_can_be_scanned_and_is_told_exactly() {
    let sandbox = Sandbox::new();
    let name = OsString::from_vec(b"with space \xff.txt".to_vec());
    sandbox.write(Path::new("work").join(&name), CALL);
    let scan = [OsString::from("scan"), name, "--format=json".into()];
    let document = sandbox.vak(&scan).expect(1).json();
    assert_eq!(document["files"][0]["path"], "with space \u{fffd}.txt");
    assert_eq!(
        document["files"][0]["encoded_path"],
        "with%20space%20%FF.txt"
    );
}

#[test]
fn standard_input_is_scanned_under_the_name_it_is_given() {
    let sandbox = Sandbox::new();
    let scan = |args: &[&str], text: &str| {
        let mut child = sandbox
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        Run::from(child.wait_with_output().unwrap())
    };
    let run = scan(&["scan", "-"], CALL).expect(1);
    assert!(run.stdout.starts_with("<stdin>:1:7: instructs"));
    let run = scan(
        &[
            "scan",
            "-",
            "--stdin-filename",
            "commands/x.md",
            "--format=json",
        ],
        CALL,
    );
    assert_eq!(run.json()["files"][0]["path"], "commands/x.md");
    assert_eq!(run.json()["files"][0]["role"], "command");
    scan(&["scan", "-"], "Nothing.\n").expect(0);
}

#[test]
fn what_was_asked_for_and_is_no_file_is_an_error_and_never_waits() {
    let sandbox = work(&[("SKILL.md", CALL)]);
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    let fifo = sandbox.work().join("fifo.md");
    rustix::fs::mknodat(rustix::fs::CWD, fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let run = sandbox.vak(&["scan", "fifo.md", "SKILL.md"]).expect(2);
    assert_eq!(
        run.stderr,
        "error: failed to scan `fifo.md`: a FIFO: not opened\n\
         hint: what comes through a pipe is scanned as standard input: `vak scan -`\n"
    );
    assert!(run.stdout.starts_with("SKILL.md:1:7: instructs"));
    let run = sandbox.vak(&["scan", "."]).expect(2);
    assert_eq!(
        run.stderr,
        "error: 1 file could not be scanned to its end\n"
    );
    assert!(
        run.stdout
            .contains("fifo.md: unscanned: a FIFO: not opened\n")
    );
}

#[test]
fn links_in_a_tree_add_only_what_is_not_met_anyway() {
    let sandbox = work(&[
        ("tree/real/a.md", CALL),
        ("tree/body.txt", CALL),
        ("tree/.git/b.md", CALL),
        ("outside/c.md", CALL),
    ]);
    let tree = sandbox.work().join("tree");
    for (link, target) in [
        ("cycle", ".."),
        ("dir", "real"),
        ("a-again.md", "real/a.md"),
        ("named.md", "body.txt"),
        ("unnamed", "body.txt"),
        ("git", ".git"),
        ("out", "../outside"),
        ("out.md", "../outside/c.md"),
        ("out.txt", "../outside/c.md"),
        ("gone.md", "gone"),
        ("gone", "gone-too"),
    ] {
        symlink(target, tree.join(link)).unwrap();
    }
    let document = sandbox
        .vak(&["scan", "tree", "--format=json"])
        .expect(2)
        .json();
    let seen: Vec<String> = document["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let why = file["unscanned"][0]["why"].as_str().unwrap_or("found");
            format!("{} {why}", file["path"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        seen,
        [
            "tree/cycle link-outside",
            "tree/git link-outside",
            "tree/gone.md broken-link",
            "tree/named.md found",
            "tree/out link-outside",
            "tree/out.md link-outside",
            "tree/real/a.md found",
        ]
    );
}

const LIST: &str = "---\nname: a\nallowed-tools: read, python_eval, bash\n---\nFine.\n";
const FIXED: &str = "---\nname: a\nallowed-tools: read, bash\n---\nFine.\n";

#[test]
fn a_fix_changes_no_other_byte_whatever_the_file_holds() {
    let sandbox = Sandbox::new();
    let long = "Fine. \r\n".repeat(600_000);
    let endings: [&[u8]; 4] = [
        b"",
        b"caf\xe9 \xff\r\n\0",
        "é\u{2028}".as_bytes(),
        long.as_bytes(),
    ];
    for (start, line_end) in [("", "\n"), ("\u{feff}", "\r\n")] {
        for ending in endings {
            let bytes = |text: &str| {
                let text = format!("{start}{}", text.replace('\n', line_end));
                [text.as_bytes(), ending].concat()
            };
            let path = sandbox.write("work/SKILL.md", bytes(LIST));
            let run = sandbox.vak(&["scan", "SKILL.md", "--fix", "--format=json"]);
            assert_eq!(run.json()["summary"]["fixed"], 1, "{}", run.stderr);
            assert!(
                fs::read(&path).unwrap() == bytes(FIXED),
                "{start:?} {line_end:?}"
            );
        }
    }
}

#[test]
fn a_fix_keeps_the_mode_and_goes_through_a_link() {
    let sandbox = work(&[("real.txt", LIST)]);
    let real = sandbox.work().join("real.txt");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.txt", sandbox.work().join("SKILL.md")).unwrap();
    let before = sandbox.tree();
    let diff = sandbox.vak(&["scan", ".", "--diff"]).expect(0);
    assert!(
        diff.stdout
            .contains("\n-allowed-tools: read, python_eval, bash\n+allowed-tools: read, bash\n")
    );
    assert_eq!(sandbox.tree(), before, "a diff changes nothing");
    sandbox.vak(&["scan", ".", "--fix"]).expect(0);
    let after = sandbox.tree();
    fs::write(&real, LIST).unwrap();
    assert_eq!(sandbox.tree(), before, "only the content had changed");
    fs::write(&real, FIXED).unwrap();
    assert_eq!(sandbox.tree(), after);
}

/// Relative from where vak ran, absolute from the root; names with blanks too.
#[test]
fn a_diff_can_be_applied() {
    let sandbox = work(&[("sp ace/SKILL.md", LIST), ("b/SKILL.md", LIST)]);
    let absolute = sandbox.work().join("b");
    let diffs = [
        (sandbox.work(), "sp ace"),
        (PathBuf::from("/"), absolute.to_str().unwrap()),
    ];
    for (root, path) in diffs {
        let diff = sandbox.vak(&["scan", path, "--diff"]).expect(0).stdout;
        let mut git = std::process::Command::new("git")
            .args(["apply", "--unsafe-paths", "-"])
            .current_dir(root)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        git.stdin
            .take()
            .unwrap()
            .write_all(diff.as_bytes())
            .unwrap();
        assert!(git.wait().unwrap().success(), "{diff}");
    }
    for path in ["sp ace/SKILL.md", "b/SKILL.md"] {
        let fixed = fs::read_to_string(sandbox.work().join(path)).unwrap();
        assert_eq!(fixed, FIXED);
    }
    // What ends a name that holds blanks, to `patch`.
    fs::write(sandbox.work().join("sp ace/SKILL.md"), LIST).unwrap();
    let diff = sandbox.vak(&["scan", ".", "--diff"]).expect(0).stdout;
    assert!(
        diff.starts_with("--- a/sp ace/SKILL.md\t\n+++ b/sp ace/SKILL.md\t\n"),
        "{diff}"
    );
}

/// What stands above what was asked for has no say in what a file is.
#[test]
fn a_file_is_the_same_named_itself_and_in_its_directory() {
    let sandbox = work(&[
        ("agents/p/SKILL.md", CALL),
        ("commands/run.md", CALL),
        ("skills/hooks/hooks.json", r#"{"matcher": "python_eval"}"#),
    ]);
    for (directory, name) in [
        ("agents/p", "SKILL.md"),
        ("commands", "run.md"),
        ("skills/hooks", "hooks.json"),
    ] {
        let role = |path: &str| {
            let run = sandbox.vak(&["scan", path, "--format", "json"]);
            run.json()["files"][0]["role"].clone()
        };
        assert_eq!(role(directory), role(&format!("{directory}/{name}")));
    }
}

#[test]
fn fixes_at_the_same_time_leave_every_file_whole() {
    let sandbox = Sandbox::new();
    for number in 0..60 {
        sandbox.write(format!("work/{number}/SKILL.md"), LIST);
    }
    let runs: Vec<_> = (0..4)
        .map(|_| {
            sandbox
                .command(&["scan", ".", "--fix"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    let files = files(&sandbox.work());
    assert_eq!(files.len(), 60, "no temporary file is left");
    assert!(files.iter().all(|(_, text)| text == FIXED));
}

/// Runs `vak` as somebody whom modes hold back: root becomes another user.
fn vak_unprivileged(sandbox: &Sandbox, args: &[&str]) -> Run {
    let binary = sandbox.path().join("vak");
    if !binary.exists() {
        // The build directory may be closed to others. A process of its own copies: were the copy open for
        // writing here, another test's child could hold it and nobody could run it.
        let mut copy = std::process::Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_vak")).arg(&binary);
        assert!(copy.status().unwrap().success());
        fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = std::process::Command::new(binary);
    command.args(args).current_dir(sandbox.work());
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    Run::from(command.output().unwrap())
}

#[test]
fn what_may_not_be_read_is_reported_and_the_rest_scanned() {
    let sandbox = work(&[
        ("closed/SKILL.md", CALL),
        ("open/SKILL.md", CALL),
        ("open/closed.md", CALL),
    ]);
    let close = |path: &str| {
        fs::set_permissions(sandbox.work().join(path), fs::Permissions::from_mode(0o000)).unwrap();
    };
    close("closed");
    close("open/closed.md");
    let run = vak_unprivileged(&sandbox, &["scan", "."]).expect(2);
    let denied = "unscanned: could not be read: Permission denied (os error 13)";
    assert!(
        run.stdout
            .starts_with(&format!("closed: {denied}\n\nopen/SKILL.md:1:7: instructs"))
    );
    assert!(
        run.stdout
            .contains(&format!("\nopen/closed.md: {denied}\n"))
    );
    assert_eq!(
        run.stderr,
        "error: 2 files could not be scanned to their end\n"
    );
    let run = vak_unprivileged(&sandbox, &["scan", "closed", "open/closed.md"]).expect(2);
    assert_eq!(
        run.stderr,
        "error: 2 paths failed\n  \
         failed to scan `closed`: could not be read: Permission denied (os error 13)\n  \
         failed to scan `open/closed.md`: could not be read: Permission denied (os error 13)\n"
    );
}

#[test]
fn what_may_not_be_written_stays_and_is_an_error() {
    let sandbox = work(&[("a/SKILL.md", LIST), ("b/SKILL.md", LIST)]);
    let mode = |path: &str, mode| {
        fs::set_permissions(sandbox.work().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("a", 0o777);
    mode("a/SKILL.md", 0o444);
    mode("b", 0o555);
    mode("b/SKILL.md", 0o666);
    let before = files(&sandbox.work());
    let run = vak_unprivileged(&sandbox, &["scan", ".", "--fix"]).expect(2);
    assert_eq!(files(&sandbox.work()), before);
    assert!(
        run.stderr.contains("failed to fix `a/SKILL.md`: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("failed to fix `b/SKILL.md`: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("a/SKILL.md:3:22: declares: "),
        "{}",
        run.stdout
    );
    // Programs are told of each as well.
    let programs = |format: &str| {
        let args = ["scan", ".", "--fix", "--format", format];
        vak_unprivileged(&sandbox, &args).expect(2).stdout
    };
    let json: serde_json::Value = serde_json::from_str(&programs("json")).unwrap();
    assert_eq!(json["summary"]["failed"], 2);
    for file in json["files"].as_array().unwrap() {
        let unfixed = file["unfixed"].as_str().unwrap();
        assert!(unfixed.starts_with("could not be fixed: "), "{unfixed}");
    }
    let lines = programs("ndjson");
    assert_eq!(lines.matches("\"type\":\"unfixed\"").count(), 2, "{lines}");
    let sarif: serde_json::Value = serde_json::from_str(&programs("sarif")).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = &invocation["toolExecutionNotifications"];
    assert_eq!(
        notifications.as_array().unwrap().len(),
        2,
        "{notifications}"
    );
    let github = programs("github");
    assert_eq!(github.matches(",title=unfixed::").count(), 2, "{github}");
    assert_eq!(files(&sandbox.work()), before);
    mode("b", 0o755);
}

/// A terminal of so many columns: what a program writes to, and what a person would see.
fn terminal(columns: u16) -> (fs::File, fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let slave = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
    let size = rustix::termios::Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&slave, size).unwrap();
    (slave.into(), master.into())
}

/// Reads from a terminal until `wanted` comes or nobody is left who writes to it.
fn read_until(master: &mut fs::File, wanted: &str) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(wanted) {
        match master.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => seen.extend_from_slice(&buffer[..read]),
        }
    }
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn on_a_terminal_the_report_has_colour_and_fits() {
    let sandbox = Sandbox::new();
    sandbox.write("work/SKILL.md", format!("{} {CALL}", "word ".repeat(100)));
    let (slave, mut master) = terminal(60);
    let mut command = sandbox.command(&["scan", "."]);
    command.env("TERM", "xterm").stdout(slave);
    let mut child = command.spawn().unwrap();
    // Its copy of the terminal must go, or the reading never ends.
    drop(command);
    let seen = read_until(&mut master, "of 1 file");
    child.wait().unwrap();
    assert!(seen.contains("\u{1b}["), "{seen:?}");
    let plain = anstream::adapter::strip_str(&seen).to_string();
    let excerpt = plain.lines().find(|line| line.contains("Call")).unwrap();
    assert!(excerpt.starts_with("     1 | …word "), "{excerpt:?}");
    assert!((50..=60).contains(&excerpt.chars().count()), "{excerpt:?}");
}

#[test]
fn a_long_scan_says_on_a_terminal_how_far_it_is_and_then_cleans_up() {
    let sandbox = Sandbox::new();
    let (slave, mut master) = terminal(60);
    let mut command = sandbox.command(&["scan", "-"]);
    command
        .env("TERM", "xterm")
        .stderr(slave)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    // Standard input stays open, so the scan takes as long as we wish.
    let seen = read_until(&mut master, "files scanned");
    assert!(seen.contains("files scanned"), "{seen:?}");
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "no reference to a retired tool in 1 file\n"
    );
    assert!(
        read_until(&mut master, "\0").contains("\u{1b}[2K"),
        "the line is cleared"
    );
}

#[test]
fn what_was_found_is_told_while_the_scan_goes_on() {
    let sandbox = work(&[("SKILL.md", CALL)]);
    let mut command = sandbox.command(&["scan", "SKILL.md", "-", "--format", "ndjson"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    // Standard input is still open: the scan cannot be over.
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains("\"path\":\"SKILL.md\""), "{first}");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(stdout.lines().count(), 1, "the summary");
}
