//! Rule 5: whether a reference's own sentence, list item or table row says that the tool is gone,
//! forbids it, or maps it to its replacement.
//!
//! A name is heard in its sentence ([`sentence`]): what the words before it say ([`before`]), what is stated
//! of it behind ([`after`]), what the rest of the sentence or a sentence that refers back says
//! ([`elsewhere`]). A table row is one statement ([`table`]); a list item that is no sentence of its own
//! takes its meaning from the line or the heading that leads it ([`label`]).

mod after;
mod before;
mod elsewhere;
mod label;
mod lexicon;
mod phrases;
mod sentence;
mod table;
mod tokens;

use super::markdown::{Block, Piece, Role};
use super::references::{Reference, Scope};
use super::{Grade, Reason};
use sentence::Sentence;
use table::Row;

/// Judges the references in a block of running text by what the block says of them.
pub(super) fn hear_block(scope: Scope<'_>, block: &Block<'_>, references: &mut [Reference]) {
    let Block::Text {
        role,
        pieces,
        leads,
        header,
    } = block
    else {
        return;
    };
    let row = matches!(role, Role::Row).then(|| Row::read(scope, pieces, header));
    judge(scope, pieces, leads, row.as_ref(), references);
}

/// Judges references in text that no heading or list leads.
pub(super) fn hear(scope: Scope<'_>, pieces: &[Piece], references: &mut [Reference]) {
    judge(scope, pieces, &[], None, references);
}

fn judge(
    scope: Scope<'_>,
    pieces: &[Piece],
    leads: &[&[Piece]],
    row: Option<&Row<'_>>,
    references: &mut [Reference],
) {
    if references.is_empty() {
        return;
    }
    let tokens = tokens::read(scope, pieces);
    for reference in references {
        let target = tokens.partition_point(|token| token.range.end <= reference.range.start);
        let holds = tokens
            .get(target)
            .is_some_and(|token| token.is_name() && reference.reason.grade() != Grade::Mentions);
        if !holds {
            continue;
        }
        let replacements = &scope.names.row(reference.row).replacements;
        let sentence = Sentence::around(&tokens, target, replacements);
        if let Some(reason) = verdict(scope, &sentence, leads, row) {
            reference.reason = reason;
        }
    }
}

/// What is said of a name, if anything.
fn verdict(
    scope: Scope<'_>,
    sentence: &Sentence<'_, '_>,
    leads: &[&[Piece]],
    row: Option<&Row<'_>>,
) -> Option<Reason> {
    if sentence.tokens[sentence.target].struck {
        return Some(Reason::Struck);
    }
    let before = before::hear(sentence);
    // "Don't:" above a list that says "skip `x`" asks for it.
    if before.reason == Some(Reason::Forbidden)
        && before.opens_sentence
        && sentence.opens_block()
        && is_led(scope, leads, true)
    {
        return None;
    }
    before
        .reason
        .or_else(|| after::hear(sentence))
        .or_else(|| row.and_then(|row| row.hear(sentence)))
        .or_else(|| elsewhere::hear(sentence, &before))
        .or_else(|| {
            let speaks = before.is_bare && sentence.opens_block();
            (speaks && is_led(scope, leads, before.called)).then_some(Reason::Listed)
        })
}

/// Whether a heading or a leading line says that what it leads is gone.
fn is_led(scope: Scope<'_>, leads: &[&[Piece]], called: bool) -> bool {
    leads
        .iter()
        .any(|lead| label::hear(&tokens::read(scope, lead), called).is_some())
}
