//! The walk through a package, on real trees: what is scanned, and what is said of the rest.

use rustix::fs::{CWD, FileType, Mode};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use vak::scan::{Grade, Scanner};
use vak::walk::{FileReport, PackageScan, Role, scan_package};

/// A package on disk, and what a scan for `old_tool` says of it.
struct Package {
    dir: TempDir,
}

impl Package {
    fn new() -> Package {
        let dir = tempfile::Builder::new()
            .prefix("vak package ")
            .tempdir()
            .unwrap();
        fs::create_dir(dir.path().join("package")).unwrap();
        Package { dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("package")
    }

    fn file(self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Package {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    fn link(self, path: &str, target: impl AsRef<Path>) -> Package {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    fn scan(&self) -> PackageScan {
        scan_package(&self.root(), &Scanner::new([("old_tool", "bash")]))
    }

    /// Compares the report, a line for each finding and each unscanned part.
    #[track_caller]
    fn check(self, expected: &[&str]) -> PackageScan {
        let scan = self.scan();
        let lines: Vec<String> = scan.files.iter().flat_map(lines).collect();
        assert_eq!(lines, expected);
        assert_eq!(self.scan(), scan, "a second scan says the same");
        scan
    }
}

fn lines(file: &FileReport) -> Vec<String> {
    let path = file.path.to_string_lossy();
    let findings = file
        .findings
        .iter()
        .map(|finding| format!("{path}:{}:{} {:?}", finding.line, finding.column, file.role));
    let unscanned = file.unscanned.iter().map(|why| format!("{path}: {why}"));
    findings.chain(unscanned).collect()
}

const CALL: &str = "Call `old_tool` now.\n";

#[test]
fn the_files_that_can_call_a_tool_are_scanned_and_no_others() {
    Package::new()
        .file("SKILL.md", CALL)
        .file("skills/a/skill.MD", CALL)
        .file("skills/a/reference.md", CALL)
        .file("skills/agents/SKILL.md", CALL)
        .file("skills/a/agents/SKILL.md", CALL)
        .file("commands/run.md", CALL)
        .file("commands/deep/er/skill.md", CALL)
        .file("commands/run.txt", CALL)
        .file("agents/critic.MD", CALL)
        .file(".claude/commands/SKILL.md", CALL)
        .file("README.md", CALL)
        .file("notcommands/x.md", CALL)
        .check(&[
            ".claude/commands/SKILL.md:1:7 Command",
            "SKILL.md:1:7 Skill",
            "agents/critic.MD:1:7 Agent",
            "commands/deep/er/skill.md:1:7 Command",
            "commands/run.md:1:7 Command",
            "skills/a/agents/SKILL.md:1:7 Skill",
            "skills/a/skill.MD:1:7 Skill",
            "skills/agents/SKILL.md:1:7 Skill",
        ]);
}

#[test]
fn the_matchers_of_hooks_are_scanned_and_nothing_else_in_them() {
    let hooks = r#"{"hooks": {"PreToolUse": [
  {"matcher": "read|old_tool", "hooks": [{"type": "command", "command": "echo old_tool"}]}
]}}"#;
    let scan = Package::new()
        .file("hooks/Hooks.json", hooks)
        .file("hooks/other.json", hooks)
        .check(&["hooks/Hooks.json:2:21 Hooks"]);
    assert!(!scan.is_retired());
}

#[test]
fn only_a_skill_that_instructs_flags_its_package() {
    let command = Package::new().file("commands/skill.md", CALL).scan();
    assert_eq!(command.files[0].findings[0].grade, Grade::Instructs);
    assert!(!command.is_retired());
    assert!(Package::new().file("SKILL.md", CALL).scan().is_retired());
    assert!(
        !Package::new()
            .file("SKILL.md", "Fine.\n")
            .scan()
            .is_retired()
    );
}

#[test]
fn links_inside_are_followed_once_and_keep_the_role_of_their_name() {
    Package::new()
        .file("docs/body.md", CALL)
        .file("shared/b/SKILL.md", CALL)
        .link("SKILL.md", "docs/body.md")
        .link("again/skill.md", "../docs/body.md")
        .link("commands", "docs")
        .link("skills", "shared")
        .check(&[
            "SKILL.md:1:7 Skill",
            "commands/body.md:1:7 Command",
            "shared/b/SKILL.md:1:7 Skill",
        ]);
}

#[test]
fn an_absolute_link_inside_is_followed_too() {
    let package = Package::new().file("docs/body.md", CALL);
    let target = package.root().join("docs/body.md");
    package
        .link("SKILL.md", target)
        .check(&["SKILL.md:1:7 Skill"]);
}

#[test]
fn cycles_of_links_end() {
    Package::new()
        .file("a/SKILL.md", CALL)
        .link("a/up", "..")
        .link("a/self", ".")
        .link("b/to-a", "../a")
        .link("a/to-b", "../b")
        .link("loop", "loop")
        .check(&["a/SKILL.md:1:7 Skill", "loop: a broken link"]);
}

#[test]
fn links_that_leave_are_reported_and_not_followed() {
    let package = Package::new();
    let outside = package.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("SKILL.md"), CALL).unwrap();
    let shown = outside.canonicalize().unwrap();
    package
        .link("SKILL.md", "../outside/SKILL.md")
        .link("skills", &outside)
        .link("chain", "skills/SKILL.md")
        .link("agents/gone.md", "nowhere")
        .check(&[
            &format!(
                "SKILL.md: a link to `{}/SKILL.md`, outside: not followed",
                shown.display()
            ),
            "agents/gone.md: a broken link",
            &format!(
                "chain: a link to `{}/SKILL.md`, outside: not followed",
                shown.display()
            ),
            &format!(
                "skills: a link to `{}`, outside: not followed",
                shown.display()
            ),
        ]);
}

