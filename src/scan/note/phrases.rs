//! Turns of speech that rule 5 knows, as short patterns over words, and how they are matched.
//!
//! A pattern is a row of parts: `went|goes` is one of these words, `{gone}` a word of that class, `{new}` the
//! name's replacement, `{version}` a version number, `..3` up to three words of any kind, `$` the end of the clause.

use std::sync::LazyLock;

use super::super::Reason;
use super::lexicon::Classes;
use super::sentence::Sentence;
use super::tokens::{Kind, Token};

/// What must stand between a name and a statement for the statement to be about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Nothing more: the pattern holds the verb itself.
    Own,
    /// A helping verb: "is", "has been", "was now".
    Helped,
    /// A negated helping verb: "is not", "cannot".
    Negated,
}

/// What can be stated of a name, behind its helping verbs.
const STATEMENTS: &[(Verb, Reason, &str)] = &[
    (Verb::Own, Reason::Gone, "went|goes|go away"),
    (Verb::Own, Reason::Gone, "disappeared|vanished|died"),
    (
        Verb::Own,
        Reason::Gone,
        "ceased|ceases|stopped ..1 exist|existing|working|work",
    ),
    (Verb::Helped, Reason::Gone, "a|an unknown|undefined {noun}"),
    (Verb::Helped, Reason::Gone, "unknown|undefined to vak"),
    (Verb::Helped, Reason::Gone, "unknown|undefined $"),
    (Verb::Own, Reason::Gone, "bowed|faded|dropped out"),
    (Verb::Own, Reason::Gone, "expired $"),
    (Verb::Own, Reason::Gone, "expired in|with|since|on|as|at"),
    (Verb::Own, Reason::Gone, "as ..2 {gone}"),
    (Verb::Own, Reason::Gone, "counts as ..1 {gone}"),
    (
        Verb::Own,
        Reason::Mapped,
        "lives|live|survives ..1 as {new}",
    ),
    (
        Verb::Own,
        Reason::Gone,
        "came|shipped|existed|lived|worked|ran with|in|on|until ..2 {old}|vak",
    ),
    (
        Verb::Own,
        Reason::History,
        "in|from|of|with ..1 {old} ..1 {writing}",
    ),
    (Verb::Own, Reason::History, "in the past"),
    (
        Verb::Own,
        Reason::History,
        "..3 before|until|till {version}",
    ),
    (Verb::Own, Reason::Gone, "belongs|belong ..2 past|history"),
    (
        Verb::Own,
        Reason::Gone,
        "exists|exist|existed|lives|works only in|on|with ..2 {old}",
    ),
    (
        Verb::Own,
        Reason::Gone,
        "moved|merged|folded|migrated|changed|turned|rolled to|into ..4 {new}|{old}|{gone}|history|archive|attic|plugin",
    ),
    (
        Verb::Own,
        Reason::Mapped,
        "resolves|turns|maps|redirects|points|leads|translates|refers|means|gave|made|gives|go|goes|went way|to|for|into|through|via ..2 {new}",
    ),
    (Verb::Own, Reason::Mapped, "became|becomes|means ..1 {new}"),
    (
        Verb::Helped,
        Reason::Gone,
        "switched|turned|taken|cut|thrown|ripped|shut|phased|weeded away|off|out|down",
    ),
    (Verb::Helped, Reason::Gone, "going|gone away"),
    (Verb::Helped, Reason::Gone, "go $"),
    (Verb::Helped, Reason::Gone, "off since"),
    (
        Verb::Helped,
        Reason::Gone,
        "answered|met with ..1 error|refusal",
    ),
    (Verb::Helped, Reason::Gone, "off limits"),
    (Verb::Helped, Reason::Gone, "on ..2 out"),
    (Verb::Helped, Reason::Gone, "reached ..2 end|eol"),
    (
        Verb::Helped,
        Reason::Gone,
        "..4 past|history|relic|relics|leftover|remnant|over|compatibility $",
    ),
    (Verb::Helped, Reason::Gone, "no|a|its replacement|successor"),
    (Verb::Helped, Reason::Gone, "no effect"),
    (Verb::Helped, Reason::Gone, "broken"),
    (
        Verb::Helped,
        Reason::Mapped,
        "mapped|translated|redirected|resolved|pointed|turned|routed|sent to|into|through ..1 {new}",
    ),
    (
        Verb::Helped,
        Reason::Replaced,
        "given|made way to|for {new}",
    ),
    (
        Verb::Helped,
        Reason::Gone,
        "unnecessary|needless|superfluous|redundant",
    ),
    (
        Verb::Helped,
        Reason::Gone,
        "..6 tool|tools|name|names that|which {be} ..1 {gone}",
    ),
    (
        Verb::Helped,
        Reason::Gone,
        "..4 {gone} tool|tools|name|names",
    ),
    (
        Verb::Helped,
        Reason::Gone,
        "moved|merged|folded|migrated|changed|turned|rolled to|into ..4 {new}|{old}|{gone}|history|archive|attic|plugin",
    ),
    (Verb::Helped, Reason::Gone, "out of date"),
    (Verb::Helped, Reason::Forbidden, "a mistake|violation|no-go"),
    (
        Verb::Helped,
        Reason::Gone,
        "pointless|useless|futile|verboten|taboo",
    ),
    (
        Verb::Helped,
        Reason::Replaced,
        "unified|consolidated|combined|collapsed|absorbed|subsumed|united into|with|by|in {new}",
    ),
    (
        Verb::Helped,
        Reason::Replaced,
        "rewritten|ported|converted|migrated|updated|moved|unified ..4 {new}",
    ),
    (
        Verb::Helped,
        Reason::Mapped,
        "{old} name|names for|of {new}",
    ),
    (Verb::Helped, Reason::Mapped, "called|named|known ..2 {new}"),
    (
        Verb::Helped,
        Reason::Mapped,
        "..3 alias|name|synonym|word|spelling for|of|to {new}",
    ),
    (
        Verb::Helped,
        Reason::History,
        "..6 until|till|before {version}",
    ),
    (
        Verb::Negated,
        Reason::Gone,
        "a|an|one {noun}|option|thing|real|of",
    ),
    (Verb::Negated, Reason::Gone, "come|coming back"),
    (Verb::Negated, Reason::Gone, "return $"),
    (Verb::Negated, Reason::Gone, "any {noun}"),
    (Verb::Negated, Reason::Gone, "made|make it into|to|past"),
];

