//! `dial graph`: the similarity graph of a pool, saved for other programs.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args::Graph;
use crate::failure::Failure;
use crate::output::{Output, count};
use crate::outputs;
use crate::prepare;

/// Runs the command.
pub fn run(args: &Graph, output: &Output) -> Result<(), Failure> {
    let files: Vec<&Path> = args.out.iter().map(PathBuf::as_path).collect();
    outputs::check(&files, &args.pool.pool, args.pool.labels.as_deref())?;
    let pool = prepare::open(&args.pool, args.graph.metric, output)?;
    let built = prepare::build(&pool, &args.graph, args.pool.zero_vectors, output)?;
    let (starts, columns, weights) = built.graph.csr();
    if let Some(file) = &args.out {
        dial_data::write::write_csr(file, built.graph.n(), starts, columns, weights)?;
    }
    let (edges, components) = (built.graph.entries() / 2, built.graph.component_sizes().len());
    let end = match &args.out {
        Some(file) => format!("wrote {}; open it with scipy.sparse.load_npz", file.display()),
        None => "nothing was saved: pass --out graph.npz".to_string(),
    };
    let text = format!(
        "{}: {} items, {}, {}, mean degree {:.3}\n{end}\n",
        pool.name,
        built.graph.n(),
        count(edges, "edge", "edges"),
        count(components, "component", "components"),
        built.mean_degree(),
    );
    let json = json!({
        "pool": pool.name,
        "items": built.graph.n(),
        "edges": edges,
        "components": components,
        "mean_degree": built.mean_degree(),
        "file": args.out.as_ref().map(|file| file.display().to_string()),
    });
    output.result(&text, &json);
    Ok(())
}
