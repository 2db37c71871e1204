//! Which skills the model is offered, and why another is not.

use crate::sandbox::Sandbox;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use vak::roots::{Roots, Scope};
use vak::skills::{Catalogue, Severity, State, discover, validate};

/// What a validation says, a line for each: severity, line, reason.
fn say(path: &str, bytes: impl AsRef<[u8]>) -> String {
    let validation = validate(Path::new(path), bytes.as_ref());
    let has_error = validation
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity() == Severity::Error);
    assert_eq!(validation.skill.is_none(), has_error);
    validation
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let severity = match diagnostic.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let line = diagnostic
                .line
                .map_or(String::new(), |line| line.to_string());
            assert!(!diagnostic.fault.advice().is_empty());
            format!("{severity} {line}: {}\n", diagnostic.fault)
        })
        .collect()
}

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n")
}

#[test]
fn a_skill_is_judged_by_its_name_description_and_text() {
    let long = "x".repeat(65);
    let longest = format!("a{}", "-b".repeat(31) + "c");
    assert_eq!(longest.len(), 64);
    for (text, said) in [
        (skill("good", "Do it."), ""),
        ("Do it.\n".to_owned(), "error : has no frontmatter\n"),
        (String::new(), "error : has no frontmatter\n"),
        (
            "---\nname: good\nDo it.\n".to_owned(),
            "error : has no frontmatter\n",
        ),
        (
            "---\ndescription: Does.\n---\nDo it.".to_owned(),
            "error 1: has no `name` in its frontmatter\n",
        ),
        (
            "---\nname:\ndescription: Does.\n---\nDo it.".to_owned(),
            "error 1: has no `name` in its frontmatter\n",
        ),
        (
            "---\nname: good\n---\nDo it.".to_owned(),
            "error 1: has no `description` in its frontmatter\n",
        ),
        (
            "---\nname: good\ndescription: \"  \"\n---\nDo it.".to_owned(),
            "error 3: has no `description` in its frontmatter\n",
        ),
        (
            format!(
                "---\nname: good\ndescription: {}\n---\nDo it.",
                "ä".repeat(1025)
            ),
            "error 3: has a description of 1025 characters; at most 1024 are allowed\n",
        ),
        (
            format!(
                "---\nname: good\ndescription: {}\n---\nDo it.",
                "ä".repeat(1024)
            ),
            "",
        ),
        (
            skill("good", ""),
            "warning 5: has no instructions behind its frontmatter\n",
        ),
        (
            skill("other", "Do it."),
            "warning 2: has the name `other` in a directory called `good`\n",
        ),
    ] {
        assert_eq!(say("skills/good/SKILL.md", &text), said, "{text:.200}");
    }
    for (name, why) in [
        (
            "Good",
            "has other signs than `a` to `z`, `0` to `9` and `-`",
        ),
        (
            "go_od",
            "has other signs than `a` to `z`, `0` to `9` and `-`",
        ),
        (
            "gööd",
            "has other signs than `a` to `z`, `0` to `9` and `-`",
        ),
        (
            "../good",
            "has other signs than `a` to `z`, `0` to `9` and `-`",
        ),
        ("go--od", "has a `-` too many"),
        ("-good", "has a `-` too many"),
        ("good-", "has a `-` too many"),
        (&long, "is longer than 64 characters"),
    ] {
        let said = say(&format!("{name}/SKILL.md"), skill(name, "Do it."));
        let expected = format!("error 2: has the name `{name}`, which {why}\n");
        assert!(said.starts_with(&expected), "{said}");
    }
    for name in ["a", "7", "a-1", &longest] {
        assert_eq!(say(&format!("{name}/SKILL.md"), skill(name, "Do it.")), "");
    }
}

