//! What the words after a name say of it: "… was removed", "… no longer exists", "… (deprecated)",
//! "… must not be called", "… → `bash`", "…: use `bash`".
//!
//! The name must be the subject: only what a tool is called, a parenthesis, "which" and helping verbs may
//! stand between it and the statement. A negated "gone" says that it is there.

use super::super::Reason;
use super::lexicon::Classes;
use super::limit;
use super::phrases;
use super::sentence::Sentence;
use super::tokens::{Kind, Token};

/// Hears the words after a name.
pub(super) fn hear(sentence: &Sentence<'_, '_>) -> Option<Reason> {
    let words = sentence.after();
    if is_taken_out(sentence) {
        return Some(Reason::Gone);
    }
    if is_part(sentence) {
        return None;
    }
    // "tools that are gone (`x`, `y`) must not be named"
    let opened = sentence
        .before()
        .iter()
        .rev()
        .find(|token| !token.has(Classes::FILLER.or(Classes::NOUN)));
    let in_parenthesis = opened.is_some_and(|token| token.kind == Kind::Open)
        && words.first().is_some_and(|token| token.kind == Kind::Close);
    let mut at = skip_subject(words, usize::from(in_parenthesis));
    if words.get(at).is_some_and(|token| token.is("'s")) {
        let ends = words.get(at + 1).is_some_and(|next| {
            next.has(Classes::ENDING)
                || next.is_any("replacement successor")
                || next.is_any("job work role place duties")
                    && sentence
                        .before()
                        .iter()
                        .any(|token| sentence.is_replacement(token))
        });
        if ends {
            return Some(Reason::Gone);
        }
    }
    if let Some(token) = words.get(at)
        && token.kind == Kind::Open
    {
        let inside = &words[at + 1..closing(words, at)];
        if let Some(reason) = aside(sentence, inside) {
            return Some(reason);
        }
        at = skip_subject(words, (closing(words, at) + 1).min(words.len()));
    }

    statement(sentence, &words[skip_place(sentence, words, at)..])
}

