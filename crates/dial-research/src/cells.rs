//! The cells of an experiment on disk, so that a killed run goes on where it stopped.
//!
//! A cell is the smallest piece worth keeping: one trial of one method, say. It is a small CSV file of numbers, written
//! whole or not at all, under a name that says what it is. The folder also holds the settings the cells were made with;
//! other settings are refused rather than mixed. Numbers are written in the shortest form that reads back to the same
//! bits, so a resumed run gives what an uninterrupted one would have given, apart from timings.

use std::path::{Path, PathBuf};

use dial_data::write::{Cell, write_csv, write_whole};
use serde_json::Value;

use crate::error::LabError;

/// A folder of cells made with one group of settings.
pub struct Cells {
    folder: PathBuf,
}

impl Cells {
    /// Opens or creates the folder for these settings.
    ///
    /// # Errors
    /// The folder holds cells of other settings (R1), or cannot be written.
    pub fn open(folder: PathBuf, settings: &Value) -> Result<Cells, LabError> {
        let file = folder.join("settings.json");
        let text = format!("{settings:#}\n");
        match std::fs::read_to_string(&file) {
            Ok(found) if found == text => {}
            Ok(_) => {
                return Err(LabError::conflict(format!(
                    "{} holds a run with other settings. Nothing was changed. Choose another --out, or remove that \
                     folder.",
                    folder.display()
                )));
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LabError::storage(format!(
                    "{}: {error}. Nothing was changed. Choose another --out.",
                    file.display()
                )));
            }
            Err(_) => {
                create(&folder)?;
                write_whole(&file, |out| out.write_all(text.as_bytes()))?;
            }
        }
        Ok(Cells { folder })
    }

    /// The rows of a cell, if it was finished.
    pub fn get(&self, name: &str, header: &[&str]) -> Option<Vec<Vec<f64>>> {
        let text = std::fs::read_to_string(self.path(name)).ok()?;
        let mut lines = text.lines();
        (lines.next()? == header.join(",")).then_some(())?;
        let number = |cell: &str| {
            if cell.is_empty() {
                Some(f64::NAN)
            } else {
                cell.parse().ok()
            }
        };
        let row = |line: &str| line.split(',').map(number).collect::<Option<Vec<f64>>>();
        lines
            .map(row)
            .collect::<Option<Vec<_>>>()
            .filter(|rows| rows.iter().all(|row| row.len() == header.len()))
    }

    /// Keeps the rows of a cell.
    pub fn put(&self, name: &str, header: &[&str], rows: &[Vec<f64>]) -> Result<(), LabError> {
        let path = self.path(name);
        create(path.parent().unwrap_or(&self.folder))?;
        let cell = |value: &f64| {
            if value.is_nan() {
                Cell::Empty
            } else {
                Cell::Number(*value)
            }
        };
        Ok(write_csv(
            &path,
            header,
            rows.iter().map(|row| row.iter().map(cell).collect()),
        )?)
    }

    /// The rows of a cell: those on disk, or those that `make` makes, which are then kept.
    pub fn get_or(
        &self,
        name: &str,
        header: &[&str],
        make: impl FnOnce() -> Result<Vec<Vec<f64>>, LabError>,
    ) -> Result<Vec<Vec<f64>>, LabError> {
        if let Some(rows) = self.get(name, header) {
            return Ok(rows);
        }
        let rows = make()?;
        self.put(name, header, &rows)?;
        Ok(rows)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.csv"))
    }
}

/// Makes a folder and those it lies in.
pub fn create(folder: &Path) -> Result<(), LabError> {
    std::fs::create_dir_all(folder).map_err(|error| {
        LabError::storage(format!(
            "{}: {error}. Choose another --out.",
            folder.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_reads_back_bit_by_bit_and_other_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cells");
        let cells = Cells::open(place.clone(), &json!({ "seed": 1 })).unwrap();
        let rows = vec![vec![0.0, f64::NAN, 0.1 + 0.2], vec![1.0, 1e-300, -2.5]];
        assert!(cells.get("a/b", &["x", "y", "z"]).is_none());
        cells.put("a/b", &["x", "y", "z"], &rows).unwrap();
        let again = Cells::open(place.clone(), &json!({ "seed": 1 })).unwrap();
        let back = again.get("a/b", &["x", "y", "z"]).unwrap();
        let bits = |rows: &[Vec<f64>]| {
            rows.concat()
                .iter()
                .map(|v| v.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&back), bits(&rows));
        assert!(
            again.get("a/b", &["x", "y"]).is_none(),
            "another header is another cell"
        );
        let refused = Cells::open(place, &json!({ "seed": 2 })).err().unwrap();
        assert_eq!(refused.code, "R1");
    }

    #[test]
    fn a_damaged_cell_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cells = Cells::open(folder.path().to_path_buf(), &json!({})).unwrap();
        std::fs::write(folder.path().join("t.csv"), "x\n1\noops\n").unwrap();
        assert!(cells.get("t", &["x"]).is_none());
        assert_eq!(
            cells.get_or("t", &["x"], || Ok(vec![vec![3.0]])).unwrap(),
            [[3.0]]
        );
        assert_eq!(cells.get("t", &["x"]).unwrap(), [[3.0]]);
    }
}
