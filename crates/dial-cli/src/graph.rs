//! `dial graph`: the similarity graph of a pool, saved for other programs.

use std::path::{Path, PathBuf};

use dial::CompactGraph;
use serde_json::json;

use crate::args::Graph;
use crate::failure::Failure;
use crate::memory::Work;
use crate::output::{Output, count};
use crate::outputs;
use crate::prepare;
use crate::saved;

/// Runs the command.
pub fn run(args: &Graph, output: &Output) -> Result<(), Failure> {
    let files: Vec<&Path> = args.out.iter().map(PathBuf::as_path).collect();
    outputs::check(&files, &args.pool.pool, &args.pool.inputs(None))?;
    let file = args.out.as_deref();
    let compact = file.filter(|file| saved::is_graph(file));
    let work = if compact.is_some() {
        Work::Save
    } else {
        Work::Build
    };
    if let Some((file, rows)) = compact.zip(saved::rows_by_position(&args.pool, &args.graph)) {
        let graph = saved::save_rows(&rows, &args.graph, args.pool.how.zero_vectors, file, output)?;
        say(&args.pool.pool, facts(&graph, output), args, output);
        return Ok(());
    }
    let pool = prepare::open(&args.pool, &args.graph, work, output)?;
    outputs::spare_pictures(&files, &pool)?;
    let facts = match compact {
        Some(file) => {
            let graph = saved::save(&pool, &args.graph, args.pool.how.zero_vectors, file, output)?;
            facts(&graph, output)
        }
        None => {
            let built = prepare::build(&pool, &args.graph, args.pool.how.zero_vectors, output)?;
            let (starts, columns, weights) = built.graph().csr();
            if let Some(file) = file {
                dial_data::write::write_csr(file, built.graph().n(), starts, columns, weights)?;
            }
            (
                built.graph().n(),
                built.graph().entries(),
                built.graph().component_sizes().len(),
                built.mean_degree(),
            )
        }
    };
    say(&pool.name, facts, args, output);
    Ok(())
}

/// Items, entries, components and mean degree.
type Facts = (usize, usize, usize, f64);

fn facts(graph: &CompactGraph, output: &Output) -> Facts {
    let sizes: Vec<usize> = graph
        .component_sizes()
        .iter()
        .map(|&size| size as usize)
        .collect();
    prepare::component_note(&sizes, output);
    let degrees: f64 = graph.parts().degrees.iter().sum();
    (
        graph.n(),
        graph.entries(),
        sizes.len(),
        degrees / graph.n() as f64,
    )
}

fn say(name: &str, (n, entries, components, mean_degree): Facts, args: &Graph, output: &Output) {
    let file = args.out.as_deref();
    let edges = entries / 2;
    let end = match file {
        Some(file) if saved::is_graph(file) => {
            format!("wrote {}; use it with --graph", file.display())
        }
        Some(file) => format!(
            "wrote {}; open it with scipy.sparse.load_npz",
            file.display()
        ),
        None => "nothing was saved: pass --out graph.npz".to_string(),
    };
    let text = format!(
        "{}: {} items, {}, {}, mean degree {:.3}\n{end}\n",
        name,
        n,
        count(edges, "edge", "edges"),
        count(components, "component", "components"),
        mean_degree,
    );
    let json = json!({
        "pool": name,
        "items": n,
        "edges": edges,
        "components": components,
        "mean_degree": mean_degree,
        "file": args.out.as_ref().map(|file| file.display().to_string()),
    });
    output.result(&text, &json);
}
