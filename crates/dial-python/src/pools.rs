//! Pools from files, as the command reads them.

use std::collections::HashMap;
use std::path::PathBuf;

use dial_data::media::images::Bitmap;
use dial_data::{BUILTIN_SEED, Beside, Buffer, Embed, Kind, Matrix, ReadOptions, Show, pool_name};
use numpy::ndarray::ArrayView3;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray4};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::matrix;
use crate::keywords::Keywords;
use crate::work::run;

/// Reads a pool: a file, a folder or `builtin:NAME`. Options are words, as on the command line.
#[pyfunction]
#[pyo3(signature = (place, options, progress=None) -> "dict[str, object]")]
pub fn read_pool<'py>(
    py: Python<'py>,
    place: &str,
    options: HashMap<String, String>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let pool = run(py, progress, |control| {
        let settings = Keywords(options);
        let flag = |name: &str| settings.or(name, false);
        let read = ReadOptions {
            id_column: settings.get("id_column")?,
            label_column: settings.get("label_column")?,
            text_column: settings.get("text_column")?,
            image_column: settings.get("image_column")?,
            kind: settings.get::<Kind>("kind")?,
            folder_labels: flag("folder_labels")?,
            drop_nonfinite: flag("drop_nonfinite")?,
            skip_bad: flag("skip_bad")?,
            standardize: settings.get("standardize")?,
            components: settings.get("components")?,
            labels_file: settings.get("labels")?,
            features_file: settings.get("features")?,
            variable: settings.get("variable")?,
            embed: settings.get::<Embed>("embed")?.map(|embed| Embed {
                kept: Some(format!("{}.embeddings", pool_name(place)).into()),
                ..embed
            }),
            without_features: flag("without_features")?,
            ..ReadOptions::default()
        };
        let mut pool = dial_data::open(place, &read, BUILTIN_SEED, control)?;
        if flag("drop_zero_rows")? {
            pool.drop_zero_rows()?;
        }
        Ok(pool)
    })?;
    let found = PyDict::new(py);
    found.set_item("name", &pool.name)?;
    match pool.matrix.values {
        Buffer::F32(values) => {
            let rows = PyArray1::from_vec(py, values).reshape([pool.matrix.n, pool.matrix.dim])?;
            found.set_item("X", rows)?;
        }
        Buffer::F64(values) => found.set_item("X", matrix(py, values, pool.matrix.dim)?)?,
    }
    found.set_item("metric", pool.metric.to_string())?;
    found.set_item("ids", pool.ids)?;
    let labels = pool.truth.as_ref().map(|truth| {
        PyArray1::from_iter(
            py,
            truth.labels.iter().map(|label| label.map_or(-1, i64::from)),
        )
    });
    found.set_item("labels", labels)?;
    found.set_item("classes", pool.truth.map(|truth| truth.classes))?;
    found.set_item("notes", pool.notes)?;
    match &pool.show {
        Show::Texts(texts) => found.set_item("texts", texts)?,
        Show::Images(images) => {
            let paths = images.files.iter().map(|file| images.folder.join(file));
            found.set_item("images", paths.collect::<Vec<_>>())?;
        }
        _ => {}
    }
    if let Show::Scene(scene) = pool.show {
        found.set_item("scene", (scene.height, scene.width))?;
        found.set_item(
            "pixels",
            PyArray1::from_iter(py, scene.pixels.iter().map(|&pixel| pixel as i64)),
        )?;
        found.set_item("wavelengths", PyArray1::from_vec(py, scene.wavelengths))?;
    }
    Ok(found)
}

/// Embeddings of texts by a model, a row for each; kept in a folder, if one is named.
#[pyfunction]
#[pyo3(signature = (texts, model, keep=None, progress=None) -> "object")]
pub fn embed<'py>(
    py: Python<'py>,
    texts: Vec<String>,
    model: PathBuf,
    keep: Option<PathBuf>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = alone(model, keep);
    let made = run(py, progress, |control| {
        Ok(dial_data::embed::embed(&texts, &how, control)?)
    })?;
    rows(py, made)
}

/// Embeddings of picture files by a model, a row for each; kept in a folder, if one is named.
#[pyfunction]
#[pyo3(signature = (files, model, keep=None, progress=None) -> "object")]
pub fn embed_files<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    model: PathBuf,
    keep: Option<PathBuf>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = alone(model, keep);
    let made = run(py, progress, |control| {
        Ok(dial_data::embed::embed_files(&files, &how, control)?)
    })?;
    rows(py, made)
}

/// Embeddings of pictures by a model, a row for each, from an array of pictures x height x width x 3 of bytes.
#[pyfunction]
#[pyo3(signature = (pixels, model, keep=None, progress=None) -> "object")]
pub fn embed_pixels<'py>(
    py: Python<'py>,
    pixels: PyReadonlyArray4<'py, u8>,
    model: PathBuf,
    keep: Option<PathBuf>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (_, height, width, _) = pixels.as_array().dim();
    let bitmap = |pixels: ArrayView3<'_, u8>| Bitmap {
        height: height as u32,
        width: width as u32,
        rgb: pixels.iter().copied().collect(),
    };
    let bitmaps: Vec<Bitmap> = pixels.as_array().outer_iter().map(bitmap).collect();
    let how = alone(model, keep);
    let made = run(py, progress, |control| {
        Ok(dial_data::embed::embed_bitmaps(&bitmaps, &how, control)?)
    })?;
    rows(py, made)
}

fn alone(model: PathBuf, kept: Option<PathBuf>) -> Embed {
    Embed {
        beside: Beside::None,
        kept,
        ..Embed::new(model)
    }
}

fn rows(py: Python<'_>, made: Matrix) -> PyResult<Bound<'_, PyAny>> {
    let Buffer::F32(values) = made.values else {
        unreachable!("embeddings are 32-bit floats");
    };
    Ok(PyArray1::from_vec(py, values)
        .reshape([made.n, made.dim])?
        .into_any())
}
