//! The neighbourhood that is heard for one name: its sentence, and the tools it is named together with.

use std::ops::Range;

use super::lexicon::Classes;
use super::tokens::{Kind, Token};

/// How many words of a sentence are heard on either side of a name.
const REACH: usize = 60;

/// One name in its sentence.
#[derive(Clone)]
pub(super) struct Sentence<'v, 't> {
    pub(super) tokens: &'v [Token<'t>],
    /// The sentence, or the table cell.
    pub(super) bounds: Range<usize>,
    /// The name.
    pub(super) target: usize,
    /// The name and the tools beside it that share what is said: "`a`, `b` and `c`".
    pub(super) group: Range<usize>,
    /// The names that may stand in for it.
    pub(super) replacements: &'v [String],
}

impl<'v, 't> Sentence<'v, 't> {
    pub(super) fn around(
        tokens: &'v [Token<'t>],
        target: usize,
        replacements: &'v [String],
    ) -> Sentence<'v, 't> {
        let ends = |token: &Token<'_>| matches!(token.kind, Kind::Stop | Kind::Cell);
        let first = target.saturating_sub(REACH);
        let start = tokens[first..target]
            .iter()
            .rposition(ends)
            .map_or(first, |at| first + at + 1);
        let last = (target + REACH).min(tokens.len());
        let end = tokens[target..last]
            .iter()
            .position(ends)
            .map_or(last, |at| target + at);
        let bounds = start..end;
        Sentence {
            tokens,
            group: group(tokens, &bounds, target),
            bounds,
            target,
            replacements,
        }
    }

    /// The tokens after the group, to the end of the sentence.
    pub(super) fn after(&self) -> &'v [Token<'t>] {
        &self.tokens[self.group.end..self.bounds.end]
    }

    /// The tokens before the group, from the start of the sentence.
    pub(super) fn before(&self) -> &'v [Token<'t>] {
        &self.tokens[self.bounds.start..self.group.start]
    }

    /// Whether a token is a name that stands in for this one.
    pub(super) fn is_replacement(&self, token: &Token<'_>) -> bool {
        // "`bash(command)`" and "`bash -c`" call it.
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let called = token
            .word
            .split(|letter| !is_part(letter))
            .next()
            .unwrap_or_default();
        !token.is_name()
            && self
                .replacements
                .iter()
                .any(|name| name.eq_ignore_ascii_case(called))
    }

    /// Whether the name only says whose the thing behind it is: "`x` output", "`x`'s errors".
    pub(super) fn is_owner(&self) -> bool {
        match self.after() {
            [owns, thing, ..] if owns.is("'s") => {
                !thing.has(Classes::ENDING.or(Classes::NOUN).or(Classes::GONE))
            }
            // In "the old `x` returns an error" it is a verb.
            [thing, object, ..] if thing.has(Classes::PRODUCT) => {
                !object.is_any("a an the its your no nothing it them")
            }
            // "`x` deprecation warnings"
            [kind, thing, ..] if thing.has(Classes::PRODUCT) => {
                let verbal = Classes::CLOSER
                    .or(Classes::AUX)
                    .or(Classes::CALL)
                    .or(Classes::OPENER)
                    .or(Classes::FILLER)
                    .or(Classes::ADVERB);
                kind.kind == Kind::Word && !kind.has(verbal) && !kind.word.ends_with('s')
            }
            [thing] => thing.has(Classes::PRODUCT),
            _ => false,
        }
    }

    /// Whether the sentence opens its block: nothing stands before it.
    pub(super) fn opens_block(&self) -> bool {
        let before = &self.tokens[..self.bounds.start];
        before.last().is_none_or(|token| token.kind == Kind::Cell)
    }
}

/// Widens a name to the list of tools it is one of.
fn group(tokens: &[Token<'_>], bounds: &Range<usize>, target: usize) -> Range<usize> {
    let left = &tokens[bounds.start..target];
    let right = &tokens[target + 1..bounds.end];
    let start = target - reach(left.iter().rev());
    let end = target + 1 + reach(right.iter());
    let wide = start..end;
    if shares_predicate(
        &tokens[wide.clone()],
        tokens.get(end).filter(|_| end < bounds.end),
    ) {
        wide
    } else {
        target..target + 1
    }
}

/// How far a list of tools goes on from its one end: code, then separators, then code.
fn reach<'s, 't: 's>(tokens: impl Iterator<Item = &'s Token<'t>>) -> usize {
    let (mut reached, mut separated) = (0, false);
    for (at, token) in tokens.enumerate() {
        if at - reached > MOST_BETWEEN {
            break;
        }
        if token.is_code() {
            if !separated {
                break;
            }
            (reached, separated) = (at + 1, false);
        } else if matches!(token.kind, Kind::Comma | Kind::Slash) || token.is_any("and or nor") {
            separated = true;
        } else if !token.has(Classes::FILLER.or(Classes::NOUN)) || token.has(Classes::ORDER) {
            break;
        }
    }
    reached
}

/// How many words may stand between two tools of a list.
const MOST_BETWEEN: usize = 4;

/// Whether a list of tools is one: with a conjunction, or with commas and an end or a plural behind it.
/// "Unlike `a`, `b` keeps state" holds no list.
fn shares_predicate(list: &[Token<'_>], next: Option<&Token<'_>>) -> bool {
    let conjoined = list
        .iter()
        .any(|token| token.kind == Kind::Slash || token.is_any("and or nor"));
    conjoined
        || next.is_none_or(|next| {
            next.kind != Kind::Word
                || next.has(Classes::NOUN)
                || next.is_any("are were have do did no")
        })
}
