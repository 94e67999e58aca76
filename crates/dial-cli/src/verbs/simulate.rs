//! `dial simulate`: every method on the same trials, recorded question by question.

use std::path::{Path, PathBuf};
use std::time::Instant;

use dial::acquisition::Score;
use dial::graph::EdgeWeights;
use dial::linalg::local::{Regime, Solving};
use dial::propagation::certified::Precision;
use dial::simulate::{Classes, Initial, Plan, Truth, trial};
use dial::{Choices, Config, Engine, Items, NodeId, Policy, Session};
use dial_baselines::comparison::{self, Comparison, RECORD_COLUMNS, Run};
use dial_baselines::methods::{Method, Workbench};
use dial_baselines::models::ModelName;
use dial_data::row;
use dial_data::write::{Cell, csv_text, write_csv};
use serde_json::json;

use crate::cli::args::{AskingArgs, InitialName, Simulate};
use crate::plan::checks;
use crate::plan::memory::{self, Work};
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::maps;
use crate::ui::output::{Output, count};
use crate::ui::summary;

/// The name of a run in figures and tables.
pub fn name(run: &Run) -> String {
    let asked = match (run.method, run.policy) {
        (method @ (Method::Auto | Method::Score(Score::Random, _)), Policy::Max) => {
            method.to_string()
        }
        (method, policy) => format!("{method}, {policy}"),
    };
    match run.model {
        ModelName::Dirichlet => asked,
        model => format!("{asked}, {model}"),
    }
}

/// Runs the command.
pub fn run(args: &Simulate, output: &Output) -> Result<(), Failure> {
    let asking = &args.asking;
    let Chosen {
        choices,
        config,
        methods,
        policies,
    } = chosen(args)?;
    asking
        .plot
        .iter()
        .try_for_each(|file| summary::check_figure(file))?;
    if output.json
        && asking
            .out
            .as_ref()
            .is_some_and(|file| file.as_os_str() == "-")
    {
        let text = "--out - and --json both write to stdout. Give --out a file.";
        return Err(Failure::settings(text.into()));
    }
    let table = asking.out.iter().filter(|file| file.as_os_str() != "-");
    let files: Vec<&Path> = table.chain(&asking.plot).map(PathBuf::as_path).collect();
    let inputs = args.engine.pool.inputs(args.engine.saved.as_deref());
    checks::check(&files, &args.engine.pool.pool, &inputs)?;
    maps::check(args.maps.as_deref(), &args.engine.pool.pool, &inputs)?;
    if args.maps.is_some() && asking.classes == Classes::Met {
        let text = "--maps needs known classes. Leave out --classes met.";
        return Err(Failure::settings(text.into()));
    }
    let pool = prepare::open(
        &args.engine.pool,
        &args.engine.graph,
        work(args, &config, 10),
        output,
    )?;
    checks::spare_pictures(&files, &pool)?;
    args.maps
        .as_ref()
        .map_or(Ok(()), |_| maps::scene(&pool).map(|_| ()))?;
    let truth = prepare::truth(&pool, asking.modulo)?;
    let shape = memory::Shape::of(&pool, args.engine.graph.neighbours(pool.matrix.n));
    // Now that the classes are counted; what is needed was said before.
    let quiet = Output {
        quiet: true,
        ..*output
    };
    memory::check(
        shape,
        args.engine.graph.memory_limit,
        work(args, &config, truth.names.len()),
        &quiet,
    )?;
    // Before the graph is built, so that a refusal comes at once.
    initial(&asking.initial, &prepare::items(&pool)?, &truth)?;
    let built = prepare::build(&pool, &choices, args.engine.saved.as_ref(), output)?;
    beside_auto(&built.engine, &methods, output);
    let bench = built.workbench(asking.eigenpairs);
    let pairs = methods
        .iter()
        .flat_map(|&m| policies.iter().map(move |&p| (m, p)))
        .collect();
    let models = asking.model.clone();
    let comparison = Comparison {
        methods: pairs,
        models,
        trials: asking.trials,
    };
    let plan = plan(&built.engine, &truth, asking)?;
    let runs = compare(&comparison, &bench, &truth, &plan, output)?;
    let crowded = runs
        .iter()
        .flat_map(Run::rows)
        .filter(|row| row.record.crowded)
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
        Some(_) if printed => {
            output.print(&csv_text(&RECORD_COLUMNS, rows(&runs, config.seed, &truth)))
        }
        Some(file) => save_csv(&runs, config.seed, &truth, file)?,
        None => {}
    }
    for file in &asking.plot {
        summary::write_figure(&summary::curves(&pool.name, &runs, &truth), file)?;
    }
    let mut files: Vec<PathBuf> = asking.out.iter().chain(&asking.plot).cloned().collect();
    if let Some(folder) = &args.maps {
        let method = (methods[0], policies[0]);
        let session = first_trial(&bench, method, &truth, &plan, output)?;
        files.extend(maps::write(
            folder,
            (&args.engine.pool, &pool),
            &truth,
            &session,
            output,
        )?);
    }
    if printed {
        return Ok(());
    }
    let seed = config.seed;
    report(&pool.name, &runs, &truth, (asking, seed), &files, output);
    Ok(())
}

/// The arguments.
struct Chosen {
    choices: Choices,
    /// The choices with their defaults, checked.
    config: Config,
    methods: Vec<Method>,
    policies: Vec<Policy>,
}

