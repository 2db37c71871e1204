//! What a label, a heading or a leading line says of the names it leads: "Removed:", "Never call:",
//! "These tools no longer exist:".

use super::super::Reason;
use super::lexicon::Classes;
use super::tokens::{Kind, Token};

/// How many words a label has at most.
const LONGEST: usize = 16;

/// Hears a label. `called` says that a verb of use stands between it and the name: "Don't: call `x`".
pub(super) fn hear(words: &[Token<'_>], called: bool) -> Option<Reason> {
    let words = label(words);
    let first = words.first()?;
    if words.iter().any(Token::is_code) {
        // It speaks of other tools.
        return None;
    }

    if called {
        return hangs(words).then_some(Reason::Forbidden);
    }
    if hangs(words) || forbids_use(words) {
        return Some(Reason::Forbidden);
    }
    if states_gone(words) {
        return Some(Reason::Gone);
    }
    if predicates_gone(words) {
        return Some(Reason::Gone);
    }
    let replaced = words.iter().all(|token| {
        token.has(
            Classes::OLD
                .or(Classes::FILLER)
                .or(Classes::NOUN)
                .or(Classes::FORMERLY),
        )
    }) && words
        .iter()
        .any(|token| token.has(Classes::OLD.or(Classes::FORMERLY)));
    (replaced
        || words.len() == 1 && first.is_any("before out")
        || first.is("instead") && words.last().is_some_and(|token| token.is("of")))
    .then_some(Reason::Replaced)
}

/// The last statement of what leads: behind the last full stop, dash or mark.
fn label<'s, 't>(words: &'s [Token<'t>]) -> &'s [Token<'t>] {
    let end = words
        .iter()
        .rposition(|token| {
            !matches!(
                token.kind,
                Kind::Colon | Kind::Stop | Kind::Dash | Kind::Close | Kind::Good
            )
        })
        .map_or(0, |at| at + 1);
    let words = &words[..end];
    let start = words
        .iter()
        .rposition(|token| {
            matches!(
                token.kind,
                Kind::Stop | Kind::Semicolon | Kind::Dash | Kind::Good | Kind::Cell | Kind::Colon
            )
        })
        .map_or(0, |at| at + 1);
    let words = &words[start..];
    if words.len() > LONGEST { &[] } else { words }
}

/// A label that waits for what is wrong: "Never", "Don't", "❌ Bad", "What not to do".
fn hangs(words: &[Token<'_>]) -> bool {
    let skipped = |token: &&Token<'_>| {
        token.has(Classes::FILLER.or(Classes::ADVERB)) && !token.has(Classes::BAD)
            || token.is_any("do to example examples list things way")
    };
    let last = words.iter().rev().find(|token| !skipped(token));
    last.is_some_and(|token| token.kind == Kind::Bad || token.has(Classes::BAD))
        && words.len() <= 8
        && !words.iter().any(|token| token.is_any("if when"))
}

/// "Do not use", "Never call any of these", "You must not call".
fn forbids_use(words: &[Token<'_>]) -> bool {
    let Some(negator) = words
        .iter()
        .position(|token| token.is_any("not never avoid stop no"))
    else {
        return false;
    };
    let rest = &words[negator + 1..];
    // "tools that do not exist": what the relative clause says is gone anyway.
    let relative = rest.iter().position(|token| token.is_any("that which"));
    let rest = &rest[..relative.unwrap_or(rest.len())];
    !words[..negator]
        .iter()
        .any(|token| token.has(Classes::CONDITION))
        && rest
            .iter()
            .any(|token| token.has(Classes::CALL.or(Classes::POSSIBLE)) || token.is("longer"))
        && rest.iter().all(|token| {
            token.has(
                Classes::CALL
                    .or(Classes::NOUN)
                    .or(Classes::FILLER)
                    .or(Classes::ADVERB)
                    .or(Classes::POSSIBLE)
                    .or(Classes::AUX),
            ) || token.is_any("of longer on to and or in since as vak")
                || is_number(token)
        })
}

/// "These names are retired and always fail": a statement of the whole list.
fn predicates_gone(words: &[Token<'_>]) -> bool {
    let Some(be) = words.iter().position(|token| token.has(Classes::BE)) else {
        return words
            .windows(2)
            .any(|pair| pair[0].is("no") && pair[1].is("longer"));
    };
    let said = &words[be + 1..];
    let head = said
        .iter()
        .find(|token| !token.has(Classes::ADVERB.or(Classes::BE)));
    head.is_some_and(|token| token.has(Classes::GONE.or(Classes::REMOVE)))
        && !words[..be].iter().any(|token| token.has(Classes::OPENER))
        && !said
            .iter()
            .any(|token| token.has(Classes::ORDER) && !token.is("use"))
}

/// "Removed tools", "Retired in 3.0.21", "The following tools were removed".
fn states_gone(words: &[Token<'_>]) -> bool {
    let has_gone = words
        .iter()
        .any(|token| token.has(Classes::GONE.or(Classes::ENDING)));
    has_gone
        && words.iter().all(|token| {
            let known = Classes::GONE
                .or(Classes::ENDING)
                .or(Classes::NOUN)
                .or(Classes::FILLER)
                .or(Classes::ADVERB)
                .or(Classes::BE)
                .or(Classes::CLOSER)
                .or(Classes::OLD)
                .or(Classes::WRITING);
            token.has(known)
                || is_number(token)
                || token
                    .is_any("among so far of v version vak no longer list breaking changes new not")
                || token
                    .word
                    .strip_prefix('v')
                    .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
                || matches!(
                    token.kind,
                    Kind::Comma | Kind::Open | Kind::Close | Kind::Slash | Kind::Bad
                )
        })
        && !words.iter().any(|token| token.is("not"))
}

fn is_number(token: &Token<'_>) -> bool {
    token
        .word
        .starts_with(|letter: char| letter.is_ascii_digit())
}
