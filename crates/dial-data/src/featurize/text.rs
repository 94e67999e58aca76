//! Features of texts without a model: words and parts of words, weighted by how rare they are, in few dimensions.
//!
//! ```text
//! terms        words, pairs of words, characters and beginnings (`terms`), each hashed to a column
//! kept terms   those of at least 2 of the n texts and at most half of them (characters: a tenth; or 10), the 2^17 most
//!              common
//! weight       w (1 + ln f) ln((n + 1) / m), f times in this text, in m texts; w = 1 for words, 0.5 for pairs, 0.4 for
//!              characters, 0.8 for beginnings; the 400 largest of a text; then rows of length 1
//! features     U Σ of the 100 leading singular directions (`lanczos`); then rows of length 1
//! ```
//!
//! Salton, Buckley, "Term-weighting approaches in automatic text retrieval", 1988; Deerwester et al., "Indexing by
//! latent semantic analysis", 1990.
//!
//! Rows have length 1, so Euclidean neighbours are those by cosine. A text that shares no term with another one (an
//! empty one, say) is not an error: such texts share an extra column, which makes them similar to one another and equally
//! far (√2) from all others; as zeros they would be nearer to most texts than those are to each other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use dial::Control;
use rayon::prelude::*;

use crate::error::{Fault, plural};
use crate::featurize::lanczos;
use crate::featurize::sparse::Sparse;
use crate::featurize::terms::{self, Counter, FAMILIES, MAX_TEXT_BYTES};
use crate::pool::Described;
use crate::pool::matrix::{Buffer, Matrix};

/// The version of this description: projects note it, so that a change of it is told from one of the texts.
pub(crate) const VERSION: u32 = 2;
/// Columns that are kept at most.
const MAX_KEPT_COLUMNS: usize = 1 << 17;
/// How much the families of terms count: words, pairs, characters, beginnings.
const FAMILY_WEIGHTS: [f32; FAMILIES] = [1.0, 0.5, 0.4, 0.8];
/// A term that occurs in more than this share of the texts is dropped, but not one of 10 texts or fewer.
const MAX_SHARES: [f64; FAMILIES] = [0.5, 0.5, 0.1, 0.5];
const ALWAYS_RARE: usize = 10;
/// Dimensions of the features at most.
const MAX_DIMENSIONS: usize = 100;
/// A text is described by this many of its terms at most, those of largest weight.
const MAX_TERMS: usize = 400;
/// Texts done by a thread at a time.
const TEXTS_PER_TASK: usize = 64;

/// Describes each text by a row of numbers.
pub(crate) fn describe(texts: &[String], control: &Control) -> Result<Described, Fault> {
    control.start("counting words", texts.len());
    let places = kept_terms(texts, control)?;
    control.finish();
    control.start("weighing words", texts.len());
    let sparse = weighted(texts, &places, control)?;
    control.finish();
    let rank = MAX_DIMENSIONS.min(texts.len() / 2).max(1);
    let leading = lanczos::leading(&sparse, rank, control)?;
    let (mut matrix, apart) = unit_rows(&leading, &sparse);
    equal_rows(&mut matrix, &sparse);
    Ok(Described {
        matrix,
        notes: notes(texts, apart),
        kept: None,
    })
}

