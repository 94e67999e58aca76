//! Features of texts and pictures from a model on this machine: what was asked for, and how it is done.
//!
//! ```text
//! model       a folder with tokenizer.json and *.safetensors: a vector for each token (`word_vectors`); or an ONNX file,
//!             or a folder with one: a network for texts or for pictures (`network`)
//! embedding   a row of length 1 for each item; kept in a file beside the project (`kept`), so that a run that was
//!             killed goes on and a pool that changed embeds only what is new
//! features    of texts: the embedding beside the features that words alone give (`blocks`), unless one of them is wanted
//!             alone; of pictures: the embedding
//! ```
//!
//! No model is downloaded: a path is given, and nothing is read outside of its folder.

mod blocks;
// Without networks nobody looks at pictures.
#[cfg_attr(not(feature = "onnx"), allow(dead_code))]
mod items;
#[cfg(feature = "embed")]
mod kept;
#[cfg(feature = "embed")]
mod model;
#[cfg(feature = "embed")]
mod model_folder;
#[cfg(feature = "onnx")]
mod network;
#[cfg(feature = "embed")]
mod word_vectors;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dial::Control;
use serde::{Deserialize, Serialize};

pub(crate) use self::items::{Errors, Files, Items, Rows};
use crate::error::{Fault, Result};
use crate::featurize::{image, text};
use crate::media::images::Bitmap;
use crate::pool::matrix::Matrix;
use crate::pool::show::{Images, Picture};
use crate::pool::{Described, ReadOptions};

/// Which model makes the features of a pool of texts or pictures, and what stands beside its embeddings.
///
/// As text: `MODEL`, `MODEL+words` or `MODEL+none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embed {
    /// The model: a folder, or an ONNX file.
    pub model: PathBuf,
    /// What stands beside the embeddings of texts.
    #[serde(default)]
    pub beside: Beside,
    /// The folder in which embeddings are kept. None: nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<PathBuf>,
    /// The fingerprint of the model, once it is known. Embeddings that are kept under it need no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What stands beside the embeddings in the features of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beside {
    /// The features made from words and parts of words, which know rare and exact words.
    #[default]
    Words,
    /// Nothing.
    None,
}

impl Embed {
    /// A model with what usually stands beside it, kept nowhere.
    pub fn new(model: impl Into<PathBuf>) -> Embed {
        Embed {
            model: model.into(),
            beside: Beside::default(),
            kept: None,
            fingerprint: None,
        }
    }

    /// Whether the features of words stand beside the embeddings.
    pub(crate) fn with_words(&self) -> bool {
        self.beside == Beside::Words
    }
}

impl FromStr for Embed {
    type Err = String;

    fn from_str(text: &str) -> Result<Embed, String> {
        let (model, beside) = match text.rsplit_once('+') {
            Some((model, "words")) => (model, Beside::Words),
            Some((model, "none")) => (model, Beside::None),
            // A path may have a plus in its name.
            Some((_, word)) if !Path::new(text).exists() => {
                return Err(format!(
                    "{word:?} cannot stand beside a model: use MODEL, MODEL+words or MODEL+none"
                ));
            }
            _ => (text, Beside::default()),
        };
        match model {
            "" => Err("name a model: a folder, or an ONNX file".into()),
            _ => Ok(Embed {
                beside,
                ..Embed::new(model)
            }),
        }
    }
}

impl fmt::Display for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beside = match self.beside {
            Beside::Words => "words",
            Beside::None => "none",
        };
        write!(f, "{}+{beside}", self.model.display())
    }
}

