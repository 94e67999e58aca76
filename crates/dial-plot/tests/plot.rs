//! Line charts: everything stays on the canvas, nothing overlaps, odd input does no harm.

mod common;

use dial_plot::chart::{Anchor, Canvas, Point, Shape, Text, font, to_png, to_svg};
use dial_plot::plot::{LineChart, Series, side_by_side};
use dial_plot::stats::{Band, band};

fn wavy(name: &str, height: f64) -> Series {
    let trial = |shift: f64| {
        (0..50)
            .map(|i| height * (f64::from(i) + shift) / 60.0)
            .collect::<Vec<f64>>()
    };
    Series::new(
        name,
        (0..50).map(f64::from).collect::<Vec<f64>>(),
        band([trial(0.0), trial(2.0), trial(5.0)]),
    )
}

fn chart(series: Vec<Series>) -> LineChart {
    LineChart {
        title: "T".into(),
        x_label: "X".into(),
        y_label: "Y".into(),
        percent: true,
        series,
        ..LineChart::default()
    }
}

/// Left, top, right, bottom of a line of text.
fn bounds(text: &Text) -> [f64; 4] {
    let width = font::width(&text.content, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let (x, y) = text.at;
    match text.upward {
        false => [
            x - before,
            y - 0.72 * text.size,
            x - before + width,
            y + 0.2 * text.size,
        ],
        true => [
            x - 0.72 * text.size,
            y + before - width,
            x + 0.2 * text.size,
            y + before,
        ],
    }
}

fn texts(canvas: &Canvas) -> Vec<&Text> {
    canvas
        .shapes
        .iter()
        .filter_map(|s| {
            if let Shape::Text(t) = s {
                Some(t)
            } else {
                None
            }
        })
        .collect()
}

fn points(canvas: &Canvas) -> Vec<Point> {
    let of = |shape: &Shape| match shape {
        Shape::Polyline { points, .. } | Shape::Polygon { points, .. } => points.clone(),
        Shape::Marker(marker) => vec![marker.at],
        _ => vec![],
    };
    canvas.shapes.iter().flat_map(of).collect()
}

/// Checks that all shapes lie on the canvas and that no two texts overlap.
fn check(name: &str, canvas: &Canvas) {
    for (x, y) in points(canvas) {
        assert!(
            (0.0..=canvas.width).contains(&x) && (0.0..=canvas.height).contains(&y),
            "{name}: {x} {y}"
        );
    }
    let texts = texts(canvas);
    for (i, text) in texts.iter().enumerate() {
        let [left, top, right, bottom] = bounds(text);
        let inside = left >= 0.0 && top >= 0.0 && right <= canvas.width && bottom <= canvas.height;
        assert!(inside, "{name}: {:?} is cut off", text.content);
        for other in &texts[..i] {
            let [l, t, r, b] = bounds(other);
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "{name}: {:?} over {:?}", text.content, other.content);
        }
    }
    common::elements(&to_svg(canvas));
    assert!(to_png(canvas, 1.0).len() > 500, "{name}");
}

fn flat(name: &str, value: f64) -> Series {
    Series::new(name, vec![0.0, 1.0, 2.0], Band::exact(vec![value; 3]))
}

#[test]
fn charts_stay_on_the_canvas_and_texts_apart() {
    let long = |i: usize| {
        wavy(
            &format!("<{i}> a very long name indeed, one that nobody would ever print & more"),
            0.9,
        )
    };
    let mut window = chart(vec![wavy("a", 1.0), wavy("b", 0.5)]);
    (window.x_range, window.y_range) = (Some((10.0, 20.0)), Some((0.2, 0.4)));
    let mut wrong = chart(vec![wavy("a", 1.0)]);
    (wrong.x_range, wrong.y_range) = (Some((2.0, 1.0)), Some((f64::NAN, 1.0)));
    let large = LineChart {
        percent: false,
        ..chart(vec![flat("a", 1e12), flat("b", -1e12)])
    };
    let tiny = LineChart {
        percent: false,
        ..chart(vec![flat("a", 1e-12), flat("b", 3e-12)])
    };
    let broken = Series::new(
        "gaps",
        vec![1.0, f64::NAN, 3.0, 4.0],
        Band::exact(vec![0.1, 0.2, f64::NAN, 0.4]),
    );
    let cases = [
        ("none", chart(vec![])),
        (
            "empty",
            chart(vec![Series::new("e", Vec::<f64>::new(), Band::default())]),
        ),
        (
            "point",
            chart(vec![Series::new("p", vec![7.0], Band::exact(vec![0.5]))]),
        ),
        (
            "ones",
            chart(vec![flat("a", 1.0), flat("b", 1.0), flat("c", 1.0)]),
        ),
        ("zeros", chart(vec![flat("a", 0.0)])),
        (
            "counts of zero",
            LineChart {
                percent: false,
                ..chart(vec![flat("a", 0.0)])
            },
        ),
        ("twelve", chart((0..12).map(long).collect())),
        ("forty", chart((0..40).map(long).collect())),
        ("window", window),
        ("wrong ranges", wrong),
        ("large", large),
        ("tiny", tiny),
        ("gaps", chart(vec![broken])),
        (
            "bare",
            LineChart {
                series: vec![wavy("", 2.0)],
                ..LineChart::default()
            },
        ),
        (
            "title",
            LineChart {
                title: "word ".repeat(60),
                ..chart(vec![wavy("a", 1.0)])
            },
        ),
    ];
    for (name, chart) in &cases {
        check(name, &chart.canvas());
        check(
            name,
            &side_by_side("Two", &[chart.clone(), cases[6].1.clone()]),
        );
    }
    check("no panels", &side_by_side("Nothing", &[]));
}

