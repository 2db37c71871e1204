//! What a sentence says of a name without a word right beside it: that older texts said so, that another
//! tool is to be used instead, or, in the next sentence, that "it" is gone.

use super::super::Reason;
use super::before::Before;
use super::lexicon::Classes;
use super::phrases;
use super::sentence::Sentence;
use super::tokens::{Kind, Token};

/// Hears the rest of the sentence and, where that refers back, the next one.
pub(super) fn hear(sentence: &Sentence<'_, '_>, before: &Before) -> Option<Reason> {
    if is_told_of_old(sentence) || is_what_it_did(sentence) {
        return Some(Reason::History);
    }
    // "Call `x` until it is removed" orders the call whatever "it" is.
    let ordered = before.called && is_order(sentence);
    if !ordered && other_instead(sentence)
        || redirected(sentence)
        || is_where_it_was(sentence)
        || is_treated_as(sentence)
        || is_left_for(sentence)
        || is_replaced(sentence, before)
    {
        return Some(Reason::Replaced);
    }
    if !before.called
        && let Some(reason) = super::after::coordinated(sentence)
    {
        return Some(reason);
    }
    if !ordered
        && sentence.tokens[sentence.bounds.clone()]
            .iter()
            .any(is_refusal_code)
    {
        return Some(Reason::Gone);
    }
    let of_it = (!ordered)
        .then(|| super::after::of_pronoun(sentence, sentence.after()))
        .flatten();
    of_it.or_else(|| refers_back(sentence, before))
}

/// "Find `x` and replace it with `bash`", "what `x` did is now done by `bash`".
fn is_replaced(sentence: &Sentence<'_, '_>, before: &Before) -> bool {
    let all = "anything everything whatever all what";
    let of_all = sentence
        .before()
        .first()
        .is_some_and(|token| token.is_any(all));
    let states = !before.called || of_all || is_condition(sentence);
    states && phrases::is_replacing(sentence, sentence.after())
        || of_all && phrases::is_replacing_all(sentence, sentence.after())
}

/// The error of a call of a tool that is not there.
fn is_refusal_code(token: &Token<'_>) -> bool {
    token.word == "unknown_capability"
}

/// "`bash` does what `x` did".
fn is_what_it_did(sentence: &Sentence<'_, '_>) -> bool {
    let what = sentence
        .before()
        .last()
        .is_some_and(|token| token.is_any("what all everything that"));
    what && sentence
        .after()
        .first()
        .is_some_and(|token| token.is_any("did ran offered provided was could used"))
}

/// "Use `bash` wherever you used `x`".
fn is_where_it_was(sentence: &Sentence<'_, '_>) -> bool {
    let before = sentence.before();
    let Some(open) = before
        .iter()
        .rposition(|token| token.is_any("where wherever whenever everywhere as"))
    else {
        return false;
    };
    before[..open]
        .iter()
        .any(|token| sentence.is_replacement(token))
        && before[open..]
            .iter()
            .any(|token| token.is_any("used called ran once would had formerly"))
}

/// "From `x` to `bash`"
fn is_left_for(sentence: &Sentence<'_, '_>) -> bool {
    match (sentence.before(), sentence.after()) {
        ([from], [to, new, rest @ ..]) => {
            let ends = rest.first().is_none_or(|next| next.kind == Kind::Colon);
            from.is("from") && to.is("to") && sentence.is_replacement(new) && ends
        }
        _ => false,
    }
}

/// "Treat `x` as `bash`".
fn is_treated_as(sentence: &Sentence<'_, '_>) -> bool {
    let verb = sentence
        .before()
        .iter()
        .rev()
        .find(|token| !token.has(Classes::FILLER) && !token.is("of"));
    let treats = verb
        .is_some_and(|token| token.is_any("treat read consider think interpret take see regard"));
    match sentence.after() {
        [as_word, new, ..] if as_word.is("as") => {
            treats && (sentence.is_replacement(new) || new.has(Classes::GONE))
        }
        [to, new, ..] if to.is("to") => {
            verb.is_some_and(|token| token.is_any("update upgrade")) && sentence.is_replacement(new)
        }
        [gone, ..] => verb.is_some_and(|token| token.is("consider")) && gone.has(Classes::GONE),
        _ => false,
    }
}

