//! The page in a real browser: seen, used with the mouse and with the keyboard, and what it did on disk.
//!
//! Needs Chromium and its driver, so these tests run only when asked for:
//! `cargo test --test it -- --ignored server_page`. They leave pictures in `target/tmp/page`.

use crate::browser::Browser;
use crate::plugin::Home;
use crate::service::Service;
use crate::tree::Tree;
use fantoccini::key::Key;
use std::fs;
use std::path::Path;
use vak::plugin::InstallOptions;

const CONFIG: &str = "[plugins]\nnetwork_allow = [\"sqlite-notebook\", \"python-sandbox\"]\n";

/// A home in which the examples are installed, two of them stale, one of those in the workspace.
fn example_home() -> Home {
    let home = Home::new();
    for name in ["python-sandbox", "sqlite-notebook"] {
        home.install_enabled(&example(name));
    }
    let workspace = &home.stores()[1];
    let allowed = InstallOptions {
        allow_retired: true,
        ..InstallOptions::default()
    };
    workspace
        .install(
            &workspace.lock().unwrap(),
            &example("react-sandbox"),
            allowed,
        )
        .unwrap();
    home.sandbox.write("home/.vak/config.toml", CONFIG);
    home
}

fn example(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/plugins")
        .join(name)
}

/// A browser that a link has let in.
async fn signed_in(home: &Home, service: &Service) -> Browser {
    let browser = Browser::start().await;
    let address = service.address.to_string();
    let link = home
        .sandbox
        .vak(&["serve", "--bind", &address, "--print-link"])
        .expect(0)
        .stdout;
    browser.page.goto(link.trim_end()).await.unwrap();
    browser.find("#retired-heading").await;
    browser
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

fn packages(root: &Path) -> Tree {
    Tree::read(&root.join("plugins/packages"))
}

const NOTICE: &str = "#notice strong";
const REMOVE_PYTHON: &str = "[data-opens=remove-0]";
const PYTHON_DIALOG: &str = "#remove-0";

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_plugin_is_seen_removed_and_put_back() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let shared = home.sandbox.shared();
        let before = packages(&shared);
        let browser = signed_in(&home, &service).await;

        // See.
        let heading = browser.text("#retired-heading").await;
        assert_eq!(heading, "2 plugins tell the model to call a retired tool");
        let card = browser.text("article[aria-labelledby=plugin-0]").await;
        for seen in [
            "python_eval",
            "python_eval is gone since 3.0.21; use bash",
            "skills/python-sandbox/SKILL.md:3",
        ] {
            assert!(card.contains(seen), "{seen}: {card}");
        }
        assert_eq!(browser.text(".findings mark").await, "python_eval");
        browser.wait_for_text("[data-load]", "vak setup seed").await;

        // Remove, but think better of it.
        browser.click(REMOVE_PYTHON).await;
        let dialog = browser.text(PYTHON_DIALOG).await;
        let config = shared.join("config.toml");
        for taken in [
            "python-sandbox",
            "plugins/packages/python-sandbox",
            config.to_str().unwrap(),
            "line 2",
        ] {
            assert!(dialog.contains(taken), "{taken}: {dialog}");
        }
        assert!(!dialog.contains("react-sandbox"));
        browser
            .click(&format!("{PYTHON_DIALOG} [data-closes]"))
            .await;
        assert_eq!(packages(&shared), before);

        // Remove.
        browser.click(REMOVE_PYTHON).await;
        browser
            .click(&format!("{PYTHON_DIALOG} [data-method=DELETE]"))
            .await;
        browser
            .wait_for_text(NOTICE, "python-sandbox was removed")
            .await;
        assert_eq!(
            browser.text("#retired-heading").await,
            "1 plugin tells the model to call a retired tool"
        );
        assert_ne!(packages(&shared), before);
        assert_eq!(home.store().list().unwrap().len(), 1);
        assert_eq!(
            fs::read_to_string(&config).unwrap(),
            "[plugins]\nnetwork_allow = [\"sqlite-notebook\"]\n"
        );

        // Undo.
        let row = browser.text(".rows").await;
        assert!(
            row.contains("python-sandbox") && row.contains("called python_eval"),
            "{row}"
        );
        browser.click(".rows [data-method=POST]").await;
        browser
            .wait_for_text(NOTICE, "python-sandbox is back")
            .await;
        assert_eq!(
            browser.text("#retired-heading").await,
            "2 plugins tell the model to call a retired tool"
        );
        assert_eq!(packages(&shared), before);
        assert_eq!(fs::read_to_string(&config).unwrap(), CONFIG);
        assert_eq!(browser.complaints().await, Vec::<String>::new());
    });
}

