//! `vak scan`: what of these files still calls a retired tool, for authors and for CI.

pub(super) mod excerpt;
mod explain;
mod fix;
mod github;
mod human;
mod json;
mod progress;
mod sarif;
mod summary;
mod wording;

use super::Status;
use super::out::Out;
use crate::mode::Mode;
use crate::scan::{Grade, Scanner};
use crate::walk::{self, Event, FileReport, Target};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use fix::Fix;
use progress::Progress;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use summary::Summary;

/// Find what still calls a retired tool, in any file or tree.
///
/// In a directory, Markdown files (`.md`, `.mdc`, `.markdown`) and `hooks.json` are scanned at any depth:
/// hidden directories too, ignore files are not read, and git's own directory is left out. A file that is
/// named itself is scanned whatever it is called. Links are followed inside the directory only.
///
/// `--fix` takes retired names out of tools lists, or puts the replacement there if the list does not have
/// it yet. It changes no other byte, and never prose. What it reports, and the exit code, are those of the
/// files as they are afterwards.
///
/// Exit codes: 0 clean; 1 a finding at or above `--deny`; 2 a path that could not be scanned, or a file
/// that could not be scanned to its end. Everything that could be scanned is reported all the same.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files and directories to scan; `-` is standard input
    #[arg(value_name = "PATH", required_unless_present = "explain")]
    paths: Vec<PathBuf>,

    /// How to write the findings
    #[arg(long, value_enum, default_value_t = ScanFormat::Human)]
    format: ScanFormat,

    /// The weakest grade to show; what `--deny` names is always shown
    #[arg(long, value_name = "GRADE", value_enum, default_value_t = GradeArg::Suspect)]
    min_grade: GradeArg,

    /// The weakest grade that makes the exit code 1
    #[arg(long, value_name = "GRADE", value_enum, default_value_t = DenyArg::Instructs)]
    deny: DenyArg,

    /// What standard input goes by, in the report and for its kind (`hooks.json`)
    #[arg(
        long,
        value_name = "PATH",
        default_value = "<stdin>",
        hide_default_value = true
    )]
    stdin_filename: PathBuf,

    /// Take retired names out of tools lists
    #[arg(long)]
    fix: bool,

    /// Show what `--fix` would change, as a unified diff, and change nothing
    #[arg(long, conflicts_with = "format")]
    diff: bool,

    /// Say what the list of retired tools says of a name, and scan nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["paths", "min_grade", "deny", "fix", "diff"])]
    explain: Option<String>,

    /// How many files to scan at once, at most 16 [default: one for each core]
    #[arg(long, short = 'j', value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// How the findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
    /// A JSON document a line, as they are found
    Ndjson,
    /// SARIF 2.1.0, for code scanning services
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// A grade on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GradeArg {
    /// The text tells the model to call it
    Instructs,
    /// A tools list names it
    Declares,
    /// Probably a reference, not provably
    Suspect,
    /// The text documents that the tool is gone
    Mentions,
}

/// A grade that can fail a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DenyArg {
    /// The text tells the model to call it
    Instructs,
    /// A tools list names it, or worse
    Declares,
    /// Probably a reference, or worse
    Suspect,
}

impl From<GradeArg> for Grade {
    fn from(grade: GradeArg) -> Grade {
        match grade {
            GradeArg::Instructs => Grade::Instructs,
            GradeArg::Declares => Grade::Declares,
            GradeArg::Suspect => Grade::Suspect,
            GradeArg::Mentions => Grade::Mentions,
        }
    }
}

impl From<DenyArg> for Grade {
    fn from(grade: DenyArg) -> Grade {
        match grade {
            DenyArg::Instructs => Grade::Instructs,
            DenyArg::Declares => Grade::Declares,
            DenyArg::Suspect => Grade::Suspect,
        }
    }
}

/// How bad a finding is for this run, in the words that SARIF and GitHub share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// It makes the exit code 1.
    Error,
    Warning,
    /// It only documents.
    Note,
}

/// What this run was asked for.
#[derive(Debug)]
struct Request {
    targets: Vec<Target>,
    format: ScanFormat,
    shown: Grade,
    deny: Grade,
    threads: Option<NonZeroUsize>,
    fix: Option<Mode>,
}

impl Request {
    fn from_args(args: &ScanArgs) -> anyhow::Result<Request> {
        let fix = match (args.diff, args.fix) {
            (true, _) => Some(Mode::Check),
            (false, true) => Some(Mode::Write),
            (false, false) => None,
        };
        if fix.is_some() && args.paths.iter().any(|path| path == Path::new("-")) {
            anyhow::bail!("standard input cannot be fixed\nhint: name the file instead of `-`");
        }
        let target = |path: &PathBuf| match path.as_os_str().as_encoded_bytes() {
            b"-" => Target::Stdin(args.stdin_filename.clone()),
            _ => Target::Path(path.clone()),
        };
        let deny = Grade::from(args.deny);
        Ok(Request {
            targets: args.paths.iter().map(target).collect(),
            format: args.format,
            shown: Grade::from(args.min_grade).min(deny),
            deny,
            threads: args.threads,
            fix,
        })
    }
}

