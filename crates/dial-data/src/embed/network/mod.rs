//! Embeddings by a network in an ONNX file, of texts or of pictures.
//!
//! ```text
//! inputs      integers: the tokens of a text (`input_ids`, and the mask, types and positions that are asked for);
//!             floats of 1 x 3 x height x width, or 1 x height x width x 3 (or 1 channel): a picture
//! output      1 x d: the embedding; 1 x tokens x d: pooled; 1 x d x height x width: the mean over all places
//! embedding   v / |v|
//! ```
//!
//! Items go through one at a time, each on one thread and as many beside each other as there are threads: so an embedding
//! depends on nothing but its item, and a run that was stopped goes on with the same bits. The outputs that are looked for,
//! in this order: what `dial.json` names, `sentence_embedding`, `text_embeds`, `image_embeds`, `last_hidden_state`, the only
//! one. Before anything is embedded the network is run once, on the longest text or on an empty picture.

mod graph;
#[cfg(feature = "onnxruntime")]
mod onnx_runtime;
mod pictures;
mod runtime;
mod settings;
mod texts;
mod tract;

use std::path::Path;

use dial::Control;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tract_onnx::prelude::{Datum, DatumType};

use self::graph::{Dim, Graph, NumberKind, Slot};
use self::pictures::PictureInput;
use self::runtime::{Input, Output, Runtime};
use self::settings::{Pooling, Sidecars};
use self::texts::TextInput;
use self::tract::{Side, Tract};
use super::items::{Errors, Items};
use super::kept::MAX_DIM;
use crate::error::{Fault, Result, first_few};
use crate::media::images::Bitmap;
use crate::open::read_file;

/// The largest ONNX file; what is larger has its weights in other files.
const MAX_FILE_BYTES: u64 = 2 << 30;
/// Outputs that hold what is wanted, best first.
const KNOWN_OUTPUTS: [&str; 4] = [
    "sentence_embedding",
    "text_embeds",
    "image_embeds",
    "last_hidden_state",
];
const NEXT: &str =
    "Export the model for features of texts or of pictures alone (docs/pools.md has the commands).";

/// A network that is ready to embed.
pub(super) struct Network {
    /// What tells it, with what is done before and after it, from others.
    pub fingerprint: String,
    /// Length of an embedding.
    pub dim: usize,
    kind: Kind,
    runtime: Box<dyn Runtime>,
}

/// What it embeds.
enum Kind {
    Texts(Box<TextInput>),
    Pictures(PictureInput),
}

impl Network {
    /// Reads the network in a file, for these items.
    pub fn open(file: &Path, items: Items<'_>) -> Result<Network, Fault> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let length = file.metadata().map_or(0, |data| data.len());
        if length > MAX_FILE_BYTES {
            let what =
                format!("an ONNX file of {length} bytes, and they have at most {MAX_FILE_BYTES}");
            return Err(Fault::format(
                what,
                "Save its weights beside it, as external data.",
            ));
        }
        let bytes = read_file(&file.display().to_string()).map_err(|error| error.fault)?;
        let mut sum = Sha256::new();
        part(&mut sum, &bytes);
        let graph = Graph::read(bytes, folder)?;
        for file in &graph.files {
            let bytes = read_file(&file.display().to_string()).map_err(|error| error.fault)?;
            part(&mut sum, &bytes);
        }
        let sidecars = Sidecars::of(folder)?;
        let output = output(&graph, sidecars.output())?;
        let (kind, sides) = match picture_slot(&graph) {
            Some(slot) => {
                let (input, sides) = PictureInput::new(slot, &sidecars, &output.name)?;
                (Kind::Pictures(input), vec![sides])
            }
            None => {
                let (input, sides) = TextInput::new(&graph, &sidecars)?;
                (Kind::Texts(Box::new(input)), sides)
            }
        };
        match (&kind, items) {
            (Kind::Texts(_), Items::Texts(_)) | (Kind::Pictures(_), Items::Pictures(_)) => {}
            (kind, items) => {
                let what = format!(
                    "this network embeds {}, and these items are {}",
                    kind.word(),
                    items.word()
                );
                return Err(Fault::format(
                    what,
                    format!("Give a network for {}.", items.word()),
                ));
            }
        }
        kind.add_to(&mut sum);
        part(&mut sum, output.name.as_bytes());
        // Two runtimes differ in the last bits, and rows of one model have the bits of one.
        part(&mut sum, runtime_word().as_bytes());
        let runtime = runtime(file, folder, &graph, &sides, &output.name)?;
        let mut network = Network {
            fingerprint: hex::encode(sum.finalize()),
            dim: 0,
            kind,
            runtime,
        };
        network.dim = network.tried()?;
        Ok(network)
    }

