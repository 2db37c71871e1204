//! The registry: what a later program wrote survives, and what does not read as a registry is never replaced.

use crate::plugin::Home;
use crate::sandbox::Run;
use std::fs;
use vak::plugin::{InstallOptions, Packages, PluginError, RemovalReason};

/// A registry with something unknown at every level: fields, numbers beyond this program's, odd spacing and
/// escapes, keys in no order. `PACKAGE` stands for the package of its one plugin.
const LATER: &str = r#"{
  "written_by": "vak 9.1.0 \u00e9\/",
  "generation": 41,
  "audit": [
    {"at": 1.10, "who": {"z": 1, "a": [1e400, -0.0]}},
    "free text",
    123456789012345678901234567890
  ],
  "plugins": {
    "zeta": {
      "future": { "nested": [ true, null, 1E+2 ],   "spaced" :1 },
      "enabled": true,
      "version": "2.0.0",
      "digest": "",
      "installed_at_unix": 17,
      "package_path": "packages/zeta/2.0.0/x",
      "description": "caf\u00e9"
    },
    "alpha": {"version": "1", "capabilities": {"mcp": 0.1000}}
  },
  "schema": 1,
  "versions": {"zeta": {"2.0.0": {"package_path": "packages/zeta/2.0.0/x", "big": 18446744073709551616}}, "gone": 7},
  "trailer": [ ]
}
"#;

/// Every piece of the document that this program has no name for.
const UNKNOWN: [&str; 12] = [
    r#""written_by": "vak 9.1.0 \u00e9\/""#,
    r#"{"at": 1.10, "who": {"z": 1, "a": [1e400, -0.0]}}"#,
    r#""free text""#,
    "123456789012345678901234567890",
    r#"{ "nested": [ true, null, 1E+2 ],   "spaced" :1 }"#,
    r#""digest": """#,
    r#""installed_at_unix": 17"#,
    r#""description": "caf\u00e9""#,
    r#"{"version": "1", "capabilities": {"mcp": 0.1000}}"#,
    r#"{"2.0.0": {"package_path": "packages/zeta/2.0.0/x", "big": 18446744073709551616}}"#,
    r#""gone": 7"#,
    r#""trailer": [ ]"#,
];

fn text(home: &Home) -> String {
    fs::read_to_string(home.sandbox.shared().join("plugins/registry.json")).unwrap()
}

#[track_caller]
fn assert_unknown_survives(home: &Home) {
    let text = text(home);
    for piece in UNKNOWN {
        assert!(text.contains(piece), "`{piece}` is gone from\n{text}");
    }
}

#[test]
fn what_this_program_does_not_know_survives_every_change_as_it_was_written() {
    let home = Home::new();
    home.sandbox.write("home/.vak/plugins/registry.json", LATER);
    let (store, guard) = home.locked();
    let package = home.package("demo", "1.0.0");
    store
        .install(&guard, &package, InstallOptions::default())
        .unwrap();
    assert_unknown_survives(&home);
    store.enable(&guard, "demo", false).unwrap();
    assert_unknown_survives(&home);
    store.disable(&guard, "zeta").unwrap();
    assert_unknown_survives(&home);
    assert!(!store.get("zeta").unwrap().enabled);
    let id = store
        .remove(&guard, "zeta", RemovalReason::Requested, Packages::Move)
        .unwrap()
        .id;
    assert!(!text(&home).contains("zeta\": {\n"));
    store.restore(&guard, &id).unwrap();
    assert_unknown_survives(&home);
    // Its top keys and its plugins stand in the order they stood in.
    let text = text(&home);
    let at = |key: &str| text.find(key).unwrap_or_else(|| panic!("{key}"));
    assert!(at("\"written_by\"") < at("\"generation\"") && at("\"generation\"") < at("\"audit\""));
    assert!(at("\"audit\"") < at("\"plugins\"") && at("\"plugins\"") < at("\"schema\""));
    let plugins = &text[at("\"plugins\"")..];
    let at = |key: &str| plugins.find(key).unwrap_or_else(|| panic!("{key}"));
    assert!(at("\"zeta\": {") < at("\"alpha\": {") && at("\"alpha\": {") < at("\"demo\": {"));
    assert!(text.contains("\"generation\": 46,"), "{text}");
}

