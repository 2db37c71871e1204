//! What git knows of the list: the commits, the versions of the file, the merges. Reads only.

use std::cell::RefCell;
use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};

/// What every variable that git may keep begins with: where its settings and its programs are, and how it fetches
/// what a partial clone lacks. Any other that a hook or a user sets could lead to another repository, work tree or
/// index than the project's own, or have git read paths and history otherwise than is meant here.
const KEPT: [&str; 7] = [
    "GIT_CONFIG",
    "GIT_EXEC_PATH",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_SSH",
    "GIT_SSL",
    "GIT_ASKPASS",
    "GIT_TERMINAL_PROMPT",
];

/// The repository that the project is in.
#[derive(Debug)]
pub(crate) struct Git {
    root: PathBuf,
    /// The list's path from the repository's top.
    list: String,
    /// Tells which object a file of a commit is.
    objects: Reader,
    /// Gives the bytes of an object.
    contents: Reader,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// The commit, as a full hash.
    pub(crate) commit: String,
    /// The path from the repository's top.
    pub(crate) path: String,
}

/// A merge on the first-parent history.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The merge commit.
    pub(crate) commit: String,
    /// Its parents but the first.
    pub(crate) merged: Vec<String>,
}

/// One run of `git cat-file` that answers question by question.
#[derive(Debug)]
struct Reader {
    format: &'static str,
    process: RefCell<Option<Process>>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It only reads, and it has nothing left to say.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Git {
    /// The repository that holds `root`; `None` where there is none.
    pub(crate) fn open(root: &Path) -> Result<Option<Git>> {
        if !root.ancestors().any(|above| above.join(".git").exists()) {
            return Ok(None);
        }
        let reader = |format| Reader {
            format,
            process: RefCell::default(),
        };
        let mut git = Git {
            root: root.to_owned(),
            list: String::new(),
            objects: reader("--batch-check=%(objecttype) %(objectname)"),
            contents: reader("--batch=%(objecttype) %(objectsize)"),
        };
        let prefix = git.text(&["rev-parse", "--show-prefix"])?;
        git.list = format!("{prefix}{}", registry::FILE);
        Ok(Some(git))
    }

    /// The list as a commit has it.
    pub(crate) fn list_at(&self, commit: &str) -> File {
        File {
            commit: commit.to_owned(),
            path: self.list.clone(),
        }
    }

    /// Whether the history is cut off.
    pub(crate) fn is_shallow(&self) -> Result<bool> {
        Ok(self.text(&["rev-parse", "--is-shallow-repository"])? == "true")
    }

    /// The commit that is checked out; `None` where nothing is committed yet.
    pub(crate) fn head(&self) -> Result<Option<String>> {
        if let Some(head) = self.commit("HEAD")? {
            return Ok(Some(head));
        }
        let branch = self.answer(&["symbolic-ref", "--quiet", "HEAD"])?;
        let is_unborn = match &branch {
            Some(branch) => self
                .answer(&["show-ref", "--verify", "--quiet", branch])?
                .is_none(),
            None => false,
        };
        if !is_unborn {
            bail!("the commit that `HEAD` names cannot be read\nhint: git fsck");
        }
        Ok(None)
    }

    /// The commit that a revision names, if it names one that is here.
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<String>> {
        let revision = format!("{revision}^{{commit}}");
        let commit = self.answer(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &revision,
        ])?;
        // `^REV` is not a commit but all that is not in it.
        Ok(commit.filter(|commit| !commit.starts_with('^')))
    }

    /// Whether `earlier` is `later` or one of its ancestors.
    pub(crate) fn is_ancestor(&self, earlier: &str, later: &str) -> Result<bool> {
        let yes = self.answer(&["merge-base", "--is-ancestor", earlier, later])?;
        Ok(yes.is_some())
    }

