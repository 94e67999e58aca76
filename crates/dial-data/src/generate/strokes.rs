//! The ten digits as pen strokes, with the variants that people write.
//!
//! Control points lie in a unit box, x to the right and y down. A curve passes through its points (Catmull and Rom):
//! between p1 and p2, with neighbours p0 and p3,
//! p(t) = p1 + t/2 ((p2 - p0) + t ((2p0 - 5p1 + 4p2 - p3) + t (3(p1 - p2) + p3 - p0))), t in [0, 1].
//! A point given twice is a corner.

/// A point of the unit box or of a picture.
pub(crate) type Point = [f64; 2];
/// A curve through its points.
pub(crate) type Stroke = &'static [Point];

/// Pieces per pair of control points.
const PIECES_PER_PAIR: u32 = 8;

/// The ways to write a digit.
pub(crate) fn variants(digit: usize) -> &'static [&'static [Stroke]] {
    match digit {
        0 => &[ZERO, ZERO_OPEN],
        1 => &[ONE, ONE_FLAG, ONE_FOOT],
        2 => &[TWO, TWO_LOOP],
        3 => &[THREE, THREE_FLAT],
        4 => &[FOUR_OPEN, FOUR_CLOSED],
        5 => &[FIVE, FIVE_ROUND],
        6 => &[SIX, SIX_STRAIGHT],
        7 => &[SEVEN, SEVEN_BAR],
        8 => &[EIGHT, EIGHT_TWO],
        _ => &[NINE, NINE_HOOK],
    }
}

const ZERO: &[Stroke] = &[&[
    [0.56, 0.02],
    [0.25, 0.12],
    [0.09, 0.5],
    [0.24, 0.88],
    [0.5, 0.98],
    [0.77, 0.88],
    [0.91, 0.5],
    [0.77, 0.13],
    [0.5, 0.01],
    [0.4, 0.04],
]];
const ZERO_OPEN: &[Stroke] = &[&[
    [0.6, 0.08],
    [0.3, 0.1],
    [0.12, 0.42],
    [0.16, 0.8],
    [0.45, 0.98],
    [0.8, 0.82],
    [0.9, 0.45],
    [0.74, 0.1],
    [0.48, 0.0],
]];
const ONE: &[Stroke] = &[&[[0.5, 0.02], [0.5, 0.5], [0.5, 0.98]]];
const ONE_FLAG: &[Stroke] = &[&[
    [0.24, 0.24],
    [0.54, 0.02],
    [0.54, 0.02],
    [0.53, 0.5],
    [0.53, 0.98],
]];
const ONE_FOOT: &[Stroke] = &[
    &[
        [0.26, 0.2],
        [0.52, 0.02],
        [0.52, 0.02],
        [0.52, 0.5],
        [0.52, 0.97],
    ],
    &[[0.2, 0.97], [0.84, 0.97]],
];
const TWO: &[Stroke] = &[&[
    [0.12, 0.26],
    [0.3, 0.05],
    [0.62, 0.02],
    [0.86, 0.2],
    [0.78, 0.45],
    [0.48, 0.72],
    [0.1, 0.97],
    [0.1, 0.97],
    [0.5, 0.96],
    [0.92, 0.95],
]];
const TWO_LOOP: &[Stroke] = &[&[
    [0.14, 0.22],
    [0.36, 0.04],
    [0.7, 0.06],
    [0.84, 0.28],
    [0.64, 0.6],
    [0.32, 0.88],
    [0.1, 0.92],
    [0.12, 0.78],
    [0.34, 0.8],
    [0.64, 0.95],
    [0.94, 0.86],
]];
const THREE: &[Stroke] = &[&[
    [0.14, 0.14],
    [0.44, 0.01],
    [0.78, 0.13],
    [0.74, 0.36],
    [0.4, 0.47],
    [0.4, 0.47],
    [0.76, 0.55],
    [0.87, 0.76],
    [0.68, 0.95],
    [0.38, 0.98],
    [0.1, 0.85],
]];
const THREE_FLAT: &[Stroke] = &[&[
    [0.12, 0.05],
    [0.82, 0.04],
    [0.82, 0.04],
    [0.42, 0.42],
    [0.42, 0.42],
    [0.78, 0.5],
    [0.88, 0.73],
    [0.7, 0.95],
    [0.4, 0.98],
    [0.1, 0.87],
]];
const FOUR_OPEN: &[Stroke] = &[
    &[
        [0.26, 0.04],
        [0.12, 0.56],
        [0.12, 0.56],
        [0.5, 0.56],
        [0.92, 0.53],
    ],
    &[[0.74, 0.14], [0.7, 0.55], [0.66, 0.98]],
];
const FOUR_CLOSED: &[Stroke] = &[&[
    [0.66, 0.98],
    [0.67, 0.5],
    [0.68, 0.02],
    [0.68, 0.02],
    [0.36, 0.36],
    [0.07, 0.68],
    [0.07, 0.68],
    [0.5, 0.67],
    [0.94, 0.65],
]];
const FIVE: &[Stroke] = &[&[
    [0.86, 0.03],
    [0.26, 0.04],
    [0.26, 0.04],
    [0.2, 0.43],
    [0.2, 0.43],
    [0.52, 0.37],
    [0.82, 0.52],
    [0.84, 0.78],
    [0.6, 0.97],
    [0.3, 0.97],
    [0.08, 0.86],
]];
const FIVE_ROUND: &[Stroke] = &[
    &[
        [0.24, 0.06],
        [0.22, 0.36],
        [0.48, 0.4],
        [0.8, 0.52],
        [0.82, 0.8],
        [0.54, 0.98],
        [0.14, 0.92],
    ],
    &[[0.24, 0.06], [0.55, 0.06], [0.9, 0.02]],
];
const SIX: &[Stroke] = &[&[
    [0.76, 0.04],
    [0.4, 0.2],
    [0.15, 0.56],
    [0.2, 0.88],
    [0.5, 0.98],
    [0.8, 0.86],
    [0.82, 0.63],
    [0.55, 0.52],
    [0.26, 0.64],
    [0.18, 0.78],
]];
const SIX_STRAIGHT: &[Stroke] = &[&[
    [0.5, 0.02],
    [0.28, 0.36],
    [0.16, 0.72],
    [0.32, 0.95],
    [0.62, 0.96],
    [0.8, 0.76],
    [0.62, 0.58],
    [0.32, 0.64],
    [0.2, 0.8],
]];
const SEVEN: &[Stroke] = &[&[
    [0.1, 0.06],
    [0.5, 0.06],
    [0.88, 0.05],
    [0.88, 0.05],
    [0.58, 0.48],
    [0.4, 0.98],
]];
const SEVEN_BAR: &[Stroke] = &[
    &[
        [0.1, 0.1],
        [0.48, 0.06],
        [0.88, 0.05],
        [0.88, 0.05],
        [0.58, 0.5],
        [0.42, 0.98],
    ],
    &[[0.3, 0.52], [0.82, 0.48]],
];
const EIGHT: &[Stroke] = &[&[
    [0.76, 0.14],
    [0.5, 0.02],
    [0.23, 0.12],
    [0.26, 0.32],
    [0.52, 0.48],
    [0.8, 0.66],
    [0.8, 0.88],
    [0.5, 0.98],
    [0.18, 0.88],
    [0.2, 0.66],
    [0.5, 0.47],
    [0.74, 0.3],
    [0.76, 0.14],
]];
const EIGHT_TWO: &[Stroke] = &[
    &[
        [0.5, 0.46],
        [0.24, 0.34],
        [0.26, 0.1],
        [0.5, 0.02],
        [0.74, 0.1],
        [0.76, 0.34],
        [0.5, 0.46],
    ],
    &[
        [0.5, 0.46],
        [0.18, 0.6],
        [0.17, 0.88],
        [0.5, 0.98],
        [0.83, 0.88],
        [0.82, 0.6],
        [0.5, 0.46],
    ],
];
const NINE: &[Stroke] = &[&[
    [0.82, 0.24],
    [0.6, 0.04],
    [0.3, 0.06],
    [0.14, 0.28],
    [0.3, 0.5],
    [0.62, 0.46],
    [0.82, 0.22],
    [0.82, 0.22],
    [0.8, 0.6],
    [0.72, 0.98],
]];
const NINE_HOOK: &[Stroke] = &[&[
    [0.8, 0.2],
    [0.54, 0.02],
    [0.22, 0.12],
    [0.18, 0.38],
    [0.46, 0.5],
    [0.76, 0.34],
    [0.82, 0.2],
    [0.86, 0.56],
    [0.72, 0.86],
    [0.46, 0.98],
    [0.16, 0.9],
]];

