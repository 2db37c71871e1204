//! A small server on the loopback that speaks the chat-completions protocol from a script.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What to do with one request.
pub(crate) enum Answer {
    /// Stream these chunks, then say that it is done.
    Stream(Vec<Value>),
    /// Stream these chunks, then hang up in the middle of the message.
    CutStream(Vec<Value>),
    /// Send one JSON document with this status and these header lines.
    Document(u16, &'static str, Value),
    /// Send nothing for this long, then hang up.
    Silence(Duration),
    /// Send these bytes and hang up.
    Bytes(&'static [u8]),
}

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Request {
    /// The request line and the header lines.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
}

/// The server. It answers one request after the other and stops listening when its script is over.
pub(crate) struct ChatServer {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl ChatServer {
    pub(crate) fn start(script: Vec<Answer>) -> ChatServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for answer in script {
                let (stream, _) = listener.accept().unwrap();
                seen.lock().unwrap().push(Request::read(&stream));
                // A client may hang up before it has heard everything.
                let _ = answer.send(stream);
            }
        });
        ChatServer { port, requests }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Request {
    fn read(stream: &TcpStream) -> Request {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
        }
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            })
            .expect("a request has a length");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body).unwrap();
        Request { head, body }
    }

    /// The last message of the request.
    pub(crate) fn last_message(&self) -> &Value {
        self.body["messages"].as_array().unwrap().last().unwrap()
    }
}

impl Answer {
    /// A message of text, in pieces.
    pub(crate) fn text(text: &str) -> Answer {
        let pieces = text.split_inclusive(' ').map(|piece| {
            json!({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]})
        });
        Answer::Stream(pieces.chain([finish("stop")]).collect())
    }

    /// A message of tool calls, each a name and its arguments' text; the text comes in pieces.
    pub(crate) fn calls(calls: &[(&str, &str)]) -> Answer {
        let mut chunks = Vec::new();
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("call-{index}");
            chunks.push(delta(&json!({
                "index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""}
            })));
            let half = arguments.floor_char_boundary(arguments.len() / 2);
            for piece in [&arguments[..half], &arguments[half..]] {
                chunks.push(delta(
                    &json!({"index": index, "function": {"arguments": piece}}),
                ));
            }
        }
        chunks.push(finish("tool_calls"));
        Answer::Stream(chunks)
    }

    fn send(self, mut stream: TcpStream) -> std::io::Result<()> {
        match self {
            Answer::Stream(chunks) => {
                send_events(&mut stream, &chunks)?;
                stream.write_all(b"data: [DONE]\n\n")
            }
            Answer::CutStream(chunks) => send_events(&mut stream, &chunks),
            Answer::Document(status, headers, body) => {
                let body = body.to_string();
                write!(
                    stream,
                    "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n{headers}\
                     Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                )
            }
            Answer::Silence(duration) => {
                std::thread::sleep(duration);
                Ok(())
            }
            Answer::Bytes(bytes) => stream.write_all(bytes),
        }
    }
}

fn send_events(stream: &mut TcpStream, chunks: &[Value]) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hello\n\n",
    )?;
    for chunk in chunks {
        write!(stream, "data: {chunk}\r\n\r\n")?;
    }
    Ok(())
}

fn delta(call: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]})
}

/// The chunk that ends a message.
pub(crate) fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}
