//! What an ONNX file says about its network: inputs, outputs, and whether its tensors are what they claim to be.
//!
//! Everything is compared with the bytes that exist before a runtime sees it. Tensors in other files (`model.onnx.data`,
//! as large models are saved) must lie in the folder of the network.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::tensor_shape_proto::dimension::Value as DimValue;
use tract_onnx::pb::type_proto::Value as TypeValue;
use tract_onnx::pb::{GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use tract_onnx::prelude::Framework;

use super::runtime::guarded;
use crate::error::Fault;
use crate::media::inside::{Place, Root};

/// More nodes than any network for texts or pictures has.
const MAX_NODES: usize = 100_000;
/// Operators whose bodies are networks of their own, and which may run for ever.
const LOOPS: [&str; 3] = ["If", "Loop", "Scan"];
const NEXT: &str = "Export the model to ONNX again.";

/// A network as its file describes it.
pub(super) struct Graph {
    pub inputs: Vec<Slot>,
    pub outputs: Vec<Slot>,
    /// Files beside the network that hold tensors of it, without repeats.
    pub files: Vec<PathBuf>,
    pub proto: ModelProto,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    pub name: String,
    pub kind: NumberKind,
    /// Its sides; none where the file leaves even their number open.
    pub dims: Option<Vec<Dim>>,
}

/// What numbers an input or output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    F32,
    I64,
    I32,
    Other,
}

/// A side of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    Fixed(usize),
    Free,
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            NumberKind::F32 => "f32",
            NumberKind::I64 => "i64",
            NumberKind::I32 => "i32",
            NumberKind::Other => "other numbers",
        };
        write!(f, "{:?} ({kind}", self.name)?;
        for (at, dim) in self.dims.iter().flatten().enumerate() {
            f.write_str(if at == 0 { " " } else { " x " })?;
            match dim {
                Dim::Fixed(side) => write!(f, "{side}")?,
                Dim::Free => f.write_str("any")?,
            }
        }
        f.write_str(")")
    }
}

impl Graph {
    /// Reads and checks a network; `folder` is where it lies.
    pub fn read(bytes: Vec<u8>, folder: &Path) -> Result<Graph, Fault> {
        let damaged = |what: String| Fault::format(what, NEXT);
        let proto = guarded(|| {
            let read = tract_onnx::onnx().proto_model_for_read(&mut Cursor::new(bytes));
            read.map_err(|error| error.root_cause().to_string())
        })
        .map_err(|error| damaged(format!("this is no ONNX file, or a damaged one ({error})")))?;
        let graph = proto
            .graph
            .as_ref()
            .ok_or_else(|| damaged("this is no ONNX file: it holds no network".into()))?;
        let mut files = Vec::new();
        check_nodes(graph, &mut files, folder)?;
        let is_weight = |slot: &ValueInfoProto| {
            graph
                .initializer
                .iter()
                .any(|tensor| tensor.name == slot.name)
        };
        let inputs = graph
            .input
            .iter()
            .filter(|slot| !is_weight(slot))
            .map(slot)
            .collect();
        let outputs = graph.output.iter().map(slot).collect();
        files.sort();
        files.dedup();
        Ok(Graph {
            inputs,
            outputs,
            files,
            proto,
        })
    }
}

fn slot(info: &ValueInfoProto) -> Slot {
    let tensor = info
        .r#type
        .as_ref()
        .and_then(|kind| kind.value.as_ref())
        .map(|TypeValue::TensorType(tensor)| tensor);
    let kind = match tensor.and_then(|tensor| DataType::try_from(tensor.elem_type).ok()) {
        Some(DataType::Float) => NumberKind::F32,
        Some(DataType::Int64) => NumberKind::I64,
        Some(DataType::Int32) => NumberKind::I32,
        _ => NumberKind::Other,
    };
    let dims = tensor
        .and_then(|tensor| tensor.shape.as_ref())
        .map(|shape| {
            let side = |value: &Option<DimValue>| match value {
                Some(DimValue::DimValue(side)) => {
                    usize::try_from(*side).map_or(Dim::Free, Dim::Fixed)
                }
                _ => Dim::Free,
            };
            shape.dim.iter().map(|dim| side(&dim.value)).collect()
        });
    Slot {
        name: info.name.clone(),
        kind,
        dims,
    }
}

fn check_nodes(graph: &GraphProto, files: &mut Vec<PathBuf>, folder: &Path) -> Result<(), Fault> {
    if graph.node.len() > MAX_NODES {
        return Err(Fault::format(
            format!(
                "the network has {} nodes, more than {MAX_NODES}",
                graph.node.len()
            ),
            NEXT,
        ));
    }
    if !graph.sparse_initializer.is_empty() {
        return Err(Fault::format(
            "the network has sparse weights, which are not read",
            "Export it with dense weights.",
        ));
    }
    for tensor in &graph.initializer {
        check_tensor(tensor, &tensor.name, files, folder)?;
    }
    check_external(graph, files)?;
    for node in &graph.node {
        if LOOPS.contains(&node.op_type.as_str()) {
            return Err(Fault::format(
                format!(
                    "{} is a loop or a branch ({}), which is not run",
                    named(node),
                    node.op_type
                ),
                "Export the model by tracing, without control flow.",
            ));
        }
        for attribute in &node.attribute {
            // tract never ends on axes that are no permutation.
            if node.op_type == "Transpose" && attribute.name == "perm" && !permutes(&attribute.ints)
            {
                let what = format!(
                    "{} swaps the axes {:?}, which are none",
                    named(node),
                    attribute.ints
                );
                return Err(Fault::format(what, NEXT));
            }
            for tensor in attribute.t.iter().chain(&attribute.tensors) {
                check_tensor(tensor, &named(node), files, folder)?;
            }
        }
    }
    Ok(())
}

