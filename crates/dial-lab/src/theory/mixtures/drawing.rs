//! The figures: parameters and gap against the distance of two clusters, three clusters in the plane, the scaling.

use super::gap::{Coupling, lower, upper};
use super::{Case, Found};
use crate::chart::{Colour, MarkerKind};
use crate::colours;
use crate::plot::{Grid, HeatMap, LineChart, Look, Panel, Scale, Series};
use crate::written::Drawn;

pub(super) fn gap(found: &Found) -> Drawn {
    let x: Vec<f64> = found.sweep.iter().map(|case| case.distance).collect();
    let curve = |name: &str, of: &dyn Fn(&Case) -> f64, look| {
        Series::curve(name, x.clone(), found.sweep.iter().map(of).collect(), look)
    };
    let chart = |title: &str, y_label: &str, y_range, series| {
        Panel::Lines(LineChart {
            title: title.into(),
            x_label: "Distance of the centres (deviations)".into(),
            y_label: y_label.into(),
            y_scale: Scale::Log,
            x_range: Some((2.0, 14.0)),
            y_range: Some(y_range),
            series,
            ..LineChart::default()
        })
    };
    let parameters = vec![
        curve(
            "overlapping S",
            &|case| case.p.overlap,
            Look::line(colours::BLUE),
        ),
        curve(
            "coupling C (squared)",
            &|case| case.p.coupling,
            Look::line(colours::RED),
        ),
        curve(
            "coupling C (as printed)",
            &|case| case.p.coupling_printed,
            Look::dotted(colours::RED),
        ),
        curve(
            "indivisibility Θ",
            &|case| case.p.indivisibility,
            Look::line(colours::GREEN),
        ),
    ];
    let or_none = |bound: Option<f64>| bound.filter(|b| *b > 0.0).unwrap_or(f64::NAN);
    let spectrum = vec![
        curve(
            "λ(K)",
            &|case| case.gap[0],
            Look {
                width: 2.6,
                ..Look::line(Colour::INK)
            },
        ),
        curve(
            "λ(K+1)",
            &|case| case.gap[1],
            Look {
                width: 2.6,
                ..Look::line(colours::PURPLE)
            },
        ),
        curve(
            "upper bound of λ(K), C squared",
            &|case| or_none(upper(&case.p, Coupling::Squared)),
            Look::dashed(colours::ORANGE),
        ),
        curve(
            "the same, C as printed",
            &|case| or_none(upper(&case.p, Coupling::Printed)),
            Look::dotted(colours::ORANGE),
        ),
        curve(
            "lower bound of λ(K+1)",
            &|case| or_none(lower(&case.p, Coupling::Squared)),
            Look::dashed(colours::CLASSES[6]),
        ),
        curve(
            "λ(K+1) with ρ² inside",
            &|case| case.square,
            Look {
                dash: vec![9.0, 3.0, 2.5, 3.0],
                ..Look::line(colours::GREY)
            },
        ),
    ];
    let ratio = |of: Coupling| move |case: &Case| or_none(upper(&case.p, of)) / case.gap[0];
    let ratios = vec![
        curve(
            "upper bound of λ(K), C squared",
            &ratio(Coupling::Squared),
            Look::dashed(colours::ORANGE),
        ),
        curve(
            "the same, C as printed",
            &ratio(Coupling::Printed),
            Look::dotted(colours::ORANGE),
        ),
        curve(
            "lower bound of λ(K+1)",
            &|case| or_none(lower(&case.p, Coupling::Squared)) / case.gap[1],
            Look::dashed(colours::CLASSES[6]),
        ),
        curve(
            "",
            &|_| 1.0,
            Look {
                width: 1.2,
                ..Look::line(colours::GREY)
            },
        ),
    ];
    let panels = vec![
        chart(
            "Parameters of two Gaussians",
            "S, C, Θ",
            (1e-11, 10.0),
            parameters,
        ),
        chart(
            "Eigenvalues around the gap",
            "Eigenvalue",
            (1e-11, 10.0),
            spectrum,
        ),
        chart("Bound over eigenvalue", "Ratio", (0.1, 50.0), ratios),
    ];
    Drawn {
        stem: "mixtures-gap".into(),
        caption:
            "Two Gaussians of deviation 1, K = 2, against their distance. (a) The parameters of the mixture. (b) The \
                  eigenvalues of -(1/ρ) div(ρ∇) around the gap with their bounds, and λ(K+1) of (1/ρ) div(ρ²∇), \
                  which has no gap. (c) The bounds over what they bound: the upper must stay above 1, the lower below; \
                  with the coupling as printed the upper one does not."
                .into(),
        canvas: Grid { size: (300.0, 270.0), ..Grid::new("Well-separated clusters open a spectral gap", 3, panels) }
            .canvas(),
    }
}

