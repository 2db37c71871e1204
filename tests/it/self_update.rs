//! `vak self update` and `vak self rollback`: the program's own file, replaced whole or not at all.
//!
//! The new program is a script that answers like a vak: what matters here is what the old one does with it.
//! `life_cycle` plays the same with two real builds.

use crate::sandbox::{Run, Sandbox};
use crate::strace::{self, CHANGES, Fault};
use crate::tree::Tree;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A newer vak, as far as an update can tell. Its `services-sync` leaves a trace of itself.
const NEWER: &str = "#!/bin/sh
case \"$1\" in
  --version) echo 'vak 9.9.9 (3 retired tools)' ;;
  services-sync) echo 'synced by 9.9.9' ;;
esac
";

/// A sandbox with a copy of the real binary in `bin/`.
struct Installed {
    sandbox: Sandbox,
    vak: PathBuf,
}

impl Installed {
    fn new() -> Installed {
        let sandbox = Sandbox::new();
        let vak = sandbox.path().join("bin/vak");
        fs::create_dir(vak.parent().unwrap()).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_vak"), &vak).unwrap();
        Installed { sandbox, vak }
    }

    fn bin(&self) -> Tree {
        Tree::read(self.vak.parent().unwrap())
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.sandbox.work())
            .env("VAK_HOME", self.sandbox.home())
            .env("HOME", self.sandbox.path());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command(&self.vak, args).output().unwrap())
    }

    /// Another build of the real program: what stands behind its last byte is never read.
    fn rebuilt(&self, mark: &str) -> (String, String) {
        let mut bytes = fs::read(&self.vak).unwrap();
        bytes.extend(mark.as_bytes());
        self.offer(bytes)
    }

    fn previous(&self) -> PathBuf {
        self.vak.with_file_name("vak.previous")
    }

    /// Writes a new program and returns its path and checksum.
    fn offer(&self, bytes: impl AsRef<[u8]>) -> (String, String) {
        let path = self.sandbox.write("download/vak", bytes.as_ref());
        (path.to_str().unwrap().to_owned(), sha256(bytes.as_ref()))
    }

    fn update(&self, file: &str, sha256: &str) -> Run {
        self.run(&["self", "update", "--from", file, "--sha256", sha256])
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn an_update_replaces_the_binary_and_runs_the_new_ones_sync() {
    let vak = Installed::new();
    let before = vak.bin();
    let (file, sum) = vak.offer(NEWER);
    let run = vak.update(&file, &sum).expect(0);
    assert!(run.stdout.ends_with("synced by 9.9.9\n"), "{}", run.stdout);
    assert_eq!(fs::read_to_string(&vak.vak).unwrap(), NEWER);
    assert_eq!(
        fs::metadata(&vak.vak).unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert_eq!(
        fs::read(vak.vak.with_file_name("vak.previous")).unwrap(),
        fs::read(env!("CARGO_BIN_EXE_vak")).unwrap()
    );
    // The new one is a script; the kept one knows how to go back.
    let previous = vak.vak.with_file_name("vak.previous");
    fs::copy(&previous, vak.sandbox.path().join("kept")).unwrap();
    fs::rename(&previous, &vak.vak).unwrap();
    assert_eq!(vak.bin(), before);
}

#[test]
fn rollback_brings_the_program_back_to_the_byte() {
    let vak = Installed::new();
    let before = vak.bin();
    let (file, sum) = vak.rebuilt("b");
    vak.update(&file, &sum).expect(0);
    assert_ne!(vak.bin(), before);
    let dry = vak.run(&["self", "rollback", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("would be vak"), "{}", dry.stdout);
    assert_ne!(vak.bin(), before);
    vak.run(&["self", "rollback"]).expect(0);
    assert_eq!(vak.bin(), before);
    let again = vak.run(&["self", "rollback"]).expect(2);
    assert!(
        again.stderr.contains("nothing to go back to"),
        "{}",
        again.stderr
    );
}

/// However often the same update is run: what is kept is the program that it replaced, never the new one.
/// Each run has the new one's clean-up done, which may have failed before.
#[test]
fn the_same_update_again_keeps_the_way_back() {
    let vak = Installed::new();
    let before = vak.bin();
    let (file, sum) = vak.rebuilt("b");
    vak.update(&file, &sum).expect(0);
    let updated = vak.bin();
    for _ in 0..2 {
        fs::remove_dir_all(vak.sandbox.shared()).unwrap();
        let again = vak.update(&file, &sum).expect(0);
        assert!(again.stdout.contains("already"), "{}", again.stdout);
        assert!(vak.sandbox.shared().exists(), "its clean-up was not run");
        assert_eq!(vak.bin(), updated);
    }
    vak.run(&["self", "rollback"]).expect(0);
    assert_eq!(vak.bin(), before);

    // The program that is in place anyway takes no place, not even where nothing was ever replaced.
    let (file, sum) = vak.rebuilt("");
    vak.update(&file, &sum).expect(0);
    assert_eq!(vak.bin(), before);
}

#[test]
fn a_directory_says_its_checksums_itself() {
    let vak = Installed::new();
    let (file, sum) = vak.offer(NEWER);
    let directory = Path::new(&file).parent().unwrap();
    fs::write(
        directory.join("SHA256SUMS"),
        format!("{}  vak.1\n{} *vak\n", "0".repeat(64), sum.to_uppercase()),
    )
    .unwrap();
    vak.run(&["self", "update", "--from", directory.to_str().unwrap()])
        .expect(0);
    assert_eq!(fs::read_to_string(&vak.vak).unwrap(), NEWER);
}

#[test]
fn a_dry_run_verifies_and_replaces_nothing() {
    let vak = Installed::new();
    let before = vak.sandbox.tree();
    let (file, sum) = vak.offer(NEWER);
    let args = [
        "self",
        "update",
        "--from",
        &file,
        "--sha256",
        &sum,
        "--dry-run",
    ];
    let run = vak.run(&args).expect(0);
    assert!(run.stdout.contains("would replace"), "{}", run.stdout);
    assert_eq!(vak.sandbox.tree().without(&["download"]), before);
}

/// A dry run may be made while another update is under way, and of what the real run would refuse it says so.
#[test]
fn a_dry_run_takes_no_lock_and_writes_no_byte() {
    let vak = Installed::new();
    let (file, sum) = vak.rebuilt("b");
    vak.update(&file, &sum).expect(0);
    let (file, sum) = vak.rebuilt("c");
    let update = ["self", "update", "--from", &file, "--sha256", &sum];
    let rollback = ["self", "rollback"];
    for args in [&update[..], &rollback[..]] {
        let args = [args, &["--dry-run"]].concat();
        let command = vak.command(&vak.vak, &args);
        if strace::is_available() {
            let names = CHANGES.iter().copied().filter(|name| *name != "openat");
            let names: Vec<_> = names.collect();
            let calls = strace::calls(&command, vak.sandbox.path(), &names);
            assert_eq!(calls, [], "{args:?}");
        }
        let held = fs::File::open(vak.vak.parent().unwrap()).unwrap();
        held.lock().unwrap();
        let start = Instant::now();
        vak.run(&args).expect(0);
        assert!(start.elapsed() < Duration::from_secs(5), "{args:?} waited");
    }
}

/// Whatever is wrong with the new program, the old one is left as it was and still works.
#[test]
fn what_is_not_the_promised_vak_changes_nothing() {
    let real = fs::read(env!("CARGO_BIN_EXE_vak")).unwrap();
    let old = NEWER.replace("9.9.9", "3.0.20");
    let cases: [(&str, &[u8], &[u8], &str); 7] = [
        (
            "altered",
            NEWER.as_bytes(),
            b"something else",
            "is not the promised file",
        ),
        (
            "truncated",
            &real[..real.len() / 2],
            &real,
            "is not the promised file",
        ),
        (
            "half a program",
            &real[..4096],
            &real[..4096],
            "is not a vak",
        ),
        (
            "no vak",
            b"#!/bin/sh\necho hello\n",
            b"#!/bin/sh\necho hello\n",
            "printed `hello`",
        ),
        (
            "failing",
            b"#!/bin/sh\nexit 3\n",
            b"#!/bin/sh\nexit 3\n",
            "exit code 3",
        ),
        ("older", old.as_bytes(), old.as_bytes(), "--allow-downgrade"),
        ("empty", b"", b"", "vak"),
    ];
    for (name, offered, promised, said) in cases {
        let vak = Installed::new();
        let before = vak.bin();
        let (file, _) = vak.offer(offered);
        let run = vak.update(&file, &sha256(promised)).expect(2);
        assert!(run.stderr.contains(said), "{name}: {}", run.stderr);
        assert_eq!(vak.bin(), before, "{name}");
        vak.run(&["--version"]).expect(0);
    }
}

#[test]
fn a_wrong_request_is_told_what_is_missing() {
    let vak = Installed::new();
    let before = vak.sandbox.tree();
    let sum = "0".repeat(64);
    let empty = vak.sandbox.work();
    let empty = empty.to_str().unwrap();
    let cases: [(&[&str], &str); 5] = [
        (
            &["--from", "/nowhere/vak", "--sha256", &sum],
            "`/nowhere/vak` does not exist",
        ),
        (&["--from", "/bin/sh"], "hint: add `--sha256 HEX`"),
        (
            &["--from", "/bin/sh", "--sha256", "abc"],
            "`abc` is not a SHA-256",
        ),
        (&["--from", empty], "SHA256SUMS` does not exist"),
        (&["--from", empty, "--sha256", &sum], "is a directory"),
    ];
    for (args, said) in cases {
        let all: Vec<&str> = ["self", "update"].iter().chain(args).copied().collect();
        let run = vak.run(&all).expect(2);
        assert!(run.stderr.contains(said), "{args:?}: {}", run.stderr);
        assert_eq!(vak.sandbox.tree(), before);
    }
}

#[test]
fn an_older_one_is_taken_on_request() {
    let vak = Installed::new();
    let (file, sum) = vak.offer(NEWER.replace("9.9.9", "3.0.20"));
    let args = [
        "self",
        "update",
        "--from",
        &file,
        "--sha256",
        &sum,
        "--allow-downgrade",
    ];
    vak.run(&args).expect(0);
}

#[test]
fn the_update_stays_when_the_new_ones_sync_fails() {
    let vak = Installed::new();
    let failing = NEWER.replace("echo 'synced by 9.9.9'", "echo 'no room' >&2; exit 2");
    let (file, sum) = vak.offer(&failing);
    let run = vak.update(&file, &sum).expect(2);
    assert!(run.stderr.contains("no room"), "{}", run.stderr);
    assert!(run.stderr.contains("vak self rollback"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&vak.vak).unwrap(), failing);
}

/// Nobody may be left to hear of it; the new program's clean-up is run all the same.
#[test]
fn an_update_that_cannot_say_so_is_finished() {
    let vak = Installed::new();
    let (file, sum) = vak.offer(NEWER.replace("echo 'synced by 9.9.9'", "touch synced"));
    let args = ["self", "update", "--from", &file, "--sha256", &sum];
    let full = fs::File::create("/dev/full").unwrap();
    let mut command = vak.command(&vak.vak, &args);
    let run = Run::from(command.stdout(full).output().unwrap()).expect(2);
    assert!(run.stderr.contains("stdout"), "{}", run.stderr);
    assert!(vak.sandbox.work().join("synced").exists());
    assert!(vak.previous().exists());
}

/// What a program leaves running is not waited for, though it holds the pipe that the version came through.
#[test]
fn a_child_that_the_new_program_leaves_is_not_waited_for() {
    let vak = Installed::new();
    let (file, sum) = vak.offer(NEWER.replace("--version)", "--version) sleep 20 &"));
    let start = Instant::now();
    vak.update(&file, &sum).expect(0);
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "it was waited for"
    );
    assert!(vak.previous().exists());
}

/// Killed at whatever call and run again, an update ends with the new program in place and the old one kept.
#[test]
fn a_killed_update_that_is_run_again_keeps_the_way_back() {
    if !strace::is_available() {
        return;
    }
    let vak = Installed::new();
    let old = fs::read(&vak.vak).unwrap();
    let (file, sum) = vak.rebuilt("b");
    let args = ["self", "update", "--from", &file, "--sha256", &sum];
    let command = vak.command(&vak.vak, &args);
    let bin = vak.vak.parent().unwrap();
    let calls = strace::calls(&command, bin, &["fsync", "renameat"]);
    assert!(calls.len() > 4, "{calls:?}");
    for call in calls {
        for file in [vak.previous(), vak.vak.clone()] {
            let _ = fs::remove_file(file);
        }
        fs::copy(env!("CARGO_BIN_EXE_vak"), &vak.vak).unwrap();
        let disturbed = strace::disturb(&command, &call, Fault::Kill);
        assert!(disturbed.was_killed(), "{call:?}");
        vak.update(&file, &sum).expect(0);
        assert!(fs::read(&vak.vak).unwrap() == fs::read(&file).unwrap());
        assert!(fs::read(vak.previous()).unwrap() == old, "{call:?}");
        assert_eq!(fs::read_dir(bin).unwrap().count(), 2, "{call:?}");
    }
}

/// The link that a binary was started by stays a link; the file it leads to is replaced, and named.
#[test]
fn a_linked_binary_keeps_its_link() {
    let vak = Installed::new();
    let link = vak.sandbox.path().join("linked vak");
    symlink("bin/vak", &link).unwrap();
    let (file, sum) = vak.offer(NEWER);
    let args = ["self", "update", "--from", &file, "--sha256", &sum];
    let run = Run::from(vak.command(&link, &args).output().unwrap()).expect(0);
    assert!(run.stdout.contains("/bin/vak`"), "{}", run.stdout);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("bin/vak"));
    assert_eq!(fs::read_to_string(&vak.vak).unwrap(), NEWER);
}

/// Somebody who may not write the binary, or its directory, is told so and changes nothing.
#[test]
fn without_permission_nothing_changes() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become somebody without permission");
        return;
    }
    for (what, mode) in [("the directory", 0o755), ("the file", 0o777)] {
        let vak = Installed::new();
        let (file, sum) = vak.offer(NEWER);
        open_up(vak.sandbox.path());
        fs::set_permissions(vak.vak.parent().unwrap(), fs::Permissions::from_mode(mode)).unwrap();
        let before = vak.bin();
        let args = ["self", "update", "--from", &file, "--sha256", &sum];
        for args in [&args[..], &[&args[..], &["--dry-run"]].concat()] {
            let mut command = vak.command(&vak.vak, args);
            let run = Run::from(command.uid(65534).gid(65534).output().unwrap()).expect(2);
            assert!(run.stderr.contains("denied"), "{what}: {}", run.stderr);
            assert_eq!(vak.bin(), before, "{what}");
        }
    }
}

/// Lets everybody into a temporary directory.
fn open_up(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn two_updates_at_once_leave_one_whole_program() {
    let vak = Installed::new();
    let slow = NEWER.replace("--version)", "--version) sleep 0.3;");
    let (file, sum) = vak.offer(&slow);
    let args = ["self", "update", "--from", &file, "--sha256", &sum];
    let first = vak.command(&vak.vak, &args).spawn().unwrap();
    let second = vak.command(&vak.vak, &args).spawn().unwrap();
    for mut child in [first, second] {
        child.wait().unwrap();
    }
    assert_eq!(fs::read_to_string(&vak.vak).unwrap(), slow);
    assert_eq!(
        vak.bin().paths(),
        [Path::new("vak"), Path::new("vak.previous")]
    );
    // Whichever came second found the work done.
    let kept = fs::read(vak.previous()).unwrap();
    assert!(kept == fs::read(env!("CARGO_BIN_EXE_vak")).unwrap());
}
