//! From a core to the tools and the words of a session.

use super::Core;
use crate::config;
use crate::skills::State;
use crate::tools::{FrozenSkill, FrozenSkills, PermissionMode, Toolbox, Workspace, WorkspaceError};
use std::path::PathBuf;

impl Core {
    /// The session's tools, at work in the working directory. `mode` is a person's explicit decision; without
    /// one the configs' holds.
    ///
    /// # Errors
    /// [`WorkspaceError`] if the working directory can't be opened.
    pub fn toolbox(&self, mode: Option<PermissionMode>) -> Result<Toolbox, WorkspaceError> {
        let workspace = Workspace::open(&self.cwd, self.own_state())?;
        let mode = mode.unwrap_or(self.policy.permission_mode);
        Ok(Toolbox::new(workspace, mode, self.frozen_skills()))
    }

    /// Where vak's own state is: the roots, and the configs, which their owners may keep elsewhere.
    fn own_state(&self) -> Vec<PathBuf> {
        let roots = self.roots.iter();
        roots
            .flat_map(|(_, root)| [root.to_owned(), root.join(config::FILE_NAME)])
            .collect()
    }

    /// The skills by name: the text of each that is offered, and why each other one is not.
    fn frozen_skills(&self) -> FrozenSkills {
        let skills = &self.catalogue.skills;
        let rejected = skills.iter().filter(|found| found.state == State::Rejected);
        FrozenSkills {
            admitted: self
                .catalogue
                .offered()
                .map(|skill| {
                    let frozen = FrozenSkill {
                        path: skill.path.clone(),
                        text: skill.text.clone(),
                    };
                    (skill.name.clone(), frozen)
                })
                .collect(),
            rejected: rejected
                .filter_map(|found| Some((found.name.clone(), found.rejection()?)))
                .collect(),
        }
    }

    /// What the model is told before anything else: where it is, how to behave, and which skills there are.
    pub fn system_prompt(&self) -> String {
        let directory = self.cwd.display();
        let skills = match self.catalogue.prompt() {
            none if none.is_empty() => none,
            list => format!(
                "\nBefore you do what a skill is for, load it with the `skill` tool.\n\n{list}"
            ),
        };
        format!(
            "You are vak, an agent that works for a person in the directory `{directory}`.\n\
             Find things out and get things done with the tools you are given. Never state a result \
             that no tool has returned. When a call fails, its answer says what to change.\n{skills}"
        )
    }
}
