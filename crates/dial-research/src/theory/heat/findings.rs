//! What the part says: text, tables, findings.

use dial_data::row;

use super::maximum::{Exceeding, MODES};
use super::{Comparison, Many, Results, symbol};
use crate::theory::slopes::power;
use crate::theory::{Finding, Tidy, Verdict};
use dial_plot::report::Table;

pub(super) fn text() -> Vec<String> {
    vec![
        "The theory of the paper is about heat kernels, its experiments are about Poisson propagation. The bridge is one \
         backward Euler step: e^{tΔ}δ ≈ (I - tΔ)⁻¹δ. Because I - tΔ = t(1/t - Δ), that step is u/t, where u solves the \
         Poisson equation with τ = 1/t. The paper prints t u instead, which has t² times the mass; after a normalisation at \
         the source the factor does not matter."
            .into(),
        format!(
            "How good is one step? On an eigenvector with eigenvalue λ heat multiplies by e^(-tλ), the step by 1/(1 + tλ). \
             The two differ by at most {:.4}, at tλ = {:.3}, so a step is never farther from heat than that share of the \
             norm of the source. Far from the source the step decays much more slowly than heat: like e^(-r/√t) instead of \
             e^(-r²/4t).",
            symbol::bound(1),
            symbol::worst(1)
        ),
        "The paper asks of a propagation that it is largest at its source. Poisson is (its Lemma); heat on a graph need not \
         be, and often is not."
            .into(),
    ]
}

