//! From a recipe to what a session works on: the pool, its graph, the kernel, the way of asking.
//!
//! The graph is kept in the folder of the project and belongs to the features it was made from: where these have changed,
//! or the file is missing or damaged, it is made again. A session always works on the weights as they are in the file
//! (f32), so that a project asks the same whether its graph was built just now or long ago.

use std::sync::Arc;

use dial::methods::Method;
use dial::models::ModelName;
use dial::{
    Acquisition, Certified, CompactGraph, Control, Doubt, Effort, Event, Items, Lists, Metric, Neighbours, Options,
    Poisson, Precision, Propagation, Search, Session, Setting,
};
use dial_data::{Fingerprint, GraphFile, Pool, write_graph};

use crate::error::{Error, Result};
use crate::place::Folder;
use crate::recipe::Recipe;

/// The same pool always gets the same neighbours; built-in pools are always the same.
const SEED: u64 = 0;

/// What a session works on.
pub struct Material {
    /// The pool.
    pub pool: Pool,
    /// The recipe as it holds for this pool: its fingerprint and the number of its items.
    pub recipe: Recipe,
    /// Whether the features are others than the recipe named.
    pub changed: bool,
    /// The kernel, the graph and the ids.
    pub setting: Setting<'static>,
    /// How to ask.
    pub options: Options<'static>,
    graph: CompactGraph,
}

impl Material {
    /// Opens the pool of a recipe and makes everything; the graph comes from the folder if it fits.
    ///
    /// # Errors
    /// What reading the pool and building the graph may fail with; an acquisition that a project cannot use.
    pub fn open(recipe: &Recipe, folder: &Folder, control: &Control) -> Result<Material> {
        let mut pool = dial_data::open(&recipe.pool_now(&folder.0), &recipe.reading_now(&folder.0), SEED, control)?;
        if recipe.drop_zero_rows && recipe.metric == Metric::Cosine {
            pool.drop_zero_rows()?;
        }
        Material::of(pool, recipe, Some(folder), control)
    }

    /// The same for a pool that is there.
    pub fn of(pool: Pool, recipe: &Recipe, folder: Option<&Folder>, control: &Control) -> Result<Material> {
        let fingerprint = Fingerprint::of(&pool.matrix);
        let changed = fingerprint.to_string() != recipe.features || pool.matrix.n != recipe.items;
        let recipe = Recipe { features: fingerprint.to_string(), items: pool.matrix.n, ..recipe.clone() };
        let graph = match folder.and_then(|folder| saved_graph(&pool, &recipe, fingerprint, folder, control)) {
            Some(graph) => graph,
            None => build_graph(&pool, &recipe, control)?,
        };
        let items = match &pool.ids {
            Some(ids) => Items::named(ids.clone())?,
            None => Items::rows(pool.matrix.n),
        };
        let setting = setting(&graph, &recipe, items)?;
        let options = options(&setting, &pool, &recipe, control)?;
        Ok(Material { pool, recipe, changed, setting, options, graph })
    }

    /// Keeps the graph in the folder of the project, unless the one there is the same.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn keep_graph(&self, folder: &Folder, control: &Control) -> Result<()> {
        let fingerprint = Fingerprint::of(&self.pool.matrix);
        let there = GraphFile::open(folder.graph()).is_ok_and(|file| fits(file.recipe(), &self.recipe, fingerprint));
        match there {
            true => Ok(()),
            false => Ok(write_graph(
                &folder.graph(),
                &self.graph,
                &file_recipe(&self.recipe, &self.pool, fingerprint),
                control,
            )?),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &CompactGraph {
        &self.graph
    }

    /// A session with these events.
    ///
    /// # Errors
    /// Fewer than two classes (N12), or what a solve may fail with.
    pub fn session(&self, events: impl IntoIterator<Item = Event>, control: &Control) -> Result<Session<'static>> {
        Ok(Session::resume(self.setting.clone(), self.options.clone(), events, control)?)
    }
}

