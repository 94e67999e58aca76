//! Drawn digits: 28 x 28 grey pictures drawn from pen strokes, each in a different hand.
//!
//! Control points are jittered, then the whole is bent, slanted, turned, scaled and moved. A pixel at distance r from
//! the pen's path has ink clamp(1/2 + (h - r)/s, 0, 1) with h half the pen's width and s the softness of its edge, then
//! Gaussian noise; values are whole numbers from 0 (paper) to 255 (ink).

use dial::seed::{Purpose, Random};

use super::strokes::{self, Point, Stroke};
use super::{pool, shuffled_parts};
use crate::pool::Pool;
use crate::pool::matrix::Buffer;
use crate::pool::show::{Picture, Show};

/// Sides of a picture in pixels.
const DIGIT_SIDE: usize = 28;
/// Standard deviation of the control points, in box units.
const CONTROL_JITTER: f64 = 0.042;
/// Standard deviation of the noise, in grey values.
const GREY_NOISE: f64 = 14.0;

/// A way of writing: what is the same for all strokes of one picture.
#[derive(Debug)]
struct Hand {
    /// Pixels per box unit across and down.
    size: Point,
    slant: f64,
    /// Cosine and sine of the turn.
    turn: Point,
    bend: Point,
    centre: Point,
    half_width: f64,
    softness: f64,
}

/// `n` drawn digits, as equally many of each as possible.
pub fn digits(n: usize, seed: u64) -> Pool {
    let mut random = Random::new(seed, Purpose::Generator, 0);
    let mut values = Vec::with_capacity(n * DIGIT_SIDE * DIGIT_SIDE);
    let mut labels = Vec::with_capacity(n);
    for digit in shuffled_parts(&[1.0; 10], n, &mut random) {
        values.extend(draw(digit, &mut random));
        labels.push(Some(digit as u16));
    }
    let mut pool = pool(
        "digits",
        Buffer::F32(values),
        DIGIT_SIDE * DIGIT_SIDE,
        labels,
    );
    pool.show = Show::Picture(Picture {
        height: DIGIT_SIDE,
        width: DIGIT_SIDE,
        lowest: 0.0,
        highest: 255.0,
    });
    pool
}

fn draw(digit: usize, random: &mut Random) -> Vec<f32> {
    let variants = strokes::variants(digit);
    let strokes = variants[random.below(variants.len())];
    let hand = hand(random);
    let mut distances = vec![f64::INFINITY; DIGIT_SIDE * DIGIT_SIDE];
    for stroke in jittered(strokes, random) {
        let path: Vec<Point> = strokes::curve(&stroke)
            .into_iter()
            .map(|point| hand.place(point))
            .collect();
        for piece in path.windows(2) {
            measure(
                &mut distances,
                piece[0],
                piece[1],
                hand.half_width + hand.softness,
            );
        }
    }
    let ink = |distance: f64| (0.5 + (hand.half_width - distance) / hand.softness).clamp(0.0, 1.0);
    let grey = |distance: f64, noise: f64| {
        (255.0 * ink(distance) + GREY_NOISE * noise)
            .clamp(0.0, 255.0)
            .round()
    };
    distances
        .into_iter()
        .map(|distance| grey(distance, random.normal()) as f32)
        .collect()
}

fn hand(random: &mut Random) -> Hand {
    let height = 18.5 * (1.0 + 0.08 * random.normal().clamp(-2.0, 1.5));
    let width = height * 0.66 * (1.0 + 0.14 * random.normal().clamp(-2.0, 2.0));
    let angle = 0.09 * random.normal().clamp(-2.5, 2.5);
    Hand {
        size: [width, height],
        slant: 0.12 + 0.16 * random.normal().clamp(-2.0, 2.0),
        turn: [libm::cos(angle), libm::sin(angle)],
        bend: [0.2 * random.normal(), 0.2 * random.normal()],
        centre: [
            14.0 + 0.8 * random.normal().clamp(-2.0, 2.0),
            14.0 + 0.8 * random.normal().clamp(-2.0, 2.0),
        ],
        half_width: 0.8 + 0.9 * random.uniform(),
        softness: 0.9 + 0.8 * random.uniform(),
    }
}

