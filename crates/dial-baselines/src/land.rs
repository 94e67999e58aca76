//! LAND, learning by active nonlinear diffusion (Murphy and Maggioni): ask the modes of the pool, the densest points that
//! are far from any denser one, and hand their labels down along nearest denser points.
//!
//! ```text
//! density    p(x) = Σ_{y among the k nearest of x} exp(-|x - y|²/σ²), normalised to sum 1;  σ: mean distance to the k-th
//! diffusion  P = D⁻¹ W,  D_t(x, y)² = Σ_i λ_i^{2t} (ψ_i(x) - ψ_i(y))²,  λ_i = 1 - μ_i,  ψ_i = D^{-1/2} v_i  (L_s v_i = μ_i v_i)
//! distance   ρ(x) = min D_t(x, y) over the denser y (at equal density the smaller id is denser); for the densest the
//!            maximum over all y
//! score      p(x) ρ(x), asked in descending order
//! ```
//!
//! The classifier walks the nodes from the densest down: a labelled node keeps its label, any other takes that of its
//! parent, the denser node nearest in D_t. A densest node without a label takes that of the labelled node nearest to it.
//! An isolated node has ψ = 0.
//!
//! The rankings that the paper's authors used come from other code whose settings are not known, and no setting we tried
//! repeats them. Pavia comes near: 6, 17, 25 and 49 of their first 10, 25, 50 and 100, rank correlation 0.41, with Euclidean
//! distances, σ half the mean distance to 20 neighbours, a uniform graph with k = 10, r = 50, t = 100 (and 2, 2, 7, 20 with
//! cosine, self-tuning k = 20, t = 30). Salinas-A does not: at best 1, 1, 6, 19, their first questions lying where nearly
//! all our densities are low (raw counts, the whole scene and added noise included), so we suspect another density. With
//! their first 10 and 100 questions our classifier is right on 0.88 and 0.997 of Pavia (theirs: 0.81 to 0.95, budgets not
//! given), but on 0.2 and 0.46 of Salinas-A (0.84 to 0.88), where its own questions give 0.88 and 0.985; both on raw
//! counts. [`Ranking`] asks in a given order, such as theirs.

use rayon::prelude::*;

use dial::acquisition::{Acquisition, Situation};
use dial::belief::field::Term;
use dial::control::Control;
use dial::error::{Error, Result, check_positive};
use dial::graph::Graph;
use dial::ids::NodeId;
use dial::knn::Neighbours;
use dial::linalg::eigen::Eigenpairs;

/// The settings of LAND.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandOptions {
    /// Diffusion time t: how many steps of the random walk.
    pub time: f64,
    /// Width σ of the density; by default the mean distance to the k-th neighbour.
    pub width: Option<f64>,
}

impl Default for LandOptions {
    /// t = 30 and the width from the pool.
    fn default() -> LandOptions {
        LandOptions {
            time: 30.0,
            width: None,
        }
    }
}

/// Densities, distances to denser nodes and parents of a pool.
///
/// Cost (`table:comp_comparison`): initially r eigenpairs and O(n² r) for the search among denser nodes, with O(n r)
/// memory; O(1) per unlabelled point; no auxiliary update; classifier update O(n).
#[derive(Clone, Debug, PartialEq)]
pub struct Land {
    /// p at every node.
    pub density: Vec<f64>,
    /// ρ at every node.
    pub distance: Vec<f64>,
    /// The denser node nearest in D_t; none for the densest.
    pub parent: Vec<Option<NodeId>>,
    /// The nodes from the densest down.
    descending: Vec<NodeId>,
    /// D_t² from the densest node.
    from_top: Vec<f64>,
}

impl Land {
    /// LAND from the neighbours that give the density, and the graph and the lowest eigenpairs of its normalised
    /// Laplacian that give the diffusion.
    ///
    /// # Errors
    /// A time that is negative or not finite, a width that is not above 0, or cancelled.
    ///
    /// # Panics
    /// If neighbours, graph and eigenpairs are not of the same number of nodes.
    pub fn new(
        found: &Neighbours,
        graph: &Graph,
        pairs: &Eigenpairs,
        options: LandOptions,
        control: &Control,
    ) -> Result<Land> {
        assert!(
            found.n() == graph.n() && pairs.vectors.len() == graph.n() * pairs.count(),
            "one pool"
        );
        if !(options.time.is_finite() && options.time >= 0.0) {
            return Err(Error::setting(
                "time",
                "a finite number at least 0",
                options.time,
            ));
        }
        let density = density(found, options.width)?;
        let coordinates = Coordinates::new(graph, pairs, options.time);
        Land::search(density, &coordinates, control)
    }

