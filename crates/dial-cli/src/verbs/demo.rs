//! `dial demo`: the tour. Labels a built-in pool by simulation, DiAL against margin and random, and writes a report.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use dial::acquisition::Score;
use dial::belief::calibration::Accuracy;
use dial::simulate::{Initial, Plan, Truth, scored, trial};
use dial::{Choices, NodeId, Policy, Prediction, Session};
use dial_baselines::comparison::{Comparison, Run};
use dial_baselines::methods::Method;
use dial_baselines::models::ModelName;
use dial_data::{Pool, write::write_whole};
use dial_plot::chart::to_svg;
use dial_plot::report::{Confusion, Figure, Gallery, Report, Step, Table, render};
use serde_json::json;

use crate::cli::args::{Demo, GraphArgs, PoolArgs};
use crate::plan::checks;
use crate::plan::memory::Work;
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::items;
use crate::ui::output::{Output, count};
use crate::ui::summary;
use crate::verbs::simulate::{self, name};

/// Runs the command.
pub fn run(args: &Demo, output: &Output) -> Result<(), Failure> {
    let started = Instant::now();
    let typed = PoolArgs {
        pool: args.pool.clone(),
        how: args.how.clone(),
    };
    let graph = GraphArgs::default();
    let seed = Some(args.seed);
    let choices = Choices {
        seed,
        ..prepare::graph_choices(&args.how, &graph)
    };
    checks::check_folder(&args.out, "--out")?;
    if args.out.is_dir() {
        let files = files(args);
        checks::check(
            &files.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
            &args.pool,
            &typed.inputs(None),
        )?;
    }
    let pool = prepare::open(&typed, &graph, Work::Label(24), output)?;
    let truth = prepare::truth(&pool, None)?;
    let built = prepare::build(&pool, &choices, None, output)?;
    if !output.json {
        let (items, classes) = (truth.classes.len(), truth.names.len());
        output.print(&format!(
            "{}: {items} items, {classes} classes; their labels are hidden from DiAL.\n",
            pool.name
        ));
    }
    let score = |score| Method::Score(score, ModelName::Dirichlet);
    let comparison = Comparison {
        methods: vec![
            (Method::Auto, Policy::Max),
            (score(Score::Variance), Policy::Proportional),
            (score(Score::Margin), Policy::Max),
            (score(Score::Random), Policy::Max),
        ],
        models: vec![ModelName::Dirichlet],
        trials: args.trials,
    };
    let plan = Plan {
        initial: Initial::None,
        queries: args.queries,
        ..Plan::default()
    };
    let bench = built.workbench(1);
    let runs = simulate::compare(&comparison, &bench, &truth, &plan, output)?;
    // One labelling session, as a person would have had it.
    let (_, session) = trial(&built.engine, &truth, &plan, &|| 0.0, &dial::Control::new())?;
    let files = write(&pool, &truth, &runs, &session, args)?;
    say(
        (&pool, &args.pool),
        &truth,
        &runs,
        &session,
        &files,
        started,
        output,
    );
    Ok(())
}

