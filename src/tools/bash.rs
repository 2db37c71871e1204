//! The tool `bash`.

use super::LiveTool;

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
    summary: "Run a command in the sandboxed shell",
};
