//! What the words before a name say of it: "never call …", "instead of …", "the removed …".
//!
//! The words are walked from the name to the left. A cue that governs what follows it ("without", "the
//! removed", "no") counts only while nothing but articles, tool nouns and verbs of use came between; a negated
//! verb ("do not", "never") counts anywhere in the clause. Two cues undo each other: "never answer
//! without `x`", "do not skip `x`".

use super::super::Reason;
use super::label::{self, Standing};
use super::lexicon::Classes;
use super::sentence::Sentence;
use super::tokens::{Kind, Token};

/// Words that forbid with "to" behind them: "it is forbidden to call `x`".
const RULING_OUT: &str = "forbidden prohibited impossible unable wrong mistake illegal pointless";

/// Not to do what should be done.
const FAILING: &str =
    "forget forgets forgetting fail hesitate hesitating neglect neglects neglecting";

/// What was heard before a name.
pub(super) struct Before {
    /// Why the name is ruled out, if it is.
    pub(super) reason: Option<Reason>,
    /// Whether the walk met the start of its sentence with nothing said: what leads the list may speak.
    pub(super) is_bare: bool,
    /// Whether nothing begins a clause before the sentence begins.
    pub(super) opens_sentence: bool,
    /// Whether a verb of use governs the name: "call …".
    pub(super) called: bool,
    /// Whether what rules the name out is itself ruled out behind it: "skipping `x` is not allowed".
    pub(super) demanded: bool,
}

/// Hears the words before a name.
pub(super) fn hear(sentence: &Sentence<'_, '_>) -> Before {
    let mut walk = Walk::new(sentence);
    while walk.step() {}
    let odd = walk.cues % 2 == 1;
    // "Without `x` you cannot …" asks for it.
    let needed = walk.without && sentence.after().iter().any(is_negator);
    let limited = walk.forbids && is_limited(sentence) || needed;
    let ruled_out = odd && walk.reason == Some(Reason::Forbidden) || is_leaving_out(sentence);
    let demanded = ruled_out && is_demanded(sentence);
    Before {
        reason: walk
            .described
            .or(walk.reason.filter(|_| odd && !limited && !demanded)),
        is_bare: !walk.bounded && walk.tight && walk.cues == 0,
        opens_sentence: !walk.bounded,
        called: walk.called,
        demanded,
    }
}

/// "Skipping `x` is not allowed", "no `x`, no answer", "never mention `x`, just use it".
fn is_demanded(sentence: &Sentence<'_, '_>) -> bool {
    let after = sentence.after();
    let [sign, rest @ ..] = after else {
        return false;
    };
    let is_deed = match sentence.before() {
        [not, doing, ..] if not.is("not") => doing.word.ends_with("ing"),
        [doing, ..] => doing.has(Classes::AVOID) && doing.word.ends_with("ing"),
        [] => false,
    } || is_leaving_out(sentence);
    let ends = |token: &Token<'_>| token.kind != Kind::Word;
    let clause = &after[..after.iter().position(ends).unwrap_or(after.len())];
    let be = clause
        .iter()
        .take(MOST_SAID)
        .position(|token| token.has(Classes::BE));
    if is_deed && let Some(be) = be {
        let said = &clause[be + 1..];
        let said = &said[..said.len().min(MOST_SAID)];
        let denied = said.iter().any(is_negator);
        let word = if denied {
            Classes::POSSIBLE
        } else {
            Classes::BAD.or(Classes::GONE)
        };
        return said
            .iter()
            .any(|token| token.has(word) || !denied && token.is_any(FAULTS));
    }
    match rest {
        [no, other, ..] if sign.kind == Kind::Comma && no.is("no") && !other.is_code() => {
            sentence.before().last().is_some_and(|token| token.is("no"))
        }
        _ => uses_it(after),
    }
}

/// "Leaving `x` out …"
fn is_leaving_out(sentence: &Sentence<'_, '_>) -> bool {
    let (first, next) = (sentence.before().first(), sentence.after().first());
    first.is_some_and(|first| first.is("leaving")) && next.is_some_and(|next| next.is("out"))
}

/// How many words say what a deed is.
const MOST_SAID: usize = 5;

/// What a thing not done is called.
const FAULTS: &str = "failure fault mistake error wrong violation";

