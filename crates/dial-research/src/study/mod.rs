//! A study: parts that are run one by one into one folder, and one report over what was run so far.
//!
//! The paper's experiments ([`crate::reproduce`]) and its theory ([`crate::theory`]) are studies. A part hands over an
//! [`Outcome`]; [`Study::write`] writes it down.

mod folder;
mod page;

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use folder::{Run, Section, version};

use crate::output::{Drawn, Tidy};
use crate::reproduce::method_result::MethodResult;
use dial_plot::report::Table;

/// What a report over a folder is about.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    /// Heading of the report.
    pub title: &'a str,
    /// The name of the report's files without their ending.
    pub page: &'a str,
    /// The words for its parts, in the order of the report.
    pub parts: Vec<&'a str>,
    /// The first paragraph.
    pub lead: fn(&[Section]) -> String,
    /// Whether the findings of all parts stand in one table at the top, or each part's with it.
    pub gathered: bool,
    /// Findings over several parts.
    pub overall: fn(&[Section]) -> Vec<Finding>,
    /// Where everything is written.
    pub folder: &'a Path,
}

/// A part of a study by its word.
pub trait Named: Copy + 'static {
    /// All parts, in the order of the report.
    const ALL: &'static [Self];

    /// The word for it on the command line, and the name of its folder.
    fn word(self) -> &'static str;

    /// Its heading in the report.
    fn title(self) -> &'static str;

    /// The words for all of them.
    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|part| part.word()).collect()
    }

    /// The part of a word.
    ///
    /// # Errors
    /// There is none; the words that there are.
    fn of_word(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|part| part.word() == word);
        let all = || format!("use one of all, {}", Self::words().join(", "));
        found.copied().ok_or_else(all)
    }
}

/// What a part hands over to be written and reported.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What it is about, in paragraphs.
    pub text: Vec<String>,
    /// Figures.
    pub figures: Vec<Drawn>,
    /// Tables for machines.
    pub tables: Vec<Tidy>,
    /// Tables for people.
    pub summaries: Vec<Table>,
    /// What the run says about the paper's claims.
    pub findings: Vec<Finding>,
    /// How methods stood, pool by pool.
    pub standings: Vec<Vec<MethodResult>>,
    /// Number of trials, where there are any.
    pub trials: Option<usize>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
    /// What repeats the run, beside the settings of the command.
    pub settings: Vec<Value>,
}

/// A claim of the paper and what a run says about it, in plain words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The claim.
    pub claim: String,
    /// Whether this run bears it out.
    pub verdict: Verdict,
    /// The numbers that say so.
    pub evidence: String,
}

impl Finding {
    /// A claim, whether it holds, and the numbers that say so.
    pub fn new(claim: impl Into<String>, verdict: Verdict, evidence: impl Into<String>) -> Finding {
        Finding {
            claim: claim.into(),
            verdict,
            evidence: evidence.into(),
        }
    }
}

/// Whether a run bears a claim out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Supported,
    /// In part, or within the noise.
    Mixed,
    /// It does not.
    NotSupported,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Supported => "supported",
            Verdict::Mixed => "mixed",
            Verdict::NotSupported => "not supported",
        })
    }
}
