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
            y_range: Some(y_range),
            series,
            ..LineChart::default()
        })
    };
    let parameters = vec![
        curve("overlapping S", &|case| case.p.overlap, Look::line(colours::BLUE)),
        curve("coupling C (squared)", &|case| case.p.coupling, Look::line(colours::RED)),
        curve("coupling C (as printed)", &|case| case.p.coupling_printed, Look::dotted(colours::RED)),
        curve("indivisibility Θ", &|case| case.p.indivisibility, Look::line(colours::GREEN)),
    ];
    let or_none = |bound: Option<f64>| bound.filter(|b| *b > 0.0).unwrap_or(f64::NAN);
    let spectrum = vec![
        curve("λ(K)", &|case| case.gap[0], Look { width: 2.6, ..Look::line(Colour::INK) }),
        curve("λ(K+1)", &|case| case.gap[1], Look { width: 2.6, ..Look::line(colours::PURPLE) }),
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
            Look { dash: vec![9.0, 3.0, 2.5, 3.0], ..Look::line(colours::GREY) },
        ),
    ];
    let panels = vec![
        chart("Parameters of two Gaussians", "S, C, Θ", (1e-11, 10.0), parameters),
        chart("The spectral gap and its bounds", "Eigenvalue", (1e-11, 10.0), spectrum),
    ];
    Drawn {
        stem: "mixtures-gap".into(),
        caption:
            "Two Gaussians of deviation 1, K = 2, against their distance. (a) The parameters of the mixture. (b) The \
                  eigenvalues of -(1/ρ) div(ρ∇) around the gap with their bounds, and λ(K+1) of (1/ρ) div(ρ²∇), \
                  which has no gap. With the coupling as printed the upper bound falls below λ(K) from a distance of \
                  ten on."
                .into(),
        canvas: Grid { size: (400.0, 300.0), ..Grid::new("Well-separated clusters open a spectral gap", 2, panels) }
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
    for k in 1..3 {
        let title = format!("Eigenfunction {}, λ = {:.3}", k + 1, values[k]);
        panels.push(map(title, "", found.plane.functions[k].clone(), Vec::new()));
    }
    Drawn {
        stem: "mixtures-plane".into(),
        caption: format!(
            "Three clusters in the plane. (a) The density. (b, c) The second and third eigenfunction of -(1/ρ) div(ρ∇): \
             nearly constant on every cluster, so that three numbers tell a point's cluster. The first is constant, the \
             fourth has λ = {:.3}.",
            values[3]
        ),
        canvas: Grid { size: (250.0, 250.0), ..Grid::new("The low modes of three clusters", 3, panels) }.canvas(),
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
    let names = ["δ, promised", "1 - w_max ζ, promised", "w_max ε, promised"];
    let colour = [colours::BLUE, colours::GREEN, colours::RED];
    let marks = [MarkerKind::Circle, MarkerKind::Square, MarkerKind::Up];
    let mut regime = Vec::new();
    let kappa: Vec<f64> = found.corollary.iter().map(|s| s.kappa).collect();
    for i in 0..3 {
        let of =
            |s: &super::Scaled| s.best.map_or(f64::NAN, |(_, s)| [s.delta, 1.0 - 0.5 * s.zeta, 0.5 * s.epsilon][i]);
        let y = found.corollary.iter().map(of).collect();
        regime.push(Series::curve(names[i], kappa.clone(), y, Look::marked(colour[i], marks[i])));
    }
    let printed: [(&str, fn(f64) -> f64, Colour); 2] = [
        ("κ^(1/4): printed for δ and ε", |k| libm::pow(k, 0.25), Colour::INK),
        ("|ln κ| κ^(1/2): printed for ζ", |k| -libm::log(k) * k.sqrt(), colours::GREY),
    ];
    for (name, f, colour) in printed {
        regime.push(Series::curve(name, kappa.clone(), kappa.iter().map(|k| f(*k)).collect(), Look::dotted(colour)));
    }
    let mut gaussian = Vec::new();
    let kappa: Vec<f64> = found.family.iter().map(|m| m.kappa()).collect();
    for i in 0..3 {
        let of =
            |m: &super::Member| m.best.map_or(f64::NAN, |(_, s, _)| [s.delta, 1.0 - 0.5 * s.zeta, 0.5 * s.epsilon][i]);
        let y = found.family.iter().map(of).collect();
        gaussian.push(Series::curve(names[i], kappa.clone(), y, Look::marked(colour[i], marks[i])));
    }
    let truths: [(&str, usize); 2] = [("1 - w_max ζ, true", 1), ("w_max ε, true", 2)];
    for (name, i) in truths {
        let of = |m: &super::Member| {
            m.best.map_or(f64::NAN, |(_, _, (zeta, epsilon))| clear([0.0, 1.0 - 0.5 * zeta, 0.5 * epsilon][i]))
        };
        let y = found.family.iter().map(of).collect();
        gaussian.push(Series::curve(
            name,
            kappa.clone(),
            y,
            Look { dash: vec![6.0, 4.0], ..Look::marked(colour[i], marks[i]) },
        ));
    }
    let panels = vec![
        chart("The Corollary's regime: S = C = κ, Θ = √κ", (1e-60, 1e-8), (1e-8, 100.0), regime),
        chart("Two Gaussians, κ = max(S, C), Θ = 1", (1e-22, 1e-6), (1e-12, 100.0), gaussian),
    ];
    Drawn {
        stem: "mixtures-scaling".into(),
        caption: "What the propositions promise as κ → 0, with the best a, b, σ, t; all three losses are 0 for a perfect \
                  separator, and above 1 a promise is empty. (a) In the Corollary's regime the promised losses fall like \
                  κ^(1/12), not like the printed κ^(1/4). (b) For two Gaussians ever farther apart they fall like \
                  κ^(1/6); the heat kernel itself (dashed), at the same t and δ, is far better."
            .into(),
        canvas: Grid { size: (400.0, 300.0), ..Grid::new("How fast a separator becomes perfect", 2, panels) }.canvas(),
    }
}
