//! Features of texts without a model: hashed words and parts of words, weighted by how rare they are, in few dimensions.
//!
//! ```text
//! terms        words (runs of letters and digits, in lower case), pairs of neighbouring words, and the 3 to 4
//!              neighbouring characters inside each word with a mark at either end; each hashed to one of 2^20 columns (fewer in
//!              small pools)
//! kept terms   those of at least 2 texts and at most half of the n texts (or 10), the 2^16 most common of them
//! weight       w (1 + ln f) ln((n + 1) / m), f times in this text, in m texts, w = 1 or, for characters, 0.4; then rows
//!              of length 1
//! features     U Σ^(1/2) of the 100 leading singular directions (`components::leading`); then rows of length 1
//! ```
//!
//! Salton, Buckley, "Term-weighting approaches in automatic text retrieval", 1988; Deerwester et al., "Indexing by
//! latent semantic analysis", 1990; Weinberger et al., "Feature hashing", 2009 (ours has no signs: with so many columns
//! and only common terms kept, few collide). Characters make up for typing errors, endings, and scripts without spaces.
//!
//! Rows have length 1, so Euclidean neighbours are those by cosine. A text that shares no term with another one (an
//! empty one, say) is no error: such texts get a column of their own, which makes them alike to one another and equally
//! far (√2) from all others; as zeros they would be nearer to most texts than those are to each other.

use std::sync::atomic::{AtomicU32, Ordering};

use dial::Control;
use dial::seed::hash;
use rayon::prelude::*;

use crate::error::{Fault, plural};
use crate::featurize::svd::{self, Sparse};
use crate::pool::Described;
use crate::pool::matrix::{Buffer, Matrix};

/// Hashed columns, and how many of them are kept at most.
const COLUMNS: usize = 1 << 20;
const KEPT: usize = 1 << 16;
/// Numbers of neighbouring characters that make a term.
const FEWEST: usize = 3;
const MOST: usize = 4;
/// How much the families of terms count: words, pairs of words, characters.
const FAMILIES: [f32; 3] = [1.0, 1.0, 0.4];
/// Dimensions of the features at most.
const DIMENSIONS: usize = 100;
/// The power of the singular values.
const POWER: f64 = 0.5;
/// Only so many bytes at the beginning of a text describe it, and only so many of its terms, the weightiest.
const LONGEST: usize = 1 << 18;
const TERMS: usize = 4000;
/// Texts done by a thread at a time.
const CHUNK: usize = 64;

/// Columns enough for all terms of the texts, a power of two.
fn columns_for(texts: &[String]) -> usize {
    let total: usize = texts.iter().map(|text| text.len().min(COLUMNS)).sum();
    total
        .saturating_mul(8)
        .clamp(1 << 10, COLUMNS)
        .next_power_of_two()
}

/// Describes each text by a row of numbers.
pub(crate) fn describe(texts: &[String], control: &Control) -> Result<Described, Fault> {
    control.start("counting words", texts.len());
    let places = kept_terms(texts, control)?;
    control.finish();
    control.start("weighing words", texts.len());
    let sparse = weighted(texts, &places, control)?;
    control.finish();
    let rank = DIMENSIONS.min(texts.len() / 2).max(1);
    let leading = svd::leading(&sparse, rank, control)?;
    let (matrix, apart) = unit_rows(&rescaled(leading), &sparse);
    Ok(Described {
        matrix,
        notes: notes(texts, apart),
        kept: None,
    })
}

fn notes(texts: &[String], apart: usize) -> Vec<String> {
    let mut notes = vec![
        "features were made from the words of the texts; embeddings from a language model, given with --features, tell \
         texts apart better"
            .to_string(),
    ];
    if apart > 1 && apart == texts.len() {
        notes.push("no text shares a word with another, so all look alike: give longer texts, or --features".into());
    } else if apart > 0 {
        let kept = plural(
            apart,
            "kept, unlike all others",
            "kept, alike to one another and unlike all others",
        );
        notes.push(format!(
            "{apart} {} no words with another: {kept}",
            plural(apart, "text shares", "texts share")
        ));
    }
    let long = texts.iter().filter(|text| text.len() > LONGEST).count();
    if long > 0 {
        notes.push(format!(
            "{long} {} described by the first 256 KiB",
            plural(long, "long text is", "long texts are")
        ));
    }
    notes
}