/// "…, just use it."
fn uses_it(words: &[Token<'_>]) -> bool {
    words.windows(3).enumerate().any(|(at, triple)| {
        let begins = triple[0].kind != Kind::Word || triple[0].is_any("just simply always but");
        let ends = words.get(at + 3).is_none_or(|next| next.kind != Kind::Word);
        begins && ends && triple[1].is_any("use call") && triple[2].is("it")
    })
}

/// "Never call `x` without …" limits a call to a case rather than forbidding it.
pub(super) fn is_limited(sentence: &Sentence<'_, '_>) -> bool {
    let mut anything = false;
    if let [verb, not, ..] = sentence.after()
        && verb.has(Classes::AUX)
        && is_negator(not)
    {
        // "Never report a figure `x` did not produce."
        return true;
    }
    // "Never leave `x` waiting."
    let causes = sentence
        .before()
        .iter()
        .rfind(|token| !token.has(Classes::FILLER.or(Classes::NOUN)))
        .is_some_and(|verb| verb.is_any("leave keep let make"));
    let does = sentence.after().first().is_some_and(|next| {
        next.kind == Kind::Word && !next.has(Classes::CLOSER) && !next.is_any("out off alone away")
    });
    if causes && does {
        return true;
    }
    if let [with, next, ..] = sentence.after()
        && with.is("with")
        && !next.is_any("this vak version")
    {
        return true;
    }

    for token in sentence.after() {
        let excepts = token.is("but") && anything;
        anything |= token.is_any("anything nothing any");
        if excepts
            || token.has(Classes::LIMIT)
            || token.is_any("than together simultaneously parallel same")
        {
            return true;
        }
        if token.kind != Kind::Word && token.kind != Kind::Open && token.kind != Kind::Close {
            return false;
        }
    }
    false
}

/// The walk to the left.
struct Walk<'v, 't> {
    sentence: &'v Sentence<'v, 't>,
    words: &'v [Token<'t>],
    /// How many words are still to come.
    at: usize,
    /// Whether only what keeps a cue tied to the name came so far.
    tight: bool,
    /// Whether a verb of use came while the tie was tight.
    called: bool,
    /// Whether an "or" came: commas beyond it list alternatives.
    alternatives: bool,
    /// Whether "of" or "from" makes the name a part of something else.
    indirect: bool,
    modifiers: usize,
    /// Whether the walk met the start of the clause before that of the sentence.
    bounded: bool,
    cues: usize,
    forbids: bool,
    /// Whether "without" governs the name.
    without: bool,
    reason: Option<Reason>,
    /// What an adjective says of the name: "the removed `x`". No negated verb undoes that.
    described: Option<Reason>,
}

impl<'v, 't> Walk<'v, 't> {
    fn new(sentence: &'v Sentence<'v, 't>) -> Walk<'v, 't> {
        Walk {
            sentence,
            words: sentence.before(),
            at: sentence.before().len(),
            tight: true,
            called: false,
            alternatives: false,
            indirect: sentence.is_owner(),
            modifiers: 0,
            bounded: false,
            cues: 0,
            forbids: false,
            without: false,
            reason: None,
            described: None,
        }
    }

    /// Hears one word; `false` where the clause begins.
    fn step(&mut self) -> bool {
        let Some(index) = self.at.checked_sub(1) else {
            return false;
        };
        // Hearing the word may set this further back, behind what it skips.
        self.at = index;
        let token = &self.words[index];
        self.bounded = !match token.kind {
            Kind::Word => self.word(index),
            Kind::Name(_) | Kind::Code => self.loosen(),
            Kind::Comma => self.comma(index),
            Kind::Colon | Kind::Dash => {
                self.label(index);
                false
            }
            Kind::Bad => {
                self.cue(Reason::Forbidden);
                false
            }
            Kind::Open => self.parenthesis(index),
            Kind::Close => self.skip_parenthesis(index),
            Kind::Slash => self.loosen(),
            Kind::BackArrow => {
                if self.tight
                    && self
                        .previous(index)
                        .is_some_and(|token| self.sentence.is_replacement(token))
                {
                    self.cue(Reason::Mapped);
                }
                false
            }
            Kind::Semicolon | Kind::Stop | Kind::Arrow | Kind::Good | Kind::Cell => false,
        };
        !self.bounded
    }

    fn cue(&mut self, reason: Reason) -> bool {
        self.cues += 1;
        self.reason = Some(reason);
        self.tight = false;
        true
    }

