//! The terms of a text, each hashed to a column.
//!
//! ```text
//! words         runs of letters and digits, in lower case
//! pairs         neighbouring words
//! characters    the 3 to 5 neighbouring ones inside a word with a mark at either end
//! beginnings    the first word and the first two, as such: "what is ..." asks for something else than "... is what"
//! ```
//!
//! Weinberger et al., "Feature hashing", 2009; ours has no signs: with so many columns and only common terms kept, few
//! collide. Characters make up for typing errors, endings, and scripts without spaces.

use std::collections::HashMap;
use std::ops::Range;

use dial::seed::hash;

/// Columns at most.
pub(crate) const HASHED_COLUMNS: usize = 1 << 20;
/// Families of terms: words, pairs, characters, beginnings.
pub(crate) const FAMILIES: usize = 4;
const WORD: u64 = 0;
const PAIR: u64 = 1;
const CHARACTERS: u64 = 2;
const BEGINNING: u64 = 3;
/// Numbers of neighbouring characters that make a term.
const MIN_NGRAM: usize = 3;
const MAX_NGRAM: usize = 5;
/// A text is described by at most this many bytes at its beginning.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 18;
/// Columns that are remembered for words already seen.
const MAX_REMEMBERED: usize = 1 << 20;

/// Columns enough for all terms of the texts, a power of two.
pub(crate) fn columns_for(texts: &[String]) -> usize {
    let total: usize = texts
        .iter()
        .map(|text| text.len().min(HASHED_COLUMNS))
        .sum();
    total
        .saturating_mul(8)
        .clamp(1 << 10, HASHED_COLUMNS)
        .next_power_of_two()
}

/// The family of the terms in a column.
pub(crate) fn family(column: u32) -> usize {
    column as usize % FAMILIES
}

/// Counts the terms of one text after the other; what it remembers of words saves time and changes nothing.
pub(crate) struct Counter {
    columns: u32,
    /// How often each column occurs in this text, and which do.
    counts: Vec<u32>,
    met: Vec<u32>,
    word: String,
    seen: HashMap<String, Seen>,
    remembered: Vec<u32>,
}

/// A word: its hash, and where the columns of its characters are.
#[derive(Clone)]
struct Seen {
    own: u64,
    characters: Range<usize>,
}

/// The words of a text that lie behind.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    First(u64),
    Later(u64),
}

impl Counter {
    pub(crate) fn new(columns: usize) -> Counter {
        Counter {
            columns: columns as u32,
            counts: vec![0; columns],
            met: Vec::new(),
            word: String::new(),
            seen: HashMap::new(),
            remembered: Vec::new(),
        }
    }

    /// The columns of the terms of a text, each with the number of times it occurs, in the order in which they are met.
    pub(crate) fn count(&mut self, text: &str) -> impl Iterator<Item = (u32, u32)> + '_ {
        for &column in &self.met {
            self.counts[column as usize] = 0;
        }
        self.met.clear();
        let mut before = Before::Nothing;
        for c in beginning(text).chars() {
            if c.is_ascii_alphanumeric() {
                self.word.push(c.to_ascii_lowercase());
            } else if c.is_alphanumeric() {
                self.push_lower_case(c, &mut before);
            } else {
                before = self.end_word(before);
            }
        }
        self.end_word(before);
        let counts = &self.counts;
        self.met
            .iter()
            .map(move |&column| (column, counts[column as usize]))
    }

    /// Lower case may be several characters, and not all of them letters.
    fn push_lower_case(&mut self, c: char, before: &mut Before) {
        for c in c.to_lowercase() {
            if c.is_alphanumeric() {
                self.word.push(c);
            } else {
                *before = self.end_word(*before);
            }
        }
    }

    fn end_word(&mut self, before: Before) -> Before {
        if self.word.is_empty() {
            return before;
        }
        let Seen { own, characters } = self.seen();
        self.meet(column_of(WORD, own));
        let now = match before {
            Before::Nothing => {
                self.meet(column_of(BEGINNING, own));
                Before::First(own)
            }
            Before::First(first) => {
                self.meet(column_of(BEGINNING, hash(first, own)));
                self.meet(column_of(PAIR, hash(first, own)));
                Before::Later(own)
            }
            Before::Later(last) => {
                self.meet(column_of(PAIR, hash(last, own)));
                Before::Later(own)
            }
        };
        for place in characters {
            self.meet(self.remembered[place]);
        }
        self.word.clear();
        now
    }

    fn meet(&mut self, column: u32) {
        let column = column % self.columns;
        let count = &mut self.counts[column as usize];
        if *count == 0 {
            self.met.push(column);
        }
        *count += 1;
    }

    /// What is remembered of the word that has ended.
    fn seen(&mut self) -> Seen {
        if let Some(seen) = self.seen.get(&self.word) {
            return seen.clone();
        }
        if self.remembered.len() > MAX_REMEMBERED {
            self.seen.clear();
            self.remembered.clear();
        }
        let from = self.remembered.len();
        characters_of(&self.word, &mut self.remembered);
        let seen = Seen {
            own: self.word.chars().fold(FNV_OFFSET, step),
            characters: from..self.remembered.len(),
        };
        self.seen.insert(self.word.clone(), seen.clone());
        seen
    }
}

