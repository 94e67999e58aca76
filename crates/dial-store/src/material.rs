//! From a recipe to what a session works on: the pool, its graph, the kernel, the way of asking.
//!
//! The graph is kept in the folder of the project and belongs to the features it was made from: where these have changed,
//! or the file is missing or damaged, it is made again. A session always works on the weights as they are in the file
//! (f32), so that a project asks the same whether its graph was built just now or long ago.

use std::sync::Arc;

use dial::methods::Method;
use dial::models::ModelName;
use dial::{
    Acquisition, Certified, CompactGraph, Control, Doubt, Effort, Event, Features, Items, Lists,
    Metric, Neighbours, Options, Poisson, Precision, Propagation, Search, Session, Setting,
};
use dial_data::{Fingerprint, GraphFile, Pool, write_graph};

use crate::error::{Error, Result};
use crate::place::Folder;
use crate::recipe::Recipe;

/// The same pool always gets the same neighbours; built-in pools are always the same.
const SEED: u64 = 0;

/// What a session works on, whatever it was made from.
pub struct Ground {
    /// The recipe.
    pub recipe: Recipe,
    /// The kernel, the graph and the ids.
    pub setting: Setting<'static>,
    /// How to ask.
    pub options: Options<'static>,
    graph: CompactGraph,
}

impl Ground {
    /// Builds the graph of features.
    ///
    /// # Errors
    /// What building may fail with; an acquisition that a session on a graph alone cannot use.
    pub fn of(
        features: Features<'_>,
        items: Items,
        recipe: Recipe,
        control: &Control,
    ) -> Result<Ground> {
        let graph = build_graph(features, &recipe, control)?;
        Ground::on(graph, items, recipe, control)
    }

    /// The same on a graph that is there.
    ///
    /// # Errors
    /// As [`Ground::of`].
    pub fn on(
        graph: CompactGraph,
        items: Items,
        recipe: Recipe,
        control: &Control,
    ) -> Result<Ground> {
        let setting = setting(&graph, &recipe, items)?;
        let options = options(&setting, &recipe, control)?;
        Ok(Ground {
            recipe,
            setting,
            options,
            graph,
        })
    }

    /// Asks for these nodes only.
    pub fn asking_only(mut self, askable: Option<Arc<Vec<bool>>>) -> Ground {
        self.options.askable = askable;
        self
    }

    /// The graph.
    pub fn graph(&self) -> &CompactGraph {
        &self.graph
    }

    /// Keeps the graph in the folder of a project, unless the one there is the same: that of features of so many columns.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn keep_graph(
        &self,
        folder: &Folder,
        dim: usize,
        features: Fingerprint,
        control: &Control,
    ) -> Result<()> {
        match GraphFile::open(folder.graph())
            .is_ok_and(|file| fits(file.recipe(), &self.recipe, features))
        {
            true => Ok(()),
            false => {
                let of_file = file_recipe(&self.recipe, self.graph.n(), dim, features);
                Ok(write_graph(
                    &folder.graph(),
                    &self.graph,
                    &of_file,
                    control,
                )?)
            }
        }
    }

    /// A session with these events.
    ///
    /// # Errors
    /// Fewer than two classes (N12), or what a solve may fail with.
    pub fn session(
        &self,
        events: impl IntoIterator<Item = Event>,
        control: &Control,
    ) -> Result<Session<'static>> {
        Ok(Session::resume(
            self.setting.clone(),
            self.options.clone(),
            events,
            control,
        )?)
    }
}

/// A pool and what a session on it works on.
pub struct Material {
    /// The pool.
    pub pool: Pool,
    /// Whether the features are others than the recipe named.
    pub changed: bool,
    /// The rest; its recipe is as it holds for this pool: with its fingerprint and the number of its items.
    pub ground: Ground,
}

impl Material {
    /// Opens the pool of a recipe and makes everything; the graph comes from the folder if it fits.
    ///
    /// # Errors
    /// What reading the pool and building the graph may fail with; an acquisition that a project cannot use.
    pub fn open(recipe: &Recipe, folder: &Folder, control: &Control) -> Result<Material> {
        let mut pool = dial_data::open(
            &recipe.pool_now(&folder.0),
            &recipe.reading_now(&folder.0),
            SEED,
            control,
        )?;
        if recipe.drop_zero_rows && recipe.metric == Metric::Cosine {
            pool.drop_zero_rows()?;
        }
        Material::of(pool, recipe, Some(folder), control)
    }

