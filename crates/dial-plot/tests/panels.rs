//! Maps, scatters and grids: what they draw, what they say to those who cannot see, how large they become.

mod common;

use dial_plot::chart::{Canvas, Colour, MarkerKind, Shape, Text, to_png, to_svg};
use dial_plot::colours;
use dial_plot::plot::{
    ClassMap, Colouring, Grid, HeatMap, Lacking, LineChart, LineStyle, Overlay, OverlayKind, Panel,
    Scale, Scatter, Series, contours, scene_map,
};
use dial_plot::stats::Band;
use dial_plot::ticks::{log_ticks, round_out_log};

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

fn says(canvas: &Canvas, content: &str) -> usize {
    texts(canvas)
        .iter()
        .filter(|text| text.content == content)
        .count()
}

fn ramp(columns: usize, rows: usize) -> HeatMap {
    HeatMap {
        title: "Ramp".into(),
        x_label: "x".into(),
        y_label: "y".into(),
        value_label: "sum".into(),
        ..HeatMap::sampled((0.0, 1.0), (0.0, 2.0), columns, rows, |x, y| x + y)
    }
}

fn curve(name: &str, look: LineStyle) -> Series {
    Series::curve(name, vec![1.0, 10.0, 100.0], vec![0.001, 0.1, 10.0], look)
}