/// What was typed, checked.
fn chosen(args: &Simulate) -> Result<Chosen, Failure> {
    let typed = &args.asking.acquisition;
    let mut choices = prepare::choices(&args.engine)?;
    args.asking.belief.choose(&mut choices);
    choices.seed = args.asking.seed;
    let choices = comparison::choices(typed, choices);
    let config = choices.config(usize::MAX)?;
    Ok(Chosen {
        methods: given(typed, config.acquisition.into()),
        policies: given(&args.asking.policy, config.policy),
        choices,
        config,
    })
}

/// What was given, or the default.
fn given<T: Clone>(typed: &[T], default: T) -> Vec<T> {
    match typed {
        [] => vec![default],
        some => some.to_vec(),
    }
}

/// Says what other methods have beside `auto`, and what `auto` would do better on.
fn beside_auto(engine: &Engine<'_>, methods: &[Method], output: &Output) {
    if !methods.contains(&Method::Auto) {
        return;
    }
    let weights = engine.config.weights;
    if weights.is_some_and(|weights| weights != EdgeWeights::Symmetric) {
        output.note("note: auto does best on symmetric weights: save the graph with dial graph --weights symmetric.");
    }
    if methods.len() > 1 {
        output.note("note: compared with auto, all acquisitions use its weights, tau and calibration; alone they use the paper's.");
    }
}

/// What the memory is for: trials run at once, and each holds three values an item and class (evidence, its residual or
/// checkpoint, the belief when it is scored), scores and a solve, but no columns.
fn work(args: &Simulate, config: &Config, classes: usize) -> Work {
    let columns = (3 * classes + 14) * args.asking.trials.min(rayon::current_num_threads());
    match (&args.engine.saved, config.precision) {
        (None, _) => Work::Label(columns),
        (Some(_), Precision::Faithful) => Work::LabelSaved(columns),
        (Some(_), Precision::Certified) => Work::Certify(columns),
    }
}

/// The nodes to label at the start. Unknown items and items without a known label are refused.
fn initial(typed: &InitialName, items: &Items, truth: &Truth) -> Result<Initial, Failure> {
    let ids = match typed {
        InitialName::OnePerClass => return Ok(Initial::OnePerClass),
        InitialName::None => return Ok(Initial::None),
        InitialName::Items(ids) => ids,
    };
    let node = |id: &String| {
        let node = items.node(id)?;
        if truth.classes[node.index()].is_none() {
            let text = format!("--initial: item {id:?} has no known label. Choose another.");
            return Err(Failure::input("I12", text));
        }
        Ok(node)
    };
    ids.iter()
        .map(node)
        .collect::<Result<Vec<NodeId>, Failure>>()
        .map(Initial::Nodes)
}

/// Runs a comparison by the clock.
pub fn compare<'a>(
    comparison: &Comparison,
    bench: &Workbench<'a>,
    truth: &Truth,
    plan: &Plan<'a>,
    output: &Output,
) -> Result<Vec<Run>, Failure> {
    let engine = bench.engine();
    if let Some((local, prior)) = engine.propagation.local().zip(engine.fixed_prior()) {
        output.note(&format!("note: {}.", solving(local.solving(prior))));
    }
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    Ok(comparison.run(bench, truth, plan, &clock, &output.control())?)
}

/// How much is asked.
fn plan<'a>(engine: &Engine<'a>, truth: &Truth, asking: &AskingArgs) -> Result<Plan<'a>, Failure> {
    Ok(Plan {
        initial: initial(&asking.initial, &engine.items, truth)?,
        classes: asking.classes,
        queries: asking.queries,
        batch: asking.batch,
        score_every: asking
            .score_every
            .unwrap_or_else(|| comparison::score_every(engine)),
        ..Plan::default()
    })
}

/// The first trial of a method again, to see what it ends in.
fn first_trial<'a>(
    bench: &Workbench<'a>,
    (method, policy): (Method, Policy),
    truth: &Truth,
    plan: &Plan<'a>,
    output: &Output,
) -> Result<Session<'a>, Failure> {
    let control = output.control();
    let mut engine = bench.asking_by(method, &control)?;
    engine.config.policy = policy;
    let plan = Plan {
        score_every: usize::MAX,
        ..plan.clone()
    };
    control.start("asking again for the maps", plan.queries);
    let (_, session) = trial(&engine, truth, &plan, &|| 0.0, &control)?;
    control.finish();
    Ok(session)
}

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

fn rows<'a>(runs: &'a [Run], seed: u64, truth: &'a Truth) -> impl Iterator<Item = Vec<Cell>> + 'a {
    runs.iter().flat_map(Run::rows).map(move |row| {
        let record = row.record;
        row![
            row.trial,
            seed.wrapping_add(row.trial as u64).to_string(),
            row.run.method.to_string(),
            row.run.policy.to_string(),
            row.run.model.to_string(),
            record.query,
            record.node.map(|node| node.0),
            record.class.map(|class| &*truth.names[class.index()]),
            record.labelled,
            Some(record.accuracy).filter(|accuracy| !accuracy.is_nan()),
            record.clusters_found,
            record.seconds,
        ]
    })
}

/// Writes every question of every trial.
pub fn save_csv(runs: &[Run], seed: u64, truth: &Truth, file: &Path) -> Result<(), Failure> {
    Ok(write_csv(file, &RECORD_COLUMNS, rows(runs, seed, truth))?)
}

fn report(
    pool: &str,
    runs: &[Run],
    truth: &Truth,
    (asking, seed): (&AskingArgs, u64),
    files: &[PathBuf],
    output: &Output,
) {
    let clusters = summary::n_clusters(truth);
    let text = format!(
        "{pool}: {} items, {} classes, {}; seed {}, {} of {}\n\n{}",
        truth.classes.len(),
        truth.names.len(),
        count(clusters, "cluster", "clusters"),
        seed,
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
        "seed": seed,
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
