//! From a file to its findings: opens it without hanging, reads as much as the scanner looks at, and
//! makes text of it whose places are the file's own.

use super::report::{FileFinding, SpecialFile, Unscanned, unreadable};
use super::role::Role;
use crate::scan::Scanner;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::borrow::Cow;
use std::ffi::CStr;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};

/// How much of a file is scanned, in bytes.
pub(crate) const LIMIT: usize = 4 << 20;

/// How many bytes from its start tell that a file is UTF-16.
const UTF16_START: usize = 32;

/// Stands for each byte that is not UTF-8: one byte, so that every other byte keeps its place, and no
/// part of a name. It is ASCII's own sign for a character that could not be read.
const SUBSTITUTE: char = '\u{1a}';

/// Reads one file after the other into one buffer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
}

/// As much of a file as is scanned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content<'a> {
    bytes: &'a [u8],
    /// Whether the file goes on.
    cut: bool,
}

/// What the scanner says of a text, and what of it could not be scanned.
pub(crate) type Scanned = (Vec<FileFinding>, Vec<Unscanned>);

impl Reader {
    /// Reads a file to its end, or as far as is scanned.
    pub(crate) fn read(&mut self, file: &RegularFile) -> Result<Content<'_>, Unscanned> {
        let filled = self.fill(file).map_err(unreadable)?;
        Ok(Content::of(&self.buffer[..filled]))
    }

    /// Reads a stream to its end, or as far as is scanned.
    pub(crate) fn read_stream(&mut self, stream: impl Read) -> std::io::Result<Content<'_>> {
        self.buffer.clear();
        stream
            .take(LIMIT as u64 + 1)
            .read_to_end(&mut self.buffer)?;
        Ok(Content::of(&self.buffer))
    }

    /// One read is enough for a file that is as long as it says: a read that comes back short is at the
    /// end. The buffer has room for one byte more than is scanned, which tells whether the file goes on.
    fn fill(&mut self, file: &RegularFile) -> Result<usize, Errno> {
        let mut filled = 0;
        let mut room = file.size.min(LIMIT) + 1;
        loop {
            if self.buffer.len() < room {
                self.buffer.resize(room, 0);
            }
            let asked = room - filled;
            let read = match rustix::io::read(&file.handle, &mut self.buffer[filled..room]) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            filled += read;
            let at_end = read == 0 || (read < asked && filled == file.size);
            if at_end || filled > LIMIT {
                return Ok(filled);
            }
            if filled == room {
                room = (room * 2).min(LIMIT + 1);
            }
        }
    }
}

impl<'a> Content<'a> {
    /// What is scanned of these bytes.
    pub(crate) fn of(bytes: &'a [u8]) -> Content<'a> {
        Content {
            bytes: &bytes[..bytes.len().min(LIMIT)],
            cut: bytes.len() > LIMIT,
        }
    }

    /// Scans the content as what `role` says it is.
    pub(crate) fn scan(self, role: Role, scanner: &Scanner) -> Scanned {
        let (text, invalid) = self.text();
        let mut findings = find(&text, role, scanner);
        let mut unscanned = Vec::new();
        if self.is_utf16() {
            unscanned.push(Unscanned::Utf16);
        } else if invalid > 0 {
            unscanned.push(Unscanned::NotUtf8 { invalid });
        }
        if invalid > 0 {
            findings.iter_mut().for_each(show_substitutes);
        }
        if self.cut {
            unscanned.push(Unscanned::TooLarge {
                scanned: self.bytes.len(),
            });
        }
        (findings, unscanned)
    }

    /// Whether this begins with UTF-16's mark, or as Latin letters do in UTF-16: every other byte is zero.
    fn is_utf16(&self) -> bool {
        let start = &self.bytes[..self.bytes.len().min(UTF16_START)];
        let has_mark = matches!(start, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
        let (pairs, _) = start.as_chunks::<2>();
        let alternates = |zero: usize| {
            !pairs.is_empty()
                && pairs
                    .iter()
                    .all(|pair| pair[zero] == 0 && pair[1 - zero] != 0)
        };
        has_mark || alternates(0) || alternates(1)
    }

    /// The text, every byte at its place, and how many bytes are not UTF-8: each of those has become a
    /// [`SUBSTITUTE`].
    pub(crate) fn text(self) -> (Cow<'a, str>, usize) {
        let bytes = self.whole_characters();
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => (Cow::Borrowed(text), 0),
            Err(_) => substituted(bytes),
        }
    }

    /// The bytes without the beginning of a character that the limit cut in two.
    fn whole_characters(&self) -> &'a [u8] {
        if !self.cut {
            return self.bytes;
        }
        let tail = self.bytes.len().saturating_sub(3);
        match self.bytes[tail..].utf8_chunks().last() {
            Some(last) if is_beginning(last.invalid()) => {
                &self.bytes[..self.bytes.len() - last.invalid().len()]
            }
            _ => self.bytes,
        }
    }
}

