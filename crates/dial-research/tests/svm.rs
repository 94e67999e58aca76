//! The support vector machine against golden numbers, derived in fixtures/ by another method.

use std::path::Path;

use dial_data::{Array, ArrayData};
use dial_research::reproduce::svm::Svm;

fn floats(arrays: &[(String, Array)], name: &str) -> Vec<f64> {
    let array = &arrays
        .iter()
        .find(|(known, _)| known == name)
        .unwrap_or_else(|| panic!("no array {name}"))
        .1;
    match &array.data {
        ArrayData::F64(values) => values.clone(),
        other => panic!("{name}: {} values that are not f64", other.len()),
    }
}

#[test]
fn multipliers_offsets_and_decisions() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden/svm.npz");
    let arrays: Vec<(String, Array)> = dial_data::read_npz(&place).unwrap().into_iter().collect();
    let (gamma, bound, grid) = (
        floats(&arrays, "gamma")[0],
        floats(&arrays, "C")[0],
        floats(&arrays, "grid"),
    );
    for sample in ["two", "eight", "noisy"] {
        let of = |part: &str| floats(&arrays, &format!("{sample}_{part}"));
        let machine = Svm::train(&of("x"), &of("y"), gamma, bound, 1e-11).unwrap();
        assert!(
            (machine.offset - of("b")[0]).abs() < 1e-9,
            "{sample}: b {} {}",
            machine.offset,
            of("b")[0]
        );
        for (place, want) in grid.iter().zip(of("f")) {
            let got = machine.decision(*place);
            assert!(
                (got - want).abs() < 1e-9,
                "{sample} at {place}: {got}, wanted {want}"
            );
        }
        for (got, want) in machine.multipliers.iter().zip(of("a")) {
            assert!(
                (got - want).abs() < 1e-7,
                "{sample}: a {got}, wanted {want}"
            );
        }
    }
}