fn file_recipe(recipe: &Recipe, pool: &Pool, features: Fingerprint) -> dial_data::Recipe {
    let search = recipe.search.for_pool(pool.matrix.n, pool.matrix.dim).to_string();
    let Recipe { k, kernel, metric, .. } = *recipe;
    dial_data::Recipe { k, kernel, metric, search, seed: SEED, dim: pool.matrix.dim, features }
}

fn fits(file: &dial_data::Recipe, recipe: &Recipe, features: Fingerprint) -> bool {
    file.features == features && (file.k, file.kernel, file.metric) == (recipe.k, recipe.kernel, recipe.metric)
}

/// The graph of the folder, if it is whole and that of this pool: a cache, so anything wrong with it is no error.
fn saved_graph(
    pool: &Pool,
    recipe: &Recipe,
    features: Fingerprint,
    folder: &Folder,
    control: &Control,
) -> Option<CompactGraph> {
    let file = GraphFile::open(folder.graph()).ok()?;
    if file.n() != pool.matrix.n || !fits(file.recipe(), recipe, features) {
        return None;
    }
    file.verify(&control.quiet()).ok()?;
    file.graph().ok()
}

fn build_graph(pool: &Pool, recipe: &Recipe, control: &Control) -> Result<CompactGraph> {
    let features = pool.matrix.features()?;
    let (k, metric, zero) = (recipe.k, recipe.metric, recipe.zero_vectors);
    let (neighbours, order) = match recipe.search.for_pool(features.n(), features.dim()) {
        Search::Approximate => {
            let found = Neighbours::approximate(features, k, metric, zero, SEED, Effort::default(), control)?;
            (found.neighbours, Some(found.order))
        }
        _ => (Neighbours::exact(features, k, metric, zero, control)?, None),
    };
    Ok(CompactGraph::assemble(&Lists::from(&neighbours), recipe.kernel, order, control)?)
}

fn setting(graph: &CompactGraph, recipe: &Recipe, items: Items) -> Result<Setting<'static>> {
    let degrees = &graph.parts().degrees;
    let tau = recipe.tau.value(degrees.iter().sum::<f64>() / degrees.len() as f64);
    Ok(match recipe.precision {
        Precision::Faithful => {
            let graph = Arc::new(graph.to_graph());
            let kernel = Arc::new(Poisson::new(Arc::clone(&graph), tau)?);
            Setting { kernel, graph: Some(graph), items }
        }
        Precision::Certified => {
            Setting { kernel: Arc::new(Certified::new(Arc::new(graph.clone()), tau)?), graph: None, items }
        }
    })
}

fn options(setting: &Setting<'static>, pool: &Pool, recipe: &Recipe, control: &Control) -> Result<Options<'static>> {
    Ok(Options {
        acquisition: acquisition(recipe.acquisition, &setting.kernel, control)?,
        policy: recipe.policy,
        sharpness: recipe.sharpness,
        prior: recipe.prior,
        reading: recipe.belief,
        seed: recipe.seed,
        askable: askable(pool, &recipe.ignore_labels),
        ..Options::default()
    })
}

fn acquisition(method: Method, kernel: &Arc<dyn Propagation>, control: &Control) -> Result<Arc<dyn Acquisition>> {
    match method {
        Method::Auto => Ok(Arc::new(Doubt::new(Arc::clone(kernel), control)?)),
        Method::Score(score, ModelName::Dirichlet) => Ok(Arc::new(score)),
        other => Err(Error::Submission(format!(
            "a project cannot ask by {other}: that is for comparisons (dial simulate). Use auto, or a score such as variance."
        ))),
    }
}

/// All items but those whose known label is one of these.
fn askable(pool: &Pool, ignored: &[String]) -> Option<Arc<Vec<bool>>> {
    let truth = pool.truth.as_ref().filter(|_| !ignored.is_empty())?;
    let asked = |label: &Option<u16>| {
        label.and_then(|class| truth.classes.get(usize::from(class))).is_none_or(|class| !ignored.contains(class))
    };
    Some(Arc::new(truth.labels.iter().map(asked).collect()))
}
