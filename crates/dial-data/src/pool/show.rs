//! How to show an item to a person: a picture, a text, a spectrum of a scene, or numbers with their names.

use std::path::PathBuf;

/// How the items of a pool are shown. Numbers, pictures and spectra are rows of [`crate::Pool::shown`].
#[derive(Clone, Debug, PartialEq)]
pub enum Show {
    /// As numbers; the names of the columns, or none.
    Numbers(Vec<String>),
    /// As grey pictures.
    Picture(Picture),
    /// As picture files.
    Images(Images),
    /// As texts, one per item.
    Texts(Vec<String>),
    /// As spectra, each a pixel of a scene.
    Scene(Scene),
}

impl Default for Show {
    fn default() -> Show {
        Show::Numbers(Vec::new())
    }
}

impl Show {
    /// Only the items named, in that order.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn select_rows(&self, keep: &[usize]) -> Show {
        match self {
            Show::Numbers(names) => Show::Numbers(names.clone()),
            Show::Picture(picture) => Show::Picture(*picture),
            Show::Images(images) => Show::Images(Images {
                folder: images.folder.clone(),
                files: keep.iter().map(|&row| images.files[row].clone()).collect(),
            }),
            Show::Texts(texts) => Show::Texts(keep.iter().map(|&row| texts[row].clone()).collect()),
            Show::Scene(scene) => Show::Scene(Scene {
                pixels: keep.iter().map(|&row| scene.pixels[row]).collect(),
                ..scene.clone()
            }),
        }
    }

    /// Whether an item is shown by a row of numbers, which features made of them do not replace.
    pub(crate) fn by_numbers(&self) -> bool {
        !matches!(self, Show::Images(_) | Show::Texts(_))
    }

    /// One word for what an item is.
    pub fn word(&self) -> &'static str {
        match self {
            Show::Numbers(_) => "row",
            Show::Picture(_) | Show::Images(_) => "picture",
            Show::Texts(_) => "text",
            Show::Scene(_) => "pixel",
        }
    }
}

/// A row of `height * width` values, row by row, is a grey picture: `lowest` is black, `highest` is white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Rows of the picture.
    pub height: usize,
    /// Columns of the picture.
    pub width: usize,
    /// The value shown black.
    pub lowest: f64,
    /// The value shown white.
    pub highest: f64,
}

/// Picture files, one per item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// The folder that holds them.
    pub folder: PathBuf,
    /// The path of each, from the folder.
    pub files: Vec<String>,
}

/// A scene of `height * width` pixels, some of which are the items. Items of a scene from a file have ids such as `r12c34`:
/// row 12 and column 34, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Rows of the scene.
    pub height: usize,
    /// Columns of the scene.
    pub width: usize,
    /// The pixel of each item, counted row by row from the upper left: `row * width + column`.
    pub pixels: Vec<usize>,
    /// The wavelength of each band, or none.
    pub wavelengths: Vec<f64>,
    /// What wavelengths are measured in, such as `nm`; empty if unknown.
    pub unit: String,
}

impl Scene {
    /// Row and column of an item.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn position(&self, item: usize) -> (usize, usize) {
        (
            self.pixels[item] / self.width,
            self.pixels[item] % self.width,
        )
    }
}

/// Columns of a table that stand beside the items: for people to read, not for the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The cells, row after row.
    pub cells: Vec<String>,
}

impl Table {
    /// The cells of an item.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn row(&self, item: usize) -> &[String] {
        let width = self.names.len();
        &self.cells[item * width..(item + 1) * width]
    }

    /// Only the items named, in that order.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn select_rows(&self, keep: &[usize]) -> Table {
        let cells = keep
            .iter()
            .flat_map(|&row| self.row(row))
            .cloned()
            .collect();
        Table {
            names: self.names.clone(),
            cells,
        }
    }
}
