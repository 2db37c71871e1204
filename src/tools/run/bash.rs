//! `bash`: runs a command in the workspace.
//!
//! The command gets an environment of a few harmless variables, no credentials; it can't read from the
//! terminal. It and everything it started in its process group is ended when the shell ends, when its time is
//! up, when the call is cancelled, or when this process is gone. Of its output the beginning and the end are
//! kept.

use super::arguments::typed;
use super::excerpt::Excerpt;
use super::execution::Execution;
use super::{Cancel, ToolError, Toolbox};
use crate::tools::bash::TOOL;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(super) const EXECUTION: Execution = Execution {
    tool: TOOL,
    parameters,
    run,
};

const DEFAULT_TIMEOUT_SECONDS: u64 = 120;
const MAX_TIMEOUT_SECONDS: u64 = 600;

/// What Linux takes as one argument of a program, without the NUL that ends it.
const MAX_COMMAND_BYTES: usize = (128 << 10) - 1;

const MAX_OUTPUT_BYTES: usize = 32 << 10;

/// How long a process group may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// How often a running command looks whether it should stop.
const TICK: Duration = Duration::from_millis(20);

/// What a group's leader runs. The polite signal is not for it.
const LEADER: &str = "trap '' TERM; read -r; kill -KILL 0";

/// The variables a command may see: where things are and how to speak, nothing that opens a door.
const ENVIRONMENT: [&str; 11] = [
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout_seconds: Option<u64>,
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_COMMAND_BYTES,
                "description": "The command line."
            },
            "timeout_seconds": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_TIMEOUT_SECONDS,
                "description": format!("How long it may run; {DEFAULT_TIMEOUT_SECONDS} if not given.")
            }
        },
        "required": ["command"],
        "additionalProperties": false
    })
}

fn run(toolbox: &Toolbox, arguments: Value, cancel: &Cancel) -> Result<String, ToolError> {
    let arguments: Arguments = typed(arguments)?;
    let limit = Duration::from_secs(arguments.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS));
    let failed = |source| ToolError::System {
        action: "run `bash`".to_owned(),
        source,
    };
    check(&arguments.command)?;
    let mut running = Running::start(&arguments.command, toolbox).map_err(failed)?;
    match running.until_over(Instant::now() + limit, cancel) {
        Ok(Over::Exited(status)) => Ok(report(running.output.text(), status)),
        Ok(Over::TimedOut) => Err(ToolError::TimedOut {
            limit,
            output: running.output.text(),
        }),
        Ok(Over::Cancelled) => Err(ToolError::Cancelled),
        Err(error) => Err(failed(error)),
    }
}

/// Refuses what can't be handed to a shell. The schema counts characters, the system bytes.
fn check(command: &str) -> Result<(), ToolError> {
    let bytes = command.len();
    let problem = if command.contains('\0') {
        "it contains a NUL character".to_owned()
    } else if bytes > MAX_COMMAND_BYTES {
        format!("it is {bytes} bytes; at most {MAX_COMMAND_BYTES} are allowed")
    } else {
        return Ok(());
    };
    Err(ToolError::InvalidParameter {
        parameter: "command".to_owned(),
        problem,
    })
}

