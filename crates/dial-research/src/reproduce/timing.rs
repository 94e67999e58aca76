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

mod findings;

use std::sync::Arc;
use std::time::Instant;

use dial::acquisition::Score;
use dial::belief::prior::Prior;
use dial::classifiers::Classifier;
use dial::seed::{Purpose, Random};
use dial::{Acquisition, Control, Metric, NodeId, Policy};
use dial_baselines::methods::{Method, Workbench};
use dial_baselines::models::ModelName;
use dial_baselines::variance_opt::ModelChange;
use serde_json::json;

use super::curves::{EIGENPAIRS, NEIGHBOURS, TAU, paper};
use super::dense::DenseOptimal;
use super::pools::{Dataset, Loaded, load};
use super::{LabError, Outcome, ReproduceOptions};

/// The ways of asking that are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    Random,
    Uncertainty,
    Variance(Policy),
    VOpt,
    SigmaOpt,
    McVOpt,
    VOptFull,
    SigmaOptFull,
    VOptDense,
    Land,
}

const CONTENDERS: [Contender; 11] = [
    Contender::Variance(Policy::Max),
    Contender::Variance(Policy::Proportional),
    Contender::Uncertainty,
    Contender::McVOpt,
    Contender::VOptDense,
    Contender::VOptFull,
    Contender::SigmaOptFull,
    Contender::VOpt,
    Contender::SigmaOpt,
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
            Contender::SigmaOpt => "ΣOpt (spectral)",
            Contender::McVOpt => "MCVOpt",
            Contender::VOptFull => "VOpt (Full, exact)",
            Contender::SigmaOptFull => "ΣOpt (Full, exact)",
            Contender::VOptDense => "VOpt (Full, dense matrix)",
            Contender::Land => "LAND",
        }
    }

    /// The largest pool it is timed on: quadratic memory and many solves end early.
    fn largest(self) -> usize {
        match self {
            Contender::VOptFull | Contender::SigmaOptFull | Contender::VOptDense => 8_000,
            Contender::Land => 16_000,
            _ => usize::MAX,
        }
    }

    /// Whether the figure shows it: ΣOpt costs what VOpt does, and the paper leaves it out as well.
    fn shown(self) -> bool {
        !matches!(self, Contender::SigmaOpt | Contender::SigmaOptFull)
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
pub fn run(settings: &ReproduceOptions, control: &Control) -> Result<Outcome, LabError> {
    let loaded = load(Dataset::Mnist, &settings.origin)?;
    let sizes: &[usize] = if settings.quick {
        &[200, 400]
    } else {
        &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000]
    };
    let mut costs = Vec::new();
    for &n in sizes.iter().filter(|&&n| n <= loaded.pool.matrix.n) {
        control.start(&format!("timing with {n} items"), CONTENDERS.len());
        let part = subset(&loaded, n, settings.seed);
        let (features, config) = (part.matrix.features()?, paper(Metric::Euclidean));
        let bench = Workbench::build(features, &config, EIGENPAIRS, &control.quiet())?;
        let starts = Starts::measure(&bench, n, &control.quiet())?;
        for contender in CONTENDERS
            .into_iter()
            .filter(|contender| n <= contender.largest())
        {
            costs.push(measure(
                contender,
                &part,
                &bench,
                &starts,
                settings,
                &control.quiet(),
            )?);
            control.advance(1)?;
        }
        control.finish();
    }
    let mut outcome = Outcome {
        trials: Some(settings.trials),
        ..Outcome::default()
    };
    outcome.figures.push(findings::figure(&costs));
    outcome.summaries.extend(findings::table(&costs));
    outcome.findings = findings::findings(&costs);
    outcome.tables.push(findings::tidy(&costs));
    outcome.settings.push(
        json!({ "pool": "mnist", "data": loaded.fingerprint, "sizes": sizes, "k": NEIGHBOURS,
        "tau": TAU, "eigenpairs": EIGENPAIRS, "threads": rayon::current_num_threads() }),
    );
    outcome.notes.push(format!(
        "times were taken with {} threads",
        rayon::current_num_threads()
    ));
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

/// Seconds for what several contenders begin with.
struct Starts {
    pairs: f64,
    moments: f64,
    land: f64,
}

impl Starts {
    /// Makes everything that contenders of this size need, so that none of them waits for it again.
    fn measure(bench: &Workbench<'_>, n: usize, control: &Control) -> Result<Starts, LabError> {
        let when = |contender: Contender, work: &dyn Fn() -> Result<(), LabError>| {
            if n <= contender.largest() {
                timed(work)
            } else {
                Ok(0.0)
            }
        };
        // The graph is built before and not counted for any of them.
        bench.graph()?;
        Ok(Starts {
            pairs: timed(|| Ok(bench.pairs(control)?))?,
            moments: when(Contender::VOptFull, &|| {
                Ok(bench.moments(control).map(|_| ())?)
            })?,
            land: when(Contender::Land, &|| Ok(bench.land(control).map(|_| ())?))?,
        })
    }

    /// What a contender begins with, beside what is measured for itself alone.
    fn of(&self, contender: Contender) -> f64 {
        match contender {
            Contender::VOpt | Contender::SigmaOpt | Contender::McVOpt => self.pairs,
            Contender::VOptFull | Contender::SigmaOptFull => self.moments,
            Contender::Land => self.pairs + self.land,
            _ => 0.0,
        }
    }
}

/// Times one contender: a few labels, then for each trial a label, a first ask and a second one.
fn measure(
    contender: Contender,
    pool: &dial_data::Pool,
    bench: &Workbench<'_>,
    starts: &Starts,
    settings: &ReproduceOptions,
    control: &Control,
) -> Result<Cost, LabError> {
    let n = pool.matrix.n;
    let start = Instant::now();
    let acquisition = acquisition(contender, bench, control)?;
    let own = if contender == Contender::VOptDense {
        start.elapsed().as_secs_f64()
    } else {
        0.0
    };
    let mut engine = bench.engine().clone().asking_by(acquisition);
    if let Contender::Variance(policy) = contender {
        engine.config.policy = policy;
    }
    engine.config.prior = Prior::Constant(0.01);
    engine.config.seed = settings.seed;
    let mut session = engine.session(&["0", "1", "2"], control)?;
    let truth = pool
        .truth
        .as_ref()
        .expect("the pool has labels")
        .modulo(3)?;
    let (mut select, mut auxiliary, mut classifier) = (Vec::new(), Vec::new(), Vec::new());
    let nodes =
        Random::new(settings.seed, Purpose::User, 1).distinct((5 + settings.trials).min(n), n);
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
        initial: starts.of(contender) + own,
        select: median(select),
        auxiliary: if keeps_state(contender) {
            median(auxiliary)
        } else {
            0.0
        },
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

fn keeps_state(contender: Contender) -> bool {
    use Contender::{McVOpt, SigmaOpt, SigmaOptFull, VOpt, VOptDense, VOptFull};
    matches!(
        contender,
        VOpt | SigmaOpt | McVOpt | VOptFull | SigmaOptFull | VOptDense
    )
}

fn acquisition<'a>(
    contender: Contender,
    bench: &Workbench<'a>,
    control: &Control,
) -> Result<Arc<dyn Acquisition + 'a>, LabError> {
    let named = |method| bench.acquisition(method, &bench.engine().propagation, control);
    Ok(match contender {
        Contender::Random => Arc::new(Score::Random),
        Contender::Uncertainty => Arc::new(Score::Margin),
        Contender::Variance(_) => Arc::new(Score::Variance),
        Contender::VOpt => named(Method::VOpt)?,
        Contender::SigmaOpt => named(Method::SigmaOpt)?,
        Contender::VOptFull => named(Method::VOptFull)?,
        Contender::SigmaOptFull => named(Method::SigmaOptFull)?,
        Contender::VOptDense => Arc::new(DenseOptimal::new(&*bench.graph()?, control)?),
        Contender::Land => named(Method::Land)?,
        // The margins are read from the field at hand, so that no solve is timed twice.
        Contender::McVOpt => Arc::new(ModelChange::new(
            bench.pairs(control)?,
            Arc::new(Score::Margin),
        )),
    })
}

fn timed<T>(work: impl FnOnce() -> Result<T, LabError>) -> Result<f64, LabError> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
