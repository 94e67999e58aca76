//! Classes balanced: a class that was asked much must not win by that alone.
//!
//! ```text
//! M_c = Σ_x e_c(x)                       the mass of class c
//! e_c ← ω_c e_c,   ω_c ∝ M_c^-power      so that Σ_c M_c stays
//! ```
//!
//! Questions go where classes are torn, so torn classes collect labels, and with them evidence far beyond their border. Power
//! 1 gives every class the same mass (class mass normalisation, Zhu, Ghahramani and Lafferty 2003), which is wrong where
//! classes differ in size; power 0 is the paper. A half was better than both on nearly all pools, and the paper's field
//! stays the default of the library. A label of class c then counts as ω_c observations: what comes out is a Dirichlet
//! field like any other.

use crate::belief::field::DirichletField;

/// The power that `auto` uses.
pub const AUTO_POWER: f64 = 0.5;

/// ω of every class; 1 for classes without evidence.
pub fn weights(field: &DirichletField, power: f64) -> Vec<f64> {
    let mass = |class: usize| field.plane(class).iter().fold(0.0, |sum, e| sum + e);
    let masses: Vec<f64> = (0..field.n_classes()).map(mass).collect();
    let raw = |mass: &f64| {
        if *mass > 0.0 {
            libm::pow(*mass, -power)
        } else {
            1.0
        }
    };
    let (before, after) = masses
        .iter()
        .fold((0.0, 0.0), |(b, a), mass| (b + mass, a + mass * raw(mass)));
    let scale = if after > 0.0 { before / after } else { 1.0 };
    masses
        .iter()
        .map(|mass| if *mass > 0.0 { scale * raw(mass) } else { 1.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;

    #[test]
    fn masses_by_hand() {
        // Masses 4, 1 and 0. Power 1/2: raw weights 1/2 and 1, masses 2 and 1, scaled by 5/3 to keep the sum of 5.
        let mut field = DirichletField::new(2, 3, 1.0);
        field.add(0, 1.0, &[3.0, 1.0]);
        field.add(1, 1.0, &[0.0, 1.0]);
        let close = |got: Vec<f64>, want: [f64; 3]| {
            got.iter()
                .zip(want)
                .all(|(got, want)| (got - want).abs() < 1e-12)
        };
        assert!(close(weights(&field, 0.5), [5.0 / 6.0, 5.0 / 3.0, 1.0]));
        assert!(
            close(weights(&field, 1.0), [0.625, 2.5, 1.0]),
            "every class with labels has a mass of 2.5"
        );
        assert!(close(weights(&field, 0.0), [1.0; 3]));
        assert_eq!(field.class(NodeId(1)), 0, "a tie goes to the smaller class");
        field.weigh(&weights(&field, 0.5));
        assert_eq!(field.class(NodeId(1)), 1, "the class of less mass wins it");
        assert!((field.evidence(NodeId(0)) + field.evidence(NodeId(1)) - 5.0).abs() < 1e-12);
    }
}
