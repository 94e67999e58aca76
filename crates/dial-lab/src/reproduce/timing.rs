//! What a question costs (`fig:timing-comparison`), and the measured counterpart of `table:comp_comparison`.
//!
//! The figure times acquisition and selection only. The table has the four costs apart:
//!
//! ```text
//! initial        what must be there before the first question: eigenpairs, start values, a ranking
//! per item       scores and selection, divided by the number of items
//! auxiliary      bringing the acquisition's own state up to a new label: a first ask less a second one
//! classifier     bringing the classifier up to a new label, as far as the acquisition reads it
//! ```
//!
//! Uncertainty sampling and MCVOpt read Laplace learning, whose solves are the classifier's cost and timed apart; the
//! margins themselves are taken from scores at hand. "Dense matrix" is VOpt as it was proposed, with the n x n covariance
//! stored; "exact" is ours, which stores none. Everything runs alone on all cores; medians over the trials.

use std::sync::Arc;
use std::time::Instant;

use dial::methods::{Method, Workbench};
use dial::models::ModelName;
use dial::optimal::ModelChange;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Control, Items, NodeId, Options, Policy, Prior, Score, Session, Setting};
use dial_data::write::Cell;
use serde_json::json;

use super::curves::{EIGENPAIRS, NEIGHBOURS, TAU};
use super::dense::DenseOptimal;
use super::pools::{Dataset, Loaded, load};
use super::{Drawn, Finding, Outcome, Settings, Tidy, Trouble, Verdict};
use crate::plot::{LineChart, Scale, Series};
use crate::report::Table;
use crate::stats::Band;

/// The ways of asking that are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    Random,
    Uncertainty,
    Variance(Policy),
    VOpt,
    McVOpt,
    VOptFull,
    VOptDense,
    Land,
}

const CONTENDERS: [Contender; 9] = [
    Contender::Variance(Policy::Max),
    Contender::Variance(Policy::Proportional),
    Contender::Uncertainty,
    Contender::McVOpt,
    Contender::VOptDense,
    Contender::VOptFull,
    Contender::VOpt,
    Contender::Land,
    Contender::Random,
];

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::Random => "Rand.",
            Contender::Uncertainty => "Unc. Sampl.",
            Contender::Variance(Policy::Proportional) => "Dir. Var. (Prop)",
            Contender::Variance(_) => "Dir. Var.",
            Contender::VOpt => "VOpt (spectral)",
            Contender::McVOpt => "MCVOpt",
            Contender::VOptFull => "VOpt (Full, exact)",
            Contender::VOptDense => "VOpt (Full, dense matrix)",
            Contender::Land => "LAND",
        }
    }

    /// The largest pool it is timed on: quadratic memory and many solves end early.
    fn largest(self) -> usize {
        match self {
            Contender::VOptFull | Contender::VOptDense => 8_000,
            Contender::Land => 16_000,
            _ => usize::MAX,
        }
    }

    /// What it costs according to the paper, in the order of the columns.
    fn in_the_paper(self) -> [&'static str; 4] {
        match self {
            Contender::Uncertainty => ["-", "O(K)", "-", "K SpSolve"],
            Contender::Variance(_) => ["-", "O(K)", "-", "SpSolve"],
            Contender::VOptDense => ["O(n³)", "O(n)", "O(n²)", "-"],
            Contender::McVOpt => ["O(n² r)", "O(r + K)", "O(n r)", "K SpSolve"],
            _ => ["", "", "", ""],
        }
    }
}

/// One measurement, in seconds.
struct Cost {
    contender: Contender,
    n: usize,
    initial: f64,
    select: f64,
    auxiliary: f64,
    classifier: f64,
}

