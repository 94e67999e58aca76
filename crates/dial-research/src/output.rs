//! What an experiment leaves in its folder: figures as SVG and PNG, tables as CSV.

use std::path::{Path, PathBuf};

use dial_data::write::{Cell, write_csv, write_whole};

use crate::error::LabError;
use dial_plot::chart::{Canvas, to_png, to_svg};

/// A figure with the name of its file.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The name of the file without its ending.
    pub stem: String,
    /// What there is to see.
    pub caption: String,
    /// The drawing.
    pub canvas: Canvas,
}

/// A tidy table, written as `stem.csv`.
#[derive(Clone, Debug)]
pub struct Tidy {
    /// The name of the file without its ending.
    pub stem: String,
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Drawn {
    /// A figure by its parts.
    pub fn new(
        stem: impl Into<String>,
        caption: impl Into<String>,
        canvas: impl Into<Canvas>,
    ) -> Drawn {
        Drawn {
            stem: stem.into(),
            caption: caption.into(),
            canvas: canvas.into(),
        }
    }

    /// Writes `stem.svg` and `stem.png`; returns the files.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, LabError> {
        let mut files = Vec::new();
        for (ending, bytes) in [
            ("svg", to_svg(&self.canvas).into_bytes()),
            ("png", to_png(&self.canvas, 2.0)),
        ] {
            let file = folder.join(format!("{}.{ending}", self.stem));
            write_whole(&file, |out| out.write_all(&bytes))?;
            files.push(file);
        }
        Ok(files)
    }
}

impl Tidy {
    /// A table whose columns are named as the first line of its file names them.
    pub fn new(
        stem: impl Into<String>,
        header: &'static str,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Tidy {
        Tidy {
            stem: stem.into(),
            header: header.split(',').collect(),
            rows: rows.into_iter().collect(),
        }
    }

    /// Writes `stem.csv`; returns the file.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, LabError> {
        let file = folder.join(format!("{}.csv", self.stem));
        write_csv(&file, &self.header, self.rows.iter().cloned())?;
        Ok(file)
    }
}
