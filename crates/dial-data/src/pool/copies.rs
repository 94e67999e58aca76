//! Copies: items that show a person the same, so that one answer is enough for all of them.
//!
//! ```text
//! exact   the same text, or the same pixels; and the same features, so that the graph cannot tell them apart
//! near    the same text but for case, blanks and punctuation; the same picture, scaled or compressed again
//! ```
//!
//! Rows of numbers are no copies, however equal: what was measured twice are two things (pixels of a scene, rows of a
//! table). Exact copies are looked for among items of equal features only; near ones are compared without features. A
//! near copy is like the first item of its group, and not merely like another copy.

use dial::Control;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::error::Result;
use crate::media::images;
use crate::media::likeness::{self, Likeness};
use crate::pool::Pool;
use crate::pool::matrix::Matrix;
use crate::pool::show::{Picture, Show};

/// Which items are copies of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// None: every item is one of its own.
    #[default]
    None,
    /// Those of the same text or pixels, and the same features.
    Exact,
    /// Those, and texts that differ in case, blanks and punctuation only, and pictures that were scaled or compressed again.
    Near,
}

dial::words::words!(Copies, "the copies", {
    None => "none",
    Exact => "exact",
    Near => "near",
});

/// Identifies what an item shows; nothing where that cannot be read.
type Content = Option<[u8; 32]>;

impl Pool {
    /// The groups of copies, each ascending, in the order of their first items.
    ///
    /// # Errors
    /// Features that are not finite, cancelled.
    pub fn copies(&self, which: Copies, control: &Control) -> Result<Vec<Vec<usize>>> {
        let groups = match (which, &self.show) {
            (Copies::None, _) | (_, Show::Numbers(_) | Show::Scene(_)) => Vec::new(),
            (Copies::Exact, _) => self.exact(),
            (Copies::Near, Show::Texts(texts)) => {
                let rows: Vec<usize> = (0..texts.len()).collect();
                same(&rows, |row| Some(digest(plain(&texts[row]).as_bytes())))
            }
            (Copies::Near, Show::Images(files)) => {
                let paths: Vec<_> = files.files.iter().map(|f| files.folder.join(f)).collect();
                likeness::alike(&likeness::of_files(&paths, control)?)
            }
            (Copies::Near, Show::Picture(picture)) => {
                let of = |row| Some(of_row(self.shown(), *picture, row));
                let all: Vec<_> = (0..self.matrix.n).into_par_iter().map(of).collect();
                likeness::alike(&all)
            }
        };
        Ok(groups)
    }

    fn exact(&self) -> Vec<Vec<usize>> {
        let features = self.matrix.features();
        let equal = features.map_or(Vec::new(), |features| features.duplicate_groups());
        let mut groups: Vec<Vec<usize>> = equal
            .iter()
            .flat_map(|rows| same(rows, |row| self.content(row)))
            .collect();
        groups.sort_unstable();
        groups
    }

    /// What an item shows.
    fn content(&self, row: usize) -> Content {
        match &self.show {
            Show::Texts(texts) => Some(digest(texts[row].as_bytes())),
            Show::Images(files) => {
                let bitmap = images::load(files.folder.join(&files.files[row]), None).ok()?;
                let sides = [bitmap.width.to_le_bytes(), bitmap.height.to_le_bytes()].concat();
                Some(digest(&[sides, bitmap.rgb].concat()))
            }
            Show::Picture(_) => {
                let shown = self.shown();
                // Adding zero turns -0 into 0.
                let values = (0..shown.dim).flat_map(|at| (shown.get(row, at) + 0.0).to_le_bytes());
                Some(digest(&values.collect::<Vec<u8>>()))
            }
            Show::Numbers(_) | Show::Scene(_) => None,
        }
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The groups of rows of the same content.
fn same(rows: &[usize], content: impl Fn(usize) -> Content + Sync) -> Vec<Vec<usize>> {
    let of = |&row: &usize| content(row).map(|content| (content, row));
    let mut all: Vec<([u8; 32], usize)> = rows.par_iter().filter_map(of).collect();
    all.par_sort_unstable();
    let groups = all
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|some| some.len() > 1);
    let mut groups: Vec<Vec<usize>> = groups
        .map(|some| some.iter().map(|&(_, row)| row).collect())
        .collect();
    groups.sort_unstable();
    groups
}

/// A text without what does not make it another one: letters and digits in lower case, a blank between words. A text
/// that has none of them stays as it is.
fn plain(text: &str) -> String {
    let small: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let words = small.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => format!("\0{text}"),
        false => words.join(" "),
    }
}

/// What a row of pixels looks like.
fn of_row(pixels: &Matrix, picture: Picture, row: usize) -> Likeness {
    let range = match picture.highest > picture.lowest {
        true => picture.highest - picture.lowest,
        false => 1.0,
    };
    let line = |y: usize, out: &mut Vec<f32>| {
        let columns = y * picture.width..(y + 1) * picture.width;
        let grey = |at| (255.0 * (pixels.get(row, at) - picture.lowest) / range) as f32;
        out.extend(columns.flat_map(|at| [grey(at); 3]));
    };
    Likeness::of(line, picture.width, picture.height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::matrix::Buffer;

    fn pool(texts: &[&str]) -> Pool {
        let control = Control::new();
        let show = Show::Texts(texts.iter().map(|text| text.to_string()).collect());
        let Show::Texts(own) = &show else {
            unreachable!("texts")
        };
        let matrix = crate::featurize::text::describe(own, &control)
            .unwrap()
            .matrix;
        Pool {
            show,
            ..Pool::new("p", matrix)
        }
    }

    #[test]
    fn texts() {
        let texts = [
            "The cat purrs.",
            "a dog barks",
            "The cat purrs.",
            "the  CAT purrs",
            "A dog barks!",
            "the cat purrs 2",
            "!?",
            "?!",
            "!?",
        ];
        let pool = pool(&texts);
        let groups = |which| pool.copies(which, &Control::new()).unwrap();
        assert_eq!(groups(Copies::Exact), [vec![0, 2], vec![6, 8]]);
        let near = [vec![0, 2, 3], vec![1, 4], vec![6, 8]];
        assert_eq!(groups(Copies::Near), near);
        assert!(groups(Copies::None).is_empty());
    }

    /// Equal texts of other features are told apart by them; equal rows of numbers are no copies.
    #[test]
    fn features_count() {
        let matrix = Matrix {
            n: 3,
            dim: 1,
            values: Buffer::F64(vec![1.0, 2.0, 1.0]),
        };
        let mut pool = Pool::new("p", matrix);
        let exact = |pool: &Pool| pool.copies(Copies::Exact, &Control::new()).unwrap();
        assert!(exact(&pool).is_empty());
        pool.show = Show::Texts(vec!["same".into(); 3]);
        assert_eq!(exact(&pool), [[0, 2]]);
    }

    #[test]
    fn plain_texts() {
        for (text, wanted) in [
            ("  Don't\tSTOP -- now!", "don t stop now"),
            ("ﬁne ＡＢＣ", "fine abc"),
            ("Straße №5", "straße no5"),
            ("...", "\0..."),
            ("日本語。", "日本語"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }
}
