//! Densities on the unit square: Gaussian kernel density estimates, and what a grid needs to know of a density.
//!
//! ```text
//! ρ(x) = (1 - ε) (1/n) Σ_i N(x; x_i, diag(a², b²)) + ε,      a = s_1 n^(-1/6) / 2,  b = s_2 n^(-1/6) / 2
//! ```
//!
//! s being the deviations of the sample along the axes: half of Scott's rule, which would blur the moons. The paper gives
//! no width. The share ε of a uniform density bounds ρ from below, as theory asks of a density; without it ρ falls to
//! 1e-14 in the corners of the square, and the equations there say nothing that could be computed.

use dial_plot::chart::Point;

/// A Gaussian kernel density estimate with a uniform share.
#[derive(Clone, Debug, PartialEq)]
pub struct Kde {
    /// The sample.
    pub points: Vec<Point>,
    /// a and b, the widths along the axes.
    pub widths: Point,
    /// ε, the share of the uniform density.
    pub floor: f64,
}

impl Kde {
    /// The estimate of a sample with the widths of half of Scott's rule.
    pub fn new(points: Vec<Point>, floor: f64) -> Kde {
        let widths = (
            half_scott(points.iter().map(|p| p.0)),
            half_scott(points.iter().map(|p| p.1)),
        );
        Kde {
            points,
            widths,
            floor,
        }
    }

    /// ρ at one point.
    pub fn at(&self, (x, y): Point) -> f64 {
        let (a, b) = self.widths;
        let sum: f64 = self
            .points
            .iter()
            .map(|p| normal(x, p.0, a) * normal(y, p.1, b))
            .sum();
        self.lifted(sum)
    }

    /// ρ where a grid of n by n cells needs it. A kernel is a product of a function of x and one of y, so 4n exponentials
    /// for every point of the sample are enough.
    pub fn sampled(&self, n: usize) -> Sampled {
        let h = 1.0 / n as f64;
        let (centres, faces) = (
            |i: usize| (i as f64 + 0.5) * h,
            |i: usize| (i + 1) as f64 * h,
        );
        let row = |place: &dyn Fn(usize) -> f64,
                   count,
                   coordinate: fn(&Point) -> f64,
                   width|
         -> Vec<f64> {
            let at = |i| {
                self.points
                    .iter()
                    .map(move |p| normal(place(i), coordinate(p), width))
            };
            (0..count).flat_map(at).collect()
        };
        let (a, b) = self.widths;
        let (x, y) = (row(&centres, n, |p| p.0, a), row(&centres, n, |p| p.1, b));
        let (x_faces, y_faces) = (
            row(&faces, n - 1, |p| p.0, a),
            row(&faces, n - 1, |p| p.1, b),
        );
        Sampled {
            n,
            cells: self.products(&x, &y),
            right: self.products(&x_faces, &y),
            above: self.products(&x, &y_faces),
        }
    }

    /// ρ on all pairs of places, those of y outside, from the values of the kernels at the places.
    fn products(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let many = self.points.len();
        let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y);
        let rows = y
            .chunks_exact(many)
            .flat_map(|y| x.chunks_exact(many).map(move |x| sum(x, y)));
        rows.map(|sum| self.lifted(sum)).collect()
    }

    fn lifted(&self, sum: f64) -> f64 {
        (1.0 - self.floor) * sum / self.points.len() as f64 + self.floor
    }
}

/// Half of Scott's rule in the plane: s n^(-1/6) / 2.
pub fn half_scott(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    0.5 * variance.sqrt() * libm::pow(n, -1.0 / 6.0)
}

fn normal(x: f64, mean: f64, width: f64) -> f64 {
    let z = (x - mean) / width;
    libm::exp(-0.5 * z * z) / (width * (2.0 * std::f64::consts::PI).sqrt())
}

/// A density where a grid of n by n square cells needs it; rows of cells from the bottom, each from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Cells along a side.
    pub n: usize,
    /// At the middles of the cells: n rows of n.
    pub cells: Vec<f64>,
    /// At the middles of the faces to the right of cells: n rows of n - 1.
    pub right: Vec<f64>,
    /// At the middles of the faces above cells: n - 1 rows of n.
    pub above: Vec<f64>,
}

impl Sampled {
    /// Any density.
    pub fn of(n: usize, density: impl Fn(f64, f64) -> f64) -> Sampled {
        let h = 1.0 / n as f64;
        let at = |i: usize, j: usize, dx: f64, dy: f64| {
            density((i as f64 + dx) * h, (j as f64 + dy) * h)
        };
        let cells = (0..n * n).map(|c| at(c % n, c / n, 0.5, 0.5)).collect();
        let right = (0..n * (n - 1))
            .map(|c| at(c % (n - 1), c / (n - 1), 1.0, 0.5))
            .collect();
        let above = (0..n * (n - 1))
            .map(|c| at(c % n, c / n, 0.5, 1.0))
            .collect();
        Sampled {
            n,
            cells,
            right,
            above,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_by_hand() {
        // At its own point a Gaussian of widths 1/2 and 1/4 has the height 1/(2π/8).
        let kde = Kde {
            points: vec![(0.3, 0.4)],
            widths: (0.5, 0.25),
            floor: 0.1,
        };
        let top = 8.0 / (2.0 * std::f64::consts::PI);
        assert!((kde.at((0.3, 0.4)) - (0.9 * top + 0.1)).abs() < 1e-15);
        assert!((kde.at((0.8, 0.65)) - (0.9 * top * libm::exp(-1.0) + 0.1)).abs() < 1e-15);
        // 0, 1, 2: deviation 1; 3^(-1/6)/2.
        assert!(
            (half_scott([0.0, 1.0, 2.0].into_iter()) - 0.5 * libm::pow(3.0, -1.0 / 6.0)).abs()
                < 1e-15
        );
    }

    #[test]
    fn the_grid_holds_the_density() {
        let points = vec![(0.2, 0.7), (0.5, 0.1), (0.9, 0.6), (0.4, 0.4)];
        let kde = Kde::new(points, 0.01);
        let (fast, slow) = (kde.sampled(7), Sampled::of(7, |x, y| kde.at((x, y))));
        for (a, b) in [
            (&fast.cells, &slow.cells),
            (&fast.right, &slow.right),
            (&fast.above, &slow.above),
        ] {
            assert_eq!(a.len(), b.len());
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13));
        }
        assert_eq!(
            (fast.cells.len(), fast.right.len(), fast.above.len()),
            (49, 42, 42)
        );
    }
}