/// A term that is kept: its column among those kept, and its weight.
#[derive(Clone, Copy)]
struct Place {
    column: u32,
    weight: f32,
}

/// For each hashed column where it went; none if it was dropped.
fn kept_terms(texts: &[String], control: &Control) -> Result<Vec<Option<Place>>, Fault> {
    let columns = columns_for(texts);
    let counts: Vec<AtomicU32> = (0..columns).map(|_| AtomicU32::new(0)).collect();
    texts.par_chunks(CHUNK).try_for_each(|chunk| {
        for text in chunk {
            for (term, _) in terms_of(text, columns) {
                counts[term as usize].fetch_add(1, Ordering::Relaxed);
            }
        }
        control.advance(chunk.len())
    })?;
    let counts: Vec<usize> = counts
        .into_iter()
        .map(|count| count.into_inner() as usize)
        .collect();
    let most = (texts.len() / 2).max(10);
    let mut kept: Vec<usize> = (0..columns)
        .filter(|&term| (2..=most).contains(&counts[term]))
        .collect();
    if kept.len() > KEPT {
        kept.sort_by_key(|&term| (std::cmp::Reverse(counts[term]), term));
        kept.truncate(KEPT);
        kept.sort_unstable();
    }
    let mut places = vec![None; columns];
    for (column, &term) in kept.iter().enumerate() {
        let weight = libm::log((1 + texts.len()) as f64 / counts[term] as f64) as f32;
        places[term] = Some(Place {
            column: column as u32,
            weight,
        });
    }
    Ok(places)
}

/// The weights of the terms of each text, rows of length 1.
fn weighted(
    texts: &[String],
    places: &[Option<Place>],
    control: &Control,
) -> Result<Sparse, Fault> {
    let rows: Vec<Vec<Vec<(u32, f32)>>> = texts
        .par_chunks(CHUNK)
        .map(|chunk| {
            control.advance(chunk.len())?;
            Ok(chunk
                .iter()
                .map(|text| weighted_row(text, places))
                .collect())
        })
        .collect::<Result<_, dial::Error>>()?;
    let mut sparse = Sparse {
        starts: vec![0],
        width: places.iter().flatten().count(),
        ..Sparse::default()
    };
    for row in rows.into_iter().flatten() {
        sparse.columns.extend(row.iter().map(|(column, _)| column));
        sparse.values.extend(row.iter().map(|(_, value)| value));
        sparse.starts.push(sparse.columns.len());
    }
    Ok(sparse)
}

fn weighted_row(text: &str, places: &[Option<Place>]) -> Vec<(u32, f32)> {
    let weight = |(term, count): (u32, u32)| {
        let Place { column, weight } = places[term as usize]?;
        let family = FAMILIES.get(term as usize % 4).copied().unwrap_or_default();
        Some((
            column,
            (1.0 + libm::log(f64::from(count))) as f32 * weight * family,
        ))
    };
    let mut row: Vec<(u32, f32)> = terms_of(text, places.len())
        .into_iter()
        .filter_map(weight)
        .collect();
    if row.len() > TERMS {
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(TERMS);
    }
    row.sort_unstable_by_key(|&(column, _)| column);
    let length = row
        .iter()
        .map(|&(_, value)| f64::from(value) * f64::from(value))
        .sum::<f64>()
        .sqrt();
    row.iter_mut()
        .for_each(|(_, value)| *value = (f64::from(*value) / length) as f32);
    row
}

/// The terms of a text in the order of their columns, each with the number of times it occurs.
fn terms_of(text: &str, columns: usize) -> Vec<(u32, u32)> {
    let mut terms = Vec::new();
    let mut before = None;
    let mut word: Vec<char> = Vec::new();
    for c in beginning(text)
        .chars()
        .flat_map(char::to_lowercase)
        .chain([' '])
    {
        if c.is_alphanumeric() {
            word.push(c);
        } else if !word.is_empty() {
            before = Some(terms_of_word(&word, before, &mut terms));
            word.clear();
        }
    }
    terms.iter_mut().for_each(|term| *term %= columns as u32);
    terms.sort_unstable();
    let counted = terms
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len() as u32));
    counted.collect()
}