/// "Older guides may tell you to call `x`", "this skill used to call `x`", "before 3.0 we ran `x`".
fn is_told_of_old(sentence: &Sentence<'_, '_>) -> bool {
    let words = clause(sentence);
    // "Old sessions of `x`" are the tool's own.
    let of_it = words.last().is_some_and(|last| last.is("of"));
    let is_of_it = |token: &Token<'_>| of_it && token.has(Classes::PRODUCT);
    words.iter().enumerate().any(|(at, token)| {
        let next = words.get(at + 1);
        let is_old_writing = token.has(Classes::OLD)
            && words[..at].iter().all(introduces)
            && words[at + 1..]
                .iter()
                .take(3)
                .any(|token| token.has(Classes::WRITING) && !is_of_it(token));
        let used_to = token.is("used")
            && next.is_some_and(|next| next.is("to"))
            && words.get(at + 2).is_some_and(|verb| {
                verb.has(Classes::CALL) || verb.is_any("be exist live say tell ship")
            })
            && !at.checked_sub(1).is_some_and(|before| {
                words[before].has(Classes::BE) || words[before].has(Classes::NOUN)
            });
        let formerly = token.has(Classes::FORMERLY)
            && next.is_some_and(|next| {
                (next.has(Classes::CALL) && !next.has(Classes::ORDER)
                    || next.is_any("ran run known did was we you this"))
                    && words.get(at + 2).is_none_or(|after| !after.is("then"))
            });
        let in_the_past =
            token.is("past") && at > 1 && words[at - 1].is("the") && words[at - 2].is("in");
        let there_was = token.is("there")
            && next.is_some_and(|next| next.is_any("was were"))
            && !words[..at]
                .iter()
                .any(|token| token.has(Classes::CONDITION));
        let up_to_version = token.is("to")
            && at
                .checked_sub(1)
                .is_some_and(|before| words[before].is_any("up prior"))
            && words[at + 1..].iter().take(2).any(Token::is_version);
        let before_version = token.is_any("before until till pre through")
            && next.is_some_and(|next| next.is_version() || next.is_any("version release vak"));
        is_old_writing
            || used_to
            || formerly
            || in_the_past
            || before_version
            || up_to_version
            || there_was
    })
}

/// The words before the name, from behind the last order that a comma or a colon begins: "if the file comes
/// from an older version, run `x`".
fn clause<'v, 't>(sentence: &Sentence<'v, 't>) -> &'v [Token<'t>] {
    let words = sentence.before();
    let start = words
        .iter()
        .enumerate()
        .rposition(|(at, token)| {
            token.kind == Kind::Semicolon
                || matches!(token.kind, Kind::Comma | Kind::Colon | Kind::Dash)
                    && words.get(at + 1).is_some_and(|next| {
                        next.has(Classes::ORDER)
                            || next.is_any("then please always just simply you so")
                    })
        })
        .map_or(0, |at| at + 1);
    let words = without_condition(&words[start..]);
    let is_order = words
        .first()
        .is_some_and(|first| first.has(Classes::ORDER) && !first.is("check"));
    if is_order { &[] } else { words }
}

/// "if the file comes from an older version, …" says nothing of what follows.
fn without_condition<'s, 't>(words: &'s [Token<'t>]) -> &'s [Token<'t>] {
    if !words
        .first()
        .is_some_and(|first| first.has(Classes::CONDITION))
    {
        return words;
    }
    match words.iter().position(|token| token.kind == Kind::Comma) {
        Some(comma) => &words[comma + 1..],
        None => words,
    }
}

/// What may stand before "older guides" where those are what the sentence speaks of.
fn introduces(token: &Token<'_>) -> bool {
    token.kind != Kind::Word
        || token.has(Classes::FILLER.or(Classes::ADVERB))
        || token.is_any("in what many most few of under with per because since note if that as by")
}

/// "…; use `bash` instead": another tool takes this one's place. "Use `x` instead" is this one's own.
fn other_instead(sentence: &Sentence<'_, '_>) -> bool {
    says_other_instead(sentence, sentence.after())
}

