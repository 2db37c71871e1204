//! The documents' examples, run: every `console` block of the README and of `docs/` shows what the program
//! prints today. `SNAPSHOTS=overwrite cargo test --test it documents::` writes the outputs anew.
//!
//! A document's blocks are one session: a home of its own, and a working directory that is a copy of what a
//! clone of this repository has at its top. A line that starts with `$ ` is a command; what follows it, up to
//! the next, is what it prints on both streams, with its exit code if that is not 0. How long the list is by now
//! is left out of it.

use crate::sandbox::with_list_as_recorded;
use snapbox::{Assert, Data};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn every_example_shows_what_the_program_prints() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let assert = Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV);
    let mut failures = Vec::new();
    let mut examples = 0;
    for document in documents(repository) {
        let text = fs::read_to_string(&document).unwrap();
        let mut session = Session::start(repository);
        let played = play(&text, &mut session);
        examples += session.commands;
        let expected = Data::read_from(&document, None).raw();
        if let Err(error) = assert.try_eq(
            Some(&document.display()),
            Data::text(played).raw(),
            expected,
        ) {
            failures.push(error.to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(examples > 0, "no document has an example");
}

/// A document that points at a test points at one that exists.
#[test]
fn every_test_that_a_document_names_exists() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pointers = 0;
    for document in documents(repository) {
        let text = fs::read_to_string(&document).unwrap();
        for quoted in text.split('`').skip(1).step_by(2) {
            let Some((module, test)) = quoted.split_once("::") else {
                continue;
            };
            let source = repository
                .join("tests/it")
                .join(module)
                .with_extension("rs");
            let Ok(source) = fs::read_to_string(source) else {
                continue;
            };
            pointers += 1;
            assert!(
                test.is_empty() || source.contains(&format!("fn {test}(")),
                "{}: `{quoted}`",
                document.display()
            );
        }
    }
    assert!(pointers > 10, "{pointers}");
}

/// The README, and what `docs/` has.
fn documents(repository: &Path) -> Vec<PathBuf> {
    let mut documents = vec![repository.join("README.md")];
    let docs = fs::read_dir(repository.join("docs")).into_iter().flatten();
    documents.extend(
        docs.map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md")),
    );
    documents.sort();
    documents
}

/// The document, with its examples' outputs as they are now.
fn play(text: &str, session: &mut Session) -> String {
    let mut played = String::new();
    let mut in_example = false;
    for line in text.lines() {
        match (in_example, line) {
            (false, "```console") => in_example = true,
            (true, "```") => in_example = false,
            (true, _) => {
                let Some(command) = line.strip_prefix("$ ") else {
                    continue;
                };
                let output = session.run(command);
                write!(played, "{line}\n{output}").unwrap();
                continue;
            }
            (false, _) => {}
        }
        writeln!(played, "{line}").unwrap();
    }
    played
}

/// The machine that a reader tries the examples on.
struct Session {
    dir: TempDir,
    commands: usize,
}

impl Session {
    /// A reader's home, who has cloned this repository and put `vak` on the path.
    fn start(repository: &Path) -> Session {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_vak"), bin.join("vak")).unwrap();
        // In these documents, `cargo run` means the built program.
        fs::write(bin.join("cargo"), "#!/bin/sh\nshift 3\nexec vak \"$@\"\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(bin.join("cargo"), executable).unwrap();
        let work = dir.path().join("home/ada/vak");
        fs::create_dir_all(&work).unwrap();
        let copied = Command::new("cp")
            .arg("-r")
            .arg(repository.join("examples"))
            .arg(&work)
            .status()
            .unwrap();
        assert!(copied.success());
        Session { dir, commands: 0 }
    }

    fn run(&mut self, command: &str) -> String {
        self.commands += 1;
        let root = self.dir.path();
        let home = root.join("home/ada");
        let path = format!(
            "{}:{}",
            root.join("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("{{ {command}\n}} 2>&1"))
            .current_dir(home.join("vak"))
            .env_remove("VAK_HOME")
            .env_remove("CLICOLOR_FORCE")
            .env("HOME", &home)
            .env("PATH", path)
            .output()
            .unwrap();
        let mut text = String::from_utf8(output.stdout)
            .unwrap()
            .replace(root.to_str().unwrap(), "");
        text = with_list_as_recorded(&text);
        match output.status.code() {
            Some(0) => {}
            code => writeln!(text, "[exit code {}]", code.unwrap_or(-1)).unwrap(),
        }
        text
    }
}