/// Whether these bytes are the beginning of a character whose rest is missing.
fn is_beginning(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The text with a [`SUBSTITUTE`] for each byte that is not UTF-8, and how many there are.
fn substituted(bytes: &[u8]) -> (Cow<'_, str>, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut invalid = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| SUBSTITUTE));
        invalid += chunk.invalid().len();
    }
    (Cow::Owned(text), invalid)
}

/// People know `�` as the sign for what is not a character. The mark moves with what grew before it.
fn show_substitutes(finding: &mut FileFinding) {
    let before = &finding.excerpt[..finding.mark.start];
    let growth = before.matches(SUBSTITUTE).count()
        * (char::REPLACEMENT_CHARACTER.len_utf8() - SUBSTITUTE.len_utf8());
    finding.mark.start += growth;
    finding.mark.end += growth;
    finding.excerpt = finding.excerpt.replace(
        SUBSTITUTE,
        char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 3]),
    );
}

fn find(text: &str, role: Role, scanner: &Scanner) -> Vec<FileFinding> {
    let findings = match role {
        Role::Hooks => scanner.scan_hooks(text),
        _ => scanner.scan(text),
    };
    findings
        .iter()
        .map(|finding| FileFinding::keep(finding, text))
        .collect()
}

/// A file or directory as the system knows it, whatever it is called.
pub(crate) type Identity = (u64, u64);

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct RegularFile {
    handle: OwnedFd,
    size: usize,
    pub(crate) identity: Identity,
}

/// Opens a regular file by its name in a directory; a link is not followed.
pub(crate) fn open_regular(
    directory: BorrowedFd<'_>,
    name: &CStr,
) -> Result<RegularFile, Unscanned> {
    open(directory, name, OFlags::NOFOLLOW)
}

/// Opens a regular file by its path, wherever that leads.
pub(crate) fn open_named(path: &CStr) -> Result<RegularFile, Unscanned> {
    open(CWD, path, OFlags::empty())
}

/// Nothing that the name has turned into since somebody looked can make this wait: a FIFO opens at once
/// with `NONBLOCK`, and is then refused.
fn open(directory: BorrowedFd<'_>, name: &CStr, links: OFlags) -> Result<RegularFile, Unscanned> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | links;
    let handle = rustix::fs::openat(directory, name, flags, Mode::empty()).map_err(unreadable)?;
    let stat = rustix::fs::fstat(&handle).map_err(unreadable)?;
    match special(FileType::from_raw_mode(stat.st_mode)) {
        Some(kind) => Err(Unscanned::Special { kind }),
        None => Ok(RegularFile {
            handle,
            size: usize::try_from(stat.st_size).unwrap_or(0),
            identity: (stat.st_dev, stat.st_ino),
        }),
    }
}

/// What a file is if it is no regular file.
pub(crate) fn special(file_type: FileType) -> Option<SpecialFile> {
    match file_type {
        FileType::RegularFile => None,
        FileType::Fifo => Some(SpecialFile::Fifo),
        FileType::Socket => Some(SpecialFile::Socket),
        FileType::BlockDevice | FileType::CharacterDevice => Some(SpecialFile::Device),
        FileType::Directory => Some(SpecialFile::Directory),
        _ => Some(SpecialFile::Unknown),
    }
}

/// The type of a name in a directory, not following a link.
pub(crate) fn type_of(directory: BorrowedFd<'_>, name: &CStr) -> Result<FileType, Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .map(|stat| FileType::from_raw_mode(stat.st_mode))
}
