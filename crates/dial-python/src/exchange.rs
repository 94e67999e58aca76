//! Labels and beliefs of a session out and in: exports, imports, backups, the project in numbers.

use std::path::PathBuf;

use dial::NodeId;
use dial_data::write::write_whole;
use dial_store::{Export, Format, Import, Named, Status, random_id, read_labels, source};
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::errors::Failure;
use crate::holding::now;

#[pymethods]
impl Engine {
    /// The project in numbers, as JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, None, |inner, _| {
            inner.read(|project| serde_json::to_string(&Status::of(project)).unwrap_or_default())
        })
    }

    /// Writes all rows with their labels and, unless only these are wanted, what is believed about them.
    #[pyo3(signature = (file, format, labels_only, progress=None))]
    fn export(
        &self,
        py: Python<'_>,
        file: PathBuf,
        format: Option<&str>,
        labels_only: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.with(py, progress, |inner, control| {
            let format = match format {
                Some(word) => word.parse().map_err(|_| unknown())?,
                None => Format::of(&file).ok_or_else(unknown)?,
            };
            let items = inner.engine.items.clone();
            let ids: Vec<String> = (0..items.len() as u32)
                .map(|node| items.id(NodeId(node)))
                .collect();
            if !labels_only {
                inner.belief(control)?;
            }
            let view = inner
                .view
                .as_ref()
                .filter(|_| !labels_only)
                .map(|(_, view)| view);
            let bytes =
                inner.read(|project| Export::new(project.log(), &ids, view).bytes(format))??;
            Ok(write_whole(&file, |out| out.write_all(&bytes))?)
        })
    }

    /// Takes labels from a file as one group; what was stored, as JSON.
    #[pyo3(signature = (file, annotator, skip_unknown, add_classes, progress=None))]
    fn import_labels(
        &self,
        py: Python<'_>,
        file: PathBuf,
        annotator: Option<String>,
        skip_unknown: bool,
        add_classes: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.with(py, progress, |inner, control| {
            let how = Import {
                annotator,
                skip_unknown,
                add_classes,
                ..Import::default()
            };
            let (given, key) = (read_labels(&file, &Named::default())?, random_id()?);
            let source = source(&file);
            let imported = inner
                .change(|project| project.import_given(&source, given, &how, &key, now()))??;
            inner.follow(control)?;
            Ok(serde_json::to_string(&imported).unwrap_or_default())
        })
    }

    /// Copies a project on disk to a file that must not be there.
    fn backup(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        self.with(py, None, |inner, _| {
            if !inner.on_disk() {
                return Err(Failure::usage(
                    "a session in memory has no backup. Save it first: session.save(path).",
                ));
            }
            inner.change(|project| project.backup(&file, now()))??;
            Ok(())
        })
    }
}

fn unknown() -> Failure {
    Failure::usage(
        "the name does not say which format is wanted: end it with .csv, .jsonl, .npz or .parquet, or give format.",
    )
}