/// Turns that make another tool take this one's place wherever they stand behind the name.
const REPLACING: &[&str] = &[
    "{replace} {pronoun} with|by|to|into|for {new}",
    "treat|read|take {pronoun} as {new}",
    "done|handled|covered|provided|served|performed|managed|possible by|with|in|through|via {new}",
];

/// The same, in a sentence that begins "anything …", "all that …".
const REPLACING_ALL: &[&str] = &[
    "do|live|lives|happens by|with|in|through {new}",
    "now|today call|calls|use|uses|run|runs|go|goes ..2 {new}",
];

/// What is stated of a name by the words behind its helping verbs.
pub(super) fn statement(
    sentence: &Sentence<'_, '_>,
    rest: &[Token<'_>],
    helped: bool,
    negated: bool,
) -> Option<Reason> {
    static PATTERNS: LazyLock<Vec<(Verb, Reason, Vec<Part>)>> = LazyLock::new(|| {
        let parsed = STATEMENTS
            .iter()
            .map(|(verb, reason, pattern)| (*verb, *reason, parse(pattern)));
        parsed.collect()
    });
    PATTERNS
        .iter()
        .filter(|(verb, _, _)| match verb {
            Verb::Own => !negated,
            Verb::Helped => helped && !negated,
            Verb::Negated => negated,
        })
        .find(|(_, _, pattern)| begins(sentence, rest, pattern))
        .map(|(_, reason, _)| *reason)
}

/// Whether words behind a name put its replacement in its place.
pub(super) fn is_replacing(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> bool {
    static PATTERNS: LazyLock<Vec<Vec<Part>>> =
        LazyLock::new(|| REPLACING.iter().map(|pattern| parse(pattern)).collect());
    holds_any(sentence, words, &PATTERNS)
}

/// Whether they do so in a sentence about everything that the name stood for.
pub(super) fn is_replacing_all(sentence: &Sentence<'_, '_>, words: &[Token<'_>]) -> bool {
    static PATTERNS: LazyLock<Vec<Vec<Part>>> =
        LazyLock::new(|| REPLACING_ALL.iter().map(|pattern| parse(pattern)).collect());
    holds_any(sentence, words, &PATTERNS)
}

fn holds_any(sentence: &Sentence<'_, '_>, words: &[Token<'_>], patterns: &[Vec<Part>]) -> bool {
    (0..words.len()).any(|at| {
        patterns
            .iter()
            .any(|pattern| begins(sentence, &words[at..], pattern))
    })
}

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// One of these.
    One(Vec<Unit>),
    /// Up to so many words.
    Gap(usize),
    /// The end of the clause.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    Word(&'static str),
    Class(Classes),
    New,
    Version,
}

fn parse(pattern: &'static str) -> Vec<Part> {
    pattern
        .split(' ')
        .map(|part| match part.strip_prefix("..") {
            Some(most) => Part::Gap(most.parse().unwrap_or(0)),
            None if part == "$" => Part::End,
            None => Part::One(part.split('|').map(unit).collect()),
        })
        .collect()
}

fn unit(word: &'static str) -> Unit {
    match word {
        "{new}" => Unit::New,
        "{version}" => Unit::Version,
        "{gone}" => Unit::Class(Classes::GONE),
        "{old}" => Unit::Class(Classes::OLD),
        "{be}" => Unit::Class(Classes::BE),
        "{noun}" => Unit::Class(Classes::NOUN),
        "{writing}" => Unit::Class(Classes::WRITING),
        "{pronoun}" => Unit::Class(Classes::PRONOUN),
        "{replace}" => Unit::Class(Classes::REPLACE),
        word => Unit::Word(word),
    }
}

/// Whether words begin with a pattern.
fn begins(sentence: &Sentence<'_, '_>, words: &[Token<'_>], pattern: &[Part]) -> bool {
    let Some((part, others)) = pattern.split_first() else {
        return true;
    };
    match part {
        Part::End => words
            .first()
            .is_none_or(|token| token.kind != Kind::Word && !token.is_code()),
        Part::One(units) => {
            words
                .first()
                .is_some_and(|token| units.iter().any(|unit| fits(sentence, token, unit)))
                && begins(sentence, &words[1..], others)
        }
        Part::Gap(most) => {
            let inner = words
                .iter()
                .take(*most)
                .take_while(|token| token.kind == Kind::Word || token.is_code());
            (0..=inner.count()).any(|skipped| begins(sentence, &words[skipped..], others))
        }
    }
}

fn fits(sentence: &Sentence<'_, '_>, token: &Token<'_>, unit: &Unit) -> bool {
    match unit {
        Unit::Word(word) => token.is(word),
        Unit::Class(class) => token.has(*class),
        Unit::New => sentence.is_replacement(token),
        Unit::Version => token.is_version(),
    }
}
