//! `dial propagate`: one column of the propagation, printed or saved.

use std::path::{Path, PathBuf};

use dial::NodeId;
use dial::config::PropagationKind;
use dial_data::write::{Saved, SavedData, write_npy};
use serde_json::json;

use crate::cli::args::Propagate;
use crate::plan::checks;
use crate::plan::memory::Work;
use crate::plan::prepare;
use crate::ui::failure::Failure;
use crate::ui::output::{Output, table};

/// Runs the command.
pub fn run(args: &Propagate, output: &Output) -> Result<(), Failure> {
    let files: Vec<&Path> = args.out.iter().map(PathBuf::as_path).collect();
    let inputs = args.engine.pool.inputs(args.engine.saved.as_deref());
    checks::check(&files, &args.engine.pool.pool, &inputs)?;
    let choices = prepare::paper(prepare::choices(&args.engine)?);
    prepare::check(&choices)?;
    let work = if args.engine.saved.is_some() {
        Work::LabelSaved(1)
    } else {
        Work::Label(1)
    };
    let pool = prepare::open(&args.engine.pool, &args.engine.graph, work, output)?;
    checks::spare_pictures(&files, &pool)?;
    let file = args.engine.saved.as_ref();
    let engine = prepare::build(&pool, &choices, file, output)?.engine;
    let (source, propagation) = (engine.items.node(&args.source)?, &engine.propagation);
    let column = propagation.columns(&[source], &output.control())?.remove(0);
    let clamped = match engine.config.propagation {
        PropagationKind::Heat { .. } => Some(clamped(
            &propagation.raw_columns(&[source], &output.control())?[0],
            source,
        )),
        _ => None,
    };
    if let Some(count @ 1..) = clamped {
        output
            .note(&format!("note: {count} values of the heat kernel were clamped to what a label counts at its item."));
    }
    if let Some(file) = &args.out {
        write_npy(file, &Saved::vector(SavedData::F64(&column)))?;
    }
    let reached = (0..column.len() as u32)
        .filter(|&node| propagation.reaches(source, NodeId(node)))
        .count();
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_by(|&a, &b| column[b].total_cmp(&column[a]).then(a.cmp(&b)));
    let nearest: Vec<(String, f64)> = order
        .iter()
        .take(10)
        .map(|&node| (engine.items.id(NodeId(node as u32)), column[node]))
        .collect();
    let above = |level: f64| column.iter().filter(|&&value| value > level).count();
    let levels = [0.1, 0.01, 0.001];
    let mut rows = vec![vec!["item".to_string(), "K".to_string()]];
    rows.extend(
        nearest
            .iter()
            .map(|(item, value)| vec![item.clone(), format!("{value:.6}")]),
    );
    let reach: Vec<String> = levels
        .iter()
        .map(|&level| format!("{} above {level}", above(level)))
        .collect();
    let saved = args.out.as_ref().map_or(String::new(), |file| {
        format!("\nwrote {}\n", file.display())
    });
    let text = format!(
        "{}: a label at item {} reaches {reached} of {} items: {}\n\n{}{saved}",
        pool.name,
        args.source,
        column.len(),
        reach.join(", "),
        table(&rows),
    );
    let json = json!({
        "pool": pool.name,
        "source": args.source,
        "items": column.len(),
        "reached": reached,
        "clamped": clamped,
        "above": levels.iter().map(|&level| json!({ "level": level, "items": above(level) })).collect::<Vec<_>>(),
        "nearest": nearest.iter().map(|(item, value)| json!({ "item": item, "value": value })).collect::<Vec<_>>(),
        "file": args.out.as_ref().map(|file| file.display().to_string()),
    });
    output.result(&text, &json);
    Ok(())
}

/// How many values of the heat kernel lie outside 0 to its value at the source, by more than rounding.
fn clamped(g: &[f64], source: NodeId) -> usize {
    let top = g[source.index()];
    g.iter()
        .filter(|&&g| !(-1e-12..=1.0 + 1e-12).contains(&(g / top)))
        .count()
}