/// Another program may have gone on with a plugin's versions after this one took the plugin away.
#[test]
fn a_restore_adds_to_the_versions_that_another_program_has_written() {
    let check = |found: serde_json::Value, ends: Option<usize>| {
        let home = Home::new();
        home.install_enabled(&home.package("demo", "1.0.0"));
        let (store, guard) = home.locked();
        store
            .remove(&guard, "demo", RemovalReason::Requested, Packages::Move)
            .unwrap();
        let mut registry = home.registry();
        registry["versions"]["demo"] = found.clone();
        home.sandbox
            .write("home/.vak/plugins/registry.json", registry.to_string());
        let before = home.sandbox.tree();
        let restored = store.restore(&guard, "demo");
        match ends {
            Some(number) => {
                restored.unwrap();
                assert_eq!(store.list().unwrap().len(), 1);
                let versions = home.registry()["versions"]["demo"].clone();
                assert_eq!(versions[0]["version"], "1.0.0");
                assert_eq!(versions.as_array().unwrap().len(), number, "{found}");
            }
            None => {
                let error = restored.unwrap_err().to_string();
                assert!(error.contains("versions of `demo`"), "{error}");
                assert_eq!(home.sandbox.tree(), before);
            }
        }
    };
    check(serde_json::json!([]), Some(1));
    check(
        serde_json::json!([{"version": "0.9.0"}, {"version": "0.9.1"}]),
        Some(3),
    );
    check(serde_json::json!({"latest": "0.9.0"}), None);
}

#[test]
fn each_write_is_the_next_generation() {
    let home = Home::new();
    let (store, guard) = home.locked();
    let package = home.package("demo", "1.0.0");
    store
        .install(&guard, &package, InstallOptions::default())
        .unwrap();
    for generation in 1..6 {
        assert_eq!(home.registry()["generation"], generation);
        if generation % 2 == 1 {
            store.enable(&guard, "demo", false).unwrap();
        } else {
            store.disable(&guard, "demo").unwrap();
        }
    }
}

/// Puts a registry there and checks that reading and changing are refused, naming the file, and that not
/// a byte of it changes.
#[track_caller]
fn check_refused(text: impl AsRef<[u8]>, words: &str) {
    let home = Home::new();
    let package = home.package("demo", "1.0.0");
    home.sandbox.write("home/.vak/plugins/registry.json", &text);
    home.sandbox.write(
        "home/.vak/config.toml",
        "[plugins]\nnetwork_allow = [\"demo\"]\n",
    );
    drop(home.locked());
    let before = home.sandbox.tree();
    let package = package.to_str().unwrap();
    let runs: [&[&str]; 6] = [
        &["list"],
        &["retired"],
        &["install", package],
        &["enable", "demo", "--scope", "user"],
        &["remove", "demo", "--scope", "user"],
        &["remove", "demo", "--scope", "user", "--forget"],
    ];
    for args in runs {
        let Run {
            code,
            stderr,
            stdout,
        } = home.sandbox.vak(&[&["plugins"], args].concat());
        assert_eq!(code, 2, "{args:?}\n{stdout}{stderr}");
        assert!(stderr.contains("registry.json"), "{stderr}");
        assert!(stderr.contains(words), "`{words}` is not in: {stderr}");
        assert_eq!(home.sandbox.tree(), before, "{args:?}");
    }
}

#[test]
fn what_is_no_registry_is_refused_and_stays_as_it_is() {
    check_refused("", "EOF");
    check_refused("{", "EOF");
    check_refused("[]", "expected an object");
    check_refused("null", "expected an object");
    check_refused("{\"schema\": 1} x", "trailing characters");
    check_refused("\u{feff}{\"schema\": 1}", "byte order mark");
    check_refused(b"{\"schema\": 1, \"x\": \"\xff\"}", "UTF-8");
    check_refused(b"\0\0\0\0", "expected value");
    check_refused("{}", "no `schema`");
    check_refused("{\"schema\": 0}", "no `schema`");
    check_refused("{\"schema\": \"1\"}", "no `schema`");
    check_refused("{\"schema\": -1}", "no `schema`");
    check_refused("{\"schema\": 1, \"plugins\": []}", "line 1 column 25");
    check_refused(
        "{\"schema\": 1,\n\"plugins\": {},\n\"versions\": 4}",
        "expected an object at line 3 column 13",
    );
    check_refused("{\"schema\": 1, \"audit\": {}}", "expected a sequence");
    check_refused("{\"schema\": 1, \"generation\": \"x\"}", "expected u64");
}

