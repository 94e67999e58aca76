//! Class separators (Definition `def:class-separator`): how far a kernel tells the clusters of a pool apart.
//!
//! ```text
//! K separates {ρ_i} by (δ, ζ, ε) if disjoint sets X_i have ρ_i(X_i) >= 1 - δ,
//! K(x, x') > ζ for x, x' in the same set, and K(x, x') < ε for x, x' in different sets
//! ```
//!
//! On a pool ρ_i is uniform on the items of cluster i. The best sets contain a clique problem: [`search`] has a heuristic,
//! each result of which is measured on all pairs, and limits that nothing exceeds. [`attained`] is the check from the
//! columns themselves.
//!
//! Differences from the paper: its inequalities are strict, with which its own example (a compactly supported kernel,
//! ε = 0) would not hold: we take K >= ζ and K <= ε. It speaks of one cluster to a class; Remark `rem:C-clusters` allows
//! several, and then the sets belong to clusters, not to classes: no kernel that knows where it is can be large between
//! two clusters of a class and small between clusters of two classes that lie nearer.

mod figures;
pub mod pairs;
pub mod samples;
pub mod search;
mod findings;

use dial::Control;
use dial::propagation::Column;
use rayon::prelude::*;

pub use pairs::{Pairs, Separator, attained};
use samples::{DIAMETER, Sample, Spread};
pub use search::{Limit, limits};

use super::{LabError, Level, Outcome, TheoryOptions, paragraphs};

/// The kernels on the mixtures: the propagation DiAL uses by default, one that spreads farther, heat, and a radial one.
const SPREADS: [Spread; 4] = [
    Spread::Poisson(0.1),
    Spread::Poisson(0.001),
    Spread::Heat(100.0),
    Spread::Rbf(2.0),
];
/// The δ at which sets and fronts are shown.
const DELTA_SHOWN: f64 = 0.1;
/// The radius of the compactly supported kernel.
const RADIUS: f64 = 1.0;

/// One kernel on one pool.
struct Studied {
    /// The pool.
    sample: Sample,
    /// Its kernel.
    spread: Spread,
    /// Whether the sets belong to clusters, or to classes.
    by_cluster: bool,
    /// The allowed δ.
    deltas: Vec<f64>,
    /// What was found for each.
    found: Vec<Separator>,
    /// What nothing exceeds, for each.
    limits: Vec<Limit>,
    /// The trade-off at [`DELTA_SHOWN`].
    front: Vec<Separator>,
    /// Whether the check from the columns agrees with every triple.
    verified: bool,
}

impl Studied {
    fn of(
        sample: &Sample,
        spread: Spread,
        by_cluster: bool,
        level: Level,
        control: &Control,
    ) -> Result<Studied, LabError> {
        let columns = spread.columns(&sample.matrix, &control.quiet())?;
        let parts = if by_cluster {
            &sample.clusters
        } else {
            &sample.classes
        };
        let deltas = deltas(level);
        let pairs = Pairs::new(&columns, parts);
        control.check()?;
        let caps = level.pick(8, 20, 40);
        let found = pairs.best(&deltas, caps);
        let front = pairs.front(DELTA_SHOWN, caps);
        let limits = limits(&pairs, &deltas);
        control.advance(1)?;
        let verified = found
            .iter()
            .chain(&front)
            .all(|one| verify(&columns, parts, one));
        Ok(Studied {
            sample: sample.clone(),
            spread,
            by_cluster,
            deltas,
            found,
            limits,
            front,
            verified,
        })
    }

    /// What was found with δ at most [`DELTA_SHOWN`], and its limit.
    fn shown(&self) -> (&Separator, Limit) {
        let at = self
            .deltas
            .iter()
            .rposition(|delta| *delta <= DELTA_SHOWN)
            .unwrap_or(0);
        (&self.found[at], self.limits[at])
    }

    fn sets(&self) -> &'static str {
        if self.by_cluster {
            "clusters"
        } else {
            "classes"
        }
    }
}

fn deltas(level: Level) -> Vec<f64> {
    let fine = [
        0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3,
    ];
    level.pick(
        [0.0, 0.05, 0.1, 0.2, 0.3].to_vec(),
        fine.to_vec(),
        fine.to_vec(),
    )
}

/// Whether sets attain what is said of them, from the columns.
pub fn verify(columns: &[Column], clusters: &[usize], said: &Separator) -> bool {
    attained(columns, clusters, &said.kept) == *said
}

