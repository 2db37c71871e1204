//! What a session's tools may do, as its operator decided.

use std::fmt;

/// How much a session's tools may do; each mode includes the ones before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum PermissionMode {
    /// Look at files and skills.
    #[default]
    ReadOnly,
    /// Also write files inside the workspace.
    WorkspaceWrite,
    /// Also run commands. Only ever a person's explicit decision.
    FullAccess,
}

impl PermissionMode {
    /// Every mode, the narrowest first.
    pub const ALL: [PermissionMode; 3] = [
        PermissionMode::ReadOnly,
        PermissionMode::WorkspaceWrite,
        PermissionMode::FullAccess,
    ];

    /// The mode's name, as a config or the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            PermissionMode::ReadOnly => "read-only",
            PermissionMode::WorkspaceWrite => "workspace-write",
            PermissionMode::FullAccess => "full-access",
        }
    }

    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<PermissionMode> {
        PermissionMode::ALL
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
