//! `dial simulate`: every method on the same trials, recorded question by question.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use dial::local::{Regime, Solving};
use dial::methods::{Method, Workbench};
use dial::models::ModelName;
use dial::simulate::{Initial, Plan, Record, Truth, trial, trials};
use dial::{
    Control, Items, Kernel, NodeId, Options, Policy, Precision, Prior, Score, Session, Setting,
    Suited,
};
use dial_data::write::{Cell, csv_text, write_csv};
use serde_json::json;

use crate::args::{AskingArgs, InitialName, PropagationName, Simulate, Tau};
use crate::failure::Failure;
use crate::maps;
use crate::memory::{self, Work};
use crate::output::{Output, count};
use crate::outputs;
use crate::prepare;
use crate::saved;
use crate::summary;

/// A method, judged by one model, with the records of its trials.
pub struct Run {
    /// What makes an item worth asking.
    pub method: Method,
    /// How it is chosen.
    pub policy: Policy,
    /// What classifies.
    pub model: ModelName,
    /// The records of every trial, with the accuracy of the model.
    pub trials: Vec<Vec<Record>>,
}

impl Run {
    /// The name of the method in figures and tables.
    pub fn name(&self) -> String {
        let asked = match (self.method, self.policy) {
            (method @ (Method::Auto | Method::Score(Score::Random, _)), Policy::Max) => {
                method.to_string()
            }
            (method, policy) => format!("{method}, {policy}"),
        };
        match self.model {
            ModelName::Dirichlet => asked,
            model => format!("{asked}, {model}"),
        }
    }
}

/// Runs the command.
pub fn run(args: &Simulate, output: &Output) -> Result<(), Failure> {
    let args = &settled(args);
    args.asking
        .plot
        .iter()
        .try_for_each(|file| summary::check_figure(file))?;
    if output.json
        && args
            .asking
            .out
            .as_ref()
            .is_some_and(|file| file.as_os_str() == "-")
    {
        return Err(Failure::settings(
            "--out - and --json both want stdout. Give --out a file.".into(),
        ));
    }
    let table = args
        .asking
        .out
        .iter()
        .filter(|file| file.as_os_str() != "-");
    let files: Vec<&Path> = table
        .chain(&args.asking.plot)
        .map(PathBuf::as_path)
        .collect();
    let inputs = args.pool.inputs(args.saved.saved.as_deref());
    outputs::check(&files, &args.pool.pool, &inputs)?;
    maps::check(args.maps.as_deref(), &args.pool.pool, &inputs)?;
    prepare::check_kernel(&args.kernel)?;
    let pool = prepare::open(&args.pool, &args.graph, work(args, 10), output)?;
    outputs::spare_pictures(&files, &pool)?;
    args.maps
        .as_ref()
        .map_or(Ok(()), |_| maps::scene(&pool).map(|_| ()))?;
    let truth = prepare::truth(&pool, args.asking.modulo)?;
    let shape = memory::Shape::of(&pool, args.graph.k.number(pool.matrix.n));
    // Now that the classes are counted; what is needed was said before.
    let quiet = Output {
        quiet: true,
        ..*output
    };
    memory::check(
        shape,
        args.graph.memory_limit,
        work(args, truth.names.len()),
        &quiet,
    )?;
    // Before the graph is built, so that nobody waits for a refusal.
    initial(&args.asking.initial, &prepare::items(&pool)?, &truth)?;
    let whole = args.kernel.precision == Precision::Faithful;
    let built = saved::load_or_build(
        &pool,
        &args.graph,
        (args.saved.saved.as_ref(), whole),
        args.pool.how.zero_vectors,
        output,
    )?;
    let auto = args.asking.acquisition.contains(&Method::Auto);
    if auto
        && args
            .saved
            .saved
            .as_ref()
            .map(saved::kernel)
            .transpose()?
            .is_some_and(|kernel| kernel != Kernel::Symmetric)
    {
        output.note("note: auto does best on symmetric weights: save the graph with dial graph --kernel symmetric.");
    }
    if auto && args.asking.acquisition.len() > 1 {
        output
            .note("note: beside auto all acquisitions have its weights, tau and reading; alone they have the paper's.");
    }
    let setting = built.setting(&args.kernel, output)?;
    let asking = &args.asking;
    let bench = || built.workbench(prepare::metric(&pool, &args.graph), asking.eigenpairs);
    let runs = methods(&setting, &bench, &truth, asking, output)?;
    let crowded = runs
        .iter()
        .flat_map(|run| &run.trials)
        .flatten()
        .filter(|record| record.crowded)
        .count();
    if crowded > 0 {
        output.note(&format!(
            "note: {crowded} questions had to be asked in one batch with a neighbour: use a smaller --batch."
        ));
    }
    // The records first: from them everything else can be made again.
    let printed = asking
        .out
        .as_ref()
        .is_some_and(|file| file.as_os_str() == "-");
    match &asking.out {
        Some(_) if printed => output.print(&csv_text(&COLUMNS, rows(&runs, asking.seed, &truth))),
        Some(file) => save_csv(&runs, asking.seed, &truth, file)?,
        None => {}
    }
    for file in &asking.plot {
        summary::write_figure(&summary::curves(&pool.name, &runs, &truth), file)?;
    }
    let mut files: Vec<PathBuf> = asking.out.iter().chain(&asking.plot).cloned().collect();
    if let Some(folder) = &args.maps {
        let session = first_trial(&setting, &bench, &truth, asking, output)?;
        files.extend(maps::write(
            folder,
            (&args.pool, &pool),
            &truth,
            &session,
            output,
        )?);
    }
    if printed {
        return Ok(());
    }
    report(&pool.name, &runs, &truth, asking, &files, output);
    Ok(())
}

