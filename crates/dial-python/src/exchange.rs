//! Labels and beliefs of a session out and in: exports, imports, backups, the project in numbers.

use std::path::PathBuf;

use dial_data::write::write_whole;
use dial_server::ProjectHandle;
use dial_server::http::wire::{ImportRequest, Wanted};
use dial_store::{Format, Named, random_id, read_labels, source};
use pyo3::prelude::*;

use crate::engine::{Engine, on_disk};
use crate::errors::Failure;

#[pymethods]
impl Engine {
    /// The project in numbers, as JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, None, |local, _| {
            Ok(serde_json::to_string(&local.status()?).unwrap_or_default())
        })
    }

    /// Writes all rows with their labels and, unless only these are wanted, their predictions.
    #[pyo3(signature = (file, format, labels_only, original_columns=None, progress=None))]
    fn export(
        &self,
        py: Python<'_>,
        file: PathBuf,
        format: Option<&str>,
        labels_only: bool,
        original_columns: Option<bool>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.with(py, progress, |local, _| {
            let format: Option<Format> = match format {
                Some(word) => word.parse().ok(),
                None => Format::of(&file),
            };
            let format = format.ok_or_else(unknown)?.to_string();
            let bytes = local.export(&Wanted {
                format,
                labels_only,
                original_columns,
                preview: None,
            })?;
            Ok(write_whole(&file, |out| out.write_all(&bytes))?)
        })
    }

    /// Takes labels from a file, or those of the pool itself, as one group; what was stored, as JSON.
    #[pyo3(signature = (file, annotator, skip_unknown, add_classes, progress=None))]
    fn import_labels(
        &self,
        py: Python<'_>,
        file: Option<PathBuf>,
        annotator: Option<String>,
        skip_unknown: bool,
        add_classes: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.with(py, progress, |local, _| {
            let labels = match &file {
                Some(file) => read_labels(file, &Named::default())?,
                None => Vec::new(),
            };
            let imported = local.import(ImportRequest {
                source: file.as_deref().map_or(String::new(), source),
                labels,
                of_pool: file.is_none(),
                annotator,
                skip_unknown,
                add_classes,
                key: random_id()?,
            })?;
            local.session()?;
            Ok(serde_json::to_string(&imported).unwrap_or_default())
        })
    }

    /// Copies a project on disk to a file that must not be there.
    fn backup(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        self.with(py, None, |local, _| {
            if !on_disk(local) {
                return Err(Failure::usage(
                    "a session in memory has no backup. Save it first: session.save(path).",
                ));
            }
            local.backup(&file)?;
            Ok(())
        })
    }

    /// The browsers that are signed in to the page, as JSON.
    fn browsers(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, None, |local, _| {
            Ok(serde_json::to_string(&local.sessions()?).unwrap_or_default())
        })
    }

    /// Signs browsers out; those that are left, as JSON.
    fn sign_out(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<String> {
        self.with(py, None, |local, _| {
            Ok(serde_json::to_string(&local.end_sessions(&ids)?).unwrap_or_default())
        })
    }
}

fn unknown() -> Failure {
    Failure::usage(
        "the name does not say which format is wanted: end it with .csv, .jsonl, .npz, .parquet or .zip (maps of a scene), or give format.",
    )
}
