//! What a label, a heading or a leading line says of the names it leads: "Removed:", "Never call:",
//! "These tools no longer exist:".

use super::super::Reason;
use super::lexicon::Classes;
use super::tokens::{Kind, Token};

/// How many words a label has at most.
const LONGEST: usize = 16;

/// How a name stands below or behind a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Alone, or with a gloss.
    Named,
    /// Governed by a verb of use: "Don't: call `x`".
    Called,
    /// As the subject of a sentence of its own: "Removed tools" above "`x` shows files".
    Told,
}

/// Hears a label.
pub(super) fn hear(words: &[Token<'_>], standing: Standing) -> Option<Reason> {
    let words = label(words);
    let first = words.first()?;
    if standing != Standing::Called && ends_instead_of(words) {
        return Some(Reason::Replaced);
    }
    if words.iter().any(Token::is_code) {
        // It speaks of other tools.
        return None;
    }
    match standing {
        Standing::Called => return hangs(words, BAD_DEEDS).then_some(Reason::Forbidden),
        Standing::Told if !words.iter().any(|token| token.is_any(TOOLS)) => return None,
        Standing::Named if hangs(words, "") || forbids_use(words) => {
            return Some(Reason::Forbidden);
        }
        Standing::Told | Standing::Named => {}
    }
    if states_gone(words) {
        return Some(Reason::Gone);
    }
    if predicates_gone(words) {
        return Some(Reason::Gone);
    }
    if takes_away(words) || was_written(words) {
        return Some(Reason::Replaced);
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
        || first.is_any("before out")
            && words[1..]
                .iter()
                .all(|token| is_number(token) || token.is_any("vak version v"))
        || first.is("instead") && words.last().is_some_and(|token| token.is("of")))
    .then_some(Reason::Replaced)
}

/// Nouns that can only be tools of the agent.
const TOOLS: &str =
    "tool tools name names command commands capability capabilities builtins alias aliases";

/// Labels of what is done wrong; a tool's name alone is no deed.
const BAD_DEEDS: &str = "mistake mistakes pitfall pitfalls";

/// Whether a label asks for what it leads: "Use these:", "Right:", "After:".
pub(super) fn asks(words: &[Token<'_>]) -> bool {
    let words = label(words);
    let good = "right good correct valid after new now then do better today";
    let first = words
        .iter()
        .find(|token| !token.has(Classes::ADVERB) && token.kind != Kind::Good);
    first.is_none_or(|first| {
        let orders = |token: &Token<'_>| token.has(Classes::ORDER) && token.has(Classes::CALL);
        let orders = orders(first) || words.last().is_some_and(orders);
        orders || first.is_any(good) && words.len() <= 2
    }) && !words
        .iter()
        .any(|token| token.is_any("not never instead") || token.is_code())
        && !words.is_empty()
}

/// Whether a line speaks of the code below it: "The old tool was removed." is a sentence of its own.
pub(super) fn shows(words: &[Token<'_>]) -> bool {
    let pointing = |token: &Token<'_>| {
        token.has(Classes::PRONOUN.or(Classes::BAD)) || token.is_any("following below like such")
    };
    words.last().is_some_and(|last| last.kind != Kind::Stop) || label(words).iter().any(pointing)
}

/// Whether a heading leads what was done, version by version: "Changelog", "Release notes", "Changes in 2.0".
pub(super) fn records(words: &[Token<'_>]) -> bool {
    let title = words
        .iter()
        .take_while(|token| !token.has(Classes::CLOSER))
        .map(|token| &*token.word);
    let title = title.collect::<Vec<_>>();
    matches!(
        title.as_slice(),
        ["changelog" | "changes" | "history"]
            | ["change", "log" | "history"]
            | ["release", "notes" | "history"]
            | ["version", "history"]
            | ["what", "'s", "new" | "changed"]
            | ["breaking" | "recent" | "notable", "changes"]
    )
}

/// Whether a heading says nothing by itself: "Tools", "In 3.0.21", "`x`".
pub(super) fn defers(words: &[Token<'_>]) -> bool {
    words.first().is_some_and(is_number)
        || words.iter().all(|token| {
            let known = Classes::NOUN
                .or(Classes::FILLER)
                .or(Classes::CLOSER)
                .or(Classes::ADVERB);
            token.has(known)
                || token.is_code()
                || is_number(token)
                || token.is_any("v vak version release")
                || matches!(
                    token.kind,
                    Kind::Open | Kind::Close | Kind::Comma | Kind::Slash
                )
        })
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
fn hangs(words: &[Token<'_>], deeds: &str) -> bool {
    let skipped = |token: &&Token<'_>| {
        token.has(Classes::FILLER.or(Classes::ADVERB)) && !token.has(Classes::BAD)
            || token.is_any("do to example examples list things way")
    };
    let last = words.iter().rev().find(|token| !skipped(token));
    last.is_some_and(|token| {
        token.kind == Kind::Bad || token.has(Classes::BAD) || token.is_any(deeds)
    }) && words.len() <= 8
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
                    .or(Classes::OLD)
                    .or(Classes::AUX),
            ) || token.is_any("of longer on to and or in since as vak")
                || is_number(token)
        })
}

/// "These names are retired and always fail", "No longer supported": a statement of the whole list.
fn predicates_gone(words: &[Token<'_>]) -> bool {
    // "Calls like this one fail, because …"
    let fails = words.iter().position(|token| token.is_any("fail fails"));
    if let Some(fails) = fails
        && words[..fails]
            .iter()
            .any(|token| token.is_any("call calls they these this"))
        && words[..fails].iter().all(is_of_tools)
    {
        return true;
    }
    let Some(be) = words.iter().position(|token| token.has(Classes::BE)) else {
        let says = words.windows(2).any(|pair| {
            pair[0].is("no") && pair[1].is("longer")
                || pair[0].is("used") && pair[1].is("to")
                || pair[0].is("went") && pair[1].is("away")
        });
        // "No longer in the box"
        let out = matches!(words, [no, longer, tie, ..]
            if no.is("no") && longer.is("longer") && tie.is_any("in on part"));
        return out || says && words.iter().all(is_of_tools);
    };
    let said = &words[be + 1..];
    let head = said
        .iter()
        .find(|token| !token.has(Classes::ADVERB.or(Classes::BE)));
    head.is_some_and(|token| {
        token.has(Classes::GONE.or(Classes::REMOVE)) || token.is_any("rejected refused")
    }) && words[..be].iter().all(is_of_tools)
        && !words[..be]
            .iter()
            .any(|token| token.has(Classes::WRITING) && !token.has(Classes::NOUN))
        && !words[..be].iter().any(|token| token.has(Classes::OPENER))
        && !said
            .iter()
            .any(|token| token.has(Classes::ORDER) && !token.is("use"))
}

/// "Use `bash` instead of these:"
fn ends_instead_of(words: &[Token<'_>]) -> bool {
    let instead = words
        .windows(2)
        .rposition(|pair| pair[0].is("instead") && pair[1].is("of"));
    let thing = Classes::FILLER.or(Classes::NOUN).or(Classes::PRONOUN);
    instead.is_some_and(|at| {
        at > 0
            && words[at + 2..]
                .iter()
                .all(|token| token.has(thing) || token.is("of"))
    })
}

/// "In older versions one wrote:"
fn was_written(words: &[Token<'_>]) -> bool {
    let past = words
        .last()
        .is_some_and(|last| last.is_any("wrote said called used"));
    past && words
        .iter()
        .any(|token| token.has(Classes::OLD.or(Classes::FORMERLY)) || token.is_any("before until"))
}

/// "Replace this:", "Remove calls like these:".
fn takes_away(words: &[Token<'_>]) -> bool {
    let Some((verb, object)) = words.split_first() else {
        return false;
    };
    let thing = Classes::FILLER
        .or(Classes::PRONOUN)
        .or(Classes::NOUN)
        .or(Classes::CALL);
    verb.is_any("replace remove drop delete rewrite migrate port retire strip purge")
        && object.iter().all(|token| token.has(thing))
}

/// Whether a word can stand in a statement about tools in general.
fn is_of_tools(token: &Token<'_>) -> bool {
    let known = Classes::NOUN
        .or(Classes::FILLER)
        .or(Classes::ADVERB)
        .or(Classes::PRONOUN)
        .or(Classes::AUX)
        .or(Classes::POSSIBLE)
        .or(Classes::CALL)
        .or(Classes::CLOSER)
        .or(Classes::GONE)
        .or(Classes::OLD)
        .or(Classes::WRITING);
    token.has(known)
        || is_number(token)
        || token.kind != Kind::Word
        || token.is_any("no longer went away contain contains such that which not of vak we you i v way ways form forms style syntax below above")
}

/// What ends a sentence that holds a code block: "… no longer work.", "… is gone.", "… replace it with".
pub(super) fn ends_gone(words: &[Token<'_>]) -> bool {
    let end = words.iter().position(|token| token.kind == Kind::Stop);
    let words = &words[..end.unwrap_or(words.len())];
    let replaced = match words {
        [verb, it, ..] => {
            verb.has(Classes::REPLACE.or(Classes::REMOVE)) && it.has(Classes::PRONOUN)
        }
        _ => false,
    };
    let states = words.first().is_some_and(|first| {
        first.is_any("fail fails no") || first.has(Classes::BE) && words.len() <= LONGEST
    });
    replaced || states && (words[0].is_any("fail fails") || predicates_gone(words))
}

/// "Removed tools", "Retired in 3.0.21", "The following tools were removed".
fn states_gone(words: &[Token<'_>]) -> bool {
    let has_gone = words
        .iter()
        .any(|token| token.has(Classes::GONE.or(Classes::ENDING)));
    // "Removed in this version", but not "Outdated versions".
    let closer = words.iter().position(|token| token.has(Classes::CLOSER));
    has_gone
        && words.iter().enumerate().all(|(at, token)| {
            let known = Classes::GONE
                .or(Classes::ENDING)
                .or(Classes::NOUN)
                .or(Classes::FILLER)
                .or(Classes::ADVERB)
                .or(Classes::BE)
                .or(Classes::CLOSER)
                .or(Classes::OLD);
            token.has(known)
                || token.has(Classes::WRITING) && closer.is_some_and(|closer| closer < at)
                || is_number(token)
                || token
                    .is_any("among so far of v version vak we no longer list breaking changes new not syntax form forms style way ways")
                || matches!(
                    token.kind,
                    Kind::Comma | Kind::Open | Kind::Close | Kind::Slash | Kind::Bad
                )
        })
        && !words.iter().any(|token| token.is("not"))
}

/// "3.0.21", "v2", "2025"
fn is_number(token: &Token<'_>) -> bool {
    let digits = token.word.strip_prefix('v').unwrap_or(&token.word);
    digits.starts_with(|letter: char| letter.is_ascii_digit())
}
