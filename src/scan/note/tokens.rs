//! The pieces of a block as words, names and signs: what the clause rules walk over.

use std::borrow::Cow;
use std::ops::Range;

use super::super::markdown::{Edge, Piece, span};
use super::super::names::Occurrence;
use super::super::references::Scope;
use super::super::spans;
use super::lexicon::Classes;

/// One word, name or sign.
#[derive(Debug, Clone)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// In lower case; a code span's content; empty for a sign.
    pub(super) word: Cow<'t, str>,
    pub(super) classes: Classes,
    pub(super) range: Range<usize>,
    pub(super) struck: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// A retired name, by its row; bare or as code.
    Name(usize),
    /// Other code.
    Code,
    Comma,
    Colon,
    Semicolon,
    /// The end of a sentence.
    Stop,
    Dash,
    Open,
    Close,
    /// `→` and what is typed for it.
    Arrow,
    BackArrow,
    Slash,
    /// `❌` and the like.
    Bad,
    /// `✅` and the like.
    Good,
    /// The border of a table cell.
    Cell,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.word == word
    }

    pub(super) fn is_any(&self, words: &str) -> bool {
        self.kind == Kind::Word && words.split(' ').any(|word| word == self.word)
    }

    pub(super) fn has(&self, class: Classes) -> bool {
        self.kind == Kind::Word && self.classes.has(class)
    }

    /// A version number: "3.0.21", "v3.1".
    pub(super) fn is_version(&self) -> bool {
        let digits = self.word.strip_prefix('v').unwrap_or(&self.word);
        self.kind == Kind::Word
            && digits.contains('.')
            && digits.starts_with(|letter: char| letter.is_ascii_digit())
    }

    /// A name or code: what can stand in a list of tools.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Name(_) | Kind::Code)
    }

    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Name(_))
    }
}

/// Reads pieces into tokens.
pub(super) fn read<'t>(scope: Scope<'t>, pieces: &[Piece]) -> Vec<Token<'t>> {
    let mut lexer = Lexer {
        scope,
        windows: windows(scope, &span(pieces)),
        tokens: Vec::new(),
        struck: false,
    };
    for piece in pieces {
        lexer.piece(piece);
    }
    lexer.tokens
}

/// The ASCII bytes that a sign can begin with.
const SIGNS: &[u8] = b"-=<,:;()[]/.!?&+";

/// How many bytes around a name are read; more than the words that a sentence is heard for take.
const WINDOW: usize = 2048;

/// The parts of a block that are worth reading: a long one only around its names, so that much text costs
/// no more than its names do.
fn windows(scope: Scope<'_>, block: &Range<usize>) -> Vec<Range<usize>> {
    if block.len() <= 2 * WINDOW {
        return vec![block.clone()];
    }
    let mut windows: Vec<Range<usize>> = Vec::new();
    for found in scope.within(block) {
        let start = scope
            .text
            .floor_char_boundary(found.range.start.saturating_sub(WINDOW));
        let end = scope
            .text
            .ceil_char_boundary((found.range.end + WINDOW).min(block.end));
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => windows.push(start.max(block.start)..end),
        }
    }
    windows
}

/// How many closing signs may follow one another at the end of a sentence.
const MOST_CLOSING: usize = 8;

/// How many backticks may close the code span that a possessive belongs to.
const MOST_BACKTICKS: usize = 3;

/// Tags that end the text before them.
const BLOCK_TAGS: [&str; 14] = [
    "p", "li", "td", "th", "tr", "div", "br", "summary", "details", "ul", "ol", "h1", "h2", "h3",
];

struct Lexer<'t> {
    scope: Scope<'t>,
    windows: Vec<Range<usize>>,
    tokens: Vec<Token<'t>>,
    struck: bool,
}

