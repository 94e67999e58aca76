//! The two back ends: colours, sizes, escaping, determinism.

mod common;

use dial_plot::chart::{
    Anchor, Canvas, Colour, Marker, MarkerKind, Shape, Stroke, Text, Weight, font, to_png, to_svg,
};
use dial_plot::picture::{GreyPicture, sparkline};
use dial_plot::sheet::contact_sheet;

/// Width, height and RGB pixels of a PNG file.
fn decode(png: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    let samples = info.color_type.samples();
    let pixels = buffer
        .chunks(samples)
        .map(|p| {
            if samples < 3 {
                [p[0]; 3]
            } else {
                [p[0], p[1], p[2]]
            }
        })
        .collect();
    (info.width, info.height, pixels)
}

fn sample() -> Canvas {
    let mut canvas = Canvas::new(60.0, 40.0);
    (canvas.title, canvas.description) = ("A <b> & \"c\"".into(), "\u{1}bell's".into());
    canvas.shapes.push(Shape::Rectangle {
        at: (10.0, 10.0),
        size: (20.0, 10.0),
        fill: Colour(0, 114, 178),
    });
    canvas.shapes.push(Shape::Circle {
        at: (50.0, 10.0),
        radius: 5.0,
        fill: Colour(213, 94, 0),
    });
    let points = vec![(30.0, 20.0), (60.0, 20.0), (60.0, 40.0), (30.0, 40.0)];
    canvas.shapes.push(Shape::Polygon {
        points,
        fill: Colour(0, 0, 0),
        opacity: 0.2,
    });
    canvas.line(
        vec![(0.0, 30.0), (25.0, 30.0)],
        Stroke {
            dash: vec![4.0, 2.0],
            ..Stroke::solid(Colour::INK, 2.0)
        },
    );
    for kind in [
        MarkerKind::Circle,
        MarkerKind::Square,
        MarkerKind::Up,
        MarkerKind::Diamond,
        MarkerKind::Down,
    ] {
        canvas.shapes.push(Shape::Marker(Marker {
            kind,
            at: (5.0, 5.0),
            radius: 3.0,
            colour: Colour::INK,
            hollow: true,
        }));
    }
    let text = Text::new("<Tea & \"milk\">", (30.0, 38.0), 8.0);
    canvas.text(Text {
        anchor: Anchor::Middle,
        weight: Weight::Bold,
        ..text
    });
    canvas
}

#[test]
fn known_pixels_have_known_colours() {
    let (width, height, pixels) = decode(&to_png(&sample(), 2.0));
    assert_eq!((width, height), (120, 80));
    let at = |x: usize, y: usize| pixels[2 * y * 120 + 2 * x];
    assert_eq!(at(20, 15), [0, 114, 178]);
    assert_eq!(at(50, 10), [213, 94, 0]);
    assert_eq!(at(35, 3), [255, 255, 255]);
    assert_eq!(at(57, 22), [204, 204, 204]);
    assert_eq!(
        pixels[2 * 10 * 120 + 19],
        [255, 255, 255],
        "left of the rectangle"
    );
    assert_eq!(pixels[2 * 10 * 120 + 20], [0, 114, 178], "its first pixel");
}

#[test]
fn svg_is_well_formed_and_escaped() {
    let svg = to_svg(&sample());
    let names = common::elements(&svg);
    assert_eq!(names.first().map(String::as_str), Some("svg"));
    assert!(svg.contains(">A &lt;b&gt; &amp; &quot;c&quot;</title>"));
    assert!(svg.contains(">\u{fffd}bell&#39;s</desc>"));
    assert!(
        !names.iter().any(|n| n == "text" || n == "script"),
        "letters are outlines"
    );
    assert!(svg.contains("role=\"img\""));
}