/// Whether the person at the terminal wants to label the pool of the demo on the page.
pub fn wants_page(output: &Output) -> bool {
    let person = io::stdin().is_terminal() && io::stdout().is_terminal();
    if output.json || output.quiet || !person {
        return false;
    }
    print!("Open the labelling page with these items now? [y/N] ");
    let mut answer = String::new();
    let read = io::stdout()
        .flush()
        .and_then(|()| io::stdin().read_line(&mut answer));
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn write(
    pool: &Pool,
    truth: &Truth,
    runs: &[Run],
    session: &Session<'_>,
    args: &Demo,
) -> Result<Vec<PathBuf>, Failure> {
    std::fs::create_dir_all(&args.out).map_err(|error| storage(&args.out, &error))?;
    let canvas = summary::curves(&pool.name, runs, truth);
    let files = files(args);
    simulate::save_csv(runs, args.seed, truth, &files[3])?;
    let page = render(&report(pool, truth, runs, session, args, to_svg(&canvas)));
    write_whole(&files[0], |out| out.write_all(page.as_bytes()))?;
    summary::write_figure(&canvas, &files[1])?;
    summary::write_figure(&canvas, &files[2])?;
    Ok(files)
}

fn files(args: &Demo) -> Vec<PathBuf> {
    ["report.html", "curves.svg", "curves.png", "runs.csv"]
        .map(|name| args.out.join(name))
        .to_vec()
}

fn storage(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::storage(format!(
        "{}: {error}. Nothing was written. Choose another --out.",
        folder.display()
    ))
}

fn say(
    (pool, typed): (&Pool, &str),
    truth: &Truth,
    runs: &[Run],
    session: &Session<'_>,
    files: &[PathBuf],
    started: Instant,
    output: &Output,
) {
    let (right, all) = scored(session, session.field(), truth);
    let (accuracy, labelled) = (share(right, all), session.labelled().len());
    let known = if all + labelled < truth.classes.len() {
        " of known label"
    } else {
        ""
    };
    let first = match runs[0].trials.len() {
        1 => format!("In the only trial of {}: ", name(&runs[0])),
        many => format!(
            "In the first trial of {} (the table shows means over {many} trials): ",
            name(&runs[0])
        ),
    };
    let expected = expected(session).map_or(String::new(), |text| {
        format!(" From its labels alone DiAL expects {text}.")
    });
    let text = format!(
        "\n{}\n{first}after {} {:.1} % of the other {all} items{known} are classified right.{expected}\n\n\
         Open  {}\n\nWhat to type next:\n{}\n({:.1} s)\n",
        summary::table(runs, summary::n_clusters(truth)),
        count(labelled, "answer", "answers"),
        100.0 * accuracy,
        files[0].display(),
        next_steps(typed)
            .iter()
            .map(|step| format!("  {}\n      {}\n", step.command, step.what))
            .collect::<String>(),
        started.elapsed().as_secs_f64(),
    );
    let json = json!({
        "pool": pool.name,
        "labelled": labelled,
        "accuracy": accuracy,
        "expected": session.accuracy(&dial::Control::new()).ok().flatten(),
        "scored": all,
        "methods": summary::json(runs),
        "files": files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
    });
    output.result(&text, &json);
}

/// The accuracy to expect, in words; the labels that were not shown have no part in it.
fn expected(session: &Session<'_>) -> Option<String> {
    let Accuracy { mean, low, high } = session.accuracy(&dial::Control::new()).ok()??;
    Some(format!(
        "{:.1} % ({:.1} to {:.1} %)",
        100.0 * mean,
        100.0 * low,
        100.0 * high
    ))
}

fn next_steps(pool: &str) -> Vec<Step> {
    let step = |what: &str, command: &str| Step {
        what: what.into(),
        command: command.into(),
    };
    vec![
        step(
            "label the same items yourself, in the browser",
            &format!("dial label {pool}"),
        ),
        step(
            "label your own pictures",
            "dial label photos/ --classes cat,dog",
        ),
        step(
            "check whether a pool is fit for labelling",
            "dial doctor features.npz",
        ),
        step(
            "compare acquisitions where labels are known",
            "dial simulate builtin:blobs --acquisition auto,variance,random --plot curves.svg",
        ),
        step("everything else", "dial --help"),
    ]
}

fn report(
    pool: &Pool,
    truth: &Truth,
    runs: &[Run],
    session: &Session<'_>,
    args: &Demo,
    svg: String,
) -> Report {
    let labelled = session.labelled().len();
    let (right, all) = scored(session, session.field(), truth);
    let accuracy = share(right, all);
    Report {
        parts: Vec::new(),
        title: format!("DiAL on {}", pool.name),
        lead: format!(
            "{} items were labelled from the answers to {}. Each question was the item whose answer would settle \
             most: little or conflicting evidence about it, and much doubt around it. \
             {:.1} % of the {all} other items whose label is known are classified right. This is the first trial \
             (seed {}); figure and table show means over {}.",
            truth.classes.len(),
            count(labelled, "question", "questions"),
            100.0 * accuracy,
            args.seed,
            count(args.trials, "trial", "trials"),
        ),
        facts: [
            ("Items".into(), truth.classes.len().to_string()),
            ("Classes".into(), truth.names.len().to_string()),
            ("Labels given".into(), labelled.to_string()),
            (
                "Accuracy, first trial".into(),
                format!("{:.1} %", 100.0 * accuracy),
            ),
            ("Trials".into(), args.trials.to_string()),
            ("Seed".into(), args.seed.to_string()),
        ]
        .into_iter()
        .chain(expected(session).map(|text| ("Accuracy, expected".into(), text)))
        .collect(),
        figures: vec![Figure {
            caption: format!(
                "Left: share of unlabelled items classified right. Right: how many of the {} clusters have been met. \
                 Mean over {}; bands are 95 % confidence intervals of the mean. From no label auto asks the same in every trial, so \
                 it has none.",
                summary::n_clusters(truth),
                count(args.trials, "trial", "trials")
            ),
            svg,
        }],
        tables: vec![method_table(runs, truth)],
        confusion: Some(confusion(truth, session)),
        galleries: galleries(pool, truth, session),
        next: next_steps(&args.pool),
    }
}

fn method_table(runs: &[Run], truth: &Truth) -> Table {
    let mut rows = summary::rows(runs, summary::n_clusters(truth));
    let header = rows.remove(0);
    Table {
        caption: "Accuracy in % by number of questions, with 95 % confidence intervals.".into(),
        numeric: (0..header.len()).map(|column| column > 0).collect(),
        header,
        rows,
    }
}

/// Counts of true against predicted class over the unlabelled items.
fn confusion(truth: &Truth, session: &Session<'_>) -> Confusion {
    let mut counts = vec![vec![0; truth.names.len()]; truth.names.len()];
    for (node, class) in unlabelled(truth, session) {
        let believed = session.prediction(node).class;
        let plane = session
            .classes()
            .binary_search(&believed)
            .expect("a class of the session");
        counts[class][plane] += 1;
    }
    Confusion {
        classes: truth.names.clone(),
        counts,
    }
}

fn unlabelled<'t>(
    truth: &'t Truth,
    session: &'t Session<'_>,
) -> impl Iterator<Item = (NodeId, usize)> + 't {
    let known = (0..)
        .map(NodeId)
        .zip(&truth.classes)
        .filter_map(|(node, class)| Some((node, (*class)?.index())));
    known.filter(|(node, _)| session.labelled().binary_search(node).is_err())
}