    /// A cue that governs only what stands right behind it.
    fn tight_cue(&mut self, reason: Reason) -> bool {
        if self.tight && !self.sentence.is_owner() {
            self.cue(reason)
        } else {
            true
        }
    }

    /// A negated verb, which rules out everything in its clause.
    fn negation(&mut self, reason: Reason) -> bool {
        if self.indirect {
            return true;
        }
        self.forbids |= self.cues == 0;
        self.cue(reason)
    }

    fn loosen(&mut self) -> bool {
        self.tight = false;
        true
    }

    fn previous(&self, index: usize) -> Option<&'v Token<'t>> {
        index.checked_sub(1).map(|at| &self.words[at])
    }

    fn previous_is(&self, index: usize, words: &str) -> bool {
        self.previous(index)
            .is_some_and(|token| token.is_any(words))
    }

    fn next_is(&self, index: usize, words: &str) -> bool {
        self.words
            .get(index + 1)
            .is_some_and(|token| token.is_any(words))
    }

    fn word(&mut self, index: usize) -> bool {
        let token = &self.words[index];
        match &*token.word {
            "not" => self.not(index),
            "never" if self.is_undone(index) => self.loosen(),
            "never" => self.negation(Reason::Forbidden),
            "no" => self.no(index),
            "nor" | "neither" => self.negation(Reason::Forbidden),
            // "ignore texts that mention `x`"
            "that" | "which" if self.tight && self.begins_verb(index + 1) => self.relative(index),
            // "There is nothing `x` cannot compute."
            "nothing" if self.tight && index + 1 == self.words.len() => false,
            // "columns nobody needs"
            "nobody" | "nothing" | "none" if self.previous(index).is_some_and(is_plain_noun) => {
                false
            }
            "nobody" | "nothing" | "none" => self.negation(Reason::Forbidden),
            "off"
                if self.tight
                    && self
                        .previous(index)
                        .is_some_and(|token| token.has(Classes::REPLACE)) =>
            {
                self.cue(Reason::Replaced)
            }
            "out"
                if self.tight
                    && !self.called
                    && self.previous_is(index, "clean weed throw cut leave strip rip filter") =>
            {
                self.tight_cue(Reason::Gone)
            }
            // "`bash` was called `x` before"
            "called" | "named"
                if self.tight
                    && self.previous_is(index, "was were")
                    && index + 1 == self.words.len() =>
            {
                self.cue(Reason::Replaced)
            }
            "wrong" if self.previous_is(index, "go goes going") => false,
            "beats" | "beat" | "matches" | "rivals" | "equals" | "outperforms" => false,
            "longer" | "more" if self.previous_is(index, "no") => true,
            "but" => self.but(index),
            "instead" => false,
            "or" => {
                self.alternatives = true;
                true
            }
            "and" => self.and(index),
            "of" | "from" => self.of(index),
            "by" if self.tight && !self.called => false,
            "about" if self.previous_is(index, "forget") => true,
            "on" if self.previous_is(index, "dependency dependencies dependence reliance") => {
                self.at = index - 1;
                true
            }
            "with" | "to" | "for" | "into" | "as" | "over" | "than" | "against" | "in"
            | "inside" | "within" => self.preposition(index),
            "was"
                if self.tight
                    && self
                        .previous(index)
                        .is_some_and(|token| token.kind == Kind::Open) =>
            {
                self.cue(Reason::Replaced)
            }
            "that" => self.that(index),
            _ => self.content(index),
        }
    }

    /// "not" after a helping verb negates its clause; elsewhere it negates what stands right behind it.
    fn not(&mut self, index: usize) -> bool {
        if self.next_is(index, "only just merely simply solely yet") {
            return self.loosen();
        }
        if self.previous_is(index, "why if or") && !self.tight {
            return true;
        }
        if self.is_undone(index) {
            return self.loosen();
        }
        let orders = "do does did must should can could may might will would shall need ought let to let's please also";
        let passives = "allowed permitted supposed meant going able to using calling invoking running possible necessary intended expected advised";
        let needs = self.previous_is(index, "need")
            || self.next_is(index, "need needs have necessary required mandatory");
        if needs && !self.tight {
            // "You need not ask before …" is about the asking.
            return false;
        }
        let begins = index == 0 && !self.next_is(index, "all every sure");
        if self.previous_is(index, orders) || self.next_is(index, passives) || begins {
            return self.negation(Reason::Forbidden);
        }
        self.tight_cue(Reason::Forbidden)
    }

