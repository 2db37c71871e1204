//! What the check says about the Rust sources.

use crate::project::{Project, snapshot};

/// Whether the check finds a second list in a source file with this text.
fn check(text: &str, is_found: bool) {
    let project = Project::new();
    project.write("src/other.rs", text);
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, i32::from(is_found), "{text}\n{ended}");
    assert_eq!(ended.stderr.contains("src/other.rs:"), is_found, "{ended}");
}

#[test]
fn a_literal_that_is_a_retired_name_is_a_second_list() {
    for text in [
        r#"const NAME: &str = "python_eval";"#,
        r#"static NAMES: [&str; 2] = ["x", "react_preview"];"#,
        r#"fn f(name: &str) -> bool { name == "python_eval" }"#,
        r#"fn f(name: &str) -> u8 { match name { "python_eval" => 1, _ => 0 } }"#,
        r##"const NAME: &str = r#"python_eval"#;"##,
        r#"const NAME: &[u8] = b"python_eval";"#,
        r#"const NAME: &std::ffi::CStr = c"python_eval";"#,
        r#"const NAME: &str = "pyth\x6fn_eval";"#,
        r#"const NAME: &str = "Python-Eval";"#,
        r#"const NAME: &str = " python_eval ";"#,
        r#"const NAMES: &str = "python_eval,react_preview";"#,
        r#"const NAMES: &str = "python_eval\nreact_preview\n";"#,
        r#"const NAMES: &str = "python_eval=bash;react_preview=Sandbox-Exec";"#,
        r##"const NAMES: &str = r#"{"python_eval": "bash"}"#;"##,
        r#"fn f(name: &str) -> bool { matches!(name, "x" | "python_eval") }"#,
        r#"fn f() { outer!(inner! { [b"python_eval"] }) }"#,
        r#"macro_rules! names { () => { "python_eval" } }"#,
        r#"#[serde(rename = "python_eval")] struct Tool;"#,
        r#"mod deep { impl S { const NAME: &'static str = "python_eval"; } }"#,
        r#"#[cfg(not(test))] const NAME: &str = "python_eval";"#,
        r#"#[cfg(any(test, unix))] const NAME: &str = "python_eval";"#,
        r#"#[cfg(test)] mod tests {} const NAME: &str = "python_eval";"#,
        r#"impl S { #[cfg(test)] fn f() {} fn g() -> &'static str { "python_eval" } }"#,
        r#"fn f() { #[cfg(test)] let name = ""; g("python_eval") }"#,
        r#"m! { #[doc(alias = "python_eval")] struct Tool; }"#,
    ] {
        check(text, true);
    }
}

#[test]
fn tests_documentation_and_other_words_are_not() {
    for text in [
        r#"/// `python_eval` is gone."#.to_owned() + "\nfn f() {}",
        r#"//! python_eval"#.to_owned(),
        r#"// "python_eval""#.to_owned(),
        r#"#[cfg(test)] mod tests { const NAME: &str = "python_eval"; }"#.to_owned(),
        r#"#[cfg(all(test, unix))] const NAME: &str = "python_eval";"#.to_owned(),
        r#"#[test] fn f() { assert_eq!("python_eval", "python_eval"); }"#.to_owned(),
        r#"#[runtime::test(threads = 2)] async fn f() { g("python_eval") }"#.to_owned(),
        r#"#![cfg(test)] const NAME: &str = "python_eval";"#.to_owned(),
        r#"impl S { #[cfg(test)] fn f() { g("python_eval") } }"#.to_owned(),
        r#"trait T { #[cfg(test)] fn f() { g("python_eval") } }"#.to_owned(),
        r#"fn f() { #[cfg(test)] let name = "python_eval"; }"#.to_owned(),
        r#"fn f() { #[cfg(test)] { g("python_eval") } }"#.to_owned(),
        r#"fn f() { #[cfg(test)] println!("python_eval"); }"#.to_owned(),
        r#"fn f() -> S { match 1 { #[cfg(test)] 1 => "python_eval", _ => S { #[cfg(test)] name: "python_eval" } } }"#.to_owned(),
        "macro_rules! m { () => { /// python_eval\n fn f() {} } }".to_owned(),
        "m! { //! python_eval\n }".to_owned(),
        r#"const TEXT: &str = "python_evaluator";"#.to_owned(),
        r#"const TEXT: &str = "my/python_eval/x";"#.to_owned(),
        r#"const TEXT: &str = "see what became of python_eval";"#.to_owned(),
        r#"const TEXT: &str = ", ";"#.to_owned(),
        r#"fn python_eval() {}"#.to_owned(),
    ] {
        check(&text, false);
    }
}

