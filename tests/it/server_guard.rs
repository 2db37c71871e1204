//! Who gets in and who does not: tokens, hosts, origins, sessions, and what goes out with every answer.

use crate::plugin::Home;
use crate::server_api::stale_home;
use crate::service::{Answer, Request, Service};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

/// Every route that needs the token, with its method.
const CLOSED: [(&str, &str); 14] = [
    ("GET", "/plugins/retired"),
    ("DELETE", "/plugins/retired"),
    ("DELETE", "/plugins/retired/stale"),
    ("GET", "/plugins/quarantine"),
    ("POST", "/plugins/quarantine/stale-1/restore"),
    ("GET", "/tools/retired"),
    ("GET", "/doctor"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/page.js"),
    ("GET", "/page/health"),
    ("POST", "/sign-out"),
    ("GET", "/no/such/route"),
    ("PUT", "/plugins/retired"),
];

#[test]
fn without_the_token_no_route_answers_and_nothing_changes() {
    let home = stale_home();
    let service = Service::start(&home);
    let before = home.sandbox.tree();
    let token = &service.token;
    let last = token.chars().last().unwrap();
    let other = if last == 'A' { 'B' } else { 'A' };
    let almost = format!("{}{other}", &token[..token.len() - 1]);
    let wrong = [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {almost}"),
        format!("Bearer {token}A"),
        format!("Bearer {}", &token[..42]),
        format!("Bearer  {token}"),
        format!("Bearer {}", token.to_uppercase()),
        format!("Basic {token}"),
        format!("Bearer\u{e9} {token}"),
        token.clone(),
    ];
    for (method, path) in CLOSED {
        let ask = service.ask_as_nobody(method, path);
        let answer = ask.send();
        assert_eq!(
            answer.header("www-authenticate"),
            Some("Bearer realm=\"vak\"")
        );
        answer.expect_problem(401, "unauthorized");
        for header in &wrong {
            let ask = ask.clone().header("Authorization", header);
            ask.send().expect_problem(401, "unauthorized");
        }
        let twice = service
            .ask(method, path)
            .second_header("Authorization", "Bearer x");
        twice.send().expect_problem(401, "unauthorized");
    }
    assert_eq!(home.sandbox.tree(), before);
}

#[test]
fn with_the_token_unknown_routes_and_methods_are_told_apart() {
    let home = Home::new();
    let service = Service::start(&home);
    service
        .get("/no/such/route")
        .expect_problem(404, "not-found");
    for method in ["PUT", "POST", "PATCH", "TRACE", "OPTIONS", "BREW"] {
        let answer = service.ask(method, "/plugins/retired").send();
        assert!(
            answer.header("allow").unwrap().contains("DELETE"),
            "{method}"
        );
        answer.expect_problem(405, "method-not-allowed");
    }
}

#[test]
fn the_token_file_is_its_owners_alone_and_is_made_once() {
    let home = Home::new();
    let first = home
        .sandbox
        .vak(&["serve", "--print-token"])
        .expect(0)
        .stdout;
    let path = home.sandbox.shared().join("server.token");
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    // 256 bits in Base64.
    assert_eq!(first.trim_end().len(), 43);
    let second = home
        .sandbox
        .vak(&["serve", "--print-token"])
        .expect(0)
        .stdout;
    assert_eq!(first, second);
    let elsewhere = Home::new()
        .sandbox
        .vak(&["serve", "--print-token"])
        .expect(0)
        .stdout;
    assert_ne!(first, elsewhere);
}

#[test]
fn a_token_file_that_others_can_read_or_that_holds_none_is_refused() {
    let home = Home::new();
    home.sandbox.vak(&["serve", "--print-token"]).expect(0);
    let path = home.sandbox.shared().join("server.token");
    let refused = |why: &str| {
        let run = home
            .sandbox
            .vak(&["serve", "--bind", "127.0.0.1:0"])
            .expect(2);
        assert!(
            run.stderr.contains(why) && run.stderr.contains("hint: delete"),
            "{}",
            run.stderr
        );
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    refused("has the mode 0640");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    for text in ["", "secret\n", "\u{e9}\u{e9}", &"A".repeat(44)] {
        fs::write(&path, text).unwrap();
        refused("holds no token");
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    let run = home.sandbox.vak(&["serve", "--print-token"]).expect(2);
    assert!(
        run.stderr.contains("is not a regular file"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_deleted_token_is_replaced_and_the_old_one_gets_nobody_in() {
    let home = Home::new();
    let service = Service::start(&home);
    let session = sign_in(&service);
    service.get("/doctor").expect(200);
    fs::remove_file(home.sandbox.shared().join("server.token")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while service.get("/doctor").status == 200 {
        assert!(Instant::now() < deadline, "the old token is still good");
        thread::sleep(Duration::from_millis(100));
    }
    service.get("/doctor").expect_problem(401, "unauthorized");
    session.ask(&service, "GET", "/doctor").send().expect(401);
    let renewed = home
        .sandbox
        .vak(&["serve", "--print-token"])
        .expect(0)
        .stdout;
    assert_ne!(renewed.trim_end(), service.token);
    let bearer = format!("Bearer {}", renewed.trim_end());
    service
        .ask_as_nobody("GET", "/doctor")
        .header("Authorization", &bearer)
        .send()
        .expect(200);
}

#[test]
fn a_request_for_another_host_is_refused_even_with_the_token() {
    let home = stale_home();
    let service = Service::start(&home);
    let port = service.address.port();
    let ask = service.ask("DELETE", "/plugins/retired");
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.1@evil.example:{port}"),
        format!("192.0.2.1:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        String::new(),
        "[::1".to_owned(),
    ] {
        ask.clone()
            .header("Host", &host)
            .send()
            .expect_problem(421, "foreign-host");
    }
    let twice = ask.clone().second_header("Host", "evil.example");
    twice.send().expect_problem(421, "foreign-host");
    ask.clone()
        .without("Host")
        .send()
        .expect_problem(421, "foreign-host");
    let absolute = service.ask("GET", "http://evil.example/healthz");
    absolute.send().expect_problem(421, "foreign-host");
    let open = service.ask_as_nobody("GET", "/healthz");
    open.header("Host", "evil.example")
        .send()
        .expect_problem(421, "foreign-host");
    for host in [
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
        format!("127.0.0.2:{port}"),
    ] {
        service
            .ask("GET", "/doctor")
            .header("Host", &host)
            .send()
            .expect(200);
    }
}

#[test]
fn a_request_from_another_origin_is_refused_even_with_the_token() {
    let home = stale_home();
    let service = Service::start(&home);
    let own = service.url();
    let port = service.address.port();
    let before = home.sandbox.tree();
    for (method, path) in [
        ("DELETE", "/plugins/retired"),
        ("GET", "/plugins/retired"),
        ("OPTIONS", "/plugins/retired"),
    ] {
        let ask = service.ask(method, path);
        for origin in [
            "http://evil.example",
            "null",
            "",
            "https://127.0.0.1",
            &format!("http://localhost:{port}"),
            &format!("{own}.evil.example"),
        ] {
            let answer = ask.clone().header("Origin", origin).send();
            assert_eq!(answer.header("access-control-allow-origin"), None);
            answer.expect_problem(403, "foreign-origin");
        }
        for site in ["cross-site", "same-site"] {
            ask.clone()
                .header("Sec-Fetch-Site", site)
                .send()
                .expect_problem(403, "foreign-origin");
        }
    }
    assert_eq!(home.sandbox.tree(), before);
    let ask = service
        .ask("GET", "/plugins/retired")
        .header("Origin", &own);
    ask.header("Sec-Fetch-Site", "same-origin")
        .send()
        .expect(200);
}

#[test]
fn a_public_url_lets_its_host_and_origin_in_and_no_other() {
    let home = Home::new();
    let public = "https://vak.example:8443/";
    let service = Service::start_behind(&home, public);
    let ask = service.ask("GET", "/doctor");
    let proxied = ask.clone().header("Host", "vak.example:8443");
    proxied
        .clone()
        .header("Origin", "https://vak.example:8443")
        .send()
        .expect(200);
    // A proxy that does not pass the host on.
    ask.clone()
        .header("Origin", "https://vak.example:8443")
        .send()
        .expect(200);
    proxied
        .header("Origin", "http://vak.example:8443")
        .send()
        .expect(403);
    ask.header("Host", "vak.example").send().expect(421);
    let form = service
        .ask_as_nobody("POST", "/sign-in")
        .form(&format!("token={}", service.token));
    assert!(
        form.send()
            .header("set-cookie")
            .unwrap()
            .ends_with("; Secure")
    );
    for bad in [
        "vak.example",
        "https://vak.example/path",
        "ftp://vak.example",
        "https://me@vak.example",
        "",
    ] {
        home.sandbox.vak(&["serve", "--public-url", bad]).expect(2);
    }
}

#[test]
fn a_public_url_is_the_same_with_and_without_the_port_that_its_scheme_implies() {
    for (public, port) in [
        ("https://vak.example", ":443"),
        ("http://vak.example", ":80"),
    ] {
        let with_port = format!("{public}{port}");
        for given in [public, &with_port] {
            let home = Home::new();
            let service = Service::start_behind(&home, given);
            for host in ["vak.example".to_owned(), format!("vak.example{port}")] {
                let ask = service.ask("GET", "/doctor").header("Host", &host);
                ask.header("Origin", public).send().expect(200);
            }
            let other = service
                .ask("GET", "/doctor")
                .header("Host", "vak.example:8443");
            other.send().expect(421);
        }
    }
}

#[test]
fn an_address_that_others_can_reach_has_to_be_allowed() {
    let home = Home::new();
    let run = home
        .sandbox
        .vak(&["serve", "--bind", "0.0.0.0:0"])
        .expect(2);
    assert!(
        run.stderr
            .contains("`0.0.0.0:0` can be reached from other machines")
    );
    assert!(
        run.stderr.contains("hint: with `--allow-remote`"),
        "{}",
        run.stderr
    );
    assert!(!home.sandbox.shared().exists());
}

#[test]
fn a_taken_address_is_an_error_that_names_it() {
    let home = Home::new();
    let service = Service::start(&home);
    let run = home
        .sandbox
        .vak(&["serve", "--bind", &service.address.to_string()])
        .expect(2);
    assert!(
        run.stderr
            .contains(&format!("failed to listen on `{}`", service.address))
    );
}

/// A browser that is signed in.
struct Session {
    cookie: String,
    csrf: String,
}

impl Session {
    /// Takes the session from the answer that set it.
    #[track_caller]
    fn of(service: &Service, answer: &Answer) -> Session {
        let header = answer.header("set-cookie").expect("a cookie");
        let (cookie, attributes) = header.split_once(';').unwrap();
        assert_eq!(
            attributes,
            " Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"
        );
        let mut session = Session {
            cookie: cookie.to_owned(),
            csrf: String::new(),
        };
        let page = session.ask(service, "GET", "/").send().expect(200).body;
        let (_, rest) = page.split_once("data-csrf=\"").unwrap();
        rest.split_once('"')
            .unwrap()
            .0
            .clone_into(&mut session.csrf);
        session
    }

    fn ask(&self, service: &Service, method: &str, path: &str) -> Request {
        service
            .ask_as_nobody(method, path)
            .header("Cookie", &format!("a=b; {}", self.cookie))
    }
}

fn sign_in(service: &Service) -> Session {
    let form = format!("token={}", service.token);
    let answer = service
        .ask_as_nobody("POST", "/sign-in")
        .form(&form)
        .send()
        .expect(303);
    assert_eq!(answer.header("location"), Some("/"));
    Session::of(service, &answer)
}

#[test]
fn a_link_lets_one_browser_in_once() {
    let home = Home::new();
    let service = Service::start(&home);
    let address = service.address.to_string();
    let run = home
        .sandbox
        .vak(&["serve", "--bind", &address, "--print-link"])
        .expect(0);
    let path = run
        .stdout
        .trim_end()
        .strip_prefix(&service.url())
        .unwrap()
        .to_owned();
    let visit = |path: &str| service.ask_as_nobody("GET", path).send();
    // A look at it does not use it up.
    let look = service.ask_as_nobody("HEAD", &path).send().expect(405);
    assert_eq!(look.header("allow"), Some("GET"));
    assert_eq!(look.header("set-cookie"), None);
    let session = Session::of(&service, &visit(&path).expect(200));
    session.ask(&service, "GET", "/doctor").send().expect(200);
    let again = visit(&path).expect(401);
    assert_eq!(again.header("set-cookie"), None);
    assert!(again.body.contains("This link was used before"));
    for key in [
        "",
        "1",
        "9999999999.AAAAAAAAAAAAAAAAAAAAAA.AAAA",
        &session.csrf,
        &session.cookie,
    ] {
        visit(&format!("/enter?key={key}")).expect(401);
    }
    visit("/enter").expect(401);
}

#[test]
fn a_link_from_before_the_server_started_lets_nobody_in() {
    let home = Home::new();
    let run = home
        .sandbox
        .vak(&["serve", "--bind", "127.0.0.1:1", "--print-link"])
        .expect(0);
    let path = run
        .stdout
        .trim_end()
        .strip_prefix("http://127.0.0.1:1")
        .unwrap()
        .to_owned();
    thread::sleep(Duration::from_millis(1100));
    let service = Service::start(&home);
    service.ask_as_nobody("GET", &path).send().expect(401);
}

#[test]
fn the_page_asks_who_is_there_and_the_token_is_an_answer() {
    let home = Home::new();
    let service = Service::start(&home);
    let page = service.ask_as_nobody("GET", "/").send().expect(401);
    assert!(page.body.contains("Sign in") && !page.body.contains("data-csrf"));
    assert_eq!(
        page.header("www-authenticate"),
        Some("Bearer realm=\"vak\"")
    );
    for form in [
        "token=",
        "token=wrong",
        &format!("token={}x", service.token),
    ] {
        let answer = service
            .ask_as_nobody("POST", "/sign-in")
            .form(form)
            .send()
            .expect(401);
        assert_eq!(answer.header("set-cookie"), None);
    }
    for form in ["", "other=1"] {
        let answer = service.ask_as_nobody("POST", "/sign-in").form(form).send();
        answer.expect_problem(400, "bad-request");
    }
    let session = sign_in(&service);
    session
        .ask(&service, "GET", "/plugins/retired")
        .send()
        .expect(200);
    let out = session
        .ask(&service, "POST", "/sign-out")
        .header("X-Vak-CSRF", &session.csrf);
    let header = out
        .send()
        .expect(200)
        .header("set-cookie")
        .unwrap()
        .to_owned();
    assert!(header.contains("=; Path=/; Max-Age=0;"), "{header}");
}

#[test]
fn a_proxys_own_sign_in_is_not_for_this_server() {
    let home = Home::new();
    let service = Service::start(&home);
    let session = sign_in(&service);
    let ask = || session.ask(&service, "GET", "/plugins/retired");
    for proxys in [
        "Basic dXNlcjpwYXNz",
        "Digest username=\"user\"",
        "Bearer",
        "",
    ] {
        ask().header("Authorization", proxys).send().expect(200);
        let nobody = service.ask_as_nobody("GET", "/plugins/retired");
        let nobody = nobody.header("Authorization", proxys).send();
        nobody.expect_problem(401, "unauthorized");
    }
    // A wrong token is one, whatever comes with it.
    let wrong = ask().header("Authorization", "Bearer wrong");
    wrong.send().expect_problem(401, "unauthorized");
    let basic = ask().header("Authorization", "Basic dXNlcjpwYXNz");
    let wrong = basic.clone().second_header("Authorization", "Bearer wrong");
    wrong.send().expect_problem(401, "unauthorized");
    let token = format!("Bearer {}", service.token);
    let right = basic.second_header("Authorization", &token);
    right.send().expect(200);
}

#[test]
fn a_link_needs_to_know_the_port() {
    let home = Home::new();
    let link = ["serve", "--print-link", "--bind", "127.0.0.1:0"];
    let run = home.sandbox.vak(&link).expect(2);
    assert!(run.stdout.is_empty() && run.stderr.contains("a link needs the port"));
    let public = [&link[..], &["--public-url", "https://vak.example"]].concat();
    let run = home.sandbox.vak(&public).expect(0);
    assert!(run.stdout.starts_with("https://vak.example/enter?key="));
}

#[test]
fn a_change_with_the_cookie_needs_the_csrf_token_of_that_session() {
    let home = stale_home();
    let service = Service::start(&home);
    let (session, other) = (sign_in(&service), sign_in(&service));
    let before = home.sandbox.tree();
    for (method, path) in CLOSED.into_iter().filter(|(method, _)| *method != "GET") {
        let ask = session.ask(&service, method, path);
        ask.send().expect_problem(403, "missing-csrf");
        for csrf in ["", "x", &other.csrf, &session.cookie, &service.token] {
            ask.clone()
                .header("X-Vak-CSRF", csrf)
                .send()
                .expect_problem(403, "missing-csrf");
        }
    }
    assert_eq!(home.sandbox.tree(), before);
    let remove = session.ask(&service, "DELETE", "/plugins/retired");
    let removal = remove
        .header("X-Vak-CSRF", &session.csrf)
        .send()
        .expect(200)
        .json();
    assert_eq!(removal["removed"].as_array().unwrap().len(), 2);
}

#[test]
fn a_forged_or_altered_session_is_none() {
    let home = Home::new();
    let service = Service::start(&home);
    let session = sign_in(&service);
    let (name, value) = session.cookie.split_once('=').unwrap();
    let (claim, tag) = value.rsplit_once('.').unwrap();
    let (expiry, nonce) = claim.split_once('.').unwrap();
    let later: u64 = expiry.parse::<u64>().unwrap() + 1;
    for forged in [
        String::new(),
        format!("{later}.{nonce}.{tag}"),
        format!("{claim}."),
        format!("{claim}.{tag}A"),
        claim.to_owned(),
        format!("{claim}.{}", session.csrf),
        service.token.clone(),
    ] {
        let ask = service
            .ask_as_nobody("GET", "/doctor")
            .header("Cookie", &format!("{name}={forged}"));
        ask.send().expect_problem(401, "unauthorized");
    }
    // A wrong token is not made good by a cookie.
    let ask = session
        .ask(&service, "GET", "/doctor")
        .header("Authorization", "Bearer wrong");
    ask.send().expect_problem(401, "unauthorized");
}

#[test]
fn every_answer_keeps_the_browser_from_doing_more_than_the_page_needs() {
    let home = Home::new();
    let service = Service::start(&home);
    for answer in [
        service.get("/"),
        service.get("/healthz"),
        service.get("/plugins/retired"),
        service.get("/no/such/route"),
        service.ask_as_nobody("GET", "/").send(),
        service
            .ask("GET", "/")
            .header("Host", "evil.example")
            .send(),
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'sha256-"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
    }
}
