//! The kinds of features that the items of a pool can be given, so that they can be compared once labels are known.
//!
//! ```text
//! texts      words; with a model also its embeddings, and both; a file of features
//! pictures   pixels, where the pool is an array of them; our description; the embeddings of a network; a file of features
//! ```

use crate::embed::{Beside, Embed};
use crate::pool::show::Show;
use crate::pool::{Pool, ReadOptions};

/// A kind of features.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureKind {
    /// What it is called.
    pub name: &'static str,
    /// How to choose it.
    pub choose: String,
    /// How a pool with these features is read.
    pub options: ReadOptions,
}

impl ReadOptions {
    /// The kinds of features that a pool can have which was read like this, with the files that were named; its own among
    /// them. None of pools of numbers and scenes, whose features are given.
    pub fn feature_kinds(&self, pool: &Pool) -> Vec<FeatureKind> {
        // What was typed for the features leaves them when others are chosen.
        let own = ReadOptions {
            embed: None,
            features_file: None,
            describe: false,
            ..self.clone()
        };
        let left = match (&self.embed, &self.features_file) {
            (Some(_), _) => "without --embed",
            (_, Some(_)) => "without --features",
            _ => "without --describe",
        };
        let described = ReadOptions {
            describe: true,
            ..own.clone()
        };
        let kind = |name, choose: &str, options: &ReadOptions| FeatureKind {
            name,
            choose: choose.into(),
            options: options.clone(),
        };
        let mut kinds = match pool.show {
            Show::Numbers(_) | Show::Scene(_) => return Vec::new(),
            Show::Texts(_) => vec![kind("words", left, &own)],
            Show::Images(_) => vec![kind("edges, light and colours", left, &own)],
            Show::Picture(_) => vec![
                kind("pixels", left, &own),
                kind("edges and light", "--describe", &described),
            ],
        };
        if let (Some(embed), Show::Images(_) | Show::Picture(_)) = (&self.embed, &pool.show) {
            // Nothing stands beside the embeddings of pictures.
            let choose = format!("--embed {}", embed.model.display());
            kinds.push(kind("embeddings", &choose, self));
        } else if let Some(embed) = &self.embed {
            for (name, beside) in [
                ("embeddings", Beside::None),
                ("embeddings with words", Beside::Words),
            ] {
                let embed = Embed {
                    beside,
                    ..embed.clone()
                };
                let choose = format!("--embed {embed}");
                let options = ReadOptions {
                    embed: Some(embed),
                    ..own.clone()
                };
                kinds.push(kind(name, &choose, &options));
            }
        }
        if let Some(file) = &self.features_file {
            let choose = format!("--features {}", file.display());
            kinds.push(kind("the features of the file", &choose, self));
        }
        kinds
    }
}
