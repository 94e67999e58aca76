//! Networks run by tract, which is Rust throughout.
//!
//! An item is run by one thread, items beside each other: the bits of an embedding depend on its item alone, not on threads
//! or on what else is embedded. (They do depend on the processor, whose instructions tract chooses.)
//!
//! tract computes what a network can compute beforehand. A hostile network could make that, or a run, take any memory: so
//! the size of every value is inferred first, node by node, and refused beyond `MAX_VALUE_BYTES`; so are the values that are
//! computed beforehand, all together, and a run beyond `MAX_RUN_BYTES`.

use std::path::Path;
use std::sync::Arc;

use tract_onnx::pb::ModelProto;
use tract_onnx::prelude::*;
use tract_onnx::tract_hir::infer::{Factoid, GenericFactoid};
use tract_onnx::tract_hir::internal::{SymbolValues, TDim, ToDim};

use super::runtime::{Input, Numbers, Output, Runtime, guarded};

/// The largest value between two nodes.
const MAX_VALUE_BYTES: u64 = 1 << 30;
/// The most that one run may hold at a time.
const MAX_RUN_BYTES: u64 = 4 << 30;
/// The most that all runs beside each other may hold.
const GRANTED_BYTES: u64 = 4 << 30;
/// Rounds of inference: facts of one node refine those of others.
const MAX_ROUNDS: usize = 16;

/// The side of an input, as it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Is(usize),
    /// As many as an item has tokens, at most so many.
    Tokens(usize),
}

pub(super) struct Tract {
    plan: Arc<TypedRunnableModel>,
    at_once: usize,
}

impl Tract {
    /// Makes a network ready for inputs of these sides, in the order of its file.
    pub fn new(
        proto: &ModelProto,
        folder: &Path,
        inputs: &[(String, DatumType, Vec<Side>)],
        output: &str,
    ) -> Result<Tract, String> {
        guarded(|| built(proto, folder, inputs, output).map_err(|error| words(&error)))
    }
}

/// An error of tract in one line: what failed, and why.
fn words(error: &TractError) -> String {
    let (first, last) = (error.to_string(), error.root_cause().to_string());
    let brief = |text: &str| -> String {
        text.lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect()
    };
    match first == last {
        true => brief(&first),
        false => format!("{}: {}", brief(&first), brief(&last)),
    }
}

fn built(
    proto: &ModelProto,
    folder: &Path,
    inputs: &[(String, DatumType, Vec<Side>)],
    output: &str,
) -> TractResult<Tract> {
    let onnx = tract_onnx::onnx()
        .with_ignore_output_shapes(true)
        .with_ignore_value_info(true);
    let place = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let parsed = onnx.parse(proto, place.to_str())?;
    if let Some(name) = parsed.unresolved_inputs.first() {
        return Err(TractError::msg(format!("{name:?} is used and never made")));
    }
    let mut model = parsed.model;
    let tokens = model.symbols.sym("tokens");
    let mut most = SymbolValues::default();
    for (at, (_, kind, sides)) in inputs.iter().enumerate() {
        let side = |side: &Side| match side {
            Side::Is(side) => side.to_dim(),
            Side::Tokens(limit) => {
                most.set(&tokens, *limit as i64);
                TDim::from(tokens.clone())
            }
        };
        let shape: TVec<TDim> = sides.iter().map(side).collect();
        model.set_input_fact(at, InferenceFact::dt_shape(*kind, shape))?;
    }
    model.select_outputs_by_name([output])?;
    infer(&mut model, &most)?;
    let model = model.into_typed()?.into_decluttered()?;
    let order = model.eval_order()?;
    let held = model.eval_tmp_memory_usage(&order, |node| {
        !node.op_is::<tract_onnx::tract_core::ops::konst::Const>()
    })?;
    let peak = held
        .iter()
        .map(|(_, bytes)| {
            bytes
                .eval_to_i64(&most)
                .map_or(u64::MAX, |bytes| bytes.max(0) as u64)
        })
        .max();
    let peak = peak.unwrap_or(0);
    if peak > MAX_RUN_BYTES {
        return Err(TractError::msg(format!(
            "one item takes {peak} bytes of memory, more than {MAX_RUN_BYTES}"
        )));
    }
    let plan = model.into_optimized()?.into_runnable()?;
    Ok(Tract {
        plan,
        at_once: (GRANTED_BYTES / peak.max(1)).clamp(1, 1024) as usize,
    })
}

/// Infers the facts of all values; a value that would be too large is refused before anything computes it.
fn infer(model: &mut InferenceModel, most: &SymbolValues) -> TractResult<()> {
    let mut computed = 0;
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for node in model.eval_order()? {
            let step = infer_one(model, node, most, &mut computed);
            changed |=
                step.map_err(|error| error.context(format!("node {:?}", model.node(node).name)))?;
        }
        if !changed {
            return Ok(());
        }
    }
    Err(TractError::msg(format!(
        "its shapes are not known after {MAX_ROUNDS} rounds"
    )))
}

