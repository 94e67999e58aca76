//! From what was typed to what it means: the pool, its graph, the kernel.

use std::sync::{Arc, OnceLock};

use dial::methods::Workbench;
use dial::simulate::Truth;
use dial::{
    Certified, CompactGraph, Effort, Features, Found, Graph, Heat, Items, Metric, Neighbours,
    NodeId, Poisson, Precision, Propagation, Radial, Search, Setting, Shape as RadialShape,
    ZeroVectors,
};
use dial_data::{Pool, Show};

use crate::args::{GraphArgs, KernelArgs, Neighbourhood, PoolArgs, PropagationName, Tau, ZeroRows};
use crate::failure::Failure;
use crate::memory::{self, Shape, Work};
use crate::output::Output;

/// Built-in pools are always the same.
const BUILTIN_SEED: u64 = 0;

/// The same pool always gets the same neighbours.
pub const SEARCH_SEED: u64 = 0;

/// Opens the pool and says what was noticed on the way.
pub fn open(
    args: &PoolArgs,
    graph: &GraphArgs,
    work: Work,
    output: &Output,
) -> Result<Pool, Failure> {
    let foreseen = memory::before_reading(&args.pool, args.how.kind, graph, work, output)?;
    let mut pool = dial_data::open(
        &args.pool,
        &args.how.options(),
        BUILTIN_SEED,
        &output.control(),
    )?;
    if args.how.zero_vectors == ZeroRows::Drop && metric(&pool, graph) == Metric::Cosine {
        pool.drop_zero_rows()?;
    }
    for label in &args.how.ignore_label {
        if !pool.truth.as_mut().is_some_and(|truth| truth.ignore(label)) {
            pool.notes
                .push(format!("no item has the label {label:?} of --ignore-label"));
        }
    }
    let zero = |pool: &Pool| {
        pool.truth
            .as_ref()
            .is_some_and(|truth| truth.classes.iter().any(|class| class == "0"))
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
            Shape::of(&pool, graph.k.number(pool.matrix.n)),
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

/// τ as typed, or the paper's.
pub fn tau(args: &KernelArgs) -> Tau {
    args.tau.unwrap_or(Tau::Number(0.1))
}

/// Refuses settings of the propagation that do not go together, before anything is read.
pub fn check_kernel(args: &KernelArgs) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::settings(text.into()));
    match (args.precision, args.tolerance) {
        (Precision::Certified, _) if args.propagation != PropagationName::Poisson => {
            refuse("--precision certified is for --propagation poisson. Leave one of them out.")
        }
        (Precision::Certified, _) if args.tau == Some(Tau::Number(0.0)) => refuse(
            "--precision certified has no bound at --tau 0. Use a larger tau, or --precision faithful.",
        ),
        (Precision::Faithful, Some(_)) => {
            refuse("--tolerance is for --precision certified. Add that, or leave it out.")
        }
        (_, Some(tolerance)) if !(tolerance > 0.0 && tolerance <= 1.0) => {
            refuse("--tolerance must be above 0 and at most 1: a label counts 1 at its own item.")
        }
        _ => Ok(()),
    }
}

/// A pool with its neighbours and graph.
pub struct Built<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The neighbours, unless the graph is from a file.
    pub neighbours: Option<Arc<Neighbours>>,
    /// The item ids.
    pub items: Items,
    /// The graph, in one of its forms or both: one is made from the other when it is needed.
    wide: OnceLock<Arc<Graph>>,
    compact: OnceLock<Arc<CompactGraph>>,
    bench: OnceLock<Workbench<'a>>,
}

/// Builds the graph of a pool.
pub fn build<'a>(
    pool: &'a Pool,
    args: &GraphArgs,
    zero_rows: ZeroRows,
    output: &Output,
) -> Result<Built<'a>, Failure> {
    let features = pool.matrix.features()?;
    let neighbours = search(pool, args, zero_rows, output)?.neighbours;
    let graph = Arc::new(Graph::new(
        &neighbours,
        args.kernel.unwrap_or_default(),
        &output.control(),
    )?);
    let items = items(pool)?;
    graph_notes(&graph, features, output);
    let wide = OnceLock::from(graph);
    let (compact, bench) = (OnceLock::new(), OnceLock::new());
    Ok(Built {
        features,
        neighbours: Some(Arc::new(neighbours)),
        items,
        wide,
        compact,
        bench,
    })
}

/// A pool with a graph from a file.
pub fn with_graph<'a>(pool: &'a Pool, graph: CompactGraph) -> Result<Built<'a>, Failure> {
    let (features, items) = (pool.matrix.features()?, items(pool)?);
    let (wide, bench) = (OnceLock::new(), OnceLock::new());
    Ok(Built {
        features,
        neighbours: None,
        items,
        wide,
        compact: OnceLock::from(Arc::new(graph)),
        bench,
    })
}

