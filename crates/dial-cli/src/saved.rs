//! Graphs in files of ours: saved by `dial graph`, used with `--graph`, looked at by `dial doctor`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dial::{CompactGraph, Effort, Kernel, Lists, Neighbours, Rows, Search, ZeroVectors};
use dial_data::{
    Fingerprint, GraphFile, Pool, ReadOptions, Recipe, RowFile, RowReader, write_graph,
};
use serde_json::json;

use crate::args::{GraphArgs, Neighbourhood, PoolArgs, ZeroRows};
use crate::failure::Failure;
use crate::memory;
use crate::output::{Output, count};
use crate::prepare::{self, Built, Searched};

/// How the names of such files end.
pub const ENDING: &str = ".dialgraph";

/// Whether a path names a graph of ours.
pub fn is_graph(path: &Path) -> bool {
    path.to_string_lossy().ends_with(ENDING)
}

/// Builds the compact graph of a pool and saves it.
pub fn save(
    pool: &Pool,
    args: &GraphArgs,
    zero_rows: ZeroRows,
    file: &Path,
    output: &Output,
) -> Result<CompactGraph, Failure> {
    let Searched {
        neighbours,
        order,
        search,
    } = prepare::search(pool, args, zero_rows, output)?;
    let graph = CompactGraph::assemble(
        &Lists::from(&neighbours),
        args.kernel.unwrap_or_default(),
        order,
        &output.control(),
    )?;
    let recipe = Recipe {
        k: neighbours.k(),
        kernel: args.kernel.unwrap_or_default(),
        metric: prepare::metric(pool, args),
        search: search.to_string(),
        seed: prepare::SEARCH_SEED,
        dim: pool.matrix.dim,
        features: Fingerprint::of(&pool.matrix),
    };
    drop(neighbours);
    write_graph(file, &graph, &recipe, &output.control())?;
    Ok(graph)
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

/// Builds the compact graph of rows that are read by position, as many at once as memory allows, and saves it.
pub fn save_rows(
    rows: &RowFile,
    args: &GraphArgs,
    zero_rows: ZeroRows,
    file: &Path,
    output: &Output,
) -> Result<CompactGraph, Failure> {
    let (k, control) = (args.k.number(rows.n), output.control());
    let effort = Effort {
        memory: memory::for_rows(rows, k, args.memory_limit, output)?,
        ..Effort::default()
    };
    let zero_vectors = match zero_rows {
        ZeroRows::Core(choice) => choice,
        ZeroRows::Drop => ZeroVectors::Error,
    };
    let (reader, metric) = (RowReader::new(rows), args.metric.unwrap_or_default());
    let read = |range: Range<usize>, out: &mut [f32]| reader.read(range, out);
    let source = Rows {
        n: rows.n,
        dim: rows.dim,
        read: &read,
    };
    let found = Neighbours::approximate_rows(
        source,
        k,
        metric,
        zero_vectors,
        prepare::SEARCH_SEED,
        effort,
        &control,
    );
    let found = match found {
        Ok(found) => found,
        Err(error) => return Err(reader.explain(error).into()),
    };
    prepare::recall_note(&found, effort, output);
    let graph = CompactGraph::assemble(
        &Lists::from(&found.neighbours),
        args.kernel.unwrap_or_default(),
        Some(found.order),
        &control,
    )?;
    drop(found.neighbours);
    let recipe = Recipe {
        k,
        kernel: args.kernel.unwrap_or_default(),
        metric,
        search: Search::Approximate.to_string(),
        seed: prepare::SEARCH_SEED,
        dim: rows.dim,
        features: rows.fingerprint(&control)?,
    };
    write_graph(file, &graph, &recipe, &control)?;
    Ok(graph)
}

/// The graph of a pool: from a file if one is given, else built. A file whose graph will be taken into memory `whole` is
/// verified whole; one that is mapped is checked for what could go out of range.
pub fn load_or_build<'a>(
    pool: &'a Pool,
    args: &GraphArgs,
    (file, whole): (Option<&PathBuf>, bool),
    zero_rows: ZeroRows,
    output: &Output,
) -> Result<Built<'a>, Failure> {
    let Some(path) = file else {
        return prepare::build(pool, args, zero_rows, output);
    };
    let file = GraphFile::open(path)?;
    agree(path, file.recipe(), args)?;
    file.check_features(pool.matrix.n, &Fingerprint::of(&pool.matrix))?;
    if whole {
        file.verify(&output.control())?;
    }
    let graph = file.graph()?;
    output.note(&format!(
        "note: the graph is that of {}: {}.",
        path.display(),
        words(file.recipe())
    ));
    let sizes: Vec<usize> = graph
        .component_sizes()
        .iter()
        .map(|&size| size as usize)
        .collect();
    prepare::component_note(&sizes, output);
    prepare::with_graph(pool, graph)
}

/// The weights of a saved graph.
pub fn kernel(path: &PathBuf) -> Result<Kernel, Failure> {
    Ok(GraphFile::open(path)?.recipe().kernel)
}

/// Refuses settings that were typed and contradict those of the file. Defaults were not typed, as far as one can tell.
fn agree(path: &Path, recipe: &Recipe, args: &GraphArgs) -> Result<(), Failure> {
    let differs = |name: &str, typed: String, saved: String| {
        Err(Failure::settings(format!(
            "{}: was made with --{name} {saved}, not {typed}. Leave --{name} out, or build the graph again.",
            path.display()
        )))
    };
    match args.k {
        Neighbourhood::Number(k)
            if k as usize != Neighbourhood::DEFAULT && k as usize != recipe.k =>
        {
            return differs("k", k.to_string(), recipe.k.to_string());
        }
        _ => {}
    }
    if let Some(metric) = args.metric.filter(|metric| *metric != recipe.metric) {
        return differs("metric", metric.to_string(), recipe.metric.to_string());
    }
    match args.kernel {
        Some(kernel) if kernel != recipe.kernel => {
            differs("kernel", kernel.to_string(), recipe.kernel.to_string())
        }
        _ => Ok(()),
    }
}

fn words(recipe: &Recipe) -> String {
    let Recipe {
        k,
        kernel,
        metric,
        search,
        ..
    } = recipe;
    format!("k = {k}, {metric}, {kernel} weights, {search} search")
}

/// `dial doctor FILE` of a saved graph: what it is and, if asked for, whether every byte of it is right.
pub fn examine(path: &str, verify: bool, output: &Output) -> Result<(), Failure> {
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
        "kernel": recipe.kernel,
        "search": recipe.search,
        "seed": recipe.seed,
        "dimensions": recipe.dim,
        "features": recipe.features.to_string(),
        "verified": verify,
    });
    output.result(&text, &json);
    Ok(())
}