    /// Runs the network once, on the largest item there can be, and gives the length of its embeddings.
    fn tried(&self) -> Result<usize, Fault> {
        let (inputs, tokens, more) = match &self.kind {
            Kind::Texts(input) => {
                let (inputs, tokens) = input.longest();
                (
                    inputs,
                    tokens,
                    format!(
                        " Where it takes fewer than {tokens} tokens, say so in dial.json: \"max_tokens\": 512."
                    ),
                )
            }
            Kind::Pictures(input) => {
                let empty = Bitmap {
                    width: 1,
                    height: 1,
                    rgb: vec![128; 3],
                };
                (vec![input.tensor(&empty)], 0, String::new())
            }
        };
        let next = format!("{NEXT}{more}");
        let output = self
            .runtime
            .run(inputs)
            .map_err(|error| Fault::format(format!("the network cannot be run: {error}"), &next))?;
        let row = self.pooled(output, tokens)?;
        match row.len() {
            1..=MAX_DIM => Ok(row.len()),
            other => Err(Fault::format(
                format!(
                    "the network gives {other} numbers for an item, and 1 to {MAX_DIM} are kept"
                ),
                NEXT,
            )),
        }
    }

    /// The embeddings of the chosen items, row by row.
    pub fn rows(
        &self,
        items: Items<'_>,
        chosen: &[usize],
        control: &Control,
    ) -> Result<(Vec<f32>, Errors), Fault> {
        let mut values = vec![0f32; chosen.len() * self.dim];
        // As many at a time as memory is granted for: each group is one thread's.
        let group = chosen
            .len()
            .div_ceil(self.runtime.at_once().min(rayon::current_num_threads()))
            .max(1);
        let errors: Vec<Errors> = values
            .par_chunks_mut(group * self.dim)
            .zip(chosen.par_chunks(group))
            .map(|(rows, chosen)| {
                let mut errors = Errors::with_capacity(chosen.len());
                for (row, &item) in rows.chunks_mut(self.dim).zip(chosen) {
                    errors.push(self.embed(items, item, row)?);
                    control.advance(1)?;
                }
                Ok(errors)
            })
            .collect::<Result<_, Fault>>()?;
        Ok((values, errors.into_iter().flatten().collect()))
    }

    /// The embedding of an item into its row, or what is wrong with the item.
    fn embed(
        &self,
        items: Items<'_>,
        item: usize,
        row: &mut [f32],
    ) -> Result<Option<crate::Error>, Fault> {
        let (inputs, tokens) = match (&self.kind, items) {
            (Kind::Texts(input), Items::Texts(texts)) => input.of(&texts[item])?,
            (Kind::Pictures(input), Items::Pictures(pictures)) => match pictures.load(item) {
                Ok(bitmap) => (vec![input.tensor(&bitmap)], 0),
                Err(error) => return Ok(Some(error)),
            },
            _ => unreachable!("a network is opened for its items only"),
        };
        let failed =
            |error| Fault::format(format!("the network fails on item {item}: {error}"), NEXT);
        let made = self.runtime.run(inputs).map_err(failed)?;
        let made = self.pooled(made, tokens)?;
        if made.len() != row.len() {
            let what = format!(
                "the network gives {} numbers for item {item} and {} for others",
                made.len(),
                row.len()
            );
            return Err(Fault::format(what, NEXT));
        }
        let length = made.iter().map(|value| value * value).sum::<f64>().sqrt();
        if !length.is_finite() {
            let what = format!("the network gives numbers that are not finite for item {item}");
            return Err(Fault::format(what, "Export it with 32-bit floats."));
        }
        if length > 0.0 {
            row.iter_mut()
                .zip(&made)
                .for_each(|(value, made)| *value = (made / length) as f32);
        }
        Ok(None)
    }