pub(super) fn tables(results: &Results) -> Vec<Tidy> {
    let steps = results.comparisons.iter().flat_map(|c| {
        c.steps.iter().map(|s| {
            row![
                c.name,
                s.time,
                s.identity,
                s.printed,
                s.mass,
                s.printed_mass,
                s.norm,
                s.variation,
            ]
        })
    });
    let many = results.comparisons.iter().flat_map(|c| {
        let row = |m: &Many| row![c.name, m.steps, c.worst, m.norm, m.bound];
        c.many.iter().map(row)
    });
    let row = |pool: &str, kernel: &str, time: f64, e: &Exceeding| {
        let known = |v: f64| (!v.is_nan()).then_some(v);
        row![
            pool,
            kernel,
            known(time),
            known(e.sources),
            known(e.entries),
            known(e.largest),
            known(e.negative),
            known(e.smallest),
        ]
    };
    let on_graphs = results.counts.iter().flat_map(|c| {
        let kinds = [
            ("heat", &c.heat),
            ("heat, lowest modes", &c.truncated),
            ("poisson", &c.poisson),
        ];
        kinds.map(|(kernel, e)| row(c.pool, kernel, c.time, e))
    });
    // Steps of order 2 may undershoot 0 by a little: in the plane that would say nothing about heat.
    let signless = |e: &Exceeding| Exceeding {
        negative: f64::NAN,
        smallest: f64::NAN,
        ..*e
    };
    let in_plane = results
        .in_plane
        .iter()
        .map(|c| row("plane", c.operator.name(), c.time, &signless(&c.heat)));
    let cut = &results.section;
    let section =
        (0..cut.x.len()).map(|i| row![cut.x[i], cut.heat[i], cut.step[i], cut.printed[i]]);
    vec![
        Tidy::new(
            "heat-one-step",
            "where,t,identity_error,printed_error,mass,printed_mass,norm_error,total_variation",
            steps,
        ),
        Tidy::new("heat-many-steps", "where,m,t,norm_error,bound", many),
        Tidy::new("heat-section", "x,heat,u_over_t,t_times_u", section),
        Tidy::new(
            "heat-maximum",
            "pool,kernel,t,sources_exceeding,entries_exceeding,largest,sources_negative,smallest",
            on_graphs.chain(in_plane),
        ),
    ]
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// The fitted order of convergence in m: minus the slope of log error against log m over the upper half of the steps.
fn order(comparison: &Comparison) -> f64 {
    let rows = &comparison.many[comparison.many.len() / 2..];
    let points: Vec<(f64, f64)> = rows.iter().map(|m| (m.steps as f64, m.norm)).collect();
    -power(&points)
}

pub(super) fn summaries(results: &Results) -> Vec<Table> {
    let row = |c: &Comparison| {
        vec![
            c.name.to_owned(),
            format!("{:.1e}", most(c.steps.iter().map(|s| s.identity))),
            format!(
                "{:.2e} to {:.2e}",
                c.steps[0].printed_mass,
                c.steps[c.steps.len() - 1].printed_mass
            ),
            format!(
                "{:.4} at t = {:.1e}",
                most(c.steps.iter().map(|s| s.norm)),
                c.worst
            ),
            format!("{:.3}", most(c.steps.iter().map(|s| s.variation))),
            format!("{:.3}", order(c)),
        ]
    };
    let count = |pool: &str, kernel: &str, time: f64, e: &Exceeding| {
        let share = |v: f64| format!("{:.1} %", 100.0 * v);
        vec![
            pool.to_owned(),
            kernel.to_owned(),
            format!("{time}"),
            share(e.sources),
            share(e.entries),
            format!("{:.3}", e.largest),
        ]
    };
    let shown = results
        .counts
        .iter()
        .filter(|c| [0.1, 1.0, 3.0, 10.0, 100.0].contains(&c.time));
    let on_graphs = shown.map(|c| count(c.pool, "heat", c.time, &c.heat));
    let in_plane = results.in_plane.iter();
    let in_plane = in_plane.map(|c| count("plane", c.operator.name(), c.time, &c.heat));
    vec![
        Table::new(
            "Poisson, a backward Euler step, and heat.",
            "Where | Largest error of (I - tΔ)⁻¹δ = u/t | Mass of the printed t u | One step: largest norm error | \
             One step: largest share of mass elsewhere | m steps: order in m",
            results.comparisons.iter().map(row),
        )
        .numbers(1..),
        Table::new(
            "Where heat exceeds its value at the source.",
            "Pool | Kernel | t | Sources exceeded | Entries above the source | Largest ratio",
            on_graphs.chain(in_plane),
        )
        .numbers(2..),
    ]
}

pub(super) fn findings(results: &Results) -> Vec<Finding> {
    vec![
        factor(results),
        one_step(results),
        many_steps(results),
        principle(results),
    ]
}

fn factor(results: &Results) -> Finding {
    let all = || results.comparisons.iter().flat_map(|c| &c.steps);
    let (right, printed) = (
        most(all().map(|s| s.identity)),
        most(all().map(|s| s.printed)),
    );
    let law = most(all().map(|s| (s.printed_mass / (s.time * s.time) - 1.0).abs()));
    Finding::new(
        "(I - tΔ)⁻¹ δ = t u_{1/t} (below eq:heat-eqn-start, as printed).",
        Verdict::of(printed < 1e-6, false),
        format!(
            "With u_{{1/t}}/t the identity holds to {right:.1e} on the graph and in the plane, over all times. The printed \
             t u_{{1/t}} is off by a factor t² (to {law:.1e}), up to {printed:.1e} of the norm of the step; it is right at \
             t = 1 only. Kernels that are normalised at the source do not see the factor."
        ),
    )
}

fn one_step(results: &Results) -> Finding {
    let all = || results.comparisons.iter().flat_map(|c| &c.steps);
    let (norm, moved) = (
        most(all().map(|s| s.norm)),
        most(all().map(|s| s.variation)),
    );
    Finding::new(
        "Poisson propagation can be viewed as an approximation to heat-kernel propagation.",
        match moved {
            share if share <= 0.1 => Verdict::Supported,
            share if share <= 0.5 => Verdict::Mixed,
            _ => Verdict::NotSupported,
        },
        format!(
            "One step is off by at most {norm:.4} of the norm of the source (theory: {:.4}, whatever the operator), and at \
             the worst time {:.1} % of the mass lies elsewhere (10 % would count as close, 50 % as not).",
            symbol::bound(1),
            100.0 * moved
        ),
    )
}

fn many_steps(results: &Results) -> Finding {
    let orders: Vec<f64> = results.comparisons.iter().map(order).collect();
    let all = || results.comparisons.iter().flat_map(|c| &c.many);
    let exceeding = all().filter(|m| m.norm > m.bound * (1.0 + 1e-6)).count();
    let good: Vec<bool> = orders
        .iter()
        .map(|order| exceeding == 0 && (order - 1.0).abs() < 0.15)
        .collect();
    let told: Vec<String> = results
        .comparisons
        .iter()
        .zip(&orders)
        .map(|(c, order)| format!("{order:.3} ({})", c.name))
        .collect();
    Finding::new(
        "Backward Euler with m steps tends to the heat kernel, with an error of order 1/m.",
        Verdict::of_each(&good),
        format!(
            "Orders fitted at the time where one step is worst: {}. {} of the {} errors exceed the bound E_m.",
            told.join(", "),
            if exceeding == 0 {
                "None".into()
            } else {
                exceeding.to_string()
            },
            all().count()
        ),
    )
}

fn principle(results: &Results) -> Finding {
    let worst = |of: fn(&super::Count) -> f64| most(results.counts.iter().map(of));
    let shown = results
        .counts
        .iter()
        .filter(|c| [3.0, 10.0, 100.0].contains(&c.time));
    let told: Vec<String> = shown
        .map(|c| {
            format!(
                "{:.0} % at t = {} ({})",
                100.0 * c.heat.sources,
                c.time,
                c.pool
            )
        })
        .collect();
    let plane = most(results.in_plane.iter().map(|c| c.heat.largest));
    Finding::new(
        "A heat kernel satisfies the Maximum Principle K(x, x') <= K(x, x) asked of a propagation.",
        Verdict::of(worst(|c| c.heat.sources) == 0.0, false),
        format!(
            "On graphs of nearest neighbours exp(-tL) exceeded its value at the source for {} of the sources, by a factor \
             up to {:.3}; in the plane by up to {plane:.3}. Truncated to {MODES} modes it was negative somewhere for up to \
             {:.0} % of the sources. Poisson (τ = 1/t) exceeded its source for {:.1} %, as the Lemma says.",
            told.join(", "),
            worst(|c| c.heat.largest),
            100.0 * worst(|c| c.truncated.negative),
            100.0 * worst(|c| c.poisson.sources)
        ),
    )
}
