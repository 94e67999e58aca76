//! Classifiers at one to five labels per class: Dirichlet, Laplace, Poisson, reweighted Laplace, nearest neighbour, on
//! MNIST and FashionMNIST with their ten classes. The comparison that the paper's authors planned (`subsubsection`
//! "Dirichlet Learning as a useful model for semi-supervised classification") and left out.
//!
//! Labels are drawn at random, the same for every classifier of a trial; those for m labels per class are among those
//! for m + 1.

use dial::classifiers::Classifier;
use dial::seed::{Purpose, Random};
use dial::simulate::Truth;
use dial::{Control, DirichletField, NodeId};
use dial_baselines::methods::Workbench;
use dial_baselines::models::ModelName;
use dial_data::row;
use dial_data::write::Cell;
use rayon::prelude::*;
use serde_json::json;

use super::curves::{NEIGHBOURS, TAU, workbench};
use super::learning::{banded, means};
use super::method_result::percent;
use super::pools::{Dataset, load};
use super::{Drawn, Finding, LabError, Outcome, ReproduceOptions, Tidy, Verdict};
use crate::cells::Cells;
use dial_plot::plot::{LineChart, Series, side_by_side};
use dial_plot::report::Table;
use dial_plot::stats::interval;
use dial_plot::words::Listed;

/// Most labels per class.
const MAX_LABELS: usize = 5;

const MODELS: [(ModelName, &str); 5] = [
    (ModelName::Dirichlet, "Dirichlet"),
    (ModelName::Laplace, "Laplace"),
    (ModelName::Poisson, "Poisson"),
    (ModelName::Reweighted, "reweighted Laplace"),
    (ModelName::Nearest, "nearest neighbour"),
];

const HEADER: [&str; 2] = ["per_class", "accuracy"];

/// The accuracies of one classifier on one pool: trial by trial, for 1 to 5 labels per class.
type Accuracies = Vec<Vec<f64>>;

/// Runs the experiment.
pub fn run(settings: &ReproduceOptions, control: &Control) -> Result<Outcome, LabError> {
    let mut outcome = Outcome {
        trials: Some(settings.trials),
        ..Outcome::default()
    };
    let mut panels = Vec::new();
    for (letter, dataset) in ('a'..).zip([Dataset::Mnist, Dataset::FashionMnist]) {
        let (name, accuracies) = on_pool(dataset, settings, &mut outcome, control)?;
        panels.push(chart(&format!("({letter}) {name}"), &accuracies));
        outcome
            .summaries
            .push(summary(&name, &accuracies, settings));
        outcome.findings.push(finding(&name, &accuracies));
        outcome.tables.push(tidy(dataset, &accuracies, settings));
    }
    outcome.figures.push(Drawn::new(
        "classifiers",
        format!(
            "Accuracy on the unlabelled items against the number of labels per class, ten classes, labels drawn at \
             random. {}",
            means(settings.trials)
        ),
        side_by_side("Classifiers at few labels", &panels),
    ));
    Ok(outcome)
}

fn on_pool(
    dataset: Dataset,
    settings: &ReproduceOptions,
    outcome: &mut Outcome,
    control: &Control,
) -> Result<(String, Vec<Accuracies>), LabError> {
    let loaded = load(dataset, &settings.origin)?;
    let truth = loaded.truth(None)?;
    let stored = json!({
        "pool": dataset.stem(),
        "data": loaded.fingerprint,
        "k": NEIGHBOURS,
        "tau": TAU,
        "seed": settings.seed,
        "method_version": dial::METHOD_VERSION,
    });
    let cells = Cells::open(
        settings
            .folder
            .join("cells")
            .join("ssl")
            .join(dataset.stem()),
        &stored,
    )?;
    outcome.settings.push(stored);
    let bench = workbench(&loaded, control)?;
    let mut all = Vec::new();
    for (model, name) in MODELS {
        control.start(
            &format!("{}: {name}", loaded.name),
            settings.trials * MAX_LABELS,
        );
        let trial = |t: usize| {
            let cell = format!("{model}/{t:03}");
            cells.get_or(&cell, &HEADER, || {
                accuracies(
                    &bench,
                    &truth,
                    model,
                    settings.seed.wrapping_add(t as u64),
                    control,
                )
            })
        };
        let trials: Vec<_> = (0..settings.trials)
            .into_par_iter()
            .map(trial)
            .collect::<Result<_, _>>()?;
        control.finish();
        all.push(
            trials
                .iter()
                .map(|rows| rows.iter().map(|row| row[1]).collect())
                .collect(),
        );
    }
    Ok((loaded.name.clone(), all))
}

