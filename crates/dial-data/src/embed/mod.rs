//! Features of texts from a model on this machine: what was asked for, and how it is done.
//!
//! ```text
//! model       a folder with tokenizer.json and *.safetensors: a vector for each token (`word_vectors`)
//! embedding   a row of length 1 for each text; kept in a file beside the project (`kept`), so that a run that was
//!             killed goes on and a pool that changed embeds only what is new
//! features    the embedding beside the features that words alone give (`blocks`), unless one of them is wanted alone
//! ```
//!
//! No model is downloaded: a folder is given, and nothing is read outside of it.

mod blocks;
#[cfg(feature = "embed")]
mod kept;
#[cfg(feature = "embed")]
mod model_folder;
#[cfg(feature = "embed")]
mod word_vectors;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dial::Control;
use serde::{Deserialize, Serialize};

use crate::error::{Fault, Result};
use crate::featurize::text;
use crate::pool::{Described, matrix::Matrix};

/// Which model makes the features of a pool of texts, and what stands beside its embeddings.
///
/// As text: `FOLDER`, `FOLDER+words` or `FOLDER+none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embed {
    /// The folder of the model.
    pub model: PathBuf,
    /// What stands beside the embeddings.
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
            // A folder may have a plus in its name.
            Some((_, word)) if !Path::new(text).exists() => {
                return Err(format!(
                    "{word:?} cannot stand beside a model: use FOLDER, FOLDER+words or FOLDER+none"
                ));
            }
            _ => (text, Beside::default()),
        };
        match model {
            "" => Err("name the folder of a model".into()),
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

/// Embeddings of texts, and which model made them.
pub(crate) struct Embedded {
    /// A row for each text, of length 1, or zeros for a text without any token that the model knows.
    pub matrix: Matrix,
    /// The fingerprint of the model.
    pub fingerprint: String,
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
    } = embedded(texts, embed, control)?;
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

#[cfg(feature = "embed")]
pub(crate) fn embedded(
    texts: &[String],
    embed: &Embed,
    control: &Control,
) -> Result<Embedded, Fault> {
    kept::embedded(texts, embed, control)
}

#[cfg(not(feature = "embed"))]
pub(crate) fn embedded(_: &[String], _: &Embed, _: &Control) -> Result<Embedded, Fault> {
    Err(Fault::Setting(
        "--embed: this build has no embedding models. Build it with --features embed, or use the Python package, which has \
         them."
            .into(),
    ))
}

/// Embeds texts by a model: a row for each.
///
/// # Errors
/// A model that cannot be read, or cancelled.
pub fn embed(texts: &[String], how: &Embed, control: &Control) -> Result<Matrix> {
    let embedded =
        embedded(texts, how, control).map_err(|fault| fault.at(how.model.display().to_string()))?;
    Ok(embedded.matrix)
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
        assert!(parsed("a+pixels").unwrap_err().contains("FOLDER+none"));
        assert!(parsed("").is_err());
    }
}