    /// The best common ancestor of two commits.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>> {
        self.answer(&["merge-base", one, other])
    }

    /// The names of the remote repositories.
    pub(crate) fn remotes(&self) -> Result<Vec<String>> {
        Ok(self.text(&["remote"])?.lines().map(str::to_owned).collect())
    }

    /// Whether a branch can have this name.
    pub(crate) fn can_be_branch(&self, name: &str) -> Result<bool> {
        let branch = format!("refs/heads/{name}");
        Ok(self.answer(&["check-ref-format", &branch])?.is_some())
    }

    /// What identifies the contents of a file; `None` where the commit has no such file.
    pub(crate) fn object(&self, file: &File) -> Result<Option<String>> {
        let found = self.find(file)?;
        if found.is_none() {
            // Git says the same of a file that is not there and of an object that is not: the latter must not pass.
            let File { commit, path } = file;
            let literal = format!(":(literal){path}");
            let tree = ["ls-tree", "-z", "--full-tree", commit, "--", &literal];
            let entry = self.text(&tree)?;
            if !(entry.is_empty() || entry.starts_with("040000 tree")) {
                bail!("git cannot read `{commit}:{path}`\nhint: git fsck");
            }
        }
        Ok(found)
    }

    /// The same, but `None` also where git cannot tell.
    fn find(&self, file: &File) -> Result<Option<String>> {
        let question = format!("{}:{}", file.commit, file.path);
        let answer = self.objects.ask(self, &question)?;
        Ok(answer.strip_prefix("blob ").map(str::to_owned))
    }

    /// The bytes of a file; `None` where the commit has no such file.
    pub(crate) fn read(&self, file: &File) -> Result<Option<Vec<u8>>> {
        match self.object(file)? {
            Some(object) => self.contents(&object).map(Some),
            None => Ok(None),
        }
    }

    /// The bytes of an object.
    pub(crate) fn contents(&self, object: &str) -> Result<Vec<u8>> {
        self.contents.bytes(self, object)
    }

    /// The commits of a range's first-parent history that touched the list, the earliest first.
    pub(crate) fn versions(&self, range: &str) -> Result<Vec<File>> {
        self.versions_at(range, &self.list)
    }

    /// The commits of a revision's first-parent history that touched the list, the earliest first. Before it was
    /// at its path it may have been at another.
    pub(crate) fn history(&self, of: &str) -> Result<Vec<File>> {
        let mut versions = self.versions(of)?;
        let mut start = match versions.first() {
            Some(first) => self.commit(&format!("{}^", first.commit))?,
            None => Some(of.to_owned()),
        };
        while let Some(commit) = start.take() {
            let Some(moved) = self.elsewhere(&commit)? else {
                break;
            };
            let earlier = self.versions_at(&moved.commit, &moved.path)?;
            if let Some(first) = earlier.first() {
                start = self.commit(&format!("{}^", first.commit))?;
            }
            versions.splice(..0, earlier);
        }
        Ok(versions)
    }

    fn versions_at(&self, range: &str, path: &str) -> Result<Vec<File>> {
        let literal = format!(":(top,literal){path}");
        let commits = self.text(&[
            "rev-list",
            "--first-parent",
            "--reverse",
            range,
            "--",
            &literal,
        ])?;
        let file = |commit: &str| File {
            commit: commit.to_owned(),
            path: path.to_owned(),
        };
        Ok(commits.lines().map(file).collect())
    }

    /// The last file of the list's name on the first-parent history that stands nowhere in the work tree now: the
    /// list, before the project was moved within the repository.
    fn elsewhere(&self, of: &str) -> Result<Option<File>> {
        let name = format!(":(top,glob)**/{}", registry::FILE);
        let commits = self.text(&["rev-list", "--first-parent", of, "--", &name])?;
        let top = PathBuf::from(self.text(&["rev-parse", "--show-toplevel"])?);
        let suffix = format!("/{}", registry::FILE);
        for commit in commits.lines() {
            let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit];
            let output = self.output(&tree)?;
            self.succeeded(&tree, &output)?;
            // Of all paths: one of them may be no UTF-8.
            let paths = String::from_utf8_lossy(&output.stdout);
            let moved = paths
                .split('\0')
                .filter(|path| *path == registry::FILE || path.ends_with(&suffix))
                .find(|path| !top.join(path).exists());
            if let Some(path) = moved {
                return Ok(Some(File {
                    commit: commit.to_owned(),
                    path: path.to_owned(),
                }));
            }
        }
        Ok(None)
    }

    /// The merges on the first-parent history of a range whose list is not that of every parent.
    pub(crate) fn merges(&self, range: &str) -> Result<Vec<Merge>> {
        let merges = self.text(&["rev-list", "--first-parent", "--merges", "--parents", range])?;
        let mut found = Vec::new();
        for line in merges.lines() {
            let mut commits = line.split(' ');
            let commit = commits.next().unwrap_or_default();
            let list = self.find(&self.list_at(commit))?;
            let mut merged = Vec::new();
            for parent in commits.skip(1) {
                if self.find(&self.list_at(parent))? != list {
                    merged.push(parent.to_owned());
                }
            }
            if !merged.is_empty() {
                let commit = commit.to_owned();
                found.push(Merge { commit, merged });
            }
        }
        Ok(found)
    }

    /// One line of answer, or `None` where git says no (exit code 1).
    fn answer(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = self.output(arguments)?;
        if output.status.code() == Some(1) {
            return Ok(None);
        }
        self.succeeded(arguments, &output)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(Some(text.trim_end().to_owned()))
    }

    fn text(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        self.succeeded(arguments, &output)?;
        let text = String::from_utf8(output.stdout).context("git did not answer in UTF-8")?;
        Ok(text.trim_end().to_owned())
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        self.command(arguments)
            .output()
            .context("failed to run `git`")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments);
        for (variable, _) in env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("GIT_") && !KEPT.iter().any(|kept| name.starts_with(kept)) {
                command.env_remove(&variable);
            }
        }
        // The history as it was pushed, whatever stands in `refs/replace` and `info/grafts` here.
        command
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "")
            .env("LC_ALL", "C");
        command
    }

    fn succeeded(&self, arguments: &[&str], output: &Output) -> Result<()> {
        if !output.status.success() {
            bail!(
                "`git {}` failed in `{}`: {}",
                arguments.join(" "),
                self.root.display(),
                String::from_utf8_lossy(&output.stderr).trim_end()
            );
        }
        Ok(())
    }
}

