//! From studies to what is written: learning and exploration curves as figures, tidy tables, summaries, findings.

use dial::Control;
use dial_data::row;

use super::claims;
use super::curves::{
    ACCURACY, CLASS, CLUSTERS, Curve, JUDGED, LABELLED, NODE, SECONDS, Study, study,
};
use super::lines::Source;
use super::method_result::{MethodResult, OWN_CLASSIFIER_SUFFIX, standings, table};
use super::pools::Dataset;
use super::{Drawn, Outcome, ReproduceOptions, Tidy};
use crate::error::LabError;
use dial_plot::plot::{LineChart, Series, side_by_side};
use dial_plot::stats::{Band, band, interval};
use dial_plot::words::Listed;

/// The hyperspectral experiments: Salinas-A and Pavia (`fig:hsi-plots`, `fig:salinas-gt`).
pub fn hyperspectral(settings: &ReproduceOptions, control: &Control) -> Result<Outcome, LabError> {
    let studies =
        [Dataset::SalinasA, Dataset::Pavia].map(|dataset| study(dataset, settings, control));
    let studies = studies.into_iter().collect::<Result<Vec<_>, _>>()?;
    let panel = |(letter, study): (char, &Study)| LineChart {
        title: format!("({letter}) {}", study.name),
        ..accuracy_chart(study)
    };
    let mut panels: Vec<LineChart> = ('a'..).zip(&studies).map(panel).collect();
    // One scale for both, from the questions judged in Dirichlet Learning: LAND's classifier begins far below.
    let common = panels
        .iter()
        .flat_map(|panel| &panel.series)
        .filter(|series| !series.name.ends_with(OWN_CLASSIFIER_SUFFIX));
    let lowest = common
        .flat_map(|series| series.band.low.iter().copied())
        .fold(1.0, f64::min);
    let floor = ((20.0 * lowest).floor() / 20.0).clamp(0.0, 0.95);
    panels
        .iter_mut()
        .for_each(|panel| panel.y_range = Some((floor, 1.0)));
    let mut outcome = Outcome::default();
    for study in &studies {
        if let Some(scene) = &study.scene {
            outcome.figures.push(Drawn::new(
                format!("{}-ground-truth", study.protocol.dataset.stem()),
                format!(
                    "Ground truth of {}: the labelled pixels (fig:salinas-gt).",
                    study.name
                ),
                scene.canvas(),
            ));
        }
    }
    outcome.figures.push(Drawn::new(
        "curves",
        format!(
            "Accuracy of Dirichlet Learning on the unlabelled pixels against the number of questions{} (fig:hsi-plots). \
             {}",
            if settings.spare_class_0 { ", class 0 never asked as in the authors' scripts" } else { "" },
            means(settings.trials)
        ),
        side_by_side("Hyperspectral pools", &panels),
    ));
    studies
        .iter()
        .for_each(|study| add(&mut outcome, study, settings));
    Ok(outcome)
}

/// An exploration experiment on one mod-3 pool (`fig:mnist`, `fig:fashionmnist` and their small versions).
pub fn exploration(
    dataset: Dataset,
    settings: &ReproduceOptions,
    control: &Control,
) -> Result<Outcome, LabError> {
    let study = study(dataset, settings, control)?;
    let accuracy = LineChart {
        title: "(a) Accuracy".into(),
        ..accuracy_chart(&study)
    };
    let met = series(
        &study,
        |curve| Some((curve.line.name.to_string(), CLUSTERS)),
        1.0 / study.clusters as f64,
    );
    let share = format!("share of the {} clusters met", study.clusters);
    let clusters = LineChart::new("(b) Cluster exploration", ["questions asked", &share], met);
    let clusters = clusters.in_percent();
    let mut outcome = Outcome::default();
    outcome.figures.push(Drawn::new(
        "curves",
        format!(
            "{}, classes are the labels modulo 3: accuracy of Dirichlet Learning on the unlabelled items (a) and share \
             of the original classes met (b) against the number of questions. {}",
            study.name,
            means(settings.trials)
        ),
        side_by_side(&study.name, &[accuracy, clusters]),
    ));
    add(&mut outcome, &study, settings);
    Ok(outcome)
}

/// What lines and bands show.
pub(super) fn means(trials: usize) -> String {
    match trials {
        1 => "One trial.".into(),
        2 => "Mean over 2 trials.".into(),
        many => format!("Mean over {many} trials, shaded: its 95 % confidence interval."),
    }
}

/// The band of the mean; two trials say nothing about the spread.
pub(super) fn banded(trials: &[Vec<f64>]) -> Band {
    if trials.len() < 3 {
        Band::exact(band(trials).mean)
    } else {
        band(trials)
    }
}