#[test]
fn a_doubtful_form_is_told_and_does_no_harm() {
    let text = skill("good", "Do it.");
    for (path, bytes, said) in [
        (
            "good/SKILL.md",
            format!("\u{feff}{text}").into_bytes(),
            "warning 1: begins with a byte order mark\n",
        ),
        (
            "good/SKILL.md",
            text.replace('\n', "\r\n").into_bytes(),
            "warning 1: ends its lines with CRLF\n",
        ),
        (
            "good/skill.md",
            text.clone().into_bytes(),
            "warning : is not spelt `SKILL.md`\n",
        ),
        (
            "good/SKILL.md",
            [text.as_bytes(), b"\xff\n"].concat(),
            "error 7: is not UTF-8\n",
        ),
    ] {
        assert_eq!(say(path, bytes), said);
    }
}

#[test]
fn invariant_29_a_skill_that_instructs_a_retired_tool_is_rejected() {
    for (text, said) in [
        (
            skill("good", "Call `python_eval` with the code."),
            "error 6: tells the model to call the retired tool `python_eval`",
        ),
        (
            "---\nname: good\ndescription: Use `react_preview` to show pages.\n---\nDo it."
                .to_owned(),
            "error 3: tells the model to call the retired tool `react_preview`",
        ),
        (
            "---\nname: good\ndescription: Does.\nallowed-tools: read, python_eval\n---\nDo it."
                .to_owned(),
            "warning 4: declares the retired tool `python_eval`",
        ),
        (
            skill("good", "The python_eval way works best."),
            "warning 6: seems to refer to the retired tool `python_eval`",
        ),
        (
            skill(
                "good",
                "<!-- vak: retired-ok python_eval -->\n`python_eval` is no more; use `bash`.",
            ),
            "",
        ),
        (
            // Even one that has no chance to be offered.
            "Call `python_eval` first.".to_owned(),
            "error : has no frontmatter\nerror 1: tells the model to call the retired tool `python_eval`",
        ),
    ] {
        let got = say("good/SKILL.md", &text);
        assert!(got.starts_with(said), "{text}\n{got}");
        assert_eq!(got.is_empty(), said.is_empty(), "{text}\n{got}");
    }
}

/// The ways to write a description such that it reads as this text.
fn spellings(text: &str) -> Vec<String> {
    let words = || text.split(' ');
    let escaped = |sign: char| text.replace(sign, &format!("\\{sign}"));
    let mut spellings = vec![
        text.to_owned(),
        format!("'{text}'"),
        format!("\"{text}\""),
        format!("|\n  {text}"),
        format!(">-\n  {}", words().collect::<Vec<_>>().join("\n  ")),
        words().collect::<Vec<_>>().join("\n  "),
        format!("\"{}\"", words().collect::<Vec<_>>().join("\\n")),
        format!("\"{}\"", words().collect::<Vec<_>>().join("\\t")),
        format!("{text} # This tool is gone; never call it."),
    ];
    for sign in text.chars().filter(char::is_ascii_punctuation) {
        spellings.push(format!("\"{}\"", escaped(sign)));
    }
    for (at, _) in text.match_indices(|sign: char| sign.is_ascii_punctuation()) {
        spellings.push(format!("\"{}\\{}\"", &text[..at], &text[at..]));
    }
    spellings
}

#[test]
fn however_a_description_is_written_a_stale_one_is_not_told() {
    for (text, is_stale) in [
        ("Compute things: call `python_eval` with the code.", true),
        ("Compute; call `python_eval(code)`.", true),
        ("Compute with `bash`, not with `python_eval`.", false),
        ("Compute (never call `python_eval`).", false),
    ] {
        for spelling in spellings(text) {
            let file = format!("---\nname: good\ndescription: {spelling}\n---\nDo it.\n");
            let skill = validate(Path::new("good/SKILL.md"), file.as_bytes()).skill;
            // Of odd escapes and folds in a healthy text the scanner may think the worst.
            if is_stale || !spelling.contains(['\\', '\n']) {
                assert_eq!(skill.is_none(), is_stale, "{file}{skill:?}");
            }
        }
    }
    // It is told once, at the description's line.
    for description in [
        "Call `python_eval`, then `python_eval` again.",
        r#""Call \`python\_eval\`, then `python_eval` again.""#,
        r#""Call \`python\_eval\`, then \`python_eval\` again.""#,
    ] {
        let file = format!("---\nname: good\ndescription: {description}\n---\nDo it.\n");
        let said = say("good/SKILL.md", file);
        let errors: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("error"))
            .collect();
        let expected = "error 3: tells the model to call the retired tool `python_eval`: ";
        assert!(!errors.is_empty(), "{description}");
        assert!(
            errors.iter().all(|line| line.starts_with(expected)),
            "{said}"
        );
    }
}