impl<'t> Lexer<'t> {
    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(range) => self.windowed(range),
            Piece::Code(range) | Piece::Tag(range) if self.is_far(range) => {}
            Piece::Code(range) => self.code(range),
            Piece::Tag(range) => self.tag(range),
            Piece::Break => {}
            Piece::Edge(Edge::Line) => self.edge(Kind::Stop),
            Piece::Edge(Edge::Cell) => self.edge(Kind::Cell),
            Piece::Strike { begins } => self.struck = *begins,
        }
    }

    /// Whether no window holds the beginning of a piece.
    fn is_far(&self, range: &Range<usize>) -> bool {
        let next = self
            .windows
            .partition_point(|window| window.end <= range.start);
        self.windows
            .get(next)
            .is_none_or(|window| range.start < window.start)
    }

    /// Reads what of a text lies in windows.
    fn windowed(&mut self, range: &Range<usize>) {
        let mut next = self
            .windows
            .partition_point(|window| window.end <= range.start);
        while let Some(window) = self.windows.get(next)
            && window.start < range.end
        {
            self.text(window.start.max(range.start)..window.end.min(range.end));
            next += 1;
        }
    }

    /// A border that no source stands for lies where the text before it ends.
    fn edge(&mut self, kind: Kind) {
        let end = self.tokens.last().map_or(0, |token| token.range.end);
        self.sign(kind, end..end);
    }

    fn tag(&mut self, range: &Range<usize>) {
        let found = self.scope.within(range);
        let source = self.scope.text[range.clone()].trim_start_matches(['<', '/']);
        let name = source
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        if let Some(found) = found.first() {
            self.name(found);
        } else if BLOCK_TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name)) {
            self.sign(Kind::Stop, range.clone());
        }
    }

    fn code(&mut self, span: &Range<usize>) {
        let content = spans::content(self.scope.text, span);
        match self.scope.within(&content).first() {
            Some(found) => self.name(found),
            None => {
                let word = lowered(&self.scope.text[content.clone()]);
                self.push(Kind::Code, word, content);
            }
        }
    }

    fn name(&mut self, found: &Occurrence) {
        let word = lowered(&self.scope.text[found.range.clone()]);
        self.push(Kind::Name(found.row), word, found.range.clone());
    }

    fn text(&mut self, range: Range<usize>) {
        let text = self.scope.text;
        let mut names = self.scope.within(&range).iter().peekable();
        let mut at = range.start;
        while at < range.end {
            while names.next_if(|found| found.range.start < at).is_some() {}
            if let Some(found) = names.next_if(|found| found.range.start == at) {
                self.name(found);
                at = found.range.end.min(range.end);
                continue;
            }
            let rest = &text[at..range.end];
            if let Some(length) = self.possessive(rest, at) {
                self.push(Kind::Word, Cow::Borrowed("'s"), at..at + length);
                at += length;
                continue;
            }
            // A name may stand inside what else would be one word (`word--name`).
            let end = names.peek().map_or(range.end, |next| next.range.start);
            let length = word_length(&text[at..end]);
            if length > 0 {
                self.word(at..at + length);
                at += length;
            } else {
                at += self.punctuation(rest, at);
            }
        }
    }

    /// The length of an "'s" right behind a name or code.
    fn possessive(&self, rest: &str, at: usize) -> Option<usize> {
        let after = rest
            .strip_prefix("'s")
            .or_else(|| rest.strip_prefix("’s"))?;
        let behind = self.tokens.last().is_some_and(|token| {
            token.is_code() && token.range.end <= at && at <= token.range.end + MOST_BACKTICKS
        });
        (behind && !after.starts_with(char::is_alphanumeric)).then(|| rest.len() - after.len())
    }

    /// A word; what is contracted ("don't") becomes what it stands for.
    fn word(&mut self, range: Range<usize>) {
        let source = &self.scope.text[range.clone()];
        let word = if source.contains('’') {
            Cow::Owned(source.replace('’', "'").to_lowercase())
        } else {
            lowered(source)
        };
        let expanded = match &*word {
            "cannot" | "can't" | "cant" => Some(("can", "not")),
            "won't" | "wont" => Some(("will", "not")),
            "dont" => Some(("do", "not")),
            "doesnt" => Some(("does", "not")),
            "isnt" => Some(("is", "not")),
            "don'ts" => {
                self.push(Kind::Word, Cow::Borrowed("donts"), range);
                return;
            }
            _ => None,
        };
        if let Some((verb, not)) = expanded {
            self.push(Kind::Word, Cow::Borrowed(verb), range.clone());
            self.push(Kind::Word, Cow::Borrowed(not), range);
        } else if let Some(verb) = word.strip_suffix("n't") {
            self.push(Kind::Word, Cow::Owned(verb.to_owned()), range.clone());
            self.push(Kind::Word, Cow::Borrowed("not"), range);
        } else if let Some((noun, suffix)) =
            word.split_once('\'').filter(|(noun, _)| !noun.is_empty())
            && let Some(length) = source.find(['\'', '’'])
        {
            let (noun, suffix) = (noun.to_owned(), format!("'{suffix}"));
            let joint = range.start + length;
            self.push(Kind::Word, Cow::Owned(noun), range.start..joint);
            self.push(Kind::Word, Cow::Owned(suffix), joint..range.end);
        } else {
            self.push(Kind::Word, word, range);
        }
    }

    /// Reads one sign and gives its length.
    fn punctuation(&mut self, rest: &str, at: usize) -> usize {
        let plain = rest
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii() && !SIGNS.contains(&byte));
        if plain {
            return 1;
        }
        let signs = [
            ("-->", Kind::Arrow),
            ("->", Kind::Arrow),
            ("=>", Kind::Arrow),
            ("→", Kind::Arrow),
            ("⇒", Kind::Arrow),
            ("➜", Kind::Arrow),
            ("➔", Kind::Arrow),
            ("⟶", Kind::Arrow),
            ("<-", Kind::BackArrow),
            ("←", Kind::BackArrow),
            ("❌", Kind::Bad),
            ("✗", Kind::Bad),
            ("✘", Kind::Bad),
            ("🚫", Kind::Bad),
            ("⛔", Kind::Bad),
            ("✖", Kind::Bad),
            ("✅", Kind::Good),
            ("✓", Kind::Good),
            ("✔", Kind::Good),
            ("—", Kind::Dash),
            ("–", Kind::Dash),
            ("--", Kind::Dash),
            ("- ", Kind::Dash),
            (",", Kind::Comma),
            (":", Kind::Colon),
            (";", Kind::Semicolon),
            ("(", Kind::Open),
            ("[", Kind::Open),
            (")", Kind::Close),
            ("]", Kind::Close),
            ("/", Kind::Slash),
            ("。", Kind::Stop),
            ("、", Kind::Comma),
            ("，", Kind::Comma),
            ("；", Kind::Semicolon),
            ("：", Kind::Colon),
        ];
        if let Some((sign, kind)) = signs.iter().find(|(sign, _)| rest.starts_with(*sign)) {
            self.sign(*kind, at..at + sign.len());
            return sign.len();
        }
        if rest.starts_with(['.', '!', '?', '…']) && self.ends_sentence(rest) {
            self.sign(Kind::Stop, at..at + first_length(rest));
        }
        if rest.starts_with(['&', '+']) {
            self.push(Kind::Word, Cow::Borrowed("and"), at..at + 1);
        }
        first_length(rest)
    }

    /// A full stop ends a sentence where a blank or the end follows, but not behind an abbreviation.
    fn ends_sentence(&self, rest: &str) -> bool {
        let closing = ['.', '!', '?', '…', '"', '\'', ')', '*', '_', '”', '’'];
        let after = rest
            .chars()
            .take(MOST_CLOSING)
            .find(|letter| !closing.contains(letter));
        let abbreviated = self
            .tokens
            .last()
            .is_some_and(|token| token.is_any("e.g i.e eg ie vs cf approx resp incl f.k.a a.k.a"));
        after.is_none_or(char::is_whitespace) && !(abbreviated && rest.starts_with('.'))
    }

    fn sign(&mut self, kind: Kind, range: Range<usize>) {
        self.push(kind, Cow::Borrowed(""), range);
    }

    fn push(&mut self, kind: Kind, word: Cow<'t, str>, range: Range<usize>) {
        let classes = if kind == Kind::Word {
            Classes::of(&word)
        } else {
            Classes::default()
        };
        self.tokens.push(Token {
            kind,
            word,
            classes,
            range,
            struck: self.struck,
        });
    }
}

/// The length of a text's first character.
fn first_length(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

fn lowered(source: &str) -> Cow<'_, str> {
    if source.chars().any(char::is_uppercase) {
        Cow::Owned(source.to_lowercase())
    } else {
        Cow::Borrowed(source)
    }
}

/// The length of the word a text begins with: letters, digits, and single joints between them.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, letter)) = chars.next() {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let joins = matches!(letter, '.' | '-' | '\'' | '’')
            && at > 0
            && chars.peek().is_some_and(|(_, next)| is_part(*next));
        if !is_part(letter) && !joins {
            break;
        }
        length = at + letter.len_utf8();
    }
    length
}
