//! Where a tool's name still stands in the repository.

use std::collections::BTreeMap;
use std::{fmt, fs, io};

use ignore::WalkBuilder;
use registry::fold;

use crate::project::Project;
use crate::retire::UNFINISHED;
use crate::say;

/// A larger file is no text that a person keeps up.
const MAX_FILE: u64 = 4 << 20;

/// How much of a line is shown, in characters.
const SHOWN_LINE: usize = 100;

/// What kind of file a name stands in, in the order in which one would go through them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// Rust sources of the program.
    Sources,
    /// The skills and plugins that vak brings along.
    Starter,
    /// Markdown.
    Docs,
    /// Tests, examples and the rest.
    Others,
}

impl Group {
    /// What is to be done about a name in such a file.
    pub(crate) fn chore(self) -> &'static str {
        match self {
            Group::Sources => "take what is left of the tool out of the sources:",
            Group::Starter => "teach the starter skills and plugins the replacement:",
            Group::Docs => "correct the documentation:",
            Group::Others => "look at what else names it:",
        }
    }

    fn of(path: &str) -> Group {
        if path.starts_with("src/") {
            Group::Sources
        } else if path.starts_with("starter/") {
            Group::Starter
        } else if path.ends_with(".md")
            && !path.starts_with("examples/")
            && !path.starts_with("tests/")
        {
            Group::Docs
        } else {
            Group::Others
        }
    }
}

/// Every line of the repository that names `folded`, in any spelling, but for the list itself: `file:line: text`.
/// What cannot be read is warned of.
pub(crate) fn find(project: &Project, folded: &str) -> BTreeMap<Group, Vec<String>> {
    let mut groups: BTreeMap<Group, Vec<String>> = BTreeMap::new();
    let walk = WalkBuilder::new(&project.root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Ord::cmp)
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                not_looked_at(&error);
                continue;
            }
        };
        let path = project.shown(entry.path());
        let is_text = entry.file_type().is_some_and(|kind| kind.is_file())
            && entry
                .metadata()
                .is_ok_and(|metadata| metadata.len() <= MAX_FILE);
        if !is_text || path == registry::FILE || path.starts_with(UNFINISHED) {
            continue;
        }
        let bytes = match fs::read(entry.path()) {
            Ok(bytes) => bytes,
            // Gone since it was listed: so is what it said.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                not_looked_at(&format!("{path}: {error}"));
                continue;
            }
        };
        for (at, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            if names(&fold(line), folded) {
                let shown: String = line.trim().chars().take(SHOWN_LINE).collect();
                let place = format!("{path}:{}: {shown}", at + 1);
                groups.entry(Group::of(&path)).or_default().push(place);
            }
        }
    }
    groups
}

fn not_looked_at(what: &dyn fmt::Display) {
    say(&format!("warning: not looked at for the name: {what}"));
}

/// Whether a folded line holds a folded name as a word of its own.
fn names(line: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}
