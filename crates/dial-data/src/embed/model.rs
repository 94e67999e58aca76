//! A model of any kind: a table of word vectors, or a network.

use dial::Control;

use super::items::{Errors, Items};
use super::model_folder::{self, Found};
#[cfg(feature = "onnx")]
use super::network::Network;
use super::word_vectors::WordVectors;
use crate::error::Fault;

/// Texts that word vectors embed, then keep, at a time.
const TEXTS_PER_CHUNK: usize = 4096;
/// Items per thread that a network embeds, then keeps, at a time: what a run that is killed loses.
#[cfg(feature = "onnx")]
const ITEMS_PER_THREAD: usize = 16;

pub(super) struct Model {
    kind: Kind,
    /// What tells this model, with what is done before and after it, from others.
    pub fingerprint: String,
    /// Length of an embedding.
    pub dim: usize,
}

enum Kind {
    Words(Box<WordVectors>),
    #[cfg(feature = "onnx")]
    Network(Box<Network>),
}

impl Model {
    /// Reads a model for these items.
    pub fn open(path: &std::path::Path, items: Items<'_>) -> Result<Model, Fault> {
        match model_folder::find(path)? {
            Found::Words(folder) => {
                if matches!(items, Items::Pictures(_)) {
                    return Err(Fault::format(
                        "this model of word vectors embeds texts, and these items are pictures",
                        "Give a network for pictures, as an ONNX file.",
                    ));
                }
                let files = model_folder::read(&folder)?;
                let words = WordVectors::new(&files)?;
                Ok(Model {
                    fingerprint: files.fingerprint,
                    dim: words.dim,
                    kind: Kind::Words(Box::new(words)),
                })
            }
            #[cfg(feature = "onnx")]
            Found::Network(file) => {
                let network = Network::open(&file, items)?;
                Ok(Model {
                    fingerprint: network.fingerprint.clone(),
                    dim: network.dim,
                    kind: Kind::Network(Box::new(network)),
                })
            }
            #[cfg(not(feature = "onnx"))]
            Found::Network(file) => Err(Fault::Setting(format!(
                "--embed: {} is an ONNX network, and this build runs none. Build it with --features onnx, or use the \
                 Python package, which runs them.",
                file.display()
            ))),
        }
    }

    /// How many items are embedded before their rows are kept.
    pub fn items_per_chunk(&self) -> usize {
        match self.kind {
            Kind::Words(_) => TEXTS_PER_CHUNK,
            #[cfg(feature = "onnx")]
            Kind::Network(_) => ITEMS_PER_THREAD * rayon::current_num_threads(),
        }
    }

    /// The embeddings of the chosen items, row by row; where an item has an error its row means nothing.
    pub fn rows(
        &self,
        items: Items<'_>,
        chosen: &[usize],
        control: &Control,
    ) -> Result<(Vec<f32>, Errors), Fault> {
        match (&self.kind, items) {
            (Kind::Words(words), Items::Texts(texts)) => {
                let texts: Vec<&str> = chosen.iter().map(|&item| texts[item].as_str()).collect();
                Ok((words.rows(&texts, control)?, vec![None; chosen.len()]))
            }
            (Kind::Words(_), Items::Pictures(_)) => {
                unreachable!("word vectors are opened for texts only")
            }
            #[cfg(feature = "onnx")]
            (Kind::Network(network), items) => network.rows(items, chosen, control),
        }
    }
}
