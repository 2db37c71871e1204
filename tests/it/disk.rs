//! What the one module that changes the disk promises: whole files, kept modes, links not followed.

use crate::tree::Tree;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vak::disk::{self, Dir, DiskError, LockGuard};

fn root() -> (TempDir, PathBuf, LockGuard) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    let guard = disk::lock(&root).unwrap();
    (dir, root, guard)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_lock_creates_its_root_and_nothing_but_the_lock_file() {
    let (dir, root, _guard) = root();
    assert!(root.join(disk::LOCK_FILE).is_file());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_second_lock_waits_says_so_and_gives_up() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let (_dir, root, guard) = root();
    disk::set_wait_hook(|path| {
        if path.ends_with("root/.lock") {
            TOLD.store(true, Ordering::SeqCst);
        }
    });
    let start = Instant::now();
    let error = disk::lock_within(&[&root], Duration::from_millis(80)).unwrap_err();
    assert!(matches!(&error, DiskError::LockTimeout { path, .. } if *path == root.join(".lock")));
    assert!(start.elapsed() >= Duration::from_millis(80));
    assert!(TOLD.load(Ordering::SeqCst));
    drop(guard);
    disk::lock_within(&[&root], Duration::ZERO).unwrap();
}

#[test]
fn a_killed_holder_does_not_block_the_next() {
    let (_dir, root, guard) = root();
    drop(guard);
    let mut holder = std::process::Command::new("flock")
        .arg(root.join(".lock"))
        .args(["sh", "-c", "echo held; exec sleep 60"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = [0; 4];
    holder.stdout.take().unwrap().read_exact(&mut held).unwrap();
    assert!(disk::lock_within(&[&root], Duration::ZERO).is_err());
    // `flock` holds the lock in itself and in its child, which is killed with its pipe's other end open.
    let children = format!("/proc/{0}/task/{0}/children", holder.id());
    let child = fs::read_to_string(children).unwrap();
    for pid in child
        .split_whitespace()
        .map(str::to_owned)
        .chain([holder.id().to_string()])
    {
        std::process::Command::new("kill")
            .args(["-9", &pid])
            .status()
            .unwrap();
    }
    holder.wait().unwrap();
    disk::lock_within(&[&root], Duration::from_secs(5)).unwrap();
}

#[test]
fn one_root_by_two_paths_is_locked_once() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink("real", dir.path().join("link")).unwrap();
    let link = dir.path().join("link");
    let guard = disk::lock_within(&[&real, &link], Duration::ZERO).unwrap();
    assert!(guard.covers(&real.join("x")));
    assert!(guard.covers(&link.join("x")));
}

#[test]
fn two_processes_that_lock_two_roots_in_opposite_order_do_not_wait_for_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let rounds = |first: PathBuf, second: PathBuf| {
        move || {
            for _ in 0..20 {
                drop(disk::lock_within(&[&first, &second], Duration::from_secs(60)).unwrap());
            }
        }
    };
    let one = std::thread::spawn(rounds(a.clone(), b.clone()));
    let two = std::thread::spawn(rounds(b, a));
    one.join().unwrap();
    two.join().unwrap();
}

#[test]
fn a_lock_file_that_is_a_link_or_a_fifo_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let precious = dir.path().join("precious");
    fs::write(&precious, "mine").unwrap();
    symlink(&precious, dir.path().join(".lock")).unwrap();
    assert!(matches!(
        disk::lock(dir.path()),
        Err(DiskError::NotAFile { .. })
    ));
    fs::remove_file(dir.path().join(".lock")).unwrap();
    make_fifo(&dir.path().join(".lock"));
    assert!(matches!(
        disk::lock(dir.path()),
        Err(DiskError::NotAFile { .. })
    ));
}