/// The example of a kernel with compact support on discs.
struct Compact {
    sample: Sample,
    attained: Separator,
    /// The largest distance within a disc.
    widest: f64,
}

/// Wendland's kernel at a distance r of its radius, as [`dial::propagation::radial::Shape::Compact`] has it.
pub fn wendland(r: f64) -> f64 {
    let gap = (1.0 - r).max(0.0);
    gap * gap * gap * gap * (4.0 * r + 1.0)
}

fn compact(level: Level, seed: u64, control: &Control) -> Result<Compact, LabError> {
    let sample = samples::discs(level.pick(40, 100, 200), seed);
    let columns = Spread::Compact(RADIUS).columns(&sample.matrix, &control.quiet())?;
    let attained = attained(&columns, &sample.clusters, &vec![true; sample.n()]);
    let (points, n) = (sample.points(), sample.n());
    let distance =
        |i: usize, j: usize| libm::hypot(points[i].0 - points[j].0, points[i].1 - points[j].1);
    let same = (0..n * n)
        .map(|p| (p / n, p % n))
        .filter(|(i, j)| sample.clusters[*i] == sample.clusters[*j]);
    let widest = same.map(|(i, j)| distance(i, j)).fold(0.0, f64::max);
    Ok(Compact {
        sample,
        attained,
        widest,
    })
}

/// Separators of mixtures and pools for several kernels.
///
/// # Errors
/// Cancelled; data that cannot be read.
pub fn run(settings: &TheoryOptions, control: &Control) -> Result<Outcome, LabError> {
    let TheoryOptions { level, seed, .. } = *settings;
    let each = level.pick(40, 100, 200);
    let mixtures = [
        samples::triangle("apart", 8.0, each, seed),
        samples::triangle("touching", 4.0, each, seed),
    ];
    let square = samples::square(each, seed);
    let real = samples::real(settings, level.pick(200, 600, 1200))?;
    let mut jobs: Vec<(&Sample, Spread, bool)> = Vec::new();
    mixtures
        .iter()
        .for_each(|sample| jobs.extend(SPREADS.map(|spread| (sample, spread, true))));
    jobs.extend([true, false].map(|by_cluster| (&square, Spread::Heat(100.0), by_cluster)));
    real.iter().for_each(|sample| {
        jobs.extend([0.1, 0.001].map(|tau| (sample, Spread::Poisson(tau), true)))
    });
    control.start("kernels on pools", jobs.len());
    let studied: Result<Vec<Studied>, LabError> = jobs
        .into_par_iter()
        .map(|(sample, spread, by_cluster)| Studied::of(sample, spread, by_cluster, level, control))
        .collect();
    let studied = studied?;
    control.finish();
    let compact = compact(level, seed, control)?;
    Ok(Outcome {
        text: paragraphs(include_str!("separation/text.md")),
        figures: figures::figures(&studied, &compact),
        tables: findings::tables(&studied),
        summaries: vec![findings::summary(&studied, &compact)],
        findings: findings::findings(&studied, &compact),
        settings: vec![findings::settings(&studied)],
        ..Outcome::default()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::theory::Verdict;

    /// What a part gives at the quick level, which has to be the same twice.
    pub(in crate::theory) fn repeated(
        run: fn(&TheoryOptions, &Control) -> Result<Outcome, LabError>,
        seed: u64,
    ) -> Outcome {
        let settings = TheoryOptions {
            level: Level::Quick,
            seed,
            ..TheoryOptions::default()
        };
        let [a, b] = [(); 2].map(|()| run(&settings, &Control::new()).unwrap());
        assert_eq!(format!("{:?}", a.tables), format!("{:?}", b.tables));
        a
    }

    #[test]
    fn a_quick_run_repeats_and_is_certified() {
        let a = repeated(run, 3);
        assert_eq!((a.figures.len(), a.findings.len()), (4, 5));
        // The compact example is exact, and every triple is attained and within its limits.
        assert_eq!(
            a.findings[0].verdict,
            Verdict::Supported,
            "{}",
            a.findings[0].evidence
        );
        assert_eq!(
            a.findings[4].verdict,
            Verdict::Supported,
            "{}",
            a.findings[4].evidence
        );
    }

    #[test]
    fn cancelled() {
        let control = Control::new();
        control.cancel();
        assert!(
            run(
                &TheoryOptions {
                    level: Level::Quick,
                    ..TheoryOptions::default()
                },
                &control
            )
            .is_err()
        );
    }
}
