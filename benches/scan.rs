//! What it costs to scan text that names no retired tool, in one thread: 2, 1,000 and 10,000 names, in the size of a
//! skill and in one large text; beside it what a search of the same text costs with other means.
//!
//! The peers do less: `memmem` finds the two shipped names in exactly their letter case, `aho-corasick` finds names
//! in any letter case but also inside longer words.
//!
//!     cargo bench --bench scan --no-default-features

use std::fmt::Write as _;

use aho_corasick::AhoCorasick;
use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher, black_box};
use memchr::memmem::Finder;
use vak::scan::Scanner;

/// Counts allocations; the report shows them wherever there are any.
#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The two names that the list started with.
const SHIPPED: [&str; 2] = ["python_eval", "react_preview"];

/// How many names a list has.
const SIZES: [usize; 3] = [2, 1_000, 10_000];

/// The median size of a skill, and a text that no cache of the first levels holds.
const LENGTHS: [usize; 2] = [6 << 10, 8 << 20];

#[divan::bench(args = SIZES, consts = LENGTHS)]
fn scan_clean<const LENGTH: usize>(bencher: Bencher<'_, '_>, size: usize) {
    let names = names(size);
    let scanner = Scanner::new(names.iter().map(|name| (name.as_str(), "bash")));
    let text = text(LENGTH);
    assert!(scanner.scan(&text).is_empty());
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| scanner.scan(black_box(&text)).len());
}

/// A skill with one instruction at its end: the price of reading it.
#[divan::bench]
fn scan_with_a_finding(bencher: Bencher<'_, '_>) {
    let scanner = Scanner::new(SHIPPED.map(|name| (name, "bash")));
    let text = text(6 << 10) + "\n\nCall `python_eval`.\n";
    assert_eq!(scanner.scan(&text).len(), 1);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| scanner.scan(black_box(&text)).len());
}

#[divan::bench(consts = LENGTHS)]
fn memmem_two_names<const LENGTH: usize>(bencher: Bencher<'_, '_>) {
    let finders = SHIPPED.map(Finder::new);
    let text = text(LENGTH);
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let text = black_box(&text).as_bytes();
        let found = finders.iter().map(|finder| finder.find_iter(text).count());
        found.sum::<usize>()
    });
}

#[divan::bench(args = SIZES, consts = LENGTHS)]
fn aho_corasick_any_case<const LENGTH: usize>(bencher: Bencher<'_, '_>, size: usize) {
    let Ok(automaton) = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(names(size))
    else {
        return;
    };
    let text = text(LENGTH);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| automaton.find_iter(black_box(&text)).count());
}

/// Names as tools have them: a verb, a noun, and what sets them apart.
fn names(size: usize) -> Vec<String> {
    const VERBS: [&str; 16] = [
        "get", "list", "create", "update", "delete", "search", "fetch", "run", "read", "write",
        "open", "close", "find", "send", "load", "render",
    ];
    const NOUNS: [&str; 16] = [
        "file", "user", "page", "issue", "repo", "branch", "commit", "python", "notebook", "chart",
        "table", "query", "image", "message", "event", "schema",
    ];
    let made = (0..size).map(|index| {
        let (verb, noun) = (VERBS[index % 16], NOUNS[index / 16 % 16]);
        format!("{verb}_{noun}_{}", index / 256)
    });
    SHIPPED
        .map(str::to_owned)
        .into_iter()
        .chain(made)
        .take(size)
        .collect()
}

/// Text as skills hold it: prose of common words, some of them the words that names are made of, with code spans,
/// identifiers, list items, headings and fences in the density of real ones. The same for the same length.
fn text(length: usize) -> String {
    const WORDS: [&str; 48] = [
        "the", "of", "to", "and", "in", "is", "you", "that", "for", "on", "with", "as", "this",
        "from", "or", "but", "what", "when", "use", "each", "which", "file", "files", "run",
        "read", "write", "search", "user", "python", "query", "table", "report", "result",
        "before", "after", "check", "render", "preview", "branch", "commit", "message", "open",
        "create", "update", "page", "issue", "list", "evaluate",
    ];
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap_or(0)
    };
    let mut text = String::with_capacity(length + 128);
    let mut line = 0;
    while text.len() < length {
        let word = WORDS[next(WORDS.len())];
        let before = text.len();
        let _ = match next(60) {
            0 => write!(text, "`{word}`"),
            1 => write!(text, "`{word}_{}`", WORDS[next(WORDS.len())]),
            2 => write!(text, "{word}. "),
            3 if line > 60 => write!(text, "\n\n## {word}\n\n- "),
            4 if line > 60 => write!(text, "\n```bash\n{word} --{word} \"$1\"\n```\n"),
            _ => write!(text, "{word} "),
        };
        line += text.len() - before;
        if line > 90 {
            text.push('\n');
            line = 0;
        }
    }
    text.truncate(length);
    text
}
