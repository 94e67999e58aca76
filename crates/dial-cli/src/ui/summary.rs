//! What a simulation showed: a table, JSON, and the two curves of the paper's figures.

use std::path::Path;

use dial::simulate::{Record, Truth};
use dial_baselines::comparison::Run;
pub use dial_baselines::comparison::n_clusters;
use dial_data::write::write_whole;
use dial_plot::chart::{Canvas, to_png, to_svg};
use dial_plot::plot::{LineChart, Series, side_by_side};
use dial_plot::stats::{Interval, band, interval, mean};
use serde_json::{Value, json};

use crate::ui::failure::Failure;
use crate::ui::output;
use crate::verbs::simulate::name;

/// The questions after which tables report accuracy, as far as a run goes; always its end.
fn milestones(runs: &[Run]) -> Vec<usize> {
    let end = runs
        .iter()
        .flat_map(|run| &run.trials)
        .map(|trial| trial.len() - 1)
        .max()
        .unwrap_or(0);
    let mut milestones: Vec<usize> = [10, 25, 50, 100]
        .into_iter()
        .filter(|&query| query < end)
        .collect();
    milestones.push(end);
    milestones
}

fn accuracy_at(run: &Run, query: usize) -> Interval {
    let reached = run.trials.iter().filter_map(|trial| trial.get(query));
    interval(reached.map(|record| record.accuracy))
}

/// The mean accuracy over all questions of each trial: the height of its curve.
fn height(run: &Run) -> Interval {
    let height = |trial: &Vec<Record>| {
        let all = trial.iter().map(|record| record.accuracy);
        mean(all.filter(|accuracy| accuracy.is_finite()))
    };
    interval(run.trials.iter().map(height))
}

fn median_step(run: &Run) -> f64 {
    let mut seconds: Vec<f64> = run
        .trials
        .iter()
        .flat_map(|trial| &trial[1..])
        .map(|record| record.seconds)
        .collect();
    if seconds.is_empty() {
        return f64::NAN;
    }
    let middle = seconds.len() / 2;
    *seconds.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The question after which every cluster had been met, in the trials where that happened.
fn all_met(run: &Run, clusters: usize) -> Vec<usize> {
    run.trials
        .iter()
        .filter_map(|trial| {
            trial
                .iter()
                .position(|record| record.clusters_found == clusters)
        })
        .collect()
}

/// A table of accuracies with 95 % confidence half-widths.
pub fn table(runs: &[Run], clusters: usize) -> String {
    output::table(&rows(runs, clusters))
}

/// The cells of that table, the header first.
pub fn rows(runs: &[Run], clusters: usize) -> Vec<Vec<String>> {
    let milestones = milestones(runs);
    let percent = |value: Interval| match value.half_width {
        _ if value.mean.is_nan() => "-".into(),
        width if width.is_finite() && value.count > 1 => {
            format!("{:.1} ± {:.1}", 100.0 * value.mean, 100.0 * width)
        }
        _ => format!("{:.1}", 100.0 * value.mean),
    };
    let mut rows = vec![vec!["accuracy in %".to_string()]];
    rows[0].extend(milestones.iter().map(|query| format!("at {query}")));
    rows[0].extend(["whole curve", "all clusters met", "ms a step"].map(String::from));
    for run in runs {
        let met = all_met(run, clusters);
        let mut row = vec![name(run)];
        row.extend(
            milestones
                .iter()
                .map(|&query| percent(accuracy_at(run, query))),
        );
        row.push(percent(height(run)));
        row.push(match met.len() {
            0 => "never".into(),
            // The initial labels held every cluster: there was nothing to find.
            all if all == run.trials.len() && met.iter().all(|&query| query == 0) => "-".into(),
            all => {
                let mean = met.iter().sum::<usize>() as f64 / all as f64;
                format!("at {mean:.0}, {all} of {}", run.trials.len())
            }
        });
        row.push(
            Some(median_step(run))
                .filter(|s| s.is_finite())
                .map_or("-".into(), |s| format!("{:.1}", 1e3 * s)),
        );
        rows.push(row);
    }
    rows
}

/// The same for machines.
pub fn json(runs: &[Run]) -> Value {
    let milestones = milestones(runs);
    // One trial says nothing about the spread.
    let width = |value: Interval| (value.count > 1).then_some(value.half_width);
    let number = |value: Interval| json!({ "mean": value.mean, "half_width": width(value), "trials": value.count });
    let method = |run: &Run| {
        let accuracy: serde_json::Map<String, Value> = milestones
            .iter()
            .map(|&query| (query.to_string(), number(accuracy_at(run, query))))
            .collect();
        json!({
            "acquisition": run.method.to_string(),
            "policy": run.policy,
            "model": run.model.to_string(),
            "accuracy": accuracy,
            "mean_accuracy": number(height(run)),
            "median_seconds_per_step": median_step(run),
        })
    };
    runs.iter().map(method).collect()
}

/// Accuracy and clusters met against the number of questions, with 95 % confidence bands.
pub fn curves(pool: &str, runs: &[Run], truth: &Truth) -> Canvas {
    let series = |value: fn(&Record) -> f64| -> Vec<Series> {
        let one = |run: &Run| {
            let trials: Vec<Vec<f64>> = run
                .trials
                .iter()
                .map(|trial| trial.iter().map(value).collect())
                .collect();
            let band = band(&trials);
            let x = (0..band.mean.len()).map(|query| query as f64);
            Series::new(name(run), x, band)
        };
        runs.iter().map(one).collect()
    };
    let accuracy = LineChart::new(
        "Accuracy on the unlabelled items",
        ["questions asked", "accuracy"],
        series(|record| record.accuracy),
    );
    let clusters = n_clusters(truth);
    let met = LineChart::new(
        "Exploration",
        ["questions asked", &format!("clusters met, of {clusters}")],
        series(|record| record.clusters_found as f64),
    );
    let met = met.y_range((0.0, clusters as f64));
    side_by_side(pool, &[accuracy.in_percent(), met])
}

/// Refuses a figure of another format than SVG or PNG.
pub fn check_figure(file: &Path) -> Result<(), Failure> {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "png") => Ok(()),
        _ => Err(Failure::settings(format!(
            "{}: figures end in .svg or .png. Rename it.",
            file.display()
        ))),
    }
}

/// Saves a figure as SVG or PNG, by the ending of the file name.
pub fn write_figure(canvas: &Canvas, file: &Path) -> Result<(), Failure> {
    check_figure(file)?;
    let svg = file.extension().is_some_and(|ending| ending == "svg");
    let bytes = if svg {
        to_svg(canvas).into_bytes()
    } else {
        to_png(canvas, 2.0)
    };
    Ok(write_whole(file, |out| out.write_all(&bytes))?)
}
