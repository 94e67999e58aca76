//! Maps of classes: a picture whose pixels have classes, as hyperspectral scenes do (`fig:salinas-gt`).

use super::axes::Area;
use super::{Grid, Panel};
use crate::chart::{Canvas, Colour};
use crate::colours;
use crate::picture::IndexedPicture;
use crate::words::Listed;

/// The colour of pixels without a class.
const BACKGROUND: Colour = Colour(238, 239, 241);

/// A picture of pixel classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassMap {
    /// Heading.
    pub title: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The class of each pixel, row by row from the top left; none for the background.
    pub classes: Vec<Option<usize>>,
    /// Names of the classes.
    pub names: Vec<String>,
    /// Their colours; those that are not given are of the palette.
    pub colours: Vec<Colour>,
    /// What pixels without a class lack.
    pub lacking: Lacking,
}

/// What pixels without a class lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lacking {
    /// A label.
    #[default]
    Label,
    /// Data: they were not measured.
    Data,
}

impl Lacking {
    /// For the legend, and for a sentence.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Lacking::Label => ("no label", "without a label"),
            Lacking::Data => ("no data", "without data"),
        }
    }
}

impl ClassMap {
    fn colour(&self, class: usize) -> Colour {
        let given = self.colours.get(class).copied();
        given.unwrap_or_else(|| colours::of_class(class))
    }

    /// The classes with their colours, for the legend.
    pub(super) fn legend(&self) -> Vec<(String, Colour)> {
        let named = self
            .names
            .iter()
            .enumerate()
            .map(|(class, name)| (name.clone(), self.colour(class)));
        let empty = self
            .classes
            .iter()
            .any(Option::is_none)
            .then(|| (self.lacking.words().0.to_owned(), BACKGROUND));
        named.chain(empty).collect()
    }

    /// The largest part of an area with the proportions of the picture.
    fn fitted(&self, area: &Area) -> Area {
        let (rows, columns) = (self.rows.max(1) as f64, self.columns.max(1) as f64);
        let side = (area.width / columns).min(area.height / rows);
        Area {
            width: side * columns,
            height: side * rows,
            ..*area
        }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let area = self.fitted(area);
        let count = self
            .names
            .len()
            .max(
                self.classes
                    .iter()
                    .flatten()
                    .map(|c| c + 1)
                    .max()
                    .unwrap_or(0),
            )
            .min(254);
        let number = |class: &Option<usize>| {
            class.map_or(0, |class| class.min(count.saturating_sub(1)) + 1) as u8
        };
        let picture = IndexedPicture {
            height: self.rows,
            width: self.columns,
            palette: [BACKGROUND]
                .into_iter()
                .chain((0..count).map(|class| self.colour(class)))
                .collect(),
            numbers: self.classes.iter().map(number).collect(),
        };
        canvas.shapes.push(area.filled(picture));
        canvas.shapes.push(area.frame());
    }

    /// What there is to see, in words.
    pub(super) fn describe(&self) -> String {
        let count = |class| self.classes.iter().filter(|c| **c == class).count();
        let counts = self
            .names
            .iter()
            .enumerate()
            .map(|(c, name)| format!("{} of {name}", count(Some(c))));
        let counts = counts.joined(", ");
        let (rows, columns) = (self.rows, self.columns);
        let head = if self.title.is_empty() {
            "Map of classes"
        } else {
            &self.title
        };
        format!(
            "{head}: {rows} by {columns} pixels; {counts}, {} {}.",
            count(None),
            self.lacking.words().1
        )
    }
}

/// The map of a scene with its legend, as a complete drawing.
pub fn scene_map(map: ClassMap) -> Canvas {
    let (width, height) = scene_size(map.rows, map.columns);
    let grid = Grid::new("", 1, [Panel::Classes(map)]);
    grid.sized(width, height).canvas()
}

/// Width and height of the map of a scene: whole pixels where it is small enough, so that all are of one size.
pub(super) fn scene_size(rows: usize, columns: usize) -> (f64, f64) {
    let side = 360.0 / rows.max(columns).max(1) as f64;
    let side = if side >= 1.0 { side.floor() } else { side };
    (side * columns.max(1) as f64, side * rows.max(1) as f64)
}