/// Whether these are the first whole numbers from 0, in any order.
fn permutes(axes: &[i64]) -> bool {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..axes.len() as i64)
}

fn named(node: &NodeProto) -> String {
    let name = if node.name.is_empty() {
        node.output.first()
    } else {
        Some(&node.name)
    };
    format!("node {:?}", name.map_or("", String::as_str))
}

/// Compares the shape of a tensor with the numbers it has.
/// Tensors in other files are loaded one by one: a part that many of them share would take any memory.
fn check_external(graph: &GraphProto, files: &[PathBuf]) -> Result<(), Fault> {
    let declared = graph
        .initializer
        .iter()
        .filter(|tensor| is_external(tensor))
        .fold(0u64, |sum, tensor| {
            let count = tensor
                .dims
                .iter()
                .fold(1u64, |n, &dim| n.saturating_mul(dim.max(0) as u64));
            // At least a byte each.
            sum.saturating_add(count)
        });
    let distinct: BTreeSet<&PathBuf> = files.iter().collect();
    let held: u64 = distinct
        .into_iter()
        .map(|file| file.metadata().map_or(0, |data| data.len()))
        .sum();
    match declared <= held.saturating_mul(2) {
        true => Ok(()),
        false => Err(Fault::format(
            format!("its tensors claim {declared} numbers in files of {held} bytes"),
            NEXT,
        )),
    }
}

fn is_external(tensor: &TensorProto) -> bool {
    !tensor.external_data.is_empty() || tensor.data_location == Some(1)
}

fn check_tensor(
    tensor: &TensorProto,
    name: &str,
    files: &mut Vec<PathBuf>,
    folder: &Path,
) -> Result<(), Fault> {
    let wrong = |what: String| Fault::format(format!("tensor {name:?} {what}"), NEXT);
    let count = tensor
        .dims
        .iter()
        .try_fold(1u64, |count, &dim| {
            count.checked_mul(u64::try_from(dim).ok()?)
        })
        .ok_or_else(|| wrong(format!("has a shape that cannot be: {:?}", tensor.dims)))?;
    let kind = DataType::try_from(tensor.data_type).map_err(|_| {
        wrong(format!(
            "holds numbers of an unknown type ({})",
            tensor.data_type
        ))
    })?;
    let size = match kind {
        DataType::Double | DataType::Int64 | DataType::Uint64 => 8,
        DataType::Float | DataType::Int32 | DataType::Uint32 => 4,
        DataType::Float16 | DataType::Bfloat16 | DataType::Int16 | DataType::Uint16 => 2,
        DataType::Int8 | DataType::Uint8 | DataType::Bool => 1,
        DataType::String => 0,
        _ => {
            return Err(wrong(format!(
                "holds numbers of type {kind:?}, which are not read"
            )));
        }
    };
    let bytes = count
        .checked_mul(size)
        .ok_or_else(|| wrong(format!("has a shape that cannot be: {:?}", tensor.dims)))?;
    if is_external(tensor) {
        let file = external(tensor, bytes, folder).map_err(wrong)?;
        files.push(file);
        return Ok(());
    }
    // Numbers in lists of their own; halves and smaller ones are in that of 32-bit integers.
    let listed = match kind {
        DataType::Float => tensor.float_data.len(),
        DataType::Double => tensor.double_data.len(),
        DataType::Int64 => tensor.int64_data.len(),
        DataType::Uint64 => tensor.uint64_data.len().max(tensor.int64_data.len()),
        DataType::Uint32 => tensor.uint64_data.len().max(tensor.int32_data.len()),
        DataType::String => tensor.string_data.len(),
        _ => tensor.int32_data.len(),
    };
    let held = match tensor.raw_data.len() as u64 {
        0 => listed as u64,
        raw if raw == bytes => count,
        raw => {
            return Err(wrong(format!(
                "has {raw} bytes where its shape needs {bytes}"
            )));
        }
    };
    match held == count {
        true => Ok(()),
        false => Err(wrong(format!(
            "has {held} numbers where its shape needs {count}"
        ))),
    }
}

/// The file that holds the numbers of a tensor, if it lies in the folder and is long enough.
fn external(tensor: &TensorProto, bytes: u64, folder: &Path) -> Result<PathBuf, String> {
    let entry = |key: &str| {
        tensor
            .external_data
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| entry.value.as_str())
    };
    let number = |key: &str| {
        entry(key)
            .map(|text| {
                text.parse::<u64>()
                    .map_err(|_| format!("has {text:?} as its {key}"))
            })
            .transpose()
    };
    let location = entry("location").ok_or("is in another file that is not named")?;
    let root = Root::of(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let file = match root.map(|root| root.find(location)) {
        Ok(Place::File(file)) => file,
        Ok(Place::Outside) => {
            return Err(format!(
                "is in {location:?}, outside of the folder of the network"
            ));
        }
        _ => {
            return Err(format!(
                "is in {location:?}, which is not beside the network"
            ));
        }
    };
    let length = file.metadata().map_or(0, |data| data.len());
    let (offset, declared) = (number("offset")?.unwrap_or(0), number("length")?);
    let held = declared.unwrap_or(length.saturating_sub(offset));
    if held != bytes {
        return Err(format!(
            "has {held} bytes in {location:?} where its shape needs {bytes}"
        ));
    }
    match offset.checked_add(bytes).is_some_and(|end| end <= length) {
        true => Ok(file),
        false => Err(format!(
            "lies beyond the end of {location:?} ({length} bytes)"
        )),
    }
}