#[test]
fn what_is_no_regular_file_is_reported_and_never_opened() {
    let package = Package::new().file("commands/ok.md", CALL);
    let mode = Mode::from_raw_mode(0o644);
    // Opening a FIFO that nobody writes to would wait for ever.
    rustix::fs::mknodat(
        CWD,
        package.root().join("SKILL.md"),
        FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    rustix::fs::mknodat(CWD, package.root().join("pipe"), FileType::Fifo, mode, 0).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(package.root().join("commands/s.md"));
    fs::create_dir(package.root().join("commands/dir.md")).unwrap();
    package.check(&[
        "SKILL.md: a FIFO: not opened",
        "commands/ok.md:1:7 Command",
        "commands/s.md: a socket: not opened",
    ]);
    drop(socket);
}

/// Pins that a name which turns into a FIFO between the listing and the open is not waited for.
#[test]
fn a_file_that_turns_into_a_fifo_meanwhile_never_makes_a_scan_wait() {
    let package = Package::new().file("commands/ok.md", CALL);
    let skill = package.root().join("SKILL.md");
    let aside = package.dir.path().join("fifo");
    let mode = Mode::from_raw_mode(0o644);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::write(&skill, CALL).unwrap();
                rustix::fs::mknodat(CWD, &aside, FileType::Fifo, mode, 0).unwrap();
                fs::rename(&aside, &skill).unwrap();
                fs::remove_file(&skill).unwrap();
            }
        });
        for _ in 0..500 {
            let scan = package.scan();
            assert!(
                scan.files
                    .iter()
                    .flat_map(lines)
                    .any(|line| line == "commands/ok.md:1:7 Command")
            );
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_link_to_what_is_no_regular_file_is_reported_under_its_own_name() {
    let package = Package::new().link("SKILL.md", "pipe");
    let mode = Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(CWD, package.root().join("pipe"), FileType::Fifo, mode, 0).unwrap();
    package.check(&["SKILL.md: a FIFO: not opened"]);
}

#[test]
fn a_file_over_4_mib_is_scanned_up_to_there() {
    let limit = 4 << 20;
    let mut text = CALL.to_owned();
    text.push_str(&"x".repeat(limit - text.len() - 1));
    text.push('é');
    text.push_str("\nCall `old_tool` again.\n");
    let scan = Package::new().file("SKILL.md", &text).check(&[
        "SKILL.md:1:7 Skill",
        "SKILL.md: too large: only the first 4194304 bytes were scanned",
    ]);
    assert!(scan.files[0].unscanned[0].hides_text());
    Package::new()
        .file("SKILL.md", &text[..limit - 1])
        .check(&["SKILL.md:1:7 Skill"]);
}

#[test]
fn what_is_not_utf8_is_left_out_and_the_rest_keeps_its_places() {
    let bytes = b"caf\xe9 \xff\xfe au lait\n\xe2\x82 `old_tool` \xc3\n";
    let scan = Package::new().file("SKILL.md", bytes).check(&[
        "SKILL.md:2:5 Skill",
        "SKILL.md: not UTF-8: 6 bytes were left out, the rest was scanned",
    ]);
    let finding = &scan.files[0].findings[0];
    assert_eq!(&bytes[finding.range.clone()], b"old_tool");
    assert_eq!(finding.excerpt, "\u{fffd}\u{fffd} `old_tool` \u{fffd}");
    assert_eq!(&finding.excerpt[finding.mark.clone()], "old_tool");
    assert!(!scan.files[0].unscanned[0].hides_text());
}

#[test]
fn utf_16_is_named_and_hides_its_text() {
    let little: Vec<u8> = format!("\u{feff}{CALL}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = little
        .chunks(2)
        .flat_map(|unit| [unit[1], unit[0]])
        .collect();
    for bytes in [&little[..], &big, &little[2..], &big[2..]] {
        let scan = Package::new()
            .file("SKILL.md", bytes)
            .check(&["SKILL.md: UTF-16: could not be scanned; save it as UTF-8"]);
        assert!(scan.files[0].unscanned[0].hides_text());
    }
}

#[test]
fn a_long_line_is_clipped_around_the_name() {
    let text = format!("{}`old_tool`{}\n", "é ".repeat(4000), " ß".repeat(4000));
    let scan = Package::new().file("SKILL.md", &text).scan();
    let finding = &scan.files[0].findings[0];
    assert_eq!(&text[finding.range.clone()], "old_tool");
    assert_eq!(&finding.excerpt[finding.mark.clone()], "old_tool");
    assert!(finding.excerpt.len() < 400, "{}", finding.excerpt.len());
    assert!(finding.excerpt.starts_with('…') && finding.excerpt.ends_with('…'));
}

#[test]
fn names_that_are_not_utf8_are_scanned_and_reported() {
    let name = std::ffi::OsString::from_vec(b"commands/caf\xe9 au lait.md".to_vec());
    let scan = Package::new().file(&name, CALL).scan();
    assert_eq!(scan.files[0].path, Path::new(&name));
    assert_eq!(scan.files[0].role, Role::Command);
    serde_json::to_string(&scan).unwrap();
}

#[test]
fn a_directory_nested_beyond_the_limit_is_reported() {
    let deep = "d/".repeat(128);
    Package::new()
        .file(format!("{deep}SKILL.md"), CALL)
        .file(format!("{deep}d/SKILL.md"), CALL)
        .check(&[
            &format!("{deep}SKILL.md:1:7 Skill"),
            &format!("{deep}d: more than 128 directories deep: not entered"),
        ]);
}

#[test]
fn a_package_that_is_not_there_is_reported() {
    let package = Package::new();
    fs::remove_dir(package.root()).unwrap();
    package.check(&[".: could not be read: No such file or directory (os error 2)"]);
}

#[test]
fn what_is_unscanned_has_a_json_form() {
    let scan = Package::new()
        .link("SKILL.md", "nowhere")
        .file("agents/a.md", b"\xff")
        .scan();
    assert_eq!(
        serde_json::to_value(&scan).unwrap(),
        serde_json::json!({"files": [
            {"path": "SKILL.md", "role": "skill", "findings": [], "unscanned": [{"why": "broken-link"}]},
            {"path": "agents/a.md", "role": "agent", "findings": [],
             "unscanned": [{"why": "not-utf8", "invalid": 1}]},
        ]})
    );
}
