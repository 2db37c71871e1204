//! The API's routes on real sockets, with the disk looked at after each.

use crate::plugin::Home;
use crate::service::Service;
use crate::tree::Tree;
use serde_json::{Value, json};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use vak::disk;
use vak::plugin::InstallOptions;

const STALE: &str =
    "Then call `python_eval` with the code.\n\nThe `tools` may name PYTHON_EVAL too.";
const CONFIG: &str =
    "# mine\n[plugins]\nnetwork_allow = [\n  \"healthy\",\n  \"stale\", # why\n]\n";

/// A home with a healthy plugin, a stale one in each store, and configs that name them.
pub(crate) fn stale_home() -> Home {
    let home = Home::new();
    home.install_enabled(&home.package("healthy", "1.0.0"));
    home.install_enabled(&home.package_saying("stale", "1.2.0", STALE));
    install_in_workspace(&home, "local");
    home.sandbox.write("home/.vak/config.toml", CONFIG);
    home
}

fn install_in_workspace(home: &Home, name: &str) {
    let package = home.package_saying(name, "0.1.0", STALE);
    let workspace = &home.stores()[1];
    let allowed = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    workspace
        .install(&workspace.lock().unwrap(), &package, allowed)
        .unwrap();
}

fn names(plugins: &Value) -> Vec<&str> {
    let plugins = plugins.as_array().unwrap().iter();
    plugins
        .map(|plugin| plugin["name"].as_str().unwrap())
        .collect()
}

/// Every retired plugin that the server lists.
fn listed(service: &Service) -> Vec<String> {
    let document = service.get("/plugins/retired").expect(200).json();
    let stores = document["stores"].as_array().unwrap().iter();
    stores
        .flat_map(|store| names(&store["plugins"]))
        .map(str::to_owned)
        .collect()
}

#[test]
fn anybody_may_ask_whether_it_answers() {
    let home = Home::new();
    let service = Service::start(&home);
    let answer = service.ask_as_nobody("GET", "/healthz").send().expect(200);
    assert_eq!(answer.json()["status"], "ok");
}

#[test]
fn retired_plugins_are_listed_with_everything_about_them() {
    let home = stale_home();
    let before = home.sandbox.tree();
    let service = Service::start(&home);
    let document = service.get("/plugins/retired").expect(200).json();
    assert_eq!(document["schema"], 1);
    let [shared, workspace] = &document["stores"].as_array().unwrap()[..] else {
        panic!("{document}");
    };
    assert_eq!(
        (&shared["scope"], &shared["installed"]),
        (&json!("user"), &json!(2))
    );
    assert_eq!(workspace["scope"], "workspace");
    assert_eq!(names(&workspace["plugins"]), ["local"]);
    let [plugin] = &shared["plugins"].as_array().unwrap()[..] else {
        panic!("{shared}");
    };
    assert_eq!(plugin["name"], "stale");
    assert_eq!(plugin["version"], "1.2.0");
    assert_eq!(plugin["enabled"], true);
    assert_eq!(plugin["kept"], false);
    assert_eq!(
        plugin["tools"],
        json!([{
            "name": "python_eval",
            "retired_in": "3.0.21",
            "replacement": "bash",
            "hint": "run Python with `python3` in a `bash` command",
        }])
    );
    let finding = &plugin["findings"][0];
    assert_eq!(finding["file"], "skills/work/SKILL.md");
    assert_eq!(
        (&finding["line"], &finding["column"]),
        (&json!(6), &json!(12))
    );
    assert_eq!(finding["grade"], "instructs");
    assert_eq!(finding["excerpt"], "Then call `python_eval` with the code.");
    assert_eq!(finding["mark"], json!({"start": 11, "end": 22}));
    assert_eq!(plugin["findings"][1]["grade"], "suspect");
    let config = home.sandbox.shared().join("config.toml");
    assert_eq!(
        plugin["network_allow"],
        json!([{"config": config, "lines": [5]}])
    );
    // Looking changes nothing but for the token and the lock that its creation took.
    let own = ["home/.vak/server.token", "home/.vak/.lock"];
    assert_eq!(home.sandbox.tree().without(&own), before.without(&own));
}

