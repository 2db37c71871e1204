//! The loop: a model that calls tools, over the real protocol, and what follows from each failure.

use crate::chat_server::{Answer, ChatServer, finish};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vak::agent::{
    ApiKey, ChatModel, ChatSettings, EndpointError, Event, Failure, Limits, Message, Model,
    ModelError, Reply, Session, Transcript, TurnEnd,
};
use vak::tools::{
    Cancel, FrozenSkills, PermissionMode, ToolCall, ToolErrorKind, Toolbox, Workspace,
};

const EVAL: (&str, &str) = ("python_eval", r#"{"code": "print(6*7)"}"#);
const BASH: (&str, &str) = ("bash", r#"{"command": "python3 -c 'print(6*7)'"}"#);

/// A session in an empty workspace, and the model it talks to.
struct Stage {
    _dir: TempDir,
    server: ChatServer,
    session: Session,
    model: ChatModel,
    cancel: Cancel,
    /// What a person would have seen.
    seen: String,
}

impl Stage {
    fn new(script: Vec<Answer>) -> Stage {
        Stage::with(script, Limits::default(), Duration::from_secs(30))
    }

    fn with(script: Vec<Answer>, limits: Limits, patience: Duration) -> Stage {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "content\n").unwrap();
        let workspace = Workspace::open(dir.path(), Vec::new()).unwrap();
        let toolbox = Toolbox::new(
            workspace,
            PermissionMode::FullAccess,
            FrozenSkills::default(),
        );
        let server = ChatServer::start(script);
        let model = ChatModel::new(ChatSettings {
            base_url: server.base_url(),
            model: "scripted".to_owned(),
            key: None,
            patience,
        })
        .unwrap();
        Stage {
            _dir: dir,
            server,
            session: Session::new(toolbox, "Be brief.".to_owned(), limits),
            model,
            cancel: Cancel::new(),
            seen: String::new(),
        }
    }

    fn turn(&mut self) -> TurnEnd {
        let seen = &mut self.seen;
        let mut watch = |event: Event<'_>| match event {
            Event::Text(text) => seen.push_str(text),
            Event::Call(call) => seen.push_str(&format!("<{}>", call.name)),
            Event::Outcome(outcome) => {
                let kind = outcome.error_kind();
                seen.push_str(&format!(
                    "<{}>",
                    kind.map_or("ok".to_owned(), |kind| format!("{kind:?}"))
                ));
            }
            Event::Retry { wait, .. } => seen.push_str(&format!("<again after {wait:?}>")),
        };
        self.session.turn(
            &mut self.model,
            "What is 6 times 7?",
            &mut watch,
            &self.cancel,
        )
    }

    /// What the model was told of its calls, in order.
    fn told(&self) -> Vec<&str> {
        let messages = &self.session.transcript().messages;
        messages
            .iter()
            .filter_map(|message| match message {
                Message::Tool { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

#[test]
fn the_story_of_the_retired_tool() {
    for said in ["python_eval", "PYTHON_EVAL", "python-eval"] {
        let mut stage = Stage::new(vec![
            Answer::calls(&[(said, EVAL.1)]),
            Answer::calls(&[BASH]),
            Answer::text("It is 42."),
        ]);
        assert!(matches!(stage.turn(), TurnEnd::Answered { cut: false }));
        assert_eq!(
            stage.seen,
            format!("<{said}><Correctable><bash><ok>It is 42.")
        );
        let told = stage.told();
        let first: Value = serde_json::from_str(told[0]).unwrap();
        assert_eq!(first["message"], "missing required parameter: command");
        assert_eq!(first["called"], said);
        assert_eq!(first["retired_in"], "3.0.21");
        assert_eq!(first["tool"], "bash");
        assert_eq!(told[1], "42\n");
        // What the transcript says is what went over the wire, down to the last byte.
        let requests = stage.server.requests();
        assert_eq!(requests.len(), 3);
        assert_eq!(
            requests[1].last_message(),
            &json!({"role": "tool", "tool_call_id": "call-0", "content": told[0]})
        );
        assert_eq!(
            requests[2].last_message(),
            &json!({"role": "tool", "tool_call_id": "call-0", "content": "42\n"})
        );
    }
}

#[test]
fn a_request_holds_the_transcript_and_nothing_else() {
    let mut stage = Stage::new(vec![Answer::calls(&[BASH]), Answer::text("It is 42.")]);
    stage.turn();
    let requests = stage.server.requests();
    let transcript = serde_json::to_value(stage.session.transcript()).unwrap();
    let offered: Vec<Value> = transcript["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| json!({"type": "function", "function": tool}))
        .collect();
    assert_eq!(offered.len(), 7);
    assert_eq!(
        requests[1].body,
        json!({
            "model": "scripted",
            "stream": true,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "What is 6 times 7?"},
                {"role": "assistant", "content": null, "tool_calls": [{
                    "id": "call-0",
                    "type": "function",
                    "function": {"name": "bash", "arguments": BASH.1},
                }]},
                {"role": "tool", "tool_call_id": "call-0", "content": "42\n"},
            ],
            "tools": offered,
        })
    );
    assert_eq!(
        transcript["messages"],
        json!([
            {"role": "system", "text": "Be brief."},
            {"role": "user", "text": "What is 6 times 7?"},
            {"role": "assistant", "text": "", "calls": [
                {"id": "call-0", "name": "bash", "arguments": BASH.1}
            ]},
            {"role": "tool", "call": "call-0", "text": "42\n"},
            {"role": "assistant", "text": "It is 42.", "calls": []},
        ])
    );
}

#[test]
fn several_calls_in_one_message_each_get_their_answer() {
    let mut stage = Stage::new(vec![
        Answer::calls(&[
            ("read", r#"{"path": "file"}"#),
            ("no_such_tool", "{}"),
            BASH,
            ("bash", r#"{"command": "ec"#),
        ]),
        Answer::text("Done."),
    ]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    let told = stage.told();
    assert_eq!(told.len(), 4);
    assert_eq!(told[0], "1\tcontent\n");
    let unknown: Value = serde_json::from_str(told[1]).unwrap();
    assert_eq!(unknown["error"], "unknown_capability");
    assert_eq!(told[2], "42\n");
    let malformed: Value = serde_json::from_str(told[3]).unwrap();
    assert_eq!(malformed["error"], "malformed_arguments");
    // A server would refuse a request with arguments that are no object, so the model's words are wrapped.
    let sent = &stage.server.requests()[1].body["messages"][2]["tool_calls"];
    assert_eq!(
        sent[3]["function"]["arguments"],
        r#"{"malformed_arguments":"{\"command\": \"ec"}"#
    );
}

#[test]
fn the_same_failing_call_twice_ends_the_turn() {
    let mut stage = Stage::new(vec![
        Answer::calls(&[EVAL]),
        // Other spelling, other blanks: the same call.
        Answer::calls(&[("PYTHON-EVAL", r#"{"code":"print(6*7)"}"#)]),
    ]);
    let end = stage.turn();
    let TurnEnd::RepeatedFailure(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!(
        failure,
        Failure {
            said: "PYTHON-EVAL".to_owned(),
            kind: ToolErrorKind::Correctable,
            message: "missing required parameter: command".to_owned(),
        }
    );
    assert_eq!(stage.told().len(), 2);
}

#[test]
fn a_failing_call_twice_in_one_message_is_told_before_it_counts() {
    let twice = || Answer::calls(&[EVAL, EVAL]);
    let mut stage = Stage::new(vec![
        twice(),
        Answer::calls(&[BASH]),
        Answer::text("It is 42."),
    ]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    assert_eq!(stage.told().len(), 3);
    let mut stage = Stage::new(vec![twice(), Answer::calls(&[BASH, EVAL])]);
    assert!(matches!(stage.turn(), TurnEnd::RepeatedFailure(_)));
    assert_eq!(stage.told().len(), 4);
}

#[test]
fn a_call_that_works_the_second_time_is_no_repetition() {
    let read = ("read", r#"{"path": "made"}"#);
    let mut stage = Stage::new(vec![
        Answer::calls(&[read]),
        Answer::calls(&[("bash", r#"{"command": "echo here > made"}"#)]),
        Answer::calls(&[read]),
        Answer::text("Done."),
    ]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    assert_eq!(stage.told()[2], "1\there\n");
}

#[test]
fn a_model_that_never_gets_it_right_runs_out_of_repairs() {
    let arguments: Vec<String> = (0..6).map(|n| json!({"code": n}).to_string()).collect();
    let script = arguments
        .iter()
        .map(|arguments| Answer::calls(&[("python_eval", arguments)]))
        .collect();
    let mut stage = Stage::new(script);
    assert!(matches!(stage.turn(), TurnEnd::RepairsSpent(_)));
    assert_eq!(stage.told().len(), 6);
}

#[test]
fn a_model_that_never_stops_calling_is_stopped() {
    let limits = Limits {
        rounds: 3,
        ..Limits::default()
    };
    let script = (0..3).map(|_| Answer::calls(&[BASH])).collect();
    let mut stage = Stage::with(script, limits, Duration::from_secs(30));
    assert!(matches!(stage.turn(), TurnEnd::TooManyRounds));
}

#[test]
fn too_many_requests_are_waited_for_as_long_as_the_server_says() {
    let refusal = json!({"error": {"message": "slow down", "type": "rate_limit"}});
    let mut stage = Stage::new(vec![
        Answer::Document(429, "Retry-After: 1\r\n", refusal.clone()),
        Answer::text("It is 42."),
    ]);
    let started = Instant::now();
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(stage.seen, "<again after 1s>It is 42.");
    // Longer than a turn waits.
    let mut stage = Stage::new(vec![Answer::Document(
        429,
        "Retry-After: 3600\r\n",
        refusal,
    )]);
    let end = stage.turn();
    let TurnEnd::NoReply(error) = end else {
        panic!("{end:?}");
    };
    assert_eq!(error.kind(), ToolErrorKind::RateLimited);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(
        error.to_string(),
        "the model's server has had too many requests: slow down"
    );
}

#[test]
fn trouble_that_may_pass_is_tried_again() {
    let mut stage = Stage::new(vec![
        Answer::Document(503, "", json!("loading the model")),
        Answer::CutStream(vec![
            json!({"choices": [{"delta": {"content": "It is fo"}}]}),
        ]),
        Answer::text("It is 42."),
    ]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    assert_eq!(
        stage.seen,
        "<again after 500ms>It is fo<again after 1s>It is 42."
    );
    // The half message is not in the transcript.
    assert_eq!(stage.session.transcript().messages.len(), 3);
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let limits = Limits {
        retries: 0,
        ..Limits::default()
    };
    let patience = Duration::from_millis(300);
    let silent_stream =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\ndata: ";
    for answer in [
        Answer::Silence(Duration::from_secs(5)),
        Answer::Bytes(silent_stream),
    ] {
        let hangs_up = matches!(answer, Answer::Bytes(_));
        let mut stage = Stage::with(vec![answer], limits, patience);
        let started = Instant::now();
        let end = stage.turn();
        let TurnEnd::NoReply(error) = end else {
            panic!("{end:?}");
        };
        assert_eq!(error.kind(), ToolErrorKind::Transient, "{error:?}");
        assert_eq!(
            error.to_string(),
            if hangs_up {
                "the connection to the model broke"
            } else {
                "the model sent nothing for 0.3 s"
            }
        );
        assert!(started.elapsed() < Duration::from_secs(4));
    }
}

#[test]
fn what_asking_again_cannot_mend_ends_the_turn_at_once() {
    let auth = json!({"error": {"message": "Incorrect API key provided"}});
    let too_long = json!({"error": "the request exceeds the\ncontext \u{1b}[31msize"});
    for (answer, kind, message) in [
        (
            Answer::Document(401, "", auth),
            ToolErrorKind::Auth,
            "the model's server refused access (status 401): Incorrect API key provided\n\
             hint: set the key that this server expects",
        ),
        (
            Answer::Document(400, "", too_long),
            ToolErrorKind::Unknown,
            "the model's server refused the request (status 400): \
             the request exceeds the context [31msize",
        ),
        (
            Answer::Document(302, "Location: http://127.0.0.1:9/\r\n", json!({})),
            ToolErrorKind::Unknown,
            "the model's server refused the request (status 302): {}",
        ),
        (
            Answer::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n"),
            ToolErrorKind::Unknown,
            "the model's server does not speak the protocol: protocol: http parse fail: invalid HTTP version",
        ),
        (
            Answer::Document(200, "", json!([1])),
            ToolErrorKind::Unknown,
            "the model's server does not speak the protocol: an answer is not JSON: \
             invalid type: integer `1`, expected a sequence at line 1 column 2",
        ),
        (
            Answer::Stream(vec![json!({"error": {"message": "out of memory"}})]),
            ToolErrorKind::Unknown,
            "the model's server refused the request (status 200): out of memory",
        ),
    ] {
        let mut stage = Stage::new(vec![answer]);
        let end = stage.turn();
        let TurnEnd::NoReply(error) = end else {
            panic!("{end:?}");
        };
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), kind);
    }
    // Nobody listens.
    let mut stage = Stage::new(Vec::new());
    let end = stage.turn();
    assert!(
        matches!(end, TurnEnd::NoReply(ModelError::Unreachable { .. })),
        "{end:?}"
    );
}

#[test]
fn other_servers_forms_of_the_protocol_are_understood() {
    // One document, although a stream was asked for.
    let whole = Answer::Document(
        200,
        "",
        json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "", "type": "function", "function": {"name": "bash", "arguments": BASH.1}},
            {"id": "", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"file\"}"}},
        ]}, "finish_reason": "tool_calls"}]}),
    );
    // Calls without a number, whole in one chunk, and a last chunk with nothing but figures.
    let unnumbered = Answer::Stream(vec![
        json!({"choices": [{"delta": {"role": "assistant", "content": "", "tool_calls": [
            {"id": "x", "function": {"name": "bash", "arguments": BASH.1}},
            {"id": "y", "function": {"name": "bash", "arguments": BASH.1}},
        ]}}]}),
        finish("tool_calls"),
        json!({"choices": [], "usage": {"total_tokens": 7}}),
    ]);
    let cut = Answer::Stream(vec![
        json!({"choices": [{"delta": {"content": "It is"}}]}),
        finish("length"),
    ]);
    let mut stage = Stage::new(vec![whole, unnumbered, cut]);
    let end = stage.turn();
    assert!(matches!(end, TurnEnd::Answered { cut: true }), "{end:?}");
    let ids: Vec<&str> = stage
        .session
        .transcript()
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { call, .. } => Some(call.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert_eq!(ids[2..], ["x", "y"]);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(stage.told()[1..], ["1\tcontent\n", "42\n", "42\n"]);
}

#[test]
fn a_message_is_over_when_the_server_says_that_nothing_follows() {
    let said = json!({"choices": [{"delta": {"content": "It is 42."}}]});
    let mut stage = Stage::new(vec![Answer::Stream(vec![said])]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { cut: false }));
    assert_eq!(stage.seen, "It is 42.");
}

#[test]
fn calls_of_one_number_are_told_apart_by_their_ids() {
    let piece = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]});
    let begin = |id: &str, name: &str, arguments: &str| {
        piece(json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}))
    };
    let more = |arguments: &str| piece(json!({"index": 0, "function": {"arguments": arguments}}));
    let mut stage = Stage::new(vec![
        Answer::Stream(vec![
            begin("a", "read", "{\"path\""),
            more(": \"file\"}"),
            begin("b", "bash", "{\"command\""),
            // Repeats what it is, and goes on.
            begin("b", "bash", ": \"echo "),
            more("here\"}"),
            finish("tool_calls"),
        ]),
        Answer::text("Done."),
    ]);
    assert!(matches!(stage.turn(), TurnEnd::Answered { .. }));
    assert_eq!(stage.told(), ["1\tcontent\n", "here\n"]);
}

#[test]
fn a_server_that_does_not_listen_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut model = ChatModel::new(ChatSettings {
        base_url: format!("http://127.0.0.1:{port}/v1"),
        model: "m".to_owned(),
        key: None,
        patience: Duration::from_millis(300),
    })
    .unwrap();
    // More than the system takes on the way.
    let transcript = Transcript {
        tools: Vec::new(),
        messages: vec![Message::User {
            text: "x".repeat(64 << 20),
        }],
    };
    let started = Instant::now();
    let error = model
        .reply(&transcript, &mut |_| (), &Cancel::new())
        .unwrap_err();
    assert!(matches!(error, ModelError::Silent { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_wish_to_stop_is_heard_while_the_model_is_silent_and_while_a_tool_runs() {
    for script in [
        vec![Answer::Silence(Duration::from_secs(60))],
        vec![Answer::Document(429, "Retry-After: 50\r\n", json!({}))],
        vec![Answer::calls(&[
            ("bash", r#"{"command": "sleep 60"}"#),
            ("bash", r#"{"command": "touch never"}"#),
        ])],
    ] {
        let mut stage = Stage::new(script);
        let cancel = stage.cancel.clone();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            cancel.cancel();
        });
        let started = Instant::now();
        let end = stage.turn();
        assert!(matches!(end, TurnEnd::Cancelled), "{end:?}");
        assert!(started.elapsed() < Duration::from_secs(20));
        stopper.join().unwrap();
        // Every call in the transcript has its answer, so another turn could follow.
        let told = stage.told();
        assert!(told.is_empty() || told.len() == 2, "{told:?}");
        for answer in told {
            assert!(answer.contains("\"kind\":\"cancelled\""), "{answer}");
        }
    }
}

#[test]
fn what_a_model_cannot_mend_ends_the_turn() {
    // The workspace vanishes under the session: `bash` can't start there.
    let mut stage = Stage::new(vec![Answer::calls(&[BASH])]);
    fs::remove_dir_all(stage._dir.path()).unwrap();
    let end = stage.turn();
    let TurnEnd::Hopeless(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!(failure.kind, ToolErrorKind::Unknown);
    // Whoever has to look into it needs the cause.
    assert_eq!(
        failure.message,
        "failed to run `bash`: No such file or directory (os error 2)"
    );
}

#[test]
fn a_key_goes_only_where_it_is_safe() {
    let settings = |base_url: &str, key: &str| ChatSettings {
        base_url: base_url.to_owned(),
        model: "m".to_owned(),
        key: ApiKey::new(key),
        patience: Duration::from_secs(1),
    };
    for (url, key, ok) in [
        ("http://127.0.0.1:1/v1", "sesame", true),
        ("http://[::1]:1/v1", "sesame", true),
        ("http://localhost:1/v1/", "sesame", true),
        ("https://models.example/v1", "sesame", true),
        ("http://models.example/v1", "", true),
        ("http://models.example/v1", "sesame", false),
        ("http://127.0.0.1.models.example/v1", "sesame", false),
        ("http://127.0.0.1:1/v1", "ses\name", false),
        ("ftp://127.0.0.1/v1", "", false),
        ("127.0.0.1", "", false),
        ("", "", false),
    ] {
        let made = ChatModel::new(settings(url, key));
        assert_eq!(made.is_ok(), ok, "{url} {key:?}");
        assert!(!format!("{made:?}").contains("sesame"), "{url}");
    }
    let clear = ChatModel::new(settings("http://models.example/v1", "sesame")).unwrap_err();
    assert!(matches!(clear, EndpointError::KeyInTheClear { .. }));
    let server = ChatServer::start(vec![Answer::text("hi")]);
    let mut model = ChatModel::new(settings(&server.base_url(), "sesame")).unwrap();
    let transcript = Transcript {
        tools: Vec::new(),
        messages: Vec::new(),
    };
    let reply = model
        .reply(&transcript, &mut |_| (), &Cancel::new())
        .unwrap();
    assert_eq!(reply.text, "hi");
    let head = server.requests()[0].head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"));
    assert!(head.contains("\r\nauthorization: bearer sesame\r\n"));
}

/// A model of one's own needs no server.
struct Echo;

impl Model for Echo {
    fn reply(
        &mut self,
        transcript: &Transcript,
        on_text: &mut dyn FnMut(&str),
        _cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let reply = match transcript.messages.last() {
            Some(Message::Tool { text, .. }) => Reply {
                text: text.clone(),
                ..Reply::default()
            },
            _ => Reply {
                calls: vec![ToolCall {
                    id: "1".to_owned(),
                    name: "Shell".to_owned(),
                    arguments: BASH.1.to_owned(),
                }],
                ..Reply::default()
            },
        };
        on_text(&reply.text);
        Ok(reply)
    }
}

#[test]
fn any_model_can_be_put_behind_the_trait_and_asked_again() {
    let mut stage = Stage::new(Vec::new());
    for turn in 1..=2 {
        let end = stage
            .session
            .turn(&mut Echo, "6*7?", &mut |_| (), &stage.cancel);
        assert!(matches!(end, TurnEnd::Answered { .. }));
        assert_eq!(stage.session.transcript().messages.len(), 1 + turn * 4);
    }
}
