//! The folder of a study: a subfolder per part, and one report over all of them.
//!
//! ```text
//! report.html  report.md
//! mnist-small/   curves.svg  curves.png  mnist-small-runs.csv  mnist-small-summary.csv  settings.json  section.json
//! cells/         finished pieces, from which a killed run goes on
//! ```
//!
//! `settings.json` repeats a part exactly; `section.json` is what the report says about it, so that the report can be
//! made again when another part is added.

use std::path::{Path, PathBuf};

use dial_data::write::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Finding, Outcome, Study, page};
use crate::LabError;
use crate::cells::create;
use crate::reproduce::method_result::MethodResult;
use dial_plot::report::Table;

/// How a part was run.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The word for the part, and the name of its folder.
    pub word: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// What distinguishes runs that must not share a folder, beside the seed.
    pub mode: &'a str,
    /// The seed.
    pub seed: u64,
    /// Seed, trials and fineness, in words.
    pub made: String,
    /// Seconds it took.
    pub seconds: f64,
    /// Whether an earlier run of the same settings was taken up, so that its seconds count as well.
    pub goes_on: bool,
    /// Everything that repeats it exactly.
    pub repeat: Value,
}

/// What the report says about a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// The word for it.
    pub word: String,
    /// Its heading.
    pub title: String,
    /// What distinguishes it from runs that must not share the folder.
    pub mode: String,
    /// The seed.
    pub seed: u64,
    /// Seed, trials and fineness, in words.
    pub made: String,
    /// The version that made it.
    pub version: String,
    /// Seconds it took, runs that took up an earlier one added to it (a run that was killed is not counted).
    pub seconds: f64,
    /// What it is about, in paragraphs.
    pub text: Vec<String>,
    /// Names and captions of the figures.
    pub figures: Vec<(String, String)>,
    /// Names of the tables.
    pub tables: Vec<String>,
    /// Tables for people.
    pub summaries: Vec<Table>,
    /// What the run says about the paper's claims.
    pub findings: Vec<Finding>,
    /// How methods stood, pool by pool.
    pub standings: Vec<Vec<MethodResult>>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

/// The version that made the first of some sections.
pub fn version(sections: &[Section]) -> &str {
    let first = sections.first();
    first.map_or(env!("CARGO_PKG_VERSION"), |section| &section.version)
}

impl Study<'_> {
    /// Writes an outcome and the report over all parts of the folder; returns the files, the report first.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, run: &Run<'_>, outcome: &Outcome) -> Result<Vec<PathBuf>, LabError> {
        let folder = self.folder.join(run.word);
        create(&folder)?;
        let mut files = Vec::new();
        for figure in &outcome.figures {
            files.extend(figure.write(&folder)?);
        }
        for table in &outcome.tables {
            files.push(table.write(&folder)?);
        }
        let same = |old: &Section| run.goes_on && old.mode == run.mode && old.seed == run.seed;
        let before = self.read(run.word).filter(same);
        let section = section(
            run,
            outcome,
            run.seconds + before.map_or(0.0, |old| old.seconds),
        );
        files.push(write_json(&folder.join("settings.json"), &run.repeat)?);
        files.push(write_json(&folder.join("section.json"), &json!(section))?);
        let report = self.write_report()?;
        Ok(report.into_iter().chain(files).collect())
    }

    /// Refuses a folder that holds runs of another mode or seed.
    ///
    /// # Errors
    /// Such a run is there.
    pub fn check(&self, mode: &str, seed: u64) -> Result<(), LabError> {
        let other = |section: &Section| section.mode != mode || section.seed != seed;
        match self.sections().into_iter().find(other) {
            None => Ok(()),
            Some(section) => Err(LabError::conflict(format!(
                "{} holds a run with other settings ({}{}, seed {}). Nothing was changed. Choose another --out, or \
                 remove that folder.",
                self.folder.display(),
                section.word,
                if section.mode.is_empty() {
                    String::new()
                } else {
                    format!(", {}", section.mode)
                },
                section.seed
            ))),
        }
    }

    /// What the folder says about a part, if it was run there.
    fn read(&self, word: &str) -> Option<Section> {
        let text = std::fs::read_to_string(self.folder.join(word).join("section.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn sections(&self) -> Vec<Section> {
        self.parts
            .iter()
            .filter_map(|word| self.read(word))
            .collect()
    }

    /// Writes the report over every part that the folder holds.
    fn write_report(&self) -> Result<Vec<PathBuf>, LabError> {
        let sections = self.sections();
        let svg = |section: &Section, stem: &str| {
            let file = self.folder.join(&section.word).join(format!("{stem}.svg"));
            std::fs::read_to_string(file).unwrap_or_default()
        };
        let file = |ending: &str| self.folder.join(format!("{}.{ending}", self.page));
        let (html, markdown) = (file("html"), file("md"));
        let text = page::html(self, &sections, &svg);
        write_whole(&html, |out| out.write_all(text.as_bytes()))?;
        let text = page::markdown(self, &sections);
        write_whole(&markdown, |out| out.write_all(text.as_bytes()))?;
        Ok(vec![html, markdown])
    }
}

fn section(run: &Run<'_>, outcome: &Outcome, seconds: f64) -> Section {
    Section {
        word: run.word.into(),
        title: run.title.into(),
        mode: run.mode.into(),
        seed: run.seed,
        made: run.made.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        seconds,
        text: outcome.text.clone(),
        figures: outcome
            .figures
            .iter()
            .map(|figure| (figure.stem.clone(), figure.caption.clone()))
            .collect(),
        tables: outcome
            .tables
            .iter()
            .map(|table| table.stem.clone())
            .collect(),
        summaries: outcome.summaries.clone(),
        findings: outcome.findings.clone(),
        standings: outcome.standings.clone(),
        notes: outcome.notes.clone(),
    }
}

fn write_json(file: &Path, value: &Value) -> Result<PathBuf, LabError> {
    let text = format!("{value:#}\n");
    write_whole(file, |out| out.write_all(text.as_bytes()))?;
    Ok(file.to_path_buf())
}
