//! Rule 5: whether a reference's own sentence, list item or table row says that the tool is gone,
//! forbids it, or maps it to its replacement.
//!
//! A name is heard in its sentence ([`sentence`]): what the words before it say ([`before`]), what is stated
//! of it behind ([`after`]), what the rest of the sentence or a sentence that refers back says
//! ([`elsewhere`]); a statement about some cases only says no end ([`limit`]). A table row is one statement
//! ([`table`]); a list item that is no sentence of its own, and a code block, take their meaning from the
//! line or the heading that leads them ([`label`]).

mod after;
mod before;
mod elsewhere;
mod label;
mod lexicon;
mod limit;
mod phrases;
mod sentence;
mod table;
mod tokens;

use std::collections::HashMap;
use std::ops::Range;

use super::markdown::{Block, Leads, Piece, Role, span};
use super::references::{Reference, Scope};
use super::{Grade, Reason};
use label::Standing;
use sentence::Sentence;
use table::{Header, Row};

/// How many names of a table row hear its other cells: a row that speaks of tools holds few.
const MOST_NAMES_IN_ROW: usize = 64;

/// How many bytes behind a code block are read for the end of its sentence.
const LONGEST_END: usize = 300;

/// Hears the blocks of one text. Headings, the lines that lead lists and table headers speak for all the blocks
/// below them, so each is read once.
pub(super) struct Hearer<'t> {
    scope: Scope<'t>,
    leads: HashMap<Range<usize>, Lead>,
    header: Header,
}

/// What one leading line or heading says.
#[derive(Debug, Clone, Copy)]
struct Lead {
    led: Led,
    /// Whether it asks for what it leads, whatever stands further above: "Use these:", "Right:".
    asks: bool,
    /// Whether it leaves the word to the heading above: "Tools", "3.0.21".
    defers: bool,
}

/// Whether what leads a block says that the names in it are gone.
#[derive(Debug, Clone, Copy, Default)]
struct Led {
    /// Of a name alone.
    named: bool,
    /// Of a name that a verb of use governs: "Don't:" above "call `x`".
    called: bool,
    /// Of a name that a sentence tells something of: "Removed tools" above "`x` shows files".
    told: bool,
    /// Of the calls in a code block.
    shown: bool,
    /// Of nothing, but what stands below was done in some version: "Changelog".
    recorded: bool,
}

impl Led {
    fn or(self, other: Led) -> Led {
        Led {
            named: self.named || other.named,
            called: self.called || other.called,
            told: self.told || other.told,
            shown: self.shown || other.shown,
            recorded: self.recorded || other.recorded,
        }
    }
}

