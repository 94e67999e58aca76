//! The paper's experiments: each turns settings into figures, tables and findings.

pub mod alignment;
pub mod moons;
pub mod one_d;
pub mod svm;
pub mod variance;

use crate::chart::Canvas;
use crate::report::Table;

/// What every experiment needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where all randomness comes from.
    pub seed: u64,
    /// How often an experiment with randomness is repeated.
    pub trials: usize,
    /// Whether a small version is enough.
    pub quick: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1, trials: 10, quick: false }
    }
}

/// What an experiment hands over to be written and reported.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Drawings.
    pub figures: Vec<Drawn>,
    /// Numbers, to be written as CSV.
    pub tables: Vec<Tidy>,
    /// Small tables for the report.
    pub summaries: Vec<Table>,
    /// What the run says about the paper's claims.
    pub findings: Vec<Finding>,
}

/// A drawing, written as stem.svg and stem.png.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Name of the files, without their ending.
    pub stem: String,
    /// What there is to see.
    pub caption: String,
    /// The drawing.
    pub canvas: Canvas,
}

/// A tidy table, written as stem.csv.
#[derive(Clone, Debug)]
pub struct Tidy {
    /// Name of the file, without its ending.
    pub stem: String,
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<dial_data::write::Cell>>,
}

/// A claim of the paper and what this run says about it, in plain words.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What the paper claims.
    pub claim: String,
    /// Whether the run bears it out.
    pub verdict: Verdict,
    /// The numbers behind the verdict.
    pub evidence: String,
}

/// Whether a run bears a claim out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Supported,
    /// It does not.
    NotSupported,
    /// In part, or not clearly.
    Mixed,
}