/// As much of a text as describes it.
fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT_BYTES.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

/// Adds the columns of the neighbouring characters of a word.
fn characters_of(word: &str, columns: &mut Vec<u32>) {
    let marked: Vec<char> = std::iter::once('\0')
        .chain(word.chars())
        .chain(['\0'])
        .collect();
    for start in 0..marked.len() {
        let mut sum = FNV_OFFSET;
        for (length, &c) in marked[start..].iter().take(MAX_NGRAM).enumerate() {
            sum = step(sum, c);
            if length + 1 >= MIN_NGRAM {
                columns.push(column_of(CHARACTERS, sum));
            }
        }
    }
}

/// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits), by characters.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn step(sum: u64, c: char) -> u64 {
    (sum ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The column of a term: its last two bits are the family.
fn column_of(family: u64, sum: u64) -> u32 {
    (hash(family, sum) % (HASHED_COLUMNS / FAMILIES) as u64 * FAMILIES as u64 + family) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(text: &str) -> Vec<(u32, u32)> {
        let mut counter = Counter::new(HASHED_COLUMNS);
        let mut terms: Vec<(u32, u32)> = counter.count(text).collect();
        terms.sort_unstable();
        terms
    }

    #[test]
    fn terms_of_a_short_text() {
        // "ab" twice: the word (2), the pair (1), the first word and the first two (1 each), and of "<ab>" the parts "<ab",
        // "ab>", "<ab>" (2 each).
        let terms = terms_of("Ab, AB!");
        let counts = |of: usize| {
            let of_family = terms.iter().filter(|(column, _)| family(*column) == of);
            of_family.map(|&(_, count)| count).collect::<Vec<_>>()
        };
        assert_eq!(
            [0, 1, 2, 3].map(counts),
            [vec![2], vec![1], vec![2, 2, 2], vec![1, 1]]
        );
        assert_eq!(terms, terms_of("aB aB"));
        // Lower case is that of Unicode; letters are those of any script.
        assert_eq!(terms_of("ÄÖ ΣΑΝ"), terms_of("äö σαν"));
        // The word, the beginning, and of five marked characters 3 + 2 + 1 parts.
        assert_eq!(terms_of("日本語").len(), 2 + 3 + 2 + 1);
        assert_eq!(terms_of(" \n-?!"), []);
        // The order of the words counts, where a text begins and otherwise.
        assert_ne!(terms_of("what is"), terms_of("is what"));
    }

    #[test]
    fn a_text_is_counted_the_same_after_any_other() {
        let mut counter = Counter::new(1 << 12);
        let first: Vec<(u32, u32)> = counter.count("one two one").collect();
        let other: Vec<(u32, u32)> = counter.count("two three, İstanbul").collect();
        assert_ne!(first, other);
        assert_eq!(counter.count("one two one").collect::<Vec<_>>(), first);
        assert_eq!(counter.count("").next(), None);
    }

    #[test]
    fn small_pools_have_fewer_columns() {
        assert_eq!(columns_for(&[]), 1 << 10);
        // 8 * 1000 bytes: the next power of two is 8192.
        assert_eq!(columns_for(&["a".repeat(1000)]), 8192);
        assert_eq!(
            columns_for(&["a".repeat(1 << 20), "a".repeat(1 << 20)]),
            HASHED_COLUMNS
        );
    }

    #[test]
    fn long_texts_cost_no_more_than_their_beginning() {
        let long = "ä".repeat(MAX_TEXT_BYTES);
        assert_eq!(beginning(&long).len(), MAX_TEXT_BYTES);
        assert_eq!(beginning(&format!("a{long}")).len(), MAX_TEXT_BYTES - 1);
    }
}
