//! Makes the pool, and the engine on its graph, from the arguments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dial::config::PropagationKind;
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::approximate::{Effort, Found};
use dial::propagation::certified::Precision;
use dial::simulate::Truth;
use dial::{Choices, Config, Engine, Features, Items, Metric, engine};
use dial_baselines::methods::Workbench;
use dial_data::{BUILTIN_SEED, Fingerprint, Pool, SavedGraph, Show};

use crate::cli::args::{EngineArgs, GraphArgs, PoolArgs, ReadArgs, ZeroRows};
use crate::plan::graph_file;
use crate::plan::memory::{self, Shape, Work};
use crate::ui::failure::Failure;
use crate::ui::output::Output;

/// What was typed about a graph, as choices.
pub fn graph_choices(how: &ReadArgs, graph: &GraphArgs) -> Choices {
    let mut choices = Choices::default();
    how.choose(&mut choices);
    graph.choose(&mut choices);
    choices
}

/// What was typed about a graph and how labels spread on it, as choices.
pub fn choices(args: &EngineArgs) -> Result<Choices, Failure> {
    let mut choices = graph_choices(&args.pool.how, &args.graph);
    args.propagation.choose(&mut choices);
    Ok(choices)
}

/// The same for verbs that ask no questions: as in the paper.
pub fn paper(choices: Choices) -> Choices {
    Choices {
        acquisition: Some(Config::paper().acquisition),
        ..choices
    }
}

/// Refuses contradictory choices, before anything is read.
pub fn check(choices: &Choices) -> Result<(), Failure> {
    choices.config(usize::MAX)?;
    Ok(())
}

/// Opens the pool, takes away the labels that are to be ignored, and prints its notes.
pub fn open(
    args: &PoolArgs,
    graph: &GraphArgs,
    work: Work,
    output: &Output,
) -> Result<Pool, Failure> {
    opened(args, graph, work, dial_data::Truth::ignore, output)
}

/// The same with all labels: a project does not ask for items whose label is ignored, but shows them.
pub fn open_to_label(
    args: &PoolArgs,
    graph: &GraphArgs,
    work: Work,
    output: &Output,
) -> Result<Pool, Failure> {
    let keep = |truth: &mut dial_data::Truth, label: &str| {
        truth.classes.iter().any(|class| class == label.trim())
    };
    opened(args, graph, work, keep, output)
}

/// Opens the pool; `ignore` is what becomes of a label that is to be ignored, and says whether there is one.
fn opened(
    args: &PoolArgs,
    graph: &GraphArgs,
    work: Work,
    ignore: fn(&mut dial_data::Truth, &str) -> bool,
    output: &Output,
) -> Result<Pool, Failure> {
    let foreseen = memory::before_reading(&args.pool, args.how.kind, graph, work, output)?;
    let mut pool = dial_data::open(&args.pool, &args.options(), BUILTIN_SEED, &output.control())?;
    if args.how.zero_vectors == Some(ZeroRows::Drop) {
        pool.drop_zero_rows_under(metric(&pool, graph))?;
    }
    let ignored = &args.how.ignore_label;
    for label in ignored {
        if !pool
            .truth
            .as_mut()
            .is_some_and(|truth| ignore(truth, label))
        {
            pool.notes
                .push(format!("no item has the label {label:?} of --ignore-label"));
        }
    }
    let zero = |pool: &Pool| {
        pool.truth
            .as_ref()
            .is_some_and(|truth| truth.classes.iter().any(|class| class == "0"))
            && !ignored.iter().any(|label| label == "0")
    };
    if matches!(pool.show, Show::Scene(_)) && zero(&pool) {
        pool.notes.push(
            "label 0 counts as a class here; if it is background, add --ignore-label 0".into(),
        );
    }
    for note in &pool.notes {
        output.note(&format!("note: {note}"));
    }
    if !foreseen {
        memory::check(
            Shape::of(&pool, graph.neighbours(pool.matrix.n)),
            graph.memory_limit,
            work,
            output,
        )?;
    }
    Ok(pool)
}

/// The metric as typed, or the one the features are made for.
pub fn metric(pool: &Pool, args: &GraphArgs) -> Metric {
    args.metric.unwrap_or(pool.metric)
}

/// A pool with its engine.
pub struct Built<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The neighbours, unless the graph is from a file.
    pub neighbours: Option<Arc<Neighbours>>,
    /// The graph, how labels spread over it, and how questions are asked.
    pub engine: Engine<'static>,
}

