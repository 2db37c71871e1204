//! Whether what stands behind a statement limits it to a case: "is killed after 60 seconds", "is disabled by
//! default", "doesn't work with Excel files". Such a tool is still there.

use super::lexicon::Classes;
use super::sentence::Sentence;
use super::tokens::{Kind, Token};

/// Words of GONE that a tool can be now and then; the others say its end.
const PASSING: &str = "disabled blocked denied forbidden prohibited disallowed discouraged avoided shunned unsupported \
                       unavailable off-limits banned killed cut pulled stripped missing absent";

/// What a call can be stopped by, which ends that call alone.
const INTERRUPTED: &str = "killed cut died expired stopped interrupted";

/// Reasons, which limit nothing: "blocked for good", "disabled for security".
const REASONS: &str = "good ever security safety safety's privacy legal compliance maintenance reason reasons now \
                       being everyone everybody lack fear";

/// Measures of time, of size and of tries.
const MEASURES: &str = "s sec secs second seconds ms min mins minute minutes h hour hours day days byte bytes kb mb gb kib mib \
                        gib line lines row rows failure failures error errors try tries attempt attempts call calls";

/// Whether a state that otherwise is an end passes: "is gone until a file is open".
pub(super) fn will_pass(behind: &[Token<'_>]) -> bool {
    let only = matches!(behind, [only, tie, place, ..]
        if only.is("only") && tie.is_any("in on for with") && !place.is_version() && !place.is("vak"));
    only || behind.windows(2).take(8).any(|pair| {
        pair[0].is_any("until till unless")
            && !pair[1].is_version()
            && !pair[1].is_any("vak version further")
    })
}

/// Whether a word can say a passing state: "blocked", as against "removed".
pub(super) fn is_passing(head: &Token<'_>) -> bool {
    head.is_any(PASSING)
}

/// Whether a word says that one call was interrupted.
pub(super) fn is_interruption(head: &Token<'_>) -> bool {
    head.is_any(INTERRUPTED)
}

/// Whether the words behind a statement, up to the end of its clause, limit it.
pub(super) fn limits(sentence: &Sentence<'_, '_>, rest: &[Token<'_>], past: bool) -> bool {
    let clause = rest
        .iter()
        .position(|token| !matches!(token.kind, Kind::Word | Kind::Name(_) | Kind::Code))
        .map_or(rest, |end| &rest[..end]);
    (0..clause.len()).any(|at| begins_limit(sentence, &clause[at..], past))
}

fn begins_limit(sentence: &Sentence<'_, '_>, words: &[Token<'_>], past: bool) -> bool {
    let [word, next, ..] = words else {
        return words.iter().any(|token| token.is_any("once twice alone"));
    };
    match &*word.word {
        "without" | "while" | "during" | "outside" | "except" | "unless" => true,
        "until" | "till" | "before" => !next.is_version() && !next.is_any("vak version"),
        "when" | "whenever" | "if" => !past,
        "by" => next.is("default"),
        "more" => words.iter().any(|token| token.is("than")),
        "after" | "for" if is_measured(next, words) => true,
        "after" => next.is_any("each every"),
        "for" => {
            !next.is_any(REASONS)
                && !words[1..].iter().take(3).any(|token| token.is_any(REASONS))
                && !is_everything(sentence, &words[1..])
        }
        "to" => {
            !is_everything(sentence, &words[1..])
                && !next.has(Classes::BE)
                && !next.is_any("you us me skills agents models plugins")
        }
        "from" => {
            next.word.ends_with("ing") && !next.has(Classes::CALL)
                || next.is_any("inside within another")
        }
        "on" | "with" | "inside" | "within" | "over" | "above" | "under" => {
            !is_everything(sentence, &words[1..])
        }
        // "in read-only mode"
        "in" if words[1..]
            .iter()
            .take(4)
            .any(|token| token.is_any("mode modes")) =>
        {
            !is_everything(sentence, &words[1..])
        }
        "at" if next.is_any("start startup start-up first boot night") => true,
        "in" | "at" => next.is_any("parallel once loops"),
        "alone" | "twice" => true,
        _ => false,
    }
}

/// "after 60 seconds", "for ten minutes", but not "after 3.0.20".
fn is_measured(number: &Token<'_>, words: &[Token<'_>]) -> bool {
    let digits = number
        .word
        .starts_with(|letter: char| letter.is_ascii_digit());
    digits && !number.is_version()
        || words[1..]
            .iter()
            .take(3)
            .skip(1)
            .any(|token| token.is_any(MEASURES))
}

/// "with vak 3.1", "for any purpose", "on this system": no case of its own.
fn is_everything(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> bool {
    words.first().is_none_or(|first| {
        first.is_any("any all every this these our your the current new newer recent vak no version versions release")
            || first.is_version()
            || first.word.starts_with(|letter: char| letter.is_ascii_digit())
            || sentence.is_replacement(first)
    })
}
