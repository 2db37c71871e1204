//! How long the start of a session takes with 200 plugins of 3 skills: reading the registry and the configs,
//! scanning every package for retired tools, and finding, judging and freezing 600 skills.
//!
//! To compare with: reading the same 600 files and nothing else.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark's set-up may panic"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;
use vak::core::Core;
use vak::plugin::{InstallOptions, PluginStore};
use vak::roots::{Roots, Scope};

const PLUGINS: usize = 200;
const SKILLS: usize = 3;

/// The median size of public skills, in bytes.
const SKILL_BYTES: usize = 6_000;

/// One plugin in this many tells the model to call a retired tool.
const STALE: usize = 50;

fn main() {
    // Installing takes longer than what is measured.
    LazyLock::force(&HOME);
    divan::main();
}

static HOME: LazyLock<Home> = LazyLock::new(Home::new);

struct Home {
    dir: TempDir,
    files: Vec<PathBuf>,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let store = PluginStore::open(&dir.path().join("home/.vak"), Scope::User);
        let guard = store.lock().unwrap();
        let options = InstallOptions {
            allow_retired: true,
            ..InstallOptions::default()
        };
        let mut files = Vec::new();
        for number in 0..PLUGINS {
            let package = dir.path().join(format!("packages/plugin-{number}"));
            write_package(&package, number);
            let installed = store.install(&guard, &package, options).unwrap();
            store.enable(&guard, &installed.plugin.name, true).unwrap();
        }
        drop(guard);
        fs::create_dir(dir.path().join("work")).unwrap();
        let home = Home {
            dir,
            files: Vec::new(),
        };
        let core = home.start();
        assert_eq!(core.skills().skills.len(), PLUGINS * SKILLS);
        assert_eq!(core.warnings().len(), PLUGINS / STALE);
        files.extend(core.skills().skills.iter().map(|found| found.path.clone()));
        Home { files, ..home }
    }

    fn start(&self) -> Core {
        let home = self.dir.path().join("home");
        let work = self.dir.path().join("work");
        let roots = Roots::resolve(Some(home.as_os_str()), &home, &work);
        Core::start(roots, &work, false, &mut |_| ())
    }
}

fn write_package(package: &std::path::Path, number: usize) {
    fs::create_dir_all(package).unwrap();
    let manifest = format!(r#"{{"name": "plugin-{number}", "version": "1.0.0"}}"#);
    fs::write(package.join("vak-plugin.json"), manifest).unwrap();
    for skill in 0..SKILLS {
        let name = format!("skill-{number}-{skill}");
        let place = package.join("skills").join(&name);
        fs::create_dir_all(&place).unwrap();
        let is_stale = skill == 0 && number.is_multiple_of(STALE);
        fs::write(place.join("SKILL.md"), text(&name, is_stale)).unwrap();
    }
}

/// Prose, lists, code spans and blocks in about the proportions of real skills.
fn text(name: &str, is_stale: bool) -> String {
    let mut text =
        format!("---\nname: {name}\ndescription: Does what {name} is for.\n---\n\n# {name}\n");
    if is_stale {
        text.push_str("\nCall `python_eval` with the code.\n");
    }
    let mut step = 1;
    while text.len() < SKILL_BYTES {
        write!(
            text,
            "\n## Step {step}\n\nLook at the input with `read` before you change it. What is missing is asked \
             for, not guessed.\n\n- Run `cargo test` in the directory.\n- Note what failed, with its line.\n\n\
             ```bash\nfor file in *.md; do wc -l \"$file\"; done\n```\n"
        )
        .expect("a string takes it");
        step += 1;
    }
    text
}

/// The whole start.
#[divan::bench(sample_count = 40, sample_size = 1)]
fn core_start() -> usize {
    HOME.start().warnings().len()
}

/// Reading the same files, in one thread.
#[divan::bench(sample_count = 40, sample_size = 1)]
fn read_the_files() -> usize {
    HOME.files
        .iter()
        .map(|path| fs::read(path).unwrap().len())
        .sum()
}
