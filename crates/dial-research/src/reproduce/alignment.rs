//! Clusters and class probabilities that agree or not (`fig:cluster-align`, Example `ex:kernel-prob-alignment`).
//!
//! ```text
//! k(x, z) = 1 inside a cluster, 0 between clusters
//! s(P, K_x) = Σ_y P_y(x) Π_z P_y(z)^k(x,z)          1 for classes that follow the clusters, 0 for classes that split them
//! ```
//!
//! The points are ours (uniform in two discs); the paper draws circles only. Computed by [`super::density`], which also
//! has the prior π(P | α₀) with the centrality as the text means it and as it is printed. For the prior of probabilities
//! that are not certain we take 0.9 and 0.1 instead of 1 and 0.

use super::density::{Centrality, ln_alignment, ln_centrality, ln_prior};
use dial::seed::{Purpose, Random};
use dial::{Control, Result};
use dial_data::write::Cell;

use super::{Drawn, Finding, Outcome, ReproduceOptions, Tidy, Verdict};
use dial_plot::chart::{Colour, Point, Stroke};
use dial_plot::plot::{Colouring, Grid, Overlay, OverlayKind, Panel, Scatter};
use dial_plot::report::Table;
use dial_plot::stats::mean;

/// Middles of the two discs, which have radius 1.
const CENTRES: [Point; 2] = [(-1.4, 0.0), (1.4, 0.0)];

/// Points of both clusters, and which cluster each is of.
struct Clusters {
    points: Vec<Point>,
    of: Vec<usize>,
}

impl Clusters {
    /// `each` points in either disc.
    fn draw(each: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, Purpose::User, 0);
        let of: Vec<usize> = (0..2 * each).map(|i| i / each).collect();
        let mut inside = |cluster: &usize| loop {
            let (x, y) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
            // A gap around the horizontal boundary, so that the eye sees on which side a point is.
            if x * x + y * y < 0.9 && y.abs() > 0.06 {
                return (CENTRES[*cluster].0 + x, CENTRES[*cluster].1 + y);
            }
        };
        Self {
            points: of.iter().map(&mut inside).collect(),
            of,
        }
    }

    /// The kernel that tells the clusters apart and nothing else.
    fn kernel(&self) -> Vec<Vec<f64>> {
        let row = |x: &usize| {
            self.of
                .iter()
                .map(|z| f64::from(u8::from(x == z)))
                .collect()
        };
        self.of.iter().map(row).collect()
    }

    /// Classes that follow the clusters, and classes that split them into an upper and a lower half.
    fn classes(&self) -> [Vec<usize>; 2] {
        [
            self.of.clone(),
            self.points.iter().map(|p| usize::from(p.1 < 0.0)).collect(),
        ]
    }
}

/// Probabilities that give the class of each node with this much certainty.
fn probabilities(classes: &[usize], certainty: f64) -> Vec<Vec<f64>> {
    let row = |class: &usize| {
        (0..2)
            .map(|y| {
                if y == *class {
                    certainty
                } else {
                    1.0 - certainty
                }
            })
            .collect()
    };
    classes.iter().map(row).collect()
}

/// Both panels, s of every node, and what the prior prefers.
///
/// # Errors
/// Cancelled.
pub fn run(settings: &ReproduceOptions, control: &Control) -> Result<Outcome> {
    control.check()?;
    let clusters = Clusters::draw(if settings.quick { 12 } else { 80 }, settings.seed);
    let kernel = clusters.kernel();
    let classes = clusters.classes();
    let alignment = |classes: &[usize], certainty: f64| -> Vec<f64> {
        let p = probabilities(classes, certainty);
        kernel
            .iter()
            .enumerate()
            .map(|(x, row)| libm::exp(ln_alignment(&p, x, row)))
            .collect()
    };
    let s = [alignment(&classes[0], 1.0), alignment(&classes[1], 1.0)];
    let prior = |classes: &[usize], certainty, centrality| {
        ln_prior(&probabilities(classes, certainty), &kernel, 1.0, centrality)
    };
    let row = |(name, certainty): (&str, f64)| {
        let cell = |classes: &[usize], centrality| number(prior(classes, certainty, centrality));
        let (growing, printed) = (Centrality::Growing, Centrality::Printed);
        let cells = [
            cell(&classes[0], growing),
            cell(&classes[1], growing),
            cell(&classes[0], printed),
        ];
        [
            vec![name.to_owned()],
            cells.to_vec(),
            vec![cell(&classes[1], printed)],
        ]
        .concat()
    };
    let summary = Table::new(
        "Logarithm of the prior of P, up to a constant (α₀ = 1).",
        "Probabilities | aligned | misaligned | aligned, w as printed | misaligned, w as printed",
        [
            ("certain (1 and 0)", 1.0),
            ("soft (0.9 and 0.1)", 0.9),
            ("even (0.5)", 0.5),
        ]
        .map(row)
        .to_vec(),
    )
    .numbers(1..);
    let gap =
        prior(&classes[0], 0.9, Centrality::Growing) - prior(&classes[1], 0.9, Centrality::Growing);
    Ok(Outcome {
        figures: vec![figure(&clusters, &classes, &s)],
        tables: vec![table(&clusters, &classes, &s)],
        summaries: vec![summary],
        findings: vec![preference(&s, gap), direction(&kernel[0])],
        ..Outcome::default()
    })
}

/// A logarithm in words a table can hold.
fn number(value: f64) -> String {
    if value == f64::NEG_INFINITY {
        "−∞".into()
    } else {
        format!("{value:.1}").replace('-', "−")
    }
}