/// The same for one node; says whether anything became known. `computed` counts the bytes of values that were computed.
fn infer_one(
    model: &mut InferenceModel,
    node: usize,
    most: &SymbolValues,
    computed: &mut u64,
) -> TractResult<bool> {
    let mut op = model.node(node).op.clone();
    let watched = op.observe_outlets(model, model.node(node))?;
    let observed = watched
        .iter()
        .map(|&outlet| model.outlet_fact(outlet))
        .collect::<TractResult<TVec<_>>>()?;
    let (inputs, outputs) = model.node_facts(node)?;
    let (_, sizes, _) = op.infer_facts(inputs.clone(), outputs.clone(), observed.clone())?;
    for fact in &sizes {
        small(fact, most)?;
    }
    if op.name().ends_with("Range") {
        short(&inputs)?;
    }
    let (inputs, outputs, observed) = op.infer(inputs, outputs, observed)?;
    let before = model.node(node).inputs.clone();
    let after = (0..outputs.len()).map(|slot| OutletId::new(node, slot));
    let found = before
        .into_iter()
        .zip(inputs)
        .chain(after.zip(outputs))
        .chain(watched.into_iter().zip(observed));
    let mut changed = false;
    for (outlet, fact) in found.collect::<Vec<_>>() {
        let known = model.outlet_fact(outlet)?;
        let joined = fact.unify(known)?;
        if &joined != known {
            changed = true;
            if let (Some(value), None) = (joined.value.concretize(), known.value.concretize()) {
                *computed += (value.len() * value.datum_type().size_of()) as u64;
                if *computed > MAX_VALUE_BYTES {
                    return Err(TractError::msg(format!(
                        "what it computes beforehand takes more than {MAX_VALUE_BYTES} bytes"
                    )));
                }
            }
            model.set_outlet_fact(outlet, joined)?;
        }
    }
    model.node_mut(node).op = op;
    Ok(changed)
}

/// Refuses a range of too many numbers: the one operator whose length follows from values and is not inferred.
fn short(inputs: &[&InferenceFact]) -> TractResult<()> {
    let number = |fact: &&InferenceFact| -> Option<f64> {
        let value = fact.value.concretize()?;
        let value = value.cast_to::<f64>().ok()?;
        value
            .try_as_plain_ram()
            .ok()?
            .as_slice::<f64>()
            .ok()?
            .first()
            .copied()
    };
    let numbers: Option<Vec<f64>> = inputs.iter().map(number).collect();
    let Some(&[start, end, step]) = numbers.as_deref() else {
        return Ok(());
    };
    let bytes = (end - start) / step * 8.0;
    match bytes <= MAX_VALUE_BYTES as f64 {
        true => Ok(()),
        false => Err(TractError::msg(format!(
            "makes a range of {bytes} bytes, more than {MAX_VALUE_BYTES}"
        ))),
    }
}

/// Refuses a value that would be too large, unless it is there already.
fn small(fact: &InferenceFact, most: &SymbolValues) -> TractResult<()> {
    let GenericFactoid::Only(kind) = fact.datum_type else {
        return Ok(());
    };
    let (Some(shape), None) = (fact.shape.concretize(), fact.value.concretize()) else {
        return Ok(());
    };
    let bytes = shape.iter().try_fold(kind.size_of() as u64, |bytes, dim| {
        bytes.checked_mul(u64::try_from(dim.eval_to_i64(most).ok()?).ok()?)
    });
    match bytes {
        // A side that depends on another symbol becomes known when the network runs.
        Some(bytes) if bytes <= MAX_VALUE_BYTES => Ok(()),
        _ => Err(TractError::msg(format!(
            "makes a value of shape {shape:?}, more than {MAX_VALUE_BYTES} bytes"
        ))),
    }
}

impl Runtime for Tract {
    fn run(&self, inputs: Vec<Input>) -> Result<Output, String> {
        guarded(|| {
            let tensor = |input: Input| match input.numbers {
                Numbers::I64(values) => Tensor::from_shape(&input.shape, &values),
                Numbers::I32(values) => Tensor::from_shape(&input.shape, &values),
                Numbers::F32(values) => Tensor::from_shape(&input.shape, &values),
            };
            let run = || -> TractResult<Output> {
                let inputs = inputs
                    .into_iter()
                    .map(|input| Ok(tensor(input)?.into_tvalue()))
                    .collect::<TractResult<TVec<TValue>>>()?;
                let outputs = self.plan.run(inputs)?;
                let made = outputs
                    .first()
                    .ok_or_else(|| TractError::msg("there is no output"))?;
                let made = made.cast_to::<f32>()?;
                Ok(Output {
                    shape: made.shape().to_vec(),
                    values: made.try_as_plain_ram()?.as_slice::<f32>()?.to_vec(),
                })
            };
            run().map_err(|error| words(&error))
        })
    }

    fn at_once(&self) -> usize {
        self.at_once
    }
}
