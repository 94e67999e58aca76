//! Properties of tick marks over many ranges.

use dial_plot::ticks::{round_out, ticks};

fn ranges() -> Vec<(f64, f64)> {
    let mut out = vec![
        (0.0, 1.0),
        (0.0, 100.0),
        (0.1, 0.3),
        (-3.0, 7.0),
        (1e-9, 3e-9),
        (0.0, 2.5e8),
        (999.0, 1001.0),
    ];
    let mut seed = 1_u64;
    for _ in 0..500 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let low = ((seed >> 33) % 2000) as f64 / 7.0 - 140.0;
        out.push((low, low + ((seed >> 13) % 9973 + 1) as f64 / 997.0));
    }
    out
}

/// 1, 2 or 5 once all powers of ten are taken out.
fn is_round(step: f64) -> bool {
    let text = format!("{step:e}");
    let mantissa: f64 = text.split('e').next().unwrap().parse().unwrap();
    [1.0, 2.0, 5.0, 10.0]
        .iter()
        .any(|m| (mantissa - m).abs() < 1e-6)
}

#[test]
fn ticks_are_round_even_and_inside() {
    for (low, high) in ranges() {
        for most in [2, 4, 6, 10] {
            let values = ticks(low, high, most, false).values;
            assert!(
                values.iter().all(|v| (low..=high).contains(v)),
                "{low} {high}: {values:?}"
            );
            assert!(values.len() <= most + 1, "{low} {high} {most}: {values:?}");
            assert!(
                most < 6 || values.len() >= 2,
                "{low} {high} {most}: {values:?}"
            );
            let steps: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
            let even = steps
                .iter()
                .all(|s| (s - steps[0]).abs() < 1e-9 * high.abs().max(low.abs()));
            assert!(
                even && steps.first().is_none_or(|s| is_round(*s)),
                "{low} {high}: {values:?}"
            );
        }
    }
}

#[test]
fn labels_differ_and_read_back() {
    for (low, high) in ranges() {
        let found = ticks(low, high, 6, false);
        for (value, label) in found.values.iter().zip(&found.labels) {
            let read: f64 = label
                .replace('\u{2212}', "-")
                .replace(',', "")
                .parse()
                .unwrap();
            assert!(
                (read - value).abs() <= 1e-9 * (high - low),
                "{label} for {value}"
            );
        }
        let mut labels = found.labels.clone();
        labels.dedup();
        assert_eq!(labels.len(), found.values.len(), "{low} {high}: {labels:?}");
    }
}

#[test]
fn known_ticks() {
    assert_eq!(
        ticks(0.0, 1.0, 5, false).labels,
        ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    );
    assert_eq!(
        ticks(0.1, 0.3, 4, false).values,
        [0.1, 0.15, 0.2, 0.25, 0.3]
    );
    assert_eq!(
        ticks(0.0, 20_000.0, 4, false).labels,
        ["0", "5,000", "10,000", "15,000", "20,000"]
    );
    assert_eq!(ticks(-1.0, 1.0, 2, false).labels, ["\u{2212}1", "0", "1"]);
}

#[test]
fn whole_ticks_are_whole() {
    assert_eq!(ticks(0.0, 2.0, 6, true).values, [0.0, 1.0, 2.0]);
    assert!(ticks(0.2, 0.8, 6, true).values.is_empty());
}

#[test]
fn odd_ranges_do_not_panic() {
    assert!(ticks(f64::NAN, 1.0, 5, false).values.is_empty());
    assert!(ticks(2.0, 1.0, 5, false).values.is_empty());
    assert!(ticks(0.0, f64::INFINITY, 5, false).values.is_empty());
    assert_eq!(ticks(3.0, 3.0, 5, false).values, [3.0]);
    assert_eq!(ticks(0.0, 0.0, 0, true).values, [0.0]);
    assert!(ticks(0.0, 1.0, 0, false).values.len() <= 2);
}

#[test]
fn rounding_out_covers_the_range_and_ends_on_ticks() {
    for (low, high) in ranges() {
        let (from, to) = round_out(low, high, 6);
        assert!(
            from <= low + 1e-9 * (high - low) && to >= high - 1e-9 * (high - low),
            "{low} {high}: {from} {to}"
        );
        assert!(
            to - from <= 2.4 * (high - low) || high - low < 1e-8,
            "{low} {high}: {from} {to}"
        );
    }
    assert_eq!(round_out(0.13, 0.98, 6), (0.0, 1.0));
}