fn says_other_instead(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> bool {
    let instead = words.iter().enumerate().position(|(at, token)| {
        token.is("instead") && !words.get(at + 1).is_some_and(|next| next.is("of"))
    });
    let Some(instead) = instead else { return false };
    let around = &words[instead.saturating_sub(12)..(instead + 6).min(words.len())];
    let called = around.iter().position(|token| token.has(Classes::CALL));
    called.is_some_and(|at| {
        let object = around[at..]
            .iter()
            .find(|token| token.is_code() || sentence.is_replacement(token));
        object.is_some_and(|token| !token.is_name())
    })
}

/// Whether an order governs the name: "call `x`", "if the file is large, run `x`", "then use `x`".
fn is_order(sentence: &Sentence<'_, '_>) -> bool {
    let words = sentence.before();
    words.iter().enumerate().any(|(at, token)| {
        let begins = words[..at].iter().all(|token| {
            token.has(Classes::ADVERB)
                || token.is_any("please always first next you must should can need to and so")
        }) || at > 0
            && matches!(
                words[at - 1].kind,
                Kind::Comma | Kind::Colon | Kind::Dash | Kind::Semicolon | Kind::Open | Kind::Good
            )
            || at > 0 && words[at - 1].is_any("and then please must should to");
        token.has(Classes::ORDER) && begins && !is_condition(sentence)
    }) || words.windows(2).any(|pair| {
        matches!(pair[0].kind, Kind::Comma | Kind::Colon | Kind::Semicolon)
            && pair[1].has(Classes::ORDER)
    })
}

fn is_condition(sentence: &Sentence<'_, '_>) -> bool {
    sentence.before().first().is_some_and(|first| {
        first.has(Classes::CONDITION) || first.is_any("for any anywhere everywhere")
    })
}

/// What one does with a name that one comes upon.
const MEETING: &str = "see find meet encounter says say mentions mention names tells asks finds sees expects expect \
                       tell instructs about want wanted refers reads read lists called asked told \
                       feel tempted";

/// "Wherever a prompt says `x`, run `bash`", "for `x`, use `bash`".
fn redirected(sentence: &Sentence<'_, '_>) -> bool {
    let before = sentence.before();
    let for_it = before.len() <= 3 && before.first().is_some_and(|first| first.is_any("for"));
    let had = before
        .windows(2)
        .any(|pair| pair[0].is_any("were was been") && pair[1].is_any("using calling running"));
    // "Where you would have used `x`", "if you used `x` before"
    let used = before.iter().any(|token| token.has(Classes::CALL));
    let place = before
        .first()
        .is_some_and(|first| first.is_any("where wherever everywhere anywhere whenever"));
    let would = place && before.iter().any(|token| token.is_any("would used once"));
    let had = had || used && (would || says_earlier(sentence));
    let met = before.iter().any(|token| token.is_any(MEETING));
    let met = is_condition(sentence) && (had || met);
    let Some(comma) = sentence
        .after()
        .iter()
        .position(|token| token.kind == Kind::Comma)
    else {
        return false;
    };
    let main = &sentence.after()[comma + 1..];
    let orders = main.iter().take(3).any(|token| {
        token.has(Classes::ORDER.or(Classes::CALL).or(Classes::REPLACE)) || token.is("read")
    });
    let replaces = main
        .iter()
        .take(10)
        .any(|token| sentence.is_replacement(token));
    let treats = main
        .first()
        .is_some_and(|token| token.is_any("treat read take interpret understand think"));
    (for_it || met) && ((orders || treats) && replaces || declines(main))
}

/// "If you used `x` before, …", "if you previously used `x`, …".
fn says_earlier(sentence: &Sentence<'_, '_>) -> bool {
    let earlier = "before previously formerly earlier far hitherto";
    let before = sentence.before().iter().any(|token| token.is_any(earlier));
    match sentence.after() {
        [word, comma, ..] if comma.kind == Kind::Comma => before || word.is_any(earlier),
        [so, far, comma, ..] if comma.kind == Kind::Comma => {
            before || far.is_any("far now") && so.is_any("so until")
        }
        _ => before,
    }
}

/// "…, do not", "…, ignore it".
fn declines(main: &[Token<'_>]) -> bool {
    let ends = |at: usize| {
        main.get(at).is_none_or(|token| {
            token.kind != Kind::Word || token.has(Classes::PRONOUN) || token.is_any("so the any")
        })
    };
    match main {
        [verb, ..] if verb.has(Classes::AVOID) || verb.is_any("disregard decline refuse") => {
            ends(1)
        }
        [verb, not, ..] if verb.is("do") && not.is("not") => {
            ends(2)
                || main.get(2).is_some_and(|token| {
                    token.has(Classes::CALL) || token.is_any("obey follow comply")
                })
        }
        _ => false,
    }
}

/// "`x` ran Python. It was removed in 3.0.", "`x`: a sandbox. Deprecated.", "`x`? Use `bash` instead."
fn refers_back(sentence: &Sentence<'_, '_>, before: &Before) -> Option<Reason> {
    let rest = &sentence.tokens[sentence.bounds.end..];
    let (stop, next) = rest.split_first()?;
    if stop.kind != Kind::Stop {
        return None;
    }
    let end = next
        .iter()
        .take(24)
        .position(|token| matches!(token.kind, Kind::Stop | Kind::Cell))
        .unwrap_or(next.len().min(24));
    let next = &next[..end];
    let next = match next {
        [label, colon, answer @ ..] if colon.kind == Kind::Colon && label.is_any("a answer") => {
            answer
        }
        next => next,
    };
    if is_refusal(next) || is_asked(sentence, before) && answers_no(next) {
        return Some(Reason::Forbidden);
    }
    // "You may come across `x`. Treat it as `bash`."
    if !before.called && phrases::is_replacing(sentence, next) {
        return Some(Reason::Replaced);
    }
    let pronoun = next.first()?.has(Classes::PRONOUN);
    let is_topic = !before.called && before.is_bare;
    if !pronoun && !is_topic {
        return None;
    }
    let subject = next
        .iter()
        .take(3)
        .take_while(|token| {
            token.has(Classes::PRONOUN.or(Classes::FILLER))
                || token.has(Classes::NOUN) && !token.has(Classes::ORDER)
        })
        .count();
    if pronoun && let Some(reason) = super::after::failing(next) {
        return Some(reason);
    }
    let gone = super::after::elliptical(sentence, &next[subject..]);
    match gone {
        Some(reason) => Some(reason),
        None if is_topic && says_other_instead(sentence, next) => Some(Reason::Replaced),
        None => None,
    }
}

/// "Added retries around `x`", "1.0: fixed a crash of `x`": what a changelog says was done.
pub(super) fn is_record(sentence: &Sentence<'_, '_>) -> bool {
    let words = sentence.before();
    let entry = match words {
        [version, sign, entry @ ..]
            if matches!(sign.kind, Kind::Colon | Kind::Dash)
                && version
                    .word
                    .contains(|letter: char| letter.is_ascii_digit()) =>
        {
            entry
        }
        entry => entry,
    };
    sentence.opens_block()
        && entry
            .first()
            .is_some_and(|verb| verb.kind == Kind::Word && verb.word.ends_with("ed"))
}

/// "Can I still use `x`?", "Is `x` still supported?"
fn is_asked(sentence: &Sentence<'_, '_>, before: &Before) -> bool {
    let words = sentence.before();
    let asks = words.windows(2).any(|pair| {
        pair[0].is_any("can may should could must do shall")
            && pair[1].is_any("i we you one it skills")
    });
    let is_there = words
        .last()
        .is_some_and(|last| last.is_any("is are does do"))
        || words
            .windows(2)
            .any(|pair| pair[0].is_any("is are") && pair[1].is("there"));
    let rest = Classes::ADVERB.or(Classes::NOUN);
    let rest = if is_there {
        rest.or(Classes::POSSIBLE)
    } else {
        rest
    };
    (asks && before.called || is_there)
        && sentence
            .after()
            .iter()
            .all(|token| token.has(rest) || token.is_any("any more anymore in vak"))
}

/// "No.", "No, it is gone."
fn answers_no(answer: &[Token<'_>]) -> bool {
    match answer {
        [no] => no.is("no"),
        [no, next, ..] => no.is("no") && (next.kind != Kind::Word || next.is("longer")),
        [] => false,
    }
}

/// "You might be tempted to call `x`. Don't."
fn is_refusal(next: &[Token<'_>]) -> bool {
    match next {
        [verb, not] => verb.is("do") && not.is("not"),
        [verb, not, it] => verb.is("do") && not.is("not") && it.has(Classes::PRONOUN),
        _ => false,
    }
}