/// The curve through the points, as a chain of short straight pieces.
pub(crate) fn curve(points: &[Point]) -> Vec<Point> {
    let Some((&first, &last)) = points.first().zip(points.last()) else {
        return Vec::new();
    };
    let mut padded = vec![first];
    padded.extend(points);
    padded.push(last);
    let mut chain = vec![first];
    for window in padded.windows(4) {
        let [p0, p1, p2, p3] = window else { continue };
        for piece in 1..=PIECES_PER_PAIR {
            let t = f64::from(piece) / f64::from(PIECES_PER_PAIR);
            chain.push(std::array::from_fn(|axis| {
                between([p0[axis], p1[axis], p2[axis], p3[axis]], t)
            }));
        }
    }
    chain
}

fn between([p0, p1, p2, p3]: [f64; 4], t: f64) -> f64 {
    let cubic = 3.0 * (p1 - p2) + p3 - p0;
    let square = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
    p1 + 0.5 * t * ((p2 - p0) + t * (square + t * cubic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_points_and_keep_lines_straight() {
        let points = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]];
        let chain = curve(&points);
        assert_eq!(chain.len(), 1 + 2 * PIECES_PER_PAIR as usize);
        for (index, point) in points.iter().enumerate() {
            assert_eq!(&chain[index * PIECES_PER_PAIR as usize], point);
        }
        let line = curve(&[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]);
        assert!(line.iter().all(|point| point[1] == 1.0));
        // Half-way between 1 and 2 on an even line is 1.5 exactly.
        assert_eq!(between([0.0, 1.0, 2.0, 3.0], 0.5), 1.5);
    }

    #[test]
    fn every_digit_fills_its_box() {
        for digit in 0..10 {
            for strokes in variants(digit) {
                let ys: Vec<f64> = strokes
                    .iter()
                    .flat_map(|stroke| stroke.iter().map(|point| point[1]))
                    .collect();
                assert!(
                    ys.iter().copied().fold(1.0, f64::min) < 0.1
                        && ys.iter().copied().fold(0.0, f64::max) > 0.9
                );
            }
        }
    }
}
