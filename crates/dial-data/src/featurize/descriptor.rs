//! One picture as a row of numbers: where its edges run, how light its parts are, and what colours it has.
//!
//! The picture is brought to a canvas of 32 x 32 (stretched: its shape is not kept). On the canvas, with g = (gx, gy) the
//! central differences of lightness at a pixel,
//!
//! ```text
//! edges    h(c, b) = Σ over pixels of tent(pixel, cell c) · |g| · max(0, cos(angle of g - angle of b))¹⁶
//!          for 8 x 8 cells and 12 directions over the whole circle; each cell is divided by the length of each of the
//!          four blocks of 2 x 2 cells that hold it, cut at 0.3, and the four are averaged; then the row has length 1
//! light    means over 6 x 6 cells, by tents
//! colours  √ of the share of pixels near each of 7 x 7 points of the plane (a, b), by tents,
//!          a = s(R - G), b = s((R + G) / 2 - B), s(x) = sign(x) √|x|
//! ```
//!
//! Oriented gradients with overlapping blocks are those of Dalal and Triggs, "Histograms of oriented gradients for human
//! detection", 2005; averaging a cell over its blocks, which keeps the row short, is that of Felzenszwalb et al. 2010. We
//! differ: directions are taken by products with fixed unit vectors instead of angles (no arc tangent, so the same bits
//! everywhere). Where pictures have no colour all pixels are near the middle point, in every picture alike, and the
//! colours add nothing to any distance.
//!
//! Judged by the share of the ten nearest neighbours with the same label, after 64 principal components:
//!
//! | images | pixels | described |
//! |---|---|---|
//! | MNIST, 10,000 test images | 91.1 % | 96.9 % |
//! | FashionMNIST, 10,000 test images | 75.7 % | 83.6 % |
//! | optdigits, 5,620 of 8 x 8 | 97.4 % | 98.2 % |
//!
//! The settings were chosen on training images of the first two and on the third. Fewer directions, broader directions
//! (cos⁴), no signs, 6 or 10 cells and a larger canvas all did worse by a few thousandths, more lightness by more. What
//! colours count was not tuned: there were no pictures in colour to tune on.

use crate::media::images::Bitmap;
use crate::media::resample::{resized, resized_rows};

/// Columns and rows of the canvas.
const CANVAS_SIDE: usize = 32;
/// Cells of edges along a side, and directions.
const EDGE_CELLS: usize = 8;
const EDGE_DIRECTIONS: usize = 12;
/// Below this a block counts as empty.
const MIN_BLOCK_NORM: f32 = 0.02;
const MAX_NORMALIZED: f32 = 0.3;
/// Cells of lightness along a side.
const LIGHT_CELLS: usize = 6;
/// Points of colour along an axis.
const COLOUR_POINTS: usize = 7;
/// What lightness (root mean square) and colour (length) count beside edges (length 1).
const LIGHT_WEIGHT: f32 = 0.5;
const COLOUR_WEIGHT: f32 = 0.7;

const EDGE_VALUES: usize = EDGE_CELLS * EDGE_CELLS * EDGE_DIRECTIONS;
const LIGHT_VALUES: usize = LIGHT_CELLS * LIGHT_CELLS;
/// Numbers of a grey picture, and of one that may have colour.
pub(crate) const GREY_VALUES: usize = EDGE_VALUES + LIGHT_VALUES;
pub(crate) const COLOUR_VALUES: usize = GREY_VALUES + COLOUR_POINTS * COLOUR_POINTS;

/// What is the same for all pictures: the unit vectors of the directions, and the cells of each column (or row).
pub(crate) struct Descriptor {
    directions: Vec<(f32, f32)>,
    edge_cells: Vec<[(usize, f32); 2]>,
    light_cells: Vec<[(usize, f32); 2]>,
}

impl Descriptor {
    /// Prepares to describe pictures.
    pub fn new() -> Descriptor {
        let angle = |b: usize| 2.0 * std::f64::consts::PI * b as f64 / EDGE_DIRECTIONS as f64;
        Descriptor {
            directions: (0..EDGE_DIRECTIONS)
                .map(|b| (libm::cos(angle(b)) as f32, libm::sin(angle(b)) as f32))
                .collect(),
            edge_cells: (0..CANVAS_SIDE)
                .map(|x| {
                    tents(
                        (x as f32 + 0.5) * EDGE_CELLS as f32 / CANVAS_SIDE as f32 - 0.5,
                        EDGE_CELLS,
                    )
                })
                .collect(),
            light_cells: (0..CANVAS_SIDE)
                .map(|x| {
                    tents(
                        (x as f32 + 0.5) * LIGHT_CELLS as f32 / CANVAS_SIDE as f32 - 0.5,
                        LIGHT_CELLS,
                    )
                })
                .collect(),
        }
    }

