//! The folder of a reproduction: a subfolder per experiment, and one report over all of them.
//!
//! ```text
//! report.html  report.md
//! mnist-small/   curves.svg  curves.png  mnist-small-runs.csv  mnist-small-summary.csv  settings.json  section.json
//! cells/         finished pieces, from which a killed run goes on
//! ```
//!
//! `settings.json` repeats an experiment exactly; `section.json` is what the report says about it, so that the report
//! can be made again when another experiment is added.

use std::path::{Path, PathBuf};

use dial_data::write::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::standing::Standing;
use super::{Experiment, Finding, Outcome, Settings, Trouble, page};
use crate::cells::create;
use crate::report::Table;

/// What the report says about an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// The experiment.
    pub experiment: Experiment,
    /// Whether it was the small version.
    pub quick: bool,
    /// Number of trials, where there are any.
    pub trials: Option<usize>,
    /// The seed.
    pub seed: u64,
    /// The version that made it.
    pub version: String,
    /// Seconds it took, runs that took up an earlier one added to it (a run that was killed is not counted).
    pub seconds: f64,
    /// Names and captions of the figures.
    pub figures: Vec<(String, String)>,
    /// Names of the tables.
    pub tables: Vec<String>,
    /// Tables for people.
    pub summaries: Vec<Table>,
    /// What the run says about the paper's claims.
    pub findings: Vec<Finding>,
    /// How methods stood, pool by pool.
    pub standings: Vec<Vec<Standing>>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

/// Writes an outcome and the report over all experiments of the folder; returns the files, the report first.
pub fn write(
    experiment: Experiment,
    outcome: &Outcome,
    settings: &Settings,
    seconds: f64,
) -> Result<Vec<PathBuf>, Trouble> {
    let folder = settings.folder.join(experiment.word());
    create(&folder)?;
    let mut files = Vec::new();
    for figure in &outcome.figures {
        files.extend(figure.write(&folder)?);
    }
    for table in &outcome.tables {
        files.push(table.write(&folder)?);
    }
    let same = |old: &Section| experiment.keeps_cells() && old.quick == settings.quick && old.seed == settings.seed;
    let before = read(&settings.folder, experiment).filter(same);
    let section = section(experiment, outcome, settings, seconds + before.map_or(0.0, |old| old.seconds));
    files.push(write_json(&folder.join("settings.json"), &repeat(experiment, outcome, settings))?);
    files.push(write_json(&folder.join("section.json"), &json!(section))?);
    let report = write_report(&settings.folder)?;
    Ok(report.into_iter().chain(files).collect())
}

fn section(experiment: Experiment, outcome: &Outcome, settings: &Settings, seconds: f64) -> Section {
    Section {
        experiment,
        quick: settings.quick,
        trials: outcome.trials,
        seed: settings.seed,
        version: env!("CARGO_PKG_VERSION").into(),
        seconds,
        figures: outcome.figures.iter().map(|figure| (figure.stem.clone(), figure.caption.clone())).collect(),
        tables: outcome.tables.iter().map(|table| table.stem.clone()).collect(),
        summaries: outcome.summaries.clone(),
        findings: outcome.findings.clone(),
        standings: outcome.standings.clone(),
        notes: outcome.notes.clone(),
    }
}

/// Everything that repeats an experiment exactly.
fn repeat(experiment: Experiment, outcome: &Outcome, settings: &Settings) -> Value {
    let quick = if settings.quick { " --quick" } else { "" };
    let spare = if settings.spare_class_0 { " --spare-class-0" } else { "" };
    json!({
        "command": format!(
            "dial reproduce {experiment} --trials {} --queries {} --seed {}{quick}{spare}",
            settings.trials, settings.queries, settings.seed
        ),
        "version": env!("CARGO_PKG_VERSION"),
        "method_version": dial::METHOD_VERSION,
        "trials": outcome.trials,
        "queries": settings.queries,
        "seed": settings.seed,
        "quick": settings.quick,
        "spare_class_0": settings.spare_class_0,
        "pools": outcome.settings,
    })
}

fn write_json(file: &Path, value: &Value) -> Result<PathBuf, Trouble> {
    let text = format!("{value:#}\n");
    write_whole(file, |out| out.write_all(text.as_bytes()))?;
    Ok(file.to_path_buf())
}

/// Refuses a folder that holds quick runs where full ones are asked, or the reverse, or runs of another seed.
pub fn check(settings: &Settings) -> Result<(), Trouble> {
    let other = |section: &Section| section.quick != settings.quick || section.seed != settings.seed;
    match Experiment::ALL.iter().filter_map(|&experiment| read(&settings.folder, experiment)).find(other) {
        None => Ok(()),
        Some(section) => Err(Trouble::conflict(format!(
            "{}: holds a run with other settings ({}{}, seed {}). Nothing was changed. Choose another --out, or remove \
             that folder.",
            settings.folder.display(),
            section.experiment,
            if section.quick { ", quick" } else { "" },
            section.seed
        ))),
    }
}

/// What the folder says about an experiment, if it was run there.
fn read(folder: &Path, experiment: Experiment) -> Option<Section> {
    let text = std::fs::read_to_string(folder.join(experiment.word()).join("section.json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes the report over every experiment that the folder holds.
fn write_report(folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let sections: Vec<Section> = Experiment::ALL.iter().filter_map(|&experiment| read(folder, experiment)).collect();
    let svg = |section: &Section, stem: &str| {
        let file = folder.join(section.experiment.word()).join(format!("{stem}.svg"));
        std::fs::read_to_string(file).unwrap_or_default()
    };
    let (html, markdown) = (folder.join("report.html"), folder.join("report.md"));
    let text = page::html(&sections, &svg);
    write_whole(&html, |out| out.write_all(text.as_bytes()))?;
    let text = page::markdown(&sections);
    write_whole(&markdown, |out| out.write_all(text.as_bytes()))?;
    Ok(vec![html, markdown])
}
