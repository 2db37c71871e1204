//! The tool `bash`.

use super::{LiveTool, PermissionMode};

pub(super) const TOOL: LiveTool = LiveTool {
    name: "bash",
    aliases: &[
        "shell",
        "sh",
        "terminal",
        "exec",
        "sandbox",
        "sandbox_exec",
        "run_command",
        "execute_command",
        "run_shell_command",
    ],
    description: "Run a command with bash in the workspace directory and return what it writes to stdout \
        and stderr. A non-zero exit code is shown at the end. The environment holds no credentials. \
        Long output is cut in the middle. Processes left in the background are ended with the command, unless \
        they have left its process group.",
    needs: PermissionMode::FullAccess,
};
