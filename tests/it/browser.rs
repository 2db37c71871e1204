//! A headless Chromium of a test's own, led through its WebDriver.

use fantoccini::elements::Element;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A browser; ended when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    pub(crate) page: Client,
    _profile: TempDir,
}

impl Browser {
    pub(crate) async fn start() -> Browser {
        let (driver, port) = start_driver();
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--lang=en-GB",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let mut capabilities = Capabilities::new();
        let options = json!({"args": arguments});
        capabilities.insert("goog:chromeOptions".to_owned(), options);
        let logs = json!({"browser": "ALL"});
        capabilities.insert("goog:loggingPrefs".to_owned(), logs);
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .unwrap();
        Browser {
            driver,
            page,
            _profile: profile,
        }
    }

    /// The element that a CSS selector finds, once it is there.
    pub(crate) async fn find(&self, selector: &str) -> Element {
        self.page
            .wait()
            .at_most(Duration::from_secs(20))
            .for_element(Locator::Css(selector))
            .await
            .unwrap_or_else(|error| panic!("{selector}: {error}"))
    }

    pub(crate) async fn count(&self, selector: &str) -> usize {
        self.page
            .find_all(Locator::Css(selector))
            .await
            .unwrap()
            .len()
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.find(selector).await.click().await.unwrap();
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        self.find(selector).await.text().await.unwrap()
    }

    /// Waits until an element's text contains `expected`.
    pub(crate) async fn wait_for_text(&self, selector: &str, expected: &str) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            // It may be replaced while it is looked at.
            let text = match self.page.find(Locator::Css(selector)).await {
                Ok(element) => element.text().await.unwrap_or_default(),
                Err(_) => String::new(),
            };
            if text.contains(expected) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{selector}: {text:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Presses keys, wherever the focus is.
    pub(crate) async fn press(&self, keys: &str) {
        let element = self.page.active_element().await.unwrap();
        element.send_keys(keys).await.unwrap();
    }

    pub(crate) async fn run(&self, script: &str) -> Value {
        self.page.execute(script, Vec::new()).await.unwrap()
    }

    /// Shows pages of this width in this colour scheme.
    pub(crate) async fn show(&self, width: u32, scheme: &str) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}),
        )
        .await;
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}))
            .await;
    }

    /// Keeps a picture of the whole page, or of what the window shows, as build output.
    pub(crate) async fn keep_picture(&self, name: &str, whole: bool) {
        use base64::Engine as _;
        let options = json!({"format": "png", "captureBeyondViewport": whole});
        let picture = self.devtools("Page.captureScreenshot", options).await;
        let data = picture["data"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap();
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{name}.png")), bytes).unwrap();
    }

    /// What the browser complained of since this was last asked: refused scripts and styles, failed requests.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log = self.page.issue_cmd(BrowserLog).await.unwrap();
        let entries = log.as_array().unwrap().iter();
        entries
            .map(|entry| entry["message"].as_str().unwrap().to_owned())
            .collect()
    }

    async fn devtools(&self, method: &'static str, parameters: Value) -> Value {
        let command = DevTools { method, parameters };
        self.page.issue_cmd(command).await.unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser is in the driver's group; the driver alone would leave it behind.
        let group = rustix::process::Pid::from_child(&self.driver);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.driver.wait();
    }
}

fn start_driver() -> (Child, u16) {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test needs `chromedriver` and `chromium` (Debian: `apt-get install chromium chromium-driver`)");
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            line.split_once("successfully on port ")
                .map(|(_, rest)| rest.to_owned())
        })
        .expect("chromedriver says its port");
    // What it says later must not fill the pipe.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    (driver, port.trim_end_matches('.').parse().unwrap())
}

/// A command of the browser's own protocol.
#[derive(Debug)]
struct DevTools {
    method: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.unwrap_or_default()
        ))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({"cmd": self.method, "params": self.parameters});
        (http::Method::POST, Some(body.to_string()))
    }
}

/// The browser's console.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({"type": "browser"}).to_string()),
        )
    }
}