fn notes(texts: &[String], apart: usize) -> Vec<String> {
    let mut notes = vec![
        "features were made from the words of the texts; a model (--embed) or embeddings (--features) tell texts apart \
         better"
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
    let long = texts
        .iter()
        .filter(|text| text.len() > MAX_TEXT_BYTES)
        .count();
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
    let columns = terms::columns_for(texts);
    let counts: Vec<AtomicU32> = (0..columns).map(|_| AtomicU32::new(0)).collect();
    texts.par_chunks(TEXTS_PER_TASK).try_for_each_init(
        || Counter::new(columns),
        |counter, chunk| {
            for text in chunk {
                for (term, _) in counter.count(text) {
                    counts[term as usize].fetch_add(1, Ordering::Relaxed);
                }
            }
            control.advance(chunk.len())
        },
    )?;
    let counts: Vec<usize> = counts
        .into_iter()
        .map(|count| count.into_inner() as usize)
        .collect();
    let most = MAX_SHARES.map(|share| ((texts.len() as f64 * share) as usize).max(ALWAYS_RARE));
    let is_kept = |&term: &usize| (2..=most[terms::family(term as u32)]).contains(&counts[term]);
    let mut kept: Vec<usize> = (0..columns).filter(is_kept).collect();
    if kept.len() > MAX_KEPT_COLUMNS {
        kept.sort_by_key(|&term| (std::cmp::Reverse(counts[term]), term));
        kept.truncate(MAX_KEPT_COLUMNS);
        kept.sort_unstable();
    }
    let mut places = vec![None; columns];
    for (column, &term) in kept.iter().enumerate() {
        let rarity = libm::log((1 + texts.len()) as f64 / counts[term] as f64);
        let weight = FAMILY_WEIGHTS[terms::family(term as u32)];
        places[term] = Some(Place {
            column: column as u32,
            weight: weight * rarity as f32,
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
        .par_chunks(TEXTS_PER_TASK)
        .map_init(
            || Counter::new(places.len()),
            |counter, chunk| {
                control.advance(chunk.len())?;
                Ok(chunk
                    .iter()
                    .map(|text| weighted_row(text, places, counter))
                    .collect())
            },
        )
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

fn weighted_row(text: &str, places: &[Option<Place>], counter: &mut Counter) -> Vec<(u32, f32)> {
    let weight = |(term, count): (u32, u32)| {
        let Place { column, weight } = places[term as usize]?;
        let often = match count {
            1 => 1.0,
            _ => 1.0 + libm::log(f64::from(count)),
        };
        Some((column, often as f32 * weight))
    };
    let mut row: Vec<(u32, f32)> = counter.count(text).filter_map(weight).collect();
    if row.len() > MAX_TERMS {
        row.select_nth_unstable_by(MAX_TERMS, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(MAX_TERMS);
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

/// Gives texts of the same terms the same features to the bit: the directions are found to rounding only, and equal texts
/// shall be at distance 0.
fn equal_rows(matrix: &mut Matrix, sparse: &Sparse) {
    let Buffer::F32(values) = &mut matrix.values else {
        return;
    };
    let mut first: HashMap<(&[u32], Vec<u32>), usize> = HashMap::new();
    for row in 0..matrix.n {
        let terms = sparse.starts[row]..sparse.starts[row + 1];
        let bits = sparse.values[terms.clone()]
            .iter()
            .map(|value| value.to_bits());
        let key = (&sparse.columns[terms.clone()], bits.collect());
        let same = *first.entry(key).or_insert(row);
        if same != row {
            values.copy_within(same * matrix.dim..(same + 1) * matrix.dim, row * matrix.dim);
        }
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
    let apart = lengths
        .iter()
        .filter(|&&length| length < MIN_ROW_NORM)
        .count();
    let dim = matrix.dim + usize::from(apart > 0);
    let mut values = Vec::with_capacity(matrix.n * dim);
    for (row, &length) in lengths.iter().enumerate() {
        let known = length >= MIN_ROW_NORM;
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
const MIN_ROW_NORM: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;

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
    fn long_texts_have_few_terms_and_a_note() {
        let text: String = (0..20_000).map(|word| format!("w{word} ")).collect();
        let all = vec![
            Some(Place {
                column: 0,
                weight: 1.0
            });
            terms::HASHED_COLUMNS
        ];
        let row = weighted_row(&text, &all, &mut Counter::new(terms::HASHED_COLUMNS));
        assert_eq!(row.len(), MAX_TERMS);
        let texts = ["ä".repeat(MAX_TEXT_BYTES), text];
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