#[test]
fn of_a_package_with_very_many_findings_the_surest_are_listed() {
    let home = Home::new();
    let text = format!(
        "{}\nThen call `python_eval`.",
        "PYTHON_EVAL and so on.\n".repeat(5000)
    );
    home.install_enabled(&home.package_saying("many", "1.0.0", &text));
    let service = Service::start(&home);
    let document = service.get("/plugins/retired").expect(200).json();
    let plugin = &document["stores"][0]["plugins"][0];
    let findings = plugin["findings"].as_array().unwrap();
    assert_eq!(
        (findings.len(), &plugin["findings_omitted"]),
        (200, &json!(4801))
    );
    assert_eq!(findings[199]["grade"], "instructs");
    // What is not listed counts.
    let text = format!(
        "{}\nThen call `react_preview`.",
        "Call `python_eval`.\n".repeat(250)
    );
    home.install_enabled(&home.package_saying("more", "1.0.0", &text));
    let document = service.get("/plugins/retired").expect(200).json();
    let tools = &document["stores"][0]["plugins"][1]["tools"];
    assert_eq!(names(tools), ["python_eval", "react_preview"]);
    assert!(service.get("/").expect(200).body.contains("And 4801 more"));
}

#[test]
fn what_the_operator_keeps_is_listed_as_kept_and_stays() {
    let home = stale_home();
    let config = "[plugins]\nkeep_retired = [\"stale\"]\n";
    home.sandbox.write("home/.vak/config.toml", config);
    let service = Service::start(&home);
    let document = service.get("/plugins/retired").json();
    assert_eq!(document["stores"][0]["plugins"][0]["kept"], true);
    for path in ["/plugins/retired", "/plugins/retired/stale"] {
        let removal = service.ask("DELETE", path).send().expect(200).json();
        assert_eq!(names(&removal["kept"]), ["stale"], "{path}");
    }
    assert_eq!(listed(&service), ["stale"]);
}

#[test]
fn removing_all_cleans_both_stores_and_the_config_and_twice_is_a_success() {
    let home = stale_home();
    let service = Service::start(&home);
    let removal = service
        .ask("DELETE", "/plugins/retired")
        .send()
        .expect(200)
        .json();
    assert_eq!(names(&removal["removed"]), ["stale", "local"]);
    assert_eq!(removal["failed"], json!([]));
    assert_eq!(removal["removed"][0]["tools"], json!(["python_eval"]));
    assert!(listed(&service).is_empty());
    let config = fs::read_to_string(home.sandbox.shared().join("config.toml")).unwrap();
    assert_eq!(
        config,
        "# mine\n[plugins]\nnetwork_allow = [\n  \"healthy\",\n  # why\n]\n"
    );
    assert_eq!(home.store().list().unwrap().len(), 1);

    let after = home.sandbox.tree();
    let again = service
        .ask("DELETE", "/plugins/retired")
        .send()
        .expect(200)
        .json();
    assert_eq!(again["removed"], json!([]));
    assert_eq!(home.sandbox.tree(), after);
}

#[test]
fn what_was_removed_is_in_quarantine_and_comes_back_to_the_byte() {
    let home = stale_home();
    let service = Service::start(&home);
    let packages = |home: &Home| Tree::read(&home.sandbox.shared().join("plugins/packages"));
    let before = packages(&home);
    let removal = service
        .ask("DELETE", "/plugins/retired/stale")
        .send()
        .expect(200)
        .json();
    assert_eq!(names(&removal["removed"]), ["stale"]);
    assert_ne!(packages(&home), before);
    assert_eq!(listed(&service), ["local"]);

    let quarantine = service.get("/plugins/quarantine").expect(200).json();
    assert_eq!(quarantine["plugins"], removal["removed"]);
    let id = quarantine["plugins"][0]["id"].as_str().unwrap();
    let restored = service
        .ask("POST", &format!("/plugins/quarantine/{id}/restore"))
        .send()
        .expect(200)
        .json();
    assert_eq!(restored["plugin"]["name"], "stale");
    assert_eq!(restored["network_allow"][0]["present"], true);
    assert_eq!(
        service.get("/plugins/quarantine").json()["plugins"],
        json!([])
    );
    assert_eq!(listed(&service), ["stale", "local"]);
    assert_eq!(packages(&home), before);
    let config = fs::read_to_string(home.sandbox.shared().join("config.toml")).unwrap();
    assert_eq!(config, CONFIG);
}