    /// The same for a pool that is there.
    ///
    /// # Errors
    /// As [`Material::open`].
    pub fn of(
        pool: Pool,
        recipe: &Recipe,
        folder: Option<&Folder>,
        control: &Control,
    ) -> Result<Material> {
        let fingerprint = Fingerprint::of(&pool.matrix);
        let changed = fingerprint.to_string() != recipe.features || pool.matrix.n != recipe.items;
        let recipe = Recipe {
            features: fingerprint.to_string(),
            items: pool.matrix.n,
            ..recipe.clone()
        };
        let items = match &pool.ids {
            Some(ids) => Items::named(ids.clone())?,
            None => Items::rows(pool.matrix.n),
        };
        let askable = askable(&pool, &recipe.ignore_labels);
        let ground = match folder
            .and_then(|folder| saved_graph(&pool, &recipe, fingerprint, folder, control))
        {
            Some(graph) => Ground::on(graph, items, recipe, control)?,
            None => Ground::of(pool.matrix.features()?, items, recipe, control)?,
        };
        Ok(Material {
            pool,
            changed,
            ground: ground.asking_only(askable),
        })
    }

    /// Keeps the graph in the folder of the project, unless the one there is the same.
    ///
    /// # Errors
    /// What writing may fail with.
    pub fn keep_graph(&self, folder: &Folder, control: &Control) -> Result<()> {
        self.ground.keep_graph(
            folder,
            self.pool.matrix.dim,
            Fingerprint::of(&self.pool.matrix),
            control,
        )
    }
}

fn file_recipe(recipe: &Recipe, n: usize, dim: usize, features: Fingerprint) -> dial_data::Recipe {
    let search = recipe.search.for_pool(n, dim).to_string();
    let Recipe {
        k, kernel, metric, ..
    } = *recipe;
    dial_data::Recipe {
        k,
        kernel,
        metric,
        search,
        seed: SEED,
        dim,
        features,
    }
}

fn fits(file: &dial_data::Recipe, recipe: &Recipe, features: Fingerprint) -> bool {
    file.features == features
        && (file.k, file.kernel, file.metric) == (recipe.k, recipe.kernel, recipe.metric)
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

fn build_graph(features: Features<'_>, recipe: &Recipe, control: &Control) -> Result<CompactGraph> {
    let (k, metric, zero) = (recipe.k, recipe.metric, recipe.zero_vectors);
    let (neighbours, order) = match recipe.search.for_pool(features.n(), features.dim()) {
        Search::Approximate => {
            let found = Neighbours::approximate(
                features,
                k,
                metric,
                zero,
                SEED,
                Effort::default(),
                control,
            )?;
            (found.neighbours, Some(found.order))
        }
        _ => (Neighbours::exact(features, k, metric, zero, control)?, None),
    };
    Ok(CompactGraph::assemble(
        &Lists::from(&neighbours),
        recipe.kernel,
        order,
        control,
    )?)
}

fn setting(graph: &CompactGraph, recipe: &Recipe, items: Items) -> Result<Setting<'static>> {
    let degrees = &graph.parts().degrees;
    let tau = recipe
        .tau
        .value(degrees.iter().sum::<f64>() / degrees.len() as f64);
    Ok(match recipe.precision {
        Precision::Faithful => {
            let graph = Arc::new(graph.to_graph());
            let kernel = Arc::new(Poisson::new(Arc::clone(&graph), tau)?);
            Setting {
                kernel,
                graph: Some(graph),
                items,
            }
        }
        Precision::Certified => Setting {
            kernel: Arc::new(Certified::new(Arc::new(graph.clone()), tau)?),
            graph: None,
            items,
        },
    })
}

fn options(
    setting: &Setting<'static>,
    recipe: &Recipe,
    control: &Control,
) -> Result<Options<'static>> {
    Ok(Options {
        acquisition: acquisition(recipe.acquisition, &setting.kernel, control)?,
        policy: recipe.policy,
        sharpness: recipe.sharpness,
        prior: recipe.prior,
        reading: recipe.belief,
        seed: recipe.seed,
        ..Options::default()
    })
}

fn acquisition(
    method: Method,
    kernel: &Arc<dyn Propagation>,
    control: &Control,
) -> Result<Arc<dyn Acquisition>> {
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
        label
            .and_then(|class| truth.classes.get(usize::from(class)))
            .is_none_or(|class| !ignored.contains(class))
    };
    Some(Arc::new(truth.labels.iter().map(asked).collect()))
}