pub(super) fn plane(found: &Found) -> Drawn {
    let (grid, values) = (&found.plane.grid, &found.plane.values);
    let range = |axis: usize| {
        let (low, width, count) = grid.axes[axis];
        (low, low + width * count as f64)
    };
    let map = |title: String, value_label: &str, of: Vec<f64>, contours: Vec<f64>| {
        Panel::Heat(HeatMap {
            title,
            x_label: "x".into(),
            y_label: "y".into(),
            value_label: value_label.into(),
            x_range: range(0),
            y_range: range(1),
            columns: grid.axes[0].2,
            values: of,
            contours,
            ..HeatMap::default()
        })
    };
    let density: Vec<f64> = grid.log_density.iter().map(|l| libm::exp(*l)).collect();
    let top = density.iter().copied().fold(0.0, f64::max);
    let levels = (1..=4).map(|i| top * f64::from(i) / 5.0).collect();
    let mut panels = vec![map("Density ρ".into(), "ρ", density, levels)];
    for (k, (value, function)) in values
        .iter()
        .zip(&found.plane.functions)
        .enumerate()
        .take(3)
        .skip(1)
    {
        panels.push(map(
            format!("Eigenfunction {}, λ = {value:.3}", k + 1),
            "",
            function.clone(),
            Vec::new(),
        ));
    }
    Drawn {
        stem: "mixtures-plane".into(),
        caption: format!(
            "Three clusters in the plane. (a) The density. (b, c) The second and third eigenfunction of -(1/ρ) div(ρ∇): \
             nearly constant on every cluster, so that three numbers tell a point's cluster. The first is constant, the \
             fourth has λ = {:.3}.",
            values[3]
        ),
        canvas: Grid {
            size: (250.0, 250.0),
            ..Grid::new("The low modes of three clusters", 3, panels)
        }
        .canvas(),
    }
}

/// A value where it is above the noise of the arithmetic.
fn clear(value: f64) -> f64 {
    if value > 1e-11 { value } else { f64::NAN }
}

pub(super) fn scaling(found: &Found) -> Drawn {
    let chart = |title: &str, range, y_range, series| {
        Panel::Lines(LineChart {
            title: title.into(),
            x_label: "κ".into(),
            y_label: "Loss".into(),
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            x_range: Some(range),
            y_range: Some(y_range),
            series,
            ..LineChart::default()
        })
    };
    let names = ["1 - w_max ζ, promised", "w_max ε, promised", "δ, promised"];
    // All three nearly coincide: one over the other, from a thin line to a broad one.
    let looks = [
        Look::dashed(Colour::INK),
        Look {
            width: 3.0,
            ..Look::line(colours::ORANGE)
        },
        Look {
            width: 7.0,
            ..Look::line(colours::mix(colours::BLUE, Colour::WHITE, 0.45))
        },
    ];
    let order = |s: &super::separator::Separator| [1.0 - 0.5 * s.zeta, 0.5 * s.epsilon, s.delta];
    let mut regime = Vec::new();
    let kappa: Vec<f64> = found.corollary.iter().map(|s| s.kappa).collect();
    for i in 0..3 {
        let y = found
            .corollary
            .iter()
            .map(|s| s.best.as_ref().map_or(f64::NAN, |(_, s)| order(s)[i]))
            .collect();
        regime.push(Series::curve(names[i], kappa.clone(), y, looks[i].clone()));
    }
    let mut printed = |name: &str, f: &dyn Fn(f64) -> f64, colour| {
        let y = kappa.iter().map(|k| f(*k)).collect();
        regime.push(Series::curve(name, kappa.clone(), y, Look::dotted(colour)));
    };
    printed(
        "κ^(1/4): printed for δ and ε",
        &|k| libm::pow(k, 0.25),
        Colour::INK,
    );
    printed(
        "|ln κ| κ^(1/2): printed for ζ",
        &|k| -libm::log(k) * k.sqrt(),
        colours::GREY,
    );
    let mut gaussian = Vec::new();
    let kappa: Vec<f64> = found.family.iter().map(|m| m.kappa()).collect();
    for i in 0..3 {
        let y = found
            .family
            .iter()
            .map(|m| m.best.as_ref().map_or(f64::NAN, |(_, s, _)| order(s)[i]))
            .collect();
        gaussian.push(Series::curve(names[i], kappa.clone(), y, looks[i].clone()));
    }
    let truths = [
        (
            "1 - w_max ζ, true",
            Look::marked(colours::GREEN, MarkerKind::Square),
        ),
        ("w_max ε, true", Look::marked(colours::RED, MarkerKind::Up)),
    ];
    for (i, (name, look)) in truths.into_iter().enumerate() {
        let of = |m: &super::Member| {
            m.best.as_ref().map_or(f64::NAN, |(_, _, (zeta, epsilon))| {
                clear([1.0 - 0.5 * zeta, 0.5 * epsilon][i])
            })
        };
        gaussian.push(Series::curve(
            name,
            kappa.clone(),
            found.family.iter().map(of).collect(),
            look,
        ));
    }
    let panels = vec![
        chart(
            "The Corollary's regime: S = C = κ, Θ = √κ",
            (1e-60, 1e-8),
            (1e-8, 100.0),
            regime,
        ),
        chart(
            "Two Gaussians, κ = max(S, C), Θ = 1",
            (1e-22, 1e-4),
            (1e-12, 100.0),
            gaussian,
        ),
    ];
    Drawn {
        stem: "mixtures-scaling".into(),
        caption: "What the propositions promise as κ → 0, with the best a, b, σ, t; all three losses are 0 for a perfect \
                  separator, and above 1 a promise is empty. (a) In the Corollary's regime the promised losses fall like \
                  κ^(1/12), not like the printed κ^(1/4). (b) For two Gaussians ever farther apart they fall like \
                  κ^(1/6); the heat kernel itself (marks), at the same t and δ, is far better, and beyond the last mark below 1e-11."
            .into(),
        canvas: Grid { size: (400.0, 300.0), ..Grid::new("How fast a separator becomes perfect", 2, panels) }.canvas(),
    }
}