#[test]
fn heat_maps_have_their_lowest_row_at_the_bottom() {
    let map = ramp(4, 8);
    assert_eq!(
        (map.rows(), map.values[0], map.values[31]),
        (8, 0.125 + 0.125, 0.875 + 1.875)
    );
    let canvas = Grid::new("", 1, vec![Panel::Heat(map)]).canvas();
    let pictures: Vec<_> = canvas
        .shapes
        .iter()
        .filter_map(|s| {
            if let Shape::Colours { picture, .. } = s {
                Some(picture)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        (pictures.len(), pictures[0].width, pictures[0].height),
        (2, 4, 8),
        "the map and its colour bar"
    );
    let pixels: Vec<Colour> = pictures[0].pixels().collect();
    assert_eq!(
        pixels[28],
        colours::of_share(0.0),
        "lower left is the smallest"
    );
    assert_eq!(
        pixels[3],
        colours::of_share(1.0),
        "upper right is the largest"
    );
    assert!(
        canvas
            .description
            .contains("sum against x and y, largest (2.750) at (0.88, 1.88)"),
        "{}",
        canvas.description
    );
}

#[test]
fn contours_are_drawn_in_the_units_of_the_axes() {
    let map = HeatMap {
        contours: vec![1.5],
        ..ramp(20, 40)
    };
    let canvas = Grid::new("", 1, vec![Panel::Heat(map.clone())]).canvas();
    let white =
        |s: &&Shape| matches!(s, Shape::Polyline { stroke, .. } if stroke.colour == Colour::WHITE);
    assert_eq!(canvas.shapes.iter().filter(white).count(), 1);
    for (x, y) in &contours(&map.values, 20, 1.5)[0] {
        assert!(((x + 0.5) / 20.0 + (y + 0.5) / 20.0 - 1.5).abs() < 1e-12);
    }
}

#[test]
fn scatters_group_points_of_one_colour() {
    let points: Vec<_> = (0..1500)
        .map(|i| (f64::from(i % 50), f64::from(i / 50)))
        .collect();
    let of: Vec<f64> = (0..1500).map(f64::from).collect();
    let colouring = Colouring::Values {
        of,
        label: "rank".into(),
        range: None,
    };
    let scatter = Scatter {
        title: "Points".into(),
        points: points.clone(),
        colouring,
        ..Scatter::default()
    };
    let canvas = Grid::new("", 1, vec![Panel::Scatter(scatter)]).canvas();
    let dots: Vec<usize> = canvas
        .shapes
        .iter()
        .filter_map(|s| {
            if let Shape::Dots { at, .. } = s {
                Some(at.len())
            } else {
                None
            }
        })
        .collect();
    assert_eq!((dots.len(), dots.iter().sum::<usize>()), (49, 1500));
    assert!(to_svg(&canvas).len() < 50_000, "{}", to_svg(&canvas).len());
    assert!(
        canvas
            .description
            .contains("1500 points, rank from 0.000 to 1499.000"),
        "{}",
        canvas.description
    );
    let names = ["few", "many"].map(String::from).to_vec();
    let colouring = Colouring::Classes {
        of: (0..1500).map(|i| usize::from(i > 9)).collect(),
        names,
    };
    let scatter = Scatter {
        points,
        colouring,
        ..Scatter::default()
    };
    let canvas = Grid::new("", 1, vec![Panel::Scatter(scatter)]).canvas();
    assert!(canvas.description.contains("10 few, 1490 many"));
    assert_eq!((says(&canvas, "few"), says(&canvas, "many")), (1, 1));
}

#[test]
fn scenes_show_every_pixel_once() {
    let classes = vec![Some(0), Some(1), None, Some(1), None, Some(5)];
    let names: Vec<String> = (0..6).map(|c| format!("class {c}")).collect();
    let mut map = ClassMap {
        rows: 2,
        columns: 3,
        classes,
        names,
        ..ClassMap::default()
    };
    let canvas = scene_map(map.clone());
    let picture = canvas.shapes.iter().find_map(|s| {
        if let Shape::Colours { picture, .. } = s {
            Some(picture)
        } else {
            None
        }
    });
    let pixels: Vec<Colour> = picture.unwrap().pixels().collect();
    let [a, b, c] = [0, 1, 5].map(colours::of_class);
    assert_eq!((pixels[0], pixels[1], pixels[3], pixels[5]), (a, b, b, c));
    assert!(pixels[2] == pixels[4] && ![a, b, c].contains(&pixels[2]));
    assert_eq!(
        (says(&canvas, "class 3"), says(&canvas, "no label")),
        (1, 1)
    );
    assert!(
        canvas.description.contains("2 of class 1")
            && canvas.description.contains("2 without a label")
    );
    map.lacking = Lacking::Data;
    map.colours = vec![Colour(1, 2, 3)];
    let canvas = scene_map(map);
    let given = canvas.shapes.iter().find_map(|shape| match shape {
        Shape::Colours { picture, .. } => picture.pixels().next(),
        _ => None,
    });
    assert_eq!(given, Some(Colour(1, 2, 3)), "colours that are given");
    assert!(says(&canvas, "no data") == 1 && canvas.description.contains("2 without data"));
}

#[test]
fn logarithmic_axes_have_round_ticks() {
    let (ticks, minor) = log_ticks(1.0, 1000.0, 6);
    assert_eq!(
        (ticks.values, ticks.labels),
        (
            vec![1.0, 10.0, 100.0, 1000.0],
            ["1", "10", "100", "1,000"].map(String::from).to_vec()
        )
    );
    assert_eq!(minor.len(), 24);
    assert_eq!(
        log_ticks(0.02, 0.3, 6).0.labels,
        ["0.02", "0.05", "0.1", "0.2"]
    );
    // Nineteen powers of ten for six labels: every fourth, and the first multiple of four is -8.
    assert_eq!(log_ticks(1e-9, 1e9, 6).0.labels[0], "1e−8");
    assert!(
        log_ticks(0.0, 1.0, 6).0.values.is_empty() && log_ticks(2.0, 1.0, 6).0.values.is_empty()
    );
    assert_eq!(round_out_log(0.03, 69_000.0), (0.02, 100_000.0));
    assert_eq!(round_out_log(1.0, 1000.0), (1.0, 1000.0));
}

#[test]
fn a_power_law_is_straight_on_logarithmic_axes() {
    let chart = LineChart {
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: vec![curve("a", Colour::INK.line())],
        ..LineChart::default()
    };
    let canvas = chart.canvas();
    let line = canvas.shapes.iter().find_map(|s| match s {
        Shape::Polyline { points, stroke } if stroke.colour == Colour::INK && points.len() == 3 => {
            Some(points)
        }
        _ => None,
    });
    let [a, b, c] = line.unwrap()[..] else {
        panic!("three points")
    };
    assert!((b.0 - a.0 - (c.0 - b.0)).abs() < 1e-6 && (b.1 - a.1 - (c.1 - b.1)).abs() < 1e-6);
    let none = LineChart {
        series: vec![Series::new(
            "zero",
            vec![0.0, -1.0],
            Band::exact(vec![0.0, -1.0]),
        )],
        ..chart
    };
    assert_eq!(says(&none.canvas(), "No data"), 1);
}

#[test]
fn one_legend_names_lines_classes_and_overlays_once() {
    let overlays = vec![
        Overlay::rug("asked", vec![2.0, 50.0], colours::BLUE),
        Overlay::marks("start", vec![(3.0, 1.0)], MarkerKind::Cross, colours::RED),
        Overlay::words("inside", (50.0, 5.0), Colour::INK),
        Overlay::vertical("", 10.0, colours::RED),
    ];
    let lines = LineChart {
        title: "L".into(),
        series: vec![
            curve("density", colours::GREEN.area()),
            curve("dashed", Colour::INK.dashed()),
        ],
        overlays: overlays.clone(),
        ..LineChart::default()
    };
    let map = ClassMap {
        title: "M".into(),
        rows: 1,
        columns: 2,
        classes: vec![Some(0); 2],
        names: vec!["corn".into()],
        ..ClassMap::default()
    };
    let panels = vec![
        Panel::Lines(lines.clone()),
        Panel::Lines(lines),
        Panel::Classes(map),
        Panel::Heat(HeatMap {
            overlays,
            ..ramp(5, 5)
        }),
    ];
    let canvas = Grid {
        note: "Small print.".into(),
        ..Grid::new("All", 2, panels)
    }
    .canvas();
    for name in [
        "density",
        "dashed",
        "corn",
        "asked",
        "start",
        "(a) L",
        "(b) L",
        "(c) M",
        "(d) Ramp",
        "Small print.",
    ] {
        assert_eq!(says(&canvas, name), 1, "{name}");
    }
    let filled = canvas
        .shapes
        .iter()
        .filter(|s| matches!(s, Shape::Polygon { opacity, .. } if *opacity == 0.3))
        .count();
    assert_eq!(filled, 3, "two panels and the legend");
    common::elements(&to_svg(&canvas));
    assert!(to_png(&canvas, 1.0).len() > 1000);
}

#[test]
fn odd_panels_do_no_harm() {
    let nan = HeatMap {
        columns: 2,
        values: vec![f64::NAN; 4],
        contours: vec![0.0],
        ..HeatMap::default()
    };
    let path = OverlayKind::Path {
        points: vec![(f64::NAN, 0.0)],
        stroke: dial_plot::chart::Stroke::solid(Colour::INK, 1.0),
    };
    let panels = vec![
        Panel::Heat(HeatMap::default()),
        Panel::Heat(nan),
        Panel::Scatter(Scatter {
            points: vec![(f64::NAN, 1.0), (2.0, 2.0)],
            ..Scatter::default()
        }),
        Panel::Scatter(Scatter {
            overlays: vec![Overlay {
                name: "p".into(),
                kind: path,
            }],
            ..Scatter::default()
        }),
        Panel::Classes(ClassMap::default()),
        Panel::Lines(LineChart::default()),
    ];
    for columns in 0..4 {
        let canvas = Grid::new("Odd", columns, panels.clone()).canvas();
        common::elements(&to_svg(&canvas));
        to_png(&canvas, 1.0);
    }
    to_png(&scene_map(ClassMap::default()), 1.0);
    to_png(&Grid::new("", 3, Vec::<Panel>::new()).canvas(), 1.0);
}
