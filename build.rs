//! Read, parse, render: `retired_tools.toml` becomes the table in `OUT_DIR`.
//!
//! With the feature `bench-tables`, sample lists of several sizes go the same way, for `benches/lookup.rs`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

#[expect(
    clippy::print_stderr,
    reason = "cargo shows a failed build script's stderr"
)]
fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={}", registry::FILE);
    println!("cargo::rerun-if-changed=build.rs");
    // Embedded as a directory: the compiler alone would not notice a new file in it.
    println!("cargo::rerun-if-changed=starter");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Box<dyn Error>> {
    let list = fs::read(registry::FILE).map_err(|error| {
        registry::draw_unreadable(registry::FILE, &error, registry::Paint::Plain)
    })?;
    write("retired_tools.rs", &rendered(&list)?)?;
    if env::var_os("CARGO_FEATURE_BENCH_TABLES").is_some() {
        for rows in registry::sample::SIZES {
            let list = registry::sample::list(rows);
            write(&format!("table_{rows}.rs"), &rendered(list.as_bytes())?)?;
            let flat = registry::sample::flat_match(rows);
            write(&format!("flat_{rows}.rs"), &flat)?;
        }
    }
    Ok(())
}

/// The Rust source of a list.
fn rendered(list: &[u8]) -> Result<String, Box<dyn Error>> {
    let package = env::var("CARGO_PKG_VERSION")?.parse()?;
    let rules = registry::Rules {
        package: &package,
        live: None,
    };
    Ok(registry::render(&registry::parse(
        registry::FILE,
        list,
        rules,
    )?))
}

/// Writes one generated file.
fn write(name: &str, source: &str) -> Result<(), Box<dyn Error>> {
    let path = Path::new(&env::var("OUT_DIR")?).join(name);
    Ok(fs::write(path, source)?)
}