impl<'t> Hearer<'t> {
    pub(super) fn new(scope: Scope<'t>) -> Hearer<'t> {
        Hearer {
            scope,
            leads: HashMap::new(),
            header: Header::default(),
        }
    }

    /// Judges the references in a block of running text by what the block says of them.
    pub(super) fn hear_block(&mut self, block: &Block<'_>, references: &mut [Reference]) {
        let Block::Text {
            role,
            pieces,
            leads,
            header,
        } = block
        else {
            return;
        };
        if references.is_empty() {
            return;
        }
        let led = self.led(*leads);
        let row = matches!(role, Role::Row).then(|| {
            let header = self.header.read(self.scope, header);
            Row::read(self.scope, pieces, header)
        });
        judge(self.scope, pieces, led, row.as_ref(), references);
    }

    /// Judges what a code block's own comments leave open by what leads the block: "Wrong:", "### Before".
    pub(super) fn hear_code(
        &mut self,
        source: &Range<usize>,
        leads: Leads<'_>,
        references: &mut [Reference],
    ) {
        if references.is_empty() || !(self.led(leads).shown || self.ends_gone(source.end)) {
            return;
        }
        for reference in references {
            if reference.reason.grade() != Grade::Mentions {
                reference.reason = Reason::Listed;
            }
        }
    }

    /// Whether the sentence that a code block stands in ends in "no longer work" or "replace it with".
    fn ends_gone(&self, block_end: usize) -> bool {
        let text = self.scope.text;
        let rest = &text[block_end..text.floor_char_boundary(block_end + LONGEST_END)];
        let line = rest.trim_start().lines().next().unwrap_or_default();
        if !line.starts_with(char::is_lowercase) {
            return false;
        }
        let start = block_end + rest.len() - rest.trim_start().len();
        let pieces = [Piece::Text(start..start + line.len())];
        label::ends_gone(&tokens::read(self.scope, &pieces))
    }

    /// What the leading lines say, and the nearest heading that says anything.
    fn led(&mut self, leads: Leads<'_>) -> Led {
        let mut led = Led::default();
        for line in leads.lines {
            let lead = self.lead(line);
            led = led.or(lead.led);
            if lead.asks {
                return led;
            }
        }
        for heading in leads.headings {
            let lead = self.lead(heading);
            led = led.or(lead.led);
            if !lead.defers {
                return led;
            }
        }
        if let Some(title) = leads.title {
            led.recorded |= self.lead(title).led.recorded;
        }
        led
    }

    fn lead(&mut self, pieces: &[Piece]) -> Lead {
        let scope = self.scope;
        *self.leads.entry(span(pieces)).or_insert_with(|| {
            let words = tokens::read(scope, pieces);
            let says = |standing| label::hear(&words, standing).is_some();
            let named = says(Standing::Named);
            Lead {
                led: Led {
                    named,
                    shown: named && label::shows(&words),
                    recorded: label::records(&words),
                    called: says(Standing::Called),
                    told: says(Standing::Told),
                },
                asks: label::asks(&words),
                defers: label::defers(&words),
            }
        })
    }
}

/// Judges references in text that no heading or list leads.
pub(super) fn hear(scope: Scope<'_>, pieces: &[Piece], references: &mut [Reference]) {
    judge(scope, pieces, Led::default(), None, references);
}

fn judge(
    scope: Scope<'_>,
    pieces: &[Piece],
    led: Led,
    row: Option<&Row<'_, '_>>,
    references: &mut [Reference],
) {
    if references.is_empty() {
        return;
    }
    let tokens = tokens::read(scope, pieces);
    for (nth, reference) in references.iter_mut().enumerate() {
        let target = tokens.partition_point(|token| token.range.end <= reference.range.start);
        let holds = tokens
            .get(target)
            .is_some_and(|token| token.is_name() && reference.reason.grade() != Grade::Mentions);
        if !holds {
            continue;
        }
        let replacements = &scope.names.row(reference.row).replacements;
        let sentence = Sentence::around(&tokens, target, replacements);
        let row = row.filter(|_| nth < MOST_NAMES_IN_ROW);
        if let Some(reason) = verdict(&sentence, led, row) {
            reference.reason = reason;
        }
    }
}

/// What is said of a name, if anything.
fn verdict(sentence: &Sentence<'_, '_>, led: Led, row: Option<&Row<'_, '_>>) -> Option<Reason> {
    if sentence.tokens[sentence.target].struck {
        return Some(Reason::Struck);
    }
    let before = before::hear(sentence);
    // "Don't:" above a list that says "skip `x`" asks for it.
    if before.reason == Some(Reason::Forbidden)
        && before.opens_sentence
        && sentence.opens_block()
        && led.called
    {
        return None;
    }
    if before.demanded {
        return None;
    }
    before
        .reason
        .or_else(|| after::hear(sentence))
        .or_else(|| row.and_then(|row| row.hear(sentence)))
        .or_else(|| elsewhere::hear(sentence, &before))
        .or_else(|| {
            let speaks = before.is_bare && sentence.opens_block();
            let led = match (before.called, after::tells(sentence)) {
                (true, _) => led.called && !before::is_limited(sentence),
                (false, true) => led.told,
                (false, false) => led.named,
            };
            (speaks && led).then_some(Reason::Listed)
        })
        .or_else(|| (led.recorded && elsewhere::is_record(sentence)).then_some(Reason::History))
}