/// The accuracies of a classifier for 1 to 5 labels per class.
fn accuracies(
    bench: &Workbench<'_>,
    truth: &Truth,
    model: ModelName,
    seed: u64,
    control: &Control,
) -> Result<Vec<Vec<f64>>, LabError> {
    let drawn = draw(truth, seed);
    let mut rows = Vec::new();
    for m in 1..=MAX_LABELS {
        let labels: Vec<Vec<(NodeId, f64)>> = drawn
            .iter()
            .map(|nodes| nodes.iter().take(m).map(|&node| (node, 1.0)).collect())
            .collect();
        let accuracy = match model {
            ModelName::Dirichlet => dirichlet(bench, truth, &labels, &control.quiet())?,
            _ => {
                let scores = bench
                    .model(model, &control.quiet())?
                    .scores(&labels, &control.quiet())?;
                share_right(truth, &labels, |node| scores.class(node))
            }
        };
        rows.push(vec![m as f64, accuracy]);
        control.advance(1)?;
    }
    Ok(rows)
}

fn dirichlet(
    bench: &Workbench<'_>,
    truth: &Truth,
    labels: &[Vec<(NodeId, f64)>],
    control: &Control,
) -> Result<f64, LabError> {
    // The prior is the same for every class and does not change which is largest.
    let mut field = DirichletField::new(truth.classes.len(), labels.len(), 1.0);
    let propagation = &bench.engine().propagation;
    for (class, terms) in labels.iter().enumerate() {
        let sources: Vec<NodeId> = terms.iter().map(|(node, _)| *node).collect();
        for column in propagation.columns(&sources, control)? {
            field.add(class, 1.0, &column);
        }
    }
    Ok(share_right(truth, labels, |node| field.class(node)))
}

/// Five random nodes of every class.
fn draw(truth: &Truth, seed: u64) -> Vec<Vec<NodeId>> {
    let mut random = Random::new(seed, Purpose::Initial, 1);
    let of_class = |class: usize| {
        let members: Vec<NodeId> = (0..)
            .map(NodeId)
            .zip(&truth.classes)
            .filter(|(_, c)| c.is_some_and(|c| c.index() == class))
            .map(|(node, _)| node)
            .collect();
        let count = MAX_LABELS.min(members.len());
        random
            .distinct(count, members.len())
            .into_iter()
            .map(|place| members[place])
            .collect()
    };
    (0..truth.names.len()).map(of_class).collect()
}

fn share_right(
    truth: &Truth,
    labels: &[Vec<(NodeId, f64)>],
    class: impl Fn(NodeId) -> usize,
) -> f64 {
    let mut labelled: Vec<NodeId> = labels.iter().flatten().map(|(node, _)| *node).collect();
    labelled.sort_unstable();
    let (mut right, mut all) = (0, 0);
    for (node, known) in (0..).map(NodeId).zip(&truth.classes) {
        if let (Some(known), Err(_)) = (known, labelled.binary_search(&node)) {
            all += 1;
            right += usize::from(class(node) == known.index());
        }
    }
    right as f64 / f64::from(all.max(1))
}

