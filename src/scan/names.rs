//! The names to look for, and where they stand in a text as whole words.
//!
//! A filter of hashed grams is sampled every few bytes: the shortest name fixes how far apart the
//! samples may be, so that each occurrence holds at least one. Only where a sample may belong to a name
//! is the word around it cut out and looked up. Nothing here allocates after construction, and no byte
//! is looked at more than a fixed number of times. Knows nothing of Markdown.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

/// The longest name the list allows, in bytes.
const LONGEST_NAME: usize = 64;

/// The widest gram the filter hashes: four bytes fit one register.
const WIDEST_GRAM: usize = 4;

/// A place where a name stands as a whole word, in any letter case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// Which row of the scanner.
    pub(super) row: usize,
    /// The bytes of the name.
    pub(super) range: Range<usize>,
    /// Whether it is spelt letter for letter as in the list.
    pub(super) exact: bool,
}

/// A retired name and what stands in for it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// The replacement that the row names, then that one's own replacement while it is retired too.
    pub(super) replacements: Vec<String>,
}

/// A set of names, ready to be looked for.
#[derive(Debug)]
pub(super) struct Names {
    rows: Vec<Row>,
    by_folded: HashMap<Box<[u8]>, usize, FixedState>,
    lengths: [bool; LONGEST_NAME + 1],
    filter: GramFilter,
}

impl Names {
    /// Prepares `(name, replacement)` pairs. Of names that differ in letter case alone the first counts;
    /// one that is empty or longer than the list allows can't be found.
    pub(super) fn new(pairs: Vec<(String, String)>) -> Names {
        let mut by_folded = HashMap::with_capacity_and_hasher(pairs.len(), FixedState::default());
        let mut lengths = [false; LONGEST_NAME + 1];
        for (row, (name, _)) in pairs.iter().enumerate() {
            if (1..=LONGEST_NAME).contains(&name.len()) {
                lengths[name.len()] = true;
                by_folded
                    .entry(name.to_ascii_lowercase().into_bytes().into_boxed_slice())
                    .or_insert(row);
            }
        }
        let filter = GramFilter::new(by_folded.keys().map(|name| &**name));
        let chains = (0..pairs.len())
            .map(|row| replacement_chain(&pairs, &by_folded, row))
            .collect::<Vec<_>>();
        let rows = pairs
            .into_iter()
            .zip(chains)
            .map(|((name, _), replacements)| Row { name, replacements })
            .collect();
        Names {
            rows,
            by_folded,
            lengths,
            filter,
        }
    }

    /// The row an occurrence refers to.
    pub(super) fn row(&self, row: usize) -> &Row {
        &self.rows[row]
    }

    /// The row of a name in any letter case.
    pub(super) fn find(&self, word: &[u8]) -> Option<usize> {
        if !self.lengths.get(word.len()).is_some_and(|known| *known) {
            return None;
        }
        let mut folded = [0; LONGEST_NAME];
        let folded = &mut folded[..word.len()];
        folded.copy_from_slice(word);
        folded.make_ascii_lowercase();
        self.by_folded.get(&*folded).copied()
    }

    /// The first occurrence at or after `from`, which must be 0 or the end of an earlier occurrence.
    pub(super) fn next(&self, text: &str, from: usize) -> Option<Occurrence> {
        let bytes = text.as_bytes();
        // No word that begins before `floor` is looked at again: that keeps the work linear.
        let mut floor = from;
        loop {
            let sample = self.filter.next_hit(bytes, floor)?;
            let Some(word) = word_around(bytes, sample, floor) else {
                // The sample lies between words; the next word can't begin before it.
                floor = sample + 1;
                continue;
            };
            floor = word.end;
            if let Some(row) = self.find(&bytes[word.clone()])
                && stands_alone(text, &word)
            {
                return Some(Occurrence {
                    exact: self.rows[row].name.as_bytes() == &bytes[word.clone()],
                    row,
                    range: word,
                });
            }
        }
    }
}

/// Where a name's replacements lead, without going round a cycle.
fn replacement_chain(
    pairs: &[(String, String)],
    by_folded: &HashMap<Box<[u8]>, usize, FixedState>,
    row: usize,
) -> Vec<String> {
    let mut chain: Vec<String> = Vec::new();
    let mut next = Some(row);
    while let Some(row) = next {
        let replacement = &pairs[row].1;
        if chain.contains(replacement) {
            break;
        }
        next = by_folded
            .get(replacement.to_ascii_lowercase().as_bytes())
            .copied();
        chain.push(replacement.clone());
    }
    chain
}

/// The bytes that words are made of.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The bytes that join two parts of one word when they stand singly between them.
fn is_joint(byte: u8) -> bool {
    matches!(byte, b'.' | b'-')
}