/// The settings with what was not typed: that of `auto` where it asks, that of the paper elsewhere.
pub fn settled(typed: &Simulate) -> Simulate {
    let mut args = typed.clone();
    if args.asking.acquisition.is_empty() {
        // In certified precision people want speed, and auto takes a global solve a question.
        let poisson = args.kernel.propagation == PropagationName::Poisson
            && !matches!(
                args.kernel.tau,
                Some(Tau::Number(0.0) | Tau::TimesDegree(0.0))
            )
            && args.kernel.precision == Precision::Faithful;
        let score = Method::Score(Score::Variance, ModelName::Dirichlet);
        args.asking.acquisition = vec![if poisson { Method::Auto } else { score }];
    }
    let auto = args.asking.acquisition.contains(&Method::Auto);
    let suited = Suited::to(if auto {
        Method::Auto
    } else {
        args.asking.acquisition[0]
    });
    if args.saved.saved.is_none() {
        args.graph.kernel.get_or_insert(suited.kernel);
    }
    args.kernel.tau.get_or_insert(suited.tau);
    args.asking.belief.reading.get_or_insert(suited.reading);
    args
}

/// What the memory is for: trials run at once, and each holds three values an item and class (evidence, its residual or
/// checkpoint, the belief when it is scored), scores and a solve, but no columns.
fn work(args: &Simulate, classes: usize) -> Work {
    let columns = (3 * classes + 14) * args.asking.trials.min(rayon::current_num_threads());
    match (&args.saved.saved, args.kernel.precision) {
        (None, _) => Work::Label(columns),
        (Some(_), Precision::Faithful) => Work::LabelSaved(columns),
        (Some(_), Precision::Certified) => Work::Certify(columns),
    }
}

/// The nodes to label at the start. Items that are not there or whose label nobody knows are refused.
fn initial(typed: &InitialName, items: &Items, truth: &Truth) -> Result<Initial, Failure> {
    let ids = match typed {
        InitialName::OnePerClass => return Ok(Initial::OnePerClass),
        InitialName::None => return Ok(Initial::None),
        InitialName::Items(ids) => ids,
    };
    let node = |id: &String| {
        let node = items.node(id)?;
        if truth.classes[node.index()].is_none() {
            let text = format!("--initial: nobody knows the label of item {id:?}. Choose another.");
            return Err(Failure::input("I12", text));
        }
        Ok(node)
    };
    ids.iter()
        .map(node)
        .collect::<Result<Vec<NodeId>, Failure>>()
        .map(Initial::Nodes)
}

/// The workbench, made when a method needs it: plain scores need none, and no graph in f64.
type Bench<'b, 'a> = &'b dyn Fn() -> &'b Workbench<'a>;