fn chart(title: &str, accuracies: &[Accuracies]) -> LineChart {
    let x: Vec<f64> = (1..=MAX_LABELS).map(|m| m as f64).collect();
    let line = |((_, name), trials): (&(ModelName, &str), &Accuracies)| {
        Series::new(*name, &x, banded(trials))
    };
    LineChart::new(
        title,
        ["labels per class", "accuracy"],
        MODELS.iter().zip(accuracies).map(line).collect(),
    )
    .in_percent()
}

fn at(trials: &Accuracies, m: usize) -> Vec<f64> {
    trials.iter().map(|trial| trial[m - 1]).collect()
}

fn summary(name: &str, accuracies: &[Accuracies], settings: &ReproduceOptions) -> Table {
    let row = |((_, model), trials): (&(ModelName, &str), &Accuracies)| {
        let mut row = vec![model.to_string()];
        row.extend((1..=MAX_LABELS).map(|m| percent(&at(trials, m))));
        row
    };
    let columns = (1..=MAX_LABELS)
        .map(|m| format!("{m} per class"))
        .joined(" | ");
    Table::new(
        format!(
            "{name}: classifiers at few labels, {} trials.",
            settings.trials
        ),
        &format!("accuracy in %, ± standard error | {columns}"),
        MODELS.iter().zip(accuracies).map(row),
    )
    .numbers(1..)
}

fn finding(name: &str, accuracies: &[Accuracies]) -> Finding {
    let difference = |other: usize, m: usize| {
        let pairs = at(&accuracies[0], m)
            .into_iter()
            .zip(at(&accuracies[other], m));
        interval(pairs.map(|(ours, theirs)| ours - theirs))
    };
    let place = |model: ModelName| {
        MODELS
            .iter()
            .position(|(name, _)| *name == model)
            .expect("it is among them")
    };
    let rivals = [ModelName::Poisson, ModelName::Reweighted].map(place);
    let all: Vec<_> = rivals
        .iter()
        .flat_map(|&other| (1..=MAX_LABELS).map(move |m| (other, m)))
        .map(|(other, m)| (difference(other, m), other, m))
        .collect();
    let worst = all.iter().min_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
    let (far, other, m) = *worst.expect("there are rivals");
    let numbers = rivals.iter().map(|&other| {
        let of = |m| format!("{:+.1}", 100.0 * difference(other, m).mean);
        let (rival, list) = (MODELS[other].1, (1..=MAX_LABELS).map(of).joined(", "));
        format!("against {rival}: {list} points at 1 to {MAX_LABELS} labels per class")
    });
    // At most a point behind everywhere, for sure; or more than that somewhere, for sure.
    let verdict = if all.iter().all(|(d, ..)| d.mean - d.half_width >= -0.01) {
        Verdict::Supported
    } else if far.mean + far.half_width < -0.01 && far.count > 1 {
        Verdict::NotSupported
    } else {
        Verdict::Mixed
    };
    Finding::new(
        format!(
            "{name}: Dirichlet Learning performs comparably to Poisson and reweighted Laplace learning at low label rates."
        ),
        verdict,
        format!(
            "{}; furthest behind {} at {m} ({:+.1} ± {:.1} points).",
            numbers.joined("; "),
            MODELS[other].1,
            100.0 * far.mean,
            100.0 * far.half_width
        ),
    )
}

fn tidy(dataset: Dataset, accuracies: &[Accuracies], settings: &ReproduceOptions) -> Tidy {
    let mut rows = Vec::new();
    for ((model, _), trials) in MODELS.iter().zip(accuracies) {
        for (trial, values) in trials.iter().enumerate() {
            for (m, accuracy) in (1..).zip(values) {
                rows.push(row![
                    trial,
                    settings.seed.wrapping_add(trial as u64).to_string(),
                    model.to_string(),
                    Cell::Integer(m),
                    *accuracy
                ]);
            }
        }
    }
    Tidy::new(
        dataset.stem().to_string(),
        "trial,seed,model,labels_per_class,accuracy",
        rows,
    )
}
