//! What git knows of the list: the commits, the versions of the file, the merges. Reads only.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};

/// What a hook sets for the git that runs it. Here they would lead to another repository, another work tree or
/// another index than the project's own, or show its history other than it is.
const MISLEADING: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// The repository that the project is in.
#[derive(Debug)]
pub(crate) struct Git {
    root: PathBuf,
    /// The list's path from the repository's top.
    list: String,
}

/// A merge on the first-parent history.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The merge commit.
    pub(crate) commit: String,
    /// Its parents but the first.
    pub(crate) merged: Vec<String>,
}

impl Git {
    /// The repository that holds `root`; `None` where there is none.
    pub(crate) fn open(root: &Path) -> Result<Option<Git>> {
        if !root.ancestors().any(|above| above.join(".git").exists()) {
            return Ok(None);
        }
        let mut git = Git {
            root: root.to_owned(),
            list: String::new(),
        };
        let prefix = git.text(&["rev-parse", "--show-prefix"])?;
        git.list = format!("{prefix}{}", registry::FILE);
        Ok(Some(git))
    }

    /// Whether the history is cut off.
    pub(crate) fn is_shallow(&self) -> Result<bool> {
        Ok(self.text(&["rev-parse", "--is-shallow-repository"])? == "true")
    }

    /// The commit that a revision names, if it names one that is here.
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<String>> {
        let revision = format!("{revision}^{{commit}}");
        self.answer(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &revision,
        ])
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

    /// The list as a commit has it.
    pub(crate) fn list_at(&self, commit: &str) -> Result<Option<Vec<u8>>> {
        let object = format!("{commit}:{}", self.list);
        match self.answer(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &object,
        ])? {
            Some(blob) => Ok(Some(self.run(&["cat-file", "blob", &blob])?.stdout)),
            None => Ok(None),
        }
    }

    /// The commits of a revision's first-parent history that touched the list, the earliest first.
    pub(crate) fn versions(&self, of: &str) -> Result<Vec<String>> {
        let range = [
            "log",
            "--first-parent",
            "--reverse",
            "--format=%H",
            of,
            "--",
        ];
        let path = format!(":(top,literal){}", self.list);
        let log = self.text(&[range.as_slice(), &[&path]].concat())?;
        Ok(log.lines().map(str::to_owned).collect())
    }

    /// The merges on the first-parent history of `HEAD` whose list is not that of every parent; only those
    /// after `since`, if it is given.
    pub(crate) fn merges(&self, since: Option<&str>) -> Result<Vec<Merge>> {
        let range = since.map_or_else(|| "HEAD".to_owned(), |since| format!("{since}..HEAD"));
        let log = self.text(&[
            "log",
            "--first-parent",
            "--merges",
            "--format=%H %P",
            &range,
        ])?;
        let merges: Vec<Vec<&str>> = log.lines().map(|line| line.split(' ').collect()).collect();
        let mut lists = self.lists_of(merges.iter().flatten().copied())?.into_iter();
        let mut found = Vec::new();
        for commits in merges {
            let lists: Vec<_> = lists.by_ref().take(commits.len()).collect();
            let (commit, parents) = (commits[0], &commits[1..]);
            let merged: Vec<String> = parents
                .iter()
                .zip(&lists[1..])
                .skip(1)
                .filter(|(_, list)| **list != lists[0])
                .map(|(parent, _)| (*parent).to_owned())
                .collect();
            if !merged.is_empty() {
                let commit = commit.to_owned();
                found.push(Merge { commit, merged });
            }
        }
        Ok(found)
    }

    /// What identifies the list of each commit, in one run of git however many there are.
    fn lists_of<'c>(&self, commits: impl Iterator<Item = &'c str>) -> Result<Vec<String>> {
        let questions: String = commits
            .map(|commit| format!("{commit}:{}\n", self.list))
            .collect();
        let answers = self.feed(&["cat-file", "--batch-check=%(objectname)"], questions)?;
        // A commit without the list gets its question back, with ` missing` behind it.
        Ok(answers
            .lines()
            .map(|line| if line.ends_with(" missing") { "" } else { line })
            .map(str::to_owned)
            .collect())
    }

    /// Runs git and gives it `input`, from a thread: git answers before it has read all.
    fn feed(&self, arguments: &[&str], input: String) -> Result<String> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("failed to run `git`")?;
        let stdin = child.stdin.take();
        let writer = std::thread::spawn(move || stdin.map(|mut it| it.write_all(input.as_bytes())));
        let output = child.wait_with_output().context("failed to run `git`")?;
        // What git did not read it did not need; its exit code says whether it failed.
        let _ = writer.join();
        self.succeeded(arguments, &output)?;
        String::from_utf8(output.stdout).context("git did not answer in UTF-8")
    }

    /// One line of answer, or `None` where git says no (exit code 1) or does not know the revision.
    fn answer(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = self.output(arguments)?;
        match output.status.code() {
            Some(1) => Ok(None),
            // `rev-parse --quiet` is not quiet about a path that a commit does not have.
            Some(128) if arguments.contains(&"--quiet") => Ok(None),
            _ => {
                self.succeeded(arguments, &output)?;
                let text = String::from_utf8_lossy(&output.stdout);
                Ok(Some(text.trim_end().to_owned()))
            }
        }
    }

    fn text(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        let text = String::from_utf8(output.stdout).context("git did not answer in UTF-8")?;
        Ok(text.trim_end().to_owned())
    }

    fn run(&self, arguments: &[&str]) -> Result<Output> {
        let output = self.output(arguments)?;
        self.succeeded(arguments, &output)?;
        Ok(output)
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        self.command(arguments)
            .output()
            .context("failed to run `git`")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments);
        for variable in MISLEADING {
            command.env_remove(variable);
        }
        command
            .env("GIT_NO_REPLACE_OBJECTS", "1")
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
