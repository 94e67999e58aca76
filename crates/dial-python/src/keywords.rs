//! Keyword arguments by their words, as on the command line: `{"k": "20", "metric": "cosine", ...}`. What is missing has its default.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use dial::{Choices, Config};

use crate::errors::Failure;

/// Keyword arguments as they came from Python.
pub struct Keywords(pub HashMap<String, String>);

impl Keywords {
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

    /// What was given, as choices.
    pub fn choices(&self) -> Result<Choices, Failure> {
        let mut choices = Choices::default();
        for name in Choices::NAMES {
            if let Some(word) = self.0.get(name) {
                choices.set(name, word)?;
            }
        }
        Ok(choices)
    }

    /// The configuration of a pool of so many rows.
    pub fn config(&self, rows: usize) -> Result<Config, Failure> {
        Ok(self.choices()?.config(rows)?)
    }

    /// The same where the default is to ask as in the paper.
    pub fn paper(&self, rows: usize) -> Result<Config, Failure> {
        let mut choices = self.choices()?;
        choices
            .acquisition
            .get_or_insert(Config::paper().acquisition);
        Ok(choices.config(rows)?)
    }
}