#[test]
fn a_restore_says_what_is_not_there_and_what_is_in_the_way() {
    let home = stale_home();
    let service = Service::start(&home);
    let restore = |id: &str| {
        service
            .ask("POST", &format!("/plugins/quarantine/{id}/restore"))
            .send()
    };
    restore("stale-1").expect_problem(404, "not-found");
    restore("%2e%2e%2fstale").expect_problem(400, "bad-request");
    // A name is no id.
    service
        .ask("DELETE", "/plugins/retired/stale")
        .send()
        .expect(200);
    restore("stale").expect_problem(404, "not-found");
    let quarantine = service.get("/plugins/quarantine").json();
    let id = quarantine["plugins"][0]["id"].as_str().unwrap().to_owned();
    home.install_enabled(&home.package("stale", "2.0.0"));
    let problem = restore(&id).expect_problem(409, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("`stale`"));
}

#[test]
fn a_name_can_be_removed_from_one_store_alone() {
    let home = stale_home();
    install_in_workspace(&home, "stale");
    let service = Service::start(&home);
    let path = "/plugins/retired/stale?scope=workspace";
    let removal = service.ask("DELETE", path).send().expect(200).json();
    assert_eq!(removal["removed"][0]["scope"], "workspace");
    assert_eq!(listed(&service), ["stale", "local"]);
    // The shared store's plugin still needs the entry.
    let config = fs::read_to_string(home.sandbox.shared().join("config.toml")).unwrap();
    assert_eq!(config, CONFIG);
    service
        .ask("DELETE", "/plugins/retired/stale?scope=moon")
        .send()
        .expect_problem(400, "bad-request");
    service
        .ask("DELETE", "/plugins/retired/stale?scop=user")
        .send()
        .expect_problem(400, "bad-request");
}

#[test]
fn only_retired_plugins_can_be_removed() {
    let home = stale_home();
    let service = Service::start(&home);
    for name in ["healthy", "nobody", "%00", "..%2F.."] {
        let path = format!("/plugins/retired/{name}");
        let removal = service.ask("DELETE", &path).send().expect(200).json();
        assert_eq!(removal["removed"], json!([]), "{name}");
    }
    assert_eq!(home.store().list().unwrap().len(), 2);
}

#[test]
fn an_etag_names_the_state_and_a_change_of_it_is_noticed() {
    let home = stale_home();
    let service = Service::start(&home);
    let etag = |service: &Service| {
        let answer = service.get("/plugins/retired").expect(200);
        answer.header("etag").unwrap().to_owned()
    };
    let first = etag(&service);
    assert_eq!(etag(&service), first);
    let get = service.ask("GET", "/plugins/retired");
    let cached = get
        .clone()
        .header("If-None-Match", &first)
        .send()
        .expect(304);
    assert_eq!(cached.body, "");
    get.header("If-None-Match", "\"other\"").send().expect(200);

    // An edit of the config changes what a removal would take away.
    home.sandbox
        .write("home/.vak/config.toml", format!("\n{CONFIG}"));
    let second = etag(&service);
    assert_ne!(first, second);

    let before = home.sandbox.tree();
    for path in ["/plugins/retired", "/plugins/retired/stale"] {
        for stale in [first.as_str(), "\"\"", "", &format!("W/{second}")] {
            let delete = service.ask("DELETE", path).header("If-Match", stale);
            delete.send().expect_problem(412, "changed");
        }
    }
    assert_eq!(home.sandbox.tree(), before);
    let delete = |tag: &str| {
        service
            .ask("DELETE", "/plugins/retired/stale")
            .header("If-Match", tag)
            .send()
    };
    delete(&format!("\"other\", {second}")).expect(200);
    // The state is another one now; `*` is any state.
    delete(&second).expect_problem(412, "changed");
    delete("*").expect(200);
}