fn report(mut text: String, status: ExitStatus) -> String {
    if text.is_empty() && status.success() {
        return "[no output]".to_owned();
    }
    if status.success() {
        return text;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match (status.code(), status.signal()) {
        (Some(code), _) => text.push_str(&format!("[exit code {code}]")),
        (None, Some(signal)) => text.push_str(&format!("[ended by signal {signal}]")),
        (None, None) => text.push_str("[ended]"),
    }
    text
}

/// A command that runs.
struct Running {
    group: Group,
    child: Child,
    /// Both of its output streams, in the order in which it wrote them.
    pipe: PipeReader,
    output: Excerpt,
}

/// A process group that does not outlive this process, however that ends. Its leader waits for that.
struct Group {
    leader: Child,
    /// Nobody else holds this end, so the leader finds its own closed when this process is gone.
    _lifeline: PipeWriter,
}

/// How a command came to its end.
enum Over {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

impl Running {
    fn start(command: &str, toolbox: &Toolbox) -> io::Result<Running> {
        let (pipe, stdout) = io::pipe()?;
        let stderr = stdout.try_clone()?;
        let group = Group::new()?;
        let child = shell(command)
            .current_dir(toolbox.workspace.root())
            .process_group(group.id().as_raw_pid())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()?;
        Ok(Running {
            group,
            child,
            pipe,
            output: Excerpt::new(MAX_OUTPUT_BYTES),
        })
    }

    /// Reads what the command writes until it is over; then nothing of its group runs any more.
    fn until_over(&mut self, deadline: Instant, cancel: &Cancel) -> io::Result<Over> {
        let over = loop {
            self.drain(TICK)?;
            if self.has_exited()? {
                break None;
            }
            if cancel.is_cancelled() {
                break Some(Over::Cancelled);
            }
            if Instant::now() >= deadline {
                break Some(Over::TimedOut);
            }
        };
        let status = self.end()?;
        Ok(over.unwrap_or(Over::Exited(status)))
    }

    /// Takes what is there to read; waits at most `patience` for the first of it. A command that writes
    /// without pause is looked after at least once a tick.
    fn drain(&mut self, patience: Duration) -> io::Result<()> {
        let started = Instant::now();
        let mut buffer = [0; 16 << 10];
        let mut patience = patience;
        loop {
            let mut wanted = [PollFd::new(&self.pipe, PollFlags::IN)];
            let timeout = Timespec::try_from(patience).ok();
            match poll(&mut wanted, timeout.as_ref()) {
                Ok(0) => return Ok(()),
                Err(rustix::io::Errno::INTR) => return Ok(()),
                other => other?,
            };
            let read = match self.pipe.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if read == 0 {
                // Nobody holds the other end; what is left to wait for is the shell's exit.
                std::thread::sleep(patience.min(Duration::from_millis(1)));
                return Ok(());
            }
            self.output.push(&buffer[..read]);
            patience = Duration::ZERO;
            if started.elapsed() > TICK {
                return Ok(());
            }
        }
    }

    /// Takes the rest: what is in the pipe by now. More may only come from processes that left the group.
    fn drain_rest(&mut self) -> io::Result<()> {
        let mut rest = Vec::new();
        let waiting = ioctl_fionread(&self.pipe)?;
        (&self.pipe).take(waiting).read_to_end(&mut rest)?;
        self.output.push(&rest);
        Ok(())
    }

    /// Ends the process group, politely first if the shell still runs, and takes the last of what it wrote.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.has_exited()? {
            self.group.signal(Signal::TERM);
            let patience = Instant::now() + GRACE;
            while !self.has_exited()? && Instant::now() < patience {
                self.drain(TICK)?;
            }
        }
        self.group.signal(Signal::KILL);
        let status = self.child.wait()?;
        self.drain_rest()?;
        Ok(status)
    }

    fn has_exited(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }
}

/// An error on the way leaves no process behind.
impl Drop for Running {
    fn drop(&mut self) {
        self.group.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Group {
    fn new() -> io::Result<Group> {
        let (end, lifeline) = io::pipe()?;
        let leader = shell(LEADER)
            .process_group(0)
            .stdin(end)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Group {
            leader,
            _lifeline: lifeline,
        })
    }

    /// As long as the leader is not reaped, the number can't become another group's.
    fn id(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// A group that is already gone needs no signal.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.id(), signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.leader.wait();
    }
}

/// A shell that sees nothing but the harmless variables.
fn shell(command: &str) -> Command {
    let variables = ENVIRONMENT.iter();
    let mut shell = Command::new("bash");
    shell
        .args(["--noprofile", "--norc", "-c", command])
        .env_clear()
        .envs(variables.filter_map(|name| Some((name, std::env::var_os(name)?))));
    shell
}
