//! `cargo xtask bench-build`: what a longer list adds to a release build.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use registry::sample;
use tempfile::TempDir;

use crate::project::Project;
use crate::{Status, copy, say};

/// Measure what lists of 2, 100, 1,000 and 10,000 rows add to a release build.
///
/// Builds in a copy of the sources, in a target directory of its own, so that nothing here is touched. Each list
/// is built anew in every round; the least time counts, for other work on the machine only ever adds.
#[derive(Debug, Args)]
pub(crate) struct BenchBuild {
    /// How many times each list is built.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Measures and prints a table.
pub(crate) fn run(bench: &BenchBuild) -> Result<Status> {
    let project = Project::find()?;
    let directory = TempDir::new().context("failed to make a temporary directory")?;
    let sources = directory.path().join("sources");
    copy::sources(&project, &sources)?;

    say("building the dependencies, which are not measured");
    build(&sources, sample::SIZES[0])?;
    let mut least = [Duration::MAX; sample::SIZES.len()];
    for round in 1..=bench.rounds {
        for (rows, least) in sample::SIZES.into_iter().zip(&mut least) {
            let took = build(&sources, rows)?;
            say(&format!(
                "round {round}: {rows} rows in {:.2} s",
                took.as_secs_f64()
            ));
            *least = took.min(*least);
        }
    }
    print(&least)
}

/// Builds the release binary with a sample list, and says how long it took.
fn build(sources: &Path, rows: usize) -> Result<Duration> {
    copy::replace_list(sources, sample::list(rows).as_bytes())?;
    let started = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet", "--bin", "vak"])
        .current_dir(sources)
        .env("CARGO_TARGET_DIR", sources.with_file_name("target"))
        .status()
        .context("failed to run `cargo`")?;
    if !status.success() {
        bail!("the build with {rows} rows failed");
    }
    Ok(started.elapsed())
}

fn print(least: &[Duration]) -> Result<Status> {
    let mut out = anstream::stdout().lock();
    let mut line = |text: String| writeln!(out, "{text}").context("failed to write to stdout");
    line("| rows | release build | over 2 rows |".into())?;
    line("|---:|---:|---:|".into())?;
    for (rows, took) in sample::SIZES.into_iter().zip(least) {
        let (took, base) = (took.as_secs_f64(), least[0].as_secs_f64());
        line(format!("| {rows} | {took:.2} s | {:+.2} s |", took - base))?;
    }
    Ok(Status::Clean)
}
