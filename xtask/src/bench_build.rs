//! `cargo xtask bench-build`: what a longer list adds to a release build.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use registry::sample;
use tempfile::TempDir;
use wait4::Wait4 as _;

use crate::project::Project;
use crate::{Status, copy, say};

/// Measure what lists of 2, 100, 1,000 and 10,000 rows add to a release build.
///
/// Builds in a copy of the sources, in a target directory of its own, so that nothing here is touched. Each list is
/// built anew in every round, and the least figure counts, for other work on the machine only ever adds. On a busy
/// machine compare the processor time.
#[derive(Debug, Args)]
pub(crate) struct BenchBuild {
    /// How many times each list is built.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Compile programs that are one flat `match` instead, once each, for comparison.
    #[arg(long, conflicts_with = "rounds")]
    flat: bool,
}

/// The sizes of a flat `match` that show how the compiler's time for it grows.
const FLAT_SIZES: [usize; 4] = [1_000, 2_000, 4_000, 10_000];

/// Measures and prints a table.
pub(crate) fn run(bench: &BenchBuild) -> Result<Status> {
    let directory = TempDir::new().context("failed to make a temporary directory")?;
    if bench.flat {
        return flat(directory.path());
    }
    let project = Project::find()?;
    let sources = directory.path().join("sources");
    copy::sources(&project, &sources)?;

    say("building the dependencies, which are not measured");
    build(&sources, sample::SIZES[0])?;
    let mut least = [Cost::MAX; sample::SIZES.len()];
    for round in 1..=bench.rounds {
        for (rows, least) in sample::SIZES.into_iter().zip(&mut least) {
            let cost = build(&sources, rows)?;
            say(&format!("round {round}: {rows} rows: {}", cost.cells()));
            *least = least.least(cost);
        }
    }
    print(&least)
}

/// What a build took.
#[derive(Debug, Clone, Copy)]
struct Cost {
    elapsed: Duration,
    processor: Duration,
    /// The most memory that one of its processes had, in bytes.
    memory: u64,
}

impl Cost {
    const MAX: Cost = Cost {
        elapsed: Duration::MAX,
        processor: Duration::MAX,
        memory: u64::MAX,
    };

    /// The lesser of two costs, each figure for itself.
    fn least(self, other: Cost) -> Cost {
        Cost {
            elapsed: self.elapsed.min(other.elapsed),
            processor: self.processor.min(other.processor),
            memory: self.memory.min(other.memory),
        }
    }

    /// The figures as cells of a table.
    fn cells(&self) -> String {
        format!(
            "{:.2} s | {:.2} s | {} MiB",
            self.elapsed.as_secs_f64(),
            self.processor.as_secs_f64(),
            self.memory >> 20
        )
    }
}

/// Builds the release binary with a sample list, and says what it took.
fn build(sources: &Path, rows: usize) -> Result<Cost> {
    copy::replace_list(sources, sample::list(rows).as_bytes())?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--release", "--locked", "--quiet", "--bin", "vak"])
        .current_dir(sources)
        .env("CARGO_TARGET_DIR", sources.with_file_name("target"));
    cost_of(cargo).with_context(|| format!("the build with {rows} rows failed"))
}

/// Compiles a program that is nothing but one flat `match` for each of the sizes, and prints a table.
fn flat(directory: &Path) -> Result<Status> {
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "| names | elapsed | processor time | memory |\n|---:|---:|---:|---:|"
    )?;
    for rows in FLAT_SIZES {
        let source = sample::flat_match(rows)
            + "fn main() {\n    println!(\"{:?}\", std::env::args().nth(1).as_deref().and_then(flat));\n}\n";
        fs::write(directory.join("flat.rs"), source).context("failed to write a program")?;
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["-O", "flat.rs"]).current_dir(directory);
        let cost = cost_of(rustc).with_context(|| format!("a match of {rows} names failed"))?;
        writeln!(out, "| {rows} | {} |", cost.cells())?;
    }
    Ok(Status::Clean)
}

/// Runs a command and says what it took.
fn cost_of(mut command: Command) -> Result<Cost> {
    let program = command.get_program().to_string_lossy().into_owned();
    let started = Instant::now();
    let child = command
        .spawn()
        .with_context(|| format!("failed to run `{program}`"))?;
    // The usage of a process that was waited for includes that of the ones it waited for: rustc, the linker.
    let ended = child
        .wait4()
        .with_context(|| format!("failed to wait for `{program}`"))?;
    if !ended.status.success() {
        bail!("`{program}` did not succeed");
    }
    Ok(Cost {
        elapsed: started.elapsed(),
        processor: ended.rusage.utime + ended.rusage.stime,
        memory: ended.rusage.maxrss,
    })
}

fn print(least: &[Cost]) -> Result<Status> {
    let mut out = anstream::stdout().lock();
    let mut line = |text: String| writeln!(out, "{text}").context("failed to write to stdout");
    line(format!(
        "| rows | elapsed | processor time | memory | elapsed over {0} rows | processor time over {0} rows |",
        sample::SIZES[0]
    ))?;
    line("|---:|---:|---:|---:|---:|---:|".into())?;
    for (rows, cost) in sample::SIZES.into_iter().zip(least) {
        let elapsed = cost.elapsed.as_secs_f64() - least[0].elapsed.as_secs_f64();
        let processor = cost.processor.as_secs_f64() - least[0].processor.as_secs_f64();
        line(format!(
            "| {rows} | {} | {elapsed:+.2} s | {processor:+.2} s |",
            cost.cells()
        ))?;
    }
    Ok(Status::Clean)
}