/// Embeddings of items, and which model made them.
pub(crate) struct Embedded {
    /// A row for each item, of length 1, or zeros for a text without any token that the model knows.
    pub matrix: Matrix,
    /// The fingerprint of the model.
    pub fingerprint: String,
    /// For each item what is wrong with it, if it could not be embedded.
    pub errors: Errors,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Features of texts by a model.
pub(crate) fn describe(
    texts: &[String],
    embed: &Embed,
    control: &Control,
) -> Result<(Described, String), Fault> {
    let Embedded {
        matrix,
        fingerprint,
        mut notes,
        ..
    } = embedded(Items::Texts(texts), embed, control)?;
    let embeddings = blocks::with_column_for_the_rest(matrix, &mut notes);
    let matrix = match embed.beside {
        Beside::None => embeddings,
        Beside::Words => blocks::joined(&embeddings, &text::describe(texts, control)?.matrix),
    };
    Ok((
        Described {
            matrix,
            notes,
            kept: None,
        },
        fingerprint,
    ))
}

/// Features of picture files by a model; `names` are what messages call the pictures.
pub(crate) fn describe_files(
    images: &Images,
    names: &[String],
    embed: &Embed,
    options: &ReadOptions,
    control: &Control,
) -> Result<(Described, String), Fault> {
    let Embedded {
        mut matrix,
        fingerprint,
        errors,
        mut notes,
    } = embedded(Items::Pictures(&Files::new(images)), embed, control)?;
    let kept = image::readable(names, errors, options, &mut notes)?;
    if let Some(kept) = &kept {
        matrix = matrix.select_rows(kept);
    }
    Ok((
        Described {
            matrix,
            notes,
            kept,
        },
        fingerprint,
    ))
}

/// Features of grey pictures that are rows of pixels.
pub(crate) fn describe_rows(
    pixels: &Matrix,
    picture: Picture,
    embed: &Embed,
    control: &Control,
) -> Result<(Described, String), Fault> {
    let embedded = embedded(Items::Pictures(&Rows { pixels, picture }), embed, control)?;
    Ok((
        Described {
            matrix: embedded.matrix,
            notes: embedded.notes,
            kept: None,
        },
        embedded.fingerprint,
    ))
}

#[cfg(feature = "embed")]
pub(crate) fn embedded(
    items: Items<'_>,
    embed: &Embed,
    control: &Control,
) -> Result<Embedded, Fault> {
    kept::embedded(items, embed, control)
}

#[cfg(not(feature = "embed"))]
pub(crate) fn embedded(_: Items<'_>, _: &Embed, _: &Control) -> Result<Embedded, Fault> {
    Err(Fault::Setting(
        "--embed: this build has no embedding models. Build it with --features embed (word vectors) or onnx (networks), or \
         use the Python package, which has them."
            .into(),
    ))
}

/// Embeds texts by a model: a row for each.
///
/// # Errors
/// A model that cannot be read, or cancelled.
pub fn embed(texts: &[String], how: &Embed, control: &Control) -> Result<Matrix> {
    whole(Items::Texts(texts), how, control)
}

/// Embeds picture files by a network: a row for each.
///
/// # Errors
/// A model or a picture that cannot be read, or cancelled.
pub fn embed_files(files: &[PathBuf], how: &Embed, control: &Control) -> Result<Matrix> {
    let images = Images {
        folder: PathBuf::new(),
        files: files
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
    };
    whole(Items::Pictures(&Files::new(&images)), how, control)
}

/// Embeds pictures by a network: a row for each.
///
/// # Errors
/// A model that cannot be read, or cancelled.
pub fn embed_bitmaps(bitmaps: &[Bitmap], how: &Embed, control: &Control) -> Result<Matrix> {
    let is_whole = |bitmap: &Bitmap| {
        let pixels = bitmap.width as usize * bitmap.height as usize;
        pixels > 0 && bitmap.rgb.len() == 3 * pixels
    };
    if let Some(at) = bitmaps.iter().position(|bitmap| !is_whole(bitmap)) {
        let (width, height) = (bitmaps[at].width, bitmaps[at].height);
        let what = format!(
            "picture {at} has {width} x {height} pixels and {} numbers",
            bitmaps[at].rgb.len()
        );
        let next = "Give pictures of at least one pixel, three numbers for each.";
        return Err(Fault::format(what, next).at(how.model.display().to_string()));
    }
    whole(Items::Pictures(&bitmaps), how, control)
}

fn whole(items: Items<'_>, how: &Embed, control: &Control) -> Result<Matrix> {
    let embedded =
        embedded(items, how, control).map_err(|fault| fault.at(how.model.display().to_string()))?;
    match embedded.errors.into_iter().flatten().next() {
        Some(error) => Err(error),
        None => Ok(embedded.matrix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_a_model() {
        let parsed = |text: &str| text.parse::<Embed>();
        assert_eq!(parsed("a/b").unwrap(), Embed::new("a/b"));
        assert_eq!(parsed("a+words").unwrap(), Embed::new("a"));
        let alone = Embed {
            beside: Beside::None,
            ..Embed::new("a+b")
        };
        assert_eq!(parsed("a+b+none").unwrap(), alone);
        assert_eq!(alone.to_string(), "a+b+none");
        assert!(parsed("a+pixels").unwrap_err().contains("MODEL+none"));
        assert!(parsed("").is_err());
    }
}
