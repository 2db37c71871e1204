//! A config read; one entry cut out of its bytes and put back.

use crate::tree::Tree;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use vak::config::{
    Config, ConfigError, Cut, ModelConfig, Pruned, Pruning, prune, prune_plugins_network_allow,
    put_back, restore_plugins_network_allow,
};
use vak::disk::{self, DiskError, LockGuard};
use vak::mode::Mode;
use vak::tools::PermissionMode;

/// Prunes `x`, expects this text, and expects that the record puts every byte back and that a second
/// prune finds nothing to do.
#[track_caller]
fn check(before: &str, after: &str) -> Pruned {
    let pruned = prune(before.as_bytes(), "x")
        .unwrap_or_else(|fault| panic!("refused: {fault}"))
        .expect("an entry to prune");
    assert_eq!(String::from_utf8_lossy(&pruned.bytes), after);
    assert_eq!(prune(&pruned.bytes, "x"), Ok(None), "pruned twice");
    let restored = put_back(&pruned.bytes, &pruned.cut).unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&restored.bytes), before);
    assert!(restored.exact);
    pruned
}

/// The array alone: `check` around it, at the end of a file without a final newline.
#[track_caller]
fn check_array(before: &str, after: &str) {
    let file = |array: &str| format!("a = 1\n[plugins]\nnetwork_allow = {array}");
    check(&file(before), &file(after));
}

/// Refuses to prune `x`, with this message.
#[track_caller]
fn check_refused(before: &str, message: &str) {
    let fault = prune(before.as_bytes(), "x").unwrap_err();
    assert_eq!(fault.to_string(), message);
}