fn make_fifo(path: &Path) {
    let status = std::process::Command::new("mkfifo")
        .arg(path)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_beside() {
    let (_dir, root, guard) = root();
    let file = root.join("config.toml");
    for kept in [0o600, 0o640, 0o644, 0o755] {
        fs::write(&file, "old").unwrap();
        chmod(&file, kept);
        disk::replace(&guard, &file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(mode(&file), kept);
    }
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
}

#[test]
fn replacing_keeps_the_owner() {
    let (_dir, root, guard) = root();
    let file = root.join("config.toml");
    fs::write(&file, "old").unwrap();
    // Only root may give a file away; for others the owner is their own before and after.
    let _ = std::os::unix::fs::chown(&file, Some(65534), Some(65534));
    let owner = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid())
    };
    let before = owner(&file);
    disk::replace(&guard, &file, b"new").unwrap();
    assert_eq!(owner(&file), before);
}

#[test]
fn a_new_file_gets_what_the_umask_leaves() {
    let (_dir, root, guard) = root();
    disk::replace(&guard, &root.join("ours"), b"x").unwrap();
    fs::write(root.join("theirs"), "x").unwrap();
    assert_eq!(mode(&root.join("ours")), mode(&root.join("theirs")));
}

#[test]
fn replacing_goes_through_links_of_every_kind_and_keeps_them() {
    let (dir, root, guard) = root();
    let dotfiles = dir.path().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let real = dotfiles.join("vak.toml");
    for (name, leads_to) in [
        ("relative.toml", PathBuf::from("../dotfiles/vak.toml")),
        ("absolute.toml", real.clone()),
        ("twice.toml", PathBuf::from("relative.toml")),
    ] {
        fs::write(&real, "old").unwrap();
        chmod(&real, 0o640);
        symlink(&leads_to, root.join(name)).unwrap();
        disk::replace(&guard, &root.join(name), name.as_bytes()).unwrap();
        assert_eq!(fs::read(&real).unwrap(), name.as_bytes());
        assert_eq!(mode(&real), 0o640);
        assert_eq!(fs::read_link(root.join(name)).unwrap(), leads_to);
        assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), 1);
    }
}

#[test]
fn replacing_through_a_link_to_nothing_creates_the_file_it_names() {
    let (dir, root, guard) = root();
    symlink("../later.toml", root.join("config.toml")).unwrap();
    disk::replace(&guard, &root.join("config.toml"), b"x").unwrap();
    assert_eq!(fs::read(dir.path().join("later.toml")).unwrap(), b"x");
}

#[test]
fn replacing_refuses_what_is_no_file_and_changes_nothing() {
    let (dir, root, guard) = root();
    fs::create_dir(root.join("directory")).unwrap();
    make_fifo(&root.join("fifo"));
    symlink("loop", root.join("loop")).unwrap();
    symlink("nowhere/file", root.join("astray")).unwrap();
    let before = Tree::read(dir.path());
    for name in ["directory", "fifo", "loop", "astray", "missing/file"] {
        let error = disk::replace(&guard, &root.join(name), b"x").unwrap_err();
        assert!(
            error.to_string().contains(name.split('/').next().unwrap()) || name == "astray",
            "{error}"
        );
        assert_eq!(Tree::read(dir.path()), before);
    }
}

#[test]
fn a_write_outside_of_what_the_lock_covers_is_refused() {
    let (dir, root, guard) = root();
    let outside = dir.path().join("outside");
    let refused = |result: disk::Result<()>| {
        assert!(matches!(result, Err(DiskError::NotCovered { .. })));
    };
    refused(disk::replace(&guard, &outside, b"x"));
    refused(disk::replace_below(
        &guard,
        dir.path(),
        Path::new("x"),
        b"x",
    ));
    refused(disk::create_dirs(&guard, dir.path(), Path::new("x")));
    refused(disk::remove_tree(&guard, dir.path(), Path::new("root")));
    refused(disk::move_dir(
        &guard,
        dir.path(),
        Path::new("root"),
        Path::new("y"),
    ));
    assert!(root.is_dir() && !outside.exists());
}