/// The values of an attribute, in the order in which they stand in a document.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    html.split(&format!(" {attribute}=\""))
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Needs no browser, unlike the others.
#[test]
fn whatever_plugins_are_called_every_reference_leads_to_one_element() {
    let home = Home::new();
    for name in ["x", "x-heading", "y", "all"] {
        home.install_enabled(&home.package_saying(name, "1.0.0", "Call `python_eval`."));
    }
    // What no install lets in, somebody may have written.
    let registry = home.sandbox.shared().join("plugins/registry.json");
    let text = fs::read_to_string(&registry).unwrap();
    fs::write(&registry, text.replace("\"y\"", "\"y z\"")).unwrap();
    let service = Service::start(&home);
    let page = service.get("/").expect(200).body;
    let ids = values(&page, "id");
    assert!(values(&page, "data-opens").len() > 4, "{page}");
    for attribute in ["data-opens", "aria-labelledby"] {
        for value in values(&page, attribute) {
            let found = ids.iter().filter(|id| **id == value).count();
            assert_eq!(found, 1, "{attribute}={value}");
        }
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn all_are_removed_with_the_keyboard_alone() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let browser = signed_in(&home, &service).await;
        let opener = "document.activeElement.dataset.opens";
        let mut pressed = 0;
        while browser
            .run(&format!("return {opener} === 'remove-all'"))
            .await
            != true
        {
            browser.press(&Key::Tab.to_string()).await;
            pressed += 1;
            assert!(pressed < 20, "the button cannot be reached");
        }
        // The dialog keeps the focus, begins at the choice that changes nothing, and Escape leaves it.
        browser.press(&Key::Enter.to_string()).await;
        let focus = browser
            .run("return document.activeElement.textContent")
            .await;
        assert_eq!(focus, "Cancel");
        for _ in 0..5 {
            browser.press(&Key::Tab.to_string()).await;
            let inside = browser.run("const at = document.activeElement; return at === document.body || !!at.closest('dialog')").await;
            assert_eq!(inside, true);
        }
        browser.press(&Key::Escape.to_string()).await;
        assert_eq!(browser.run(&format!("return {opener}")).await, "remove-all");
        assert_eq!(browser.count("dialog[open]").await, 0);

        browser.press(&Key::Enter.to_string()).await;
        let listed = browser.text("#remove-all").await;
        assert!(
            listed.contains("python-sandbox") && listed.contains("react-sandbox"),
            "{listed}"
        );
        browser.press(&Key::Tab.to_string()).await;
        browser.press(&Key::Enter.to_string()).await;
        browser
            .wait_for_text(NOTICE, "2 plugins were removed")
            .await;
        // The focus is where the news is, and a screen reader is told.
        assert_eq!(
            browser.run("return document.activeElement.id").await,
            "notice"
        );
        let notice = browser.find("#notice").await;
        assert_eq!(
            notice.attr("role").await.unwrap().as_deref(),
            Some("status")
        );
        assert_eq!(
            browser.text("#retired-heading").await,
            "No plugin calls a retired tool"
        );
        for store in home.stores() {
            assert!(store.retired_plugins().unwrap().is_empty());
        }
    });
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn what_has_changed_meanwhile_is_shown_and_not_removed() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let browser = signed_in(&home, &service).await;
        browser.click(REMOVE_PYTHON).await;
        // Another plugin comes before the answer: the dialog no longer says everything.
        let text = "Then call `python_eval` with the code.";
        home.install_enabled(&home.package_saying("late", "1.0.0", text));
        browser
            .click(&format!("{PYTHON_DIALOG} [data-method=DELETE]"))
            .await;
        browser.wait_for_text(NOTICE, "Nothing was changed").await;
        assert_eq!(
            browser.text("#retired-heading").await,
            "3 plugins tell the model to call a retired tool"
        );
        assert_eq!(home.store().list().unwrap().len(), 3);
        // Seen again, it can be removed. It is the second one now.
        browser.click("[data-opens=remove-1]").await;
        browser.click("#remove-1 [data-method=DELETE]").await;
        browser
            .wait_for_text(NOTICE, "python-sandbox was removed")
            .await;
        assert_eq!(home.store().list().unwrap().len(), 2);
    });
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn failures_are_told_in_words_and_leave_the_page_usable() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let browser = signed_in(&home, &service).await;
        browser.wait_for_text("[data-load]", "vak setup seed").await;
        let config = home.sandbox.shared().join("config.toml");
        fs::write(&config, "[").unwrap();
        browser.click(REMOVE_PYTHON).await;
        browser
            .click(&format!("{PYTHON_DIALOG} [data-method=DELETE]"))
            .await;
        browser
            .wait_for_text(NOTICE, "The server could not do its work")
            .await;
        browser
            .wait_for_text("main", "The plugins could not be looked at")
            .await;
        browser.show(1000, "light").await;
        browser.keep_picture("error-light", true).await;
        fs::write(&config, CONFIG).unwrap();
        // A broken store hides no other.
        let registry = home.sandbox.workspace().join("plugins/registry.json");
        fs::write(&registry, "{").unwrap();
        browser.page.refresh().await.unwrap();
        browser
            .wait_for_text("main", "This workspace’s store could not be looked at")
            .await;
        browser.keep_picture("broken-store-light", true).await;
        browser.find(REMOVE_PYTHON).await;

        drop(service);
        browser.click(REMOVE_PYTHON).await;
        browser
            .click(&format!("{PYTHON_DIALOG} [data-method=DELETE]"))
            .await;
        browser
            .wait_for_text(NOTICE, "The server does not answer")
            .await;
        assert_eq!(browser.count(REMOVE_PYTHON).await, 1);
    });
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn what_the_script_does_is_not_offered_without_it() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let page = service.get("/").expect(200).body;
        assert!(!page.contains(" aria-busy=") && !page.contains("\"scripted\""));
        let browser = signed_in(&home, &service).await;
        browser.wait_for_text("[data-load]", "vak setup seed").await;
        let shown = "return [...document.querySelectorAll('[data-opens], [data-method]')]\
                     .filter((button) => button.checkVisibility()).length";
        assert!(browser.run(shown).await.as_u64().unwrap() > 2);
        // A button at work is as easy to read as one that is not.
        let opacity = "const button = document.querySelector('[data-method]');\
                       button.setAttribute('aria-busy', 'true');\
                       return getComputedStyle(button).opacity";
        assert_eq!(browser.run(opacity).await, "1");
        browser
            .run("document.body.classList.remove('scripted')")
            .await;
        assert_eq!(browser.run(shown).await, 0);
    });
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_browser_signs_in_with_the_token_and_out_again() {
    run(async {
        let home = Home::new();
        let service = Service::start(&home);
        let browser = Browser::start().await;
        browser.show(1000, "light").await;
        browser.page.goto(&service.url()).await.unwrap();
        browser.keep_picture("sign-in-light", false).await;
        let field = browser.find("#token").await;
        field.send_keys("wrong").await.unwrap();
        browser.click("form button").await;
        browser
            .wait_for_text("[role=alert]", "That is not the token")
            .await;
        browser
            .find("#token")
            .await
            .send_keys(&service.token)
            .await
            .unwrap();
        browser.click("form button").await;
        browser
            .wait_for_text("#retired-heading", "No plugin calls a retired tool")
            .await;
        browser
            .wait_for_text("main", "No plugin is installed here")
            .await;
        browser
            .wait_for_text("main", "Nothing has been taken away")
            .await;
        assert_eq!(browser.run("return document.cookie").await, "");
        browser.click("[data-url='/sign-out']").await;
        browser.find("#token").await;
        browser.page.goto(&service.url()).await.unwrap();
        browser.find("#token").await;
    });
}