/// Runs the experiment.
pub fn run(settings: &Settings, control: &Control) -> Result<Outcome, Trouble> {
    let loaded = load(Dataset::Mnist, &settings.origin)?;
    let sizes: &[usize] =
        if settings.quick { &[200, 400] } else { &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000] };
    let mut costs = Vec::new();
    for &n in sizes.iter().filter(|&&n| n <= loaded.pool.matrix.n) {
        control.start(&format!("timing with {n} items"), CONTENDERS.len());
        let part = subset(&loaded, n, settings.seed);
        for contender in CONTENDERS.into_iter().filter(|contender| n <= contender.largest()) {
            costs.push(measure(contender, &part, settings, &control.quiet())?);
            control.advance(1)?;
        }
        control.finish();
    }
    let mut outcome = Outcome::default();
    outcome.figures.push(figure(&costs));
    outcome.summaries.extend(table(&costs));
    outcome.findings = findings(&costs);
    outcome.tables.push(tidy(&costs));
    outcome.settings.push(json!({ "pool": "mnist", "data": loaded.fingerprint, "sizes": sizes, "k": NEIGHBOURS,
        "tau": TAU, "eigenpairs": EIGENPAIRS, "threads": rayon::current_num_threads() }));
    outcome.notes.push(format!("times were taken with {} threads", rayon::current_num_threads()));
    Ok(outcome)
}

/// A random part of the pool.
fn subset(loaded: &Loaded, n: usize, seed: u64) -> dial_data::Pool {
    let mut rows = Random::new(seed, Purpose::User, 0).distinct(n, loaded.pool.matrix.n);
    rows.sort_unstable();
    let mut pool = loaded.pool.clone();
    pool.select_rows(&rows);
    pool
}

/// Times one contender: a few labels, then for each trial a label, a first ask and a second one.
fn measure(
    contender: Contender,
    pool: &dial_data::Pool,
    settings: &Settings,
    control: &Control,
) -> Result<Cost, Trouble> {
    let n = pool.matrix.n;
    let bench = Workbench::build(pool.matrix.features()?, NEIGHBOURS, dial::Metric::Euclidean, EIGENPAIRS, control)?;
    let start = Instant::now();
    let acquisition = acquisition(contender, &bench, control)?;
    let initial = start.elapsed().as_secs_f64();
    let kernel = bench.poisson(TAU)?;
    let setting = Setting { kernel, graph: Some(Arc::clone(bench.graph())), items: Items::rows(n) };
    let policy = if let Contender::Variance(policy) = contender { policy } else { Policy::Max };
    let options =
        Options { acquisition, policy, prior: Prior::Constant(0.01), seed: settings.seed, ..Options::default() };
    let names: Vec<String> = ["0", "1", "2"].map(String::from).to_vec();
    let mut session = Session::new(setting, options, &names, control)?;
    let truth = pool.truth.as_ref().expect("the pool has labels").modulo(3)?;
    let (mut select, mut auxiliary, mut classifier) = (Vec::new(), Vec::new(), Vec::new());
    let nodes = Random::new(settings.seed, Purpose::User, 1).distinct(5 + settings.trials, n);
    for (count, &node) in nodes.iter().enumerate() {
        let class = dial::ClassId(truth.labels[node].unwrap_or(0));
        let told = timed(|| Ok(session.tell(&node.to_string(), class, control)?))?;
        let first = timed(|| Ok(session.ask(1)?))?;
        let second = timed(|| Ok(session.ask(1)?))?;
        if count >= 5 {
            select.push(second);
            auxiliary.push((first - second).max(0.0));
            classifier.push(match contender {
                Contender::Variance(_) => told,
                Contender::Uncertainty | Contender::McVOpt => {
                    let labels = labels(&nodes[..=count], &truth);
                    let model = bench.model(ModelName::Laplace, control)?;
                    timed(|| Ok(model.scores(&labels, control)?))?
                }
                _ => 0.0,
            });
        }
    }
    Ok(Cost {
        contender,
        n,
        initial: if needs_start(contender) { initial } else { 0.0 },
        select: median(select),
        auxiliary: if keeps_state(contender) { median(auxiliary) } else { 0.0 },
        classifier: median(classifier),
    })
}