    fn no(&mut self, index: usize) -> bool {
        if self.next_is(index, "longer more") {
            return self.negation(Reason::Gone);
        }
        let absolute = "need reason way point one circumstances circumstance case account time means event condition situation";
        if self.next_is(index, absolute) {
            return self.negation(Reason::Forbidden);
        }
        if index == 0 && self.is_told_to_use() {
            return self.negation(Reason::Forbidden);
        }
        let but = self.words[index..].iter().any(|token| token.is("but"));
        if self.without || but && self.cues == 1 {
            // "No figure leaves without `x`.", "No tool but `x` sees the file."
            return self.cue(Reason::Forbidden);
        }
        let absent = self.previous_is(index, "is are was were has have 's");
        self.tight_cue(if absent {
            Reason::Gone
        } else {
            Reason::Forbidden
        })
    }

    /// "If you have not run `x`, you do not know."
    fn is_undone(&self, index: usize) -> bool {
        self.called
            && self.previous_is(index, "have has had did")
            && self.words[index.saturating_sub(4)..index]
                .iter()
                .any(|token| token.has(Classes::CONDITION))
    }

    /// "No skill should call `x`": a verb of use right behind the helping verb.
    fn is_told_to_use(&self) -> bool {
        let modal = self
            .words
            .iter()
            .rposition(|token| token.is_any("may must should can could will shall"));
        let between = modal.map_or(&[][..], |at| &self.words[at + 1..]);
        let passes = Classes::CALL
            .or(Classes::FILLER)
            .or(Classes::NOUN)
            .or(Classes::ADVERB);
        self.called && !between.is_empty() && between.iter().all(|token| token.has(passes))
    }

    /// "nothing but", "no tool but", "anything but" exclude; any other "but" begins a clause.
    fn but(&mut self, index: usize) -> bool {
        let excludes = self.words[index.saturating_sub(2)..index]
            .iter()
            .any(|token| token.is_any("nothing anything everything none no any every all anyone"));
        if excludes {
            self.tight_cue(Reason::Forbidden)
        } else {
            false
        }
    }

    fn and(&mut self, index: usize) -> bool {
        let begins_order = self
            .previous(index)
            .is_some_and(|token| token.kind == Kind::Comma)
            && self
                .words
                .get(index + 1)
                .is_some_and(|token| token.has(Classes::ORDER));
        if begins_order {
            return false;
        }
        let joins_verbs = self.called
            && self
                .previous(index)
                .is_some_and(|token| token.has(Classes::CALL));
        joins_verbs || self.loosen()
    }

    /// "instead of", "removal of", "calls of"; any other "of" makes the name a part of something.
    fn of(&mut self, index: usize) -> bool {
        let Some(previous) = self.previous(index) else {
            return self.loosen();
        };
        let replacing = "instead place lieu stead away successor replacement";
        if previous.is_any(replacing) {
            return self.tight_cue(Reason::Replaced);
        }
        if previous.has(Classes::ENDING) {
            return self.tight_cue(Reason::Gone);
        }
        let from = self.words[index].is("from");
        let took_over = previous.is("over")
            && self.words[..index]
                .iter()
                .any(|token| token.is_any("took takes taken taking"));
        if from && (previous.has(Classes::REPLACE) || took_over) {
            return self.tight_cue(Reason::Replaced);
        }
        if previous.is_any("favor favour") {
            return false;
        }
        // "any tool apart from `x`", but "apart from `x`, call `read`" calls both.
        if from && previous.is_any("apart aside") && index > 1 {
            return self.tight_cue(Reason::Forbidden);
        }
        let passes = previous.has(Classes::NOUN.or(Classes::AVOID))
            || previous.is_any("any all one each either both some none most advantage call use rid instead kind list out forbidden prohibited banned");
        if previous.is_any("rid clear") {
            return self.tight_cue(Reason::Gone);
        }
        if !passes {
            self.indirect = true;
            return self.loosen();
        }
        true
    }

