//! `vak skills`: which skills a session offers the model, and why another is not offered.

use super::out::Out;
use super::scan::excerpt::{shown_path, shown_text};
use super::session::TrustArgs;
use super::{BAD, FAINT, Format, GOOD, STRONG, Status, WARN, cwd, write_json};
use crate::skills::{Catalogue, FoundSkill, Severity, SkillDiagnostic, Source, State, look};
use crate::words::count;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Show which skills the model is offered, and why another is not
#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    command: SkillsCommand,
}

#[derive(Debug, Subcommand)]
enum SkillsCommand {
    List(ListArgs),
    Prompt(PromptArgs),
    Validate(ValidateArgs),
}

/// List every skill that a session here finds, with what became of it and why
///
/// The workspace's skills come before the shared root's, and those before the enabled plugins'; of one name the first is offered.
#[derive(Debug, Args)]
struct ListArgs {
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    trust: TrustArgs,
}

/// Print exactly what the model is told of the skills
#[derive(Debug, Args)]
struct PromptArgs {
    /// How the text is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    trust: TrustArgs,
}

/// Judge skills as a session would, for their authors
///
/// The exit code is 1 if a skill would be rejected; warnings alone leave it 0. Below the working directory a link may not lead out of
/// it, as in a session there.
#[derive(Debug, Args)]
struct ValidateArgs {
    /// Skills' files, their directories, or directories of skills
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How the verdict is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(crate) fn run(args: &SkillsArgs, out: &mut Out) -> anyhow::Result<Status> {
    match &args.command {
        SkillsCommand::List(args) => list(args, out),
        SkillsCommand::Prompt(args) => prompt(args, out),
        SkillsCommand::Validate(args) => validate(args, out),
    }
}

#[derive(Serialize)]
struct CatalogueDocument<'a> {
    schema: u32,
    skills: Vec<SkillDocument<'a>>,
    places: Vec<&'a SkillDiagnostic>,
}

#[derive(Serialize)]
struct SkillDocument<'a> {
    name: &'a str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a Source>,
    path: std::borrow::Cow<'a, str>,
    description: Option<&'a str>,
    sha256: Option<String>,
    diagnostics: &'a [SkillDiagnostic],
}

fn list(args: &ListArgs, out: &mut Out) -> anyhow::Result<Status> {
    let core = args.trust.start()?;
    let catalogue = core.skills();
    match args.format {
        Format::Json => write_json(out, &document(catalogue, true))?,
        Format::Human => {
            write_skills(out, catalogue, true)?;
            write_summary(out, catalogue)?;
        }
    }
    Ok(Status::Clean)
}

#[derive(Serialize)]
struct PromptDocument {
    schema: u32,
    prompt: String,
}

fn prompt(args: &PromptArgs, out: &mut Out) -> anyhow::Result<Status> {
    let core = args.trust.start()?;
    let prompt = core.skills().prompt();
    match args.format {
        Format::Json => write_json(out, &PromptDocument { schema: 1, prompt })?,
        Format::Human => write!(out, "{prompt}")?,
    }
    Ok(Status::Clean)
}

fn validate(args: &ValidateArgs, out: &mut Out) -> anyhow::Result<Status> {
    let workspace = cwd()?;
    let mut catalogue = Catalogue::default();
    for path in &args.paths {
        if !path.exists() && !path.is_symlink() {
            anyhow::bail!("there is no `{}`", path.display());
        }
        let found = look(path, &workspace);
        if found.skills.is_empty() && found.places.is_empty() {
            anyhow::bail!("there is no skill in `{}`", path.display());
        }
        catalogue.skills.extend(found.skills);
        catalogue.places.extend(found.places);
    }
    match args.format {
        Format::Json => write_json(out, &document(&catalogue, false))?,
        Format::Human => write_skills(out, &catalogue, false)?,
    }
    let mut diagnostics = catalogue.diagnostics();
    Ok(
        match diagnostics.any(|diagnostic| diagnostic.severity() == Severity::Error) {
            true => Status::Findings,
            false => Status::Clean,
        },
    )
}

fn document(catalogue: &Catalogue, with_source: bool) -> CatalogueDocument<'_> {
    let skills = catalogue.skills.iter().map(|found| SkillDocument {
        name: &found.name,
        state: found.state,
        source: with_source.then_some(&found.source),
        path: found.path.to_string_lossy(),
        description: found.skill.as_ref().map(|skill| skill.description.as_str()),
        sha256: found.skill.as_ref().map(crate::skills::Skill::sha256),
        diagnostics: &found.diagnostics,
    });
    CatalogueDocument {
        schema: 1,
        skills: skills.collect(),
        places: catalogue.places.iter().collect(),
    }
}

/// Each skill on a line, with what there is to say of it beneath; then what is to be said of places.
fn write_skills(out: &mut Out, catalogue: &Catalogue, in_session: bool) -> io::Result<()> {
    let names = catalogue
        .skills
        .iter()
        .map(|found| found.name.chars().count());
    let width = names.max().unwrap_or(0);
    for found in &catalogue.skills {
        let (style, state) = match (found.state, in_session) {
            (State::Offered, true) => (GOOD, "offered"),
            (State::Offered, false) => (GOOD, "valid"),
            (State::Shadowed, _) => (WARN, "shadowed"),
            (State::Rejected, _) => (BAD, "rejected"),
        };
        let name = shown_text(&found.name);
        // What is said of a file names it; of one that nothing is said of, an author wants to know which it was.
        let of = match in_session {
            true => found.source.to_string(),
            false if found.diagnostics.is_empty() => shown_path(&found.path),
            false => String::new(),
        };
        writeln!(
            out,
            "{STRONG}{name:width$}{STRONG:#}  {style}{state:8}{style:#}  {of}"
        )?;
        write_diagnostics(out, &found.diagnostics)?;
    }
    write_diagnostics(out, &catalogue.places)
}

fn write_diagnostics(out: &mut Out, diagnostics: &[SkillDiagnostic]) -> io::Result<()> {
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        let (style, word) = match diagnostic.severity() {
            Severity::Error => (BAD, "error"),
            Severity::Warning => (WARN, "warning"),
        };
        let line = diagnostic
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let path = shown_path(&diagnostic.path);
        let fault = shown_text(&diagnostic.fault.to_string());
        writeln!(out, "  {style}{word}{style:#}: {path}{line} {fault}")?;
        // What several in a row have in common is said once.
        let advice = diagnostic.fault.advice();
        let next = diagnostics.get(at + 1);
        if next.is_none_or(|next| next.fault.advice() != advice) {
            writeln!(out, "  {FAINT}hint: {}{FAINT:#}", shown_text(&advice))?;
        }
    }
    Ok(())
}

fn write_summary(out: &mut Out, catalogue: &Catalogue) -> io::Result<()> {
    let of = |state: State| {
        let in_state = |found: &&FoundSkill| found.state == state;
        catalogue.skills.iter().filter(in_state).count()
    };
    let mut parts = vec![format!("{} offered", of(State::Offered))];
    for (state, word) in [(State::Shadowed, "shadowed"), (State::Rejected, "rejected")] {
        if of(state) > 0 {
            parts.push(format!("{} {word}", of(state)));
        }
    }
    let total = count(catalogue.skills.len(), "skill");
    writeln!(out, "{total}: {}", parts.join(", "))
}
