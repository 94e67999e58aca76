//! Texts as means of word vectors: the model that needs no network.
//!
//! ```text
//! t_1 ... t_m    the tokens of a text, without those the model does not know, at most MAX_TOKENS
//! v              (1/m) Σ w(t_j) E(t_j)     E: a vector for each token, w: its weight (1, where the model has none)
//! embedding      v / |v|
//! ```
//!
//! This is how model2vec, sentence-transformers' StaticEmbedding and wordllama pool. The files are theirs: a table of
//! vectors in `embeddings`, `embedding.weight` or the only matrix of the file; `weights` and `mapping` (the row of each
//! token) where model2vec shares or weighs rows. Tables may hold f64, f32, f16, bf16 or i8.

use dial::Control;
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tokenizers::Tokenizer;

use super::model_folder::ModelFiles;
use crate::arrays::array::ArrayData;
use crate::arrays::bytes::Number;
use crate::error::Fault;

/// A text counts with so many of its tokens, and with so many bytes of its beginning.
const MAX_TOKENS: usize = 512;
const MAX_TEXT_BYTES: usize = 1 << 14;
/// Names of the table, in the order in which they are looked for.
const TABLE_NAMES: [&str; 3] = ["embeddings", "embedding.weight", "embeddings.weight"];
const NEXT: &str = "Save the model again. For a network, export it to ONNX or embed the texts with its own library and give the result \
     with --features.";

/// A vector for each token.
pub(super) struct WordVectors {
    tokenizer: Tokenizer,
    /// The table, row by row.
    table: Vec<f32>,
    /// Length of a vector.
    pub dim: usize,
    /// Where the rows of tokens are not those of their numbers.
    rows: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
    /// The token that stands for everything unknown.
    unknown: Option<u32>,
}

impl WordVectors {
    /// Reads a model.
    pub fn new(files: &ModelFiles) -> Result<WordVectors, Fault> {
        let damaged = |what: String| Fault::format(what, NEXT);
        let tokenizer = Tokenizer::from_bytes(&files.tokenizer)
            .map_err(|error| damaged(format!("tokenizer.json cannot be read: {error}")))?;
        let tensors = SafeTensors::deserialize(&files.vectors)
            .map_err(|error| damaged(format!("the safetensors file cannot be read: {error}")))?;
        let (name, view) = table(&tensors)?;
        let [count, dim] = *view.shape() else {
            return Err(damaged(format!("{name:?} is no matrix")));
        };
        if dim == 0 || count == 0 {
            return Err(damaged(format!("{name:?} is empty")));
        }
        let table = floats(&name, &view)?;
        if let Some(bad) = table.iter().position(|value| !value.is_finite()) {
            return Err(damaged(format!(
                "row {} of {name:?} is not finite",
                bad / dim
            )));
        }
        let column = |name: &str| {
            tensors
                .tensor(name)
                .ok()
                .map(|view| floats(name, &view))
                .transpose()
        };
        let rows = column("mapping")?
            .map(|rows| rows.into_iter().map(|row| row as usize).collect::<Vec<_>>());
        if rows
            .as_ref()
            .is_some_and(|rows| rows.iter().any(|&row| row >= count))
        {
            return Err(damaged(format!(
                "\"mapping\" names rows beyond the {count} of {name:?}"
            )));
        }
        let weights = column("weights")?;
        let unknown = unknown_token(&files.tokenizer).and_then(|token| match token {
            Unknown::Word(word) => tokenizer.token_to_id(&word),
            Unknown::Number(number) => Some(number),
        });
        Ok(WordVectors {
            tokenizer,
            table,
            dim,
            rows,
            weights,
            unknown,
        })
    }

    /// The embeddings of texts, row by row.
    pub fn rows(&self, texts: &[&str], control: &Control) -> Result<Vec<f32>, Fault> {
        let mut values = vec![0f32; texts.len() * self.dim];
        values
            .par_chunks_mut(self.dim)
            .zip(texts)
            .try_for_each(|(row, text)| {
                self.embed(text, row)?;
                Ok::<(), Fault>(control.advance(1)?)
            })?;
        Ok(values)
    }