/// Runs every method that was asked for.
fn methods<'a>(
    setting: &Setting<'a>,
    bench: Bench<'_, 'a>,
    truth: &Truth,
    asking: &AskingArgs,
    output: &Output,
) -> Result<Vec<Run>, Failure> {
    let mut pairs: Vec<(Method, Policy)> = Vec::new();
    for pair in asking
        .acquisition
        .iter()
        .flat_map(|&a| asking.policy.iter().map(move |&policy| (a, policy)))
    {
        // What was typed twice is run once.
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    run_all(setting, bench, truth, asking, pairs, output)
}

/// Runs the given pairs of acquisition and policy.
pub fn run_all<'a>(
    setting: &Setting<'a>,
    bench: Bench<'_, 'a>,
    truth: &Truth,
    asking: &AskingArgs,
    pairs: impl IntoIterator<Item = (Method, Policy)>,
    output: &Output,
) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for (method, policy) in pairs {
        runs.extend(run_method(
            setting,
            bench,
            truth,
            asking,
            (method, policy),
            output,
        )?);
    }
    Ok(runs)
}

/// Runs the trials of one method; a run for each model that classifies.
fn run_method<'a>(
    setting: &Setting<'a>,
    bench: Bench<'_, 'a>,
    truth: &Truth,
    asking: &AskingArgs,
    (method, policy): (Method, Policy),
    output: &Output,
) -> Result<Vec<Run>, Failure> {
    let control = output.control();
    let options = options(setting, bench, asking, (method, policy), &control)?;
    let prior = match (asking.belief.prior, policy) {
        (Prior::Constant(strength), _) => Some(strength),
        (Prior::Auto, _) if options.acquisition.prior().is_some() => options.acquisition.prior(),
        (Prior::Auto, Policy::Max | Policy::Uniform) => Some(1.0),
        _ => None,
    };
    if let Some((local, prior)) = setting.kernel.local().zip(prior) {
        output.note(&format!("note: {}.", solving(local.solving(prior))));
    }
    // What was typed twice is judged once.
    let mut models: Vec<ModelName> = Vec::new();
    for model in &asking.model {
        models.extend(Some(*model).filter(|model| !models.contains(model)));
    }
    let known = truth.classes.iter().flatten().count();
    let others: Vec<ModelName> = models
        .iter()
        .copied()
        .filter(|&model| model != ModelName::Dirichlet)
        .collect();
    let judges = others
        .iter()
        .map(|&model| bench().model(model, &control))
        .collect::<dial::Result<Vec<_>>>()?;
    let initial = initial(&asking.initial, &setting.items, truth)?;
    let score_every = asking
        .score_every
        .unwrap_or_else(|| match setting.kernel.local() {
            Some(_) => setting.items.len().div_ceil(SCORED),
            None => 1,
        });
    let plan = Plan {
        initial,
        queries: asking.queries,
        batch: asking.batch,
        judges,
        score_every,
        ..Plan::default()
    };
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    control.start(
        &format!("asking by {method}, {policy}"),
        asking.trials * asking.queries,
    );
    let trials = trials(
        setting,
        &options,
        truth,
        &plan,
        asking.trials,
        &clock,
        &control,
    )?;
    control.finish();
    let judged_by = |model: &ModelName| {
        let place = others.iter().position(|other| other == model);
        // Where every known item is labelled, none is left to be right or wrong on.
        let accuracy = |record: &Record| match record.labelled < known {
            true => place.map_or(record.accuracy, |place| record.judged[place]),
            false => f64::NAN,
        };
        let trial = |records: &Vec<Record>| {
            records
                .iter()
                .map(|record| Record {
                    accuracy: accuracy(record),
                    ..record.clone()
                })
                .collect()
        };
        Run {
            method,
            policy,
            model: *model,
            trials: trials.iter().map(trial).collect(),
        }
    };
    Ok(models.iter().map(judged_by).collect())
}

fn options<'a>(
    setting: &Setting<'a>,
    bench: Bench<'_, 'a>,
    asking: &AskingArgs,
    (method, policy): (Method, Policy),
    control: &Control,
) -> Result<Options<'a>, Failure> {
    Ok(Options {
        acquisition: match method {
            Method::Score(score, ModelName::Dirichlet) => Arc::new(score),
            method => bench().acquisition(method, &setting.kernel, control)?,
        },
        policy,
        sharpness: asking.belief.lambda,
        prior: asking.belief.prior,
        reading: asking.belief.reading.unwrap_or_default(),
        expected_clusters: asking.belief.expected_clusters,
        seed: asking.seed,
        ..Options::default()
    })
}