    fn search(density: Vec<f64>, coordinates: &Coordinates, control: &Control) -> Result<Land> {
        let n = density.len();
        let mut descending: Vec<NodeId> = (0..n as u32).map(NodeId).collect();
        descending.sort_by(|a, b| {
            density[b.index()]
                .total_cmp(&density[a.index()])
                .then(a.cmp(b))
        });
        let ordered = coordinates.reordered(&descending);
        control.start("searching denser nodes", n);
        let found: Vec<Vec<(f64, usize)>> = (0..n.div_ceil(ROWS_PER_BLOCK))
            .into_par_iter()
            .map(|block| {
                let rows = block * ROWS_PER_BLOCK..((block + 1) * ROWS_PER_BLOCK).min(n);
                control.advance(rows.len())?;
                Ok(ordered.nearest_before(rows, &descending))
            })
            .collect::<Result<_>>()?;
        control.finish();
        let (mut distance, mut parent) = (vec![0.0; n], vec![None; n]);
        for (&node, (squared, place)) in descending.iter().zip(found.concat()).skip(1) {
            (distance[node.index()], parent[node.index()]) =
                (squared.sqrt(), Some(descending[place]));
        }
        let top = descending[0].index();
        let from_top: Vec<f64> = (0..n).map(|node| coordinates.squared(top, node)).collect();
        distance[top] = from_top.iter().copied().fold(0.0, f64::max).sqrt();
        Ok(Land {
            density,
            distance,
            parent,
            descending,
            from_top,
        })
    }

    /// The class of every node from the labels of every class, a node with several labels counting for the class of its
    /// largest weight (the smaller class if they tie); no class while nothing is labelled.
    pub fn classes(&self, labels: &[Vec<Term>]) -> Vec<Option<usize>> {
        let given = given(labels, self.density.len());
        let mut classes = given.clone();
        for &node in &self.descending {
            if classes[node.index()].is_none() {
                classes[node.index()] = match self.parent[node.index()] {
                    Some(parent) => classes[parent.index()],
                    None => self.nearest_to_top(&given),
                };
            }
        }
        classes
    }

    fn nearest_to_top(&self, given: &[Option<usize>]) -> Option<usize> {
        let labelled = (0..given.len()).filter(|&node| given[node].is_some());
        // min_by keeps the first of equals.
        labelled
            .min_by(|&a, &b| self.from_top[a].total_cmp(&self.from_top[b]))
            .and_then(|node| given[node])
    }
}

impl Acquisition for Land {
    fn scores(&self, _: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        for ((out, density), distance) in out.iter_mut().zip(&self.density).zip(&self.distance) {
            *out = density * distance;
        }
        Ok(())
    }
}

/// An acquisition that asks in a given order, for example a ranking that was published.
///
/// Cost (`table:comp_comparison`): O(1) per unlabelled point, nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking(Vec<f64>);

impl Ranking {
    /// Asks the nodes of a pool of n in this order, then the others, which tie.
    ///
    /// # Errors
    /// A node that is out of range or comes twice.
    pub fn new(n: usize, order: &[NodeId]) -> Result<Ranking> {
        let mut scores = vec![f64::NAN; n];
        for (place, node) in order.iter().enumerate() {
            match scores.get_mut(node.index()) {
                Some(score) if score.is_nan() => *score = -(place as f64),
                _ => {
                    let got = format!("node {} at place {place} of {n} nodes", node.0);
                    return Err(Error::setting("ranking", "each node at most once", got));
                }
            }
        }
        scores
            .iter_mut()
            .filter(|score| score.is_nan())
            .for_each(|score| *score = -(n as f64));
        Ok(Ranking(scores))
    }
}

impl Acquisition for Ranking {
    fn scores(&self, _: &Situation<'_>, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&self.0);
        Ok(())
    }
}

/// The class of largest weight of every labelled node.
fn given(labels: &[Vec<Term>], n: usize) -> Vec<Option<usize>> {
    let mut best: Vec<Option<(f64, usize)>> = vec![None; n];
    for (class, terms) in labels.iter().enumerate() {
        // A node may have several labels of one class.
        let mut weights = std::collections::BTreeMap::new();
        terms
            .iter()
            .for_each(|&(node, weight)| *weights.entry(node).or_insert(0.0) += weight);
        for (node, weight) in weights {
            let best = &mut best[node.index()];
            if best.is_none_or(|(heaviest, _)| weight > heaviest) {
                *best = Some((weight, class));
            }
        }
    }
    best.into_iter()
        .map(|best| best.map(|(_, class)| class))
        .collect()
}