/// A file as it is reported.
struct Entry<'r> {
    /// What is in it, after a fix if there was one.
    file: &'r FileReport,
    fix: Option<Fix>,
    /// Why it could not be fixed, if it was to be.
    unfixed: Option<String>,
}

impl<'r> Entry<'r> {
    /// A file that nothing was to be fixed in.
    fn of(file: &'r FileReport) -> Entry<'r> {
        Entry {
            file,
            fix: None,
            unfixed: None,
        }
    }
}

/// One way to write a report: each file as it comes, so that nothing is kept of it.
trait Report {
    fn begin(&mut self, _out: &mut Out) -> io::Result<()> {
        Ok(())
    }

    /// A file with something to say.
    fn file(&mut self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()>;

    /// A path that was asked for and could not be scanned, which stderr names as well.
    fn failed(&mut self, out: &mut Out, file: &FileReport) -> io::Result<()> {
        self.file(out, &Entry::of(file))
    }

    fn end(&mut self, out: &mut Out, summary: &Summary) -> io::Result<()>;
}

fn format(request: &Request) -> Box<dyn Report> {
    let deny = request.deny;
    if request.fix == Some(Mode::Check) {
        return Box::new(fix::Diff::new());
    }
    match request.format {
        ScanFormat::Human => Box::new(human::Human::new(deny)),
        ScanFormat::Json => Box::new(json::Document::default()),
        ScanFormat::Ndjson => Box::new(json::Lines),
        ScanFormat::Sarif => Box::new(sarif::Sarif::new(deny)),
        ScanFormat::Github => Box::new(github::Github::new(deny)),
    }
}

pub(crate) fn run(args: &ScanArgs, out: &mut Out) -> anyhow::Result<Status> {
    if let Some(name) = &args.explain {
        return explain::run(name, args.format, out);
    }
    let request = Request::from_args(args)?;
    let mut run = Run {
        format: format(&request),
        summary: Summary::new(request.shown, request.deny),
        progress: Progress::new(),
        written: Ok(()),
        out,
        request: &request,
    };
    run.written = run.format.begin(run.out);
    walk::scan_targets(
        &request.targets,
        Scanner::shipped(),
        request.threads,
        |event| run.on_event(event),
    );
    run.end()
}

/// A scan under way.
struct Run<'r> {
    request: &'r Request,
    format: Box<dyn Report>,
    summary: Summary,
    progress: Progress,
    /// Whether everything so far could be written.
    written: io::Result<()>,
    out: &'r mut Out,
}

impl Run<'_> {
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Progress(files) => {
                self.summary.scanned += files;
                self.progress.advance(files);
                // What was found so far is shown before the next wait.
                self.write(|_, out| out.flush());
            }
            Event::Report(file) => self.report(file),
            Event::Failed(file) => {
                self.summary.fail(&file);
                self.write(|format, out| format.failed(out, &file));
            }
        }
    }

    fn report(&mut self, mut file: FileReport) {
        let fixed = match self.request.fix {
            Some(mode) => fix::fix(&mut file, mode, Scanner::shipped()),
            None => Ok(None),
        };
        self.summary.count(&file);
        file.findings
            .retain(|finding| finding.grade >= self.request.shown);
        let mut entry = Entry::of(&file);
        match fixed {
            Ok(fix) => {
                self.summary.fixed += fix.as_ref().map_or(0, |fix| fix.edits);
                entry.fix = fix;
            }
            Err(error) => {
                let why = format!("{error:#}");
                self.summary.fail_fix(&file.path, &why);
                entry.unfixed = Some(why);
            }
        }
        if entry.fix.is_some() || entry.unfixed.is_some() || !file.is_clean() {
            self.write(|format, out| format.file(out, &entry));
        }
    }

    /// Writes, unless writing has failed before.
    fn write(&mut self, write: impl FnOnce(&mut dyn Report, &mut Out) -> io::Result<()>) {
        if self.written.is_ok() {
            let Run { format, out, .. } = self;
            self.written = self.progress.pause(|| write(&mut **format, out));
        }
    }

    fn end(mut self) -> anyhow::Result<Status> {
        self.progress.finish();
        self.written.context("failed to write the report")?;
        self.format.end(self.out, &self.summary)?;
        self.summary.verdict()
    }
}

/// How bad a grade is for a run that denies `deny`.
fn level(grade: Grade, deny: Grade) -> Level {
    match grade {
        Grade::Mentions => Level::Note,
        grade if grade >= deny => Level::Error,
        _ => Level::Warning,
    }
}

/// A path as a URI reference: what is no unreserved character is escaped byte by byte, so that a name that
/// is not UTF-8 survives.
fn uri_path(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