fn accuracy_chart(study: &Study) -> LineChart {
    let mut lines = series(
        study,
        |curve| Some((curve.line.name.to_string(), ACCURACY)),
        1.0,
    );
    let own = |curve: &Curve| match (curve.line.judge, curve.line.source) {
        (Some(_), Source::Method(_)) => Some((
            format!("{}{OWN_CLASSIFIER_SUFFIX}", curve.line.name),
            JUDGED,
        )),
        _ => None,
    };
    lines.extend(series(study, own, 1.0));
    LineChart::new(study.name.clone(), ["questions asked", "accuracy"], lines).in_percent()
}

/// The bands of a column over the curves that the paper shows.
fn series(
    study: &Study,
    of: impl Fn(&Curve) -> Option<(String, usize)>,
    scale: f64,
) -> Vec<Series> {
    let one = |curve: &Curve| {
        let (name, column) = of(curve)?;
        let heights = |rows: &Vec<Vec<f64>>| rows.iter().map(|row| scale * row[column]).collect();
        let trials: Vec<Vec<f64>> = curve.trials.iter().map(heights).collect();
        let band = banded(&trials);
        let x = (0..band.mean.len()).map(|query| query as f64);
        Some(Series::new(name, x, band))
    };
    study
        .curves
        .iter()
        .filter(|curve| curve.line.shown)
        .filter_map(one)
        .collect()
}

/// Adds the tables and findings of a study.
fn add(outcome: &mut Outcome, study: &Study, settings: &ReproduceOptions) {
    let standings = standings(study);
    let explores = study.protocol.modulo.is_some();
    let caption = caption(study, settings);
    outcome.summaries.push(table(caption, &standings, explores));
    outcome.tables.push(runs(study, settings));
    outcome.tables.push(summary(study, &standings));
    outcome
        .findings
        .extend(claims::on_pool(study.protocol.dataset, &standings));
    outcome.notes.extend(
        study
            .notes
            .iter()
            .map(|note| format!("{}: {note}", study.name)),
    );
    outcome.trials = Some(settings.trials);
    outcome.settings.push(study.settings.clone());
    outcome.standings.push(standings);
}

fn caption(study: &Study, settings: &ReproduceOptions) -> String {
    let hidden = study.curves.iter().filter(|c| !c.line.shown);
    let beside = match hidden.map(|c| c.line.name).joined(", ").as_str() {
        "" => String::new(),
        names => format!(" Not in the figure: {names} (spectral, for comparison)."),
    };
    format!(
        "{}: {} items, {} trials, seed {}.{beside}",
        study.name, study.items, settings.trials, settings.seed
    )
}

/// Every question of every trial.
fn runs(study: &Study, settings: &ReproduceOptions) -> Tidy {
    let mut rows = Vec::new();
    for curve in &study.curves {
        let models = [
            (Some("dirichlet".to_string()), ACCURACY),
            (curve.line.judge.map(|m| m.to_string()), JUDGED),
        ];
        for (trial, records) in curve.trials.iter().enumerate() {
            let seed = settings.seed.wrapping_add(trial as u64).to_string();
            for (model, column) in &models {
                let Some(model) = model else { continue };
                for (query, record) in records.iter().enumerate() {
                    let integer = |at: usize| {
                        let value = record[at];
                        (!value.is_nan()).then_some(value as usize)
                    };
                    rows.push(row![
                        trial,
                        seed.as_str(),
                        curve.line.stem,
                        model.as_str(),
                        query,
                        integer(NODE),
                        integer(CLASS),
                        integer(LABELLED),
                        record[*column],
                        integer(CLUSTERS),
                        record[SECONDS],
                    ]);
                }
            }
        }
    }
    Tidy::new(
        format!("{}-runs", study.protocol.dataset.stem()),
        "trial,seed,method,model,query,node,class,labelled,accuracy,clusters_found,seconds",
        rows,
    )
}

/// One row per method and milestone: mean and standard error.
fn summary(study: &Study, standings: &[MethodResult]) -> Tidy {
    let mut rows = Vec::new();
    for standing in standings {
        let whole = [("area".to_string(), standing.areas.clone())];
        let at = standing
            .at
            .iter()
            .map(|(query, values)| (format!("accuracy at {query}"), values.clone()));
        for (what, values) in at.chain(whole) {
            let spread = interval(&values);
            rows.push(row![
                standing.method.clone(),
                what,
                spread.count,
                spread.mean,
                spread.deviation / (spread.count as f64).sqrt()
            ]);
        }
    }
    Tidy::new(
        format!("{}-summary", study.protocol.dataset.stem()),
        "method,measure,trials,mean,standard_error",
        rows,
    )
}