#[test]
fn the_files_of_a_test_module_are_not() {
    let project = Project::new();
    project.write("src/other.rs", "#[cfg(test)]\nmod cases;\n");
    project.write(
        "src/other/cases.rs",
        "mod more; const NAME: &str = \"python_eval\";",
    );
    project.write(
        "src/other/cases/more.rs",
        "const NAME: &str = \"python_eval\";",
    );
    assert_eq!(project.xtask(&["check"]).code, 0);
    project.write("src/other.rs", "mod cases;\n");
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("second_list", &ended);
}

/// A file counts as one for tests alone if all that declare it say so.
#[test]
fn a_file_that_is_compiled_anywhere_is_not_a_tests() {
    let name = "pub const NAME: &str = \"python_eval\";";
    for (declarations, file, is_found) in [
        (
            "#[cfg(test)] mod a; #[cfg(not(test))] mod a;",
            "other/a.rs",
            true,
        ),
        ("mod x { #[cfg(test)] mod a; } mod a;", "other/a.rs", true),
        (
            "#[cfg(test)] mod a; #[path = \"other/a.rs\"] mod b;",
            "other/a.rs",
            true,
        ),
        (
            "#[cfg(test)] mod a; #[path = \"../src/other/a.rs\"] mod b;",
            "other/a.rs",
            true,
        ),
        ("mod x { #[cfg(test)] mod a; }", "other/a.rs", true),
        ("mod x { #[cfg(test)] mod a; }", "other/x/a.rs", false),
        ("#[cfg(test)] mod x { mod a; }", "other/x/a.rs", false),
        (
            "#[cfg(test)] mod x { mod y { mod a; } }",
            "other/x/y/a/mod.rs",
            false,
        ),
        ("#[cfg(test)] #[path = \"zz.rs\"] mod a;", "zz.rs", false),
        (
            "#[cfg(test)] #[path = \"../src/zz.rs\"] mod a;",
            "zz.rs",
            false,
        ),
        (
            "mod x { #[cfg(test)] #[path = \"zz.rs\"] mod a; }",
            "other/x/zz.rs",
            false,
        ),
        (
            "#[path = \"there\"] mod x { #[cfg(test)] mod a; }",
            "other/there/a.rs",
            false,
        ),
        ("fn f() {}", "other/a.rs", true),
    ] {
        let project = Project::new();
        project.write("src/other.rs", declarations);
        project.write(&format!("src/{file}"), name);
        let ended = project.xtask(&["check"]);
        assert_eq!(ended.code, i32::from(is_found), "{declarations}\n{ended}");
    }
}

#[test]
fn the_build_script_and_the_chores_are_sources_too() {
    for path in ["build.rs", "registry/src/lib.rs", "xtask/src/deep/x.rs"] {
        let project = Project::new();
        project.write(path, "const NAME: &str = \"python_eval\";");
        assert_eq!(project.xtask(&["check"]).code, 1, "{path}");
    }
}

#[test]
fn a_live_tool_or_an_alias_must_not_bear_a_retired_name() {
    let project = Project::new();
    let tools =
        "const T: LiveTool = LiveTool { name: \"python_eval\", aliases: &[\"react-preview\"] };";
    project.write("src/tools/python.rs", tools);
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("live_and_retired", &ended);
}

#[test]
fn every_replacement_must_be_live() {
    let project = Project::new();
    project.write(
        "src/tools/mod.rs",
        "const T: LiveTool = LiveTool { name: \"read\", aliases: &[\"bash\"] };",
    );
    let ended = project.xtask(&["check"]);
    assert_eq!(ended.code, 1, "{ended}");
    snapshot("replacement_not_live", &ended);
}

#[test]
fn sources_that_cannot_be_read_are_an_error() {
    for (name, text) in [
        ("unparsable", "fn f( {"),
        (
            "computed_name",
            "const T: LiveTool = LiveTool { name: NAME, aliases: &[] };",
        ),
        (
            "computed_aliases",
            "const T: LiveTool = LiveTool { name: \"x\", aliases: ALIASES };",
        ),
    ] {
        let project = Project::new();
        project.write("src/tools/odd.rs", text);
        let ended = project.xtask(&["check"]);
        assert_eq!(ended.code, 2, "{ended}");
        snapshot(&format!("sources_{name}"), &ended);
    }
}
