//! The two directories that hold vak's state: the shared root and the workspace's root.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Whose state a root holds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The shared root: every workspace of this user.
    User,
    /// The workspace's own root.
    Workspace,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Scope::User => "user",
            Scope::Workspace => "workspace",
        })
    }
}

/// The roots that a command works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// `$VAK_HOME/.vak`, where `VAK_HOME` defaults to `~/vak-home`.
    pub shared: PathBuf,
    /// `<cwd>/.vak`; `None` where it is the same directory as the shared root.
    pub workspace: Option<PathBuf>,
}

/// There is no telling where the shared root is.
#[derive(Debug, thiserror::Error)]
#[error(
    "this user has no home directory\nhint: set `VAK_HOME` to the directory that should hold `.vak`"
)]
pub struct NoHome;

impl Roots {
    /// The roots of a process that works in `cwd`, from its environment.
    ///
    /// # Errors
    /// [`NoHome`] if neither `VAK_HOME` is set nor the user has a home directory.
    pub fn of_process(cwd: &Path) -> Result<Roots, NoHome> {
        let vak_home = std::env::var_os("VAK_HOME").filter(|value| !value.is_empty());
        let home = match (&vak_home, std::env::home_dir()) {
            (_, Some(home)) => home,
            (Some(_), None) => cwd.to_owned(),
            (None, None) => return Err(NoHome),
        };
        Ok(Roots::resolve(vak_home.as_deref(), &home, cwd))
    }

    /// Works out both roots. `vak_home` is the value of `VAK_HOME`, if it is set and not empty;
    /// `home` the user's home directory.
    pub fn resolve(vak_home: Option<&OsStr>, home: &Path, cwd: &Path) -> Roots {
        let base = vak_home.map_or_else(|| home.join("vak-home"), |dir| cwd.join(dir));
        let shared = base.join(".vak");
        let workspace = cwd.join(".vak");
        let same = shared == workspace
            || matches!((base.canonicalize(), cwd.canonicalize()), (Ok(a), Ok(b)) if a == b)
            || matches!((shared.canonicalize(), workspace.canonicalize()), (Ok(a), Ok(b)) if a == b);
        Roots {
            shared,
            workspace: (!same).then_some(workspace),
        }
    }

    /// Every root with its scope, the shared one first.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, &Path)> {
        std::iter::once((Scope::User, self.shared.as_path())).chain(
            self.workspace
                .iter()
                .map(|root| (Scope::Workspace, root.as_path())),
        )
    }
}