/// Text that could be markup is text, wherever it comes from.
#[test]
#[ignore = "needs chromium and chromedriver"]
fn nothing_that_a_plugin_says_becomes_part_of_the_page() {
    run(async {
        let home = Home::new();
        let text = "<img src=x onerror=\"document.title='owned'\"> <b>call</b> `python_eval` </pre></main><script>document.title='owned'</script>";
        home.install_enabled(&home.package_saying("hostile", "1.0.0", text));
        let service = Service::start(&home);
        let browser = signed_in(&home, &service).await;
        browser.find("[data-load][aria-busy=false]").await;
        let excerpt = browser.text(".excerpt").await;
        assert!(excerpt.starts_with("<img src=x onerror"), "{excerpt}");
        assert_eq!(browser.page.title().await.unwrap(), "vak: retired tools");
        assert_eq!(browser.count("main img, main b, main script").await, 0);
        assert_eq!(browser.complaints().await, Vec::<String>::new());
    });
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn it_is_readable_in_every_width_and_colour_scheme() {
    run(async {
        let home = example_home();
        let service = Service::start(&home);
        let browser = signed_in(&home, &service).await;
        for (width, scheme, name) in [
            (1000, "light", "light"),
            (1000, "dark", "dark"),
            (360, "light", "phone"),
        ] {
            browser.show(width, scheme).await;
            browser.page.goto(&service.url()).await.unwrap();
            browser.find("[data-load][aria-busy=false]").await;
            // Nothing makes the page wider than the window.
            let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.run(overflow).await, 0, "{name}");
            browser.keep_picture(name, true).await;
            browser.click(REMOVE_PYTHON).await;
            browser.keep_picture(&format!("{name}-dialog"), false).await;
            browser.press(&Key::Escape.to_string()).await;
        }
        browser.click(REMOVE_PYTHON).await;
        browser
            .click(&format!("{PYTHON_DIALOG} [data-method=DELETE]"))
            .await;
        browser.wait_for_text(NOTICE, "was removed").await;
        browser.find("[data-load][aria-busy=false]").await;
        browser.keep_picture("phone-after", true).await;
        browser.show(1000, "dark").await;
        browser.keep_picture("dark-after", true).await;
    });
}
