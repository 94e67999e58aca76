//! Mixture parameters and the class separator they promise (`prop:heat-class-sep`, `prop:low-mode-estimate`).
//!
//! ```text
//! S, C, Θ                      overlapping, coupling, indivisibility        parameters.rs
//! λ_K, λ_{K+1}                 the spectral gap on the line, in the plane   spectrum.rs, plane.rs
//! bounds of the gap            Propositions 27 and 38 of the cited work     gap.rs
//! Λ, Ξ, (δ, ζ, ε), conditions  the separator                                separator.rs
//! k_t, its norms, the truth    the heat kernel itself                       heat.rs
//! t = |ln κ| κ^{-1/2}          the Corollary: S, C ≤ κ, Θ ≥ √κ              scaling.rs
//! ```
//!
//! Each of these modules says where the printed formula was changed and why. The operator is (1/ρ) div(ρ ∇), to which the
//! parameters belong; (1/ρ) div(ρ² ∇), used elsewhere in the section, is computed beside it. Mixtures are Gaussian: on an
//! interval or rectangle that reaches a few deviations beyond every centre, with Neumann ends.

pub mod density;
mod figures;
pub mod gap;
pub mod heat;
pub mod parameters;
pub mod plane;
pub mod scaling;
pub mod separator;
pub mod spectrum;
mod tables;
mod findings;

use dial::Control;
use dial::seed::{Purpose, Random};

use super::{LabError, Outcome, TheoryOptions, each};
use density::{Component, Grid};
use gap::Coupling;
use heat::Heat;
use parameters::Parameters;
use scaling::{Member, Scaled};
use spectrum::{Inside, eigenvalue};

/// How many deviations beyond the outer centres the line and the plane go.
const DEVIATIONS_BEYOND_CENTRES: f64 = 6.0;
/// A bound counts as broken if it is so much on the wrong side: what the grid may be wrong by.
const GRID_ERROR: f64 = 2e-3;

/// Two Gaussians of deviation 1 and equal weight, so far apart.
pub fn pair(distance: f64) -> [Component; 2] {
    [0.0, distance].map(|centre| Component::line(0.5, centre, 1.0))
}

/// The three clusters of the plane.
pub fn triangle() -> [Component; 3] {
    [
        Component::plane(0.5, [0.0, 0.0], 1.0),
        Component::plane(0.3, [5.0, 0.0], 0.8),
        Component::plane(0.2, [2.0, 5.0], 0.9),
    ]
}

/// A mixture on the line with its gap.
struct Case {
    distance: f64,
    p: Parameters,
    /// λ_K and λ_{K+1} with ρ inside.
    gap: [f64; 2],
    /// λ_{K+1} with ρ² inside.
    square: f64,
}

fn case(
    components: &[Component],
    distance: f64,
    cells: usize,
    control: &Control,
) -> Result<Case, LabError> {
    let grid = Grid::new(components, DEVIATIONS_BEYOND_CENTRES, cells);
    let k = components.len();
    let value = |inside, k| eigenvalue(&grid.log_density, grid.axes[0].1, inside, k);
    let p = Parameters::of(&grid, control)?;
    let gap = [value(Inside::Density, k), value(Inside::Density, k + 1)];
    Ok(Case {
        distance,
        p,
        gap,
        square: value(Inside::Square, k + 1),
    })
}

/// How often bounds could be applied to random mixtures, and how often they were broken.
#[derive(Clone, Copy, Debug, Default)]
struct Census {
    drawn: usize,
    /// KS < 1.
    lower: usize,
    lower_broken: usize,
    /// The lower bound against λ_{K+1} of the operator with ρ² inside.
    lower_square_broken: usize,
    /// A negative bracket that was squared as printed gave a bound above λ_{K+1}.
    squared_negative: usize,
    /// K √S < 1.
    upper: usize,
    upper_broken: usize,
    upper_printed_broken: usize,
}

/// A random mixture of 2 to 4 clusters, in a random unit of length.
fn random_mixture(random: &mut Random) -> Vec<Component> {
    let unit = libm::pow(10.0, 2.0 * random.uniform() - 1.0);
    let count = 2 + random.below(3);
    let weights: Vec<f64> = (0..count).map(|_| 0.2 + random.uniform()).collect();
    let total: f64 = weights.iter().sum();
    let mut centre = 0.0;
    let mut one = |weight: &f64| {
        centre += unit * (2.0 + 7.0 * random.uniform());
        Component::line(weight / total, centre, unit * (0.5 + random.uniform()))
    };
    weights.iter().map(&mut one).collect()
}

