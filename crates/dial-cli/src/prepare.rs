//! From what was typed to what it means: the pool, its graph, the kernel.

use std::sync::Arc;

use dial::methods::Workbench;
use dial::simulate::Truth;
use dial::{
    Effort, Features, Graph, Heat, Items, Metric, Neighbours, NodeId, Poisson, Propagation, Radial, Search, Setting,
    Shape, ZeroVectors,
};
use dial_data::{Pool, ReadOptions};

use crate::args::{GraphArgs, KernelArgs, Neighbourhood, PoolArgs, PropagationName, Tau, ZeroRows};
use crate::failure::Failure;
use crate::output::{Output, count};

/// Built-in pools are always the same.
const BUILTIN_SEED: u64 = 0;

/// The same pool always gets the same neighbours.
const SEARCH_SEED: u64 = 0;

/// Opens the pool and says what was noticed on the way.
pub fn open(args: &PoolArgs, metric: Metric, output: &Output) -> Result<Pool, Failure> {
    let options = ReadOptions {
        id_column: args.id_column.clone(),
        label_column: args.label_column.clone(),
        drop_columns: args.drop_column.clone(),
        drop_nonfinite: args.drop_nonfinite,
        skip_bad: args.skip_bad,
        skip_unknown: args.on_unknown == "skip",
        standardize: args.standardize,
        labels_file: args.labels.clone(),
        variable: args.variable.clone(),
    };
    let mut pool = dial_data::open(&args.pool, &options, BUILTIN_SEED)?;
    if args.zero_vectors == ZeroRows::Drop && metric == Metric::Cosine {
        drop_zero_rows(&mut pool)?;
    }
    for label in &args.ignore_label {
        if !pool.truth.as_mut().is_some_and(|truth| truth.ignore(label)) {
            pool.notes.push(format!("no item has the label {label:?} of --ignore-label"));
        }
    }
    for note in &pool.notes {
        output.note(&format!("note: {note}"));
    }
    Ok(pool)
}

fn drop_zero_rows(pool: &mut Pool) -> Result<(), Failure> {
    let zero = pool.matrix.zero_rows()?;
    if zero.is_empty() {
        return Ok(());
    }
    let keep: Vec<usize> = (0..pool.matrix.n).filter(|row| zero.binary_search(row).is_err()).collect();
    let first: Vec<String> = zero.iter().take(10).map(usize::to_string).collect();
    let more = if zero.len() > 10 { ", ..." } else { "" };
    let rows = |one, many| if zero.len() == 1 { one } else { many };
    pool.notes.push(format!(
        "{} of length zero {} left out ({} {}{more})",
        count(zero.len(), "row", "rows"),
        rows("was", "were"),
        rows("row", "rows"),
        first.join(", ")
    ));
    pool.select_rows(&keep);
    Ok(())
}

/// A pool with its neighbours and graph.
pub struct Built<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The neighbours.
    pub neighbours: Arc<Neighbours>,
    /// The graph.
    pub graph: Arc<Graph>,
    /// The item ids.
    pub items: Items,
}

/// Builds the graph of a pool.
pub fn build<'a>(pool: &'a Pool, args: &GraphArgs, zero_rows: ZeroRows, output: &Output) -> Result<Built<'a>, Failure> {
    let features = pool.matrix.features()?;
    let zero_vectors = match zero_rows {
        ZeroRows::Core(choice) => choice,
        ZeroRows::Drop => ZeroVectors::Error,
    };
    let k = args.k.number(pool.matrix.n);
    if k < Neighbourhood::DEFAULT && args.k == Neighbourhood::Auto {
        output.note(&format!("note[I8]: k = {k}, because there are only {} items.", pool.matrix.n));
    }
    let neighbours = search(features, k, args, zero_vectors, output).map_err(|error| zero_row_by_id(pool, error))?;
    let graph = Arc::new(Graph::new(&neighbours, args.kernel, &output.control())?);
    let items = items(pool)?;
    let sizes = graph.component_sizes();
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
    let groups = features.duplicate_groups().len();
    if groups > 0 {
        output.note(&format!(
            "note[N4]: {groups} exact duplicate {}; {COPIES}",
            if groups == 1 { "group" } else { "groups" }
        ));
    }
    Ok(Built { features, neighbours: Arc::new(neighbours), graph, items })
}