/// Each skill as `state name source`, then every diagnostic as `path:line: reason`.
fn listed(sandbox: &Sandbox, catalogue: &Catalogue) -> String {
    let mut lines = String::new();
    for found in &catalogue.skills {
        let state = match found.state {
            State::Offered => "offered",
            State::Shadowed => "shadowed",
            State::Rejected => "rejected",
        };
        lines += &format!("{state} {} {}\n", found.name, found.source);
    }
    for diagnostic in catalogue.diagnostics() {
        let path = diagnostic.path.strip_prefix(sandbox.path()).unwrap();
        let line = diagnostic
            .line
            .map_or(String::new(), |line| format!(":{line}"));
        lines += &format!("{}{line} {}\n", path.display(), diagnostic.fault);
    }
    lines.replace(&format!("{}/", sandbox.path().display()), "")
}

fn roots(sandbox: &Sandbox) -> Roots {
    Roots::resolve(
        Some(sandbox.home().as_os_str()),
        Path::new("/nowhere"),
        &sandbox.work(),
    )
}

fn packages(sandbox: &Sandbox, names: &[&str]) -> Vec<(String, PathBuf)> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), sandbox.path().join(name)))
        .collect()
}

#[test]
fn the_workspace_comes_before_the_shared_root_and_that_before_plugins() {
    let sandbox = Sandbox::new();
    sandbox.write("work/.vak/skills/one/SKILL.md", skill("one", "Workspace."));
    sandbox.write("home/.vak/skills/one/SKILL.md", skill("one", "Shared."));
    sandbox.write("home/.vak/skills/two/SKILL.md", skill("two", "Shared."));
    sandbox.write("alpha/skills/one/SKILL.md", skill("one", "Plugin."));
    sandbox.write("alpha/skills/two/SKILL.md", skill("two", "Plugin."));
    sandbox.write("alpha/skills/three/SKILL.md", skill("three", "Plugin."));
    sandbox.write(
        "beta/SKILL.md",
        skill("three", "A package that is a skill."),
    );
    let catalogue = discover(&roots(&sandbox), packages(&sandbox, &["alpha", "beta"]));
    assert_eq!(
        listed(&sandbox, &catalogue),
        "\
offered one workspace
shadowed one shared
shadowed one plugin `alpha`
offered three plugin `alpha`
shadowed three plugin `beta`
offered two shared
shadowed two plugin `alpha`
home/.vak/skills/one/SKILL.md is shadowed by the workspace skill of the same name, `work/.vak/skills/one/SKILL.md`
alpha/skills/one/SKILL.md is shadowed by the workspace skill of the same name, `work/.vak/skills/one/SKILL.md`
beta/SKILL.md:2 has the name `three` in a directory called `beta`
beta/SKILL.md is shadowed by the plugin `alpha` skill of the same name, `alpha/skills/three/SKILL.md`
alpha/skills/two/SKILL.md is shadowed by the shared skill of the same name, `home/.vak/skills/two/SKILL.md`
"
    );
    assert_eq!(
        catalogue.prompt(),
        "\
Available skills
- one: Does one.
- three: Does three.
- two: Does two.
"
    );
}

#[test]
fn a_rejected_skill_has_no_claim_on_its_name() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "work/.vak/skills/one/SKILL.md",
        skill("one", "Call `python_eval`."),
    );
    sandbox.write("home/.vak/skills/one/SKILL.md", skill("one", "Fine."));
    let catalogue = discover(&roots(&sandbox), []);
    let states: Vec<State> = catalogue.skills.iter().map(|found| found.state).collect();
    assert_eq!(states, [State::Rejected, State::Offered]);
    assert_eq!(catalogue.prompt(), "Available skills\n- one: Does one.\n");
}

