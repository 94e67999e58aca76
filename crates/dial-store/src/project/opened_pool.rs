//! From a recipe to what a session works on: the pool, and the engine on its graph.
//!
//! The graph is kept in the folder of the project and belongs to the features it was made from: where
//! these have changed, or the file is missing or damaged, it is made again.

use std::sync::Arc;

use dial::engine::SEARCH_SEED;
use dial::graph::packed::PackedGraph;
use dial::{Control, Engine, Items, Metric};
use dial_data::{Buffer, Fault, Fingerprint, GraphFile, Matrix, Pool, SavedGraph, write_graph};

use crate::error::{Error, Result};
use crate::project::folder::Folder;
use crate::recipe::Recipe;

/// Built-in pools are always the same.
const BUILTIN_SEED: u64 = 0;

/// The word for the search of a graph that was given.
const GIVEN: &str = "given";

/// A pool and what a session on it works on.
pub struct Material {
    /// The pool.
    pub pool: Pool,
    /// The recipe as it holds for this pool: with its fingerprint and the number of its items.
    pub recipe: Recipe,
    /// Whether the features are others than the recipe named.
    pub changed: bool,
    /// The graph, how labels spread over it, and how questions are asked.
    pub engine: Engine<'static>,
}

impl Material {
    /// Opens the pool of a recipe and makes everything; the graph comes from the folder if it fits.
    ///
    /// # Errors
    /// What reading the pool and building the graph may fail with; a graph that was given and is gone.
    pub fn open(recipe: &Recipe, folder: &Folder, control: &Control) -> Result<Material> {
        let (place, reading) = (recipe.pool_now(&folder.0), recipe.reading_now(&folder.0));
        let mut pool = dial_data::open(&place, &reading, BUILTIN_SEED, control)?;
        if recipe.config.drop_zero_rows && recipe.config.metric == Metric::Cosine {
            pool.drop_zero_rows()?;
        }
        let features = Fingerprint::of(&pool.matrix);
        let graph = match kept_graph(&pool, recipe, features, folder, control) {
            Some(graph) => Some(graph),
            None => given_graph(recipe, folder, pool.matrix.n, control)?,
        };
        Material::of(pool, recipe, graph, control)
    }

    /// The same for a pool that is there, on a graph if that is there too.
    ///
    /// # Errors
    /// As [`Material::open`].
    pub fn of(
        pool: Pool,
        recipe: &Recipe,
        graph: Option<PackedGraph>,
        control: &Control,
    ) -> Result<Material> {
        let fingerprint = Fingerprint::of(&pool.matrix).to_string();
        let changed = fingerprint != recipe.features || pool.matrix.n != recipe.items;
        let (features, config) = (pool.matrix.features()?, &recipe.config);
        let engine = match graph {
            Some(graph) => Engine::on(Arc::new(graph), Some(features), config, control)?,
            None => Engine::build(features, config, control)?,
        };
        let items = match &pool.ids {
            Some(ids) => Items::named(ids.clone())?,
            None => Items::rows(pool.matrix.n),
        };
        let askable = askable(&pool, &recipe.ignore_labels);
        let engine = engine.with_items(items).asking_only(askable);
        let recipe = Recipe {
            features: fingerprint,
            items: pool.matrix.n,
            config: engine.config.clone(),
            ..recipe.clone()
        };
        Ok(Material {
            pool,
            recipe,
            changed,
            engine,
        })
    }

    /// An engine without its pool: there is nothing to show of the items.
    pub fn bare(engine: Engine<'static>, recipe: Recipe) -> Material {
        let matrix = Matrix {
            values: Buffer::F64(Vec::new()),
            n: engine.items.len(),
            dim: 0,
        };
        Material {
            pool: Pool::new("", matrix),
            recipe,
            changed: false,
            engine,
        }
    }

    /// Keeps the graph in the folder of the project, unless the one there is the same.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn keep_graph(&self, folder: &Folder, control: &Control) -> Result<()> {
        let features = (self.pool.matrix.dim, Fingerprint::of(&self.pool.matrix));
        keep_graph(&self.engine, &self.recipe, folder, features, control)
    }
}

