//! What `dial lab theory` and `dial lab reproduce` share: which parts to run, where data lie, and what a part showed.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use dial_plot::report::Table;
use dial_research::study::{Finding, Named, Outcome};
use serde_json::{Value, json};

use crate::ui::failure::Failure;
use crate::ui::output::{Output, table};

/// What was typed: one part of a study, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<P> {
    /// One part.
    One(P),
    /// All of them.
    All,
}

impl<P: Named> FromStr for What<P> {
    type Err = String;

    fn from_str(word: &str) -> Result<What<P>, String> {
        match word {
            "all" => Ok(What::All),
            word => P::of_word(word).map(What::One),
        }
    }
}

/// The folder of data that was named, or that of the environment.
pub fn data_folder(named: Option<&PathBuf>) -> Option<PathBuf> {
    let variable = || std::env::var_os("DIAL_DATA").filter(|value| !value.is_empty());
    named.cloned().or_else(|| variable().map(PathBuf::from))
}

/// Runs a part, shows it, and returns its JSON: its word under `kind`, seconds, findings and files.
pub fn shown<P: Named>(
    (kind, part): (&str, P),
    hint: &str,
    run: impl FnOnce(P) -> Result<Outcome, dial_research::LabError>,
    write: impl FnOnce(P, &Outcome, f64) -> Result<Vec<PathBuf>, dial_research::LabError>,
    output: &Output,
) -> Result<Value, Failure> {
    let start = Instant::now();
    let outcome = run(part)?;
    let seconds = start.elapsed().as_secs_f64();
    let files = write(part, &outcome, seconds)?;
    if !output.json {
        let (title, words) = (part.title(), in_words(&outcome));
        output.print(&format!("\n{title} ({seconds:.1} s)\n{hint}{words}"));
    }
    Ok(
        json!({ kind: part.word(), "seconds": seconds, "findings": outcome.findings, "files": files }),
    )
}

/// A table with its caption.
pub fn captioned(summary: &Table) -> String {
    let header = std::iter::once(summary.header.clone());
    let rows: Vec<Vec<String>> = header.chain(summary.rows.clone()).collect();
    format!("{}\n{}", summary.caption, table(&rows))
}

/// Its tables and findings.
fn in_words(outcome: &Outcome) -> String {
    let mut text = String::new();
    for summary in &outcome.summaries {
        text += &format!("\n{}", captioned(summary));
    }
    for Finding {
        claim,
        verdict,
        evidence,
    } in &outcome.findings
    {
        text += &format!("\n{verdict}: {claim}\n    {evidence}\n");
    }
    text
}
