//! Where vak's state lives.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use vak::roots::{Roots, Scope};

#[test]
fn vak_home_holds_the_shared_root_and_the_working_directory_the_other() {
    let roots = Roots::resolve(
        Some(OsStr::new("/srv/vak")),
        Path::new("/root"),
        Path::new("/w"),
    );
    let listed: Vec<_> = roots.iter().collect();
    assert_eq!(
        listed,
        [
            (Scope::User, Path::new("/srv/vak/.vak")),
            (Scope::Workspace, Path::new("/w/.vak")),
        ]
    );
}

#[test]
fn without_vak_home_the_shared_root_is_below_the_home_directory() {
    let roots = Roots::resolve(None, Path::new("/home/ada"), Path::new("/w"));
    assert_eq!(roots.shared, Path::new("/home/ada/vak-home/.vak"));
}

#[test]
fn a_relative_vak_home_is_relative_to_the_working_directory() {
    let roots = Roots::resolve(
        Some(OsStr::new("here")),
        Path::new("/home/ada"),
        Path::new("/w"),
    );
    assert_eq!(roots.shared, Path::new("/w/here/.vak"));
}

#[test]
fn one_directory_by_two_paths_is_one_root() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real");
    let link = dir.path().join("link");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    // Before the root exists, and after.
    let before = Roots::resolve(Some(link.as_os_str()), Path::new("/root"), &real);
    assert_eq!(before.workspace, None);
    fs::create_dir(real.join(".vak")).unwrap();
    let after = Roots::resolve(Some(link.as_os_str()), Path::new("/root"), &real);
    assert_eq!(after.workspace, None);
}

#[test]
fn two_roots_linked_together_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let work = dir.path().join("work");
    fs::create_dir_all(home.join(".vak")).unwrap();
    fs::create_dir(&work).unwrap();
    std::os::unix::fs::symlink(home.join(".vak"), work.join(".vak")).unwrap();
    let roots = Roots::resolve(Some(home.as_os_str()), Path::new("/root"), &work);
    assert_eq!(roots.workspace, None);
}
