//! Read, parse, render: `retired_tools.toml` becomes the table in `OUT_DIR`.

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
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Box<dyn std::error::Error>> {
    let package = env::var("CARGO_PKG_VERSION")?.parse()?;
    let out = env::var("OUT_DIR")?;
    let list = fs::read(registry::FILE)
        .map_err(|error| format!("error: failed to read `{}`: {error}", registry::FILE))?;
    let rules = registry::Rules {
        package: &package,
        live: None,
    };
    let list = registry::parse(registry::FILE, &list, rules)?;
    fs::write(
        Path::new(&out).join("retired_tools.rs"),
        registry::render(&list),
    )?;
    Ok(())
}