/// The neighbours of a pool and how they were found.
pub struct Searched {
    /// The neighbours.
    pub neighbours: Neighbours,
    /// An order of the nodes in which neighbours are near each other, where the search gives one.
    pub order: Option<Vec<NodeId>>,
    /// Exact or approximate.
    pub search: Search,
}

/// Finds the neighbours of every item of a pool, exactly or not, and says so where they are not exact.
pub fn search(
    pool: &Pool,
    args: &GraphArgs,
    zero_rows: ZeroRows,
    output: &Output,
) -> Result<Searched, Failure> {
    let features = pool.matrix.features()?;
    let zero_vectors = match zero_rows {
        ZeroRows::Core(choice) => choice,
        ZeroRows::Drop => ZeroVectors::Error,
    };
    let k = args.k.number(pool.matrix.n);
    if k < Neighbourhood::DEFAULT && args.k == Neighbourhood::Auto && pool.matrix.n > 1 {
        output.note(&format!(
            "note[I8]: k = {k}, because there are only {} items.",
            pool.matrix.n
        ));
    }
    let (search, control) = (
        args.search.for_pool(features.n(), features.dim()),
        output.control(),
    );
    let failed = |error| zero_row_by_id(pool, error);
    if search == Search::Exact {
        let neighbours = Neighbours::exact(features, k, metric(pool, args), zero_vectors, &control)
            .map_err(failed)?;
        return Ok(Searched {
            neighbours,
            order: None,
            search,
        });
    }
    let effort = Effort::default();
    let found = Neighbours::approximate(
        features,
        k,
        metric(pool, args),
        zero_vectors,
        SEARCH_SEED,
        effort,
        &control,
    );
    let found = found.map_err(failed)?;
    recall_note(&found, effort, output);
    Ok(Searched {
        neighbours: found.neighbours,
        order: Some(found.order),
        search,
    })
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

/// Says what is worth knowing about a graph.
pub fn graph_notes(graph: &Graph, features: Features<'_>, output: &Output) {
    component_note(graph.component_sizes(), output);
    let groups = features.duplicate_groups().len();
    if groups > 0 {
        output.note(&format!(
            "note[N4]: {groups} exact duplicate {}; {COPIES}",
            if groups == 1 { "group" } else { "groups" }
        ));
    }
}

/// Says that a graph has several components, if it has.
pub fn component_note(sizes: &[usize], output: &Output) {
    if sizes.len() > 1 {
        let mut largest = sizes.to_vec();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let some: Vec<String> = largest.iter().take(5).map(usize::to_string).collect();
        let more = if largest.len() > 5 { ", ..." } else { "" };
        output.note(&format!(
            "note[N1]: graph has {} components (sizes {}{more}); labels do not cross between them.",
            sizes.len(),
            some.join(", ")
        ));
    }
}

/// What becomes of identical rows.
pub const COPIES: &str = "copies are neighbours at distance 0.";

/// The item ids of a pool.
pub fn items(pool: &Pool) -> Result<Items, Failure> {
    match &pool.ids {
        Some(ids) => Items::named(ids.clone()).map_err(|error| Failure::in_pool(&pool.name, error)),
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
            Failure::input(error.code(), format!("{}: {text}", pool.name))
        }
        _ => Failure::in_pool(&pool.name, error),
    }
}

impl<'a> Built<'a> {
    /// τ as a number.
    pub fn tau(&self, tau: Tau) -> f64 {
        tau.value(self.mean_degree())
    }

    /// The graph in node ids and f64.
    pub fn graph(&self) -> &Arc<Graph> {
        self.wide
            .get_or_init(|| Arc::new(self.compact.get().expect("one form is there").to_graph()))
    }

    /// The graph in its compact form.
    pub fn compact(&self) -> &Arc<CompactGraph> {
        self.compact.get_or_init(|| {
            Arc::new(CompactGraph::new(
                self.wide.get().expect("one form is there"),
            ))
        })
    }

    /// The weighted degrees of the nodes, in some order.
    fn degrees(&self) -> &[f64] {
        match self.wide.get() {
            Some(graph) => graph.degrees(),
            None => &self.compact().parts().degrees,
        }
    }

    /// The mean weighted degree.
    pub fn mean_degree(&self) -> f64 {
        let degrees = self.degrees();
        degrees.iter().sum::<f64>() / degrees.len() as f64
    }