fn density(found: &Neighbours, width: Option<f64>) -> Result<Vec<f64>> {
    let nodes = || (0..found.n() as u32).map(NodeId);
    let width = width.unwrap_or_else(|| {
        let reaches: Vec<f64> = nodes()
            .filter_map(|node| found.of(node).last())
            .map(|(_, d)| d.sqrt())
            .collect();
        let mean = reaches.iter().fold(0.0, |sum, reach| sum + reach) / reaches.len() as f64;
        // Among copies only, every width gives the same density.
        if mean > 0.0 { mean } else { 1.0 }
    });
    check_positive("width", width)?;
    let near = |node| {
        found.of(node).fold(0.0, |sum, (_, squared)| {
            sum + libm::exp(-squared / (width * width))
        })
    };
    let raw: Vec<f64> = nodes().map(near).collect();
    let total = raw.iter().fold(0.0, |sum, p| sum + p);
    Ok(raw.into_iter().map(|p| p / total).collect())
}

/// Nodes per block of the search, which go through the candidates together, eight by eight; and the coordinates after
/// which they look whether a candidate can still be the nearest.
const ROWS_PER_BLOCK: usize = 64;
const NODE_LANES: usize = 8;
const COORDINATES_PER_CHECK: usize = 8;

/// The nodes in the coordinates λ_i^t ψ_i, whose Euclidean distance is D_t: eight nodes side by side, coordinate by
/// coordinate, so that one pass gives eight distances.
struct Coordinates {
    n: usize,
    r: usize,
    values: Vec<f64>,
}

impl Coordinates {
    fn new(graph: &Graph, pairs: &Eigenpairs, time: f64) -> Coordinates {
        let (n, r) = (graph.n(), pairs.count());
        // D_t only has |λ|^t: a sign common to all nodes does not change a distance.
        let decay: Vec<f64> = pairs
            .values
            .iter()
            .map(|mu| libm::pow((1.0 - mu).abs(), time))
            .collect();
        let mut out = Coordinates::blank(n, r);
        for (node, &degree) in graph.degrees().iter().enumerate() {
            let root = if degree > 0.0 {
                1.0 / degree.sqrt()
            } else {
                0.0
            };
            let v = pairs.at(NodeId(node as u32));
            (0..r).for_each(|i| *out.at(node, i) = decay[i] * root * v[i]);
        }
        out
    }

    fn blank(n: usize, r: usize) -> Coordinates {
        Coordinates {
            n,
            r,
            values: vec![0.0; n.div_ceil(NODE_LANES) * NODE_LANES * r],
        }
    }

    fn place(&self, node: usize, coordinate: usize) -> usize {
        (node / NODE_LANES * self.r + coordinate) * NODE_LANES + node % NODE_LANES
    }

    fn at(&mut self, node: usize, coordinate: usize) -> &mut f64 {
        let place = self.place(node, coordinate);
        &mut self.values[place]
    }

    fn reordered(&self, order: &[NodeId]) -> Coordinates {
        let mut out = Coordinates::blank(self.n, self.r);
        for (place, node) in order.iter().enumerate() {
            (0..self.r).for_each(|i| *out.at(place, i) = self.values[self.place(node.index(), i)]);
        }
        out
    }

    /// |x - y|², summed in the order of the coordinates.
    fn squared(&self, x: usize, y: usize) -> f64 {
        (0..self.r).fold(0.0, |sum, i| {
            let difference = self.values[self.place(x, i)] - self.values[self.place(y, i)];
            sum + difference * difference
        })
    }

    /// For each of some rows the nearest row before it, as squared distance and place; at equal distance the one whose
    /// node has the smaller id.
    fn nearest_before(&self, rows: std::ops::Range<usize>, nodes: &[NodeId]) -> Vec<(f64, usize)> {
        let mut best = vec![(f64::INFINITY, 0); rows.len()];
        for (block, values) in self
            .values
            .chunks_exact(self.r * NODE_LANES)
            .enumerate()
            .take(rows.end.div_ceil(NODE_LANES))
        {
            for (row, best) in rows.clone().zip(&mut best) {
                let squared = self.squared_to(row, values, best.0);
                for (place, squared) in (block * NODE_LANES..row).zip(squared) {
                    let nearer =
                        squared < best.0 || (squared == best.0 && nodes[place] < nodes[best.1]);
                    if nearer {
                        *best = (squared, place);
                    }
                }
            }
        }
        best
    }

    /// The squared distances from a row to eight others; or what they come to at least, if that is above `bar` for all
    /// of them. The first coordinates decay least, so that is often seen early.
    #[inline]
    fn squared_to(&self, row: usize, eight: &[f64], bar: f64) -> [f64; NODE_LANES] {
        let mut sums = [0.0; NODE_LANES];
        for (first, others) in (0..)
            .step_by(COORDINATES_PER_CHECK)
            .zip(eight.chunks(NODE_LANES * COORDINATES_PER_CHECK))
        {
            for (i, others) in (first..).zip(others.chunks_exact(NODE_LANES)) {
                let own = self.values[self.place(row, i)];
                for lane in 0..NODE_LANES {
                    let difference = own - others[lane];
                    sums[lane] += difference * difference;
                }
            }
            if sums.iter().all(|&sum| sum > bar) {
                break;
            }
        }
        sums
    }
}