#[test]
fn every_name_is_shown_and_lines_of_one_name_look_alike() {
    let names = ["first", "second", "third"];
    let panel = |order: [usize; 3]| chart(order.map(|i| wavy(names[i], 0.9)).to_vec());
    let canvas = side_by_side("", &[panel([0, 1, 2]), panel([2, 1, 0])]);
    for name in names {
        assert_eq!(
            texts(&canvas).iter().filter(|t| t.content == name).count(),
            1,
            "{name}"
        );
    }
    let long = |shape: &Shape| match shape {
        Shape::Polyline { points, stroke } if points.len() > 10 => Some(stroke.clone()),
        _ => None,
    };
    let strokes: Vec<_> = canvas.shapes.iter().filter_map(long).collect();
    assert_eq!(strokes.len(), 6);
    // Drawn last to first in each panel, and the second panel has them in reverse order.
    assert_eq!(
        (&strokes[0], &strokes[1], &strokes[2]),
        (&strokes[5], &strokes[4], &strokes[3])
    );
    let dashes = [&strokes[0], &strokes[1], &strokes[2]].map(|s| format!("{:?}", s.dash));
    assert!(dashes[0] != dashes[1] && dashes[1] != dashes[2] && dashes[0] != dashes[2]);
}

#[test]
fn one_trial_has_no_band_and_no_note_about_bands() {
    let polygons = |canvas: &Canvas| {
        canvas
            .shapes
            .iter()
            .filter(|s| matches!(s, Shape::Polygon { .. }))
            .count()
    };
    let note = |canvas: &Canvas| texts(canvas).iter().any(|t| t.content.contains("95 %"));
    let single = chart(vec![Series::new(
        "a",
        vec![0.0, 1.0],
        band([vec![0.2, 0.7]]),
    )])
    .canvas();
    assert_eq!((polygons(&single), note(&single)), (0, false));
    let three = chart(vec![wavy("a", 0.9)]).canvas();
    assert_eq!((polygons(&three), note(&three)), (1, true));
}

#[test]
fn shares_do_not_leave_their_axis() {
    let certain = Series::new("a", vec![0.0, 1.0], band([vec![0.5, 1.0], vec![0.9, 0.98]]));
    let canvas = chart(vec![certain]).canvas();
    let labels: Vec<&str> = texts(&canvas)
        .iter()
        .map(|t| t.content.as_str())
        .filter(|t| t.ends_with(" %"))
        .collect();
    assert_eq!(labels.last(), Some(&"100 %"));
    assert_eq!(labels.first(), Some(&"0 %"));
}

#[test]
fn the_description_says_where_lines_end() {
    let canvas = chart(vec![
        flat("steady", 0.25),
        Series::new("absent", Vec::<f64>::new(), Band::default()),
    ])
    .canvas();
    assert!(
        canvas.description.contains("steady ends at 25.0 %"),
        "{}",
        canvas.description
    );
    assert!(canvas.description.contains("absent has no data"));
}

#[test]
fn figures_are_deterministic() {
    let draw = || {
        side_by_side(
            "Two",
            &[chart(vec![wavy("a", 1.0)]), chart(vec![wavy("b", 0.3)])],
        )
    };
    assert_eq!(to_svg(&draw()), to_svg(&draw()));
    assert_eq!(to_png(&draw(), 2.0), to_png(&draw(), 2.0));
}
