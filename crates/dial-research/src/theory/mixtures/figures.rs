//! The figures: parameters and gap against the distance of two clusters, three clusters in the plane, the scaling.

use super::gap::{Coupling, lower, upper};
use super::{Case, Found};
use crate::output::Drawn;
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::{self, BLUE, CLASSES, GREEN, GREY, ORANGE, PURPLE, RED};
use dial_plot::plot::{Grid, HeatMap, LineChart, Panel, Series};

pub(super) fn gap(found: &Found) -> Drawn {
    let x: Vec<f64> = found.sweep.iter().map(|case| case.distance).collect();
    let curve = |name: &str, of: &dyn Fn(&Case) -> f64, look| {
        Series::curve(name, &x, found.sweep.iter().map(of), look)
    };
    let chart = |title: &str, y_label: &str, y_range, series| {
        LineChart::new(
            title,
            ["Distance of the centres (deviations)", y_label],
            series,
        )
        .log_y()
        .x_range((2.0, 14.0))
        .y_range(y_range)
    };
    let parameters = vec![
        curve("overlapping S", &|case| case.p.overlap, BLUE.line()),
        curve("coupling C (squared)", &|case| case.p.coupling, RED.line()),
        curve(
            "coupling C (as printed)",
            &|case| case.p.coupling_printed,
            RED.dotted(),
        ),
        curve(
            "indivisibility Θ",
            &|case| case.p.indivisibility,
            GREEN.line(),
        ),
    ];
    let or_none = |bound: Option<f64>| bound.filter(|b| *b > 0.0).unwrap_or(f64::NAN);
    let spectrum = vec![
        curve("λ(K)", &|case| case.gap[0], Colour::INK.line().wide(2.6)),
        curve("λ(K+1)", &|case| case.gap[1], PURPLE.line().wide(2.6)),
        curve(
            "upper bound of λ(K), C squared",
            &|case| or_none(upper(&case.p, Coupling::Squared)),
            ORANGE.dashed(),
        ),
        curve(
            "the same, C as printed",
            &|case| or_none(upper(&case.p, Coupling::Printed)),
            ORANGE.dotted(),
        ),
        curve(
            "lower bound of λ(K+1)",
            &|case| or_none(lower(&case.p, Coupling::Squared)),
            CLASSES[6].dashed(),
        ),
        curve(
            "λ(K+1) with ρ² inside",
            &|case| case.square,
            GREY.line().dash(&[9.0, 3.0, 2.5, 3.0]),
        ),
    ];
    let ratio = |of: Coupling| move |case: &Case| or_none(upper(&case.p, of)) / case.gap[0];
    let ratios = vec![
        curve(
            "upper bound of λ(K), C squared",
            &ratio(Coupling::Squared),
            ORANGE.dashed(),
        ),
        curve(
            "the same, C as printed",
            &ratio(Coupling::Printed),
            ORANGE.dotted(),
        ),
        curve(
            "lower bound of λ(K+1)",
            &|case| or_none(lower(&case.p, Coupling::Squared)) / case.gap[1],
            CLASSES[6].dashed(),
        ),
        curve("", &|_| 1.0, GREY.line().wide(1.2)),
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
    Drawn::new(
        "mixtures-gap",
        "Two Gaussians of deviation 1, K = 2, against their distance. (a) The parameters of the mixture. (b) The \
         eigenvalues of -(1/ρ) div(ρ∇) around the gap with their bounds, and λ(K+1) of (1/ρ) div(ρ²∇), \
         which has no gap. (c) The bounds over what they bound: the upper must stay above 1, the lower below; \
         with the coupling as printed the upper one does not.",
        Grid::new("Well-separated clusters open a spectral gap", 3, panels).sized(300.0, 270.0),
    )
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
    Drawn::new(
        "mixtures-plane",
        format!(
            "Three clusters in the plane. (a) The density. (b, c) The second and third eigenfunction of -(1/ρ) div(ρ∇): \
             nearly constant on every cluster, so that three numbers tell a point's cluster. The first is constant, the \
             fourth has λ = {:.3}.",
            values[3]
        ),
        Grid::new("The low modes of three clusters", 3, panels).sized(250.0, 250.0),
    )
}

/// A value where it is above the noise of the arithmetic.
fn clear(value: f64) -> f64 {
    if value > 1e-11 { value } else { f64::NAN }
}

pub(super) fn scaling(found: &Found) -> Drawn {
    let chart = |title: &str, range, y_range, series| {
        LineChart::new(title, ["κ", "Loss"], series)
            .log_log()
            .x_range(range)
            .y_range(y_range)
    };
    let names = ["1 - w_max ζ, promised", "w_max ε, promised", "δ, promised"];
    // All three nearly coincide: one over the other, from a thin line to a broad one.
    let looks = [
        Colour::INK.dashed(),
        ORANGE.line().wide(3.0),
        colours::mix(BLUE, Colour::WHITE, 0.45).line().wide(7.0),
    ];
    let order = |s: &super::separator::Separator| [1.0 - 0.5 * s.zeta, 0.5 * s.epsilon, s.delta];
    let mut regime = Vec::new();
    let kappa: Vec<f64> = found.corollary.iter().map(|s| s.kappa).collect();
    for i in 0..3 {
        let y = found
            .corollary
            .iter()
            .map(|s| s.best.as_ref().map_or(f64::NAN, |(_, s)| order(s)[i]));
        regime.push(Series::curve(names[i], &kappa, y, looks[i].clone()));
    }
    let mut printed = |name: &str, f: &dyn Fn(f64) -> f64, colour: Colour| {
        let y = kappa.iter().map(|k| f(*k));
        regime.push(Series::curve(name, &kappa, y, colour.dotted()));
    };
    printed(
        "κ^(1/4): printed for δ and ε",
        &|k| libm::pow(k, 0.25),
        Colour::INK,
    );
    printed(
        "|ln κ| κ^(1/2): printed for ζ",
        &|k| -libm::log(k) * k.sqrt(),
        GREY,
    );
    let mut gaussian = Vec::new();
    let kappa: Vec<f64> = found.family.iter().map(|m| m.kappa()).collect();
    for i in 0..3 {
        let y = found
            .family
            .iter()
            .map(|m| m.best.as_ref().map_or(f64::NAN, |(_, s, _)| order(s)[i]));
        gaussian.push(Series::curve(names[i], &kappa, y, looks[i].clone()));
    }
    let truths = [
        ("1 - w_max ζ, true", GREEN.marked(MarkerKind::Square)),
        ("w_max ε, true", RED.marked(MarkerKind::Up)),
    ];
    for (i, (name, look)) in truths.into_iter().enumerate() {
        let of = |m: &super::Member| {
            m.best.as_ref().map_or(f64::NAN, |(_, _, (zeta, epsilon))| {
                clear([1.0 - 0.5 * zeta, 0.5 * epsilon][i])
            })
        };
        gaussian.push(Series::curve(
            name,
            &kappa,
            found.family.iter().map(of),
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
    Drawn::new(
        "mixtures-scaling",
        "What the propositions promise as κ → 0, with the best a, b, σ, t; all three losses are 0 for a perfect \
         separator, and above 1 a promise is empty. (a) In the Corollary's regime the promised losses fall like \
         κ^(1/12), not like the printed κ^(1/4). (b) For two Gaussians ever farther apart they fall like \
         κ^(1/6); the heat kernel itself (marks), at the same t and δ, is far better, and beyond the last mark below 1e-11.",
        Grid::new("How fast a separator becomes perfect", 2, panels).sized(400.0, 300.0),
    )
}
