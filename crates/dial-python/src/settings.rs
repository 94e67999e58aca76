//! Settings by their words, as on the command line: `{"k": "20", "metric": "cosine", ...}`. What is missing has its default.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use dial::methods::Method;
use dial::{Precision, Suited, default_method};
use dial_data::ReadOptions;
use dial_store::Recipe;

use crate::errors::Failure;

/// Settings as they came from Python.
pub struct Settings(pub HashMap<String, String>);

impl Settings {
    /// A setting, if it was given.
    pub fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Failure> {
        let Some(word) = self.0.get(name) else {
            return Ok(None);
        };
        match word.parse() {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let why = error.to_string();
                // Errors of the core are complete; those of single words are not.
                Err(Failure::usage(if why.contains(" must be ") {
                    why
                } else {
                    format!("{name}={word:?} is not possible: {why}.")
                }))
            }
        }
    }

    /// A setting, or its default.
    pub fn or<T: FromStr<Err: Display>>(&self, name: &str, default: T) -> Result<T, Failure> {
        Ok(self.get(name)?.unwrap_or(default))
    }

    /// The number of neighbours for so many rows: the default is for pools that have as many.
    pub fn k(&self, rows: usize) -> Result<usize, Failure> {
        let default = Recipe::new("", ReadOptions::default()).k;
        match self.or("k", default)? {
            k if k == default => Ok(k.min(rows.saturating_sub(1)).max(1)),
            k => Ok(k),
        }
    }

    /// The recipe of a pool of so many rows.
    pub fn recipe(&self, rows: usize) -> Result<Recipe, Failure> {
        let precision = self.or("precision", Precision::default())?;
        let method: Method = self.or("acquisition", default_method(precision))?;
        let (suited, base) = (Suited::to(method), Recipe::new("", ReadOptions::default()));
        Ok(Recipe {
            items: rows,
            zero_vectors: self.or("zero_vectors", base.zero_vectors)?,
            k: self.k(rows)?,
            metric: self.or("metric", base.metric)?,
            kernel: self.or("kernel", suited.kernel)?,
            search: self.or("search", base.search)?,
            tau: self.or("tau", suited.tau)?,
            precision,
            acquisition: method,
            policy: self.or("policy", base.policy)?,
            sharpness: self.or("sharpness", base.sharpness)?,
            prior: self.or("prior", base.prior)?,
            belief: self.or("reading", suited.reading)?,
            seed: self.or("seed", base.seed)?,
            ..base
        })
    }
}