#[test]
fn each_glyph_is_defined_once_and_every_use_finds_it() {
    let mut canvas = Canvas::new(100.0, 20.0);
    canvas.text(Text::new("aaa b aaa", (0.0, 10.0), 10.0));
    let svg = to_svg(&canvas);
    let names = common::elements(&svg);
    let count = |name: &str| names.iter().filter(|n| *n == name).count();
    assert_eq!((count("path"), count("use")), (2, 7));
    for used in svg.split("href=\"#").skip(1) {
        let id = used.split('"').next().unwrap();
        assert_eq!(svg.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn identifiers_of_different_drawings_differ() {
    let mut other = sample();
    other.text(Text::new("more", (0.0, 10.0), 5.0));
    let id = |svg: &str| svg.split("aria-labelledby=\"").nth(1).unwrap()[..9].to_owned();
    assert_ne!(id(&to_svg(&sample())), id(&to_svg(&other)));
}

#[test]
fn the_same_drawing_gives_the_same_bytes() {
    assert_eq!(to_svg(&sample()), to_svg(&sample()));
    assert_eq!(to_png(&sample(), 1.5), to_png(&sample(), 1.5));
}

#[test]
fn text_leaves_ink_where_its_anchor_says() {
    for (anchor, columns) in [
        (Anchor::Start, 50..100),
        (Anchor::Middle, 25..75),
        (Anchor::End, 0..50),
    ] {
        let mut canvas = Canvas::new(100.0, 20.0);
        canvas.text(Text {
            anchor,
            ..Text::new("mmmm", (50.0, 15.0), 12.0)
        });
        let (width, _, pixels) = decode(&to_png(&canvas, 1.0));
        let dark: Vec<usize> = (0..pixels.len())
            .filter(|i| pixels[*i][0] < 128)
            .map(|i| i % width as usize)
            .collect();
        assert!(
            dark.len() > 20 && dark.iter().all(|x| columns.contains(x)),
            "{anchor:?} {dark:?}"
        );
    }
}

#[test]
fn upward_text_is_taller_than_wide() {
    let mut canvas = Canvas::new(60.0, 60.0);
    canvas.text(Text {
        upward: true,
        anchor: Anchor::Middle,
        ..Text::new("upward", (30.0, 30.0), 12.0)
    });
    let (_, _, pixels) = decode(&to_png(&canvas, 1.0));
    let dark: Vec<usize> = (0..3600).filter(|i| pixels[*i][0] < 128).collect();
    let span = |values: Vec<usize>| values.iter().max().unwrap() - values.iter().min().unwrap();
    let (across, along) = (
        span(dark.iter().map(|i| i % 60).collect()),
        span(dark.iter().map(|i| i / 60).collect()),
    );
    assert!(along > 2 * across, "{along} {across}");
}

#[test]
fn long_text_is_shortened_and_wrapped_to_its_limit() {
    let text = "a title that is certainly longer than the limit";
    let short = font::fit(text, 12.0, 80.0);
    assert!(
        short.ends_with('…') && font::width(&short, 12.0) <= 80.0,
        "{short}"
    );
    assert_eq!(font::fit("short", 12.0, 80.0), "short");
    let middle = font::fit_middle(text, 12.0, 80.0);
    assert!(
        middle.starts_with("a t") && middle.ends_with("mit") && font::width(&middle, 12.0) <= 80.0,
        "{middle}"
    );
    let lines = font::wrap(text, 12.0, 90.0, 2);
    assert_eq!(lines.len(), 2);
    assert!(
        lines[1].ends_with('…') && lines.iter().all(|l| font::width(l, 12.0) <= 90.0),
        "{lines:?}"
    );
    assert_eq!(font::wrap(text, 12.0, 120.0, 9).join(" "), text);
    assert!(font::wrap("", 12.0, 120.0, 2).is_empty());
}

#[test]
fn odd_canvases_do_not_panic() {
    let sizes = [
        (0.0, 0.0),
        (-5.0, 10.0),
        (f64::NAN, 1e300),
        (1e9, 1.0),
        (0.2, 0.2),
    ];
    for (width, height) in sizes {
        let mut canvas = Canvas {
            width,
            height,
            ..sample()
        };
        canvas.line(
            vec![(f64::NAN, 0.0), (1.0, f64::INFINITY)],
            Stroke::solid(Colour::INK, 1.0),
        );
        canvas.line(
            vec![],
            Stroke {
                dash: vec![0.0],
                ..Stroke::solid(Colour::INK, 0.0)
            },
        );
        canvas.text(Text::new("日本 \u{202e} עברית", (0.0, 0.0), f64::NAN));
        canvas.shapes.push(Shape::Picture {
            at: (0.0, 0.0),
            size: (9.0, 9.0),
            picture: GreyPicture::default(),
        });
        common::elements(&to_svg(&canvas));
        let (w, h, _) = decode(&to_png(&canvas, if width == 0.2 { f64::NAN } else { 1.0 }));
        assert!(w >= 1 && h >= 1);
    }
}

#[test]
fn pictures_are_enlarged_without_smoothing() {
    let picture = GreyPicture::new(2, 3, vec![0.0, 1.0, 2.0, 4.0, f64::NAN, 3.0]);
    let (width, height, pixels) = decode(&picture.to_png(4));
    assert_eq!((width, height), (12, 8));
    let grey = [[0, 64, 128], [255, 0, 191]];
    for (i, pixel) in pixels.iter().enumerate() {
        assert_eq!(pixel[0], grey[i / 12 / 4][i % 12 / 4], "pixel {i}");
    }
}

#[test]
fn odd_pictures() {
    assert_eq!(
        decode(&GreyPicture::new(1, 2, vec![5.0, 5.0]).to_png(1)).2,
        [[128; 3]; 2]
    );
    assert_eq!(
        decode(&GreyPicture::default().to_png(0)),
        (1, 1, vec![[255; 3]])
    );
    let short = GreyPicture {
        height: 2,
        width: 2,
        values: vec![1.0],
        lowest: 0.0,
        highest: 1.0,
    };
    assert_eq!(short.bytes(), [255, 0, 0, 0]);
}

#[test]
fn contact_sheets_show_every_picture() {
    let white = GreyPicture {
        height: 4,
        width: 4,
        values: vec![0.0; 16],
        lowest: 0.0,
        highest: 1.0,
    };
    let canvas = contact_sheet(&vec![white; 5], &["<one>".into(), "two".into()], 3);
    let (width, _, pixels) = decode(&to_png(&canvas, 1.0));
    assert_eq!(f64::from(width), canvas.width);
    let black = pixels.iter().filter(|p| p[0] == 0).count();
    assert_eq!(black, 5 * 96 * 96);
    let svg = to_svg(&canvas);
    assert_eq!(
        common::elements(&svg)
            .iter()
            .filter(|n| *n == "image")
            .count(),
        5
    );
    to_png(&contact_sheet(&[], &["no picture".into()], 0), 1.0);
}

#[test]
fn sparklines_draw_runs_and_gaps() {
    let canvas = sparkline(&[-1.0, 2.0, f64::NAN, 1.0], 60.0, 30.0);
    let lines = canvas
        .shapes
        .iter()
        .filter(|s| matches!(s, Shape::Polyline { .. }))
        .count();
    let dots = canvas
        .shapes
        .iter()
        .filter(|s| matches!(s, Shape::Circle { .. }))
        .count();
    assert_eq!(
        (lines, dots),
        (2, 1),
        "the zero line and one run; a single value"
    );
    assert!(sparkline(&[], 60.0, 30.0).shapes.is_empty());
    assert_eq!(sparkline(&[3.0, 3.0], 60.0, 30.0).shapes.len(), 1);
}