#[test]
fn takes_an_item_off_a_line() {
    check_array(r#"["x"]"#, "[]");
    check_array(r#"[ "x" ]"#, "[ ]");
    check_array(r#"["x" ]"#, "[]");
    check_array(r#"[ "x", ]"#, "[ ]");
    check_array(r#"["x",]"#, "[]");
    check_array(r#"["x", "b"]"#, r#"["b"]"#);
    check_array(r#"[ "x", "b" ]"#, r#"[ "b" ]"#);
    check_array(r#"["a", "x", "b"]"#, r#"["a", "b"]"#);
    check_array(r#"["a","x","b"]"#, r#"["a","b"]"#);
    check_array(r#"["a",  "x", "b"]"#, r#"["a", "b"]"#);
    check_array(r#"["a" , "x" , "b"]"#, r#"["a" , "b"]"#);
    check_array(r#"["a", "x"]"#, r#"["a"]"#);
    check_array(r#"[ "a", "x" ]"#, r#"[ "a" ]"#);
    check_array(r#"["a" , "x" ]"#, r#"["a" ]"#);
    check_array(r#"["a", "x",]"#, r#"["a",]"#);
    check_array(r#"[ "a", "x", ]"#, r#"[ "a", ]"#);
    check_array("[\"a\",\t\"x\",\t\"b\"]", "[\"a\",\t\"b\"]");
}

#[test]
fn takes_a_repeated_item_wherever_it_is() {
    check_array(r#"["x", "x"]"#, "[]");
    check_array(r#"["x", "a", "x"]"#, r#"["a"]"#);
    check_array(r#"["a", "x", "x", "b", "x"]"#, r#"["a", "b"]"#);
    check_array(
        "[\n  \"x\",\n  'x', # two\n  \"a\",\n  \"x\"\n]",
        "[\n  # two\n  \"a\"\n]",
    );
    check_array("[ \"x\"\n, \"x\"\n, \"b\" ]", "[\n\"b\" ]");
}

#[test]
fn takes_a_line_of_its_own() {
    check_array("[\n  \"x\",\n]", "[\n]");
    check_array("[\n  \"x\"\n]", "[\n]");
    check_array("[\n  \"x\",\n  \"b\",\n]", "[\n  \"b\",\n]");
    check_array(
        "[\n  \"a\",\n  \"x\",\n  \"b\",\n]",
        "[\n  \"a\",\n  \"b\",\n]",
    );
    check_array("[\n  \"a\",\n  \"x\",\n]", "[\n  \"a\",\n]");
    check_array("[\n  \"a\",\n  \"x\"\n]", "[\n  \"a\"\n]");
    check_array("[\n  \"a\",\n  \"x\" ]", "[\n  \"a\"\n  ]");
    check_array("[ \"x\",\n  \"b\" ]", "[\n  \"b\" ]");
    check_array(
        "[\n\n  \"a\",\n\n  \"x\",\n\n  \"b\"\n\n]",
        "[\n\n  \"a\",\n\n\n  \"b\"\n\n]",
    );
    check_array("[\n  \"a\", \"x\",\n  \"b\"\n]", "[\n  \"a\",\n  \"b\"\n]");
    check_array("[\n  \"x\", \"a\",\n  \"b\"\n]", "[\n  \"a\",\n  \"b\"\n]");
    check_array("[\n  \"a\",  \n  \"x\",  \n]", "[\n  \"a\",  \n]");
}

#[test]
fn knows_commas_in_front() {
    check_array("[ \"a\"\n, \"x\"\n, \"b\"\n]", "[ \"a\"\n, \"b\"\n]");
    check_array("[\n  \"x\"\n, \"b\"\n]", "[\n\"b\"\n]");
    check_array("[\n  \"a\"\n, \"x\"\n]", "[\n  \"a\"\n]");
    check_array(
        "[\n  \"a\"\n  ,\n  \"x\"\n  ,\n  \"b\"\n]",
        "[\n  \"a\"\n  ,\n  \"b\"\n]",
    );
}

#[test]
fn keeps_every_comment() {
    check_array(
        "[\n  # of x\n  \"x\", # why\n  # of b\n  \"b\", # b\n]",
        "[\n  # of x\n  # why\n  # of b\n  \"b\", # b\n]",
    );
    check_array(
        "[\n  \"a\", # a\n  \"x\" # why\n]",
        "[\n  \"a\" # a\n  # why\n]",
    );
    check_array(
        "[\n  \"a\" # a\n  , # comma\n  \"x\" # why\n]",
        "[\n  \"a\" # a\n  # comma\n  # why\n]",
    );
    check_array("[ # list\n  \"x\" ]", "[ # list\n  ]");
    check_array("[ \"x\", # list\n]", "[ # list\n]");
    check_array("[\"a\", \"x\",   # both\n]", "[\"a\",   # both\n]");
    check_array("[\"a\", \"x\" # both\n]", "[\"a\" # both\n]");
    check_array(
        "[\n  \"x\" # \"x\", in a comment\n]",
        "[\n  # \"x\", in a comment\n]",
    );
    check_array("[\"x\"] # \"x\"", "[] # \"x\"");
}

#[test]
fn reads_every_kind_of_string() {
    check_array("['x', 'a']", "['a']");
    check_array(r#"["\u0078", "a"]"#, r#"["a"]"#);
    check_array(
        "['''x''', \"\"\"a\n, # no comment\nb\"\"\", \"\"\"\nx\"\"\"]",
        "[\"\"\"a\n, # no comment\nb\"\"\"]",
    );
    check_array("[\n  '''\nx''',\n  \"a\"\n]", "[\n  \"a\"\n]");
    check_array(r##"["a,#", "x", "]"]"##, r##"["a,#", "]"]"##);
    check_array(r#"["ä", "x", "日本"]"#, r#"["ä", "日本"]"#);
}

#[test]
fn leaves_items_that_are_no_strings() {
    check_array(
        r#"[1, "x", ["x"], { x = "x", y = ["x"] }, nan, 1979-05-27]"#,
        r#"[1, ["x"], { x = "x", y = ["x"] }, nan, 1979-05-27]"#,
    );
    check_array("[true,\n  \"x\", -0.0]", "[true,\n  -0.0]");
}

#[test]
fn finds_the_list_however_the_table_is_written() {
    check(
        "plugins.network_allow = [\"x\"]\n",
        "plugins.network_allow = []\n",
    );
    check(
        "plugins = { network_allow = [\"x\", 'a'], b = 1 }",
        "plugins = { network_allow = ['a'], b = 1 }",
    );
    check(
        "\"plugins\" . 'network_allow' = [\"x\"]",
        "\"plugins\" . 'network_allow' = []",
    );
    check(
        "[plugins.x]\nnetwork_allow = [\"x\"]\n[other]\nnetwork_allow = [\"x\"]\n[ plugins ]\nnetwork_allow = [\"x\"]\n",
        "[plugins.x]\nnetwork_allow = [\"x\"]\n[other]\nnetwork_allow = [\"x\"]\n[ plugins ]\nnetwork_allow = []\n",
    );
}

#[test]
fn keeps_line_ends_and_the_byte_order_mark() {
    check(
        "\u{feff}# ä\r\n[plugins]\r\nnetwork_allow = [\r\n\t\"a\", # a\r\n\t\"x\", # why\r\n\t\"b\",\r\n]\r\n\r\n",
        "\u{feff}# ä\r\n[plugins]\r\nnetwork_allow = [\r\n\t\"a\", # a\r\n\t# why\r\n\t\"b\",\r\n]\r\n\r\n",
    );
    // Line ends may be mixed.
    check(
        "\u{feff}[plugins]\nnetwork_allow = [\r\n  \"a\",\n  \"x\"\r\n]\nb = \"\"\"1\r\n2\n\"\"\"",
        "\u{feff}[plugins]\nnetwork_allow = [\r\n  \"a\"\n]\nb = \"\"\"1\r\n2\n\"\"\"",
    );
}

#[test]
fn tells_the_lines_of_the_entry() {
    let pruned = check(
        "[plugins]\nnetwork_allow = [\n  'x', 'x',\n  'a',\n  'x'\n]\n",
        "[plugins]\nnetwork_allow = [\n  'a'\n]\n",
    );
    assert_eq!(pruned.lines, [3, 5]);
}

#[test]
fn finds_nothing_to_do() {
    let untouched = [
        "",
        "\u{feff}",
        "# network_allow = [\"x\"]",
        "[plugins]",
        "[plugins]\nnetwork_allow = []",
        "[plugins]\nnetwork_allow = [\"X\", \"x \", \"xx\", [\"x\"]]",
        "[plugins]\nkeep_retired = [\"x\"]",
        "network_allow = [\"x\"]",
        "[Plugins]\nnetwork_allow = [\"x\"]",
    ];
    for text in untouched {
        assert_eq!(prune(text.as_bytes(), "x"), Ok(None), "{text}");
    }
}

#[test]
fn refuses_with_the_line() {
    check_refused(
        "# c\n[plugins]\nnetwork_allow = \"x\"\n",
        "`plugins.network_allow` is a string, not an array of plugin names\n  |\n3 | network_allow = \"x\"\n  |                 ^\nhint: make it an array of plugin names, or take the line out",
    );
    check_refused(
        "\u{feff}a = 1\r\nplugins = 3\r\n",
        "`plugins` is an integer, not a table\n  |\n2 | plugins = 3\n  |           ^\nhint: make it a table, or take the line out",
    );
    check_refused(
        "[[plugins]]\nnetwork_allow = [\"x\"]",
        "`plugins` is an array of tables, not a table\n  |\n1 | [[plugins]]\n  | ^\nhint: make it a table, or take the line out",
    );
    check_refused(
        "[plugins]\nnetwork_allow = [\"x\"]\n[plugins]\n",
        "duplicate key\n  |\n3 | [plugins]\n  |  ^\nhint: mend this line; nothing was changed",
    );
}

#[test]
fn puts_an_entry_back_behind_the_last_where_the_list_has_changed() {
    let cut = |name: &str| Cut {
        name: name.to_owned(),
        list: "['y']".to_owned(),
    };
    let check = |before: &str, after: &str| {
        let file = |array: &str| format!("[plugins]\nnetwork_allow = {array}\n");
        let restored = put_back(file(before).as_bytes(), &cut("x"))
            .unwrap()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&restored.bytes), file(after));
        assert!(!restored.exact);
    };
    check("[]", r#"["x"]"#);
    check("[ # none\n]", "[\"x\" # none\n]");
    check(r#"["a"]"#, r#"["a", "x"]"#);
    check(r#"[ "a", ]"#, r#"[ "a", "x", ]"#);
    check("[\n  \"a\"\n]", "[\n  \"a\",\n  \"x\"\n]");
    check(
        "[\n  \"a\", # a\n  # end\n]",
        "[\n  \"a\", # a\n  \"x\",\n  # end\n]",
    );
    check("[\r\n\t'a' # a\r\n]", "[\r\n\t'a', # a\r\n\t\"x\"\r\n]");
    check("[\"a\" # a\n]", "[\"a\", \"x\" # a\n]");
    check("[\n  \"a\"\n  ,\n]", "[\n  \"a\"\n  ,\n  \"x\",\n]");
    let present = put_back(b"plugins.network_allow = ['x']", &cut("x"));
    assert_eq!(present, Ok(None));
    let absent = put_back(b"[plugins]\n", &cut("x")).unwrap_err();
    assert_eq!(
        absent.to_string().lines().last(),
        Some(
            "hint: if it should reach the network again, add `network_allow = [\"x\"]` below `[plugins]`"
        )
    );
}

#[test]
fn puts_an_entry_back_exactly_although_the_rest_of_the_file_has_changed() {
    let pruned = prune(b"[plugins]\nnetwork_allow = ['a', 'x', 'b']\n", "x")
        .unwrap()
        .unwrap();
    let changed = [b"# new\n".as_slice(), &pruned.bytes, b"more = true\n"].concat();
    let restored = put_back(&changed, &pruned.cut).unwrap().unwrap();
    assert!(restored.exact);
    assert_eq!(
        String::from_utf8_lossy(&restored.bytes),
        "# new\n[plugins]\nnetwork_allow = ['a', 'x', 'b']\nmore = true\n"
    );
}

/// Prunes `x`, then `y`, puts both back in the same order, which is the harder one, and expects this list.
#[track_caller]
fn check_both(before: &str, after: &str) {
    let file = |array: &str| format!("[plugins]\nnetwork_allow = {array}\n");
    let x = prune(file(before).as_bytes(), "x").unwrap().unwrap();
    let y = prune(&x.bytes, "y").unwrap().unwrap();
    let with_x = put_back(&y.bytes, &x.cut).unwrap().unwrap();
    assert!(with_x.exact);
    let with_both = put_back(&with_x.bytes, &y.cut).unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&with_both.bytes), file(after));
    // The other order needs nothing but the records.
    let with_y = put_back(&y.bytes, &y.cut).unwrap().unwrap();
    let with_both = put_back(&with_y.bytes, &x.cut).unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&with_both.bytes), file(before));
}

#[test]
fn puts_entries_back_in_any_order() {
    let same = |list: &str| check_both(list, list);
    same(r#"["x", "y"]"#);
    same(r#"["x", "y", "c"]"#);
    same(r#"["a", "x", "y", "c"]"#);
    same(r#"["y", "b", "x"]"#);
    same(r#"["x", "b", "y", "c"]"#);
    same("[\n  \"x\", # x\n  \"y\", # y\n  \"c\",\n]");
    same("[\n  \"a\",\n  # of x\n  \"x\",\n  # of y\n  \"y\",\n]");
    same("[\n  \"x\",\n  \"y\"\n]");
    // What stood side by side comes back side by side, in the order it is put back.
    check_both(r#"["y", "x", "c"]"#, r#"["x", "y", "c"]"#);
}

/// An entry that was added meanwhile stays where it was put.
#[test]
fn puts_an_entry_back_in_place_beside_a_new_one() {
    let pruned = prune(b"plugins.network_allow = ['a', 'x', 'b']", "x");
    let now = b"plugins.network_allow = ['new', 'a', 'b']";
    let restored = put_back(now, &pruned.unwrap().unwrap().cut)
        .unwrap()
        .unwrap();
    assert!(restored.exact);
    assert_eq!(
        String::from_utf8_lossy(&restored.bytes),
        "plugins.network_allow = ['new', 'a', 'x', 'b']"
    );
}

/// A record is data: one that was tampered with must not bring anything else into the config.
#[test]
fn takes_nothing_but_the_entry_from_a_record() {
    let lists = [
        "",
        "['x'",
        "['x', 'y', 'x']",
        "['x' # more\n]",
        "['x']\npermission_mode = 'full-access'",
        "['x', ['y'], { z = 1 }]",
        "{ x = ['x'] }",
        "['y']",
    ];
    for list in lists {
        let cut = Cut {
            name: "x".to_owned(),
            list: list.to_owned(),
        };
        let before = "plugins.network_allow = ['a'] # c\n";
        let restored = put_back(before.as_bytes(), &cut).unwrap().unwrap();
        let text = String::from_utf8_lossy(&restored.bytes);
        assert_eq!(text, "plugins.network_allow = ['a', \"x\"] # c\n", "{list}");
        assert!(!restored.exact);
    }
}

#[test]
fn reads_what_it_knows_and_leaves_the_rest() {
    let text = "permission_mode = \"full-access\"\nother = 1\n[plugins]\nnetwork_allow = [\"a\", 1, 'b']\nkeep_retired = ['c']\nnew = {}\n";
    assert_eq!(
        Config::parse(text.as_bytes()),
        Ok(Config {
            network_allow: vec!["a".to_owned(), "b".to_owned()],
            keep_retired: vec!["c".to_owned()],
            permission_mode: Some(PermissionMode::FullAccess),
            model: ModelConfig::default(),
        })
    );
    assert_eq!(Config::parse(b""), Ok(Config::default()));
    let text =
        "[model]\nbase_url = 'u'\nname = 'n'\napi_key_env = 'V'\ntimeout_seconds = 7\nnew = 1\n";
    assert_eq!(
        Config::parse(text.as_bytes()).map(|config| config.model),
        Ok(ModelConfig {
            base_url: Some("u".to_owned()),
            name: Some("n".to_owned()),
            api_key_env: Some("V".to_owned()),
            timeout: Some(std::time::Duration::from_secs(7)),
        })
    );
}

#[test]
fn says_what_it_can_not_read() {
    let check = |bytes: &[u8], line: usize, column: usize, message: &str| {
        let fault = Config::parse(bytes).unwrap_err();
        assert_eq!(
            (fault.place.line, fault.place.column),
            (line, column),
            "{fault}"
        );
        assert_eq!(fault.fault.to_string(), message);
    };
    check(b"a = 1\nb = \xff", 2, 5, "not valid UTF-8");
    check(
        "a = 1\r\n'ä' = = 2".as_bytes(),
        2,
        7,
        "extra `=`, expected nothing",
    );
    check(
        b"permission_mode = 'root'",
        1,
        19,
        "unknown permission mode `root`",
    );
    check(
        b"[model]\nname = 1",
        2,
        8,
        "`model.name` is an integer, not a string",
    );
    check(
        b"model = { timeout_seconds = 0 }",
        1,
        29,
        "`model.timeout_seconds` is an integer, not a number of seconds above 0",
    );
    check(
        b"permission_mode = 1",
        1,
        19,
        "`permission_mode` is an integer, not the name of a mode",
    );
    check(
        b"[plugins]\nkeep_retired = 'x'",
        2,
        16,
        "`plugins.keep_retired` is a string, not an array of plugin names",
    );
    check(
        b"[plugins]\nkeep_retired = ['x', 1]",
        2,
        22,
        "`plugins.keep_retired` is an array with other things in it, not an array of plugin names",
    );
    check(
        "\u{feff}\u{feff}".as_bytes(),
        1,
        1,
        "a second byte order mark",
    );
}

/// A long line is shown in part, and what could steer a terminal is not shown at all.
#[test]
fn shows_a_line_that_can_be_shown() {
    let text = format!("a = \"{}\x1b[2J{}\"", "ä".repeat(500), "b".repeat(500));
    let fault = Config::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(!fault.contains('\x1b'), "{fault}");
    assert!(
        fault.lines().all(|line| line.chars().count() < 200),
        "{fault}"
    );
}

#[test]
fn reads_files_as_they_come() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    assert_eq!(Config::read(&path).unwrap(), Config::default());
    let refused = |path: &Path| match Config::read(path) {
        Err(ConfigError::Disk(error)) => error,
        other => panic!("{other:?}"),
    };
    symlink("nowhere", &path).unwrap();
    let dangling = Config::read(&path).unwrap_err();
    assert!(matches!(dangling, ConfigError::Dangling { .. }));
    assert!(dangling.to_string().contains("config.toml"), "{dangling}");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert!(matches!(refused(&path), DiskError::NotAFile { .. }));
    fs::remove_dir(&path).unwrap();

    fs::write(&path, "a = 1\nb =\n").unwrap();
    let error = Config::read(&path).unwrap_err().to_string();
    let place = format!("`{}:2:4`: ", path.display());
    assert!(error.starts_with(&place), "{error}");

    let file = fs::File::create(&path).unwrap();
    file.set_len(5 << 20).unwrap();
    assert!(matches!(refused(&path), DiskError::TooLarge { .. }));
}

/// A root with a config that is a link to a file of mode 0640 elsewhere, and the lock of that root.
struct Linked {
    dir: tempfile::TempDir,
    path: PathBuf,
    target: PathBuf,
}

impl Linked {
    fn new(text: &str) -> (Linked, LockGuard) {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("root"), dir.path().join("dotfiles"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        let (path, target) = (root.join("config.toml"), elsewhere.join("vak.toml"));
        fs::write(&target, text).unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        symlink("../dotfiles/vak.toml", &path).unwrap();
        let guard = disk::lock(&root).unwrap();
        (Linked { dir, path, target }, guard)
    }
}

#[test]
fn changes_the_file_and_keeps_its_link_and_mode() {
    let before = "[plugins]\nnetwork_allow = ['a', 'x'] # c";
    let (config, guard) = Linked::new(before);
    let installed = BTreeSet::from(["a".to_owned()]);
    let prune =
        |mode| prune_plugins_network_allow(&guard, &config.path, "x", &installed, mode).unwrap();

    let tree = Tree::read(config.dir.path());
    let planned = prune(Mode::Check);
    assert_eq!(
        Tree::read(config.dir.path()),
        tree,
        "a check writes nothing"
    );
    assert_eq!(prune(Mode::Write), planned);
    assert_eq!(
        fs::read_to_string(&config.target).unwrap(),
        "[plugins]\nnetwork_allow = ['a'] # c"
    );
    assert_eq!(prune(Mode::Write), Pruning::Absent);

    let Pruning::Pruned { lines, cut } = planned else {
        panic!("{planned:?}");
    };
    assert_eq!(lines, [2]);
    let restore = |mode| restore_plugins_network_allow(&guard, &config.path, &cut, mode).unwrap();
    let planned = restore(Mode::Check).expect("an entry to put back");
    assert!(planned.exact);
    assert_eq!(restore(Mode::Write), Some(planned));
    assert_eq!(restore(Mode::Write), None);
    assert_eq!(
        Tree::read(config.dir.path()),
        tree,
        "link, mode and bytes are as before"
    );
}

#[test]
fn leaves_an_entry_that_another_store_needs() {
    let before = "[plugins]\nnetwork_allow = ['x']";
    let (config, guard) = Linked::new(before);
    let prune = |name: &str| {
        let installed = BTreeSet::from(["x".to_owned()]);
        prune_plugins_network_allow(&guard, &config.path, name, &installed, Mode::Write).unwrap()
    };
    assert_eq!(prune("x"), Pruning::StillNeeded);
    assert_eq!(prune("y"), Pruning::Absent);
    assert_eq!(fs::read_to_string(&config.target).unwrap(), before);
}

#[test]
fn never_replaces_a_config_it_can_not_understand() {
    let none = BTreeSet::new();
    for before in ["[plugins", "[plugins]\nnetwork_allow = 'x'", "plugins = []"] {
        let (config, guard) = Linked::new(before);
        let tree = Tree::read(config.dir.path());
        let pruned = prune_plugins_network_allow(&guard, &config.path, "x", &none, Mode::Write);
        assert!(
            matches!(pruned, Err(ConfigError::Text { .. })),
            "{pruned:?}"
        );
        assert_eq!(Tree::read(config.dir.path()), tree);
    }
    let (config, guard) = Linked::new("");
    fs::remove_file(&config.path).unwrap();
    let pruned = prune_plugins_network_allow(&guard, &config.path, "x", &none, Mode::Write);
    assert_eq!(pruned.unwrap(), Pruning::Absent);
    assert!(!config.path.exists());
}
