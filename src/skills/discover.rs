//! All skills of a session, and which of them the model is offered.

use super::diagnostic::{Severity, SkillDiagnostic, SkillFault};
use super::find::{Finds, Kind, find, outside};
use super::validate::{self, Skill};
use crate::roots::{Roots, Scope};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Whose a skill is. The first comes first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Source {
    /// The workspace's own.
    Workspace,
    /// The user's own, for every workspace.
    Shared,
    /// An enabled plugin's.
    Plugin {
        /// The plugin's name.
        plugin: String,
    },
}

/// A directory to look for skills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose skills it holds.
    pub source: Source,
    /// The directory; a `skills` directory, or a plugin's package.
    pub path: PathBuf,
    /// What a link in it may not lead out of; `None` where links may lead anywhere.
    pub border: Option<PathBuf>,
}

/// What became of a skill that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The model is offered it.
    Offered,
    /// Another one of its name comes first.
    Shadowed,
    /// It has an error.
    Rejected,
}

/// A skill that was found, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSkill {
    /// Its name; its directory's, if it tells none.
    pub name: String,
    /// Whose it is.
    pub source: Source,
    /// Its file.
    pub path: PathBuf,
    /// What became of it.
    pub state: State,
    /// The skill, unless it was rejected.
    pub skill: Option<Skill>,
    /// What there is to say of it.
    pub diagnostics: Vec<SkillDiagnostic>,
}

/// All skills that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The skills, by name; of one name the one that comes first first.
    pub skills: Vec<FoundSkill>,
    /// What there is to say of places that look as if a skill should be there.
    pub places: Vec<SkillDiagnostic>,
}

/// Finds the skills of the roots themselves, and of the packages of plugins.
///
/// The workspace's skills come first, then the shared root's, then the plugins' in the order given. Links may
/// lead anywhere from the shared root, which is the user's own, but not out of a workspace or a package.
pub fn discover(roots: &Roots, packages: impl IntoIterator<Item = (String, PathBuf)>) -> Catalogue {
    let loose = roots.iter().map(|(scope, root)| {
        let (source, border) = match scope {
            Scope::Workspace => (Source::Workspace, root.parent().map(real)),
            Scope::User => (Source::Shared, None),
        };
        Place {
            source,
            path: root.join("skills"),
            border,
        }
    });
    let plugins = packages.into_iter().map(|(plugin, package)| Place {
        source: Source::Plugin { plugin },
        border: Some(real(&package)),
        path: package,
    });
    let mut loose: Vec<Place> = loose.collect();
    loose.sort_by(|a, b| a.source.cmp(&b.source));
    discover_at(loose.into_iter().chain(plugins))
}

/// Finds the skills of these places. Of two skills of one name the one in the earlier place is offered.
pub fn discover_at(places: impl IntoIterator<Item = Place>) -> Catalogue {
    let places: Vec<Place> = places.into_iter().collect();
    // Nearly all of the time goes into the system's calls, place by place.
    let searched: Vec<Catalogue> = places.par_iter().map(search).collect();
    let mut catalogue = Catalogue::default();
    for found in searched {
        catalogue.skills.extend(found.skills);
        catalogue.places.extend(found.places);
    }
    shadow(&mut catalogue.skills);
    // Stable, so that of one name the first stays first.
    catalogue.skills.sort_by(|a, b| a.name.cmp(&b.name));
    catalogue
}

/// What is in one place.
fn search(place: &Place) -> Catalogue {
    let kind = match place.source {
        Source::Plugin { .. } => Kind::Package,
        Source::Workspace | Source::Shared => Kind::SkillsRoot,
    };
    let finds = find(&place.path, kind, place.border.as_deref());
    let judged = finds.files.iter().map(|file| judge(file, &place.source));
    Catalogue {
        skills: judged.collect(),
        places: finds.diagnostics,
    }
}