/// Pictures of the items the machine is most and least sure of, and of those it was taught.
fn galleries(pool: &Pool, truth: &Truth, session: &Session<'_>) -> Vec<Gallery> {
    let mut nodes: Vec<NodeId> = unlabelled(truth, session).map(|(node, _)| node).collect();
    let surest = |node: NodeId| {
        session
            .prediction(node)
            .probabilities
            .into_iter()
            .fold(0.0, f64::max)
    };
    let mut sure: Vec<(f64, NodeId)> = nodes.iter().map(|&node| (surest(node), node)).collect();
    sure.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    nodes = sure.into_iter().map(|(_, node)| node).collect();
    let believed = |&node: &NodeId| {
        let Prediction {
            class,
            probabilities,
            ..
        } = session.prediction(node);
        let name = &truth.names[class.index()];
        let probability = probabilities.iter().copied().fold(0.0, f64::max);
        let wrong = truth.classes[node.index()]
            .filter(|&is| is != class)
            .map(|is| &truth.names[is.index()]);
        let verdict = wrong.map_or(String::new(), |is| format!(", is {is}"));
        items::gallery_item(
            pool,
            node,
            name.clone(),
            format!(
                "{}: p = {probability:.2}{verdict}",
                items::called(pool, node)
            ),
        )
    };
    let asked = |&node: &NodeId| {
        let name = truth.classes[node.index()]
            .map_or(String::new(), |class| truth.names[class.index()].clone());
        items::gallery_item(pool, node, name, items::called(pool, node))
    };
    let gallery = |title: &str, caption: &str, items| Gallery {
        title: title.into(),
        caption: caption.into(),
        items,
    };
    vec![
        gallery(
            "Most certain",
            "The unlabelled items with the most probable class, with the predicted class and its probability p, which \
             is calibrated on the answers.",
            nodes.iter().take(12).map(believed).collect(),
        ),
        gallery(
            "Least certain",
            "Where DiAL is most likely to be wrong.",
            nodes.iter().rev().take(12).map(believed).collect(),
        ),
        gallery(
            "What was asked",
            "Some of the answers that DiAL learnt from.",
            session.labelled().iter().take(24).map(asked).collect(),
        ),
    ]
}

/// The share of the scored items that is classified right.
fn share(right: usize, all: usize) -> f64 {
    right as f64 / all.max(1) as f64
}
