//! `dial graph`: the similarity graph of a pool, saved for other programs.

use std::path::{Path, PathBuf};

use dial::engine::graph_of;
use dial::graph::build::Lists;
use dial::graph::packed::PackedGraph;
use dial_data::write::write_csr;
use serde_json::json;

use crate::cli::args::Graph;
use crate::plan::checks;
use crate::plan::graph_file;
use crate::plan::memory::Work;
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, count};

/// Runs the command.
pub fn run(args: &Graph, output: &Output) -> Result<(), Failure> {
    let files: Vec<&Path> = args.out.iter().map(PathBuf::as_path).collect();
    checks::check(&files, &args.pool.pool, &args.pool.inputs(None))?;
    let file = args.out.as_deref();
    file.map_or(Ok(()), graph_file::check_ending)?;
    let compact = file.filter(|file| graph_file::is_graph(file));
    let work = if compact.is_some() {
        Work::Save
    } else {
        Work::Build
    };
    let choices = prepare::paper(prepare::graph_choices(&args.pool.how, &args.graph));
    if let Some((file, rows)) = compact.zip(graph_file::rows_by_position(&args.pool, &choices)) {
        let graph = graph_file::save_rows(&rows, &choices, args.graph.memory_limit, file, output)?;
        prepare::component_note(&graph, output);
        say(&args.pool.pool, &graph, args, output);
        return Ok(());
    }
    let pool = prepare::open(&args.pool, &args.graph, work, output)?;
    checks::spare_pictures(&files, &pool)?;
    let config = prepare::config(&pool, choices, output)?;
    let found = prepare::search(&pool, &config, output)?;
    let lists = Lists::from(&found.neighbours);
    let graph = graph_of(&lists, found.order.clone(), &config, &output.control())?;
    drop(found);
    prepare::component_note(&graph, output);
    match (compact, file) {
        (Some(file), _) => graph_file::save(&pool, &graph, &config, file, output)?,
        (None, Some(file)) => {
            let graph = graph.to_graph();
            let (starts, columns, weights) = graph.csr();
            write_csr(file, graph.n(), starts, columns, weights)?;
        }
        (None, None) => {}
    }
    say(&pool.name, &graph, args, output);
    Ok(())
}

fn say(name: &str, graph: &PackedGraph, args: &Graph, output: &Output) {
    let (file, n, edges) = (args.out.as_deref(), graph.n(), graph.entries() / 2);
    let (components, mean_degree) = (graph.component_sizes().len(), graph.mean_degree());
    let end = match file {
        Some(file) if graph_file::is_graph(file) => {
            format!("wrote {}; use it with --graph", file.display())
        }
        Some(file) => format!(
            "wrote {}; use it with --graph, or open it with scipy.sparse.load_npz",
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