#[test]
fn below_a_root_a_path_with_a_way_out_is_refused() {
    let (_dir, root, guard) = root();
    for path in ["..", "../x", "a/../../x", "/etc", "/"] {
        let path = Path::new(path);
        let refused = |result: disk::Result<()>| {
            assert!(
                matches!(result, Err(DiskError::NotPlain { .. })),
                "{path:?}: {result:?}"
            );
        };
        refused(disk::create_dirs(&guard, &root, path));
        refused(disk::replace_below(&guard, &root, path, b"x"));
        refused(disk::remove_tree(&guard, &root, path));
        refused(disk::remove_file(&guard, &root, path));
        refused(disk::move_dir(&guard, &root, path, Path::new("to")));
        refused(disk::move_dir(&guard, &root, Path::new("from"), path));
    }
}

#[test]
fn below_a_root_no_link_is_followed() {
    let (dir, root, guard) = root();
    let outside = dir.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/file"), "precious").unwrap();
    symlink("../outside", root.join("link")).unwrap();
    let before = Tree::read(dir.path());
    let refused = |result: disk::Result<()>| {
        assert!(
            matches!(result, Err(DiskError::NotADirectory { .. })),
            "{result:?}"
        );
    };
    refused(disk::create_dirs(&guard, &root, Path::new("link/new")));
    refused(disk::replace_below(
        &guard,
        &root,
        Path::new("link/deep/file"),
        b"x",
    ));
    refused(disk::remove_tree(&guard, &root, Path::new("link/deep")));
    refused(disk::remove_file(
        &guard,
        &root,
        Path::new("link/deep/file"),
    ));
    refused(disk::move_dir(
        &guard,
        &root,
        Path::new("link/deep"),
        Path::new("taken"),
    ));
    refused(disk::move_dir(
        &guard,
        &root,
        Path::new("link"),
        Path::new("taken"),
    ));
    assert_eq!(Tree::read(dir.path()), before);
}

#[test]
fn deleting_a_tree_deletes_links_and_not_what_they_lead_to() {
    let (dir, root, guard) = root();
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "precious").unwrap();
    let before = Tree::read(&outside);
    let tree = root.join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    symlink(&outside, tree.join("a/to directory")).unwrap();
    symlink(outside.join("file"), tree.join("a/b/to file")).unwrap();
    symlink("../..", tree.join("a/to ancestor")).unwrap();
    symlink("nowhere", tree.join("broken")).unwrap();
    make_fifo(&tree.join("fifo"));
    chmod(&tree.join("a/b"), 0o000);
    chmod(&tree.join("a"), 0o500);
    disk::remove_tree(&guard, &root, Path::new("tree")).unwrap();
    assert!(!tree.exists());
    assert_eq!(Tree::read(&outside), before);
    // A link in the tree's own place is only unlinked.
    symlink(&outside, &tree).unwrap();
    disk::remove_tree(&guard, &root, Path::new("tree")).unwrap();
    assert!(fs::symlink_metadata(&tree).is_err());
    assert_eq!(Tree::read(&outside), before);
    // Nothing to delete is no error.
    disk::remove_tree(&guard, &root, Path::new("tree/below")).unwrap();
}

