//! One request and its answer, read in a thread of its own.

use super::MAX_REPLY_BYTES;
use super::endpoint::Endpoint;
use crate::agent::ModelError;
use crate::tools::Cancel;
use std::io::{self, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, SystemTime};
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::http::{HeaderMap, HeaderName};

/// How often a wish to stop is looked for.
const TICK: Duration = Duration::from_millis(20);

/// What the answer's header says.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Whether the body is a stream of events, rather than one document.
    pub(super) is_stream: bool,
    pub(super) retry_after: Option<Duration>,
}

enum Piece {
    Head(Head),
    Body(Vec<u8>),
    End,
}

type Sent = Result<Piece, ModelError>;

/// A request under way. Dropping it hangs up: the thread ends with the next thing it has to tell.
pub(super) struct Exchange<'a> {
    pieces: Receiver<Sent>,
    cancel: &'a Cancel,
    taken: usize,
}

impl<'a> Exchange<'a> {
    pub(super) fn start(
        endpoint: &Endpoint,
        body: Vec<u8>,
        patience: Duration,
        cancel: &'a Cancel,
    ) -> Exchange<'a> {
        let (sender, pieces) = sync_channel(16);
        let endpoint = endpoint.clone();
        std::thread::spawn(move || {
            if let Err(error) = talk(&endpoint, &body, patience, &sender) {
                // Nobody listens any more: then nobody misses the error.
                let _ = sender.send(Err(error));
            }
        });
        Exchange {
            pieces,
            cancel,
            taken: 0,
        }
    }

    pub(super) fn head(&mut self) -> Result<Head, ModelError> {
        match self.piece()? {
            Piece::Head(head) => Ok(head),
            Piece::Body(_) | Piece::End => Err(broken(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// The next bytes of the body; `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        match self.piece()? {
            Piece::Body(bytes) => {
                self.taken += bytes.len();
                if self.taken > MAX_REPLY_BYTES {
                    return Err(ModelError::Protocol {
                        problem: format!("an answer of more than {MAX_REPLY_BYTES} bytes"),
                    });
                }
                Ok(Some(bytes))
            }
            Piece::Head(_) | Piece::End => Ok(None),
        }
    }

    pub(super) fn rest(&mut self) -> Result<Vec<u8>, ModelError> {
        let mut rest = Vec::new();
        while let Some(bytes) = self.next()? {
            rest.extend(bytes);
        }
        Ok(rest)
    }

    fn piece(&self) -> Sent {
        loop {
            if self.cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            match self.pieces.recv_timeout(TICK) {
                Ok(piece) => return piece,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(broken(io::ErrorKind::UnexpectedEof.into()));
                }
            }
        }
    }
}

/// Sends the request and passes on what comes back, as it comes.
fn talk(
    endpoint: &Endpoint,
    body: &[u8],
    patience: Duration,
    sender: &SyncSender<Sent>,
) -> Result<(), ModelError> {
    let mut request = endpoint
        .agent
        .post(&endpoint.url)
        .header("Content-Type", "application/json")
        .header("Accept", "text/event-stream, application/json");
    if let Some(authorization) = endpoint.authorization() {
        request = request.header("Authorization", authorization);
    }
    let response = request
        .send(body)
        .map_err(|error| failure(error, endpoint, patience))?;
    let head = Head {
        status: response.status().as_u16(),
        is_stream: header(response.headers(), &CONTENT_TYPE)
            .is_some_and(|kind| kind.starts_with("text/event-stream")),
        retry_after: retry_after(response.headers()),
    };
    let mut reader = response.into_body().into_reader();
    let mut buffer = [0; 16 << 10];
    let mut piece = Piece::Head(head);
    loop {
        if sender.send(Ok(piece)).is_err() {
            return Ok(());
        }
        piece = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => Piece::Body(buffer[..read].to_vec()),
            Err(error) => return Err(failure(error.into(), endpoint, patience)),
        };
    }
    let _ = sender.send(Ok(Piece::End));
    Ok(())
}

fn failure(error: ureq::Error, endpoint: &Endpoint, patience: Duration) -> ModelError {
    let unreachable = |error: ureq::Error| ModelError::Unreachable {
        url: endpoint.url.clone(),
        source: Box::new(error),
    };
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => unreachable(error),
        ureq::Error::Timeout(_) => ModelError::Silent { waited: patience },
        ureq::Error::Io(source) => match source.kind() {
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable => unreachable(source.into()),
            _ => broken(source),
        },
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => ModelError::Protocol {
            problem: error.to_string(),
        },
        other => unreachable(other),
    }
}

fn broken(source: io::Error) -> ModelError {
    ModelError::Broken {
        source: Box::new(source),
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A number of seconds, or a moment.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = header(headers, &RETRY_AFTER)?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = httpdate::parse_http_date(text).ok()?;
    Some(moment.duration_since(SystemTime::now()).unwrap_or_default())
}
