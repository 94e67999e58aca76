//! Summaries of trials against values worked out otherwise.

use dial_plot::stats::{
    Band, area_under, band, correlation, first_reaching, interval, mean_height, t_quantile,
};

/// The share of Student's t within plus or minus `t`, in closed form (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn mass_within(t: f64, degrees: usize) -> f64 {
    let theta = (t / (degrees as f64).sqrt()).atan();
    let (sin, cos) = (theta.sin(), theta.cos());
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = if odd { (cos, 0.0) } else { (1.0, 1.0) };
    let mut k = if odd { 1 } else { 2 };
    if odd && degrees > 1 {
        sum = term;
    }
    while k + 2 < degrees + usize::from(!odd) {
        let step = if odd {
            (k + 1) as f64 / (k + 2) as f64
        } else {
            (k - 1) as f64 / k as f64
        };
        term *= step * cos * cos;
        sum += term;
        k += 2;
    }
    if odd {
        std::f64::consts::FRAC_2_PI * (theta + sin * sum)
    } else {
        sin * sum
    }
}

#[test]
fn t_quantiles_match_printed_tables() {
    let printed = [
        (1, 12.706),
        (2, 4.303),
        (5, 2.571),
        (9, 2.262),
        (12, 2.179),
        (13, 2.160),
        (14, 2.145),
    ];
    let more = [
        (20, 2.086),
        (29, 2.045),
        (30, 2.042),
        (40, 2.021),
        (60, 2.000),
        (120, 1.980),
        (100_000, 1.960),
    ];
    for (degrees, value) in printed.into_iter().chain(more) {
        assert!(
            (t_quantile(degrees) - value).abs() < 5.1e-4,
            "{degrees}: {}",
            t_quantile(degrees)
        );
    }
}

#[test]
fn t_quantiles_leave_five_percent_outside() {
    for degrees in 1..=300 {
        let mass = mass_within(t_quantile(degrees), degrees);
        assert!(
            (mass - 0.95).abs() < if degrees <= 12 { 1e-9 } else { 3e-7 },
            "{degrees}: {mass}"
        );
    }
}

#[test]
fn t_quantiles_decrease_and_start_at_infinity() {
    assert_eq!(t_quantile(0), f64::INFINITY);
    assert!((1..500).all(|n| t_quantile(n + 1) < t_quantile(n)));
}

#[test]
fn band_by_hand() {
    // 1, 2, 3: mean 2, deviation 1, so the half width is t(2) / sqrt(3) = 4.302653 / 1.732051.
    let Band { mean, low, high } = band([vec![1.0, 5.0], vec![2.0, 5.0], vec![3.0, 5.0]]);
    assert_eq!(mean, [2.0, 5.0]);
    assert!((low[0] - (2.0 - 2.484_138)).abs() < 1e-6 && (high[0] - 4.484_138).abs() < 1e-6);
    assert_eq!((low[1], high[1]), (5.0, 5.0));
}

#[test]
fn equal_values_have_no_spread_whatever_their_binary_form() {
    let Band { mean, low, high } = band(vec![vec![0.1]; 7]);
    assert_eq!((mean[0], low[0], high[0]), (0.1, 0.1, 0.1));
}

#[test]
fn missing_values_do_not_count() {
    let Band { mean, low, high } = band([
        vec![1.0, 2.0, f64::NAN],
        vec![3.0],
        vec![f64::INFINITY, f64::NAN],
    ]);
    assert_eq!(mean[..2], [2.0, 2.0]);
    assert_eq!((low[1], high[1]), (2.0, 2.0));
    assert!(mean[2].is_nan() && low[2].is_nan() && high[2].is_nan());
    assert_eq!(band(&[] as &[Vec<f64>]), Band::default());
}

#[test]
fn interval_by_hand() {
    let summary = interval([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert_eq!((summary.count, summary.mean), (8, 5.0));
    assert!((summary.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    assert_eq!(interval(&[] as &[f64]).count, 0);
}

#[test]
fn areas_and_levels() {
    let (x, y) = ([0.0, 1.0, 3.0], [0.0, 2.0, 4.0]);
    assert_eq!(area_under(&x, &y), 7.0);
    assert_eq!(mean_height(&x, &y), 7.0 / 3.0);
    assert_eq!(area_under(&x, &[0.0, f64::NAN, 6.0]), 9.0);
    assert_eq!(
        (mean_height(&[2.0], &[5.0]), area_under(&[2.0], &[5.0])),
        (5.0, 0.0)
    );
    assert!(mean_height(&[], &[]).is_nan());
    assert_eq!(first_reaching(&x, &y, 2.0), Some(1.0));
    assert_eq!(first_reaching(&x, &y, 4.1), None);
}

#[test]
fn correlations_by_hand() {
    // Deviations (-1, 0, 1) and (-4/3, -1/3, 5/3): 3 / √(2 · 42/9).
    let got = correlation(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0]);
    assert!((got - 3.0 / (2.0f64 * 42.0 / 9.0).sqrt()).abs() < 1e-15);
    assert!((correlation(&[1.0, 2.0, 3.0], &[5.0, 3.0, 1.0]) + 1.0).abs() < 1e-15);
    assert!(correlation(&[1.0, 2.0], &[3.0, 3.0]).is_nan());
}