    /// [`COLOUR_VALUES`] numbers for a picture in colour.
    pub fn of_colour(&self, bitmap: &Bitmap) -> Vec<f32> {
        let canvas: Vec<[f32; 3]> = resized(bitmap, CANVAS_SIDE, CANVAS_SIDE)
            .chunks_exact(3)
            .map(|pixel| {
                std::array::from_fn(|channel| pixel.get(channel).copied().unwrap_or(0.0) / 255.0)
            })
            .collect();
        let light: Vec<f32> = canvas
            .iter()
            .map(|[r, g, b]| 0.299 * r + 0.587 * g + 0.114 * b)
            .collect();
        let mut out = self.of_light(&light);
        out.extend(colours(&canvas));
        out
    }

    /// [`GREY_VALUES`] numbers for a grey picture of values from 0 to 1. `row(y)` appends its row y.
    pub fn of_grey(
        &self,
        row: impl Fn(usize, &mut Vec<f32>),
        width: usize,
        height: usize,
    ) -> Vec<f32> {
        self.of_light(&resized_rows(
            row,
            (width, height),
            (CANVAS_SIDE, CANVAS_SIDE),
            1,
        ))
    }

    fn of_light(&self, light: &[f32]) -> Vec<f32> {
        let mut out = normalised(&self.edges(light));
        out.extend(self.lights(light));
        out
    }

    /// h of the header as means over cells, [cell][direction].
    fn edges(&self, light: &[f32]) -> Vec<f32> {
        let mut sums = vec![0f32; EDGE_VALUES];
        let at = |y: usize, x: usize| light[y * CANVAS_SIDE + x];
        let (before, after) = (
            |i: usize| i.saturating_sub(1),
            |i: usize| (i + 1).min(CANVAS_SIDE - 1),
        );
        for y in 0..CANVAS_SIDE {
            for x in 0..CANVAS_SIDE {
                let gx = 0.5 * (at(y, after(x)) - at(y, before(x)));
                let gy = 0.5 * (at(after(y), x) - at(before(y), x));
                let length = (gx * gx + gy * gy).sqrt();
                if length < 1e-6 {
                    continue;
                }
                let towards = |&(dx, dy): &(f32, f32)| {
                    let cosine = ((gx * dx + gy * dy) / length).max(0.0);
                    let square = cosine * cosine;
                    let fourth = square * square;
                    let eighth = fourth * fourth;
                    length * eighth * eighth
                };
                let energies: [f32; EDGE_DIRECTIONS] =
                    std::array::from_fn(|b| towards(&self.directions[b]));
                for (row, down) in self.edge_cells[y] {
                    for (column, across) in self.edge_cells[x] {
                        let cell = &mut sums[(row * EDGE_CELLS + column) * EDGE_DIRECTIONS..]
                            [..EDGE_DIRECTIONS];
                        cell.iter_mut()
                            .zip(energies)
                            .for_each(|(sum, energy)| *sum += down * across * energy);
                    }
                }
            }
        }
        let area = (CANVAS_SIDE * CANVAS_SIDE) as f32 / (EDGE_CELLS * EDGE_CELLS) as f32;
        sums.iter().map(|sum| sum / area).collect()
    }

    fn lights(&self, light: &[f32]) -> Vec<f32> {
        let (mut sums, mut weights) = ([0f32; LIGHT_VALUES], [0f32; LIGHT_VALUES]);
        for y in 0..CANVAS_SIDE {
            for x in 0..CANVAS_SIDE {
                for (row, down) in self.light_cells[y] {
                    for (column, across) in self.light_cells[x] {
                        sums[row * LIGHT_CELLS + column] +=
                            down * across * light[y * CANVAS_SIDE + x];
                        weights[row * LIGHT_CELLS + column] += down * across;
                    }
                }
            }
        }
        // Divided by the root of their number, so that they count together as their root mean square.
        sums.iter()
            .zip(weights)
            .map(|(sum, weight)| LIGHT_WEIGHT / LIGHT_CELLS as f32 * sum / weight)
            .collect()
    }
}

/// The two of `count` points 0, 1, ... that a position lies between, with what it gives to each; beyond the first and the
/// last point it gives less.
fn tents(position: f32, count: usize) -> [(usize, f32); 2] {
    let floor = position.floor();
    let share = position - floor;
    let point = |at: f32, weight: f32| {
        if at < 0.0 || at > (count - 1) as f32 {
            (0, 0.0)
        } else {
            (at as usize, weight)
        }
    };
    [point(floor, 1.0 - share), point(floor + 1.0, share)]
}