    /// One vector from what the network gives for an item of so many tokens.
    fn pooled(&self, output: Output, tokens: usize) -> Result<Vec<f64>, Fault> {
        let Output { shape, values } = output;
        let pooling = match &self.kind {
            Kind::Texts(input) => input.settings.pooling,
            Kind::Pictures(input) => input.settings.pooling,
        };
        let pictures = matches!(self.kind, Kind::Pictures(_));
        let wide = |values: &[f32]| {
            values
                .iter()
                .map(|value| f64::from(*value))
                .collect::<Vec<f64>>()
        };
        match (&shape[..], pooling) {
            ([1, dim], _) if values.len() == *dim => Ok(wide(&values)),
            ([1, count, dim], Pooling::Cls) if *count > 0 && values.len() == count * dim => {
                Ok(wide(&values[..*dim]))
            }
            ([1, count, dim], Pooling::Mean)
                if *count > 0 && values.len() == count * dim && (pictures || tokens <= *count) =>
            {
                let rows = if pictures { *count } else { tokens };
                Ok(mean(values.chunks((*dim).max(1)).take(rows), *dim, rows))
            }
            ([1, dim, height, width], _)
                if pictures && height * width > 0 && values.len() == dim * height * width =>
            {
                let places = height * width;
                let sum = |place: &[f32]| place.iter().map(|value| f64::from(*value)).sum::<f64>();
                Ok(values
                    .chunks(places)
                    .map(|place| sum(place) / places as f64)
                    .collect())
            }
            _ => Err(Fault::format(
                format!(
                    "the network gives an array of shape {shape:?} for one item, which is no embedding"
                ),
                format!("Name the output that holds it in dial.json: \"output\": \"NAME\". {NEXT}"),
            )),
        }
    }
}

fn mean<'a>(rows: impl Iterator<Item = &'a [f32]>, dim: usize, count: usize) -> Vec<f64> {
    let mut sum = vec![0f64; dim];
    for row in rows {
        sum.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sum.iter_mut().for_each(|sum| *sum /= count as f64);
    sum
}

impl Kind {
    /// What it embeds, in the plural.
    fn word(&self) -> &'static str {
        match self {
            Kind::Texts(_) => "texts",
            Kind::Pictures(_) => "pictures",
        }
    }

    /// What is done with items, into a fingerprint.
    fn add_to(&self, sum: &mut Sha256) {
        let settings = match self {
            Kind::Texts(input) => {
                part(sum, &input.file);
                serde_json::to_vec(&input.settings)
            }
            Kind::Pictures(input) => serde_json::to_vec(&input.settings),
        };
        part(sum, &settings.unwrap_or_default());
    }
}

/// Adds a part to a fingerprint, so that no two lists of parts are alike.
fn part(sum: &mut Sha256, bytes: &[u8]) {
    sum.update((bytes.len() as u64).to_le_bytes());
    sum.update(bytes);
}

