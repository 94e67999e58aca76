//! Graphs in files of ours: saved by `dial graph`, used with `--graph`, looked at by `dial doctor`.

use std::ops::Range;
use std::path::Path;

use dial::engine::{SEARCH_SEED, graph_of, search_rows};
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial::knn::approximate::{Effort, Search};
use dial::knn::row_source::Rows;
use dial::{Choices, Config};
use dial_data::{
    Fingerprint, GraphFile, GraphProvenance, Pool, ReadOptions, RowFile, RowReader, SavedGraph,
    SavedKind, write_graph,
};
use serde_json::json;

use crate::cli::args::{PoolArgs, Size, ZeroRows};
use crate::plan::memory;
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// How the names of such files end.
pub const GRAPH_FILE_ENDING: &str = ".dialgraph";

/// How the names of sparse matrices end.
const MATRIX_ENDING: &str = ".npz";

/// Refuses a file for a graph whose name says another format.
pub fn check_ending(path: &Path) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    if is_graph(path) || name.ends_with(MATRIX_ENDING) {
        return Ok(());
    }
    let text = format!(
        "{name}: a graph is saved as {GRAPH_FILE_ENDING} (opens at once) or {MATRIX_ENDING} (a sparse matrix, for other \
         programs too). Choose one of these endings."
    );
    Err(Failure::settings(text))
}

/// Whether `dial doctor` looks at a file as at a graph: by its content, and by its name where there is no such file.
pub fn holds_graph(path: &Path) -> bool {
    is_graph(path) || SavedGraph::kind(path).is_some()
}

fn is_matrix(path: &Path) -> bool {
    match SavedGraph::kind(path) {
        Some(kind) => kind == SavedKind::Matrix,
        None => path.to_string_lossy().ends_with(MATRIX_ENDING),
    }
}

/// Whether a path names a graph of ours.
pub fn is_graph(path: &Path) -> bool {
    path.to_string_lossy().ends_with(GRAPH_FILE_ENDING)
}

/// How a graph of features with dim columns was made.
fn provenance(config: &Config, n: usize, dim: usize, features: Fingerprint) -> GraphProvenance {
    GraphProvenance {
        k: config.k,
        weights: config.weights.unwrap_or_default(),
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
    let provenance = provenance(
        config,
        graph.n(),
        pool.matrix.dim,
        Fingerprint::of(&pool.matrix),
    );
    Ok(write_graph(file, graph, &provenance, &output.control())?)
}

/// The rows of a pool that need not be read whole: a large npy file, taken as it is.
pub fn rows_by_position(pool: &PoolArgs, choices: &Choices) -> Option<RowFile> {
    // Any option of reading but --standardize=no reads the file whole.
    let options = pool.options();
    let plain = ReadOptions {
        standardize: options.standardize.filter(|yes| !yes),
        ..ReadOptions::default()
    };
    let as_it_is = options == plain && pool.how.zero_vectors != Some(ZeroRows::Drop);
    // Whatever is wrong with the file, its reader will say.
    let file = Some(&pool.pool)
        .filter(|name| as_it_is && name.ends_with(".npy"))
        .and_then(|name| RowFile::open(name).ok())?;
    let search = choices.config(file.n).ok()?.search;
    Some(file).filter(|file| search.for_pool(file.n, file.dim) == Search::Approximate)
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
    let found =
        search_rows(source, &config, effort, &control).map_err(|error| reader.explain(error))?;
    prepare::recall_note(&found, effort, output);
    let graph = graph_of(
        &Lists::from(&found.neighbours),
        found.order.clone(),
        &config,
        &control,
    )?;
    drop(found);
    let provenance = provenance(&config, rows.n, rows.dim, rows.fingerprint(&control)?);
    write_graph(file, &graph, &provenance, &control)?;
    Ok(graph)
}

/// Refuses settings that were typed and contradict those of the file.
pub fn agree(path: &Path, provenance: &GraphProvenance, typed: &Choices) -> Result<(), Failure> {
    let differs = |name: &str, typed: String, saved: String| {
        Err(Failure::settings(format!(
            "{} was made with --{name} {saved}, not {typed}. Leave --{name} out, or build the graph again.",
            path.display()
        )))
    };
    match (typed.k, typed.metric, typed.weights) {
        (Some(k), ..) if k != provenance.k => differs("k", k.to_string(), provenance.k.to_string()),
        (_, Some(metric), _) if metric != provenance.metric => {
            differs("metric", metric.to_string(), provenance.metric.to_string())
        }
        (.., Some(weights)) if weights != provenance.weights => differs(
            "weights",
            weights.to_string(),
            provenance.weights.to_string(),
        ),
        _ => Ok(()),
    }
}

/// How a graph was made, in words.
pub fn words(provenance: &GraphProvenance) -> String {
    if provenance.is_given() {
        return "how it was made is not recorded".into();
    }
    let GraphProvenance {
        k,
        weights,
        metric,
        search,
        ..
    } = provenance;
    format!("k = {k}, {metric}, {weights} weights, {search} search")
}

/// `dial doctor FILE` of a saved graph: what it is and, if asked for, whether every byte of it is right.
pub fn examine(path: &str, verify: bool, output: &Output) -> Result<(), Failure> {
    if is_matrix(Path::new(path)) {
        return examine_matrix(path, output);
    }
    let file = GraphFile::open(path)?;
    if verify {
        file.verify(&output.control())?;
    }
    let provenance = file.provenance();
    let state = match verify {
        true => "All checksums match and the structure of the graph is valid.",
        false => "The header is valid. Pass --verify to check everything.",
    };
    let text = format!(
        "{path}\n\n  items       {}\n  edges       {}\n  made with   {}\n  features    {}, fingerprint {}\n\n{state}\n",
        file.n(),
        file.entries() / 2,
        words(provenance),
        count(provenance.dim, "column", "columns"),
        provenance.features,
    );
    let json = json!({
        "graph": path,
        "items": file.n(),
        "edges": file.entries() / 2,
        "k": Some(provenance.k).filter(|_| !provenance.is_given()),
        "metric": provenance.metric,
        "weights": Some(provenance.weights).filter(|_| !provenance.is_given()),
        "search": provenance.search,
        "seed": provenance.seed,
        "dimensions": provenance.dim,
        "features": provenance.features.to_string(),
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