fn census(count: usize, cells: usize, seed: u64, control: &Control) -> Result<Census, LabError> {
    let numbers: Vec<u64> = (0..count as u64).collect();
    let cases = each(&numbers, control, |number| {
        let components = random_mixture(&mut Random::new(seed, Purpose::User, *number));
        case(&components, f64::NAN, cells, control)
    })?;
    let mut census = Census {
        drawn: count,
        ..Census::default()
    };
    for Case {
        p,
        gap: [below, above],
        square,
        ..
    } in &cases
    {
        if let Some(bound) = gap::lower(p, Coupling::Squared) {
            let root = gap::bracket(p, Coupling::Squared).unwrap_or(0.0);
            census.lower += 1;
            census.lower_broken += usize::from(bound > above * (1.0 + GRID_ERROR));
            census.lower_square_broken += usize::from(bound > square * (1.0 + GRID_ERROR));
            census.squared_negative +=
                usize::from(root < 0.0 && root * root > above * (1.0 + GRID_ERROR));
        }
        if let (Some(bound), Some(printed)) = (
            gap::upper(p, Coupling::Squared),
            gap::upper(p, Coupling::Printed),
        ) {
            census.upper += 1;
            census.upper_broken += usize::from(*below > bound * (1.0 + GRID_ERROR));
            census.upper_printed_broken += usize::from(*below > printed * (1.0 + GRID_ERROR));
        }
    }
    Ok(census)
}

/// The plane: its grid, parameters and low spectrum.
struct Plane {
    grid: Grid,
    p: Parameters,
    values: Vec<f64>,
    functions: Vec<Vec<f64>>,
}

/// What was computed.
struct Found {
    sweep: Vec<Case>,
    census: Census,
    plane: Plane,
    family: Vec<Member>,
    corollary: Vec<Scaled>,
    /// Reach of the interval, and sup k_1(x, x) of a single Gaussian on it.
    tails: Vec<(f64, f64)>,
}

fn compute(settings: &TheoryOptions, control: &Control) -> Result<Found, LabError> {
    let level = settings.level;
    let distances: Vec<f64> = (0..=48).map(|i| 2.0 + 0.25 * f64::from(i)).collect();
    let count = level.pick(200, 1000, 5000);
    let far: Vec<f64> = (0..=level.pick(5, 10, 20))
        .map(|i| 10.0 + f64::from(i) * level.pick(2.0, 1.0, 0.5))
        .collect();
    let reaches = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    control.start(
        "mixtures",
        distances.len() + count + far.len() + reaches.len() + 1,
    );
    let cells = level.pick(1200, 3000, 6000);
    let sweep = each(&distances, control, |d| case(&pair(*d), *d, cells, control))?;
    let census = census(count, level.pick(600, 1200, 2400), settings.seed, control)?;

    let grid = Grid::new(
        &triangle(),
        DEVIATIONS_BEYOND_CENTRES,
        level.pick(60, 100, 150),
    );
    let p = Parameters::of(&grid, control)?;
    let (values, functions) =
        plane::lowest(&grid.log_density, &grid.axes, p.components + 2, control)?;
    control.advance(1)?;

    let cells = level.pick(240, 480, 800);
    let family = each(&far, control, |d| Ok(scaling::member(*d, cells, control)?))?;
    let tails = each(&reaches, control, |reach| {
        let single = Grid::new(&[Component::line(1.0, 0.0, 1.0)], *reach, cells);
        Ok((*reach, Heat::new(&single, control)?.peak(1.0, 0)))
    })?;
    control.finish();
    let corollary = (4..=30)
        .map(|i| scaling::scaled(libm::pow(10.0, -2.0 * f64::from(i))))
        .collect();
    Ok(Found {
        sweep,
        census,
        plane: Plane {
            grid,
            p,
            values,
            functions,
        },
        family,
        corollary,
        tails,
    })
}

/// Parameters, spectra, bounds and the separator.
///
/// # Errors
/// Cancelled.
pub fn run(settings: &TheoryOptions, control: &Control) -> Result<Outcome, LabError> {
    let found = compute(settings, control)?;
    Ok(Outcome {
        text: findings::text(&found),
        figures: vec![
            figures::gap(&found),
            figures::plane(&found),
            figures::scaling(&found),
        ],
        tables: tables::tables(&found),
        summaries: findings::summaries(&found),
        findings: findings::findings(&found),
        notes: findings::notes(),
        settings: vec![findings::settings(&found)],
        ..Outcome::default()
    })
}
