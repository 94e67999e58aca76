//! Sessions as bytes and back, for pickles and copies: the log, the graph, and what Python keeps.

use std::sync::Arc;

use dial::Items;
use dial::graph::packed::PackedGraph;
use dial::graph::packed::{Parts, Slab};
use dial_store::{Project, Record};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::Rows;
use crate::engine::Engine;
use crate::errors::Failure;
use crate::holding::PYTHON_LABELS_KEY;
use crate::work::run;

/// What a session is made of, as [`Engine::state`] gives it.
type State<'py> = (
    String,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
    Vec<Bound<'py, PyBytes>>,
    Option<Vec<bool>>,
);

/// The same when it comes back.
type StateBytes = (
    String,
    Vec<u8>,
    Option<Vec<u8>>,
    Vec<Vec<u8>>,
    Option<Vec<bool>>,
);

#[pymethods]
impl Engine {
    /// Everything that makes this session, to be had again by [`Engine::restored`]: the id of the project, its records, what
    /// Python keeps, the graph, and the rows that may be asked.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let (id, records, kept, askable, parts) = self.with(py, None, |local, _| {
            let kept = local.change(|project| project.kept(PYTHON_LABELS_KEY))??;
            let prepared = Arc::clone(local.prepared()?);
            let engine = &prepared.engine;
            let Some(graph) = &engine.graph else {
                return Err(Failure::usage("a session without a graph cannot be copied"));
            };
            let (parts, askable) = (graph.parts().clone(), engine.askable.as_deref().cloned());
            let ids = local.change(Project::own_ids)??;
            let (id, records) = local.read(|project| {
                let records = (project.log().records(), ids);
                let records = serde_json::to_vec(&records).unwrap_or_default();
                (project.id().to_string(), records)
            })?;
            Ok((id, records, kept, askable, parts))
        })?;
        let bytes = |values: &[u8]| PyBytes::new(py, values);
        Ok((
            id,
            bytes(&records),
            kept.map(|kept| bytes(&kept)),
            bytes_of(&parts).iter().map(|one| bytes(one)).collect(),
            askable,
        ))
    }

    /// The session of [`Engine::state`], in memory; the rows, if there are any, are for propagation that reads them.
    #[staticmethod]
    fn restored(py: Python<'_>, state: StateBytes, x: Option<Rows<'_>>) -> PyResult<Engine> {
        let plain = x.as_ref().map(|rows| rows.plain()).transpose()?;
        run(py, None, |control| {
            let (id, records, kept, graph, askable) = state;
            let unread = |_| Failure::usage("these bytes are not a session");
            let (records, ids): (Vec<Record>, Option<Vec<String>>) =
                serde_json::from_slice(&records).map_err(unread)?;
            let mut project = Project::in_memory(&id, records, ids.as_deref())?;
            if let Some(kept) = kept {
                project.keep(PYTHON_LABELS_KEY, &kept)?;
            }
            let graph = PackedGraph::from_parts(parts_of(&graph)?)?;
            let Some(recipe) = project.log().recipe().cloned() else {
                return Err(Failure::usage("these bytes are not a session"));
            };
            let items = match ids {
                Some(ids) => Items::named(ids)?,
                None => Items::rows(recipe.items),
            };
            let features = plain.map(|rows| rows.features()).transpose()?;
            let engine = dial::Engine::on(Arc::new(graph), features, &recipe.config, control)?;
            Engine::in_memory(project, engine.with_items(items), askable, control)
        })
    }
}

/// The arrays of a graph as bytes, little-endian.
fn bytes_of(parts: &Parts) -> Vec<Vec<u8>> {
    let wide = |values: &[u64]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    let short = |values: &[u32]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    vec![
        wide(&parts.starts),
        short(&parts.neighbours),
        parts
            .weights
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        parts
            .degrees
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        short(&parts.order),
        short(&parts.rank),
        short(&parts.component),
        wide(&parts.component_sizes),
    ]
}

/// The other way round.
fn parts_of(bytes: &[Vec<u8>]) -> Result<Parts, Failure> {
    let [
        starts,
        neighbours,
        weights,
        degrees,
        order,
        rank,
        component,
        sizes,
    ] = bytes
    else {
        return Err(Failure::usage("these bytes are not a session"));
    };
    fn values<const N: usize, T: Send + Sync + 'static>(
        bytes: &[u8],
        read: fn([u8; N]) -> T,
    ) -> Slab<T> {
        let one = |chunk: &[u8]| read(chunk.try_into().expect("chunks are exact"));
        bytes.chunks_exact(N).map(one).collect::<Vec<T>>().into()
    }
    Ok(Parts {
        starts: values(starts, u64::from_le_bytes),
        neighbours: values(neighbours, u32::from_le_bytes),
        weights: values(weights, f32::from_le_bytes),
        degrees: values(degrees, f64::from_le_bytes),
        order: values(order, u32::from_le_bytes),
        rank: values(rank, u32::from_le_bytes),
        component: values(component, u32::from_le_bytes),
        component_sizes: values(sizes, u64::from_le_bytes),
    })
}