/// The first trial of the first method again, to see what it ends in.
fn first_trial<'a>(
    setting: &Setting<'a>,
    bench: Bench<'_, 'a>,
    truth: &Truth,
    asking: &AskingArgs,
    output: &Output,
) -> Result<Session<'a>, Failure> {
    let control = output.control();
    let options = options(
        setting,
        bench,
        asking,
        (asking.acquisition[0], asking.policy[0]),
        &control,
    )?;
    let initial = initial(&asking.initial, &setting.items, truth)?;
    let plan = Plan {
        initial,
        queries: asking.queries,
        batch: asking.batch,
        score_every: usize::MAX,
        ..Plan::default()
    };
    control.start("asking again for the maps", asking.queries);
    let (_, session) = trial(setting, &options, truth, &plan, &|| 0.0, &control)?;
    control.finish();
    Ok(session)
}

/// Up to so many items a certified run is scored after every question.
const SCORED: usize = 5_000;

/// How a certified session solves, in words.
fn solving(
    Solving {
        regime,
        tolerance,
        regime_number,
    }: Solving,
) -> String {
    match regime {
        Regime::Local => {
            format!(
                "certified precision by local solves to {tolerance:.1e} (regime number {regime_number:.2})"
            )
        }
        Regime::Global => format!(
            "certified precision by global solves, because local ones to {tolerance:.1e} would visit everything many times \
             (regime number {regime_number:.2}); --precision faithful is faster here"
        ),
    }
}

/// The columns that scripts rely on.
pub const COLUMNS: [&str; 12] = [
    "trial",
    "seed",
    "acquisition",
    "policy",
    "model",
    "query",
    "node",
    "class",
    "labelled",
    "accuracy",
    "clusters_found",
    "seconds",
];

fn rows<'a>(runs: &'a [Run], seed: u64, truth: &'a Truth) -> impl Iterator<Item = Vec<Cell>> + 'a {
    let of_trial = move |run: &'a Run, (trial, records): (usize, &'a Vec<Record>)| {
        records.iter().map(move |record| {
            vec![
                Cell::Integer(trial as i64),
                Cell::Text(seed.wrapping_add(trial as u64).to_string()),
                Cell::Text(run.method.to_string()),
                Cell::Text(run.policy.to_string()),
                Cell::Text(run.model.to_string()),
                Cell::Integer(record.query as i64),
                record
                    .node
                    .map_or(Cell::Empty, |node| Cell::Integer(i64::from(node.0))),
                record.class.map_or(Cell::Empty, |class| {
                    Cell::Text(truth.names[class.index()].clone())
                }),
                Cell::Integer(record.labelled as i64),
                if record.accuracy.is_nan() {
                    Cell::Empty
                } else {
                    Cell::Number(record.accuracy)
                },
                Cell::Integer(record.clusters_found as i64),
                Cell::Number(record.seconds),
            ]
        })
    };
    runs.iter().flat_map(move |run| {
        run.trials
            .iter()
            .enumerate()
            .flat_map(move |trial| of_trial(run, trial))
    })
}

/// Writes every question of every trial.
pub fn save_csv(runs: &[Run], seed: u64, truth: &Truth, file: &Path) -> Result<(), Failure> {
    Ok(write_csv(file, &COLUMNS, rows(runs, seed, truth))?)
}

fn report(
    pool: &str,
    runs: &[Run],
    truth: &Truth,
    asking: &AskingArgs,
    files: &[PathBuf],
    output: &Output,
) {
    let clusters = summary::n_clusters(truth);
    let text = format!(
        "{pool}: {} items, {} classes, {}; seed {}, {} of {}\n\n{}",
        truth.classes.len(),
        truth.names.len(),
        count(clusters, "cluster", "clusters"),
        asking.seed,
        count(asking.trials, "trial", "trials"),
        count(asking.queries, "question", "questions"),
        summary::table(runs, clusters),
    );
    let files = files.iter().map(|file| file.display().to_string());
    let text = files
        .clone()
        .fold(text + "\n", |text, file| format!("{text}wrote {file}\n"));
    let json = json!({
        "pool": pool,
        "items": truth.classes.len(),
        "classes": truth.names,
        "clusters": clusters,
        "seed": asking.seed,
        "trials": asking.trials,
        "queries": asking.queries,
        "methods": summary::json(runs),
        "files": files.collect::<Vec<_>>(),
    });
    output.result(text.trim_end_matches('\n').to_string().as_str(), &json);
    if !output.json {
        output.print("\n");
    }
}