/// Judges what an author points at: a skill's file, its directory, or a directory of skills. Nothing is found
/// where nothing looks like a skill. In the workspace links may not lead out of it, as for a session there.
pub fn look(path: &Path, workspace: &Path) -> Catalogue {
    let workspace = real(workspace);
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let place = real(parent.unwrap_or(Path::new(".")));
    let border = (place.starts_with(&workspace)).then_some(&*workspace);
    let mut finds = Finds::default();
    if path.is_dir() {
        finds = find(path, Kind::Package, border);
    } else if let Some(target) = outside(path, border) {
        finds.diagnostics.push(SkillDiagnostic {
            path: path.to_owned(),
            line: None,
            fault: SkillFault::LinkOutside { target },
        });
    } else {
        finds.files.push(path.to_owned());
    }
    let source = Source::Workspace;
    let judged = finds.files.iter().map(|file| judge(file, &source));
    Catalogue {
        skills: judged.collect(),
        places: finds.diagnostics,
    }
}

fn judge(file: &Path, source: &Source) -> FoundSkill {
    let validation = validate::read(file);
    let directory = file.parent().and_then(Path::file_name);
    let state = match validation.skill {
        Some(_) => State::Offered,
        None => State::Rejected,
    };
    FoundSkill {
        name: validation.name.unwrap_or_else(|| {
            directory.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        }),
        source: source.clone(),
        path: file.to_owned(),
        state,
        skill: validation.skill,
        diagnostics: validation.diagnostics,
    }
}

/// Takes the offer from every skill whose name an earlier one has. A rejected skill has no claim on its name.
fn shadow(skills: &mut [FoundSkill]) {
    let mut first: HashMap<String, (Source, PathBuf)> = HashMap::new();
    for found in skills {
        if found.state != State::Offered {
            continue;
        }
        let Some((source, path)) = first.get(&found.name) else {
            let claim = (found.source.clone(), found.path.clone());
            first.insert(found.name.clone(), claim);
            continue;
        };
        found.state = State::Shadowed;
        found.diagnostics.push(SkillDiagnostic {
            path: found.path.clone(),
            line: None,
            fault: SkillFault::Shadowed {
                by: format!("{source} skill"),
                path: path.clone(),
            },
        });
    }
}

/// A path without its links; of one that can't be resolved nothing is inside.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Catalogue {
    /// The skills the model is offered, by name.
    pub fn offered(&self) -> impl Iterator<Item = &Skill> {
        self.skills
            .iter()
            .filter(|found| found.state == State::Offered)
            .filter_map(|found| found.skill.as_ref())
    }

    /// Everything there is to say, of skills and of places.
    pub fn diagnostics(&self) -> impl Iterator<Item = &SkillDiagnostic> {
        let of_skills = self.skills.iter().flat_map(|found| &found.diagnostics);
        of_skills.chain(&self.places)
    }

    /// What the model is told of the skills: names and descriptions, no paths, in the order of their names.
    /// Empty if there is none.
    pub fn prompt(&self) -> String {
        let mut prompt = String::new();
        for Skill {
            name, description, ..
        } in self.offered()
        {
            if prompt.is_empty() {
                prompt.push_str("Available skills\n");
            }
            let _ = writeln!(prompt, "- {name}: {description}");
        }
        prompt
    }
}

impl FoundSkill {
    /// Why it is not offered, in one phrase; `None` if it is.
    pub fn rejection(&self) -> Option<String> {
        let worst = self
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity() == Severity::Error)
            .find(|diagnostic| matches!(diagnostic.fault, SkillFault::Retired { .. }))
            .or_else(|| {
                let mut errors = self.diagnostics.iter();
                errors.find(|diagnostic| diagnostic.severity() == Severity::Error)
            });
        match self.state {
            State::Rejected => worst.map(|diagnostic| format!("it {}", diagnostic.fault)),
            State::Offered | State::Shadowed => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Workspace => f.write_str("workspace"),
            Source::Shared => f.write_str("shared"),
            Source::Plugin { plugin } => write!(f, "plugin `{plugin}`"),
        }
    }
}