/// "Any mention of `x` in a skill is …": skips the place, to the verb.
fn skip_place(sentence: &Sentence<'_, '_>, words: &[Token<'_>], at: usize) -> usize {
    let of_use = match sentence.before() {
        [.., noun, of] => of.is_any("of to") && noun.has(Classes::NOUN.or(Classes::CALL)),
        _ => false,
    };
    let is_place = words
        .get(at)
        .is_some_and(|token| token.is_any("in within inside from"));
    let place = words[at..]
        .iter()
        .take(5)
        .position(|token| token.has(Classes::BE));
    match place {
        Some(length) if of_use && is_place => at + length,
        _ => at,
    }
}

/// Whether what follows is said of something of the tool's: "the output of `x`", "files written by `x`". Calls,
/// uses and days of a tool stand for it.
fn is_part(sentence: &Sentence<'_, '_>) -> bool {
    let before = sentence.before();
    let called = Classes::FILLER.or(Classes::NOUN).or(Classes::ADVERB);
    let Some(tie) = before.iter().rposition(|token| !token.has(called)) else {
        return false;
    };
    let Some(thing) = tie.checked_sub(1).map(|at| &before[at]) else {
        return false;
    };
    let is_infinitive = before
        .get(tie + 1)
        .is_some_and(|next| next.has(Classes::ORDER));
    let has_verb = before[..tie].iter().any(|token| token.has(Classes::BE));
    let is_listed = sentence.group.start < sentence.target;
    if is_infinitive || has_verb || is_listed || thing.is_version() {
        return false;
    }
    match &*before[tie].word {
        "of" | "to" | "for" | "on" | "about" => {
            let stands = Classes::NOUN
                .or(Classes::CALL)
                .or(Classes::ENDING)
                .or(Classes::GONE)
                .or(Classes::AVOID);
            thing.has(Classes::PRODUCT)
                || thing.is_any("switch start query")
                || !thing.has(stands) && !thing.is_any(STANDING_FOR)
        }
        "with" => !thing.has(Classes::WRITING) || thing.has(Classes::PRODUCT),
        "in" | "by" | "from" | "behind" | "inside" | "within" | "under" | "into" | "through"
        | "via" => thing.kind == Kind::Word && !thing.is_any("as out") || thing.is_code(),
        _ => false,
    }
}

/// What stands for a tool when it is "of" that tool.
const STANDING_FOR: &str = "day days time times era age reign life version versions dependency dependencies dependence \
                            reliance availability existence request requests need case one none some any all many \
                            both each out instead place lieu favor favour substitute replacement alternative successor";

/// Skips what the tool is called behind its name.
fn skip_subject(words: &[Token<'_>], from: usize) -> usize {
    let length = words[from..]
        .iter()
        .take_while(|token| token.has(Classes::NOUN) && !token.is("need") && !token.is("needs"))
        .count();
    from + length
}

/// Whether the sentence tells what the name does: "`x` truncates its output". What it did is no more.
pub(super) fn tells(sentence: &Sentence<'_, '_>) -> bool {
    let words = sentence.after();
    let verb = words[skip_subject(words, 0)..]
        .iter()
        .find(|token| !token.has(Classes::ADVERB));
    verb.is_some_and(|token| {
        let known = Classes::FILLER.or(Classes::CLOSER).or(Classes::OPENER);
        let present = token.word.len() > 2 && token.word.ends_with('s') && !token.is("was");
        token.kind == Kind::Word
            && !token.has(known)
            && (present
                || token.is_any("is are has have can will must may do should need want take"))
    })
}

/// The closing parenthesis, or the end.
fn closing(words: &[Token<'_>], open: usize) -> usize {
    words[open..]
        .iter()
        .position(|token| token.kind == Kind::Close)
        .map_or(words.len(), |length| open + length)
}

/// A parenthesis behind the name: "(removed)", "(→ `bash`)", "(use `bash`)", "(no longer available)".
fn aside(sentence: &Sentence<'_, '_>, inside: &[Token<'_>]) -> Option<Reason> {
    let first = inside.first()?;
    if first.has(Classes::FORMERLY) || first.is("was") {
        return None;
    }
    if let Some(reason) = predicate(sentence, inside, Subject::Aside) {
        return Some(reason);
    }
    let mapped =
        matches!(first.kind, Kind::Arrow) || first.has(Classes::ORDER) || first.is_any("now see");
    (mapped && inside.iter().any(|token| sentence.is_replacement(token))).then_some(Reason::Mapped)
}

/// How a statement is tied to the name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Right behind it: "`x` was removed".
    Direct,
    /// Behind a comma, a dash, a colon: "`x`: removed in 3.0".
    Apposed,
    /// In a parenthesis.
    Aside,
}

fn statement(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> Option<Reason> {
    let first = words.first()?;
    match first.kind {
        Kind::Bad => Some(Reason::Forbidden),
        Kind::Arrow => arrow(sentence, &words[1..]),
        Kind::BackArrow => None,
        Kind::Comma | Kind::Dash | Kind::Colon => apposition(sentence, words),
        Kind::Word if first.is_any("which that who") => {
            predicate(sentence, &words[1..], Subject::Direct)
        }
        Kind::Word => predicate(sentence, words, Subject::Direct),
        _ => None,
    }
}

/// What stands behind a comma, a dash or a colon.
fn apposition(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> Option<Reason> {
    let sign = words[0].kind;
    let rest = &words[1..];
    let first = rest.first()?;
    if first.is_any("which that") {
        let unknown = rest
            .windows(2)
            .take(5)
            .any(|pair| pair[0].is("no") && pair[1].is("longer"));
        return predicate(sentence, &rest[1..], Subject::Direct)
            .or(unknown.then_some(Reason::Gone));
    }
    if first.kind == Kind::Bad {
        return Some(Reason::Forbidden);
    }
    if let Some(reason) = predicate(sentence, rest, Subject::Apposed) {
        return Some(reason);
    }
    if sign == Kind::Comma {
        return interrupted(sentence, rest);
    }
    maps_to(sentence, rest)
}

/// "`x`, like `y`, was removed": the statement behind the second comma.
fn interrupted(sentence: &Sentence<'_, '_>, rest: &[Token<'_>]) -> Option<Reason> {
    let comma = rest
        .iter()
        .take(10)
        .position(|token| token.kind == Kind::Comma)?;
    let inner = &rest[..comma];
    let is_aside = inner.first().is_some_and(|token| {
        token.is_any("like along together once formerly our the a an as for too mentioned named shown listed")
    });
    let after = rest.get(comma + 1)?;
    (is_aside && after.has(Classes::AUX) && !after.is("to"))
        .then(|| predicate(sentence, &rest[comma + 1..], Subject::Direct))
        .flatten()
}

/// "`x`: use `bash`", "`x` — now `bash`", "`x`: `bash`"; only where the name opens its line.
fn maps_to(sentence: &Sentence<'_, '_>, rest: &[Token<'_>]) -> Option<Reason> {
    let opens = sentence
        .before()
        .iter()
        .all(|token| token.has(Classes::FILLER) || token.kind == Kind::Good);
    let code = rest.iter().position(Token::is_code)?;
    let leads = rest[..code].iter().all(|token| {
        token.has(
            Classes::ORDER
                .or(Classes::FILLER)
                .or(Classes::NOUN)
                .or(Classes::ADVERB)
                .or(Classes::CALL),
        ) || token.is_any("plain instead with by to via see")
    });
    (opens && leads && sentence.is_replacement(&rest[code])).then_some(Reason::Mapped)
}

/// A mapping has one arrow, the name alone before it, and the replacement behind it; more arrows are a sequence.
fn arrow(sentence: &Sentence<'_, '_>, rest: &[Token<'_>]) -> Option<Reason> {
    let whole = &sentence.tokens[sentence.bounds.clone()];
    let arrows = whole
        .iter()
        .filter(|token| matches!(token.kind, Kind::Arrow | Kind::BackArrow))
        .count();
    let before = sentence.before();
    let start = before
        .iter()
        .rposition(|token| {
            matches!(
                token.kind,
                Kind::Open | Kind::Comma | Kind::Semicolon | Kind::Colon
            )
        })
        .map_or(0, |at| at + 1);
    let alone = before[start..].iter().all(|token| {
        token.has(
            Classes::FILLER
                .or(Classes::NOUN)
                .or(Classes::OLD)
                .or(Classes::GONE),
        ) && !token.has(Classes::ORDER)
    });
    let is_sequence = before[..start].iter().any(|token| {
        token.is_any("flow pipeline sequence order steps workflow chain path loop run call")
    });
    let segment = rest
        .iter()
        .position(|token| {
            matches!(
                token.kind,
                Kind::Arrow | Kind::Comma | Kind::Semicolon | Kind::Close
            )
        })
        .map_or(rest, |end| &rest[..end]);
    let lists_pairs = arrows > 1
        && rest
            .get(segment.len())
            .is_some_and(|token| matches!(token.kind, Kind::Comma | Kind::Semicolon));
    let holds_replacement = segment.iter().any(|token| sentence.is_replacement(token));
    let says_gone = segment
        .first()
        .is_some_and(|token| token.has(Classes::GONE) || token.kind == Kind::Bad);
    let one = arrows == 1 || lists_pairs;
    (one && alone && !is_sequence && (holds_replacement || says_gone)).then_some(Reason::Mapped)
}

/// The verb group behind the subject: helping verbs, adverbs, negations, then what is said.
fn predicate(sentence: &Sentence<'_, '_>, words: &[Token<'_>], subject: Subject) -> Option<Reason> {
    let verb = VerbGroup::read(words);
    let rest = &words[verb.length..];
    if verb.no_longer {
        let ends = ends_being(rest) && !is_narrowed(sentence, rest, &verb);
        return ends.then_some(Reason::Gone);
    }
    let head = rest.first()?;
    if is_interrupted(sentence, rest, &verb) {
        return None;
    }
    if !agrees(sentence, words) {
        return None;
    }
    if let Some(reason) = phrases::statement(sentence, rest, verb.helped, verb.negated) {
        return Some(reason);
    }
    if (verb.helped || subject != Subject::Direct || ends_statement(rest))
        && let Some(reason) = says_gone(sentence, &verb, rest, subject)
    {
        return Some(reason);
    }
    if verb.negated && head.has(Classes::POSSIBLE) {
        let narrowed = is_narrowed(sentence, rest, &verb) || is_limited(words, rest);
        return (!narrowed).then(|| ruled_out(sentence, words));
    }
    let once = words
        .first()
        .is_some_and(|first| first.is_any("once formerly previously originally"));
    if once && head.is_any("ran did existed evaluated computed rendered executed handled served") {
        return Some(Reason::History);
    }
    if verb.was && head.is("part") {
        return Some(Reason::History);
    }

    if head.is("used")
        && !verb.helped
        && rest.get(1).is_some_and(|token| token.is("to"))
        && subject == Subject::Direct
    {
        return Some(Reason::History);
    }
    let is_refused = verb.helped
        && !verb.negated
        && head.is_any(
            "rejected refused declined flagged reported updated fixed rewritten migrated ported",
        );
    // "If the call to `x` fails, …" is about one call.
    let fails = !verb.negated
        && fails(rest)
        && !is_conditional(sentence)
        && !limit::limits(sentence, rest, verb.was);
    if (is_refused || fails) && is_called(sentence) {
        return Some(Reason::Gone);
    }
    if subject != Subject::Direct && says_forbidden(rest, &verb) {
        return Some(Reason::Forbidden);
    }
    None
}

/// "is", "has now been", "must not be": what may stand before the word that says it.
struct VerbGroup {
    length: usize,
    helped: bool,
    negated: bool,
    no_longer: bool,
    now: bool,
    became: bool,
    /// Whether a form of "be" is among the helping verbs.
    passive: bool,
    /// Whether it is "was" or "were".
    was: bool,
}

impl VerbGroup {
    fn read(words: &[Token<'_>]) -> VerbGroup {
        let mut verb = VerbGroup {
            length: 0,
            helped: false,
            negated: false,
            no_longer: false,
            now: false,
            became: false,
            passive: false,
            was: false,
        };
        for token in words {
            if token.is_any("not never") {
                verb.negated = !verb.negated;
            } else if token.is("no")
                && words
                    .get(verb.length + 1)
                    .is_some_and(|next| next.is_any("longer more"))
            {
                verb.no_longer = true;
                verb.length += 2;
                break;
            } else if token.has(Classes::AUX) && !token.is("to") || token.is("to") && verb.helped {
                verb.helped = true;
            } else if !token.has(Classes::ADVERB) && !token.is("and") {
                break;
            }
            verb.passive |=
                token.is_any("is are was were be been being 's 're got get gets becomes became");
            verb.was |= token.is_any("was were") || token.is("been") && !verb.negated;
            verb.now |= token.is("now");
            verb.became |= token.is_any("became becomes become");
            verb.length += 1;
        }
        verb
    }
}

/// Whether "no longer" ends the tool: "no longer exists", but not "no longer needs a key".
fn ends_being(rest: &[Token<'_>]) -> bool {
    rest.first().is_none_or(|head| {
        let acts =
            head.word.ends_with('s') && head.kind == Kind::Word && !head.is_any("is was does this");
        let has = head.is_any("need require have take than ask");
        // "no longer deprecated", "no longer limited to 60 s": a fault of the tool ended.
        let has = has
            || head.has(Classes::GONE.or(Classes::ABSENT))
            || head.is_any(
                "limited restricted capped bound slow slower experimental broken unstable beta",
            );
        head.has(Classes::POSSIBLE) || !(acts || has)
    })
}

/// In "call `a` and `b` is gone" the verb is the last tool's alone.
fn agrees(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> bool {
    let singular = words
        .first()
        .is_some_and(|token| token.is_any("is was has does"));
    let joined = sentence.tokens[sentence.group.clone()]
        .iter()
        .any(|token| token.is("and"));
    !(singular && joined) || sentence.tokens[sentence.target + 1..sentence.group.end].is_empty()
}

fn says_gone(
    sentence: &Sentence<'_, '_>,
    verb: &VerbGroup,
    rest: &[Token<'_>],
    subject: Subject,
) -> Option<Reason> {
    if let Some(reason) = becomes(sentence, verb, rest) {
        return Some(reason);
    }
    // "is one of the removed tools", "was the old name of `bash`".
    let skipped = rest
        .iter()
        .take(6)
        .take_while(|token| {
            token.has(Classes::FILLER) || token.is_any("one of among part only tool tools")
        })
        .count();
    let head = rest.get(skipped)?;
    let nominal = skipped > 0;
    let gone = head.has(Classes::GONE) || (nominal && verb.helped && head.has(Classes::OLD));
    if gone && (!nominal || verb.helped) {
        let statement = &rest[skipped..];
        // "has replaced `y`" acts on something else; "has been replaced" is done to the name.
        let asserted = verb.passive
            || head.is("gone")
            || subject == Subject::Aside
            || ends_statement(statement);
        return (asserted && !verb.negated).then(|| absent_or_gone(sentence, head));
    }
    if nominal {
        return None;
    }
    let absent =
        head.has(Classes::ABSENT) && verb.helped && !verb.negated && is_conditional(sentence);
    if absent {
        return Some(Reason::Absent);
    }
    None
}

/// "is now `bash`", "is called `bash` now", "became `bash`".
fn becomes(sentence: &Sentence<'_, '_>, verb: &VerbGroup, rest: &[Token<'_>]) -> Option<Reason> {
    let named = verb.now
        || verb.became
        || rest
            .first()
            .is_some_and(|token| token.is_any("called named known spelt spelled written"));
    let code = rest.iter().take(4).find(|token| token.is_code());
    (verb.helped
        && !verb.negated
        && named
        && code.is_some_and(|token| sentence.is_replacement(token)))
    .then_some(Reason::Mapped)
}

/// Whether a participle ends what is said: "removed in 3.0", "removed.", not "removed the rows".
fn ends_statement(rest: &[Token<'_>]) -> bool {
    rest.first().is_some_and(|token| token.has(Classes::GONE))
        && rest.get(1).is_none_or(|next| {
            next.kind != Kind::Word && !next.is_code()
                || next.has(Classes::CLOSER)
                || next.word.starts_with(|digit: char| digit.is_ascii_digit())
        })
}

/// Whether the words behind what is said limit it: "does not work on files" does not say that nothing works.
fn is_narrowed(sentence: &Sentence<'_, '_>, rest: &[Token<'_>], verb: &VerbGroup) -> bool {
    let Some((head, behind)) = rest.split_first() else {
        return false;
    };
    let transitive = head.is_any("include included answer found run work works function functions")
        && behind.first().is_some_and(|next| {
            next.kind == Kind::Word
                && !next.has(Classes::CLOSER.or(Classes::ADVERB).or(Classes::OPENER))
                && !next.is_any("any anymore here from directly longer more")
        });
    transitive || limit::limits(sentence, behind, verb.was)
}

/// "is killed after 60 seconds", "if it died": one call ended, not the tool.
fn is_interrupted(sentence: &Sentence<'_, '_>, rest: &[Token<'_>], verb: &VerbGroup) -> bool {
    let Some((head, behind)) = rest.split_first() else {
        return false;
    };
    let undone = verb.negated && head.is_any("run called used executed invoked tried");
    let one_call = (limit::is_interruption(head) || undone) && is_conditional(sentence);
    let from = head.is_any("renamed moved merged converted ported migrated")
        && behind.first().is_some_and(|next| next.is("from"))
        && !behind.iter().any(|token| sentence.is_replacement(token));
    let object = head.is("denied") && behind.first().is_some_and(is_object);
    let passing = limit::is_passing(head) && limit::limits(sentence, behind, verb.was);
    let will_pass = head.has(Classes::GONE) && !verb.was && limit::will_pass(behind);
    one_call || from || object || passing || will_pass
}

fn is_object(token: &Token<'_>) -> bool {
    token.kind == Kind::Word
        && !token.has(
            Classes::CLOSER
                .or(Classes::ADVERB)
                .or(Classes::OPENER)
                .or(Classes::AUX),
        )
        && !token.is_any("any anymore here everywhere")
}

/// "must not be called with an empty string" limits a call to some cases.
fn is_limited(words: &[Token<'_>], rest: &[Token<'_>]) -> bool {
    let ordered = words
        .iter()
        .take(2)
        .any(|token| token.is_any("must should may shall"));
    let called = rest
        .first()
        .is_some_and(|head| head.is_any("called run invoked used executed"));
    ordered
        && called
        && rest[1..]
            .iter()
            .take_while(|token| token.kind == Kind::Word)
            .any(|token| {
                token.has(Classes::LIMIT)
                    || token.is_any("with parallel more when while if alone together than")
            })
}

fn ruled_out(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> Reason {
    if is_conditional(sentence) {
        return Reason::Absent;
    }
    let ordered = words
        .iter()
        .take(3)
        .any(|token| token.is_any("must should may shall can cannot could need needs"));
    if ordered {
        Reason::Forbidden
    } else {
        Reason::Gone
    }
}

fn absent_or_gone(sentence: &Sentence<'_, '_>, head: &Token<'_>) -> Reason {
    if is_conditional(sentence) && head.has(Classes::ABSENT) {
        Reason::Absent
    } else if head.is_any("banned forbidden prohibited disallowed off-limits blocked") {
        Reason::Forbidden
    } else if head.is_any("replaced superseded renamed") {
        Reason::Replaced
    } else {
        Reason::Gone
    }
}

/// "take `x` out of", "leave `x` out".
fn is_taken_out(sentence: &Sentence<'_, '_>) -> bool {
    let verb = sentence.before().iter().rev().find(|token| {
        !token.has(Classes::FILLER.or(Classes::NOUN)) && !token.is_any("call calls to of")
    });
    let next = sentence
        .after()
        .iter()
        .find(|token| !token.has(Classes::NOUN));
    verb.is_some_and(|token| {
        token.is_any("take leave keep throw cut rip leaves leaving scrub weed wipe")
    }) && next.is_some_and(|token| token.is_any("out off away alone"))
}

/// Whether the name stands in an "if" or "when" clause.
fn is_conditional(sentence: &Sentence<'_, '_>) -> bool {
    sentence
        .before()
        .iter()
        .rev()
        .take(6)
        .any(|token| token.has(Classes::CONDITION))
}

/// "Calls to `x` fail": only behind a noun that makes the call the subject.
fn is_called(sentence: &Sentence<'_, '_>) -> bool {
    let is_call = |token: &Token<'_>| {
        token.is_any("call calls invocation invocations mention mentions use uses usage")
    };
    if sentence.after().first().is_some_and(is_call) {
        return true;
    }
    match sentence.before() {
        [.., last] if last.is_any("calling invoking using") => true,
        [.., noun, last] if noun.is_any("support") && last.is("for") => true,
        [.., noun, to, last]
            if noun.is_any("attempt attempts") && to.is("to") && last.has(Classes::CALL) =>
        {
            true
        }
        words @ [.., last] if last.has(Classes::CALL) => words
            .iter()
            .rev()
            .take(5)
            .any(|token| token.is_any("that which who whoever")),
        [.., noun, last] => {
            last.is_any("to of")
                && (is_call(noun) || noun.is_any("availability existence life days"))
        }
        _ => false,
    }
}

fn fails(rest: &[Token<'_>]) -> bool {
    let says_error = rest
        .iter()
        .take(6)
        .any(|token| token.is_any("error errors") || token.word.starts_with("unknown"));
    if says_error
        && rest.first().is_some_and(|token| {
            token.is_any("results result returns return gives gets raises leads ends")
        })
    {
        return true;
    }
    rest.first().is_some_and(|token| {
        token.is_any("fail fails error errors failed ended ends ceased stopped")
    }) && rest.get(1).is_none_or(|next| {
        next.kind != Kind::Word
            || next.is_any("now since with because outright always and in as after")
    })
}

/// "`x` — do not use", "`x`: never call this".
fn says_forbidden(rest: &[Token<'_>], verb: &VerbGroup) -> bool {
    let head = rest.first();
    let orders = head.is_some_and(|token| token.has(Classes::CALL));
    let ends = rest.get(1).is_none_or(|next| {
        next.kind != Kind::Word
            || next.is_any("it this them these that any anymore here at in ever again")
    });
    let avoided = head.is_some_and(|token| token.is_any("avoid never"));
    (verb.negated && orders && ends) || (avoided && ends)
}

/// A sentence of its own that speaks of the name before it: "Removed in 3.0.", "Do not use it."
pub(super) fn elliptical(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> Option<Reason> {
    predicate(sentence, words, Subject::Apposed)
}

/// Another cell of the name's table row: "removed", "use `bash`", "❌".
pub(super) fn status(sentence: &Sentence<'_, '_>, cell: &[Token<'_>]) -> Option<Reason> {
    predicate(sentence, cell, Subject::Apposed).or_else(|| of_pronoun(sentence, cell))
}

/// "…, but it was removed": a pronoun that stands for the name, and what is stated of it.
pub(super) fn of_pronoun(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> Option<Reason> {
    if let Some(reason) = failing(words) {
        return Some(reason);
    }
    let at = words.iter().enumerate().position(|(at, token)| {
        token.is_any("it they both")
            // "that tool"
            || token.is_any("tool tools function")
                && at > 0
                && words[at - 1].is_any("that this these those")
    })?;
    let said = &words[at + 1..];
    if said.first()?.is("that") {
        return None;
    }
    predicate(sentence, said, Subject::Direct)
}

/// "`x` ran Python and is gone now": a second statement of the same subject.
pub(super) fn coordinated(sentence: &Sentence<'_, '_>) -> Option<Reason> {
    if is_part(sentence) {
        return None;
    }
    let words = sentence.after();
    let ends = |token: &Token<'_>| token.is_code() || token.kind == Kind::Semicolon;
    let reach = words.iter().position(ends).unwrap_or(words.len());
    (1..reach)
        .filter(|at| words[at - 1].is_any("and but") && words[*at].has(Classes::BE))
        .find_map(|at| predicate(sentence, &words[at..], Subject::Direct))
}

/// "That call fails."
pub(super) fn failing(words: &[Token<'_>]) -> Option<Reason> {
    words
        .windows(3)
        .any(|triple| {
            triple[0].is_any("that this such those the")
                && triple[1].is_any("call calls")
                && triple[2].is_any("fail fails")
        })
        .then_some(Reason::Gone)
}
