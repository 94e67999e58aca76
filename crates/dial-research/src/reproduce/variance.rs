//! The variance of a Dirichlet distribution is not monotone in one parameter (`fig:var-beta-heatmap`, Property 2).
//!
//! ```text
//! Var[P₁] = α₁ α₂ / ((α₁ + α₂)² (α₁ + α₂ + 1))        for P ~ Dir(α₁, α₂)
//! ```
//!
//! This is what the paper's caption plots: the variance of one class. Its `eq:var`, which our acquisition uses, is the
//! trace of the covariance, and for two classes that is twice as much (both classes vary alike); the shape and the
//! maximiser are the same. Along the slice α₁ = a the derivative vanishes where 2 α₂² + (a + 1) α₂ = a (a + 1), hence
//! at α₂ = (√((a + 1)(9a + 1)) - a - 1) / 4: more observations of class 2 raise the variance up to there.

use dial::{Control, Result};
use dial_data::write::Cell;

use super::{Drawn, Finding, Outcome, ReproduceOptions, Tidy, Verdict};
use dial_plot::chart::{Colour, MarkerKind};
use dial_plot::colours::RED;
use dial_plot::plot::{Grid, HeatMap, LineChart, Overlay, Panel, Series};

/// The slice of the paper's figure.
const SLICE_AT: f64 = 1.6;
/// Both axes go from almost 0 to here.
const AXIS_END: f64 = 5.0;

/// The variance of the first of two class probabilities: half of what [`dial::belief::field::variance`] gives.
pub fn one_class(first: f64, second: f64) -> f64 {
    let total = first + second;
    first * second / (total * total * (total + 1.0))
}

/// The α₂ at which the variance is largest for a given α₁.
pub fn maximiser(first: f64) -> f64 {
    (((first + 1.0) * (9.0 * first + 1.0)).sqrt() - first - 1.0) / 4.0
}

/// The heat map, the slice, and whether the variance is monotone.
///
/// # Errors
/// Cancelled.
pub fn run(settings: &ReproduceOptions, control: &Control) -> Result<Outcome> {
    control.check()?;
    let points = if settings.quick { 100 } else { 500 };
    let second: Vec<f64> = (1..=points)
        .map(|i| AXIS_END * f64::from(i) / f64::from(points))
        .collect();
    let heights: Vec<f64> = second.iter().map(|s| one_class(SLICE_AT, *s)).collect();
    let rows = second
        .iter()
        .zip(&heights)
        .map(|(s, v)| [SLICE_AT, *s, *v, 2.0 * v].map(Cell::Number).to_vec());
    let table = Tidy::new(
        "variance-slice",
        "alpha_1,alpha_2,variance_of_one_class,trace",
        rows,
    );
    Ok(Outcome {
        figures: vec![figure(&second, heights, settings.quick)],
        tables: vec![table],
        findings: vec![finding()],
        ..Outcome::default()
    })
}

fn figure(second: &[f64], heights: Vec<f64>, quick: bool) -> Drawn {
    let cells = if quick { 60 } else { 240 };
    let heat = HeatMap {
        title: "Variance of Dir(α₁, α₂)".into(),
        x_label: "α₁".into(),
        y_label: "α₂".into(),
        value_label: "Var[P₁]".into(),
        value_range: Some((0.0, 0.16)),
        contours: vec![0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16],
        overlays: vec![Overlay::vertical("α₁ = 1.6", SLICE_AT, RED)],
        ..HeatMap::sampled((0.0, AXIS_END), (0.0, AXIS_END), cells, cells, one_class)
    };
    let (at, top) = (
        maximiser(SLICE_AT),
        one_class(SLICE_AT, maximiser(SLICE_AT)),
    );
    let slice = LineChart::new(
        "The slice α₁ = 1.6",
        ["α₂", "Var[P₁]"],
        vec![Series::curve("", second, heights, RED.line())],
    )
    .x_range((0.0, AXIS_END))
    .y_range((0.0, 0.08))
    .under(vec![
        Overlay::marks("", vec![(at, top)], MarkerKind::Circle, Colour::INK),
        Overlay::words(
            format!("largest, {top:.4}, at α₂ = {at:.2}"),
            (at + 0.75, top + 0.006),
            Colour::INK,
        ),
    ]);
    Drawn::new(
        "variance",
        format!(
            "The variance of a Dirichlet distribution is not monotone in one of its parameters (fig:var-beta-heatmap). \
             (a) Var[P₁] over α₁ and α₂, with lines of equal variance. (b) Along the dotted line α₁ = 1.6 it rises until \
             α₂ = {at:.3} and falls from there on. The trace of the covariance (eq:var), which Dirichlet Variance uses, \
             is twice Var[P₁] for two classes. Colours end at 0.16; towards the origin the variance nears 0.25."
        ),
        Grid::new(
            "The variance is not monotone in one parameter",
            2,
            vec![Panel::Heat(heat), slice.into()],
        )
        .sized(330.0, 290.0),
    )
}

fn finding() -> Finding {
    let at = maximiser(SLICE_AT);
    let (before, top, after) = (
        one_class(SLICE_AT, 0.1),
        one_class(SLICE_AT, at),
        one_class(SLICE_AT, AXIS_END),
    );
    Finding::new(
        "The variance of a Dirichlet distribution is not monotone in its individual components (Property 2).",
        Verdict::of(before < top && after < top, false),
        format!(
            "With α₁ = {SLICE_AT}, Var[P₁] is {before:.4} at α₂ = 0.1, largest ({top:.4}) at α₂ = {at:.3}, and {after:.4} \
             at α₂ = {AXIS_END}: a label can raise the variance around it."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        // 1 · 1 / (4 · 3) = 1/12, half of the trace 1/6.
        assert!((one_class(1.0, 1.0) - 1.0 / 12.0).abs() < 1e-16);
        assert!(
            (2.0 * one_class(1.6, 0.7) - dial::belief::field::variance(&[1.6, 0.7])).abs() < 1e-16
        );
        // a = 1: 2 α₂² + 2 α₂ = 2 at (√5 - 1)/2.
        assert!((maximiser(1.0) - (5.0f64.sqrt() - 1.0) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn the_maximiser_is_one() {
        for first in [0.1, 1.0, 1.6, 7.0] {
            let at = maximiser(first);
            let top = one_class(first, at);
            for step in [-0.3, -1e-3, 1e-3, 0.3] {
                assert!(one_class(first, at * (1.0 + step)) < top, "{first} {step}");
            }
        }
    }

    #[test]
    fn the_run_finds_it() {
        let outcome = run(
            &ReproduceOptions {
                quick: true,
                ..ReproduceOptions::default()
            },
            &Control::new(),
        )
        .unwrap();
        assert_eq!(outcome.findings[0].verdict, Verdict::Supported);
        assert_eq!(outcome.tables[0].rows.len(), 100);
        assert!(
            outcome.figures[0]
                .canvas
                .description
                .contains("Var[P₁] against α₁ and α₂")
        );
    }
}