    /// The mean Euclidean distance to the k-th neighbour, whatever the metric of the graph: radial kernels are Euclidean.
    ///
    /// # Errors
    /// A graph from a file, which has no neighbours.
    pub fn mean_reach(&self) -> Result<f64, Failure> {
        let Some(neighbours) = &self.neighbours else {
            let text = "a graph from a file does not tell how far neighbours are apart. Give --sigma, or leave --graph out.";
            return Err(Failure::settings(text.into()));
        };
        let last = |node: usize| {
            let (other, _) = neighbours.of(NodeId(node as u32)).last()?;
            Some(self.features.squared_distance(node, other.index()).sqrt())
        };
        let reaches: Vec<f64> = (0..self.features.n()).filter_map(last).collect();
        Ok(reaches.iter().sum::<f64>() / reaches.len() as f64)
    }

    /// The propagation that was asked for.
    pub fn kernel(
        &self,
        args: &KernelArgs,
        output: &Output,
    ) -> Result<Arc<dyn Propagation + 'a>, Failure> {
        let width = || args.sigma.map_or_else(|| self.mean_reach(), Ok);
        let radial =
            |shape| Radial::new(self.features, shape)?.with_source_value(args.source_value);
        Ok(match args.propagation {
            PropagationName::Rbf => Arc::new(radial(RadialShape::Rbf { sigma: width()? })?),
            PropagationName::Compact => {
                Arc::new(radial(RadialShape::Compact { radius: width()? })?)
            }
            PropagationName::Heat => {
                let heat = Heat::new(Arc::clone(self.graph()), args.heat_time)?;
                Arc::new(heat.with_source_value(args.source_value)?)
            }
            PropagationName::Poisson => {
                let tau = self.tau(tau(args));
                if let Some(warning) = self.faint(tau) {
                    output.note(&warning);
                }
                match args.precision {
                    Precision::Faithful => {
                        let poisson = Poisson::new(Arc::clone(self.graph()), tau)?;
                        Arc::new(poisson.with_source_value(args.source_value)?)
                    }
                    Precision::Certified => Arc::new(self.certified(args, tau)?),
                }
            }
        })
    }

    fn certified(&self, args: &KernelArgs, tau: f64) -> Result<Certified, Failure> {
        let certified = Certified::new(Arc::clone(self.compact()), tau)?;
        let certified = certified.with_source_value(args.source_value)?;
        Ok(match args.tolerance {
            Some(tolerance) => certified.with_tolerance(tolerance)?,
            None => certified,
        })
    }

    /// A warning where τ is so large that labels hardly leave their item.
    pub fn faint(&self, tau: f64) -> Option<String> {
        let largest = |node: usize| match self.wide.get() {
            Some(graph) => graph
                .row(NodeId(node as u32))
                .1
                .iter()
                .copied()
                .fold(0.0, f64::max),
            None => self
                .compact()
                .row(node)
                .1
                .iter()
                .map(|&w| f64::from(w))
                .fold(0.0, f64::max),
        };
        let degrees = self.degrees();
        let mut strengths: Vec<f64> = (0..degrees.len())
            .map(|node| largest(node) / (degrees[node] + tau))
            .collect();
        let middle = strengths.len() / 2;
        let (_, &mut median, _) = strengths.select_nth_unstable_by(middle, f64::total_cmp);
        (median < 1e-3).then(|| {
            format!(
                "warn[N8]: with tau={tau} a label reaches its nearest neighbour with strength {median:.0e}; \
                 predictions will stay at the prior. Try tau <= {:.1}.",
                10.0 * self.mean_degree()
            )
        })
    }

    /// What makes the methods of the paper for this pool.
    pub fn workbench(&self, metric: Metric, eigenpairs: usize) -> &Workbench<'a> {
        let make = || {
            Workbench::new(
                self.features,
                metric,
                self.neighbours.clone(),
                Arc::clone(self.graph()),
                eigenpairs,
            )
        };
        self.bench.get_or_init(make)
    }

    /// What a session works on.
    pub fn setting(&self, args: &KernelArgs, output: &Output) -> Result<Setting<'a>, Failure> {
        let kernel = self.kernel(args, output)?;
        // A certified kernel has the graph that batches need.
        let graph = (args.precision == Precision::Faithful).then(|| Arc::clone(self.graph()));
        Ok(Setting {
            kernel,
            graph,
            items: self.items.clone(),
        })
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
        let detail = format!(
            "{}: this pool has no labels, so there is nothing to simulate with. {next}",
            pool.name
        );
        return Err(Failure::input("I12", detail));
    };
    let known = match modulo {
        Some(m) => labels.modulo(m)?,
        None => labels.clone(),
    };
    if known.classes.len() > 2 && known.classes.len() == known.known() {
        let count = known.known();
        let text = format!(
            "{}: each of the {count} labelled items is a class of its own",
            pool.name
        );
        let next = "With no two alike there is nothing to learn. Name the column of the classes with --label-column.";
        return Err(Failure::input("I12", format!("{text}. {next}")));
    }
    if known.classes.len() < 2 {
        return Err(dial::Error::TooFewClasses(known.classes.len()).into());
    }
    Ok(known.for_simulation())
}