#[test]
fn no_skill_vanishes_without_a_word() {
    let sandbox = Sandbox::new();
    let skills = "home/.vak/skills";
    let at = |path: &str| sandbox.path().join(skills).join(path);
    let put = |path: &str, bytes: &[u8]| sandbox.write(Path::new(skills).join(path), bytes);
    put("SKILL.md", skill("loose", "Do it.").as_bytes());
    put("case/skill.md", skill("case", "Do it.").as_bytes());
    put("both/SKILL.md", skill("both", "Do it.").as_bytes());
    put("both/Skill.md", skill("both", "Do it.").as_bytes());
    put("outer/SKILL.md", skill("outer", "Do it.").as_bytes());
    put(
        "outer/deep/inner/SKILL.md",
        skill("inner", "Do it.").as_bytes(),
    );
    put("group/one/SKILL.md", skill("one", "Do it.").as_bytes());
    put("nothing/README.md", b"no skill here");
    put("bytes/SKILL.md", b"---\nname: bytes\n---\n\xff");
    put("huge/SKILL.md", &vec![b'x'; (1 << 20) + 1]);
    put(".git/SKILL.md", b"not looked at");
    put(".hid/SKILL.md", skill("hid", "Do it.").as_bytes());
    put(
        "group/.store/deep/SKILL.md",
        skill("deep", "Do it.").as_bytes(),
    );
    put(
        "outer/.cache/other/SKILL.md",
        skill("other", "Do it.").as_bytes(),
    );
    put("README.md", b"not a skill");
    fs::create_dir_all(at("dir/SKILL.md")).unwrap();
    symlink("gone", at("broken")).unwrap();
    fs::create_dir(at("link")).unwrap();
    symlink("gone", at("link/SKILL.md")).unwrap();
    symlink("outer", at("zweit")).unwrap();
    // Whatever is looked at first, a directory counts under its own path, and a link is the one too many.
    symlink("outer", at("a-link")).unwrap();
    symlink("../both", at("group/a-link")).unwrap();
    // Where a link is the only way, it is taken.
    put(
        "group/.store/far/SKILL.md",
        skill("far", "Do it.").as_bytes(),
    );
    symlink("group/.store/far", at("far")).unwrap();
    symlink("..", at("cycle")).unwrap();
    fs::create_dir(at("fifo")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        at("fifo/SKILL.md"),
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .unwrap();
    let catalogue = discover(&roots(&sandbox), []);
    assert_eq!(
        listed(&sandbox, &catalogue).replace("home/.vak/skills/", ""),
        "\
offered both shared
rejected bytes shared
offered case shared
rejected dir shared
offered far shared
rejected fifo shared
rejected huge shared
rejected link shared
offered one shared
offered outer shared
bytes/SKILL.md:4 is not UTF-8
case/skill.md is not spelt `SKILL.md`
dir/SKILL.md is not a regular file
fifo/SKILL.md is not a regular file
huge/SKILL.md is larger than 1 MiB
link/SKILL.md is a broken link
.hid/SKILL.md stands in a hidden directory, where skills are not looked for
SKILL.md has no directory of its own
a-link leads to a directory that was looked through already
both/Skill.md stands beside `SKILL.md`, which is the one that counts
broken is a broken link
cycle/skills leads to a directory that was looked through already
group/.store/deep/SKILL.md stands in a hidden directory, where skills are not looked for
group/a-link leads to a directory that was looked through already
nothing holds no `SKILL.md`
outer/.cache/other/SKILL.md stands inside another skill's directory, where skills are not looked for
outer/deep/inner/SKILL.md stands inside another skill's directory, where skills are not looked for
zweit leads to a directory that was looked through already
"
    );
}

#[test]
fn a_link_leads_out_of_the_shared_root_but_not_out_of_a_workspace_or_a_package() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/mine/SKILL.md", skill("mine", "Do it."));
    sandbox.write("work/tools/near/SKILL.md", skill("near", "Do it."));
    for root in ["home/.vak/skills", "work/.vak/skills", "plugin/skills"] {
        fs::create_dir_all(sandbox.path().join(root)).unwrap();
        symlink(
            sandbox.path().join("elsewhere/mine"),
            sandbox.path().join(root).join("mine"),
        )
        .unwrap();
    }
    symlink("../../tools/near", sandbox.workspace().join("skills/near")).unwrap();
    let catalogue = discover(&roots(&sandbox), packages(&sandbox, &["plugin"]));
    let target = sandbox
        .path()
        .canonicalize()
        .unwrap()
        .join("elsewhere/mine");
    let outside = format!("is a link that leads outside, to `{}`", target.display());
    assert_eq!(
        listed(&sandbox, &catalogue),
        format!(
            "\
offered mine shared
offered near workspace
work/.vak/skills/mine {outside}
plugin/skills/mine {outside}
"
        )
        .replace(&format!("{}/", sandbox.path().display()), "")
    );
}