fn labels(nodes: &[usize], truth: &dial_data::Truth) -> Vec<Vec<(NodeId, f64)>> {
    let mut labels = vec![Vec::new(); 3];
    for &node in nodes {
        labels[usize::from(truth.labels[node].unwrap_or(0))].push((NodeId(node as u32), 1.0));
    }
    labels
}

fn needs_start(contender: Contender) -> bool {
    keeps_state(contender) || contender == Contender::Land
}

fn keeps_state(contender: Contender) -> bool {
    matches!(contender, Contender::VOpt | Contender::McVOpt | Contender::VOptFull | Contender::VOptDense)
}

fn acquisition<'a>(
    contender: Contender,
    bench: &Workbench<'a>,
    control: &Control,
) -> Result<Arc<dyn Acquisition + 'a>, Trouble> {
    Ok(match contender {
        Contender::Random => Arc::new(Score::Random),
        Contender::Uncertainty => Arc::new(Score::Margin),
        Contender::Variance(_) => Arc::new(Score::Variance),
        Contender::VOpt => bench.acquisition(Method::VOpt, control)?,
        Contender::VOptFull => bench.acquisition(Method::VOptFull, control)?,
        Contender::VOptDense => Arc::new(DenseOptimal::new(bench.graph(), control)?),
        Contender::Land => bench.acquisition(Method::Land, control)?,
        // The margins are read from the field at hand, so that no solve is timed twice.
        Contender::McVOpt => Arc::new(ModelChange::new(bench.pairs(control)?, Arc::new(Score::Margin))),
    })
}

fn timed<T>(work: impl FnOnce() -> Result<T, Trouble>) -> Result<f64, Trouble> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn of(costs: &[Cost], contender: Contender) -> Vec<&Cost> {
    costs.iter().filter(|cost| cost.contender == contender).collect()
}

fn figure(costs: &[Cost]) -> Drawn {
    let line = |contender: Contender| {
        let of = of(costs, contender);
        let x = of.iter().map(|cost| cost.n as f64).collect();
        Series::new(contender.name(), x, Band::exact(of.iter().map(|cost| 1e3 * cost.select).collect()))
    };
    let chart = LineChart {
        title: "Time for one question: acquisition and selection".into(),
        x_label: "number of items".into(),
        y_label: "milliseconds".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: CONTENDERS.into_iter().map(line).collect(),
        ..LineChart::default()
    };
    Drawn {
        stem: "timing".into(),
        caption: "Time to compute an acquisition over all items and to select one, against the number of items \
                  (fig:timing-comparison): random parts of MNIST, 50 eigenpairs, medians."
            .into(),
        canvas: chart.canvas(),
    }
}

fn table(costs: &[Cost]) -> Option<Table> {
    let largest = |contender: Contender| of(costs, contender).into_iter().max_by_key(|cost| cost.n);
    let seconds = |seconds: f64| match seconds {
        0.0 => "-".to_string(),
        s if s < 1e-3 => format!("{:.0} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    };
    let row = |contender: Contender| {
        let cost = largest(contender)?;
        let [initial, per_item, auxiliary, classifier] = contender.in_the_paper();
        let both = |measured: String, paper: &str| match paper {
            "" | "-" => measured,
            paper => format!("{measured} ({paper})"),
        };
        Some(vec![
            contender.name().to_string(),
            cost.n.to_string(),
            both(seconds(cost.initial), initial),
            both(format!("{:.1} ns", 1e9 * cost.select / cost.n as f64), per_item),
            both(seconds(cost.auxiliary), auxiliary),
            both(seconds(cost.classifier), classifier),
            slope(&of(costs, contender)).map_or("-".into(), |slope| format!("n^{slope:.2}")),
        ])
    };
    let rows: Vec<Vec<String>> = CONTENDERS.into_iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        caption:
            "What the acquisitions cost at the largest pool each was timed on (table:comp_comparison; in brackets \
                  the paper's order of growth). The last column is the measured growth of acquisition and selection."
                .into(),
        header: ["", "items", "initial", "per item", "auxiliary update", "classifier update", "growth"]
            .map(String::from)
            .to_vec(),
        rows,
        numeric: vec![false, true, true, true, true, true, true],
    })
}