    fn preposition(&mut self, index: usize) -> bool {
        let token = &self.words[index];
        let Some(previous) = self.previous(index) else {
            return self.loosen();
        };
        let ties = match &*token.word {
            // "Don't ask for permission to call `x`" is about the asking.
            "to" if self.is_leave(index) => return false,
            "to" if previous.is("opposed") => return self.tight_cue(Reason::Replaced),
            "to" if !self.called && self.is_preferred(index) => {
                return self.tight_cue(Reason::Replaced);
            }
            "to" if previous.is_any("successor successors") => {
                return self.tight_cue(Reason::Replaced);
            }
            "to" => {
                self.called
                    || previous.has(Classes::NOUN.or(Classes::REMOVE))
                    || previous.is_any("call calls")
            }
            "for"
                if previous.is_any("substitute alternative replacement")
                    && self.previous_is(index - 1, "no") =>
            {
                return false;
            }
            "for"
                if previous.is_any("substitute replacement stand-in successor")
                    || previous.is("in")
                        && self.previous_is(index.saturating_sub(1), "stand stands stood") =>
            {
                return self.tight_cue(Reason::Replaced);
            }
            "for" => previous.is_any("need needs reason use call support except"),
            // "Don't import numpy in `x`" is about numpy.
            "in" | "inside" | "within" if !self.called && self.negates_other(index) => {
                self.indirect = true;
                return self.loosen();
            }
            // "Never paste secrets into `x`" is about the secrets.
            "into" if !self.called && !previous.has(Classes::CALL) => return false,
            "as" => {
                previous.is_any("such known")
                    || previous.has(Classes::NOUN) && self.previous_is(index - 1, "such")
            }
            "than" if previous.is_any("more fewer less") => return false,
            "than" if previous.is("other") => return self.tight_cue(Reason::Forbidden),
            "than" if previous.is("rather") => return self.tight_cue(Reason::Replaced),
            "over" if self.prefers(index) => return self.tight_cue(Reason::Replaced),
            "against" if self.advises(index) => return self.tight_cue(Reason::Forbidden),
            // "not with `x`", "rather than in `x`".
            _ => previous.is_any("than not never"),
        };
        if ties {
            return true;
        }
        // "replaced by `x`", "swap … for `x`", "renamed to `x`": the name is the new one.
        let is_new = self.tight
            && !self.called
            && token.is_any("with to for into")
            && self.words[index.saturating_sub(6)..index]
                .iter()
                .any(|token| token.has(Classes::REPLACE) && !token.is_any("turn change changes"));
        if is_new {
            return false;
        }
        self.loosen()
    }

    /// "wait for approval to", "be afraid to"
    fn is_leave(&self, index: usize) -> bool {
        let asked = self.previous_is(index, "permission approval consent leave confirmation")
            && self.words[..index - 1]
                .last()
                .is_some_and(|token| token.is("for"));
        asked || self.previous_is(index, "afraid reluctant shy slow")
    }

    /// Whether a "not" stands before, and the verb behind it is none of use: "do not import numpy in `x`".
    fn negates_other(&self, index: usize) -> bool {
        let negator = self.words[..index].iter().rposition(is_negator);
        let verb = negator.and_then(|at| {
            self.words[at + 1..index]
                .iter()
                .find(|token| !token.has(Classes::ADVERB))
        });
        verb.is_some_and(|verb| {
            !verb.is_any("run use execute call invoke do perform work compute calculate evaluate rely trust be")
        })
    }

    fn prefers(&self, index: usize) -> bool {
        self.words[..index].iter().rev().take(8).any(|token| {
            token.is_any("prefer prefers preferred choose pick favor favour use preferring")
        })
    }

    /// "prefer `y` to", "`y` is preferred to"
    fn is_preferred(&self, index: usize) -> bool {
        let recent = &self.words[index.saturating_sub(5)..index];
        let is_verb = |token: &Token<'_>| token.is_any("prefer prefers preferring");
        recent
            .last()
            .is_some_and(|token| token.is_any("preferred preferable"))
            || recent
                .iter()
                .rposition(is_verb)
                .is_some_and(|verb| recent[verb..].iter().any(Token::is_code))
    }

    fn advises(&self, index: usize) -> bool {
        self.words[..index].iter().rev().take(3).any(|token| {
            token.is_any("advise advises recommend recommends warn warns decided decide rule guard")
        })
    }

    /// Whether a verb of use follows, not the name.
    fn begins_verb(&self, index: usize) -> bool {
        self.words[index..]
            .iter()
            .any(|token| token.has(Classes::CALL))
    }

