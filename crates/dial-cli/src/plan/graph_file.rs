//! Graphs in files of ours: saved by `dial graph`, used with `--graph`, looked at by `dial doctor`.

use std::ops::Range;
use std::path::Path;

use dial::engine::{SEARCH_SEED, graph_of};
use dial::graph::packed::PackedGraph;
use dial::knn::Neighbours;
use dial::knn::approximate::{Effort, Search};
use dial::knn::row_source::Rows;
use dial::{Choices, Config};
use dial_data::{
    Fingerprint, GraphFile, Pool, ReadOptions, Recipe, RowFile, RowReader, SavedGraph, write_graph,
};
use serde_json::json;

use crate::cli::args::{GraphArgs, PoolArgs, Size, ZeroRows};
use crate::plan::memory;
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// How the names of such files end.
pub const ENDING: &str = ".dialgraph";

/// Whether a path names a graph of ours.
pub fn is_graph(path: &Path) -> bool {
    path.to_string_lossy().ends_with(ENDING)
}

/// How a graph of features of so many columns was made.
fn recipe(config: &Config, n: usize, dim: usize, features: Fingerprint) -> Recipe {
    Recipe {
        k: config.k,
        weights: config.weights,
        metric: config.metric,
        search: config.search.for_pool(n, dim).to_string(),
        seed: SEARCH_SEED,
        dim,
        features,
    }
}

/// Saves the graph of a pool.
pub fn save(
    pool: &Pool,
    graph: &PackedGraph,
    config: &Config,
    file: &Path,
    output: &Output,
) -> Result<(), Failure> {
    let recipe = recipe(
        config,
        graph.n(),
        pool.matrix.dim,
        Fingerprint::of(&pool.matrix),
    );
    Ok(write_graph(file, graph, &recipe, &output.control())?)
}

/// The rows of a pool that need not be read whole: a large npy file, taken as it is.
pub fn rows_by_position(pool: &PoolArgs, args: &GraphArgs) -> Option<RowFile> {
    // Any option of reading but --standardize=no reads the file whole.
    let options = pool.how.options();
    let plain = ReadOptions {
        standardize: options.standardize.filter(|yes| !yes),
        ..ReadOptions::default()
    };
    let as_it_is = options == plain && pool.how.zero_vectors != ZeroRows::Drop;
    // Whatever is wrong with the file, its reader will say.
    let file = Some(&pool.pool)
        .filter(|name| as_it_is && name.ends_with(".npy"))
        .and_then(|name| RowFile::open(name).ok())?;
    Some(file).filter(|file| args.search.for_pool(file.n, file.dim) == Search::Approximate)
}

/// Builds the graph of rows that are read by position, as many at once as memory allows, and saves it.
pub fn save_rows(
    rows: &RowFile,
    choices: &Choices,
    limit: Option<Size>,
    file: &Path,
    output: &Output,
) -> Result<PackedGraph, Failure> {
    let (config, control) = (choices.config(rows.n)?, output.control());
    let memory = memory::for_rows(rows, config.k, limit, output)?;
    let effort = Effort {
        memory,
        ..Effort::default()
    };
    let reader = RowReader::new(rows);
    let read = |range: Range<usize>, out: &mut [f32]| reader.read(range, out);
    let source = Rows {
        n: rows.n,
        dim: rows.dim,
        read: &read,
    };
    let Config {
        k,
        metric,
        zero_vectors,
        ..
    } = config;
    let found = Neighbours::approximate_rows(
        source,
        k,
        metric,
        zero_vectors,
        SEARCH_SEED,
        effort,
        &control,
    );
    let found = found.map_err(|error| reader.explain(error))?;
    prepare::recall_note(&found, effort, output);
    let graph = graph_of(&found, &config, &control)?;
    drop(found);
    let recipe = recipe(&config, rows.n, rows.dim, rows.fingerprint(&control)?);
    write_graph(file, &graph, &recipe, &control)?;
    Ok(graph)
}

/// Refuses settings that were typed and contradict those of the file.
pub fn agree(path: &Path, recipe: &Recipe, typed: &Choices) -> Result<(), Failure> {
    let differs = |name: &str, typed: String, saved: String| {
        Err(Failure::settings(format!(
            "{}: was made with --{name} {saved}, not {typed}. Leave --{name} out, or build the graph again.",
            path.display()
        )))
    };
    match (typed.k, typed.metric, typed.weights) {
        (Some(k), ..) if k != recipe.k => differs("k", k.to_string(), recipe.k.to_string()),
        (_, Some(metric), _) if metric != recipe.metric => {
            differs("metric", metric.to_string(), recipe.metric.to_string())
        }
        (.., Some(weights)) if weights != recipe.weights => {
            differs("weights", weights.to_string(), recipe.weights.to_string())
        }
        _ => Ok(()),
    }
}

/// How a graph was made, in words.
pub fn words(recipe: &Recipe) -> String {
    let Recipe {
        k,
        weights,
        metric,
        search,
        ..
    } = recipe;
    format!("k = {k}, {metric}, {weights} weights, {search} search")
}

/// `dial doctor FILE` of a saved graph: what it is and, if asked for, whether every byte of it is right.
pub fn examine(path: &str, verify: bool, output: &Output) -> Result<(), Failure> {
    if path.ends_with(".npz") {
        return examine_matrix(path, output);
    }
    let file = GraphFile::open(path)?;
    if verify {
        file.verify(&output.control())?;
    }
    let recipe = file.recipe();
    let state = match verify {
        true => "Every checksum is right and the graph is sound.",
        false => "The header is right. Pass --verify to check everything.",
    };
    let text = format!(
        "{path}\n\n  items       {}\n  edges       {}\n  made with   {}\n  features    {}, fingerprint {}\n\n{state}\n",
        file.n(),
        file.entries() / 2,
        words(recipe),
        count(recipe.dim, "column", "columns"),
        recipe.features,
    );
    let json = json!({
        "graph": path,
        "items": file.n(),
        "edges": file.entries() / 2,
        "k": recipe.k,
        "metric": recipe.metric,
        "weights": recipe.weights,
        "search": recipe.search,
        "seed": recipe.seed,
        "dimensions": recipe.dim,
        "features": recipe.features.to_string(),
        "verified": verify,
    });
    output.result(&text, &json);
    Ok(())
}

/// The same for a sparse matrix, which says nothing of its features; reading it checks all of it.
fn examine_matrix(path: &str, output: &Output) -> Result<(), Failure> {
    let graph = SavedGraph::open(Path::new(path), &output.control())?.graph;
    let text = format!(
        "{path}\n\n  items       {}\n  edges       {}\n  made with   not recorded: a sparse matrix\n\nThe matrix is \
         symmetric and the graph is sound.\n",
        graph.n(),
        graph.entries() / 2,
    );
    let json = json!({
        "graph": path,
        "items": graph.n(),
        "edges": graph.entries() / 2,
        "verified": true,
    });
    output.result(&text, &json);
    Ok(())
}