    /// The embedding of a text, into a row of zeros; it stays zero where the model knows no token of it.
    fn embed(&self, text: &str, row: &mut [f32]) -> Result<(), Fault> {
        let encoding = self
            .tokenizer
            .encode_fast(beginning(text), false)
            .map_err(|error| {
                Fault::format(format!("a text cannot be split into tokens: {error}"), NEXT)
            })?;
        let mut sum = vec![0f64; self.dim];
        let known = encoding
            .get_ids()
            .iter()
            .filter(|&&token| Some(token) != self.unknown);
        for &token in known.take(MAX_TOKENS) {
            let token = token as usize;
            let at = self
                .rows
                .as_ref()
                .map_or(Some(token), |rows| rows.get(token).copied());
            let vector = at.and_then(|at| self.table.get(at * self.dim..(at + 1) * self.dim));
            let weight = self
                .weights
                .as_ref()
                .map_or(Some(1.0), |weights| weights.get(token).copied());
            let (Some(vector), Some(weight)) = (vector, weight) else {
                continue;
            };
            for (sum, value) in sum.iter_mut().zip(vector) {
                *sum += f64::from(weight) * f64::from(*value);
            }
        }
        let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut()
                .zip(&sum)
                .for_each(|(value, sum)| *value = (sum / length) as f32);
        }
        Ok(())
    }
}

/// The table of vectors: by its name, or the only matrix.
fn table<'a>(tensors: &SafeTensors<'a>) -> Result<(String, TensorView<'a>), Fault> {
    let by_name = TABLE_NAMES
        .iter()
        .find_map(|name| Some(((*name).to_string(), tensors.tensor(name).ok()?)));
    let mut matrices: Vec<(String, TensorView<'a>)> = tensors
        .tensors()
        .into_iter()
        .filter(|(_, view)| view.shape().len() == 2)
        .collect();
    match (by_name, matrices.len()) {
        (Some(found), _) => Ok(found),
        (None, 1) => Ok(matrices.remove(0)),
        (None, 0) => Err(Fault::format("the safetensors file holds no matrix", NEXT)),
        (None, count) => Err(Fault::format(
            format!(
                "the safetensors file holds {count} matrices, so this is a network and no table of word vectors"
            ),
            NEXT,
        )),
    }
}

/// The numbers of a tensor as f32.
fn floats(name: &str, view: &TensorView<'_>) -> Result<Vec<f32>, Fault> {
    let bytes = view.data();
    let number = match view.dtype() {
        Dtype::BF16 => {
            let (halves, _) = bytes.as_chunks::<2>();
            return Ok(halves
                .iter()
                .map(|half| f32::from_bits(u32::from(u16::from_le_bytes(*half)) << 16))
                .collect());
        }
        Dtype::F16 => Number::F16,
        Dtype::F32 => Number::F32,
        Dtype::F64 => Number::F64,
        Dtype::I8 => Number::I8,
        Dtype::I32 => Number::I32,
        Dtype::I64 => Number::I64,
        other => {
            return Err(Fault::format(
                format!("{name:?} holds numbers of type {other}"),
                "Save it as f32 or f16.",
            ));
        }
    };
    Ok(match number.decode(bytes, false) {
        ArrayData::F32(values) => values,
        ArrayData::F64(values) => values.into_iter().map(|value| value as f32).collect(),
        ArrayData::I64(values) => values.into_iter().map(|value| value as f32).collect(),
        ArrayData::U8(_) | ArrayData::Text(_) => Vec::new(),
    })
}

enum Unknown {
    Word(String),
    Number(u32),
}

/// The token for unknown words, as the tokenizer's file names it.
fn unknown_token(tokenizer: &[u8]) -> Option<Unknown> {
    let file: serde_json::Value = serde_json::from_slice(tokenizer).ok()?;
    let model = file.get("model")?;
    let word = model.get("unk_token").and_then(|word| word.as_str());
    let number = model.get("unk_id").and_then(serde_json::Value::as_u64);
    word.map(|word| Unknown::Word(word.into()))
        .or_else(|| Some(Unknown::Number(u32::try_from(number?).ok()?)))
}

/// As much of a text as counts.
pub(super) fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT_BYTES.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or(text)
}
