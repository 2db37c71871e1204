//! Behaviour through the public surface: the library's API and the `vak` binary.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test's set-up may panic"
)]

// What the tests stand on.
#[cfg(feature = "server")]
mod browser; // a headless Chromium, led through its WebDriver
mod chat_server; // a model on the loopback that answers from a script
mod sandbox; // a home and a working directory of a test's own, and the binary run in them
#[cfg(feature = "server")]
mod service; // a running `vak serve`, and a client that says exactly what it is told to
mod strace; // the binary under strace, with a fault at one of its system calls
mod tree; // a directory tree as a value, to compare before with after

// What they show.
mod agent; // a model that calls tools, over the real protocol
mod concurrency; // many processes at once
mod config; // a config read; one entry cut out of it and put back, to the byte
mod config_properties; // the same promise over generated configs
mod core; // what a session starts from, and what an operator is warned of
mod crash; // killed, or refused by the disk, at each system call; then run again
mod disk; // the one module that changes the disk
mod doctor; // what doctor says of a broken home, and what its repairs mend
mod documents; // the examples in the README and the docs, run
mod exec; // `vak exec` and `vak tools`, as a person or a program uses them
mod first_retirement; // the whole way once, as an operator goes it
mod life_cycle; // two builds of vak: a tool is retired by an update, and all of it undone
mod own_state; // what a session's tools may touch of vak's own state
mod plugin; // a plugin's life in a store
mod plugin_cleanup; // what calls a retired tool is taken away: all of it, or none
mod plugin_cli; // `vak plugins`
mod plugin_hostile; // names, paths, packages, links and records that mean harm
mod plugin_registry; // what survives a rewrite, and what is never replaced
mod plugin_workspace; // what a workspace brings along, and what it stops
mod roots; // where vak's state lives
mod scan; // the scanner's grades, from tables of cases
mod scan_bounds; // what the scanner never does: allocate, break, take long
mod scan_command; // what `vak scan` shows, to people and to programs
mod scan_commonmark; // its code spans against those of `pulldown-cmark`
mod scan_fix; // the edits of tools lists
mod scan_places; // where a finding says it is; hooks; the frontmatter reader
mod seed; // what setup writes, and what it leaves alone
mod self_update; // the program replaced, whole or not at all
#[cfg(feature = "server")]
mod server_api; // the admin API, with the disk looked at after each request
#[cfg(feature = "server")]
mod server_connection; // clients that are slow, rude, or many, and the end of the server
#[cfg(feature = "server")]
mod server_guard; // who gets in and who does not
#[cfg(feature = "server")]
mod server_page; // the page in a real browser (asked for with `--ignored`)
mod skills; // which skills the model is offered, and why another is not
mod tool_calls; // one call through the whole path, and what the model is told
mod tools; // the list of retired tools, the live ones, and what a name resolves to
mod walk; // what of a package is scanned, and what is said of the rest