impl Reader {
    /// The line that answers a question.
    fn ask(&self, git: &Git, question: &str) -> Result<String> {
        let mut process = self.process.borrow_mut();
        let process = match &mut *process {
            Some(process) => process,
            none => none.insert(self.start(git)?),
        };
        let stdin = process.child.stdin.as_mut().context("`git` has no stdin")?;
        writeln!(stdin, "{question}").context("failed to ask `git cat-file`")?;
        let mut answer = String::new();
        process
            .stdout
            .read_line(&mut answer)
            .context("failed to read from `git cat-file`")?;
        if answer.pop() != Some('\n') {
            bail!("`git cat-file` failed on `{question}`\nhint: git fsck");
        }
        Ok(answer)
    }

    /// The bytes of an object.
    fn bytes(&self, git: &Git, object: &str) -> Result<Vec<u8>> {
        let answer = self.ask(git, object)?;
        let Some(size) = answer.strip_prefix("blob ") else {
            bail!("`git cat-file` cannot read `{object}`\nhint: git fsck");
        };
        let size: usize = size.parse().context("failed to parse git's answer")?;
        let mut process = self.process.borrow_mut();
        let stdout = process.as_mut().map(|process| &mut process.stdout);
        // A line feed that is not the object's follows it.
        let mut bytes = vec![0; size + 1];
        stdout
            .context("`git cat-file` is not running")?
            .read_exact(&mut bytes)
            .context("failed to read from `git cat-file`")?;
        bytes.pop();
        Ok(bytes)
    }

    fn start(&self, git: &Git) -> Result<Process> {
        let mut child = git
            .command(&["cat-file", self.format])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to run `git`")?;
        let stdout = child.stdout.take().context("`git` has no stdout")?;
        let stdout = BufReader::new(stdout);
        Ok(Process { child, stdout })
    }
}