/// As much of a text as describes it.
fn beginning(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

/// Adds the terms of a word: itself, the pair with the word before, its neighbouring characters. Returns its hash.
fn terms_of_word(word: &[char], before: Option<u64>, terms: &mut Vec<u32>) -> u64 {
    let own = word.iter().fold(KEY, |sum, &c| step(sum, c));
    terms.push(column_of(0, own));
    if let Some(before) = before {
        terms.push(column_of(1, hash(before, own)));
    }
    let marked: Vec<char> = std::iter::once('\0')
        .chain(word.iter().copied())
        .chain(['\0'])
        .collect();
    for start in 0..marked.len() {
        let mut sum = KEY;
        for (length, &c) in marked[start..].iter().take(MOST).enumerate() {
            sum = step(sum, c);
            if length + 1 >= FEWEST {
                terms.push(column_of(2, sum));
            }
        }
    }
    own
}

/// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits), by characters.
const KEY: u64 = 0xcbf2_9ce4_8422_2325;

fn step(sum: u64, c: char) -> u64 {
    (sum ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The column of a term: its last two bits are the family.
fn column_of(family: u64, sum: u64) -> u32 {
    (hash(family, sum) % (COLUMNS as u64 / 4) * 4 + family) as u32
}

/// U Σ as U Σ^p, by columns: σ is the length of a column.
fn rescaled(matrix: Matrix) -> Matrix {
    let square = |column: usize| {
        (0..matrix.n)
            .map(|row| matrix.get(row, column))
            .map(|x| x * x)
            .sum::<f64>()
    };
    let scale = |column: usize| match square(column).sqrt() {
        0.0 => 1.0,
        length => libm::pow(length, POWER - 1.0),
    };
    let scales: Vec<f64> = (0..matrix.dim).map(scale).collect();
    let value = |i: usize| matrix.get(i / matrix.dim, i % matrix.dim) * scales[i % matrix.dim];
    let values = (0..matrix.n * matrix.dim)
        .map(|i| value(i) as f32)
        .collect();
    Matrix {
        values: Buffer::F32(values),
        ..matrix
    }
}

/// Rows of length 1, and one more column for the texts without terms, if there are any; and how many there are.
fn unit_rows(matrix: &Matrix, sparse: &Sparse) -> (Matrix, usize) {
    let length = |row: usize| {
        (0..matrix.dim)
            .map(|c| matrix.get(row, c))
            .map(|x| x * x)
            .sum::<f64>()
            .sqrt()
    };
    let bare = |row: usize| sparse.starts[row] == sparse.starts[row + 1];
    let lengths: Vec<f64> = (0..matrix.n)
        .map(|row| if bare(row) { 0.0 } else { length(row) })
        .collect();
    let apart = lengths.iter().filter(|&&length| length < SHORTEST).count();
    let dim = matrix.dim + usize::from(apart > 0);
    let mut values = Vec::with_capacity(matrix.n * dim);
    for (row, &length) in lengths.iter().enumerate() {
        let known = length >= SHORTEST;
        let value = |c| {
            if known {
                (matrix.get(row, c) / length) as f32
            } else {
                0.0
            }
        };
        values.extend((0..matrix.dim).map(value));
        if apart > 0 {
            values.push(f32::from(u8::from(!known)));
        }
    }
    (
        Matrix {
            values: Buffer::F32(values),
            n: matrix.n,
            dim,
        },
        apart,
    )
}

/// A row shorter than this is nothing but rounding.
const SHORTEST: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(text: &str) -> Vec<(u32, u32)> {
        super::terms_of(text, COLUMNS)
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| text.to_string()).collect()
    }

    fn made(texts: &[&str]) -> Described {
        describe(&owned(texts), &Control::new()).unwrap()
    }

    fn product(matrix: &Matrix, i: usize, j: usize) -> f64 {
        (0..matrix.dim)
            .map(|c| matrix.get(i, c) * matrix.get(j, c))
            .sum()
    }

    #[test]
    fn terms_of_a_short_text() {
        // "ab" twice: the word (2), the pair (1), and of "<ab>" the parts "<ab", "ab>", "<ab>" (2 each).
        let mut counts: Vec<u32> = terms_of("Ab, AB!")
            .into_iter()
            .map(|(_, count)| count)
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 2, 2, 2, 2]);
        assert_eq!(terms_of("Ab, AB!"), terms_of("aB aB"));
        // Lower case is that of Unicode; letters are those of any script.
        assert_eq!(terms_of("ÄÖ ΣΑΝ"), terms_of("äö σαν"));
        assert_eq!(terms_of("日本語").len(), 1 + 3 + 2);
        assert_eq!(terms_of(" \n-?!"), []);
    }

    #[test]
    fn small_pools_have_fewer_columns() {
        assert_eq!(columns_for(&[]), 1 << 10);
        // 8 * 1000 bytes: the next power of two is 8192.
        assert_eq!(columns_for(&["a".repeat(1000)]), 8192);
        assert_eq!(
            columns_for(&["a".repeat(1 << 20), "a".repeat(1 << 20)]),
            COLUMNS
        );
    }

    #[test]
    fn rows_have_length_one_and_like_texts_are_near() {
        let made = made(&[
            "red roses bloom",
            "roses bloom red",
            "the oven bakes",
            "an oven baked",
            "red rose",
            "ovens bake",
        ]);
        let matrix = &made.matrix;
        assert_eq!(
            (matrix.n, made.kept.is_none(), made.notes.len()),
            (6, true, 1)
        );
        assert!(
            (0..6).all(|row| (product(matrix, row, row) - 1.0).abs() < 1e-5),
            "{matrix:?}"
        );
        for (near, far) in [((0, 1), (0, 2)), ((2, 3), (3, 4)), ((2, 5), (1, 2))] {
            assert!(
                product(matrix, near.0, near.1) > product(matrix, far.0, far.1) + 0.3,
                "{near:?} {far:?}"
            );
        }
    }

    #[test]
    fn texts_without_terms_stand_apart() {
        let made = made(&[
            "",
            "red roses",
            "red roses grow",
            "?!",
            "qqqq",
            "roses red",
            "grow",
        ]);
        let matrix = &made.matrix;
        let last: Vec<f64> = (0..7).map(|row| matrix.get(row, matrix.dim - 1)).collect();
        assert_eq!(last, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert!((product(matrix, 0, 3) - 1.0).abs() < 1e-6 && product(matrix, 0, 1) == 0.0);
        assert!(
            made.notes[1].starts_with("3 texts share no words with another"),
            "{:?}",
            made.notes
        );
        let nothing = super::tests::made(&["", ""]);
        assert_eq!(nothing.matrix.values, Buffer::F32(vec![0.0, 1.0, 0.0, 1.0]));
        assert!(
            nothing.notes[1].starts_with("no text shares a word with another"),
            "{:?}",
            nothing.notes
        );
    }

    #[test]
    fn long_texts_cost_no_more_than_their_beginning() {
        let long = "ä".repeat(LONGEST);
        assert_eq!(beginning(&long).len(), LONGEST);
        assert_eq!(beginning(&format!("a{long}")).len(), LONGEST - 1);
        let text: String = (0..20_000).map(|word| format!("w{word} ")).collect();
        assert!(
            weighted_row(
                &text,
                &vec![
                    Some(Place {
                        column: 0,
                        weight: 1.0
                    });
                    COLUMNS
                ]
            )
            .len()
                == TERMS
        );
        let texts = [text.clone() + &long, text];
        assert!(notes(&texts, 0)[1].starts_with("1 long text is described by the first 256 KiB"));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits_and_cancelling_stops() {
        let texts: Vec<String> = (0..300)
            .map(|i| format!("w{} w{} w{} common", i % 7, i % 11, i % 13))
            .collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| describe(&texts, &Control::new()).unwrap().matrix)
        };
        assert_eq!(with(1), with(3));
        let control = Control::new();
        control.cancel();
        assert!(matches!(
            describe(&texts, &control),
            Err(Fault::Core(dial::Error::Cancelled))
        ));
    }
}
