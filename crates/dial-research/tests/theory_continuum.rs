//! Diffusion in the plane against golden numbers of dense NumPy (fixtures/theory_continuum.py), and against its laws:
//! conservation, the maximum principle, order 2 in time.

#[path = "common/golden.rs"]
mod golden;

use dial::Control;
use dial_research::theory::continuum::density::{Kde, Sampled};
use dial_research::theory::continuum::manufactured;
use dial_research::theory::continuum::plane::{Operator, Plane};
use serde_json::Value;

fn golden() -> Value {
    golden::golden("continuum")
}

fn floats(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn point(value: &Value) -> (f64, f64) {
    let values = floats(value);
    (values[0], values[1])
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

fn highest(values: &[f64]) -> usize {
    (0..values.len())
        .max_by(|a, b| values[*a].total_cmp(&values[*b]))
        .unwrap()
}

#[test]
fn golden_numbers() {
    let (golden, control) = (golden(), Control::new());
    let number = |name: &str| golden[name].as_f64().unwrap();
    let points = golden["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(point)
        .collect();
    let kde = Kde::new(points, number("floor"));
    let density = kde.sampled(number("n") as usize);
    assert!(apart(&density.cells, &floats(&golden["density"])) < 1e-12);
    for (operator, want) in Operator::ALL
        .into_iter()
        .zip(golden["operators"].as_array().unwrap())
    {
        assert_eq!(i64::from(operator.power()), want["power"].as_i64().unwrap());
        let plane = Plane::new(&density, operator).unwrap();
        let f = plane.bump(point(&golden["source"]), number("radius"));
        let (time, steps) = (number("time"), number("steps") as usize);
        let poisson = plane
            .network()
            .poisson(number("tau"), &f, &control)
            .unwrap();
        assert!(
            apart(&poisson, &floats(&want["poisson"])) < 1e-8,
            "{operator:?}"
        );
        let euler = plane
            .network()
            .backward_euler(time, 1, &f, &control)
            .unwrap();
        assert!(
            apart(&euler, &floats(&want["backward_euler"])) < 1e-8,
            "{operator:?}"
        );
        let heat = plane.network().heat(time, steps, &f, &control).unwrap();
        assert!(
            apart(&heat, &floats(&want["runge_kutta"])) < 1e-8,
            "{operator:?}"
        );
        // Many steps come to the exponential, and errors fall fourfold with every halving.
        let exact = floats(&want["heat"]);
        let error = |steps| {
            apart(
                &plane.network().heat(time, steps, &f, &control).unwrap(),
                &exact,
            )
        };
        let (coarse, fine) = (error(32), error(64));
        assert!(
            (3.6..4.4).contains(&(coarse / fine)),
            "{operator:?}: {coarse} {fine}"
        );
        assert!(fine < 1e-3 * exact[highest(&exact)], "{operator:?}: {fine}");
        let error = manufactured::error(number("n") as usize, operator, &control).unwrap();
        assert!(
            (error - want["manufactured_error"].as_f64().unwrap()).abs() < 1e-9,
            "{operator:?}"
        );
    }
}

/// A density with two hills and a valley, 3e-3 to 3.
fn hills(x: f64, y: f64) -> f64 {
    let hill = |a: f64, b: f64| libm::exp(-((x - a) * (x - a) + (y - b) * (y - b)) / 0.02);
    3.0 * (hill(0.25, 0.3) + hill(0.7, 0.75)) + 3e-3
}

#[test]
fn nothing_is_lost_and_nothing_exceeds_the_source() {
    let (control, source, radius, tau) = (Control::new(), (0.3, 0.35), 0.08, 1e-3);
    for operator in Operator::ALL {
        let plane = Plane::new(&Sampled::of(48, hills), operator).unwrap();
        for f in [plane.bump(source, radius), plane.spike(source)] {
            let given = plane.network().mass(&f);
            let near = |cell: usize| {
                let (x, y) = plane.centre(cell);
                ((x - source.0) * (x - source.0) + (y - source.1) * (y - source.1)).sqrt() <= radius
            };
            // ∫ρu = ∫ρf/τ; u >= 0; the largest value inside the source.
            let u = plane.network().poisson(tau, &f, &control).unwrap();
            assert!(
                (tau * plane.network().mass(&u) / given - 1.0).abs() < 1e-12,
                "{operator:?}"
            );
            assert!(
                u.iter().all(|u| *u >= 0.0) && near(highest(&u)),
                "{operator:?}"
            );
            // Off the source no cell exceeds all of its neighbours.
            let n = plane.n();
            let inner =
                (0..n * n).filter(|c| c % n > 0 && c % n < n - 1 && c / n > 0 && c / n < n - 1);
            for cell in inner.filter(|cell| f[*cell] == 0.0) {
                let around = [cell - 1, cell + 1, cell - n, cell + n]
                    .map(|c| u[c])
                    .into_iter()
                    .fold(0.0, f64::max);
                assert!(u[cell] <= around * (1.0 + 1e-9), "{operator:?} {cell}");
            }
            // Heat: ∫ρv stays; a step of backward Euler stays between 0 and the largest value before.
            let v = plane.network().heat(0.01, 5, &f, &control).unwrap();
            assert!(
                (plane.network().mass(&v) / given - 1.0).abs() < 1e-12,
                "{operator:?}"
            );
            let step = plane
                .network()
                .backward_euler(0.01, 1, &f, &control)
                .unwrap();
            let top = f[highest(&f)];
            assert!(
                step.iter().all(|v| *v >= -1e-9 * top && *v <= top),
                "{operator:?}"
            );
            assert!(
                (plane.network().mass(&step) / given - 1.0).abs() < 1e-12,
                "{operator:?}"
            );
        }
        // What is even stays even.
        let ones = vec![2.5; 48 * 48];
        assert!(
            apart(
                &plane.network().heat(0.1, 3, &ones, &control).unwrap(),
                &ones
            ) < 1e-9
        );
        assert!(
            apart(
                &plane.network().poisson(0.5, &ones, &control).unwrap(),
                &vec![5.0; 48 * 48]
            ) < 1e-9
        );
    }
}

#[test]
fn points_and_cells() {
    let plane = Plane::new(&Sampled::of(8, |_, _| 1.0), Operator::Weighted).unwrap();
    assert_eq!(
        (
            plane.cell((0.0, 0.0)),
            plane.cell((1.0, 1.0)),
            plane.cell((0.13, 0.99))
        ),
        (0, 63, 57)
    );
    assert_eq!(plane.centre(57), (1.5 / 8.0, 7.5 / 8.0));
    // Linear functions are interpolated exactly between the middles of cells.
    let values = plane.values(|x, y| 2.0 * x - 3.0 * y + 1.0);
    assert!((plane.interpolated(&values, (0.41, 0.77)) - (0.82 - 2.31 + 1.0)).abs() < 1e-14);
    let bump = plane.bump((0.5, 0.5), 0.3);
    assert!((bump.iter().sum::<f64>() / 64.0 - 1.0).abs() < 1e-14 && bump[0] == 0.0);
}