/// The output that holds the embedding.
fn output<'g>(graph: &'g Graph, named: Option<&str>) -> Result<&'g Slot, Fault> {
    let find = |name: &str| graph.outputs.iter().find(|slot| slot.name == name);
    let found = match named {
        Some(name) => find(name),
        None => KNOWN_OUTPUTS
            .iter()
            .find_map(|name| find(name))
            .or(match &graph.outputs[..] {
                [only] => Some(only),
                _ => None,
            }),
    };
    found.ok_or_else(|| {
        let what = match named {
            Some(name) => {
                format!("dial.json names the output {name:?}, which the network does not have")
            }
            None => "none of the outputs of the network is known to hold embeddings".into(),
        };
        let list = first_few(
            graph.outputs.iter().map(|slot| format!("{:?}", slot.name)),
            graph.outputs.len(),
            ", ",
        );
        Fault::format(
            what,
            format!("Name one in dial.json: \"output\": \"NAME\", with NAME one of {list}."),
        )
    })
}

/// The only input of the network, if it is a picture.
fn picture_slot(graph: &Graph) -> Option<&Slot> {
    match &graph.inputs[..] {
        [only]
            if only.kind == NumberKind::F32
                && only.dims.as_ref().is_none_or(|dims| dims.len() == 4) =>
        {
            Some(only)
        }
        _ => None,
    }
}

/// The first side of an input, which counts items: one at a time.
fn one_at_a_time(slot: &Slot, dim: Option<&Dim>) -> Result<(), Fault> {
    match dim {
        Some(Dim::Fixed(count)) if *count != 1 => Err(Fault::format(
            format!("the network takes {count} items at a time: its input is {slot}"),
            "Export it with a first axis that is 1 or free (dynamic).",
        )),
        _ => Ok(()),
    }
}

/// All inputs, in words.
fn inputs_in_words(graph: &Graph) -> String {
    first_few(&graph.inputs, graph.inputs.len(), ", ")
}

/// The network made ready: by ONNX Runtime where its library is named, else by tract.
/// The word for the runtime that is used.
fn runtime_word() -> &'static str {
    #[cfg(feature = "onnxruntime")]
    if onnx_runtime::library().is_some() {
        return "onnxruntime";
    }
    "tract"
}

fn runtime(
    file: &Path,
    folder: &Path,
    graph: &Graph,
    sides: &[Vec<Side>],
    output: &str,
) -> Result<Box<dyn Runtime>, Fault> {
    #[cfg(feature = "onnxruntime")]
    if let Some(library) = onnx_runtime::library() {
        let bytes = |file: &Path| file.metadata().map_or(0, |data| data.len());
        let weights = graph
            .files
            .iter()
            .fold(bytes(file), |sum, file| sum + bytes(file));
        let made = onnx_runtime::OnnxRuntime::new(&library, file, weights, output);
        return made
            .map(|made| Box::new(made) as Box<dyn Runtime>)
            .map_err(|error| {
                Fault::format(
                    format!(
                        "ONNX Runtime ({}) cannot run this network: {error}",
                        library.display()
                    ),
                    "Name another library in ORT_DYLIB_PATH, or none.",
                )
            });
    }
    let _ = file;
    let kind = |slot: &Slot| match slot.kind {
        NumberKind::I32 => i32::datum_type(),
        NumberKind::F32 => f32::datum_type(),
        NumberKind::I64 | NumberKind::Other => i64::datum_type(),
    };
    let inputs: Vec<(String, DatumType, Vec<Side>)> = graph
        .inputs
        .iter()
        .zip(sides)
        .map(|(slot, sides)| (slot.name.clone(), kind(slot), sides.clone()))
        .collect();
    let made = Tract::new(&graph.proto, folder, &inputs, output);
    made.map(|made| Box::new(made) as Box<dyn Runtime>)
        .map_err(|error| {
            Fault::format(
                format!("the network cannot be run: {error}"),
                format!("{NEXT} A build with the feature onnxruntime runs what this one cannot."),
            )
        })
}

/// One input of the network.
fn filled(slot: &Slot, shape: Vec<usize>, numbers: Vec<i64>) -> Input {
    let numbers = match slot.kind {
        NumberKind::I32 => {
            runtime::Numbers::I32(numbers.into_iter().map(|number| number as i32).collect())
        }
        _ => runtime::Numbers::I64(numbers),
    };
    Input {
        name: slot.name.clone(),
        shape,
        numbers,
    }
}