/// Cells over the lengths of their blocks, cut and averaged; all of length 1 together.
fn normalised(cells: &[f32]) -> Vec<f32> {
    let cell = |row: usize, column: usize| {
        &cells[(row * EDGE_CELLS + column) * EDGE_DIRECTIONS..][..EDGE_DIRECTIONS]
    };
    let square = |row: usize, column: usize| {
        cell(row, column)
            .iter()
            .map(|value| value * value)
            .sum::<f32>()
    };
    let squares: Vec<f32> = (0..EDGE_CELLS * EDGE_CELLS)
        .map(|c| square(c / EDGE_CELLS, c % EDGE_CELLS))
        .collect();
    let block = |row: usize, column: usize| {
        let first = row * EDGE_CELLS + column;
        (squares[first]
            + squares[first + 1]
            + squares[first + EDGE_CELLS]
            + squares[first + EDGE_CELLS + 1]
            + MIN_BLOCK_NORM * MIN_BLOCK_NORM)
            .sqrt()
    };
    let mut out = Vec::with_capacity(cells.len());
    for row in 0..EDGE_CELLS {
        for column in 0..EDGE_CELLS {
            let rows = row.saturating_sub(1)..=row.min(EDGE_CELLS - 2);
            let lengths: Vec<f32> = rows
                .flat_map(|row| {
                    (column.saturating_sub(1)..=column.min(EDGE_CELLS - 2))
                        .map(move |column| (row, column))
                })
                .map(|(row, column)| block(row, column))
                .collect();
            let mean = |value: &f32| {
                lengths
                    .iter()
                    .map(|length| (value / length).min(MAX_NORMALIZED))
                    .sum::<f32>()
                    / lengths.len() as f32
            };
            out.extend(cell(row, column).iter().map(mean));
        }
    }
    let length = (out.iter().map(|value| value * value).sum::<f32>() + 1e-6).sqrt();
    out.iter_mut().for_each(|value| *value /= length);
    out
}

fn colours(canvas: &[[f32; 3]]) -> Vec<f32> {
    let mut shares = [0f32; COLOUR_POINTS * COLOUR_POINTS];
    let half = (COLOUR_POINTS / 2) as f32;
    let place = |x: f32| half + half * x.abs().sqrt() * if x < 0.0 { -1.0 } else { 1.0 };
    for [r, g, b] in canvas {
        for (row, down) in tents(place(r - g), COLOUR_POINTS) {
            for (column, across) in tents(place(0.5 * (r + g) - b), COLOUR_POINTS) {
                shares[row * COLOUR_POINTS + column] += down * across;
            }
        }
    }
    shares
        .iter()
        .map(|share| COLOUR_WEIGHT * (share / canvas.len() as f32).sqrt())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(side: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Bitmap {
        let rgb = (0..side * side)
            .flat_map(|i| pixel(i % side, i / side))
            .collect();
        Bitmap {
            width: side,
            height: side,
            rgb,
        }
    }

    #[test]
    fn an_upright_edge_points_across() {
        // Dark on the left, light on the right: all gradients point along direction 0. Its neighbours, at 30 degrees with
        // cos² = 3/4, get (3/4)⁸ = 6561/65536 of it, and the next, at 60 degrees, 1/65536.
        let picture = bitmap(32, |x, _| if x < 16 { [0; 3] } else { [255; 3] });
        let canvas: Vec<f32> = picture
            .rgb
            .chunks(3)
            .map(|pixel| f32::from(pixel[0]) / 255.0)
            .collect();
        let cells = Descriptor::new().edges(&canvas);
        let cell = &cells[(3 * EDGE_CELLS + 3) * EDGE_DIRECTIONS..][..EDGE_DIRECTIONS];
        assert!(
            cell[0] > 0.0 && cell[3..10].iter().all(|&value| value < 1e-6),
            "{cell:?}"
        );
        for (direction, share) in [
            (1, 6561.0 / 65536.0),
            (11, 6561.0 / 65536.0),
            (2, 1.0 / 65536.0),
        ] {
            assert!((cell[direction] / cell[0] - share).abs() < 1e-4, "{cell:?}");
        }
        // Far from the edge there is nothing.
        assert!(cells[..EDGE_DIRECTIONS].iter().all(|&value| value == 0.0));
    }

    #[test]
    fn colours_by_hand() {
        // Grey of any lightness lies in the middle point.
        let middle = COLOUR_POINTS * COLOUR_POINTS / 2;
        let grey = colours(&[[0.2; 3], [0.9; 3]]);
        assert_eq!(grey[middle], COLOUR_WEIGHT);
        assert_eq!(grey.iter().filter(|&&value| value != 0.0).count(), 1);
        // Pure blue: R - G = 0, the other axis -1, so row 3 and column 0.
        assert_eq!(
            colours(&[[0.0, 0.0, 1.0]])[3 * COLOUR_POINTS],
            COLOUR_WEIGHT
        );
    }

    #[test]
    fn grey_pictures_differ_by_nothing_in_colour() {
        let descriptor = Descriptor::new();
        let picture = bitmap(5, |x, y| [(40 * x + 7 * y) as u8; 3]);
        let colour = descriptor.of_colour(&picture);
        assert_eq!(colour.len(), COLOUR_VALUES);
        let row = |y: usize, out: &mut Vec<f32>| {
            out.extend(
                picture.rgb[y * 15..(y + 1) * 15]
                    .iter()
                    .step_by(3)
                    .map(|&v| f32::from(v) / 255.0),
            );
        };
        let grey = descriptor.of_grey(row, 5, 5);
        assert_eq!(grey.len(), GREY_VALUES);
        assert!(grey.iter().zip(&colour).all(|(a, b)| (a - b).abs() < 1e-4));
        // A blank picture has no edges, and no NaN.
        let blank = descriptor.of_colour(&bitmap(1, |_, _| [255; 3]));
        assert!(
            blank.iter().all(|value| value.is_finite())
                && blank[..EDGE_VALUES].iter().all(|&v| v == 0.0)
        );
    }
}
