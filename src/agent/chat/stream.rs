//! Server-sent events: bytes in, in whatever pieces, the data of each event out.

use crate::agent::ModelError;

/// What ends a stream of the protocol.
const DONE: &str = "[DONE]";

/// Reads a stream of events. Only their data matters here.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that is not yet whole.
    line: Vec<u8>,
    /// The data of the event that is not yet whole.
    data: Option<String>,
    done: bool,
}

impl Events {
    /// Whether the server said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the next bytes and returns the data of the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, ModelError> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if !piece.ends_with(b"\n") {
                break;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8(line).map_err(|_| ModelError::Protocol {
                problem: "an event is not UTF-8".to_owned(),
            })?;
            events.extend(self.take(line.trim_end_matches(['\r', '\n'])));
        }
        Ok(events)
    }

    /// Takes a line; an empty one completes an event.
    fn take(&mut self, line: &str) -> Option<String> {
        if line.is_empty() {
            let data = self.data.take()?;
            // What a server sends behind its own last word is no part of the message.
            self.done |= data == DONE;
            return (!self.done).then_some(data);
        }
        let data = line.strip_prefix("data:")?;
        let data = data.strip_prefix(' ').unwrap_or(data);
        match &mut self.data {
            Some(before) => {
                before.push('\n');
                before.push_str(data);
            }
            None => self.data = Some(data.to_owned()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    fn read(pieces: &[&[u8]]) -> (Vec<String>, bool) {
        let mut events = Events::default();
        let mut data = Vec::new();
        for piece in pieces {
            data.extend(events.push(piece).unwrap());
        }
        (data, events.is_done())
    }

    #[test]
    fn however_a_stream_is_cut_its_events_are_the_same() {
        let stream =
            ": a comment\n\nevent: x\ndata: {\"ä\": 1}\r\n\r\ndata:two\ndata: lines\nid: 7\n\n\
                      data: [DONE]\n\ndata: not read\n\n"
                .as_bytes();
        let whole = read(&[stream]);
        assert_eq!(whole.0, ["{\"ä\": 1}", "two\nlines"]);
        assert!(whole.1);
        for at in 0..=stream.len() {
            assert_eq!(read(&[&stream[..at], &stream[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }
}
