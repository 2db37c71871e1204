//! The `vak` command; everything it does is in [`vak::cli`].

fn main() -> std::process::ExitCode {
    vak::cli::main()
}