/// Keeps the graph of an engine in the folder of a project, unless the one there is the same: that of
/// features of so many columns.
///
/// # Errors
/// What writing may fail with.
pub fn keep_graph(
    engine: &Engine<'_>,
    recipe: &Recipe,
    folder: &Folder,
    (dim, features): (usize, Fingerprint),
    control: &Control,
) -> Result<()> {
    let Some(graph) = &engine.graph else {
        return Ok(());
    };
    let kept = GraphFile::open(folder.graph());
    if kept.is_ok_and(|file| fits(file.recipe(), recipe, features)) {
        return Ok(());
    }
    let search = match recipe.graph {
        Some(_) => GIVEN.to_string(),
        None => recipe.config.search.for_pool(graph.n(), dim).to_string(),
    };
    let of_file = dial_data::Recipe {
        k: recipe.config.k,
        weights: recipe.config.weights,
        metric: recipe.config.metric,
        search,
        seed: SEARCH_SEED,
        dim,
        features,
    };
    Ok(write_graph(&folder.graph(), graph, &of_file, control)?)
}

fn fits(file: &dial_data::Recipe, recipe: &Recipe, features: Fingerprint) -> bool {
    let config = &recipe.config;
    file.features == features
        && (file.k, file.weights, file.metric) == (config.k, config.weights, config.metric)
        && (file.search == GIVEN) == recipe.graph.is_some()
}

/// The graph of the folder, if it is whole and that of this pool: a cache, so anything wrong with it is no error.
fn kept_graph(
    pool: &Pool,
    recipe: &Recipe,
    features: Fingerprint,
    folder: &Folder,
    control: &Control,
) -> Option<PackedGraph> {
    let file = GraphFile::open(folder.graph()).ok()?;
    if file.n() != pool.matrix.n || !fits(file.recipe(), recipe, features) {
        return None;
    }
    file.verify(&control.quiet()).ok()?;
    let graph = file.graph().ok()?;
    let given = recipe
        .graph
        .as_ref()
        .map(|given| given.fingerprint.as_str());
    given
        .is_none_or(|given| Fingerprint::of_graph(&graph).to_string() == given)
        .then_some(graph)
}

/// The graph that a project was made with, from the file it came from.
fn given_graph(
    recipe: &Recipe,
    folder: &Folder,
    n: usize,
    control: &Control,
) -> Result<Option<PackedGraph>> {
    let Some(given) = &recipe.graph else {
        return Ok(None);
    };
    let file = recipe.found(&given.file, &folder.0);
    let gone = |why: String| Error::Place {
        place: file.display().to_string(),
        why,
        next: "Put the graph that the project was made with back there, or make a new project."
            .into(),
    };
    let unreadable = |error: dial_data::Error| match error.fault {
        Fault::Core(dial::Error::Cancelled) => error.into(),
        Fault::Missing => gone("is not there, and the project has no copy of it".into()),
        // What is wrong with it; what to do is another thing here.
        fault => gone(
            fault
                .to_string()
                .split(". ")
                .next()
                .unwrap_or_default()
                .into(),
        ),
    };
    let graph = SavedGraph::open(&file, control).map_err(unreadable)?.graph;
    if graph.n() != n || Fingerprint::of_graph(&graph).to_string() != given.fingerprint {
        return Err(gone(
            "is not the graph that the project was made with".into(),
        ));
    }
    Ok(Some(graph))
}

/// All items but those whose known label is one of these.
fn askable(pool: &Pool, ignored: &[String]) -> Option<Arc<Vec<bool>>> {
    let truth = pool.truth.as_ref().filter(|_| !ignored.is_empty())?;
    let asked = |label: &Option<u16>| {
        let class = label.and_then(|class| truth.classes.get(usize::from(class)));
        class.is_none_or(|class| !ignored.contains(class))
    };
    Some(Arc::new(truth.labels.iter().map(asked).collect()))
}
