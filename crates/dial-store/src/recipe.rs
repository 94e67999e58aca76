//! What a project was made from: where the pool is and how it is read, how its graph is built, how questions are asked.
//!
//! A recipe is an entry of the log, so that what was asked can be understood later; a new one (a pool that moved or was
//! embedded again) is appended and takes the place of the old one. All words are those of the command line.

use std::path::{Path, PathBuf};

use dial::methods::Method;
use dial::{
    Kernel, Metric, Policy, Precision, Prior, Reading, Search, Sharpness, Tau, ZeroVectors,
};
use dial_data::ReadOptions;
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
    /// How many items there are.
    pub items: usize,
    /// What becomes of rows without length, under cosine.
    pub zero_vectors: ZeroVectors,
    /// Rows without length are left out, under cosine.
    #[serde(default)]
    pub drop_zero_rows: bool,
    /// Neighbours of each item.
    pub k: usize,
    /// How distances are measured.
    pub metric: Metric,
    /// How distances become weights.
    pub kernel: Kernel,
    /// How neighbours are found.
    pub search: Search,
    /// τ of Poisson propagation.
    #[serde(with = "word")]
    pub tau: Tau,
    /// How exactly columns are solved for.
    pub precision: Precision,
    /// What makes an item worth asking.
    #[serde(with = "word")]
    pub acquisition: Method,
    /// How an item is chosen from the scores.
    pub policy: Policy,
    /// λ of the proportional policy.
    #[serde(with = "word")]
    pub sharpness: Sharpness,
    /// α₀, or how it was found.
    #[serde(with = "word")]
    pub prior: Prior,
    /// How classes and probabilities are read from the field.
    pub belief: Reading,
    /// The seed of everything random.
    pub seed: u64,
    /// How many people are to answer for each item.
    pub overlap: usize,
    /// The share of questions drawn at random, to measure accuracy.
    pub audit: f64,
    /// The version of the method.
    pub method_version: u32,
}

impl Recipe {
    /// The recipe of a pool with the settings that need no tuning: those of `auto`.
    pub fn new(pool: &str, reading: ReadOptions) -> Recipe {
        Recipe {
            pool: pool.into(),
            reading,
            ignore_labels: Vec::new(),
            features: String::new(),
            items: 0,
            zero_vectors: ZeroVectors::default(),
            drop_zero_rows: false,
            k: 20,
            metric: Metric::Euclidean,
            kernel: Kernel::Symmetric,
            search: Search::default(),
            tau: Tau::TimesDegree(dial::doubt::TAU_PER_DEGREE),
            precision: Precision::default(),
            acquisition: Method::Auto,
            policy: Policy::Max,
            sharpness: Sharpness::default(),
            prior: Prior::Auto,
            belief: Reading::Even,
            seed: 0,
            overlap: 1,
            audit: 0.0,
            method_version: dial::METHOD_VERSION,
        }
    }

    /// Where the pool is now: as it was given, or in or beside the project if both were moved together.
    pub fn pool_now(&self, project: &Path) -> String {
        match self.pool.starts_with("builtin:") {
            true => self.pool.clone(),
            false => found(Path::new(&self.pool), project).display().to_string(),
        }
    }

    /// How the pool is read, its files found as the pool is.
    pub fn reading_now(&self, project: &Path) -> ReadOptions {
        let now = |file: &PathBuf| found(file, project);
        ReadOptions {
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

/// Closed choices by their words.
mod word {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<T: Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}
