//! Clients that are slow, rude, or many, and the end of the server.

use crate::plugin::Home;
use crate::server_api::stale_home;
use crate::service::{Answer, Service, connect};
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use vak::disk;

/// Longer than the server waits for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// What comes back for these bytes, as far as the server goes on with them.
fn exchange(service: &Service, bytes: &[u8]) -> String {
    let mut stream = connect(service.address);
    // The server may refuse before it has read all of it.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn a_slow_client_is_cut_off_and_keeps_nobody_waiting() {
    let home = Home::new();
    let service = Service::start(&home);
    let started = Instant::now();
    let mut slow: Vec<TcpStream> = (0..100).map(|_| connect(service.address)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    }
    let mut silent = connect(service.address);
    service.get("/healthz").expect(200);
    assert!(started.elapsed() < Duration::from_secs(5));
    // A byte now and then does not buy more time.
    let dripping = slow[0].try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || drip(dripping));
        for stream in slow.iter_mut().chain([&mut silent]) {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            assert!(!rest.starts_with(b"HTTP/1.1 2"));
        }
        assert!(started.elapsed() < HEAD_TIME);
    });
}

fn drip(mut stream: TcpStream) {
    for _ in 0..40 {
        if stream.write_all(b"x").is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(500));
    }
    panic!("a dripping client was served for 20 s");
}

#[test]
fn oversized_heads_are_refused_without_being_kept() {
    let home = Home::new();
    let service = Service::start(&home);
    service.get("/healthz").expect(200);
    let before = service.resident();
    let huge = "x".repeat(1 << 20);
    for head in [
        format!(
            "GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Huge: {huge}\r\n\r\n",
            service.address
        ),
        format!("GET /{huge} HTTP/1.1\r\nHost: {}\r\n\r\n", service.address),
        format!(
            "GET /healthz HTTP/1.1\r\n{}\r\n",
            "X-Many: 1\r\n".repeat(10_000)
        ),
        format!("{huge}{huge}"),
    ] {
        for _ in 0..20 {
            let answer = exchange(&service, head.as_bytes());
            assert!(
                ["400", "414", "431", ""].contains(&status(&answer)),
                "{answer}"
            );
        }
    }
    let grown = service.resident().saturating_sub(before);
    assert!(grown < 16 << 10, "grew by {grown} KiB");
    service.get("/healthz").expect(200);
}

#[test]
fn oversized_bodies_are_refused_whether_or_not_they_say_so() {
    let home = Home::new();
    let service = Service::start(&home);
    let form = format!("token={}", "x".repeat(100_000));
    let answer = service.ask_as_nobody("POST", "/sign-in").form(&form).send();
    answer.expect_problem(413, "too-large");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000)).repeat(100);
    let chunked = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n",
        service.address
    );
    assert_eq!(status(&exchange(&service, chunked.as_bytes())), "413");
    service.get("/healthz").expect(200);
}