/// Finds the neighbours, exactly or not, and says so where they are not exact.
fn search(
    features: Features<'_>,
    k: usize,
    args: &GraphArgs,
    zero_vectors: ZeroVectors,
    output: &Output,
) -> dial::Result<Neighbours> {
    let control = output.control();
    if args.search.for_pool(features.n(), features.dim()) == Search::Exact {
        return Neighbours::exact(features, k, args.metric, zero_vectors, &control);
    }
    let effort = Effort::default();
    let found = Neighbours::approximate(features, k, args.metric, zero_vectors, SEARCH_SEED, effort, &control)?;
    if let Some(recall) = found.recall {
        output.note(&format!(
            "note: approximate neighbours; {:.1} % of the true ones were found for {} rows drawn at random. \
             --search exact finds all.",
            100.0 * recall,
            effort.sample.min(features.n())
        ));
    }
    Ok(found.neighbours)
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
            let text = error.to_string().replace(&format!("(first: row {first})"), &id);
            Failure::input(error.code(), format!("{}: {text}", pool.name))
        }
        _ => Failure::in_pool(&pool.name, error),
    }
}

impl<'a> Built<'a> {
    /// τ as a number.
    pub fn tau(&self, tau: Tau) -> f64 {
        match tau {
            Tau::Number(tau) => tau,
            Tau::TimesDegree(factor) => factor * self.mean_degree(),
        }
    }

    /// The mean weighted degree.
    pub fn mean_degree(&self) -> f64 {
        self.graph.degrees().iter().sum::<f64>() / self.graph.n() as f64
    }

    /// The mean Euclidean distance to the k-th neighbour, whatever the metric of the graph: radial kernels are Euclidean.
    pub fn mean_reach(&self) -> f64 {
        let last = |node: usize| {
            let (other, _) = self.neighbours.of(NodeId(node as u32)).last()?;
            Some(self.features.squared_distance(node, other.index()).sqrt())
        };
        let reaches: Vec<f64> = (0..self.graph.n()).filter_map(last).collect();
        reaches.iter().sum::<f64>() / reaches.len() as f64
    }

    /// The propagation that was asked for.
    pub fn kernel(&self, args: &KernelArgs, output: &Output) -> Result<Arc<dyn Propagation + 'a>, Failure> {
        let width = args.sigma.unwrap_or_else(|| self.mean_reach());
        let radial = |shape| Radial::new(self.features, shape)?.with_source_value(args.source_value);
        Ok(match args.propagation {
            PropagationName::Rbf => Arc::new(radial(Shape::Rbf { sigma: width })?),
            PropagationName::Compact => Arc::new(radial(Shape::Compact { radius: width })?),
            PropagationName::Heat => {
                let heat = Heat::new(Arc::clone(&self.graph), args.heat_time)?;
                Arc::new(heat.with_source_value(args.source_value)?)
            }
            PropagationName::Poisson => {
                let tau = self.tau(args.tau);
                let poisson = Poisson::new(Arc::clone(&self.graph), tau)?.with_source_value(args.source_value)?;
                if let Some(warning) = self.faint(tau) {
                    output.note(&warning);
                }
                Arc::new(poisson)
            }
        })
    }

    /// A warning where τ is so large that labels hardly leave their item.
    pub fn faint(&self, tau: f64) -> Option<String> {
        let strength = |node: usize| {
            let largest = self.graph.row(NodeId(node as u32)).1.iter().copied().fold(0.0, f64::max);
            largest / (self.graph.degrees()[node] + tau)
        };
        let mut strengths: Vec<f64> = (0..self.graph.n()).map(strength).collect();
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
    pub fn workbench(&self, metric: Metric, eigenpairs: usize) -> Workbench<'a> {
        Workbench::new(self.features, metric, Arc::clone(&self.neighbours), Arc::clone(&self.graph), eigenpairs)
    }

    /// What a session works on.
    pub fn setting(&self, args: &KernelArgs, output: &Output) -> Result<Setting<'a>, Failure> {
        let kernel = self.kernel(args, output)?;
        Ok(Setting { kernel, graph: Some(Arc::clone(&self.graph)), items: self.items.clone() })
    }
}

/// The known labels of a pool: classes (perhaps modulo a number) and clusters.
pub fn truth(pool: &Pool, modulo: Option<u16>) -> Result<Truth, Failure> {
    let Some(labels) = &pool.truth else {
        let next = match pool.could_be_labels.as_slice() {
            [] => "Pass --labels FILE, or --label-column NAME for a column of a table or an array of a file.".into(),
            [only] => format!("Pass --label-column {only} if those are the labels, or --labels FILE."),
            many => format!("Pass --label-column NAME with one of {}, or --labels FILE.", many.join(", ")),
        };
        let detail = format!("{}: this pool has no labels, so there is nothing to simulate with. {next}", pool.name);
        return Err(Failure::input("I12", detail));
    };
    let known = match modulo {
        Some(m) => labels.modulo(m)?,
        None => labels.clone(),
    };
    if known.classes.len() < 2 {
        return Err(dial::Error::TooFewClasses(known.classes.len()).into());
    }
    Ok(known.for_simulation())
}
