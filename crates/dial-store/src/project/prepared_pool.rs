//! From a recipe to what a session works on: the pool, and the engine on its graph.
//!
//! The graph is kept in the folder of the project and belongs to the features it was made from: where
//! these have changed, or the file is missing or damaged, it is made again.

use std::sync::Arc;

use dial::engine::SEARCH_SEED;
use dial::graph::packed::PackedGraph;
use dial::{Control, Engine, Items};
use dial_data::{
    BUILTIN_SEED, Buffer, Fault, Fingerprint, GraphFile, Matrix, Pool, SavedGraph, graph_file,
    write_graph,
};

use crate::error::{Error, Result};
use crate::exchange::labels_file::{ImportedLabel, ItemName, LabelContent};
use crate::project::folder::{Folder, make_private};
use crate::recipe::Recipe;

/// A pool and what a session on it works on.
pub struct PreparedPool {
    /// The pool.
    pub pool: Pool,
    /// The recipe as it holds for this pool: with its fingerprint and the number of its items.
    pub recipe: Recipe,
    /// Whether the features are others than the recipe named.
    pub changed: bool,
    /// How many items are not asked because another one shows the same.
    pub copies: usize,
    /// The graph, how labels spread over it, and how questions are asked.
    pub engine: Engine<'static>,
}

impl PreparedPool {
    /// Opens the pool of a recipe and makes everything; the graph comes from the folder if it fits.
    ///
    /// # Errors
    /// What reading the pool and building the graph may fail with; a graph that was given and is gone.
    pub fn open(recipe: &Recipe, folder: &Folder, control: &Control) -> Result<PreparedPool> {
        let (place, reading) = (recipe.pool_now(&folder.0), recipe.reading_now(&folder.0));
        let mut pool = dial_data::open(&place, &reading, BUILTIN_SEED, control)?;
        if recipe.config.drop_zero_rows {
            pool.drop_zero_rows_under(recipe.config.metric)?;
        }
        let features = Fingerprint::of(&pool.matrix);
        let graph = match kept_graph(&pool, recipe, features, folder, control) {
            Some(graph) => Some(graph),
            None => given_graph(recipe, folder, pool.matrix.n, control)?,
        };
        PreparedPool::of(pool, recipe, graph, control)
    }

    /// The same for a pool that is there, on a graph if that is there too.
    ///
    /// # Errors
    /// As [`PreparedPool::open`].
    pub fn of(
        pool: Pool,
        recipe: &Recipe,
        graph: Option<PackedGraph>,
        control: &Control,
    ) -> Result<PreparedPool> {
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
        let (askable, copies) = askable(&pool, recipe, control)?;
        let engine = engine.with_items(items).asking_only(askable);
        let mut reading = recipe.reading.clone();
        if let Some(embed) = &mut reading.embed {
            embed.fingerprint = pool.model.clone();
        }
        let recipe = Recipe {
            reading,
            features: fingerprint,
            text_features: pool.text_features,
            items: pool.matrix.n,
            config: engine.config.clone(),
            ..recipe.clone()
        };
        Ok(PreparedPool {
            pool,
            recipe,
            changed,
            copies,
            engine,
        })
    }

    /// An engine without its pool: there is nothing to show of the items.
    pub fn bare(engine: Engine<'static>, recipe: Recipe) -> PreparedPool {
        let matrix = Matrix {
            values: Buffer::F64(Vec::new()),
            n: engine.items.len(),
            dim: 0,
        };
        PreparedPool {
            pool: Pool::new("", matrix),
            recipe,
            changed: false,
            copies: 0,
            engine,
        }
    }

    /// The known label of a row, unless it is one that is not asked for.
    fn known_class(&self, row: usize) -> Option<&String> {
        let truth = self.pool.truth.as_ref()?;
        let class = truth.classes.get(usize::from((*truth.labels.get(row)?)?))?;
        (!self.recipe.ignore_labels.contains(class)).then_some(class)
    }