#[test]
fn what_is_no_http_is_refused() {
    let home = Home::new();
    let service = Service::start(&home);
    let host = format!("Host: {}\r\n", service.address);
    let cases: [Vec<u8>; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"\xff\xfe\xfd\r\n\r\n".to_vec(),
        [
            b"GET /plugins/retired/\xff\xfe HTTP/1.1\r\n",
            host.as_bytes(),
            b"\r\n",
        ]
        .concat(),
        [b"GET / HTTP/1.1\r\nA\x00B: 1\r\n", host.as_bytes(), b"\r\n"].concat(),
        [b"GET / HTTP/9.9\r\n", host.as_bytes(), b"\r\n"].concat(),
        [
            b"POST /sign-in HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
            host.as_bytes(),
            b"\r\nab",
        ]
        .concat(),
        [
            b"POST /sign-in HTTP/1.1\r\nContent-Length: -1\r\n",
            host.as_bytes(),
            b"\r\n",
        ]
        .concat(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
    ];
    for case in cases {
        let answer = exchange(&service, &case);
        let shown = String::from_utf8_lossy(&case).into_owned();
        assert!(
            ["400", "401", "421", ""].contains(&status(&answer)),
            "{shown:?}: {answer}"
        );
    }
    let name = service.ask("DELETE", "/plugins/retired/%ff%fe").send();
    name.expect_problem(400, "bad-request");
    service.get("/healthz").expect(200);
}

#[test]
fn a_client_that_goes_away_half_way_disturbs_nobody() {
    let home = stale_home();
    let service = Service::start(&home);
    let request = format!(
        "DELETE /plugins/retired HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        service.address, service.token
    );
    for cut in [10, request.len() / 2, request.len() - 2] {
        let mut stream = connect(service.address);
        stream.write_all(&request.as_bytes()[..cut]).unwrap();
    }
    assert_eq!(home.store().list().unwrap().len(), 2);
    // Half-closed after a whole request: the change is carried through.
    let mut stream = connect(service.address);
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while home.store().list().unwrap().len() > 1 {
        assert!(
            Instant::now() < deadline,
            "the removal was not carried through"
        );
        thread::sleep(Duration::from_millis(20));
    }
    service.get("/healthz").expect(200);
}

#[test]
fn more_clients_than_it_serves_at_once_are_served_in_turn() {
    let home = Home::new();
    let service = Service::start(&home);
    let idle: Vec<TcpStream> = (0..255).map(|_| connect(service.address)).collect();
    thread::scope(|scope| {
        let answers: Vec<_> = (0..30)
            .map(|_| scope.spawn(|| service.ask_as_nobody("GET", "/healthz").send().status))
            .collect();
        assert!(
            answers
                .into_iter()
                .all(|answer| answer.join().unwrap() == 200)
        );
    });
    drop(idle);
}

#[test]
fn either_signal_ends_it_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let service = Service::start(&home);
        // An idle connection does not hold it up.
        let mut idle = connect(service.address);
        write!(
            idle,
            "GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n",
            service.address
        )
        .unwrap();
        let mut first = [0; 64];
        assert!(idle.read(&mut first).unwrap() > 0);
        // Nor does one that has said half of something.
        let mut half = connect(service.address);
        write!(half, "GET /healthz HTTP/1.1\r\nHost: ").unwrap();
        let started = Instant::now();
        service.signal(signal);
        let (status, log) = service.wait();
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(started.elapsed() < Duration::from_secs(5), "{log}");
    }
}

#[test]
fn a_request_in_flight_is_answered_before_the_end() {
    let home = stale_home();
    let service = Service::start(&home);
    let guard = disk::lock(&home.sandbox.shared()).unwrap();
    let request = service.ask("DELETE", "/plugins/retired");
    let address = service.address;
    thread::scope(|scope| {
        let removal = scope.spawn(move || request.send());
        thread::sleep(Duration::from_millis(300));
        service.signal(Signal::TERM);
        thread::sleep(Duration::from_millis(300));
        assert!(
            TcpStream::connect(address).is_err(),
            "it takes no new connections"
        );
        drop(guard);
        let removal = removal.join().unwrap().expect(200).json();
        assert_eq!(removal["removed"].as_array().unwrap().len(), 2);
    });
    let (status, log) = service.wait();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let home = stale_home();
    let service = Service::start(&home);
    let _guard = disk::lock(&home.sandbox.shared()).unwrap();
    let request = service.ask("DELETE", "/plugins/retired");
    let removal = thread::spawn(move || {
        let mut stream = connect(request.address());
        stream.write_all(request.text().as_bytes()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    service.signal(Signal::INT);
    thread::sleep(Duration::from_millis(300));
    service.signal(Signal::INT);
    let (status, _) = service.wait();
    assert_eq!(status.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(5));
    removal.join().unwrap();
}

/// Keeps several requests on one connection, one after the other.
#[test]
fn a_connection_serves_more_than_one_request() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut stream = connect(service.address);
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n", service.address);
    write!(stream, "{ask}\r\n{ask}Connection: close\r\n\r\n").unwrap();
    let answer = Answer::read(&mut stream).expect(200);
    assert_eq!(answer.body.matches("HTTP/1.1 200 OK").count(), 1);
}