    /// A relative clause keeps the tie where a word for something written is what it tells of.
    fn relative(&mut self, index: usize) -> bool {
        let told = self
            .previous(index)
            .is_some_and(|token| token.has(Classes::WRITING.or(Classes::NOUN)));
        self.modifiers = 0;
        self.called = false;
        told
    }

    /// "assume that `x` exists" is one clause; any other "that" begins one.
    fn that(&mut self, index: usize) -> bool {
        let complement =
            "assume expect think believe pretend claim suggest imply say assuming hope";
        if self.previous_is(index, complement) {
            return self.loosen();
        }
        // "that" before a noun points at it.
        self.tight
            && self
                .words
                .get(index + 1)
                .is_some_and(|next| next.has(Classes::NOUN))
    }

    fn content(&mut self, index: usize) -> bool {
        let token = &self.words[index];
        if self.presents(index) {
            self.label(index);
            return false;
        }
        if token.is_any(RULING_OUT) && self.next_is(index, "to from") {
            return self.negation(Reason::Forbidden);
        }
        if token.has(Classes::AVOID) {
            return self.avoid(index);
        }
        // "once called `x`" tells of an earlier time; any other "once" begins a clause.
        let once = self.tight && self.called && token.is("once");
        if token.has(Classes::OPENER) && !once {
            return false;
        }
        if self.tight && token.has(Classes::FORMERLY) {
            return self.cue(Reason::Replaced);
        }
        if self.tight
            && !self.called
            && !self.sentence.is_owner()
            && let Some(goes_on) = self.governor(index)
        {
            return goes_on;
        }
        self.plain(index)
    }

    /// "The retired tools are `x` and `y`": what stands before the verb is the list's label.
    fn presents(&self, index: usize) -> bool {
        self.tight
            && !self.called
            && index + 1 == self.words.len()
            && self.words[index]
                .is_any("is are was were hold holds contain contains include includes")
    }

    /// "avoid", "without", "skip" rule out what they govern.
    fn avoid(&mut self, index: usize) -> bool {
        let token = &self.words[index];
        let unties = token.is("without") && !self.tight;
        // "Forgetting to call `x`" is a fault, with or without "don't" before it.
        let is_fault = token.is_any(FAILING) && (!self.tight || self.called);
        if self.owns_plural() {
            return self.loosen();
        }
        if unties || is_fault {
            return false;
        }
        self.without |= self.tight && token.is("without");
        self.tight_cue(Reason::Forbidden)
    }

    /// A word that describes the name right behind it, or that takes it away.
    fn governor(&mut self, index: usize) -> Option<bool> {
        let token = &self.words[index];
        if token.has(Classes::GONE) {
            Some(self.describe(index))
        } else if token.has(Classes::REMOVE.or(Classes::REPLACE)) && self.owns_plural() {
            None
        } else if token.has(Classes::REMOVE) {
            Some(self.cue(Reason::Gone))
        } else if token.has(Classes::REPLACE) {
            Some(self.cue(Reason::Replaced))
        } else {
            (token.has(Classes::OLD) && !self.is_ordered(index)).then(|| self.describe(index))
        }
    }

    /// "Change `x` dates to ISO": behind an order, a plural that plays no role is what the order is about.
    fn owns_plural(&self) -> bool {
        match self.sentence.after() {
            [thing, rest @ ..] => {
                let verb = rest.first().is_some_and(|next| next.is_any("a an the"));
                is_plain_noun(thing)
                    && thing.word.ends_with('s')
                    && !thing.is_any("always sometimes afterwards perhaps besides vs plus")
                    && !verb
            }
            [] => false,
        }
    }

    /// A word that says nothing by itself; most loosen the tie between a cue and the name.
    fn plain(&mut self, index: usize) -> bool {
        let token = &self.words[index];
        if token.has(Classes::CALL) {
            // "every call to `x`"
            let is_noun = token.has(Classes::NOUN) && !token.has(Classes::ORDER)
                || token.is_any("call use") && self.next_is(index, "to of");
            self.called |= self.tight && !is_noun;
            return true;
        }
        let transparent = Classes::FILLER
            .or(Classes::NOUN)
            .or(Classes::ADVERB)
            .or(Classes::WRITING);
        token.has(transparent) || self.modifier(index)
    }