#[test]
fn a_workspace_root_that_is_itself_a_link_leads_out_too() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/skills/mine/SKILL.md", skill("mine", "Do it."));
    symlink(sandbox.path().join("elsewhere"), sandbox.workspace()).unwrap();
    let catalogue = discover(&roots(&sandbox), []);
    assert_eq!(catalogue.skills, []);
    let said = listed(&sandbox, &catalogue);
    assert!(
        said.starts_with("work/.vak/skills is a link that leads outside, to `"),
        "{said}"
    );
    // The user's own may lie anywhere.
    symlink(sandbox.path().join("elsewhere"), sandbox.shared()).unwrap();
    let catalogue = discover(&roots(&sandbox), []);
    assert_eq!(catalogue.offered().count(), 1);
}

#[test]
fn an_author_is_told_of_a_link_that_a_session_would_not_follow() {
    let sandbox = Sandbox::new();
    let outside = sandbox.write("elsewhere/SKILL.md", skill("mine", "Do it."));
    sandbox.write("work/near/SKILL.md", skill("near", "Do it."));
    for place in ["work/skills/mine", "work/skills/near", "other/mine"] {
        fs::create_dir_all(sandbox.path().join(place)).unwrap();
    }
    for place in ["work/skills/mine/SKILL.md", "other/mine/SKILL.md"] {
        symlink(&outside, sandbox.path().join(place)).unwrap();
    }
    symlink(
        "../../near/SKILL.md",
        sandbox.work().join("skills/near/SKILL.md"),
    )
    .unwrap();
    for path in ["skills/mine/SKILL.md", "skills/mine", "skills"] {
        let run = sandbox.vak(&["skills", "validate", path]).expect(1);
        assert!(
            run.stdout
                .contains("skills/mine/SKILL.md is a link that leads outside")
        );
    }
    for path in ["skills/near", "skills/near/SKILL.md", "../other/mine"] {
        sandbox.vak(&["skills", "validate", path]).expect(0);
    }
}

#[test]
fn a_command_called_skill_is_no_skill() {
    let sandbox = Sandbox::new();
    sandbox.write("plugin/commands/skill.md", "Run it.");
    sandbox.write("plugin/agents/skill.md", "Be it.");
    sandbox.write("plugin/skills/agents/SKILL.md", skill("agents", "Do it."));
    let catalogue = discover(&roots(&sandbox), packages(&sandbox, &["plugin"]));
    assert_eq!(
        listed(&sandbox, &catalogue),
        "offered agents plugin `plugin`\n"
    );
}

#[test]
fn the_starter_skills_are_beyond_reproach() {
    let starter = Path::new(env!("CARGO_MANIFEST_DIR")).join("starter/skills");
    let roots = Roots {
        shared: starter.parent().unwrap().to_owned(),
        workspace: None,
    };
    let catalogue = discover(&roots, []);
    assert_eq!(roots.iter().next().unwrap().0, Scope::User);
    assert!(catalogue.offered().count() > 0);
    assert_eq!(catalogue.diagnostics().next(), None);
}
