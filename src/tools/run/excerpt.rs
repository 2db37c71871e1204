//! Output that may be endless, kept short: its beginning, its end, and how much is missing between.

use std::collections::VecDeque;

/// Takes bytes as they come and keeps the first and the last of them.
#[derive(Debug)]
pub(super) struct Excerpt {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Excerpt {
    /// An excerpt of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Excerpt {
        Excerpt {
            half: limit / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            cut: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of a long piece only its last bytes can stay.
        let skipped = rest.len().saturating_sub(self.half);
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.cut += (skipped + over) as u64;
    }

    /// The text; bytes that are no UTF-8 become `�`.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.cut == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        // The cut may have gone through characters; their pieces are not worth a sign each.
        let is_rest = |byte: &&u8| **byte & 0xc0 == 0x80;
        let start = tail.iter().take(3).take_while(is_rest).count();
        let head = String::from_utf8_lossy(&self.head);
        format!(
            "{}\n[{} bytes cut]\n{}",
            head.trim_end_matches(char::REPLACEMENT_CHARACTER),
            self.cut + start as u64,
            String::from_utf8_lossy(&tail[start..])
        )
    }
}