#[test]
fn a_key_that_stands_twice_is_refused_with_its_place() {
    check_refused(
        "{\"schema\": 1, \"schema\": 1}",
        "the key `schema` stands twice",
    );
    check_refused(
        "{\"schema\": 1,\n \"plugins\": {\"a\": {},\n  \"a\": {}}}",
        "the key `a` stands twice at line 3",
    );
    check_refused(
        "{\"schema\": 1, \"versions\": {\"a\": 1, \"a\": 1}}",
        "the key `a` stands twice",
    );
}

#[test]
fn a_newer_schema_is_refused_whatever_else_it_has() {
    check_refused("{\"schema\": 2}", "schema 2");
    check_refused(
        "{\"schema\": 99, \"plugins\": [\"of another shape\"]}",
        "use the newer vak",
    );
}

#[test]
fn an_entry_that_is_no_plugin_is_named_and_can_be_forgotten() {
    for entry in [
        "5",
        "[]",
        "{\"enabled\": \"yes\"}",
        "{\"version\": 1}",
        "{\"scope\": \"galaxy\"}",
    ] {
        let home = Home::new();
        let registry = format!("{{\"schema\": 1, \"plugins\": {{\"odd\": {entry}}}}}");
        home.sandbox
            .write("home/.vak/plugins/registry.json", registry);
        let run = home.sandbox.vak(&["plugins", "list"]).expect(2);
        assert!(
            run.stderr.contains("registry.json") && run.stderr.contains("`odd`"),
            "{}",
            run.stderr
        );
        home.sandbox
            .vak(&["plugins", "remove", "odd", "--forget"])
            .expect(0);
        home.sandbox.vak(&["plugins", "list"]).expect(0);
        // Not lost: the record has it as it was.
        let id = home.store().quarantine().unwrap().remove(0).id;
        let record = home
            .sandbox
            .shared()
            .join(format!("plugins/quarantine/{id}/record.json"));
        assert!(
            fs::read_to_string(record)
                .unwrap()
                .contains(&format!("\"entry\": {entry}"))
        );
    }
}

#[test]
fn deep_and_huge_registries_end_in_an_answer() {
    // Deep inside what is not read: it stays as it is.
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let home = Home::new();
    let registry = format!("{{\"schema\": 1, \"later\": {deep}}}");
    home.sandbox
        .write("home/.vak/plugins/registry.json", registry);
    home.install_enabled(&home.package("demo", "1.0.0"));
    assert!(text(&home).contains(&deep));
    // Deep inside what is read.
    let home = Home::new();
    let registry = format!("{{\"schema\": 1, \"plugins\": {{\"a\": {{\"source\": {deep}}}}}}}");
    home.sandbox
        .write("home/.vak/plugins/registry.json", registry);
    let error = home.store().list().unwrap_err().to_string();
    assert!(
        error.contains("`a`") && error.contains("recursion limit"),
        "{error}"
    );
    // More than is read at all: a sparse file.
    let home = Home::new();
    let path = home.sandbox.write("home/.vak/plugins/registry.json", "");
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(10 << 30)
        .unwrap();
    let error = home.store().list().unwrap_err();
    assert!(
        matches!(
            error,
            PluginError::Disk(vak::disk::DiskError::TooLarge { .. })
        ),
        "{error}"
    );
}

#[test]
fn a_registry_that_is_no_file_is_not_opened() {
    let home = Home::new();
    fs::create_dir_all(home.sandbox.shared().join("plugins")).unwrap();
    let path = home.sandbox.shared().join("plugins/registry.json");
    let status = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    let error = home.store().list().unwrap_err();
    assert!(
        error.to_string().contains("is not a regular file"),
        "{error}"
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(home.store().list().is_err());
}