/// Pins that a verdict is not remembered beyond an edit, whatever the file's size and times say.
#[test]
fn an_edited_file_is_seen_at_once() {
    let home = stale_home();
    let service = Service::start(&home);
    assert_eq!(listed(&service), ["stale", "local"]);
    let listing = service.get("/plugins/retired").json();
    let package = listing["stores"][0]["plugins"][0]["package"]
        .as_str()
        .unwrap();
    let package = home.sandbox.shared().join(package);
    let skill = package.join("skills/work/SKILL.md");
    let stale = fs::read_to_string(&skill).unwrap();
    let times = fs::metadata(&skill).unwrap().modified().unwrap();
    // As long as the other text, so that the size tells nothing.
    let fresh = stale.replace("python_eval", "python_evil");
    for _ in 0..50 {
        fs::write(&skill, &fresh).unwrap();
        // A time that is set back tells nothing either.
        fs::File::options()
            .write(true)
            .open(&skill)
            .unwrap()
            .set_modified(times)
            .unwrap();
        assert_eq!(listed(&service), ["local"]);
        fs::write(&skill, &stale).unwrap();
        assert_eq!(listed(&service), ["stale", "local"]);
    }
    // A file that comes or goes.
    let other = package.join("skills/other/SKILL.md");
    fs::write(&skill, &fresh).unwrap();
    fs::create_dir(other.parent().unwrap()).unwrap();
    assert_eq!(listed(&service), ["local"]);
    fs::write(&other, &stale).unwrap();
    assert_eq!(listed(&service), ["stale", "local"]);
    fs::remove_file(&other).unwrap();
    assert_eq!(listed(&service), ["local"]);
}

/// As above, for a package that has been unchanged for so long that its verdict is remembered.
#[test]
fn an_edit_of_a_package_with_a_remembered_verdict_is_seen_at_once() {
    let home = stale_home();
    let service = Service::start(&home);
    let skill = home.sandbox.shared().join("plugins/packages/stale");
    let skill = find_skill(&skill);
    let stale = fs::read_to_string(&skill).unwrap();
    let fresh = stale.replace("python_eval", "python_evil");
    thread::sleep(OLD_ENOUGH);
    for (text, expected) in [(&fresh, vec!["local"]), (&stale, vec!["stale", "local"])] {
        listed(&service);
        fs::write(&skill, text).unwrap();
        assert_eq!(listed(&service), expected);
        thread::sleep(OLD_ENOUGH);
    }
}

/// Longer than a change must be past for a verdict to be remembered.
const OLD_ENOUGH: Duration = Duration::from_millis(2200);

fn find_skill(directory: &std::path::Path) -> std::path::PathBuf {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return match path.ends_with("skills") {
                true => path.join("work/SKILL.md"),
                false => find_skill(&path),
            };
        }
    }
    panic!("no skill in {}", directory.display());
}