impl Hand {
    /// From the unit box to the picture.
    fn place(&self, [x, y]: Point) -> Point {
        let (x, y) = (x - 0.5, y - 0.5);
        let (x, y) = (
            x + self.bend[0] * (y * y - 0.08),
            y + self.bend[1] * (y * y - 0.25),
        );
        let (x, y) = (
            self.size[0] * x - self.slant * self.size[1] * y,
            self.size[1] * y,
        );
        let [cos, sin] = self.turn;
        [
            self.centre[0] + cos * x - sin * y,
            self.centre[1] + sin * x + cos * y,
        ]
    }
}

/// The strokes with shaken control points; points in the same place stay together.
fn jittered(strokes: &[Stroke], random: &mut Random) -> Vec<Vec<Point>> {
    let mut moved: Vec<(Point, Point)> = Vec::new();
    let mut shake = |point: &Point| match moved.iter().find(|(from, _)| from == point) {
        Some((_, to)) => *to,
        None => {
            let to = point.map(|x| x + CONTROL_JITTER * random.normal().clamp(-2.5, 2.5));
            moved.push((*point, to));
            to
        }
    };
    strokes
        .iter()
        .map(|stroke| stroke.iter().map(&mut shake).collect())
        .collect()
}

/// Lowers the distance of each pixel within `reach` of the straight piece from a to b.
fn measure(distances: &mut [f64], a: Point, b: Point, reach: f64) {
    let range = |axis: usize| {
        let low = (a[axis].min(b[axis]) - reach).max(0.0) as usize;
        let high = (a[axis].max(b[axis]) + reach).max(0.0) as usize;
        low..(high + 1).min(DIGIT_SIDE)
    };
    for row in range(1) {
        for column in range(0) {
            let distance = to_piece([column as f64 + 0.5, row as f64 + 0.5], a, b);
            let slot = &mut distances[row * DIGIT_SIDE + column];
            *slot = slot.min(distance);
        }
    }
}

/// The distance from p to the piece from a to b.
fn to_piece(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 {
        ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length
    } else {
        0.0
    };
    let t = along.clamp(0.0, 1.0);
    let (x, y) = (a[0] + t * dx - p[0], a[1] + t * dy - p[1]);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        assert_eq!(to_piece([1.0, 2.0], [0.0, 0.0], [2.0, 0.0]), 2.0);
        assert_eq!(to_piece([5.0, 4.0], [0.0, 0.0], [2.0, 0.0]), 5.0);
        assert_eq!(to_piece([3.0, 4.0], [0.0, 0.0], [0.0, 0.0]), 5.0);
    }

    #[test]
    fn pictures_are_whole_grey_values_with_ink_and_paper() {
        let pool = digits(50, 3);
        let Buffer::F32(values) = &pool.matrix.values else {
            panic!("digits are f32")
        };
        assert!(
            values
                .iter()
                .all(|&v| (0.0..=255.0).contains(&v) && v == v.trunc())
        );
        for picture in values.chunks(DIGIT_SIDE * DIGIT_SIDE) {
            let ink = picture.iter().filter(|&&v| v > 128.0).count();
            assert!((20..300).contains(&ink), "{ink}");
        }
        let truth = pool.truth.unwrap();
        assert!(
            (0..10).all(|class| truth.labels.iter().filter(|l| **l == Some(class)).count() == 5)
        );
    }

    /// Share of items whose nearest other item has the same label.
    fn nearest_neighbour_accuracy(pool: &Pool) -> f64 {
        let view = pool.matrix.features().unwrap();
        let labels = &pool.truth.as_ref().unwrap().labels;
        let n = pool.matrix.n;
        let nearest = |i: usize| {
            (0..n).filter(|&j| j != i).min_by(|&a, &b| {
                view.squared_distance(i, a)
                    .total_cmp(&view.squared_distance(i, b))
            })
        };
        (0..n)
            .filter(|&i| nearest(i).is_some_and(|j| labels[i] == labels[j]))
            .count() as f64
            / n as f64
    }

    #[test]
    fn digits_are_learnable_but_not_trivial() {
        let accuracy = nearest_neighbour_accuracy(&digits(2000, 0));
        println!("leave-one-out 1-NN accuracy of 2000 digits: {accuracy}");
        assert!((0.93..0.985).contains(&accuracy), "{accuracy}");
    }
}
