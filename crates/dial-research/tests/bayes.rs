//! Golden numbers of the Bayesian reading (densities, centrality, alignment, prior), derived in fixtures/.

#[path = "../../dial/tests/common/mod.rs"]
mod common;

use common::Arrays;
use dial_research::reproduce::density::{
    Centrality, ln_alignment, ln_centrality, ln_density, ln_prior,
};

/// Equal up to rounding, infinities included.
fn assert_near(what: &str, got: f64, want: f64) {
    let near = got == want || (got - want).abs() <= 1e-12 * want.abs().max(1.0);
    assert!(near, "{what}: {got}, wanted {want}");
}

#[test]
fn densities() {
    let golden = Arrays::golden("bayes");
    let rows = golden
        .rows("density_alpha")
        .into_iter()
        .zip(golden.rows("density_z"));
    for ((alpha, z), want) in rows.zip(golden.floats("density_ln")) {
        assert_near("density", ln_density(&alpha, &z), want);
    }
}

#[test]
fn the_example_of_two_clusters() {
    let golden = Arrays::golden("bayes");
    let kernel = golden.rows("two_kernel");
    for (row, want) in kernel.iter().zip(golden.floats("two_ln_w")) {
        assert_near("w", ln_centrality(row, 2, 1.0, Centrality::Growing), want);
    }
    for name in [
        "aligned",
        "split",
        "aligned_soft",
        "split_soft",
        "indifferent",
    ] {
        let p = golden.rows(&format!("two_{name}_P"));
        for (x, want) in golden
            .floats(&format!("two_{name}_ln_s"))
            .into_iter()
            .enumerate()
        {
            assert_near(name, ln_alignment(&p, x, &kernel[x]), want);
        }
        assert_near(
            name,
            ln_prior(&p, &kernel, 1.0, Centrality::Growing),
            golden.float(&format!("two_{name}_ln_pi")),
        );
        let printed = golden.float(&format!("two_{name}_ln_pi_printed"));
        assert_near(
            name,
            ln_prior(&p, &kernel, 1.0, Centrality::Printed),
            printed,
        );
    }
}

#[test]
fn a_kernel_without_structure() {
    let golden = Arrays::golden("bayes");
    let (kernel, strengths) = (
        golden.rows("general_kernel"),
        golden.floats("general_alpha_0"),
    );
    for (case, &strength) in strengths.iter().enumerate() {
        for (x, row) in kernel.iter().enumerate() {
            let want = golden.rows("general_ln_w")[case][x];
            assert_near(
                "w",
                ln_centrality(row, 3, strength, Centrality::Growing),
                want,
            );
            assert_near(
                "printed w",
                ln_centrality(row, 3, strength, Centrality::Printed),
                -want,
            );
        }
        let inner = golden.rows("inner_P");
        let pi = |centrality| ln_prior(&inner, &kernel, strength, centrality);
        assert_near(
            "inner",
            pi(Centrality::Growing),
            golden.floats("inner_ln_pi")[case],
        );
        assert_near(
            "inner printed",
            pi(Centrality::Printed),
            golden.floats("inner_ln_pi_printed")[case],
        );
    }
    for name in ["inner", "mixed"] {
        let p = golden.rows(&format!("{name}_P"));
        for (x, want) in golden
            .floats(&format!("{name}_ln_s"))
            .into_iter()
            .enumerate()
        {
            assert_near(name, ln_alignment(&p, x, &kernel[x]), want);
        }
    }
    let mixed = golden.rows("mixed_P");
    assert_near(
        "mixed",
        ln_prior(&mixed, &kernel, 1.0, Centrality::Growing),
        golden.float("mixed_ln_pi"),
    );
    assert_near(
        "mixed",
        ln_prior(&mixed, &kernel, 1.0, Centrality::Printed),
        golden.float("mixed_ln_pi_printed"),
    );
}