/// The configuration of a pool. The metric is the one the features are made for, unless one was typed.
pub fn config(pool: &Pool, mut choices: Choices, output: &Output) -> Result<Config, Failure> {
    choices.metric.get_or_insert(pool.metric);
    let config = choices.config(pool.matrix.n)?;
    if config.k < Config::default().k && choices.k.is_none() && pool.matrix.n > 1 {
        let (k, n) = (config.k, pool.matrix.n);
        output.note(&format!(
            "note[I8]: k = {k}, because there are only {n} items."
        ));
    }
    Ok(config)
}

/// The engine of a pool, on the graph of a file if one is given, else on one that is built.
pub fn build<'a>(
    pool: &'a Pool,
    choices: &Choices,
    file: Option<&PathBuf>,
    output: &Output,
) -> Result<Built<'a>, Failure> {
    let (features, items) = (pool.matrix.features()?, items(pool)?);
    let (neighbours, engine) = match file {
        Some(file) => {
            let (saved, choices) = load(pool, choices, file, output)?;
            let config = config(pool, choices, output)?;
            component_note(&saved.graph, output);
            let graph = Arc::new(saved.graph);
            (
                None,
                Engine::on(graph, Some(features), &config, &output.control())?,
            )
        }
        None => {
            let config = config(pool, choices.clone(), output)?;
            let found = search(pool, &config, output)?;
            let engine = Engine::of(features, &found, &config, &output.control())?;
            graph_notes(&engine, features, output);
            (Some(Arc::new(found.neighbours)), engine)
        }
    };
    let engine = engine.with_items(items);
    faint(&engine)
        .iter()
        .for_each(|warning| output.note(warning));
    Ok(Built {
        features,
        neighbours,
        engine,
    })
}

/// The graph of a file, and the choices with what the file says about it. One whose graph will be taken into memory whole
/// is verified whole; one that is mapped is checked for what could go out of range.
pub fn load(
    pool: &Pool,
    choices: &Choices,
    file: &Path,
    output: &Output,
) -> Result<(SavedGraph, Choices), Failure> {
    let saved = match choices.config(pool.matrix.n)?.precision {
        Precision::Certified => SavedGraph::map(file)?,
        Precision::Faithful => SavedGraph::open(file, &output.control())?,
    };
    let mut choices = choices.clone();
    choices.given_graph = saved.made().is_none();
    if choices.given_graph && choices.weights.is_some() {
        let text = format!("{} holds the edge weights. Leave it out.", file.display());
        return Err(Failure::settings(format!(
            "--weights does not apply: {text}"
        )));
    }
    if let Some(provenance) = saved.made() {
        graph_file::agree(file, provenance, &choices)?;
        choices.k = Some(provenance.k);
        choices.metric = Some(provenance.metric);
        choices.weights = Some(provenance.weights);
        choices.search = provenance.search.parse().ok().or(choices.search);
    }
    saved.check_features(pool.matrix.n, &Fingerprint::of(&pool.matrix))?;
    let made = saved
        .provenance
        .as_ref()
        .map_or("a sparse matrix".to_string(), graph_file::words);
    output.note(&format!(
        "note: using the graph in {} ({made}).",
        file.display()
    ));
    Ok((saved, choices))
}

/// Finds the neighbours of every item of a pool, exactly or not, and says so where they are not exact.
pub fn search(pool: &Pool, config: &Config, output: &Output) -> Result<Found, Failure> {
    let found = engine::search(pool.matrix.features()?, config, &output.control());
    let found = found.map_err(|error| zero_row_by_id(pool, error))?;
    recall_note(&found, Effort::default(), output);
    Ok(found)
}

/// Says how many of the true neighbours an approximate search found.
pub fn recall_note(found: &Found, effort: Effort, output: &Output) {
    if let Some(recall) = found.recall {
        output.note(&format!(
            "note: approximate neighbours; {:.1} % of the true ones were found for {} rows drawn at random. \
             --search exact finds all.",
            100.0 * recall,
            effort.sample.min(found.neighbours.n())
        ));
    }
}

/// Prints notes about a graph.
pub fn graph_notes(engine: &Engine<'_>, features: Features<'_>, output: &Output) {
    engine
        .graph
        .iter()
        .for_each(|graph| component_note(graph, output));
    let groups = features.duplicate_groups().len();
    if groups > 0 {
        let word = if groups == 1 { "group" } else { "groups" };
        output.note(&format!(
            "note[N4]: {groups} exact duplicate {word}; {COPIES_NOTE}"
        ));
    }
}