    /// How many of the items that may be asked the pool itself has labels for; 0 where it has all of them, and nothing would
    /// be left to label, and of built-in pools, whose labels are there to compare with.
    pub fn partly_known(&self) -> usize {
        let n = self.engine.items.len();
        if self.recipe.pool.starts_with("builtin:") {
            return 0;
        }
        let askable = self.engine.askable.as_ref();
        let may = |row: &usize| askable.is_none_or(|askable| askable[*row]);
        let is_known = |row: &usize| self.known_class(*row).is_some();
        match (0..n).filter(may).all(|row| is_known(&row)) {
            true => 0,
            false => (0..n).filter(is_known).count(),
        }
    }

    /// Whether the pool itself has a label for an item.
    pub fn is_known(&self, item: &str) -> bool {
        let node = self.engine.items.node(item);
        node.is_ok_and(|node| self.known_class(node.index()).is_some())
    }

    /// The labels that the pool itself has.
    pub fn known_labels(&self) -> Vec<ImportedLabel> {
        let n = self.pool.matrix.n;
        let label = |row: usize| {
            let class = self.known_class(row)?;
            Some(ImportedLabel {
                item: ItemName::Row { row, rows: n },
                content: LabelContent::Label {
                    annotator: None,
                    classes: vec![(class.clone(), 1.0)],
                    order: None,
                    adjudicates: false,
                },
                place: format!("row {row}"),
            })
        };
        (0..n).filter_map(label).collect()
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
    if kept.is_ok_and(|file| fits(file.provenance(), recipe, features)) {
        return Ok(());
    }
    let search = match recipe.graph {
        Some(_) => graph_file::GIVEN.to_string(),
        None => recipe.config.search.for_pool(graph.n(), dim).to_string(),
    };
    let of_file = dial_data::GraphProvenance {
        k: recipe.config.k,
        weights: recipe.config.weights.unwrap_or_default(),
        metric: recipe.config.metric,
        search,
        seed: SEARCH_SEED,
        dim,
        features,
    };
    write_graph(&folder.graph(), graph, &of_file, control)?;
    make_private(&folder.graph())
}

fn fits(file: &dial_data::GraphProvenance, recipe: &Recipe, features: Fingerprint) -> bool {
    let config = &recipe.config;
    // How a given graph was made is not known; its fingerprint is compared once it is read.
    let made =
        (file.k, Some(file.weights), file.metric) == (config.k, config.weights, config.metric);
    file.features == features
        && file.is_given() == recipe.graph.is_some()
        && (file.is_given() || made)
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
    if file.n() != pool.matrix.n || !fits(file.provenance(), recipe, features) {
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

/// All items but those whose known label is not asked for and, of each group of copies that are asked once, all but the
/// first; and how many the latter are.
fn askable(
    pool: &Pool,
    recipe: &Recipe,
    control: &Control,
) -> Result<(Option<Arc<Vec<bool>>>, usize)> {
    let mut askable = by_label(pool, &recipe.ignore_labels);
    let mut copies = 0;
    for group in pool.copies(recipe.ask_once, control)? {
        let rows = askable.get_or_insert_with(|| vec![true; pool.matrix.n]);
        let asked = group.into_iter().filter(|&row| rows[row]);
        let others: Vec<usize> = asked.skip(1).collect();
        copies += others.len();
        others.into_iter().for_each(|row| rows[row] = false);
    }
    Ok((askable.map(Arc::new), copies))
}

/// All items but those whose known label is one of these.
fn by_label(pool: &Pool, ignored: &[String]) -> Option<Vec<bool>> {
    let truth = pool.truth.as_ref().filter(|_| !ignored.is_empty())?;
    let asked = |label: &Option<u16>| {
        let class = label.and_then(|class| truth.classes.get(usize::from(class)));
        class.is_none_or(|class| !ignored.contains(class))
    };
    Some(truth.labels.iter().map(asked).collect())
}
