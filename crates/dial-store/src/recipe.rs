//! What a project was made from: where the pool is and how it is read, how its graph is built, how questions are asked.
//!
//! A recipe is an entry of the log, so that what was asked can be understood later; a new one (a pool that moved or was
//! embedded again) is appended and takes the place of the old one. All words are those of the command line.

use std::path::{Path, PathBuf};

use dial::Config;
use dial_data::{Copies, Embed, ReadOptions};
use serde::{Deserialize, Serialize};

/// Everything that the questions of a project depend on, apart from its labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The pool: an absolute path, or `builtin:NAME`.
    pub pool: String,
    /// How it is read.
    pub reading: ReadOptions,
    /// Labels whose items are neither asked nor counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_labels: Vec<String>,
    /// The fingerprint of the features.
    pub features: String,
    /// The version of the description, where the features are made from texts; none before version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_features: Option<u32>,
    /// How many items there are.
    pub items: usize,
    /// How its graph is built and how questions are asked.
    #[serde(flatten)]
    pub config: Config,
    /// How many people are to answer for each item.
    pub overlap: usize,
    /// The share of questions drawn at random, to measure accuracy.
    pub audit: f64,
    /// The version of the method.
    pub method_version: u32,
    /// Which copies are asked once, for all items that show the same: none in projects that were made before there was a
    /// choice.
    #[serde(default, skip_serializing_if = "asks_all")]
    pub ask_once: Copies,
    /// A graph that was given instead of being built from the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GivenGraph>,
}

fn asks_all(ask_once: &Copies) -> bool {
    *ask_once == Copies::None
}

/// A graph that cannot be built again from the features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenGraph {
    /// The file it came from.
    pub file: PathBuf,
    /// The fingerprint of its weights.
    pub fingerprint: String,
}

impl Recipe {
    /// The recipe of a pool, with the configuration that needs no tuning.
    pub fn new(pool: &str, reading: ReadOptions) -> Recipe {
        Recipe {
            pool: pool.into(),
            reading,
            ignore_labels: Vec::new(),
            features: String::new(),
            text_features: None,
            items: 0,
            config: Config::default(),
            overlap: 1,
            audit: 0.0,
            method_version: dial::METHOD_VERSION,
            ask_once: Copies::None,
            graph: None,
        }
    }

    /// Where the pool is now: as it was given, or in or beside the project if both were moved together.
    pub fn pool_now(&self, project: &Path) -> String {
        match self.pool.starts_with("builtin:") {
            true => self.pool.clone(),
            false => found(Path::new(&self.pool), project).display().to_string(),
        }
    }

    /// A file of the project where it is now: found as the pool is.
    pub fn found(&self, file: &Path, project: &Path) -> PathBuf {
        found(file, project)
    }

    /// How the pool is read, its files found as the pool is.
    pub fn reading_now(&self, project: &Path) -> ReadOptions {
        let now = |file: &PathBuf| found(file, project);
        let embed = self.reading.embed.as_ref().map(|embed| Embed {
            model: now(&embed.model),
            kept: embed.kept.as_ref().map(now),
            ..embed.clone()
        });
        ReadOptions {
            embed,
            features_file: self.reading.features_file.as_ref().map(now),
            labels_file: self.reading.labels_file.as_ref().map(now),
            ..self.reading.clone()
        }
    }
}

/// A file where it was, or in the project, or beside it; where it was, if it is nowhere.
fn found(file: &Path, project: &Path) -> PathBuf {
    let name = file.file_name().filter(|_| !file.exists());
    let places = [Some(project), project.parent()].into_iter().flatten();
    let moved = name.and_then(|name| {
        places
            .map(|place| place.join(name))
            .find(|path| path.exists())
    });
    moved.unwrap_or_else(|| file.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a project of method version 3 has it: its digest is in the chain of the log and names the
    /// list of items, so not a byte of it may change.
    const VERSION_3: &str = r#"{"pool":"builtin:moons:60","reading":READING,"features":"00ff","items":60,"zero_vectors":"error","drop_zero_rows":false,"k":5,"metric":"euclidean","kernel":"symmetric","search":"auto","tau":"0.03xdegree","precision":"faithful","acquisition":"auto","policy":"max","sharpness":"auto","prior":"auto","belief":"even","seed":7,"overlap":1,"audit":0.0,"method_version":3}"#;

    #[test]
    fn a_recipe_of_an_older_version_is_written_as_it_was() {
        let reading = serde_json::to_string(&ReadOptions::default()).unwrap();
        let text = VERSION_3.replace("READING", &reading);
        let recipe: Recipe = serde_json::from_str(&text).unwrap();
        assert_eq!((recipe.config.k, recipe.config.seed), (5, 7));
        assert_eq!(recipe.ask_once, Copies::None);
        assert_eq!(serde_json::to_string(&recipe).unwrap(), text);
    }
}
