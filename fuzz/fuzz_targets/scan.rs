//! Any text: the scanner does not panic, its findings are well formed, its code spans are those of CommonMark, and
//! the edits of tools lists leave nothing to edit.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use vak::scan::Scanner;

#[path = "../oracle.rs"]
mod oracle;

/// Short names, so that the fuzzer meets them often; one with the signs that join words.
const ROWS: [(&str, &str); 3] = [("py", "sh"), ("a.b-c", "py"), ("python_eval", "bash")];

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(ROWS));

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(disagreement) = oracle::disagreement(&SCANNER, &ROWS, &text) {
        panic!("{disagreement}\nin {text:?}");
    }
    let _ = SCANNER.scan_hooks(&text);
});