/// Says that a graph has several components, if it has.
pub fn component_note(graph: &PackedGraph, output: &Output) {
    let mut largest = graph.component_sizes().to_vec();
    if largest.len() > 1 {
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let some: Vec<String> = largest.iter().take(5).map(u64::to_string).collect();
        let more = if largest.len() > 5 { ", ..." } else { "" };
        output.note(&format!(
            "note[N1]: graph has {} components (sizes {}{more}); labels do not cross between them.",
            largest.len(),
            some.join(", ")
        ));
    }
}

/// How identical rows are treated.
pub const COPIES_NOTE: &str = "copies are neighbours at distance 0.";

/// The item ids of a pool.
pub fn items(pool: &Pool) -> Result<Items, Failure> {
    match &pool.ids {
        Some(ids) => Ok(Items::named(ids.clone())?),
        None => Ok(Items::rows(pool.matrix.n)),
    }
}

/// Names the first zero row by its id, where items have ids: the core knows rows only.
fn zero_row_by_id(pool: &Pool, error: dial::Error) -> Failure {
    match (&error, &pool.ids) {
        (dial::Error::ZeroVectors { first, .. }, Some(ids)) => {
            let id = format!("(first: id {:?})", ids[*first]);
            let text = error
                .to_string()
                .replace(&format!("(first: row {first})"), &id);
            Failure::pool(error.code(), text)
        }
        _ => error.into(),
    }
}

/// A warning where τ is so large that labels hardly leave their item.
pub fn faint(engine: &Engine<'_>) -> Option<String> {
    let graph = engine
        .graph
        .as_ref()
        .filter(|_| engine.config.propagation == PropagationKind::Poisson)?;
    let (tau, degrees) = (engine.tau()?, &graph.parts().degrees);
    let strength = |place: usize| {
        let largest = graph
            .row(place)
            .1
            .iter()
            .map(|&w| f64::from(w))
            .fold(0.0, f64::max);
        largest / (degrees[place] + tau)
    };
    let mut strengths: Vec<f64> = (0..graph.n()).map(strength).collect();
    let middle = strengths.len() / 2;
    let (_, &mut median, _) = strengths.select_nth_unstable_by(middle, f64::total_cmp);
    (median < 1e-3).then(|| {
        format!(
            "warn[N8]: with tau={tau} a label reaches its nearest neighbour with strength {median:.0e}; \
             predictions will stay at the prior. Try tau <= {:.1}.",
            10.0 * graph.mean_degree()
        )
    })
}

impl<'a> Built<'a> {
    /// What makes the methods of the paper for this pool.
    pub fn workbench(&self, eigenpairs: usize) -> Workbench<'a> {
        Workbench::new(
            &self.engine,
            self.features,
            self.neighbours.clone(),
            eigenpairs,
        )
    }
}

/// The known labels of a pool: classes (perhaps modulo a number) and clusters.
pub fn truth(pool: &Pool, modulo: Option<u16>) -> Result<Truth, Failure> {
    let Some(labels) = &pool.truth else {
        // Paths as ids: the pool is a folder.
        let inside = |ids: &Vec<String>| ids.iter().any(|id| id.contains('/'));
        let folder = matches!(pool.show, Show::Images(_) | Show::Texts(_))
            && pool.ids.as_ref().is_some_and(inside);
        let next = match pool.could_be_labels.as_slice() {
            [] if folder => {
                "Pass --folder-labels if the names of the sub-folders are the classes, or --labels FILE.".into()
            }
            [] => "Pass --labels FILE, or --label-column NAME for a column of a table or an array of a file.".into(),
            [only] => format!("Pass --label-column {only} if those are the labels, or --labels FILE."),
            many => format!("Pass --label-column NAME with one of {}, or --labels FILE.", many.join(", ")),
        };
        let detail =
            format!("this pool has no labels, so there is nothing to simulate with. {next}");
        return Err(Failure::pool("I12", detail));
    };
    let known = match modulo {
        Some(m) => labels.modulo(m)?,
        None => labels.clone(),
    };
    if known.classes.len() > 2 && known.classes.len() == known.known() {
        let count = known.known();
        let text = format!("each of the {count} labelled items has a different class");
        let next = "There is nothing to learn from classes of one item. Name the column of the classes with --label-column.";
        return Err(Failure::pool("I12", format!("{text}. {next}")));
    }
    if known.classes.len() < 2 {
        return Err(dial::Error::TooFewClasses(known.classes.len()).into());
    }
    Ok(known.for_simulation())
}