#[test]
fn of_two_removals_at_once_one_removes_and_both_succeed() {
    let home = stale_home();
    let service = Service::start(&home);
    for path in ["/plugins/retired/stale", "/plugins/retired"] {
        let removals: Vec<Value> = thread::scope(|scope| {
            let delete = || service.ask("DELETE", path).send().expect(200).json();
            let running: Vec<_> = (0..4).map(|_| scope.spawn(delete)).collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let removed = removals
            .iter()
            .map(|one| one["removed"].as_array().unwrap().len());
        assert_eq!(removed.sum::<usize>(), 1, "{path}: {removals:?}");
    }
}

#[test]
fn a_removal_waits_for_the_lock_and_reading_does_not() {
    let home = stale_home();
    let service = Service::start(&home);
    let guard = disk::lock(&home.sandbox.shared()).unwrap();
    thread::scope(|scope| {
        let started = Instant::now();
        let removal = scope.spawn(|| service.ask("DELETE", "/plugins/retired").send().expect(200));
        thread::sleep(Duration::from_millis(300));
        assert_eq!(listed(&service), ["stale", "local"]);
        assert!(!removal.is_finished());
        drop(guard);
        let removal = removal.join().unwrap();
        assert!(started.elapsed() >= Duration::from_millis(300));
        assert_eq!(names(&removal.json()["removed"]), ["stale", "local"]);
    });
}

#[test]
fn a_lock_that_is_held_for_too_long_is_a_busy_server_that_changed_nothing() {
    let home = stale_home();
    let service = Service::start(&home);
    let _guard = disk::lock(&home.sandbox.shared()).unwrap();
    let before = home.sandbox.tree();
    let answer = service.ask("DELETE", "/plugins/retired").send();
    assert_eq!(answer.header("retry-after"), Some("1"));
    answer.expect_problem(503, "busy");
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn one_plugin_that_cannot_be_removed_does_not_stop_the_others() {
    let home = stale_home();
    // Its package path is shared with another plugin's: it must not be moved.
    let path = home.sandbox.shared().join("plugins/registry.json");
    let mut registry = home.registry();
    registry["plugins"]["twin"] = registry["plugins"]["stale"].clone();
    fs::write(&path, registry.to_string()).unwrap();
    let service = Service::start(&home);
    let removal = service
        .ask("DELETE", "/plugins/retired")
        .send()
        .expect(207)
        .json();
    assert_eq!(names(&removal["removed"]), ["local"]);
    assert_eq!(names(&removal["failed"]), ["stale", "twin"]);
    let problem = &removal["failed"][0]["problem"];
    assert_eq!(problem["status"], 500);
    let removal = service
        .ask("DELETE", "/plugins/retired/twin")
        .send()
        .expect(207)
        .json();
    assert_eq!(names(&removal["failed"]), ["twin"]);
}

#[test]
fn one_broken_store_does_not_hide_the_other() {
    let home = stale_home();
    home.sandbox
        .write(home.sandbox.workspace().join("plugins/registry.json"), "{");
    let service = Service::start(&home);
    let answer = service.get("/plugins/retired").expect(200);
    let document = answer.json();
    let [shared, workspace] = &document["stores"].as_array().unwrap()[..] else {
        panic!("{document}");
    };
    assert_eq!(names(&shared["plugins"]), ["stale"]);
    assert_eq!(shared.get("fault"), None);
    assert_eq!(
        workspace["fault"]["detail"],
        "the state on disk could not be read or changed"
    );
    service.log_with("a registry does not read as one");
    // The state has a name, which stays while it does.
    let etag = answer.header("etag").unwrap().to_owned();
    let again = service.get("/plugins/retired").expect(200);
    assert_eq!(again.header("etag"), Some(&*etag));
    let metrics = service.get("/metrics").expect(200).body;
    for line in [
        "vak_unreadable_stores{scope=\"user\"} 0\n",
        "vak_unreadable_stores{scope=\"workspace\"} 1\n",
        "vak_retired_plugins{scope=\"user\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
    assert!(!metrics.contains("vak_retired_plugins{scope=\"workspace\"}"));
    let page = service.get("/").expect(200).body;
    assert!(page.contains("This workspace’s store could not be looked at"));
    assert!(page.contains("1 plugin tells the model"));
    // Whether the broken one has such a plugin nobody knows, which is told.
    let kept = service.ask("DELETE", "/plugins/retired/stale?scope=workspace");
    let kept = kept.send().expect(207).json();
    assert_eq!(
        (&kept["removed"], &kept["failed"][0]["scope"]),
        (&json!([]), &json!("workspace"))
    );
    let removed = service.ask("DELETE", "/plugins/retired/stale");
    let removed = removed.header("If-Match", &etag).send().expect(207).json();
    assert_eq!(names(&removed["removed"]), ["stale"]);
    assert_eq!(removed["failed"][0].get("name"), None);
    let page = service.get("/").expect(200).body;
    assert!(!page.contains("All in order"), "{page}");
    let all = service
        .ask("DELETE", "/plugins/retired")
        .send()
        .expect(207)
        .json();
    assert_eq!(all["failed"].as_array().unwrap().len(), 1, "{all}");
    assert_eq!(all["failed"][0].get("name"), None);
}

#[test]
fn a_failure_of_the_server_hides_its_cause_and_logs_it_without_paths_or_content() {
    let home = stale_home();
    home.sandbox.write("home/.vak/config.toml", "secret = [");
    let service = Service::start(&home);
    let problem = service
        .get("/plugins/retired")
        .expect_problem(500, "internal");
    let id = problem["request_id"].as_str().unwrap();
    let text = problem.to_string();
    let log = service.log_with("a config has a fault in line 1");
    assert!(log.contains(id), "{log}");
    for place in [
        home.sandbox.path().to_str().unwrap(),
        "secret",
        &service.token,
    ] {
        assert!(
            !text.contains(place) && !log.contains(place),
            "{place}: {text}\n{log}"
        );
    }
    // The page says so where the plugins would be, and shows the rest.
    let page = service.get("/").expect(200).body;
    assert!(page.contains("The plugins could not be looked at") && page.contains("Use instead"));
}

#[test]
fn the_list_of_retired_tools_is_the_compiled_in_one() {
    let home = Home::new();
    let service = Service::start(&home);
    let document = service.get("/tools/retired").expect(200).json();
    let listed = document["tools"].as_array().unwrap().len();
    assert_eq!(listed, vak::tools::retired_tools().len());
    assert_eq!(
        document["tools"][0]["name"],
        vak::tools::retired_tools()[0].name
    );
}

#[test]
fn the_health_report_is_the_doctors() {
    let home = stale_home();
    let service = Service::start(&home);
    let document = service.get("/doctor").expect(200).json();
    let doctor = home
        .sandbox
        .vak(&["doctor", "--format", "json"])
        .expect(1)
        .json();
    assert_eq!(document["healthy"], false);
    let verdicts = |report: &Value| -> Vec<Value> {
        let checks = report["checks"].as_array().unwrap().iter();
        checks
            .map(|check| json!([check["id"], check["verdict"], check["summary"]]))
            .collect()
    };
    assert_eq!(verdicts(&document), verdicts(&doctor));
}

#[test]
fn the_metrics_count_what_is_there() {
    let home = stale_home();
    let service = Service::start(&home);
    let answer = service.get("/metrics").expect(200);
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    for line in [
        "vak_installed_plugins{scope=\"user\"} 2",
        "vak_retired_plugins{scope=\"user\"} 1",
        "vak_retired_plugins{scope=\"workspace\"} 1",
        "vak_findings{grade=\"instructs\"} 2",
        "vak_findings{grade=\"suspect\"} 2",
        "vak_quarantined_plugins{scope=\"user\"} 0",
    ] {
        assert!(
            answer.body.lines().any(|found| found == line),
            "{line}\n{}",
            answer.body
        );
    }
    assert!(answer.body.contains("\nvak_scan_duration_seconds 0."));
    service.ask("DELETE", "/plugins/retired").send().expect(200);
    let text = service.get("/metrics").body;
    assert!(
        text.contains("vak_quarantined_plugins{scope=\"user\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("vak_retired_plugins{scope=\"user\"} 0\n"),
        "{text}"
    );
}

#[test]
fn the_checked_in_description_of_the_api_is_current() {
    let home = Home::new();
    let service = Service::start(&home);
    let served = service.get("/openapi.json").expect(200).body;
    let checked_in = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json"));
    assert!(
        checked_in.is_ok_and(|text| text == served),
        "run `cargo run -- serve --print-openapi > docs/openapi.json`"
    );
}