fn figure(clusters: &Clusters, classes: &[Vec<usize>; 2], s: &[Vec<f64>; 2]) -> Drawn {
    let boundaries = [
        vec![(0.0, -1.25), (0.0, 1.55)],
        vec![(-2.9, 0.0), (2.9, 0.0)],
    ];
    let titles = ["Aligned P", "Misaligned P"];
    let panel = |i: usize| {
        let line = |points, stroke| OverlayKind::Path { points, stroke };
        let around = CENTRES.map(|centre| {
            Overlay::named("", line(circle(centre), Stroke::solid(Colour::AXIS, 1.4)))
        });
        let dots = Stroke {
            dash: vec![2.5, 4.0],
            ..Stroke::solid(Colour::INK, 2.0)
        };
        let boundary = Overlay::named("decision boundary", line(boundaries[i].clone(), dots));
        let name = |j: usize, text: &str| Overlay::words(text, (CENTRES[j].0, 1.27), Colour::MUTED);
        Panel::Scatter(Scatter {
            title: format!("{}: s = {:.0} at every point", titles[i], mean(&s[i])),
            x_range: Some((-2.9, 2.9)),
            y_range: Some((-1.25, 1.55)),
            bare: true,
            points: clusters.points.clone(),
            colouring: Colouring::Classes {
                of: classes[i].clone(),
                names: ["class 1 according to P", "class 2 according to P"]
                    .map(String::from)
                    .to_vec(),
            },
            radius: 2.8,
            overlays: around
                .into_iter()
                .chain([boundary, name(0, "cluster 1"), name(1, "cluster 2")])
                .collect(),
            ..Scatter::default()
        })
    };
    let grid = Grid::new(
        "Probabilities that follow the clusters, and that split them",
        2,
        vec![panel(0), panel(1)],
    );
    Drawn::new(
        "alignment",
        "Two clusters (circles) that the kernel tells apart, and two ways to classify them \
         (fig:cluster-align). (a) Classes that follow the clusters: the alignment s is 1 at every point. \
         (b) Classes that split each cluster: s is 0 at every point, and so is the prior of P.",
        grid.sized(348.0, 168.0),
    )
}

/// Points around a disc of radius 1.
fn circle(centre: Point) -> Vec<Point> {
    let angle = |i: u32| 2.0 * std::f64::consts::PI * f64::from(i) / 90.0;
    (0..=90)
        .map(angle)
        .map(|a| (centre.0 + libm::cos(a), centre.1 + libm::sin(a)))
        .collect()
}

fn table(clusters: &Clusters, classes: &[Vec<usize>; 2], s: &[Vec<f64>; 2]) -> Tidy {
    let row = |i: usize| {
        let point = clusters.points[i];
        let whole = [clusters.of[i], classes[0][i], classes[1][i]].map(|v| Cell::Integer(v as i64));
        let s = [s[0][i], s[1][i]].map(Cell::Number);
        [
            [point.0, point.1].map(Cell::Number).to_vec(),
            whole.to_vec(),
            s.to_vec(),
        ]
        .concat()
    };
    Tidy::new(
        "alignment",
        "x,y,cluster,aligned_class,misaligned_class,aligned_s,misaligned_s",
        (0..clusters.points.len()).map(row),
    )
}

fn preference(s: &[Vec<f64>; 2], gap: f64) -> Finding {
    let exact = s[0].iter().all(|s| *s == 1.0) && s[1].iter().all(|s| *s == 0.0);
    Finding::new(
        "The prior behind Dirichlet Learning prefers probabilities that follow the clusters \
         (ex:kernel-prob-alignment).",
        Verdict::of(exact && gap > 0.0, false),
        format!(
            "s is exactly 1 for all {} points when classes follow the clusters and exactly 0 when they split them. With \
             probabilities 0.9 and 0.1 the logarithms of the priors still differ by {gap:.0}.",
            s[0].len()
        ),
    )
}

/// Which way the centrality goes as the kernel grows.
fn direction(row: &[f64]) -> Finding {
    let more: Vec<f64> = row.iter().map(|k| (k + 0.5).min(1.0)).collect();
    let change = |centrality| {
        ln_centrality(&more, 2, 1.0, centrality) - ln_centrality(row, 2, 1.0, centrality)
    };
    let (growing, printed) = (change(Centrality::Growing), change(Centrality::Printed));
    Finding::new(
        "w(x) is a centrality: the ratio of Γ functions increases with K(x, z).",
        if printed > 0.0 {
            Verdict::Supported
        } else {
            Verdict::Mixed
        },
        format!(
            "As printed it decreases: kernel values raised by up to 0.5 change ln w by {printed:.1}. Its reciprocal, \
             Π Γ(Kα₀ + k)/Γ(α₀ + k), increases ({growing:.1}) and is what we use."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_comes_out_exactly() {
        let outcome = run(
            &ReproduceOptions {
                quick: true,
                ..ReproduceOptions::default()
            },
            &Control::new(),
        )
        .unwrap();
        assert_eq!(
            outcome
                .findings
                .iter()
                .map(|f| f.verdict)
                .collect::<Vec<_>>(),
            [Verdict::Supported, Verdict::Mixed]
        );
        assert_eq!(outcome.tables[0].rows.len(), 24);
        for row in &outcome.tables[0].rows {
            assert!(
                matches!((&row[5], &row[6]), (Cell::Number(a), Cell::Number(b)) if *a == 1.0 && *b == 0.0)
            );
        }
        // α₀ = 1: all densities are 1. Aligned: ln Σ_x 2^12 = ln (24 · 4096); as printed ln (24 / 4096).
        let certain = &outcome.summaries[0].rows[0];
        assert_eq!(certain[1..], ["11.5", "−∞", "−5.1", "−∞"].map(String::from));
        assert!(
            outcome.figures[0]
                .canvas
                .description
                .contains("24 points, of them 12 class 1")
        );
    }
}
