//! A running `vak serve` of a test's own, and a client that says exactly what a test tells it to.

use crate::plugin::Home;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A server in a home's sandbox; told to end when it is dropped.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    log: Arc<Mutex<String>>,
    log_reader: Option<JoinHandle<()>>,
}

/// A request, not yet sent.
#[derive(Clone)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Service {
    pub(crate) fn start(home: &Home) -> Service {
        Service::start_with(home, &[])
    }

    /// A server that a reverse proxy makes known by this URL.
    pub(crate) fn start_behind(home: &Home, public_url: &str) -> Service {
        Service::start_with(home, &["--public-url", public_url])
    }

    fn start_with(home: &Home, args: &[&str]) -> Service {
        let mut command = home.sandbox.command(&["serve", "--bind", "127.0.0.1:0"]);
        command.args(args);
        let (child, address, log, log_reader) = spawn(command);
        let token = home.sandbox.vak(&["serve", "--print-token"]).expect(0);
        Service {
            child,
            address,
            token: token.stdout.trim_end().to_owned(),
            log,
            log_reader: Some(log_reader),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A request with the token.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Request {
        let bearer = format!("Bearer {}", self.token);
        self.ask_as_nobody(method, path)
            .header("Authorization", &bearer)
    }

    /// A request without it.
    pub(crate) fn ask_as_nobody(&self, method: &str, path: &str) -> Request {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("Host".to_owned(), self.address.to_string())],
            body: None,
            address: self.address,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send()
    }

    /// The memory that the process has in use, in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, and tells how it ended and what it logged.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        self.log_reader.take().unwrap().join().unwrap();
        (status, self.log())
    }

    /// What it has logged so far.
    fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// What it has logged, once that holds `text`: an answer may be here before the log of it is.
    pub(crate) fn log_with(&self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(40);
        loop {
            let log = self.log();
            if log.contains(text) {
                return log;
            }
            assert!(Instant::now() < end, "no `{text}` in the log:\n{log}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(mut command: Command) -> (Child, SocketAddr, Arc<Mutex<String>>, JoinHandle<()>) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut url).unwrap();
    let log = Arc::new(Mutex::new(String::new()));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let kept = Arc::clone(&log);
    let reader = thread::spawn(move || {
        let mut line = String::new();
        while stderr.read_line(&mut line).is_ok_and(|read| read > 0) {
            kept.lock().unwrap().push_str(&std::mem::take(&mut line));
        }
    });
    let address = url
        .trim_end()
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix('/'))
        .unwrap_or_else(|| panic!("no URL: {url:?} {}", log.lock().unwrap()));
    let address = address.parse().unwrap();
    (child, address, log, reader)
}

impl Request {
    /// Adds a header, or replaces it.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Request {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a header, whether or not it is there already.
    pub(crate) fn second_header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Request {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn form(mut self, body: &str) -> Request {
        self.body = Some(body.to_owned());
        self.header("Content-Type", "application/x-www-form-urlencoded")
    }

    pub(crate) fn send(&self) -> Answer {
        let mut stream = connect(self.address);
        stream.write_all(self.text().as_bytes()).unwrap();
        Answer::read(&mut stream)
    }

    /// The request as it is sent.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{} {} HTTP/1.1\r\nConnection: close\r\n",
            self.method, self.path
        );
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = self.body.as_deref().unwrap_or_default();
        if self.body.is_some() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        format!("{text}\r\n{body}")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A connection that gives up after a while, so that a test that hangs fails.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    stream
}

impl Answer {
    /// Reads an answer to the end of the connection.
    pub(crate) fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {text:?}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        });
        Answer {
            status: status.parse().unwrap(),
            headers: headers.collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// The answer, provided it has this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("not JSON: {error}\n{}", self.body))
    }

    /// The answer's problem, provided it is one of this status and name.
    #[track_caller]
    pub(crate) fn expect_problem(self, status: u16, name: &str) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.expect(status).json();
        assert_eq!(problem["type"], format!("urn:vak:problem:{name}"));
        assert_eq!(problem["status"], status);
        problem
    }
}