    /// "removed", "old": the name is described by it, unless that itself is negated ("not deprecated").
    fn describe(&mut self, index: usize) -> bool {
        if self.previous(index).is_some_and(is_negator) {
            return false;
        }
        if self.cues == 0 {
            self.described = Some(Reason::Gone);
        }
        false
    }

    /// Whether an order stands right before: "use the old `x`" calls it all the same.
    fn is_ordered(&self, index: usize) -> bool {
        let before = self.words[..index].iter().rev();
        let mut before = before
            .skip_while(|token| token.has(Classes::FILLER))
            .take(1);
        before.any(|token| token.has(Classes::ORDER))
    }

    /// Up to two unknown words may describe a tool noun: "the deprecated sandbox runner tool `x`".
    fn modifier(&mut self, index: usize) -> bool {
        let describes = self
            .words
            .get(index + 1)
            .is_some_and(|next| next.has(Classes::NOUN) && !next.has(Classes::ORDER));
        if self.tight && !self.called && describes && self.modifiers < 2 {
            self.modifiers += 1;
            return true;
        }
        self.loosen()
    }

    fn comma(&mut self, index: usize) -> bool {
        let next_lists = self.next_is(
            index,
            "such including like e.g i.e namely notably especially",
        );
        let parenthetical = self.previous(index).is_some_and(is_negator);
        if next_lists || parenthetical {
            return true;
        }
        // "do not, under any circumstances, call": jump to the comma behind the negator.
        let opening = self.words[index.saturating_sub(8)..index]
            .iter()
            .rposition(|token| token.kind == Kind::Comma)
            .map(|at| index.saturating_sub(8) + at)
            .filter(|at| self.previous(*at).is_some_and(is_negator));
        if let Some(opening) = opening {
            self.at = opening;
            return true;
        }
        self.alternatives || self.is_apposition(index)
    }

    /// "an earlier tool, `x`, did this"
    fn is_apposition(&self, index: usize) -> bool {
        index + 1 == self.words.len()
            && self
                .previous(index)
                .is_some_and(|token| token.has(Classes::NOUN) && !token.has(Classes::ORDER))
            && self
                .sentence
                .after()
                .first()
                .is_some_and(|token| token.kind == Kind::Comma)
    }

    /// "removed tools (`x`)": a parenthesis right behind a tool noun explains it.
    fn parenthesis(&mut self, index: usize) -> bool {
        if self.tight
            && !self.called
            && let Some(reason) = label::hear(&self.words[..index], Standing::Named)
        {
            self.described = Some(reason);
            return false;
        }
        self.tight
            && !self.called
            && self.previous(index).is_some_and(|token| {
                (token.has(Classes::NOUN) && !token.has(Classes::ORDER)) || token.has(Classes::GONE)
            })
            && !self.is_stated(index)
    }

    /// Whether the words before state something of what they name, rather than describing it: "`y` was
    /// removed", but not "tools that were removed".
    fn is_stated(&self, index: usize) -> bool {
        let before = &self.words[index.saturating_sub(3)..index];
        before
            .iter()
            .position(|token| token.has(Classes::BE))
            .is_some_and(|be| {
                !before[..be].iter().any(|token| token.is_any("that which"))
                    && !self
                        .previous(index.saturating_sub(before.len() - be))
                        .is_some_and(|token| token.is_any("that which"))
            })
    }

    /// What a closed parenthesis holds says nothing of a name behind it.
    fn skip_parenthesis(&mut self, index: usize) -> bool {
        match self.words[..index]
            .iter()
            .rposition(|token| token.kind == Kind::Open)
        {
            Some(open) => {
                let inner = &self.words[open..index];
                if self.tight
                    && inner.iter().any(|token| token.has(Classes::GONE))
                    && !inner.iter().any(is_negator)
                {
                    self.described = Some(Reason::Gone);
                }
                self.at = open;
                true
            }
            None => false,
        }
    }

    /// A label before a colon or a dash: "Removed: `x`", "Never call: `x`".
    fn label(&mut self, index: usize) {
        let standing = if self.called {
            Standing::Called
        } else {
            Standing::Named
        };
        if self.tight
            && self.cues == 0
            && let Some(reason) = label::hear(&self.words[..index], standing)
        {
            self.cue(reason);
        }
    }
}

/// A word that plays no role: most likely a noun.
fn is_plain_noun(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && token.classes == Classes::default() && !token.is("vak")
}

fn is_negator(token: &Token<'_>) -> bool {
    token.is_any("not never")
}