/// The slope of the logarithm of the time over that of n, on the upper half of the sizes.
fn slope(costs: &[&Cost]) -> Option<f64> {
    let upper = &costs[costs.len().saturating_sub(costs.len().div_ceil(2)).min(costs.len().saturating_sub(2))..];
    if upper.len() < 2 {
        return None;
    }
    let points: Vec<(f64, f64)> = upper.iter().map(|c| (libm::log(c.n as f64), libm::log(c.select))).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (up, down) = points.iter().fold((0.0, 0.0), |(u, d), p| (u + (p.0 - x) * (p.1 - y), d + (p.0 - x) * (p.0 - x)));
    Some(up / down)
}

fn findings(costs: &[Cost]) -> Vec<Finding> {
    let growth = |contender| slope(&of(costs, contender));
    let (Some(dense), Some(variance)) = (growth(Contender::VOptDense), growth(Contender::Variance(Policy::Max))) else {
        return Vec::new();
    };
    let within = |slope: f64, low: f64, high: f64| (low..=high).contains(&slope);
    let verdict = match (within(dense, 1.6, 2.4), within(variance, 0.5, 1.3)) {
        (true, true) => Verdict::Supported,
        (false, false) => Verdict::NotSupported,
        _ => Verdict::Mixed,
    };
    let mut findings = vec![Finding {
        claim: "Full VOpt is quadratic and Dirichlet variance linear in the number of items.".into(),
        verdict,
        evidence: format!(
            "Measured growth of acquisition and selection: VOpt with its dense matrix n^{dense:.2}, Dirichlet variance \
             n^{variance:.2}. Without a dense matrix exact VOpt is linear too ({}).",
            growth(Contender::VOptFull).map_or("not measured".into(), |slope| format!("n^{slope:.2}"))
        ),
    }];
    findings.extend(far_cheaper(costs));
    findings
}

fn far_cheaper(costs: &[Cost]) -> Option<Finding> {
    let n = of(costs, Contender::McVOpt).iter().map(|cost| cost.n).max()?;
    let at = |contender| of(costs, contender).into_iter().find(|cost| cost.n == n).map(whole);
    let (ours, model) = (at(Contender::Variance(Policy::Max))?, at(Contender::McVOpt)?);
    Some(Finding {
        claim: "Dirichlet variance costs far less than its rivals.".into(),
        verdict: if model > 3.0 * ours { Verdict::Supported } else { Verdict::Mixed },
        evidence: format!(
            "A whole step (update and question) at {n} items: Dirichlet variance {:.1} ms, MCVOpt {:.1} ms, before the \
             eigenpairs that MCVOpt needs first.",
            1e3 * ours,
            1e3 * model
        ),
    })
}

fn whole(cost: &Cost) -> f64 {
    cost.select + cost.auxiliary + cost.classifier
}

fn tidy(costs: &[Cost]) -> Tidy {
    let row = |cost: &Cost| {
        vec![
            Cell::Text(cost.contender.name().into()),
            Cell::Integer(cost.n as i64),
            Cell::Number(cost.initial),
            Cell::Number(cost.select),
            Cell::Number(cost.auxiliary),
            Cell::Number(cost.classifier),
        ]
    };
    let header =
        vec!["method", "items", "initial_seconds", "select_seconds", "auxiliary_seconds", "classifier_seconds"];
    Tidy { stem: "timing".into(), header, rows: costs.iter().map(row).collect() }
}