#[test]
fn a_tree_of_any_depth_can_be_deleted() {
    let (_dir, root, guard) = root();
    let deep = (0..300).fold(root.join("tree"), |path, _| path.join("d"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "x").unwrap();
    disk::remove_tree(&guard, &root, Path::new("tree")).unwrap();
    assert!(!root.join("tree").exists());
}

#[test]
fn moving_takes_a_free_place_and_refuses_a_taken_one() {
    let (dir, root, guard) = root();
    fs::create_dir_all(root.join("from/inner")).unwrap();
    fs::write(root.join("from/inner/run"), "x").unwrap();
    chmod(&root.join("from/inner/run"), 0o755);
    let moved = Tree::read(&root.join("from"));
    disk::move_dir(&guard, &root, Path::new("from"), Path::new("new/place")).unwrap();
    assert!(!root.join("from").exists());
    assert_eq!(Tree::read(&root.join("new/place")), moved);

    fs::create_dir_all(root.join("other")).unwrap();
    let before = Tree::read(dir.path());
    let taken = disk::move_dir(&guard, &root, Path::new("other"), Path::new("new/place"));
    assert!(matches!(taken, Err(DiskError::Exists { .. })));
    assert!(disk::move_dir(&guard, &root, Path::new("gone"), Path::new("elsewhere")).is_err());
    assert_eq!(Tree::read(dir.path()), before);
}

#[test]
fn copying_brings_bytes_and_modes_but_no_set_user_id() {
    let (dir, root, guard) = root();
    let source = dir.path().join("source");
    fs::create_dir_all(source.join("bin")).unwrap();
    fs::write(source.join("bin/run"), "#!/bin/sh\n").unwrap();
    fs::write(source.join("SKILL.md"), "text").unwrap();
    chmod(&source.join("bin/run"), 0o4755);
    chmod(&source.join("SKILL.md"), 0o640);
    let handle = Dir::open(&source).unwrap().unwrap();
    let files = [PathBuf::from("SKILL.md"), PathBuf::from("bin/run")];
    disk::copy_files(&guard, &handle, &files, &root, Path::new("a/copy")).unwrap();
    let copy = root.join("a/copy");
    assert_eq!(fs::read(copy.join("bin/run")).unwrap(), b"#!/bin/sh\n");
    assert_eq!(mode(&copy.join("bin/run")), 0o755);
    assert_eq!(mode(&copy.join("SKILL.md")), 0o640);
}

#[test]
fn copying_refuses_a_link_and_a_fifo() {
    let (dir, root, guard) = root();
    let source = dir.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(dir.path().join("secret"), "x").unwrap();
    symlink("../secret", source.join("link")).unwrap();
    make_fifo(&source.join("fifo"));
    let handle = Dir::open(&source).unwrap().unwrap();
    for name in ["link", "fifo"] {
        let copied = disk::copy_files(
            &guard,
            &handle,
            &[PathBuf::from(name)],
            &root,
            Path::new(name),
        );
        assert!(
            matches!(copied, Err(DiskError::NotAFile { .. })),
            "{copied:?}"
        );
    }
}

#[test]
fn strays_of_killed_processes_go_and_files_in_use_stay() {
    let (_dir, root, guard) = root();
    let stray = root.join(format!("{}999.0", disk::STRAY_PREFIX));
    let in_use = root.join(format!("{}999.1", disk::STRAY_PREFIX));
    let other = root.join("vak-tmp.mine");
    for path in [&stray, &in_use, &other] {
        fs::write(path, "half").unwrap();
    }
    let holder = fs::File::open(&in_use).unwrap();
    holder.lock().unwrap();
    drop(guard);
    let guard = disk::lock(&root).unwrap();
    assert!(!stray.exists() && in_use.exists() && other.exists());
    drop(holder);
    // Replacing any file of the directory cleans up too: a linked target may lie outside of every root.
    disk::replace(&guard, &root.join("file"), b"x").unwrap();
    assert!(!in_use.exists() && other.exists());
}

#[test]
fn reading_refuses_fifos_directories_and_too_much() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    make_fifo(&path("fifo"));
    fs::write(path("file"), "four").unwrap();
    assert!(matches!(
        disk::read(&path("fifo"), 9),
        Err(DiskError::NotAFile { .. })
    ));
    assert!(matches!(
        disk::read(dir.path(), 9),
        Err(DiskError::NotAFile { .. })
    ));
    assert_eq!(disk::read(&path("missing"), 9).unwrap(), None);
    assert_eq!(disk::read(&path("file"), 4).unwrap().unwrap(), b"four");
    assert!(matches!(
        disk::read(&path("file"), 3),
        Err(DiskError::TooLarge {
            limit: 3,
            found: 4,
            ..
        })
    ));
}

#[test]
fn a_reader_sees_only_whole_files_while_a_writer_is_at_work() {
    let (_dir, root, guard) = root();
    let file = root.join("registry.json");
    let content = |round: u8| vec![b'a' + round % 26; 10_000 + usize::from(round)];
    disk::replace(&guard, &file, &content(0)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let bytes = fs::read(&file).unwrap();
                assert!(bytes.len() >= 10_000 && bytes.iter().all(|byte| *byte == bytes[0]));
            }
        });
        for round in 1..60 {
            disk::replace(&guard, &file, &content(round)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}