/// The word that `at` lies in, or `None` if it lies between words. It does not reach back over `floor`.
fn word_around(bytes: &[u8], at: usize, floor: usize) -> Option<Range<usize>> {
    let joins = |at: usize| {
        is_joint(bytes[at])
            && at > floor
            && is_word_byte(bytes[at - 1])
            && bytes.get(at + 1).copied().is_some_and(is_word_byte)
    };
    if !is_word_byte(bytes[at]) && !joins(at) {
        return None;
    }
    let mut start = at;
    while start > floor && (is_word_byte(bytes[start - 1]) || joins(start - 1)) {
        start -= 1;
    }
    let mut end = at + 1;
    while end < bytes.len() && (is_word_byte(bytes[end]) || joins(end)) {
        end += 1;
    }
    Some(start..end)
}

/// Whether what surrounds a word leaves it a name of its own: no path, flag, variable or qualified name.
fn stands_alone(text: &str, word: &Range<usize>) -> bool {
    let (before, after) = (&text[..word.start], &text[word.end..]);
    !continues_before(before) && !continues_after(after)
}

fn continues_before(before: &str) -> bool {
    let mut chars = before.chars().rev();
    let Some(last) = chars.next() else {
        return false;
    };
    let earlier = chars.next();
    let follows_word = earlier.is_some_and(char::is_alphanumeric);
    match last {
        '/' | '$' => true,
        '\\' | ':' | '@' => follows_word,
        // `--name` is a flag, but `word--name` a dash, and `-name` at a line's start a removed line.
        '-' => match earlier {
            Some('-') => !chars.next().is_some_and(char::is_alphanumeric),
            earlier => !matches!(earlier, None | Some('\n' | '\r')),
        },
        '.' => earlier != Some('.'),
        _ => is_cased(last),
    }
}

fn continues_after(after: &str) -> bool {
    let mut chars = after.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let later = chars.next();
    let leads_word = later.is_some_and(char::is_alphanumeric);
    match first {
        '/' => later != Some('>'),
        '\\' | '@' => leads_word,
        ':' => leads_word || later == Some(':'),
        _ => is_cased(first),
    }
}

/// Letters of scripts with letter case continue an identifier; the others are written without blanks
/// between words, so a name beside them stands alone.
fn is_cased(letter: char) -> bool {
    !letter.is_ascii() && (letter.is_lowercase() || letter.is_uppercase())
}

/// A bitmap of the hashed grams near the beginnings of all names.
#[derive(Debug)]
struct GramFilter {
    /// How many bytes a gram has, 1 to 4; 0 if there is no name at all.
    gram: usize,
    /// How far apart samples may lie.
    stride: usize,
    mask: u32,
    shift: u32,
    bits: Vec<u64>,
}

impl GramFilter {
    fn new<'n>(names: impl Iterator<Item = &'n [u8]> + Clone) -> GramFilter {
        let shortest = names.clone().map(<[u8]>::len).min().unwrap_or(0);
        let gram = shortest.min(WIDEST_GRAM);
        let stride = shortest - gram + 1;
        let grams = names.clone().count() * stride;
        // Sixteen bits for every gram keep chance hits rare; more than 2^21 would leave the cache.
        let log2 = (grams * 16).next_power_of_two().ilog2().clamp(12, 21);
        let mut filter = GramFilter {
            gram,
            stride,
            mask: u32::MAX >> (8 * (WIDEST_GRAM - gram.max(1))),
            shift: 32 - log2,
            bits: vec![0; 1 << (log2 - 6)],
        };
        for name in names {
            for gram in name.windows(gram.max(1)).take(stride) {
                let slot = filter.slot(padded(gram));
                filter.bits[slot >> 6] |= 1 << (slot & 63);
            }
        }
        filter
    }

    /// Setting bit 5 folds letter case; other bytes that it makes alike only cost a look-up.
    fn slot(&self, gram: u32) -> usize {
        let folded = (gram | 0x2020_2020) & self.mask;
        (folded.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    fn may_hold(&self, gram: u32) -> bool {
        let slot = self.slot(gram);
        self.bits
            .get(slot >> 6)
            .is_some_and(|word| word >> (slot & 63) & 1 != 0)
    }

    /// The first sample at or after `from` whose gram may be a name's.
    fn next_hit(&self, bytes: &[u8], from: usize) -> Option<usize> {
        if self.gram == 0 {
            return None;
        }
        let mut at = from;
        while let Some(gram) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDEST_GRAM>) {
            if self.may_hold(u32::from_le_bytes(*gram)) {
                return Some(at);
            }
            at += self.stride;
        }
        while at + self.gram <= bytes.len() {
            if self.may_hold(padded(&bytes[at..])) {
                return Some(at);
            }
            at += self.stride;
        }
        None
    }
}

/// Up to four bytes as one number, the missing ones zero.
fn padded(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .take(WIDEST_GRAM)
        .enumerate()
        .fold(0, |gram, (index, byte)| {
            gram | u32::from(*byte) << (8 * index)
        })
}
