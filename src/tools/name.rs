//! What makes two spellings of a tool's name one name.

/// The longest name of a tool, in bytes. Anything longer is no tool's name, so it is not looked at.
pub const MAX_NAME: usize = 64;

/// The spelling under which names are looked up: outer blanks off, ASCII lower-cased, `-` as `_`.
/// `None` where no tool can have the name: it is empty, too long, or not ASCII.
///
/// `buffer` lends its room to a name that has to be rewritten; most need not be.
pub fn fold<'a>(name: &'a str, buffer: &'a mut [u8; MAX_NAME]) -> Option<&'a str> {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_NAME || !name.is_ascii() {
        return None;
    }
    if is_folded(name) {
        return Some(name);
    }
    let folded = &mut buffer[..name.len()];
    for (to, from) in folded.iter_mut().zip(name.bytes()) {
        *to = fold_byte(from);
    }
    std::str::from_utf8(folded).ok()
}

/// Whether a name is already in the spelling under which it is looked up.
pub(super) const fn is_folded(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if fold_byte(bytes[at]) != bytes[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn fold_byte(byte: u8) -> u8 {
    match byte {
        b'-' => b'_',
        other => other.to_ascii_lowercase(),
    }
}
